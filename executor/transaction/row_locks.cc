#include "executor/transaction/row_locks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "executor/redis/redis_error.h"
#include "executor/runtime/lease_keeper.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/mapped_unit.h"
#include "executor/transaction/lock_wait.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

/// The answer of the script that locks one free row; null where there is more to do.
asio::awaitable<RepliesPtr> RowLockRequest::lock_free_row(RedisClient& redis, ExecutionCounters* counters) {
  if (!writes_ || tables_.size() != 1 || members_.size() != 1 || !expected_[0].empty()) co_return nullptr;
  const Table& table = tables_[0];
  const std::string locks = lock_key(places_[0]), lease = process_key(std::string_view(token_).substr(0, token_.find('.')), places_[0].tag());
  CommandBatch batch;
  kLockFreeRowScript.begin_call(batch, 2, 4 + table.fields.size()).arg(locks).arg(keys_[0]);
  batch.arg(token_).arg(lease).arg(static_cast<int>(table.lock.strength)).arg(members_[0]);
  for (const std::string& field : table.fields) batch.arg(field);
  std::vector<const Script*> scripts{&kLockFreeRowScript};
  RepliesPtr replies = co_await run_scripts(redis, std::move(scripts), std::move(batch), counters);
  if (const std::span<const Reply> reply = replies->array(0); reply.empty() || reply[0].text != "done") co_return nullptr;
  co_return replies;
}

void RowLockRequest::add_row(std::string_view member, std::string_view key, std::vector<std::string> expected, const PlacedTable& part) {
  places_.push_back(part);
  members_.push_back(row_lock_field(member));
  // All keys of a script lie in one slot of a cluster. A foreign table's locks are in the home bucket.
  keys_.push_back(key.empty() && sql::uses_cluster() ? sql::home_key(sql::kNoKey) : std::string(key));
  expected_.push_back(std::move(expected));
}

asio::awaitable<RepliesPtr> RowLockRequest::lock_groups(RedisClient& redis, std::optional<std::size_t> wanted, bool keeps,
                                                        ExecutionCounters* counters) {
  std::vector<std::string> keys, arguments{keeps ? token_ : "", wanted ? std::to_string(*wanted) : "", std::to_string(tables_.size())};
  for (const Table& table : tables_) {
    static constexpr const char* kWaits[] = {"b", "s", "n"};
    keys.push_back(lock_key(table.table));
    arguments.push_back(std::to_string(static_cast<int>(table.lock.strength)));
    arguments.emplace_back(writes_ ? "w" : kWaits[static_cast<std::size_t>(table.lock.wait)]);
    arguments.push_back(std::to_string(table.fields.size()));
    arguments.insert(arguments.end(), table.fields.begin(), table.fields.end());
  }
  keys.insert(keys.end(), keys_.begin(), keys_.end());
  for (std::size_t row = 0; row < members_.size(); ++row) {
    arguments.push_back(members_[row]);
    arguments.emplace_back(!expected_[row].empty() ? "1" : writes_ ? "2" : "0");
    arguments.insert(arguments.end(), expected_[row].begin(), expected_[row].end());
  }
  co_return co_await run_script(redis, kLockRowsScript, keys, arguments, counters);
}

bool RowLockRequest::is_in_one_bucket() const {
  return std::ranges::all_of(places_, [this](const PlacedTable& place) { return place.bucket() == places_.front().bucket(); });
}

asio::awaitable<RowLockRequest::Answer> RowLockRequest::execute(RedisClient& redis, std::optional<std::size_t> wanted, LockSet* held,
                                                                ExecutionCounters* counters) {
  if (is_in_one_bucket()) {
    for (std::size_t table = 0; table < tables_.size() && table < places_.size(); ++table) tables_[table].table = places_[table];
    co_return co_await execute_in_bucket(redis, wanted, held, counters);
  }
  co_return co_await execute_over_buckets(redis, wanted, held, counters);
}

