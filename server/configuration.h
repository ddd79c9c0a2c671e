#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "executor/tls/tls_context.h"
#include "server/listeners.h"
#include "server/machine_memory.h"

namespace redquel::server {

/// Returns /run/redquel if that is a directory that this process may write; otherwise none.
std::vector<std::filesystem::path> default_socket_directories();

/// The configuration file of an installed redquel.
inline constexpr const char* kInstalledFile = "/etc/redquel/redquel.toml";

struct Configuration;
/// Returns status.token_file; without one, a file in the embedded Redis's folder, in /run/redquel, or in the user's own runtime directory; empty if
/// there is none of them.
std::filesystem::path status_token_file_of(const Configuration& configuration);

/// The settings of conf/redquel.toml and the command line; the defaults are those of a start without either.
struct Configuration {
  std::vector<ListenAddress> listen = {{"127.0.0.1", 5433}};
  UnixSocketOptions unix_sockets = {.directories = default_socket_directories(), .permissions = 0777, .group = ""};
  bool loopback_until_password = false;
  std::size_t threads = 0;
  std::chrono::seconds shutdown_timeout{10}, drain_delay{0};
  bool reuse_port = false;

  std::string redis_url;  // empty: embedded
  std::optional<int> synchronous_replicas;  // nullopt: all that follow
  std::chrono::seconds replica_timeout{0};  // 0: none
  std::chrono::seconds move_timeout{60};
  std::string redis_password;  // empty: that of the URL
  executor::TlsClientSettings redis_tls;  // of rediss://
  bool aof_repair = true;
  bool allow_eviction = false;
  bool unrestricted_call = false;
  bool embedded = false;
  std::filesystem::path data_directory = "redquel-data";
  std::string redis_server = "redis-server";

  std::size_t max_connections = 5000;
  std::size_t max_startups = 200;
  std::size_t client_memory = 1073741824;
  std::optional<std::size_t> memory;  // bytes; none: 80 % of the machine's or the control group's
  std::size_t session_memory = 2147483648;
  std::size_t reserved_connections = 3;
  std::chrono::seconds authentication_timeout{60};
  std::chrono::milliseconds authentication_delay{500};
  std::filesystem::path hba_file, ident_file;  // empty: none
  std::string rules;
  std::filesystem::path password_file;  // role postgres's first password; empty: none
  std::size_t max_statement_bytes = 67108864;
  std::size_t script_rows = 2000;
  std::size_t lock_lease = 30'000;  // milliseconds
  std::size_t work_mem = 67108864;
  std::size_t work_mem_max = 1073741824;
  std::size_t cache_memory = default_cache_memory();  // bytes of tables kept in memory; 0: none
  std::size_t cache_least_rows = 1000, cache_first_scan = 2;
  std::size_t cache_threads = std::max(1U, std::thread::hardware_concurrency());  // that compute for one statement over copies at a time
  std::optional<std::size_t> temp_file_limit;  // bytes; none: any number

  std::vector<ListenAddress> status_listen;  // empty: no metrics, no health
  std::vector<std::string> status_hosts;
  std::filesystem::path status_token_file;  // empty: status_token_file_of()
  std::size_t look_redis_share = 10;  // percent of Redis's time that bulk reads of `redquel look` take at most
  std::size_t look_start_keys = 10'000'000;  // that the start of `redquel look` scans to compare one table's structures; 0: no limit
  std::size_t look_keys_per_second = 0;  // of a scan of `redquel look`; 0: no limit

  std::string log_level = "info";
  bool json_log = false;
  /// Values of the run-time parameters log_…, by name.
  std::map<std::string, std::string, std::less<>> log_parameters;

  executor::TlsServerSettings tls;  // without a certificate: none

  /// The places of keys: "FILE:LINE" by key, for the keys that a file has.
  std::map<std::string, std::string, std::less<>> places;
};

/// Says what is wrong, for the person at the keyboard.
class ConfigurationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the error of a key's value; it names the file and the line where the key stands.
ConfigurationError key_error(const Configuration& configuration, const std::string& key, const std::string& reason);

/// Returns the password of Redis in REDQUEL_REDIS_PASSWORD; empty: none is set.
std::string environment_password();

/// Overwrites the passwords of Redis URLs in the command line, which other users of the machine may read (ps).
void hide_passwords(int argc, char** argv);

/// The command line over the file it names (/etc/redquel/redquel.toml, if there is one) over the defaults. nullopt: --help or --version was asked and printed.
/// Throws ConfigurationError.
std::optional<Configuration> read_configuration(int argc, const char* const* argv);

/// The keys of a TOML file laid over `configuration`. An unknown key or a value of another type is an error.
void read_configuration_file(const std::filesystem::path& file, Configuration& configuration);

/// Returns the addresses of a comma-separated list: "HOST:PORT", "[::1]:PORT", "*:PORT". An empty text is an empty list.
std::vector<ListenAddress> parse_listen_addresses(const std::string& text);

}  // namespace redquel::server
