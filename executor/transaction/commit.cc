#include "executor/transaction/commit.h"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include "executor/transaction/increments.h"
#include "executor/transaction/lock_wait.h"

namespace redquel::executor {

namespace {

void add_changes(WriteUnit& unit, const TableChanges& changes) {
  for (const auto& [member, row] : changes.rows) {
    if (row.stored && row.current) {
      unit.update_row(changes.table, *row.stored, *row.current, {}, row.increments);
    } else if (row.stored) {
      unit.delete_row(changes.table, *row.stored);
    } else if (row.current) {
      unit.insert_row(changes.table, *row.current);
    }
  }
}

asio::awaitable<WriteStatus> commit_rows(RedisClient& redis, Transaction& transaction, WriteOptions options, LockWaitLimits limits,
                                         std::minstd_rand& random) {
  while (true) {
    options.locks = transaction.locks().empty() ? nullptr : &transaction.locks();
    WriteUnit unit(options);
    for (const TableChangesPtr& changes : transaction.buffer().all_changes()) add_changes(unit, *changes);
    if (unit.empty()) co_return WriteStatus::kApplied;
    const WriteStatus status = co_await unit.execute(redis);
    std::set<sql::Oid> tables = transaction.changed_tables();
    const bool increments = !transaction.buffer().increments(tables).empty();
    // Only increments were not locked before.
    if (status == WriteStatus::kLocked) {
      std::string token = transaction.locks().token;
      // Nothing has been sent that could still take place.
      co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
      co_await wait_for_lock(redis, unit.blocker(), std::move(token), limits, random);
      co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    } else if (status == WriteStatus::kConflict && increments) {
      co_await settle_increments(redis, transaction, std::move(tables), limits, random);
    } else {
      co_return status;
    }
  }
}

}  // namespace

asio::awaitable<void> commit_changes(RedisClient& redis, Transaction& transaction, WriteOptions options, LockWaitLimits limits,
                                     std::minstd_rand& random) {
  CatalogChange change;
  if (const TransactionCatalog* catalog = transaction.catalog()) change = catalog->take_change();
  if (!change.empty()) options.catalog = encode_commit(transaction.catalog()->base(), change);
  if (!transaction.reads().empty()) options.reads = &transaction.reads();
  const bool has_rows = !transaction.buffer().all_changes().empty();
  if (!has_rows && change.empty()) co_return;
  // It is 0 where the transaction began before the first connection.
  if (transaction.generation() != 0 && redis.generation() != transaction.generation()) {
    throw sql::SqlError("40001", "could not serialize access: Redis is another one than when the transaction began");
  }
  WriteStatus status = WriteStatus::kApplied;
  bool has_unit = false;
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    for (const auto& [member, row] : changes->rows) has_unit = has_unit || row.stored || row.current;
  }
  if (has_unit) {
    status = co_await commit_rows(redis, transaction, std::move(options), limits, random);
  } else if (!change.empty()) {
    const std::optional<std::string> version = co_await commit_catalog(redis, transaction.catalog()->base(), change);
    if (!version) status = WriteStatus::kStale;
  }
  if (status == WriteStatus::kApplied) {
    if (has_unit) transaction.locks().fields.clear();
    co_return;
  }
  if (status == WriteStatus::kLostLock) throw lapsed_lock();
  const char* what = status == WriteStatus::kStale ? "change of the table's definition" : "update";
  throw sql::SqlError("40001", std::string("could not serialize access due to concurrent ") + what)
      .hint("The transaction might succeed if retried.");
}

asio::awaitable<void> check_changes(RedisClient& redis, const Transaction& transaction, WriteOptions options) {
  options.verify_only = true;
  WriteUnit unit(std::move(options));
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) add_changes(unit, *changes);
  if (unit.empty()) co_return;
  // Anything else than a violation is for the commit to say.
  co_await unit.execute(redis);
}

asio::awaitable<void> finish_commit(DdlContext& context, const Transaction& transaction) {
  const TransactionCatalog* catalog = transaction.catalog();
  if (catalog == nullptr) co_return;
  for (const Removal& removal : catalog->take_change().removals) co_await run_removal(context.redis, removal);
  for (const TransactionCatalog::Sequel& sequel : catalog->sequels()) co_await sequel(context);
}

asio::awaitable<void> forget_counters(RedisClient& redis, const Transaction& transaction) {
  if (transaction.catalog() == nullptr) co_return;
  static const Script kScript("forget_counter", R"lua(
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return redis.call('UNLINK', KEYS[2]) end
return 0
)lua");
  CommandBatch batch;
  for (const auto& [prefix, key] : transaction.catalog()->new_counters()) {
    const std::vector<std::string> keys{"redquel:prefixes", key}, arguments{prefix};
    kScript.append_call(batch, keys, arguments);
  }
  std::vector<const Script*> scripts{&kScript};
  co_await run_scripts(redis, std::move(scripts), std::move(batch));
}

}  // namespace redquel::executor
