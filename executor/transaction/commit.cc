#include "executor/transaction/commit.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "executor/redis/unreplicated_commits.h"
#include "executor/runtime/event_loop_turn.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/mapped_unit.h"
#include "executor/storage/version_copies.h"
#include "executor/storage/write_conflict.h"
#include "executor/transaction/bucket_rows.h"
#include "executor/transaction/chunked_commit.h"
#include "executor/transaction/increments.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/mapped_changes.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/mapping.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

void add_changes(WriteUnit& unit, const TableChanges& changes) {
  if (changes.table->is_mapped()) return;  // of MappedUnit
  TableChanges::Walk walk(changes);
  while (const ChangeLog::VersionPtr changed = walk.next()) add_change(unit, changes.table, changed->row);
}

/// Reads the definitions again if no owner seems to have the tables exclusively: that may just have ended.
constexpr int kStaleLooks = 2;

/// Tables whose definitions the unit relies on or changes.
std::vector<PlacedTable> tables_of(const Transaction& transaction, const sql::CatalogSnapshot& catalog) {
  std::vector<PlacedTable> tables;
  if (transaction.catalog() != nullptr) {
    const std::set<sql::Oid> touched = transaction.catalog()->state().draft->touched();
    for (const sql::Oid table : touched) tables.push_back(placed(*transaction.catalog()->snapshot(), table));
  }
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    const sql::TableDef& table = *changes->table;
    tables.emplace_back(table);
    for (const sql::ForeignKeyDef& key : table.foreign_keys) tables.push_back(placed(catalog, key.referenced));
    for (const sql::Oid referencing : table.referencing) tables.push_back(placed(catalog, referencing));
  }
  return tables;
}

/// Returns true if the commit writes rows of the table, and redquel manages them.
bool writes_managed_rows(const TableChanges& changes) { return !changes.table->is_mapped() && writes_rows(changes); }

/// A row of another bucket.
struct RowElsewhere {
  WriteUnit::TablePtr table;
  BufferedRow row;
};

/// Returns the rows by the buckets where unique values of theirs lie by value and come or go.
std::map<int, std::vector<RowElsewhere>> rows_of_values(const Transaction& transaction) {
  std::map<int, std::vector<RowElsewhere>> rows;
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    if (changes->table->is_mapped() || !sql::has_values_elsewhere(*changes->table)) continue;
    const std::shared_ptr<const RowEncoder> encoder = encoder_of(changes->table);
    TableChanges::Walk walk(*changes);
    while (const ChangeLog::VersionPtr changed = walk.next()) {
      const BufferedRow& row = changed->row;
      Words words;
      std::optional<RowImage> before, after;
      if (row.stored) before = encoder->encode(*row.stored, words);
      if (row.current) after = encoder->encode(*row.current, words);
      std::set<int> buckets;
      encoder->add_value_buckets(before ? &*before : nullptr, after ? &*after : nullptr, words, buckets);
      buckets.erase(PlacedTable(*changes->table).bucket());
      for (const int bucket : buckets) rows[bucket].push_back({changes->table, row});
    }
  }
  return rows;
}

/// Returns the buckets in which the commit changes rows or their unique values, or has locks that must still be held. None: one Redis.
std::set<int> buckets_of(const Transaction& transaction) {
  std::set<int> buckets;
  if (!sql::uses_cluster()) return buckets;
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    if (writes_managed_rows(*changes)) buckets.insert(PlacedTable(*changes->table).bucket());
  }
  for (const auto& [bucket, rows] : rows_of_values(transaction)) buckets.insert(bucket);
  if (transaction.keeps_reads()) {
    for (const auto& [oid, table] : transaction.reads().tables()) buckets.insert(sql::bucket_of(table.counter_key));
  }
  const LockSet& locks = transaction.locks();
  for (std::size_t part = 0; part < locks.parts(); ++part) {
    for (const auto& [table, fields] : locks.part(part)) buckets.insert(table.bucket());
  }
  return buckets;
}

