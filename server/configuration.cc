#include "server/configuration.h"

#include <fmt/format.h>
#include <toml++/toml.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>

#include "executor/redis/url.h"
#include "server/version.h"

namespace redquel::server {

namespace {

template <class Number>
void take_number(const std::string& key, const toml::node& node, Number& target, std::int64_t minimum,
                 std::int64_t maximum) {
  const auto value = node.value_exact<std::int64_t>();
  if (!value || *value < minimum || *value > maximum) {
    throw ConfigurationError(fmt::format("{}: expected a whole number from {} to {}", key, minimum, maximum));
  }
  target = static_cast<Number>(*value);
}

/// Returns the bytes of "512MB", "64 kB" or "1024"; nullopt: it is no size. Units count by 1024, as PostgreSQL's do.
std::optional<std::int64_t> bytes_of_size(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, int>, 6> kUnits = {{{"", 0}, {"B", 0}, {"kB", 10}, {"MB", 20}, {"GB", 30}, {"TB", 40}}};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  for (const auto& [name, bits] : kUnits) {
    if (unit == name && number <= std::numeric_limits<std::int64_t>::max() >> bits) return number << bits;
  }
  return std::nullopt;
}

/// Takes a number of bytes, or a text with a unit.
template <class Number>
void take_size(const std::string& key, const toml::node& node, Number& target, std::int64_t minimum, std::int64_t maximum) {
  std::optional<std::int64_t> bytes = node.value_exact<std::int64_t>();
  if (const auto text = node.value_exact<std::string>()) bytes = bytes_of_size(*text);
  if (!bytes || *bytes < minimum || *bytes > maximum) {
    throw ConfigurationError(fmt::format("{}: expected bytes from {} to {}, or a text with a unit, as \"512MB\"", key, minimum, maximum));
  }
  target = static_cast<Number>(*bytes);
}

std::string take_text(const std::string& key, const toml::node& node) {
  auto value = node.value_exact<std::string>();
  if (!value) throw ConfigurationError(fmt::format("{}: expected a text in quotes", key));
  return *std::move(value);
}

/// Takes the name of a file; it stays the same file when the working directory changes.
std::filesystem::path take_file(const std::string& key, const toml::node& node) {
  const std::string name = take_text(key, node);
  return name.empty() ? std::filesystem::path() : std::filesystem::absolute(name);
}

bool take_flag(const std::string& key, const toml::node& node) {
  const auto value = node.value_exact<bool>();
  if (!value) throw ConfigurationError(fmt::format("{}: expected true or false", key));
  return *value;
}

void check_redis_url(const std::string& url) {
  try {
    executor::parse_redis_url(url);
  } catch (const std::exception& error) {
    throw ConfigurationError(error.what());
  }
}

/// Returns the first line of a file. Empty for an empty name.
std::string read_password(const std::string& file) {
  if (file.empty()) return {};
  std::ifstream input(file);
  std::string line;
  if (!std::getline(input, line) || line.empty()) throw ConfigurationError(fmt::format("redis.password_file: no password in {}", file));
  return line;
}

/// Returns the texts of a list, or the only one.
std::vector<std::string> take_texts(const std::string& key, const toml::node& node) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return {take_text(key, node)};
  std::vector<std::string> texts;
  for (const toml::node& element : *list) texts.push_back(take_text(key, element));
  return texts;
}

/// Takes log.connections over as log_connections, and its like.
void take_log_flag(const std::string& key, const toml::node& node, Configuration& configuration) {
  configuration.log_parameters["log_" + key.substr(key.find('.') + 1)] = take_flag(key, node) ? "on" : "off";
}

std::vector<ListenAddress> take_addresses(const std::string& key, const toml::node& node) {
  std::vector<ListenAddress> addresses;
  for (const std::string& text : take_texts(key, node)) {
    for (ListenAddress& address : parse_listen_addresses(text)) addresses.push_back(std::move(address));
  }
  return addresses;
}

/// Takes a row's text over into a member of a member of the configuration.
template <auto outer, auto inner>
void take_inner(const std::string& key, const toml::node& node, Configuration& configuration) {
  configuration.*outer.*inner = take_text(key, node);
}

constexpr std::int64_t kLarge = std::int64_t{1} << 40;

/// One row per key: its name and what takes its value.
struct Key {
  std::string_view name;
  void (*take)(const std::string& key, const toml::node& node, Configuration& configuration);
};

constexpr Key kKeys[] = {
    {"server.listen",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.listen = take_addresses(key, node); }},
    {"status.listen",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.status_listen = take_addresses(key, node); }},
    {"status.token_file", [](const std::string& key, const toml::node& node, Configuration& c) { c.status_token_file = take_text(key, node); }},
    {"status.hosts",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.status_hosts = take_texts(key, node); }},
    {"server.unix_socket_directories",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       c.unix_sockets.directories.clear();
       for (const std::string& directory : take_texts(key, node)) {
         if (!directory.empty()) c.unix_sockets.directories.push_back(std::filesystem::absolute(directory));
       }
     }},
    {"server.unix_socket_permissions", [](const std::string& key, const toml::node& node,
                                          Configuration& c) { take_number(key, node, c.unix_sockets.permissions, 0, 0777); }},
    {"server.unix_socket_group",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.unix_sockets.group = take_text(key, node); }},
    {"server.loopback_until_password",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.loopback_until_password = take_flag(key, node); }},
    {"server.threads", [](const std::string& key, const toml::node& node,
                          Configuration& c) { take_number(key, node, c.threads, 0, 1024); }},
    {"server.shutdown_timeout",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::int64_t seconds = 0;
       take_number(key, node, seconds, 0, 86400);
       c.shutdown_timeout = std::chrono::seconds(seconds);
     }},
    {"server.drain_delay",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::int64_t seconds = 0;
       take_number(key, node, seconds, 0, 3600);
       c.drain_delay = std::chrono::seconds(seconds);
     }},
    {"server.reuse_port", [](const std::string& key, const toml::node& node, Configuration& c) { c.reuse_port = take_flag(key, node); }},
    {"redis.url",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       c.redis_url = take_text(key, node);
       if (!c.redis_url.empty()) check_redis_url(c.redis_url);
     }},
    {"redis.synchronous_replicas",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       c.synchronous_replicas.reset();
       if (node.value<std::string>() != "auto") take_number(key, node, c.synchronous_replicas.emplace(), 0, 100);
     }},
    {"redis.replica_timeout",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::int64_t seconds = 0;
       take_number(key, node, seconds, 0, 86400);
       c.replica_timeout = std::chrono::seconds(seconds);
     }},
    {"redis.move_timeout",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::int64_t seconds = 0;
       take_number(key, node, seconds, 1, 86400);
       c.move_timeout = std::chrono::seconds(seconds);
     }},
    {"redis.aof_repair",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.aof_repair = take_flag(key, node); }},
    {"redis.allow_eviction",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.allow_eviction = take_flag(key, node); }},
    {"redis.unrestricted_call",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.unrestricted_call = take_flag(key, node); }},
    {"redis.password_file",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.redis_password = read_password(take_text(key, node)); }},
    {"redis.tls.ca", take_inner<&Configuration::redis_tls, &executor::TlsClientSettings::ca>},
    {"redis.tls.certificate", take_inner<&Configuration::redis_tls, &executor::TlsClientSettings::certificate>},
    {"redis.tls.key", take_inner<&Configuration::redis_tls, &executor::TlsClientSettings::key>},
    {"redis.tls.server_name", take_inner<&Configuration::redis_tls, &executor::TlsClientSettings::server_name>},
    {"redis.tls.verify",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.redis_tls.verify = take_flag(key, node); }},
    {"tls.certificate", take_inner<&Configuration::tls, &executor::TlsServerSettings::certificate>},
    {"tls.key", take_inner<&Configuration::tls, &executor::TlsServerSettings::key>},
    {"tls.client_ca", take_inner<&Configuration::tls, &executor::TlsServerSettings::client_ca>},
    {"tls.crl", take_inner<&Configuration::tls, &executor::TlsServerSettings::crl>},
    {"tls.min_version", take_inner<&Configuration::tls, &executor::TlsServerSettings::min_version>},
    {"tls.ciphers", take_inner<&Configuration::tls, &executor::TlsServerSettings::ciphers>},
    {"tls.groups", take_inner<&Configuration::tls, &executor::TlsServerSettings::groups>},
    {"embedded.enabled",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.embedded = take_flag(key, node); }},
    {"embedded.data_dir",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.data_directory = take_text(key, node); }},
    {"embedded.redis_server",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.redis_server = take_text(key, node); }},
    {"limits.max_connections", [](const std::string& key, const toml::node& node,
                                  Configuration& c) { take_number(key, node, c.max_connections, 1, 262143); }},
    {"limits.max_startups", [](const std::string& key, const toml::node& node,
                               Configuration& c) { take_number(key, node, c.max_startups, 10, 65536); }},
    {"limits.memory",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::size_t bytes = 0;
       take_size(key, node, bytes, 64 << 20, kLarge);
       c.memory = bytes;
     }},
    {"limits.session_memory", [](const std::string& key, const toml::node& node,
                                 Configuration& c) { take_size(key, node, c.session_memory, 1 << 20, kLarge); }},
    {"limits.client_memory", [](const std::string& key, const toml::node& node,
                                Configuration& c) { take_size(key, node, c.client_memory, 1 << 20, kLarge); }},
    {"authentication.timeout",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::int64_t seconds = 0;
       take_number(key, node, seconds, 1, 600);
       c.authentication_timeout = std::chrono::seconds(seconds);
     }},
    {"authentication.delay",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::int64_t milliseconds = 0;
       take_number(key, node, milliseconds, 0, 60'000);
       c.authentication_delay = std::chrono::milliseconds(milliseconds);
     }},
    {"authentication.hba_file",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.hba_file = take_file(key, node); }},
    {"authentication.ident_file",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.ident_file = take_file(key, node); }},
    {"authentication.rules",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.rules = take_text(key, node); }},
    {"limits.superuser_reserved_connections",
     [](const std::string& key, const toml::node& node, Configuration& c) { take_number(key, node, c.reserved_connections, 0, 262143); }},
    {"cache.memory", [](const std::string& key, const toml::node& node, Configuration& c) { take_size(key, node, c.cache_memory, 0, std::int64_t{1} << 46); }},
    {"cache.least_rows", [](const std::string& key, const toml::node& node,
                            Configuration& c) { take_number(key, node, c.cache_least_rows, 0, kLarge); }},
    {"cache.first_scan", [](const std::string& key, const toml::node& node,
                            Configuration& c) { take_number(key, node, c.cache_first_scan, 1, 1000); }},
    {"cache.threads", [](const std::string& key, const toml::node& node, Configuration& c) { take_number(key, node, c.cache_threads, 0, 1024); }},
    {"limits.lock_lease", [](const std::string& key, const toml::node& node,
                             Configuration& c) { take_number(key, node, c.lock_lease, 1000, 3'600'000); }},
    {"limits.max_statement_bytes",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       take_number(key, node, c.max_statement_bytes, 1024, std::int64_t{1} << 30);
     }},
    {"limits.script_rows", [](const std::string& key, const toml::node& node,
                                 Configuration& c) { take_number(key, node, c.script_rows, 1, kLarge); }},
    {"limits.work_mem", [](const std::string& key, const toml::node& node,
                           Configuration& c) { take_size(key, node, c.work_mem, 65536, kLarge); }},
    {"limits.work_mem_max", [](const std::string& key, const toml::node& node,
                               Configuration& c) { take_size(key, node, c.work_mem_max, 65536, kLarge); }},
    {"limits.temp_file_limit",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::int64_t bytes = 0;
       take_size(key, node, bytes, -1, kLarge);
       c.temp_file_limit = bytes < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(bytes));
     }},
    {"log.format",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       const std::string format = take_text(key, node);
       if (format != "text" && format != "json") throw ConfigurationError(fmt::format("{}: expected text or json", key));
       c.json_log = format == "json";
     }},
    {"log.connections", take_log_flag},
    {"log.disconnections", take_log_flag},
    {"log.duration", take_log_flag},
    {"log.lock_waits", take_log_flag},
    {"log.statement",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       const std::string kind = take_text(key, node);
       if (kind != "none" && kind != "ddl" && kind != "mod" && kind != "all") throw ConfigurationError(fmt::format("{}: expected none, ddl, mod or all", key));
       c.log_parameters["log_statement"] = kind;
     }},
    {"log.min_duration_statement",
     [](const std::string& key, const toml::node& node, Configuration& c) {
       std::int64_t milliseconds = 0;
       take_number(key, node, milliseconds, -1, 2147483647);
       c.log_parameters["log_min_duration_statement"] = std::to_string(milliseconds);
     }},
    {"look.max_keys_per_second", [](const std::string& key, const toml::node& node,
                                    Configuration& c) { take_number(key, node, c.look_keys_per_second, 0, 2147483647); }},
    {"look.max_start_keys", [](const std::string& key, const toml::node& node,
                               Configuration& c) { take_number(key, node, c.look_start_keys, 0, 2147483647); }},
    {"look.max_redis_share", [](const std::string& key, const toml::node& node,
                                Configuration& c) { take_number(key, node, c.look_redis_share, 1, 100); }},
    {"log.level",
     [](const std::string& key, const toml::node& node, Configuration& c) { c.log_level = take_text(key, node); }},
};

