#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace redquel::server {

/// The key that a CancelRequest must have; given to the client at startup (BackendKeyData).
struct CancelKey {
  std::int32_t process_id = 0;
  std::int32_t secret = 0;
};

// The packets that may open a connection (PostgreSQL's manual, 55.7).
struct SslRequest {};
struct GssEncryptionRequest {};
struct CancelRequest {
  CancelKey key;
};
struct StartupMessage {
  bool replicates = false;  // replication=database: the session understands the commands of replication, too
  std::uint16_t minor_version = 0;
  std::string user, database;
  /// Run-time parameters, those of `options` first, in the order they take effect.
  std::vector<std::pair<std::string, std::string>> settings;
  /// Names of `_pq_.` options: extensions of the protocol, none of which is known.
  std::vector<std::string> protocol_options;
};
using StartupPacket = std::variant<SslRequest, GssEncryptionRequest, CancelRequest, StartupMessage>;

/// The longest startup packet that is read, as in PostgreSQL. Longer ones, and those below four bytes of body, are not
/// answered: the other side does not speak this protocol.
inline constexpr std::size_t kStartupPacketLimit = 10000;

/// `body`: the packet without its length; at least four bytes. Throws SqlError, fatal to the connection: 0A000 another
/// protocol version, 08P01 bad layout, 28000 no user, 42601 bad options, 22023 replication.
StartupPacket decode_startup_packet(std::string_view body);

/// The settings of the text of `options`: `-c name=value`, `--name=value`; backslash escapes blanks. 42601.
std::vector<std::pair<std::string, std::string>> parse_startup_options(std::string_view options);

}  // namespace redquel::server