/// Returns the commit's changes to the definitions; other sessions may have changed some meanwhile. nullopt: no changes.
std::optional<CatalogCommit> definitions_of(const Transaction& transaction) {
  if (transaction.catalog() == nullptr) return {};
  CatalogChange change = transaction.catalog()->take_change();
  if (change.empty()) return {};
  const std::set<int> buckets = buckets_of(transaction);
  const bool by_parts = std::ranges::any_of(buckets, [](int bucket) { return bucket != sql::kHomeBucket; });
  return encode_commit(transaction.catalog()->base(), std::move(change), by_parts);
}

/// Divides the transaction's rows, locks and reads among its buckets.
BucketUnits divide(const Transaction& transaction, const WriteOptions& options, bool verify) {
  BucketUnits units;
  const LockSet& all = transaction.locks();
  for (std::size_t part = 0; part < all.parts(); ++part) {
    for (const auto& [table, fields] : all.part(part)) {
      LockSet& locks = units[table.bucket()].locks;
      locks.token = all.token;
      for (const std::string& field : fields) locks.add(table, field);
    }
  }
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    if (writes_managed_rows(*changes)) units[PlacedTable(*changes->table).bucket()];
  }
  const std::map<int, std::vector<RowElsewhere>> elsewhere = rows_of_values(transaction);
  for (const auto& [bucket, rows] : elsewhere) units[bucket];
  if (options.reads != nullptr) {
    for (const auto& [oid, table] : options.reads->tables()) units[sql::bucket_of(table.counter_key)];
    for (auto& [bucket, of_bucket] : units) of_bucket.reads = options.reads->of_bucket(bucket);
  }
  for (auto& [bucket, of_bucket] : units) {
    WriteOptions own = options;
    own.tag = sql::bucket_tag(bucket);
    own.locks = of_bucket.locks.empty() ? nullptr : &of_bucket.locks;
    own.reads = of_bucket.reads.empty() ? nullptr : &of_bucket.reads;
    own.catalog.reset();
    own.token.reset();
    own.verify_only = verify;
    own.foreign_keys = std::make_shared<ForeignKeyChecks>(*options.foreign_keys);
    own.foreign_keys->set_scope(ForeignKeyScope::kWithinBuckets);
    of_bucket.unit = std::make_unique<WriteUnit>(std::move(own));
    for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
      if (!changes->table->is_mapped() && PlacedTable(*changes->table).bucket() == bucket) add_changes(*of_bucket.unit, *changes);
    }
    const auto others = elsewhere.find(bucket);
    if (others == elsewhere.end()) continue;
    for (const RowElsewhere& other : others->second) add_change(*of_bucket.unit, other.table, other.row);
  }
  return units;
}

/// Copies the version of committed definitions. A copy that cannot be written now is written when the definitions are loaded: the commit has
/// taken place all the same.
asio::awaitable<void> publish_committed(RedisClient& redis) {
  try {
    co_await publish_version(redis);
  } catch (const sql::SqlError& error) {
    spdlog::warn("a new version of the definitions is not yet known everywhere: {}", error.what());
  }
}

/// Commits rows and definitions over several buckets.
asio::awaitable<BucketRowsOutcome> commit_divided(RedisClient& redis, const Transaction& transaction, WriteOptions options) {
  if (options.mapped) throw sql::not_supported("a transaction that writes foreign tables and tables of several buckets");
  // The commit makes rows visible that were written ahead: replicas must have them.
  UnreplicatedCommits* const commits = redis.unreplicated();
  if (transaction.writes_ahead() && commits != nullptr) co_await commits->all_confirmed();
  std::map<int, std::vector<std::string>> definitions;
  if (options.catalog) definitions = options.catalog->parts;
  const auto make = [&transaction, &options](bool verify) { return divide(transaction, options, verify); };
  const bool has_definitions = !definitions.empty();
  BucketRowsOutcome outcome = co_await commit_bucket_rows(redis, make, std::move(definitions));
  if (outcome.status == WriteStatus::kApplied && has_definitions) co_await publish_committed(redis);
  co_return outcome;
}