void take_table(const std::string& file, const std::string& prefix, const toml::table& table, Configuration& configuration) {
  for (const auto& [name, node] : table) {
    const std::string key = prefix + std::string(name.str());
    if (const toml::table* inner = node.as_table()) {
      take_table(file, key + ".", *inner, configuration);
      continue;
    }
    const std::string place = fmt::format("{}:{}", file, node.source().begin.line);
    const Key* known = std::ranges::find(kKeys, key, &Key::name);
    if (known == std::end(kKeys)) throw ConfigurationError(fmt::format("{}: {}: no such key", place, key));
    try {
      known->take(key, node, configuration);
    } catch (const ConfigurationError& error) {
      throw ConfigurationError(fmt::format("{}: {}", place, error.what()));
    }
    configuration.places[key] = place;
  }
}

void check_log_level(const std::string& level) {
  for (const std::string_view known : {"trace", "debug", "info", "warn", "error", "off"}) {
    if (level == known) return;
  }
  throw ConfigurationError(fmt::format("log level '{}': expected trace, debug, info, warn, error or off", level));
}

}  // namespace

std::vector<ListenAddress> parse_listen_addresses(const std::string& list) {
  std::vector<ListenAddress> addresses;
  std::size_t begin = 0;
  while (begin < list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string text = list.substr(begin, end - begin);
    begin = end + 1;
    std::erase(text, ' ');
    const std::size_t colon = text.rfind(':');
    const auto fail = [&] { return ConfigurationError(fmt::format("'{}' is no address: expected HOST:PORT", text)); };
    if (colon == std::string::npos || colon == 0) throw fail();
    std::string host = text.substr(0, colon);
    if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    std::uint16_t port = 0;
    const char* const last = text.data() + text.size();
    const auto parsed = std::from_chars(text.data() + colon + 1, last, port);
    if (host.empty() || parsed.ec != std::errc() || parsed.ptr != last) throw fail();
    addresses.push_back({std::move(host), port});
  }
  return addresses;
}

