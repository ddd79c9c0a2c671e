#include "executor/tables/shared_keys.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "executor/redis/redis_error.h"
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

bool SharedKeys::is_over(const sql::TableDef& table) const { return is_over_ && takers_.at(table.oid).keys.empty(); }

asio::awaitable<std::vector<std::string>> SharedKeys::next(const sql::TableDef& table, ExecutionContext& context, ExecutionCounters* counters) {
  Taker& own = takers_.at(table.oid);
  if (own.keys.empty() && !is_over_) {
    CommandBatch batch;
    batch.add("SCAN", cursor_, "MATCH", pattern_, "COUNT", context.limits.chunk_rows);
    const RepliesPtr replies = co_await ask_mapped_bulk(table, std::move(batch), context, counters);
    const std::span<const Reply> parts = replies->array(0);
    if (parts.size() != 2 || !parts[0].is_text()) throw unexpected_reply("SCAN", "a cursor and keys");
    cursor_ = std::string(parts[0].text);
    is_over_ = cursor_ == "0";
    std::vector<std::pair<Taker*, std::string>> found;
    for (const Reply& key : parts[1].children()) {
      for (auto& [oid, taker] : takers_) {
        if (taker.table->mapping().key.match(key.text) && seen_.emplace(key.text).second) found.emplace_back(&taker, std::string(key.text));
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