/// Commits the rows where they lie in one bucket, or on one Redis.
asio::awaitable<BucketRowsOutcome> commit_undivided(RedisClient& redis, const Transaction& transaction, WriteOptions options) {
  const bool has_definitions = options.catalog.has_value();
  if (sql::uses_cluster()) {
    options.foreign_keys = std::make_shared<ForeignKeyChecks>(*options.foreign_keys);
    options.foreign_keys->set_scope(ForeignKeyScope::kWithinBuckets);
  }
  WriteUnit unit(std::move(options));
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) add_changes(unit, *changes);
  if (unit.empty() && !transaction.writes_ahead() && !unit.options().mapped) co_return BucketRowsOutcome{};
  const WriteStatus status = co_await unit.execute(redis);
  if (status == WriteStatus::kApplied && has_definitions) co_await publish_committed(redis);
  co_return BucketRowsOutcome{status, unit.blocker()};
}

/// Checks foreign keys over two buckets that may have waited for the commit. Others were checked by their statements, and locks keep the rows
/// that they refer to.
asio::awaitable<BucketRowsOutcome> check_deferrable_keys(RedisClient& redis, Transaction& transaction, const WriteOptions& options) {
  const auto may_wait = [](const ForeignKeyPtr& key) { return key->definition().deferrable && key->spans_buckets(); };
  const bool any_may_wait = std::ranges::any_of(transaction.buffer().all_changes(), [&](const TableChangesPtr& changes) {
    const sql::CatalogSnapshot& catalog = *options.foreign_keys->catalog();
    if (changes->table->is_mapped() || !changes->table->has_foreign_keys()) return false;
    return std::ranges::any_of(foreign_keys_of(catalog, changes->table, options.settings), may_wait) ||
           std::ranges::any_of(foreign_keys_to(catalog, changes->table, options.settings), may_wait);
  });
  if (!any_may_wait) co_return BucketRowsOutcome{};
  const auto was_checked = [](const sql::ForeignKeyDef& key) { return !key.deferrable; };
  const auto checks =
      std::make_shared<ForeignKeyChecks>(options.foreign_keys->catalog(), options.settings, was_checked);
  checks->set_scope(ForeignKeyScope::kOverBuckets);
  std::size_t number = 0;
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    if (changes->table->is_mapped() || !changes->table->has_foreign_keys()) continue;
    TableChanges::Walk walk(*changes);
    while (const ChangeLog::VersionPtr changed = walk.next()) {
      const BufferedRow& row = changed->row;
      const std::span<const sql::Datum> none;
      checks->add(changes->table, number++, row.stored ? std::span<const sql::Datum>(*row.stored) : none, row.current ? std::span<const sql::Datum>(*row.current) : none);
    }
  }
  WriteOptions own;
  own.settings = options.settings;
  own.buffer = &transaction.buffer();
  own.locks = &transaction.locks();
  own.foreign_keys = checks;
  WriteUnit unit(std::move(own));
  const WriteStatus status = co_await unit.execute(redis);
  co_return BucketRowsOutcome{status, unit.blocker()};
}

