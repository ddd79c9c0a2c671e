#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/replication/replication_link.h"
#include "executor/replication/pgoutput.h"

namespace redquel::executor {

/// A replication slot: the place in the stream up to which its subscriber has everything.
struct ReplicationSlot {
  std::string name;
  StreamPosition position;
  Lsn base = 0;       // of the offsets of this history
  Lsn confirmed = 0;  // by the subscriber
  StreamDecoder::State state;
};

/// Throws 42602 for a name that PostgreSQL refuses.
void check_slot_name(const std::string& name);
/// 42704 `replication slot "s" does not exist`.
sql::SqlError undefined_slot(const std::string& name);
/// 55006.
sql::SqlError active_slot(const std::string& name, const std::string& process);

/// The slots of one logical database, in Redis (redquel:slots).
class SlotStore {
 public:
  explicit SlotStore(RedisClient& client) : client_(client) {}

  asio::awaitable<std::optional<ReplicationSlot>> find(std::string name);
  /// Returns the slots by name, without their definitions.
  asio::awaitable<std::vector<ReplicationSlot>> list();
  /// Throws 42710.
  asio::awaitable<void> create(ReplicationSlot slot);
  /// Replaces the record. `with_definitions`: these have changed since. `top`: nothing above this was sent.
  asio::awaitable<void> advance(ReplicationSlot slot, bool with_definitions, Lsn top);
  asio::awaitable<void> drop(std::string name);

  /// Takes the slot for a session of this process, for some seconds. Returns the process id of the session that has it; empty: taken.
  asio::awaitable<std::string> lease(std::string name, std::string token);
  asio::awaitable<void> renew(std::string name, std::string token);
  asio::awaitable<void> give_back(std::string name, std::string token);
  /// Returns the process id of the session that has the slot; empty: none.
  asio::awaitable<std::string> holder(std::string name);

  /// Returns the LSN at offset 0 of a history: above all that was sent of another one. `same_as`: the history goes on from one with this base.
  asio::awaitable<Lsn> base_of(std::string history, std::optional<Lsn> same_as);
  /// Rows up to here may be in the first copy of a subscriber already.
  asio::awaitable<Lsn> copied();
  asio::awaitable<void> note_copied(Lsn lsn);
  /// Returns a number of the Redis, the same for all processes.
  asio::awaitable<std::string> system_identifier();

 private:
  RedisClient& client_;
};

/// The field of redquel:slots that note_copied() writes.
inline constexpr std::string_view kCopiedField = "%copied";

}  // namespace redquel::executor
