#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redquel::sql {

/// A session's process id is the number of its process times this, plus the session's own number: no two processes over one Redis give the
/// same.
inline constexpr std::int32_t kSessionsOfProcess = 1 << 21;
/// How many processes have numbers of their own.
inline constexpr std::int32_t kMostProcesses = 1 << 10;

/// TLS of a client's connection, as pg_stat_ssl shows it.
struct EncryptionFacts {
  std::string version, cipher;
  int bits = 0;
  std::string client_subject, client_issuer, client_serial;  // empty: the client has shown no certificate
};

/// Facts about a client's connection for functions.
struct ConnectionFacts {
  std::string client_address, server_address;
  std::int32_t client_port = 0, server_port = 0;
  std::string query;  // what the client sent last
  std::optional<EncryptionFacts> encryption;
};

/// The questions of functions to the server about its sessions, by process id.
struct ConnectionHooks {
  /// Returns the facts of a session of this thread; nullopt if no session has that id.
  std::optional<ConnectionFacts> (*facts)(std::int32_t process_id) = nullptr;
  /// Ends the statement that a session runs, or the session itself. False: there is none of that number.
  bool (*signal)(std::int32_t process_id, bool ends_session) = nullptr;
  /// Ends the statement that a session runs, if the secret is that of its cancel requests.
  void (*cancel)(std::int32_t process_id, std::int32_t secret) = nullptr;
  /// Makes the server read its configuration again soon. Returns false if it cannot.
  bool (*reload)() = nullptr;
  /// Returns true if a run-time parameter has another value in the configuration file by now, which only a restart takes over.
  bool (*is_pending_restart)(std::string_view parameter) = nullptr;
};

/// Those of this process; null pointers until the server has named its own.
const ConnectionHooks& connection_hooks();
/// Before any statement runs.
void set_connection_hooks(const ConnectionHooks& hooks);

}  // namespace redquel::sql