asio::awaitable<WriteStatus> commit_rows(RedisClient& redis, Transaction& transaction, WriteOptions options, LockWaitLimits limits,
                                         std::minstd_rand& random, CommitTrace& trace) {
  const LockDeadline deadline = lock_deadline(limits.lock_timeout);
  int looks = 0;
  bool are_keys_checked = !sql::uses_cluster();
  while (true) {
    // Rows that change with definitions, or lie in claimed places, are the process's for as long as it lives, as locks are.
    options.locks = transaction.locks().empty() && !options.catalog ? nullptr : &transaction.locks();
    const std::set<int> buckets = buckets_of(transaction);
    const bool has_parts = options.catalog && !options.catalog->parts.empty();
    // With definitions of the home bucket alone, rows of another one need a commit over both, too.
    const bool is_divided = buckets.size() > 1 || has_parts;
    BucketRowsOutcome outcome;
    if (!are_keys_checked) {
      outcome = co_await check_deferrable_keys(redis, transaction, options);
      are_keys_checked = outcome.status == WriteStatus::kApplied;
      if (are_keys_checked) continue;  // it may have locked rows of other buckets
    } else if (is_divided) {
      trace = {CommitTrace::Kind::kBuckets};
      outcome = co_await commit_divided(redis, transaction, options);
    } else {
      if (buckets.size() == 1) options.tag = sql::bucket_tag(*buckets.begin());
      trace = {CommitTrace::Kind::kToken, options.tag.value_or(std::string(sql::home_tag()))};
      outcome = co_await commit_undivided(redis, transaction, options);
    }
    const WriteStatus status = outcome.status;
    if (status == WriteStatus::kApplied) co_return status;
    std::set<sql::Oid> tables = transaction.changed_tables();
    const bool increments = !transaction.buffer().increments(tables).empty();
    // Only increments were not locked before.
    if (status == WriteStatus::kLocked) {
      std::string token = transaction.locks().token;
      // Nothing has been sent that could still take place.
      co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
      co_await wait_for_lock(redis, std::move(outcome.blocker), std::move(token), limits, random);
      co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    } else if (status == WriteStatus::kConflict && increments) {
      co_await settle_increments(redis, transaction, std::move(tables), limits, random);
    } else if (status == WriteStatus::kStale && looks < kStaleLooks) {
      // A statement of many rows has a table for itself. It never waits for a lock meanwhile, so it comes to its end.
      co_await asio::this_coro::reset_cancellation_state(asio::enable_terminal_cancellation());
      bool has_moved = co_await wait_while_exclusive(redis, tables_of(transaction, *options.foreign_keys->catalog()), deadline);
      co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
      if (options.catalog) {
        if (co_await follow_definitions_of_others(redis, transaction)) has_moved = true;
        options.catalog = definitions_of(transaction);
      }
      looks = has_moved ? 0 : looks + 1;
    } else {
      co_return status;
    }
  }
}

/// Locks that the committing script verifies and gives back: each about two microseconds of Redis.
constexpr std::size_t kLocksPerScript = 10'000;
/// Rows that one script writes at all: two seconds of Redis.
constexpr std::size_t kMostRowsOfScript = 100'000;

/// Returns true if rows of the table can be written before the commit: no other session reads its place, and only its own rows decide
/// whether they fit.
bool is_unseen(const TransactionCatalog& catalog, const sql::TableDef& table) {
  return !table.is_mapped() && table.part_of == 0 && catalog.is_new_place(table.prefix) && !table.has_foreign_keys() &&
         table.on_commit == sql::TableDef::OnCommit::kPreserveRows;
}

/// Rows of tables that the transaction has made, where it has changed more rows than one script writes: they go to their place, and out of
/// the buffer. What else there is to commit makes them visible.
asio::awaitable<void> write_ahead_of_commit(RedisClient& redis, Transaction& transaction, const sql::SessionSettings& settings,
                                            std::size_t script_rows) {
  TransactionCatalog& catalog = *transaction.catalog();
  if (transaction.buffer().changed_rows() <= script_rows) co_return;
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    if (!is_unseen(catalog, *changes->table)) continue;
    co_await claim_place(redis, transaction, changes->table);
    WriteOptions options{.settings = settings};
    options.ahead_of_commit = true;
    WriteUnit unit(options);
    EventLoopTurn turn;
    const auto send = [&]() -> asio::awaitable<void> {
      WriteUnit chunk = std::exchange(unit, WriteUnit(options));
      if (!chunk.empty() && co_await chunk.execute(redis) != WriteStatus::kApplied) throw serialization_failure("update");
    };
    for (const Phase phase : kPhases) {
      TableChanges::Walk walk(*changes);
      while (const ChangeLog::VersionPtr changed = walk.next()) {
        if (add_in_phase(unit, phase, changes->table, changed->row) && unit.size() >= script_rows) co_await send();
        if (turn.is_over()) co_await turn.yield();
      }
    }
    co_await send();
    transaction.buffer().forget(changes->table->oid);
  }
}