RowLockRequest RowLockRequest::part(const std::vector<std::size_t>& tables, const std::vector<std::size_t>& groups) const {
  std::vector<Table> of_bucket;
  for (const std::size_t table : tables) {
    of_bucket.push_back(tables_[table]);
    of_bucket.back().table = places_[groups.front() * tables_.size() + table];
  }
  RowLockRequest request(std::move(of_bucket), token_);
  for (const std::size_t group : groups) {
    for (const std::size_t table : tables) {
      const std::size_t row = group * tables_.size() + table;
      request.keys_.push_back(keys_[row]);
      request.members_.push_back(members_[row]);
      request.expected_.push_back(expected_[row]);
      request.places_.push_back(places_[row]);
    }
  }
  return request;
}

std::map<RowLockRequest::Step, std::vector<std::size_t>> RowLockRequest::steps(std::size_t first, std::size_t count) const {
  std::map<Step, std::vector<std::size_t>> steps;
  for (std::size_t group = first; group < first + count; ++group) {
    std::map<int, std::vector<std::size_t>> buckets;
    for (std::size_t table = 0; table < tables_.size(); ++table) buckets[places_[group * tables_.size() + table].bucket()].push_back(table);
    for (auto& [bucket, tables] : buckets) steps[{bucket, std::move(tables)}].push_back(group);
  }
  return steps;
}

asio::awaitable<void> RowLockRequest::lock_over_buckets(RedisClient& redis, std::size_t first, std::size_t count, LockSet* held, Answer& all,
                                                        ExecutionCounters* counters) {
  std::string states(count, 'l');
  for (const auto& [step, groups] : steps(first, count)) {
    std::vector<std::size_t> open;
    for (const std::size_t group : groups) {
      if (group - first < states.size() && states[group - first] == 'l') open.push_back(group);
    }
    if (open.empty()) continue;
    RowLockRequest request = part(step.tables, open);
    Answer answer = co_await request.execute_in_bucket(redis, std::nullopt, held, counters);
    for (std::size_t index = 0; index < answer.states.size() && index < open.size(); ++index) states[open[index] - first] = answer.states[index];
    if (!answer.conflict && !answer.not_waited_for) continue;
    // Later buckets are asked for the groups before this one, and may have an earlier one that is not free.
    if (answer.states.size() < open.size()) states.resize(open[answer.states.size()] - first);
    all.conflict = std::move(answer.conflict);
    all.not_waited_for.reset();
    if (answer.not_waited_for) all.not_waited_for = step.tables.at(*answer.not_waited_for);
  }
  all.states += states;
}

asio::awaitable<RowLockRequest::Answer> RowLockRequest::execute_over_buckets(RedisClient& redis, std::optional<std::size_t> wanted, LockSet* held,
                                                                             ExecutionCounters* counters) {
  Answer all;
  std::size_t locked = 0;
  while (all.states.size() < groups() && (!wanted || locked < *wanted) && !all.conflict && !all.not_waited_for) {
    const std::size_t first = all.states.size();
    const std::size_t count = std::min(groups() - first, wanted ? *wanted - locked : groups());
    co_await lock_over_buckets(redis, first, count, held, all, counters);
    locked = static_cast<std::size_t>(std::ranges::count(all.states, 'l'));
  }
  co_return all;
}

asio::awaitable<RowLockRequest::Answer> RowLockRequest::execute_in_bucket(RedisClient& redis, std::optional<std::size_t> wanted, LockSet* held,
                                                                          ExecutionCounters* counters) {
  if (token_.empty()) held = nullptr;
  RepliesPtr replies;
  if (held != nullptr && !wanted) replies = co_await lock_free_row(redis, counters);
  if (!replies) replies = co_await lock_groups(redis, wanted, held != nullptr, counters);
  const std::span<const Reply> reply = replies->array(0);
  if (!reply.empty() && reply[0].text == "lost") throw lapsed_lock();
  const auto text = [&](std::size_t index) { return index < reply.size() ? std::string(reply[index].text) : std::string(); };
  Answer answer{text(1), {}, {}, replies};
  if (text(0) == "locked") answer.conflict = LockConflict{text(2), text(3), text(4)};
  if (text(0) == "refused" && reply.size() > 2) answer.not_waited_for = static_cast<std::size_t>(reply[2].integer);
  if (answer.not_waited_for || answer.states.find('s') != std::string::npos) end_leases_of_the_dead();
  if (held != nullptr) {
    for (std::size_t group = 0; group < answer.states.size(); ++group) {
      if (answer.states[group] != 'l' && answer.states[group] != 'c') continue;
      for (std::size_t table = 0; table < tables_.size(); ++table) {
        std::string& field = members_[group * tables_.size() + table];
        if (tables_[table].is_counted) {
          held->add(tables_[table].table, std::move(field));
        } else {
          held->add_written(tables_[table].table, std::move(field));
        }
      }
    }
  }
  co_return answer;
}