void read_configuration_file(const std::filesystem::path& file, Configuration& configuration) {
  std::ifstream input(file);
  if (!input || std::filesystem::is_directory(file)) throw ConfigurationError(fmt::format("cannot read {}", file.string()));
  try {
    take_table(file.string(), "", toml::parse(input, file.string()), configuration);
  } catch (const toml::parse_error& error) {
    throw ConfigurationError(fmt::format("{}:{}: {}", file.string(), error.source().begin.line, error.description()));
  }
}

ConfigurationError key_error(const Configuration& configuration, const std::string& key, const std::string& reason) {
  const auto place = configuration.places.find(key);
  return ConfigurationError(fmt::format("{}{}: {}", place == configuration.places.end() ? "" : place->second + ": ", key, reason));
}

std::filesystem::path status_token_file_of(const Configuration& configuration) {
  if (!configuration.status_token_file.empty()) return std::filesystem::absolute(configuration.status_token_file);
  if (configuration.embedded) return std::filesystem::absolute(configuration.data_directory) / "status-token";
  for (const std::filesystem::path& directory : default_socket_directories()) return directory / "status-token";
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime == nullptr || *runtime != '/' ? std::filesystem::path() : std::filesystem::path(runtime) / "redquel-status-token";
}

std::vector<std::filesystem::path> default_socket_directories() {
  constexpr const char* kDirectory = "/run/redquel";
  std::error_code ignored;
  if (!std::filesystem::is_directory(kDirectory, ignored) || ::access(kDirectory, W_OK | X_OK) != 0) return {};
  return {kDirectory};
}