bool changes_values_elsewhere(const Transaction& transaction) {
  return std::ranges::any_of(transaction.buffer().all_changes(), [](const TableChangesPtr& changes) {
    return !changes->table->is_mapped() && sql::has_values_elsewhere(*changes->table);
  });
}

/// Throws 54000 if one bucket gets more rows than one commit over buckets may hold it for: a journaled unit has the rows of one bucket at a time, but
/// values that lie by value change together with rows of other buckets.
void check_rows_by_bucket(const Transaction& transaction, std::size_t script_rows) {
  constexpr std::size_t kScripts = 10;
  std::map<int, std::size_t> rows;
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    if (!changes->table->is_mapped()) rows[PlacedTable(*changes->table).bucket()] += changes->size;
  }
  const std::size_t most = kScripts * script_rows;
  if (std::ranges::all_of(rows, [most](const auto& of_bucket) { return of_bucket.second <= most; })) return;
  throw sql::SqlError(sqlstate::kProgramLimitExceeded,
                      fmt::format("transaction changes more than {} rows in one bucket of a table with unique values that lie by value", most))
      .hint("Use several transactions, or a unique constraint with the column of bucket_by.");
}

/// The changes of a commit to mapped tables.
struct MappedCommit {
  std::shared_ptr<const MappedWriteCall> call;  // null: nothing
  RedisUserPtr user;                            // null: redquel's own login
};

/// Returns the changes of mapped tables, once the rows are found to be as they were read. One script writes them all, so it has one Redis user.
asio::awaitable<MappedCommit> mapped_changes(RedisClient& redis, Transaction& transaction, const MappedPlace& place) {
  const RowBuffer& buffer = transaction.buffer();
  auto call = std::make_shared<MappedWriteCall>(place.catalog_version, place.database, transaction.locks().token);
  RedisUserPtr user;
  bool is_first = true;
  for (const std::shared_ptr<MappedUnit>& unit : mapped_units(buffer)) {
    const RedisUserPtr writer = transaction.writer_of(unit->table().oid);
    if (!std::exchange(is_first, false) && writer != user) throw sql::not_supported("a transaction that writes foreign tables as several Redis users");
    user = writer;
    const int database = unit->table().mapping().database.value_or(place.database);
    RedisClient& client = user ? user->shared(database) : database == place.database ? redis : place.access.shared(database);
    // Values that were read as NULL were reported at that time.
    if (!co_await unit->read(client, true, nullptr)) throw serialization_failure("update");
    unit->append_writes(*call, database);
  }
  if (call->empty()) co_return MappedCommit{};
  co_return MappedCommit{std::move(call), std::move(user)};
}

/// In a cluster one script cannot write keys of an application together with those of redquel's own tables.
sql::SqlError several_places(const Transaction& transaction, const MappedWriteCall& mapped) {
  std::string other = "the definitions";
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    if (writes_managed_rows(*changes)) other = fmt::format("table \"{}\"", changes->table->name);
  }
  return sql::not_supported("a transaction over a Redis Cluster that writes foreign tables and other tables or definitions")
      .detail(fmt::format("Key \"{}\" and {} lie in different slots.", mapped.place() ? mapped.place()->key : std::string(), other));
}

asio::awaitable<WriteStatus> commit_mapped_alone(RedisClient& redis, MappedCommit commit, int database) {
  std::optional<sql::SqlError> lost;
  try {
    MappedWriteCall sent = *commit.call;
    MappedWriteResult result;
    if (commit.user) result = co_await write_mapped_as(commit.user, database, std::move(sent), nullptr);
    else result = co_await write_mapped(redis, std::move(sent), nullptr);
    co_return result.status;
  } catch (const sql::SqlError& error) {
    if (error.sqlstate() != sqlstate::kConnectionFailure) throw;
    lost = error;
  }
  throw outcome_unknown(*lost);
}

