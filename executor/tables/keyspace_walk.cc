#include "executor/tables/keyspace_walk.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/tables/keyspace_steps.h"
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

asio::awaitable<RepliesPtr> KeyspaceWalk::ask(const MappedReader& reader, CommandBatch batch, ExecutionCounters* counters) {
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
  const std::string type(sql::redis_type(reader.mapping().layout));
  if (!walk_ && fence_ != nullptr) walk_ = KeyspacePasses::alone({pattern_, type});
  if (!walk_) {
    const RedisUserPtr user = co_await redis_user_of(reader.table(), context_);
    walk_ = walk_keyspace(context_, database_of(reader.mapping(), context_), user ? user->name() : "", {pattern_, type});
  }
  const AskRedis ask = [&](CommandBatch batch) { return this->ask(reader, std::move(batch), counters); };
  KeyspacePasses::Found found = co_await next_keys(*walk_, context_.limits.chunk_rows, ask);
  names = std::move(found.keys);
  if (!found.is_typed) {
    std::erase_if(names, [&](const std::string& name) { return !reader.slots_of(name); });
    names = co_await keys_of_type(std::move(names), type, ask);
  }
  is_over_ = walk_->is_over();
  co_return names;
}

bool KeyspaceWalk::fits(const MappedKey& slots, const MappedReader& reader) const {
  return std::ranges::all_of(fixed_, [&](const auto& entry) {
    return !slots.contains(entry.first) || reader.text_of(slots, entry.first) == reader.text_of(fixed_, entry.first);
  });
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
    if (!slots || !fits(*slots, reader)) continue;
    std::string name = found;
    if (has_fields) name = reader.key_of(*slots, "").value_or(name);
    if (!seen_.insert(std::move(name)).second) continue;
    slots->insert(fixed_.begin(), fixed_.end());  // the member or field that alone is wanted
    keys.push_back(*std::move(slots));
  }
  co_return keys;
}

}  // namespace redquel::executor
