#include "executor/tables/keyspace_steps.h"

#include <utility>

#include "executor/redis/own_keyspace.h"
#include "executor/redis/redis_error.h"
#include "executor/runtime/rest.h"
#include "sql/catalog/buckets.h"

namespace redquel::executor {

std::unique_ptr<KeyspacePasses::Walk> walk_keyspace(ExecutionContext& context, int database, std::string user, WantedKeys wanted) {
  OwnKeyspace* const own = context.redis().own_keyspace();
  if (own == nullptr || sql::uses_cluster()) return KeyspacePasses::alone(std::move(wanted));
  return own->passes().join({database, std::move(user)}, std::move(wanted));
}

asio::awaitable<KeyspacePasses::Found> next_keys(KeyspacePasses::Walk& walk, std::size_t count, AskRedis ask) {
  constexpr std::int64_t kRest = 500;  // microseconds: about a paced step
  while (true) {
    if (auto found = walk.take()) co_return *std::move(found);
    if (walk.is_over()) co_return KeyspacePasses::Found{};
    const std::optional<KeyspacePasses::Step> step = walk.begin_step();
    if (!step) {
      co_await rest(kRest);
      continue;
    }
    CommandBatch batch;
    batch.begin(4 + (step->pattern.empty() ? 0u : 2u) + (step->type.empty() ? 0u : 2u)).arg("SCAN").arg(step->cursor);
    if (!step->pattern.empty()) batch.arg("MATCH").arg(step->pattern);
    batch.arg("COUNT").arg(count);
    if (!step->type.empty()) batch.arg("TYPE").arg(step->type);
    const RepliesPtr replies = co_await ask(std::move(batch));
    const std::span<const Reply> parts = replies->array(0);
    if (parts.size() != 2 || !parts[0].is_text()) throw unexpected_reply("SCAN", "a cursor and keys");
    std::vector<std::string> keys;
    for (const Reply& key : parts[1].children()) keys.emplace_back(key.text);
    walk.end_step(parts[0].text, keys);
    if (auto found = walk.take()) co_return *std::move(found);
    co_return KeyspacePasses::Found{};  // the caller counts each step
  }
}

asio::awaitable<std::vector<std::string>> keys_of_type(std::vector<std::string> keys, std::string type, AskRedis ask) {
  if (keys.empty()) co_return keys;
  CommandBatch batch;
  for (const std::string& key : keys) batch.add("TYPE", key);
  const RepliesPtr replies = co_await ask(std::move(batch));
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if ((*replies)[i].text == type) kept.push_back(std::move(keys[i]));
  }
  co_return kept;
}

}  // namespace redquel::executor
