#include "executor/tables/shared_keys.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "executor/tables/keyspace_steps.h"
#include "executor/tables/mapped_access.h"
#include "planner/tree/plan_walk.h"
#include "sql/catalog/key_pattern.h"
#include "sql/catalog/mapping.h"

namespace redquel::executor {

namespace {

/// Bytes of keys that are kept for tables whose scans have not begun.
constexpr std::size_t kMostBytes = std::size_t{8} << 20;

/// Returns what all keys of the table begin with.
std::string_view beginning_of(const sql::TableDef& table) {
  const std::vector<sql::KeyTemplate::Part>& parts = table.mapping().key.parts();
  return !parts.empty() && parts.front().column == 0 ? std::string_view(parts.front().literal) : std::string_view();
}

}  // namespace

std::shared_ptr<SharedKeys> SharedKeys::of_plan(const planner::PhysicalNode& plan) {
  auto shared = std::make_shared<SharedKeys>();
  std::set<sql::Oid> joined;  // by keys: a scan of such a table is another form of the join, and its keys may be very many
  planner::all_nodes(plan, [&](const planner::PhysicalNode& node) {
    if (const auto* join = std::get_if<planner::MappedJoin>(&node.node)) joined.insert(join->inner.read.table->oid);
    const auto* scan = std::get_if<planner::MappedScan>(&node.node);
    if (scan == nullptr || scan->path != planner::MappedScan::Path::kScan || !scan->fixed.empty()) return true;
    const sql::Mapping& mapping = scan->read.table->mapping();
    if (!mapping.database && mapping.layout != sql::Mapping::Layout::kStrings) shared->takers_[scan->read.table->oid].table = scan->read.table;
    return true;
  });
  std::erase_if(shared->takers_, [&](const auto& entry) { return joined.contains(entry.first); });
  if (shared->takers_.size() < 2) return nullptr;
  std::string_view common = beginning_of(*shared->takers_.begin()->second.table);
  for (const auto& [oid, taker] : shared->takers_) {
    const std::string_view own = beginning_of(*taker.table);
    common = common.substr(0, static_cast<std::size_t>(std::ranges::mismatch(common, own).in1 - common.begin()));
  }
  shared->pattern_ = sql::glob_of_text(common) + "*";
  return shared;
}

bool SharedKeys::join(const sql::TableDef& table) {
  const auto taker = takers_.find(table.oid);
  return taker != takers_.end() && !std::exchange(taker->second.has_joined, true);
}

bool SharedKeys::is_over(const sql::TableDef& table) const { return walk_ && walk_->is_over() && takers_.at(table.oid).keys.empty(); }

asio::awaitable<std::vector<std::string>> SharedKeys::next(const sql::TableDef& table, ExecutionContext& context, ExecutionCounters* counters) {
  Taker& own = takers_.at(table.oid);
  if (!walk_) {
    const RedisUserPtr user = co_await redis_user_of(table, context);
    walk_ = walk_keyspace(context, context.database, user ? user->name() : "", {.pattern = pattern_});
  }
  if (own.keys.empty() && !walk_->is_over()) {
    const AskRedis ask = [&](CommandBatch batch) { return ask_mapped_bulk(table, std::move(batch), context, counters); };
    const KeyspacePasses::Found step = co_await next_keys(*walk_, context.limits.chunk_rows, ask);
    std::vector<std::pair<Taker*, std::string>> found;
    for (const std::string& key : step.keys) {
      for (auto& [oid, taker] : takers_) {
        if (taker.table->mapping().key.match(key) && seen_.insert(key).second) found.emplace_back(&taker, key);
      }
    }
    if (!found.empty()) co_await keep(std::move(found), table, context, counters);
  }
  std::vector<std::string> keys(std::make_move_iterator(own.keys.begin()), std::make_move_iterator(own.keys.end()));
  own.keys.clear();
  co_return keys;
}

asio::awaitable<void> SharedKeys::keep(std::vector<std::pair<Taker*, std::string>> found, const sql::TableDef& table, ExecutionContext& context,
                                       ExecutionCounters* counters) {
  CommandBatch batch;
  for (const auto& [taker, key] : found) batch.add("TYPE", key);
  const RepliesPtr replies = co_await ask_mapped_bulk(table, std::move(batch), context, counters);
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& [taker, key] = found[i];
    if ((*replies)[i].text != sql::redis_type(taker->table->mapping().layout)) continue;
    if (taker->table->oid != table.oid) bytes_ += 3 * sizeof(std::string) + 2 * key.size();
    taker->keys.push_back(std::move(key));
  }
  if (bytes_ <= kMostBytes) co_return;
  std::erase_if(takers_, [](const auto& entry) { return !entry.second.has_joined; });
  bytes_ = 0;
}

}  // namespace redquel::executor