asio::awaitable<WriteStatus> commit_definitions(RedisClient& redis, Transaction& transaction) {
  for (int looks = 0; looks <= kStaleLooks;) {
    const TransactionCatalog& catalog = *transaction.catalog();
    const std::optional<std::string> version = co_await commit_catalog(redis, catalog.base(), catalog.take_change());
    if (version) co_return WriteStatus::kApplied;
    const bool has_moved = co_await follow_definitions_of_others(redis, transaction);
    looks = has_moved ? 0 : looks + 1;
  }
  co_return WriteStatus::kStale;
}

}  // namespace

std::vector<sql::Oid> tables_too_large_for_commit(const Transaction& transaction, std::size_t script_rows) {
  std::vector<sql::Oid> large;
  if (transaction.catalog() == nullptr || transaction.catalog()->take_change().empty()) return large;
  std::vector<TableChangesPtr> all = transaction.buffer().all_changes();
  std::map<int, std::size_t> rows;  // by bucket: each has a script of its own
  for (const TableChangesPtr& changes : all) rows[PlacedTable(*changes->table).bucket()] += changes->size;
  std::erase_if(all, [](const TableChangesPtr& changes) {
    return changes->table->is_mapped() || changes->table->on_commit != sql::TableDef::OnCommit::kPreserveRows;
  });
  std::ranges::sort(all, {}, [&](const TableChangesPtr& changes) {  // those that need no other place first, then the largest
    return std::pair(!is_unseen(*transaction.catalog(), *changes->table), std::numeric_limits<std::size_t>::max() - changes->size);
  });
  for (const TableChangesPtr& changes : all) {
    std::size_t& of_bucket = rows[PlacedTable(*changes->table).bucket()];
    // Parts of a table have no other place.
    if (of_bucket <= (changes->table->part_of != 0 ? kMostRowsOfScript : script_rows)) continue;
    of_bucket -= changes->size;
    if (!is_unseen(*transaction.catalog(), *changes->table)) large.push_back(changes->table->oid);
  }
  return large;
}

asio::awaitable<void> commit_changes(RedisClient& redis, Transaction& transaction, WriteOptions options, std::size_t script_rows,
                                     LockWaitLimits limits, std::minstd_rand& random, MappedPlace place, CommitTrace& trace) {
  if (transaction.catalog() != nullptr) co_await write_ahead_of_commit(redis, transaction, options.settings, script_rows);
  options.catalog = definitions_of(transaction);
  const bool has_definitions = options.catalog.has_value();
  if (transaction.keeps_reads() && !transaction.reads().empty()) options.reads = &transaction.reads();
  const bool reads_are_past = transaction.keeps_reads() && transaction.read_moment().is_past();
  const int database = place.database;
  MappedCommit mapped = co_await mapped_changes(redis, transaction, place);
  options.mapped = mapped.call;
  if (!has_definitions && transaction.buffer().changed_rows() == 0 && !options.mapped) co_return;
  if (reads_are_past) throw serialization_failure("update");
  // It is 0 where the transaction began before the first connection.
  if (transaction.generation() != 0 && redis.generation() != transaction.generation()) {
    throw sql::SqlError(sqlstate::kSerializationFailure, "could not serialize access: Redis is another one than when the transaction began");
  }
  bool is_large = transaction.buffer().changed_rows() > script_rows || transaction.locks().size() > kLocksPerScript;
  if (is_large && changes_values_elsewhere(transaction)) {
    check_rows_by_bucket(transaction, script_rows);
    is_large = false;
  }
  if (!has_definitions && is_large && !options.mapped) {
    std::set<sql::Oid> tables = transaction.changed_tables();
    if (!transaction.buffer().increments(tables).empty()) {
      co_await settle_increments(redis, transaction, std::move(tables), limits, random);
    }
    WriteOptions chunk_options = options;
    chunk_options.token.reset();  // the journal records the outcome of the unit
    chunk_options.foreign_keys = std::make_shared<ForeignKeyChecks>(*options.foreign_keys);
    chunk_options.foreign_keys->expect_written();
    const LockDeadline deadline = lock_deadline(limits.lock_timeout);
    if (options.reads != nullptr && buckets_of(transaction).size() > 1) {
      throw sql::not_supported("a SERIALIZABLE transaction that writes many rows and touches several buckets");
    }
    if (sql::uses_cluster()) {
      // The statements have locked what they refer to, except where the check of a key waits for the commit.
      const BucketRowsOutcome checked = co_await check_deferrable_keys(redis, transaction, options);
      if (checked.status != WriteStatus::kApplied) throw serialization_failure("update");
    }
    trace = {CommitTrace::Kind::kNone};
    co_await commit_in_chunks(redis, database, transaction, std::move(chunk_options), script_rows, deadline);
    co_return;
  }
  WriteStatus status = WriteStatus::kApplied;
  bool has_unit = transaction.writes_ahead() || (options.mapped && has_definitions);
  for (const TableChangesPtr& changes : transaction.buffer().all_changes()) {
    has_unit = has_unit || writes_managed_rows(*changes);
  }
  if (mapped.user && (has_unit || has_definitions)) {
    throw sql::not_supported("a transaction that writes foreign tables by a user mapping and changes other tables or definitions");
  }
  if (sql::uses_cluster() && options.mapped && (has_unit || has_definitions)) throw several_places(transaction, *options.mapped);
  if (has_unit) {
    status = co_await commit_rows(redis, transaction, std::move(options), limits, random, trace);
  } else if (options.mapped) {
    trace = {CommitTrace::Kind::kNone};
    status = co_await commit_mapped_alone(redis, std::move(mapped), database);
  } else if (has_definitions) {
    trace = {CommitTrace::Kind::kNone};
    status = co_await commit_definitions(redis, transaction);
  }
  if (status == WriteStatus::kApplied) {
    if (has_unit) transaction.locks().clear();
    co_return;
  }
  if (status == WriteStatus::kLostLock) throw lapsed_lock();
  throw serialization_failure(status == WriteStatus::kStale ? "change of the table's definition" : "update");
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
  CatalogChange change = catalog->take_change();
  for (const Removal& removal : change.removals) co_await run_removal(context.redis, removal);
  co_await clear_unused_places(context.redis, *catalog, std::move(change.finished_removals));
  for (const TransactionCatalog::Sequel& sequel : catalog->sequels()) co_await sequel(context);
}

