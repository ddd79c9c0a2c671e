#include "server/statistics/thread_counts.h"

namespace redquel::server {

std::string_view name_of(StatementKind kind) {
  constexpr std::array<std::string_view, kStatementKinds> kNames = {"select", "insert", "update", "delete", "other"};
  return kNames[static_cast<std::size_t>(kind)];
}

DatabaseCounts& ThreadCounts::database(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<DatabaseCounts>& counts = databases_[name];
  if (!counts) counts = std::make_unique<DatabaseCounts>();
  return *counts;
}

void ThreadCounts::note_error(std::string_view sqlstate) {
  constexpr std::size_t kClassCharacters = 2;
  const std::lock_guard lock(mutex_);
  ++errors_[std::string(sqlstate.substr(0, kClassCharacters))];
}

void ThreadCounts::publish(const executor::ConnectionStatistics& redis) {
  redis_connects.set(redis.connects);
  redis_round_trips.set(redis.turns);
  redis_commands.set(redis.commands);
  redis_bytes_sent.set(redis.bytes_sent);
  redis_bytes_received.set(redis.bytes_received);
  redis_writes_held.set(redis.held_writes);
}

}  // namespace redquel::server
