#include "executor/ddl/catalog_change.h"

#include <algorithm>

#include "executor/ddl/object_lookup.h"
#include "executor/ddl/used_places.h"
#include "executor/storage/exclusive_tables.h"
#include "executor/transaction/transaction.h"
#include "sql/catalog/spread_table.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Other processes may be faster so often; then something is wrong.
constexpr int kCommitAttempts = 100;

/// "WARNING" for the SQLSTATEs of warnings, and for what GRANT leaves out.
std::string_view severity_of(const SqlError& notice) {
  return notice.sqlstate().starts_with("01") || notice.sqlstate() == sqlstate::kInvalidGrantOperation ? "WARNING" : "NOTICE";
}

void send_notices(const SessionState& session, const std::vector<SqlError>& notices) {
  if (!session.notice) return;
  for (const SqlError& notice : notices) session.notice(severity_of(notice), notice);
}

/// Tables that are there already and get another definition: open transactions that have written them could not commit any more.
std::vector<TablePtr> tables_redefined(const CatalogDraft& draft, const sql::CatalogSnapshot& before) {
  std::vector<TablePtr> tables;
  for (const sql::Oid oid : draft.touched_tables()) {
    if (const TablePtr table = before.find_table(oid)) std::ranges::copy(sql::stored_tables(table), std::back_inserter(tables));
  }
  return tables;
}

/// Returns the tables with locked rows.
asio::awaitable<std::vector<TablePtr>> with_locks(RedisClient& redis, std::vector<TablePtr> tables) {
  std::vector<TablePtr> locked;
  if (tables.empty()) co_return locked;
  CommandBatch batch;
  for (const TablePtr& table : tables) batch.add("EXISTS", lock_key(*table));
  const RepliesPtr replies = co_await redis.execute(std::move(batch));
  for (std::size_t index = 0; index < tables.size(); ++index) {
    if (replies->integer(index) == 1) locked.push_back(tables[index]);
  }
  co_return locked;
}

/// Waits until no journaled unit has one of the tables for itself. Returns false if there was none.
asio::awaitable<bool> wait_for_units(const DdlContext& context, const std::vector<TablePtr>& tables) {
  std::vector<PlacedTable> waited_for;
  for (const TablePtr& table : tables) waited_for.emplace_back(*table);
  const LockDeadline deadline = lock_deadline(context.session.lock_timeout);
  co_return co_await wait_while_exclusive(context.redis, std::move(waited_for), deadline);
}

asio::awaitable<void> lock_all(DdlContext& context, std::vector<TablePtr> tables) {
  for (const TablePtr& table : tables) co_await context.lock_table(*table, TableLock::kAccessExclusive);
}

asio::awaitable<void> change_in_transaction(DdlContext& context, const MakeDraft& make) {
  Transaction& transaction = *context.session.transaction;
  TransactionCatalog& catalog = co_await transaction_catalog(context);
  std::set<sql::Oid> locked;
  UsedPlaces used;
  while (true) {
    co_await follow_definitions_of_others(context.redis, transaction);
    context.session.known_types->types = catalog.snapshot()->user_types;
    CatalogDraft draft(*catalog.state().draft);
    used.keep_from(draft);
    make(draft);
    if (!context.statement.empty()) draft.note_statement(context.statement);
    if (draft.lacking_oids() > 0) {
      co_await catalog.reserve_oids(context.redis, draft);
      continue;
    }
    const std::size_t known = catalog.state().draft->reserved_prefixes().size();
    if (co_await used.find(context, draft, known)) continue;
    std::vector<TablePtr> tables;
    if (context.lock_table) {  // writers wait for the transaction's end, and it for theirs
      tables = tables_redefined(draft, catalog.base());
      std::erase_if(tables, [&](const TablePtr& table) {  // earlier statements have changed them, and locked
        return locked.contains(table->oid) || draft.catalog().find_table(table->oid) == catalog.snapshot()->find_table(table->oid);
      });
    }
    if (!tables.empty()) {
      for (const TablePtr& table : tables) locked.insert(table->oid);
      co_await lock_all(context, std::move(tables));
      continue;
    }
    const sql::CatalogPtr before_statement = catalog.snapshot();
    co_await check_foreign_places(context, draft, *before_statement);
    std::vector<const sql::CatalogSnapshot*> known_structures{before_statement.get(), &catalog.base()};
    co_await check_new_structures(context, draft, std::move(known_structures));
    TransactionCatalog::State before = catalog.state();
    const std::vector<SqlError> notices = catalog.adopt(std::move(draft));
    try {
      context.session.known_types->types = catalog.snapshot()->user_types;
      transaction.follow_definitions(context.session.settings);
    } catch (...) {
      catalog.restore(std::move(before));
      throw;
    }
    send_notices(context.session, notices);
    co_return;
  }
}

/// Commits the change; gives what is to be removed after it, nullopt where another process was faster. `waits`: until the open transactions
/// that have written the tables have ended; then the change is made again, of what is there.
asio::awaitable<std::optional<std::vector<Removal>>> commit_made(DdlContext& context, const MakeDraft& make, bool waits) {
  LoadedCatalog loaded = co_await load_committed(context);
  UsedPlaces used;
  std::optional<CatalogDraft> draft;
  do {
    draft.emplace(loaded, context.session);
    used.keep_from(*draft);
    make(*draft);
  } while (co_await used.find(context, *draft));
  if (!context.statement.empty()) draft->note_statement(context.statement);
  co_await check_foreign_places(context, *draft, *loaded.snapshot);
  std::vector<const sql::CatalogSnapshot*> known_structures{loaded.snapshot.get()};
  co_await check_new_structures(context, *draft, std::move(known_structures));
  CatalogChange change = draft->take_change();
  if (waits) {
    std::vector<TablePtr> redefined = tables_redefined(*draft, *loaded.snapshot);
    const bool has_waited = co_await wait_for_units(context, redefined);
    std::vector<TablePtr> locked = co_await with_locks(context.redis, std::move(redefined));
    if (has_waited || !locked.empty()) {
      co_await lock_all(context, std::move(locked));
      co_return co_await commit_made(context, make, false);
    }
  }
  std::vector<Removal> removals = change.removals;
  if (!change.empty()) {
    std::optional<std::string> version = co_await commit_catalog(context.redis, *loaded.snapshot, std::move(change));
    if (!version) co_return std::nullopt;
  }
  send_notices(context.session, draft->notices());
  co_return removals;
}

}  // namespace

asio::awaitable<bool> try_change_catalog(DdlContext& context, const MakeDraft& make) {
  if (context.session.transaction) {
    co_await change_in_transaction(context, make);
    context.statement.clear();
    co_return true;
  }
  const bool waits = context.lock_table != nullptr;
  const std::optional<std::vector<Removal>> removals = co_await commit_made(context, make, waits);
  if (!removals) co_return false;
  context.statement.clear();
  for (const Removal& removal : *removals) co_await run_removal(context.redis, removal);
  co_return true;
}

asio::awaitable<void> change_catalog(DdlContext& context, const MakeDraft& make) {
  for (int attempt = 0; attempt < kCommitAttempts; ++attempt) {
    const bool is_done = co_await try_change_catalog(context, make);
    if (is_done) co_return;
  }
  throw SqlError(sqlstate::kSerializationFailure, "could not change the catalog due to concurrent changes");
}

}  // namespace redquel::executor