asio::awaitable<void> clear_new_places(RedisClient& redis, const Transaction& transaction) {
  if (transaction.catalog() == nullptr) co_return;
  std::vector<std::string> none;
  co_await clear_unused_places(redis, *transaction.catalog(), std::move(none));
  std::vector<std::pair<std::string, std::string>> counters = transaction.catalog()->new_counters();
  co_await forget_counters(redis, std::move(counters));
}

namespace {

/// The counters and the list of prefixes may lie in different buckets. A counter that is deleted although the prefix has just been taken
/// begins again, as that of a new table does.
asio::awaitable<void> forget_counters_of_buckets(RedisClient& redis, std::vector<std::pair<std::string, std::string>> counters) {
  CommandBatch look;
  for (const auto& [prefix, key] : counters) look.add("HEXISTS", sql::home_key(sql::kPrefixesKey), prefix);
  const RepliesPtr taken = co_await redis.execute(std::move(look));
  CommandBatch batch;
  for (std::size_t index = 0; index < counters.size(); ++index) {
    if (taken->integer(index) == 0) batch.add("UNLINK", counters[index].second);
  }
  co_await redis.execute(std::move(batch));
}

}  // namespace

asio::awaitable<void> forget_counters(RedisClient& redis, std::vector<std::pair<std::string, std::string>> counters) {
  if (counters.empty()) co_return;
  if (sql::uses_cluster()) co_return co_await forget_counters_of_buckets(redis, std::move(counters));
  CommandBatch batch;
  for (const auto& [prefix, key] : counters) {
    const std::vector<std::string> keys{sql::home_key(sql::kPrefixesKey), key}, arguments{prefix};
    kForgetCounterScript.append_call(batch, keys, arguments);
  }
  std::vector<const Script*> scripts{&kForgetCounterScript};
  co_await run_scripts(redis, std::move(scripts), std::move(batch));
}

}  // namespace redquel::executor
