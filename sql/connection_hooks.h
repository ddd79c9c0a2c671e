#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace redquel::sql {

/// What functions tell of a client's connection.
struct ConnectionFacts {
  std::string client_address, server_address;
  std::int32_t client_port = 0, server_port = 0;
  std::string query;  // what the client sent last
};

/// What functions ask of the server about its sessions, which they know by their process ids.
struct ConnectionHooks {
  /// Of a session of this thread; nullopt: there is none of that number.
  std::optional<ConnectionFacts> (*facts)(std::int32_t process_id) = nullptr;
  /// Ends the statement that a session runs, or the session itself. False: there is none of that number.
  bool (*signal)(std::int32_t process_id, bool ends_session) = nullptr;
};

/// Those of this process; null pointers until the server has named its own.
const ConnectionHooks& connection_hooks();
/// Before any statement runs.
void set_connection_hooks(const ConnectionHooks& hooks);

}  // namespace redquel::sql
