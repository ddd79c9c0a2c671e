#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "executor/replication/pgoutput.h"

namespace redquel::server {

// The commands of the replication protocol (PostgreSQL's manual, 55.4).

struct IdentifySystem {};
struct CreateReplicationSlot {
  enum class Snapshot { kExport, kUse, kNothing };
  std::string slot;
  Snapshot snapshot = Snapshot::kExport;
};
struct DropReplicationSlot {
  std::string slot;
  bool waits = false;
};
struct StartReplication {
  std::string slot;
  executor::Lsn from = 0;
  std::vector<std::pair<std::string, std::string>> options;
};
using ReplicationCommand = std::variant<IdentifySystem, CreateReplicationSlot, DropReplicationSlot, StartReplication>;

/// Returns the command; nullopt: the text is a statement of SQL, or SHOW. Throws 42601 for a command that is written wrong, and 0A000 for physical
/// replication, temporary slots, two_phase and other plugins than pgoutput.
std::optional<ReplicationCommand> parse_replication_command(std::string_view text);

}  // namespace redquel::server