std::span<const Reply> RowLockRequest::Answer::row(std::size_t number) const {
  const std::span<const Reply> reply = replies->array(0);
  const std::span<const Reply> rows = reply.size() > 2 ? reply[2].children() : std::span<const Reply>();
  if (number >= rows.size()) throw unexpected_reply("EVALSHA", "the rows that it has locked");
  return rows[number].children();
}

LockedTable::LockedTable(std::shared_ptr<const sql::TableDef> table, const planner::RowLock& lock, const std::vector<std::int16_t>& numbers)
    : table_(table), lock_(lock), encoder_(sql::stored_tables(table).front(), std::vector<sql::Structure>{}) {
  if (table->is_mapped()) {
    for (const std::int16_t number : numbers) places_.push_back(table->position(number));
    return;
  }
  fields_.push_back(encoder_.presence_field());
  for (const std::int16_t number : numbers) {
    const std::size_t position = number == 0 ? table->columns.size() : table->position(number);
    places_.push_back(position);
    // A value that is only in the key cannot change; a field that older rows lack is in the key too.
    const bool in_key = number == 0 || (table->in_primary_key(number) && !encoder_.keys().stores_key_column(*table->find_column(number)));
    if (in_key || encoder_.field(position) == nullptr) continue;
    compared_.push_back(position);
    fields_.push_back(*encoder_.field(position));
    if (!encoder_.null_marker(position).empty()) fields_.push_back(encoder_.null_marker(position));
  }
}

void LockedTable::add_row(RowLockRequest& request, const std::vector<sql::Datum>& values, const RowBuffer* buffer) const {
  std::vector<sql::Datum> row(encoder_.width());
  for (std::size_t index = 0; index < places_.size(); ++index) row[places_[index]] = values[index];
  if (table().is_mapped()) {  // what it holds is known by a second look
    request.add_row(mapped_identity(table(), row), "", {});
    return;
  }
  Words words;
  const RowImage image = encoder_.encode(row, words);
  const sql::TableDef& stored = table().parts.empty() ? table() : *sql::part_of_row(table(), row);
  std::vector<std::string> expected;
  if (buffer == nullptr || !buffer->find(stored.oid, image.member)) {
    expected.push_back(RowLockRequest::is_there());
    for (const std::size_t position : compared_) add_expected(expected, position, words[image.texts + position]);
  }
  const std::string key = std::string(stored.tag()).append(sql::without_tag(image.key));
  request.add_row(image.member, key, std::move(expected), stored);
}

void LockedTable::add_expected(std::vector<std::string>& expected, std::size_t position, std::string_view text) const {
  const bool has_marker = !encoder_.null_marker(position).empty();
  if (is_null(text)) {
    expected.push_back(RowLockRequest::is_absent());
    if (has_marker) expected.push_back(RowLockRequest::is_there());
    return;
  }
  // Rows of before the column was added have its default without a field.
  const bool may_be_missing = has_marker && text == *encoder_.table().columns[position].missing;
  expected.push_back(may_be_missing ? RowLockRequest::holds_or_is_absent(text) : RowLockRequest::holds(text));
  if (has_marker) expected.push_back(RowLockRequest::is_absent());
}

}  // namespace redquel::executor
