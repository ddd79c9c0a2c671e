#include "executor/transaction/increments.h"

#include <utility>

#include "executor/storage/stored_row.h"
#include "executor/transaction/row_locks.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr int kLocksPerLook = 200;
constexpr std::size_t kMostTables = 1000;

std::int64_t integer(const sql::Datum& value) {
  if (const auto* small = std::get_if<std::int32_t>(&value)) return *small;
  return std::get<std::int64_t>(value);
}

/// `fresh` with the differences of the row added.
RowValues grown(const BufferedRow& row, const RowValues& fresh, const sql::TableDef& table) {
  auto values = std::make_shared<std::vector<sql::Datum>>(*fresh);
  for (const std::size_t position : row.increments) {
    sql::Datum& value = (*values)[position];
    if (sql::is_null(value)) continue;
    const std::int64_t difference = integer((*row.current)[position]) - integer((*row.stored)[position]);
    std::int64_t sum = 0;
    const bool is_int4 = table.columns[position].type.oid == sql::oid::kInt4;
    if (__builtin_add_overflow(integer(value), difference, &sum) || (is_int4 && !std::in_range<std::int32_t>(sum))) {
      throw sql::SqlError(sqlstate::kNumericValueOutOfRange, is_int4 ? "integer out of range" : "bigint out of range");
    }
    value = is_int4 ? sql::Datum(static_cast<std::int32_t>(sum)) : sql::Datum(sum);
  }
  return values;
}

asio::awaitable<RowValues> fetch(RedisClient& redis, const std::shared_ptr<const sql::TableDef>& table, const std::string& member) {
  const std::shared_ptr<const StoredRows> rows = stored_rows_of(table);
  CommandBatch batch;
  rows->append_fetch(batch, member);
  RepliesPtr replies = co_await redis.execute(std::move(batch));
  std::optional<std::vector<sql::Datum>> row = rows->decode(member, replies->array(0));
  if (!row) co_return nullptr;
  co_return std::make_shared<const std::vector<sql::Datum>>(*std::move(row));
}

asio::awaitable<void> settle(RedisClient& redis, Transaction& transaction, std::shared_ptr<const sql::TableDef> table, std::string member,
                             LockWaitLimits limits, std::minstd_rand& random) {
  std::vector<std::int16_t> numbers;
  for (const sql::ColumnDef& column : table->columns) numbers.push_back(column.number);
  if (table->has_hidden_key()) numbers.push_back(0);
  const LockedTable locked(table, {planner::RowLock::Strength::kNoKeyUpdate, planner::RowLock::Wait::kBlock}, numbers);
  while (true) {
    const BufferedRow row = *transaction.buffer().find(table->oid, member);
    std::vector<RowLockRequest::Table> tables{locked.request()};
    RowLockRequest request(std::move(tables), transaction.locks().token);
    locked.add_row(request, *row.stored, nullptr);
    const RowLockRequest::Answer answer = co_await request.execute(redis, std::nullopt, &transaction.locks(), nullptr);
    if (answer.conflict) {
      std::string token = transaction.locks().token;
      co_await wait_for_lock(redis, *answer.conflict, std::move(token), limits, random);
      continue;
    }
    RowValues stored = row.stored;
    if (answer.states == "c") stored = co_await fetch(redis, table, member);
    if (answer.states == "g") stored = nullptr;  // deleted meanwhile
    const RowValues current = stored ? grown(row, stored, *table) : nullptr;
    transaction.buffer().set(table, member, {stored, current, {}});
    co_return;
  }
}

}  // namespace

asio::awaitable<void> settle_increments(RedisClient& redis, Transaction& transaction, std::set<sql::Oid> tables, LockWaitLimits limits,
                                        std::minstd_rand& random) {
  for (const auto& [table, member] : transaction.buffer().increments(tables)) {
    std::shared_ptr<const sql::TableDef> definition = table;
    std::string copy = member;
    co_await settle(redis, transaction, std::move(definition), std::move(copy), limits, random);
  }
}

IncrementHabits& IncrementHabits::of_this_thread() {
  thread_local IncrementHabits habits;
  return habits;
}

void IncrementHabits::note_look(sql::Oid table) {
  if (locks_.size() >= kMostTables) locks_.clear();
  locks_[table] = kLocksPerLook;
}

bool IncrementHabits::locks_at_once(sql::Oid table) {
  const auto found = locks_.find(table);
  if (found == locks_.end()) return false;
  if (--found->second == 0) locks_.erase(found);
  return true;
}

}  // namespace redquel::executor
