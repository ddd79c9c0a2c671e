#include "executor/redis/script.h"

#include <algorithm>
#include <chrono>

#include "executor/redis/executor_counts.h"
#include "executor/redis/redis_error.h"

namespace redquel::executor {

namespace {

/// Scripts whose effects a client is told of as committed, in order.
constexpr std::string_view kCommits[] = {
    "commit_catalog", "commit_roles", "create_database", "create_first_role", "exclusive_tables", "fence_commit", "fence_prepared", "guard_write",
    "prepare_commit", "rename_database", "write", "write_many",
};
static_assert(std::ranges::is_sorted(kCommits));

bool is_commit(const Script* script) { return std::ranges::binary_search(kCommits, script->name()); }

bool is_noscript(const Reply& reply) { return reply.is_error() && reply.text.starts_with("NOSCRIPT"); }

}  // namespace

CommandBatch& Script::begin_call(CommandBatch& batch, std::size_t key_count, std::size_t argument_count) const {
  return batch.begin(3 + key_count + argument_count).arg(command()).arg(sha1()).arg(key_count);
}

asio::awaitable<RepliesPtr> run_scripts(RedisClient& client, std::vector<const Script*> scripts, CommandBatch batch,
                                        ExecutionCounters* counters) {
  const bool awaits_replicas = std::ranges::any_of(scripts, is_commit);
  if (awaits_replicas) batch.await_replicas();
  const CommandBatch kept = batch;  // encoded bytes: one memcpy, needed when Redis does not know a script
  const auto started = std::chrono::steady_clock::now();
  RepliesPtr replies = co_await client.execute(std::move(batch), counters);
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - started;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    if (i == 0 || scripts[i] != scripts[i - 1]) counts_of_thread().note_script(scripts[i]->name(), static_cast<std::uint64_t>(taken.count()));
  }
  // The second time in one piece, so that no SCRIPT FLUSH of others comes between.
  for (const bool is_atomic : {false, true}) {
    std::vector<std::size_t> missed;
    for (std::size_t index = 0; index < replies->size(); ++index) {
      if (is_noscript((*replies)[index])) missed.push_back(index);
    }
    if (missed.empty()) break;
    CommandBatch again;
    for (const Script* script : scripts) again.add("SCRIPT", "LOAD", script->text());
    again.append_commands(kept, missed);
    if (awaits_replicas) again.await_replicas();
    RepliesPtr second;
    if (is_atomic) {
      second = co_await client.execute_atomic(std::move(again), counters);
    } else {
      second = co_await client.execute(std::move(again), counters);
    }
    for (std::size_t index = 0; index < scripts.size(); ++index) second->checked(index);
    replies = Replies::merge(replies, missed, second, scripts.size());
  }
  co_return replies;
}

}  // namespace redquel::executor
