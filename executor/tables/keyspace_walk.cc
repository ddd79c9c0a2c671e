#include "executor/tables/keyspace_walk.h"

#include <fmt/format.h>

#include "executor/tables/mapped_access.h"
#include "executor/tables/scan_budget.h"
#include "executor/tables/memory_pieces.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr const char* kHint = "Name the key's slots in WHERE, or declare the structure that has them with CREATE INDEX.";

}  // namespace

KeyspaceWalk::KeyspaceWalk(const MappedReader& reader, ExecutionContext& context, const MappedKey& fixed, const FenceMark* fence)
    : context_(context), fixed_(fixed), fence_(fence) {
  const sql::EvaluationContext& evaluation = context.evaluation();
  const std::string* allowed = evaluation.show ? evaluation.show(evaluation.session, "redquel.allow_keyspace_scan") : nullptr;
  const std::string& name = reader.table().name;
  if (allowed != nullptr && *allowed == "off") {
    throw sql::SqlError(
        sqlstate::kObjectNotInPrerequisiteState,
        fmt::format("foreign table \"{}\" can only be read by a scan of the keyspace, which redquel.allow_keyspace_scan forbids", name))
        .hint(kHint);
  }
  if (context.shared_keys && fence == nullptr && fixed.empty() && context.shared_keys->join(reader.table())) shared_ = context.shared_keys;
  pattern_ = reader.mapping().key.pattern([&](std::int16_t column) -> std::optional<std::string> {
    return column > 0 ? reader.text_of(fixed, column) : std::nullopt;
  });
}

asio::awaitable<void> KeyspaceWalk::step(MappedReader& reader, ExecutionCounters* counters) {
  std::vector<MappedKey> keys = co_await next(reader, counters);
  for (MappedKey& key : keys) reader.add({std::move(key)});
}

asio::awaitable<RepliesPtr> KeyspaceWalk::scan(const MappedReader& reader, ExecutionCounters* counters) {
  CommandBatch batch;
  batch.add("SCAN", cursor_, "MATCH", pattern_, "COUNT", context_.limits.chunk_rows, "TYPE", sql::redis_type(reader.mapping().layout));
  if (fence_ == nullptr) co_return co_await ask_mapped_bulk(reader.table(), std::move(batch), context_, counters);
  batch.add("GET", fence_->key);
  const std::unique_ptr<RedisRequest> request = context_.start_bulk(std::move(batch), counters);
  RepliesPtr replies = co_await context_.replies_of(*request);
  replies->or_throw();
  if (replies->text(1) != fence_->value) throw sql::SqlError(sqlstate::kDataCorrupted, kSwappedDatabase);
  co_return replies;
}

asio::awaitable<std::vector<std::string>> KeyspaceWalk::find(const MappedReader& reader, ExecutionCounters* counters) {
  std::vector<std::string> names;
  if (shared_) {
    names = co_await shared_->next(reader.table(), context_, counters);
    is_over_ = shared_->is_over(reader.table());
    co_return names;
  }
  const RepliesPtr replies = co_await scan(reader, counters);
  const auto parts = replies->array(0);
  if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SCAN");
  cursor_ = std::string(parts[0].text);
  is_over_ = cursor_ == "0";
  for (const Reply& key : parts[1].children()) names.emplace_back(key.text);
  co_return names;
}

asio::awaitable<std::vector<MappedKey>> KeyspaceWalk::next(const MappedReader& reader, ExecutionCounters* counters) {
  const sql::Mapping& mapping = reader.mapping();
  if (!std::exchange(is_announced_, true) && (!shared_ || shared_->is_new())) {
    ScanAnnouncement announcement{.what = fmt::format("the keyspace is scanned for foreign table \"{}\"", reader.table().name), .hint = kHint};
    co_await announce_scan(context_, std::move(announcement));
  }
  co_await count_scanned_keys(context_, context_.limits.chunk_rows, kHint);
  const std::vector<std::string> names = co_await find(reader, counters);
  const bool has_fields = mapping.layout == sql::Mapping::Layout::kStrings;
  std::vector<MappedKey> keys;
  for (const std::string& found : names) {
    auto slots = reader.slots_of(found);
    if (!slots) continue;
    std::string name = found;
    if (has_fields) name = reader.key_of(*slots, "").value_or(name);
    if (!seen_.insert(std::move(name)).second) continue;
    slots->insert(fixed_.begin(), fixed_.end());  // the member or field that alone is wanted
    keys.push_back(*std::move(slots));
  }
  co_return keys;
}

}  // namespace redquel::executor