std::string environment_password() {
  const char* password = std::getenv("REDQUEL_REDIS_PASSWORD");
  return password == nullptr ? std::string() : password;
}

void hide_passwords(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t scheme = word.find("://");
    if (scheme == std::string_view::npos) continue;
    const std::size_t login = scheme + 3, end = std::min(word.find('/', login), word.size());
    const std::size_t colon = word.find(':', login), at = word.substr(0, end).rfind('@');
    if (at == std::string_view::npos || colon >= at) continue;
    std::fill(argv[i] + colon + 1, argv[i] + at, '*');
  }
}

std::optional<Configuration> read_configuration(int argc, const char* const* argv) {
  Configuration configuration;
  CLI::App app("redquel: a PostgreSQL front to Redis", "redquel");
  app.footer("Commands, each with --help:\n"
             "  redquel look URL     SQL over any Redis, to which nothing is written\n"
             "  redquel discover     prints tables for the keys of a Redis\n"
             "  redquel init         gives a superuser the first password\n"
             "  redquel check        examines the configuration, the Redis and what is stored in it\n"
             "  redquel health       asks a running redquel how it is\n"
             "  redquel rebalance    moves slots until the masters of a cluster hold about as much\n"
             "Without a command redquel serves PostgreSQL clients.");
  std::vector<std::string> listen;
  std::string file, redis, data_dir, log_level;
  std::size_t threads = 0;
  bool embedded = false;
  app.add_option("--config", file, "configuration file (TOML, default: /etc/redquel/redquel.toml if there is one); options below win over it")->type_name("FILE");
  app.add_option("--listen", listen, "address for PostgreSQL clients (127.0.0.1:5433); port 0 takes a free one; several: repeated, or separated by commas")
      ->type_name("HOST:PORT")
      ->allow_extra_args(false);
  app.add_flag("--loopback-until-password", configuration.loopback_until_password,
               "listen on loopback instead of other addresses as long as no role has a password");
  auto* redis_option =
      app.add_option("--redis", redis, "the Redis that holds the data: redis://[[user]:password@]host[:port][/db] or unix:///path.sock")
          ->type_name("URL");
  auto* embedded_option = app.add_flag("--embedded", embedded, "run a Redis of our own (the default without --redis)");
  std::string password_file;
  app.add_option("--pwfile", password_file, "a file with the first password of role postgres (also REDQUEL_PASSWORD_FILE)")->type_name("FILE");
  app.add_option("--data-dir", data_dir, "directory of the embedded Redis")->type_name("DIR");
  app.add_option("--threads", threads, "event loops; 0: one per core")->check(CLI::Range(0, 1024));
  app.add_option("--log-level", log_level, "trace, debug, info, warn, error or off");
  app.set_version_flag("--version", fmt::format("redquel {} (commit {})", kVersion, commit()));
  redis_option->excludes(embedded_option);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    app.exit(success);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw ConfigurationError(error.what());
  }
  const bool is_on_command_line = configuration.loopback_until_password;
  if (app.count("--config") > 0) read_configuration_file(file, configuration);
  else if (std::filesystem::exists(kInstalledFile)) read_configuration_file(kInstalledFile, configuration);
  configuration.loopback_until_password = configuration.loopback_until_password || is_on_command_line;
  if (app.count("--listen") > 0) {
    configuration.listen.clear();
    for (const std::string& text : listen) {
      for (ListenAddress& address : parse_listen_addresses(text)) configuration.listen.push_back(std::move(address));
    }
  }
  if (app.count("--redis") > 0) {
    check_redis_url(redis);
    configuration.redis_url = redis;
    configuration.embedded = false;
  }
  if (embedded) {
    configuration.embedded = true;
    configuration.redis_url.clear();
  }
  if (std::string password = environment_password(); !password.empty()) configuration.redis_password = std::move(password);
  if (const char* path = std::getenv("REDQUEL_PASSWORD_FILE"); path != nullptr && password_file.empty()) password_file = path;
  configuration.password_file = password_file;
  if (!data_dir.empty()) configuration.data_directory = data_dir;
  if (app.count("--threads") > 0) configuration.threads = threads;
  if (!log_level.empty()) configuration.log_level = log_level;
  check_log_level(configuration.log_level);
  if (configuration.embedded && !configuration.redis_url.empty()) {
    throw ConfigurationError("embedded.enabled and redis.url exclude each other");
  }
  if (configuration.redis_url.empty()) configuration.embedded = true;
  if (!configuration.rules.empty() && !configuration.hba_file.empty()) {
    throw ConfigurationError("authentication.rules and authentication.hba_file exclude each other");
  }
  if (configuration.work_mem > configuration.work_mem_max) {
    throw ConfigurationError("limits.work_mem is more than limits.work_mem_max");
  }
  return configuration;
}

}  // namespace redquel::server
