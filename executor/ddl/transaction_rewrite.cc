#include "executor/ddl/catalog_change.h"
#include "executor/ddl/transaction_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "executor/ddl/row_copy.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/used_places.h"
#include "executor/storage/table_walk.h"
#include "executor/transaction/commit.h"
#include "executor/transaction/transaction.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Returns true if foreign keys of the table's rows are to be checked at commit.
bool has_pending_checks(const Transaction& transaction, const sql::CatalogSnapshot& catalog, const sql::TableDef& table) {
  const TableChangesPtr changes = transaction.buffer().changes(table.oid);
  if (!changes) return false;
  const auto differ = [&](const BufferedRow& row, const std::vector<std::int16_t>& columns) {
    return std::ranges::any_of(columns, [&](std::int16_t number) {
      const std::size_t position = table.position(number);
      return (*row.stored)[position] != (*row.current)[position];
    });
  };
  const auto refers_anew = [&](const sql::ForeignKeyDef& key) {
    return changes->any_row([&](const BufferedRow& row) { return row.current && (!row.stored || differ(row, key.columns)); });
  };
  const auto leaves_references = [&](const sql::ForeignKeyDef& key) {
    return changes->any_row([&](const BufferedRow& row) {
      if (!row.stored || (row.current && !differ(row, key.referenced_columns))) return false;
      return key.action_on(row.current != nullptr) == sql::ForeignKeyDef::Action::kNoAction;  // the others take place at once
    });
  };
  const auto is_deferred = [&](const sql::ForeignKeyDef& key) { return transaction.constraint_times().is_deferred(key); };
  if (std::ranges::any_of(table.foreign_keys, [&](const sql::ForeignKeyDef& key) { return is_deferred(key) && refers_anew(key); })) return true;
  return std::ranges::any_of(table.referencing, [&](sql::Oid oid) {
    const TablePtr referencing = catalog.find_table(oid);
    return referencing && std::ranges::any_of(referencing->foreign_keys, [&](const sql::ForeignKeyDef& key) {
             return key.referenced == table.oid && is_deferred(key) && leaves_references(key);
           });
  });
}

/// The draft's table at its new place, changed: every row is complete there.
std::vector<ColumnRewrite> change_at(CatalogDraft& draft, sql::Oid oid, const std::string& prefix, const ChangeDefinition& change) {
  sql::TableDef moved = *draft.catalog().find_table(oid);
  moved.prefix = prefix;
  draft.put(std::move(moved));
  std::vector<ColumnRewrite> rewrites = change(draft);
  sql::TableDef changed = *draft.catalog().find_table(oid);
  changed.stores_key = false;
  changed.presence.reset();
  changed.used_fields.clear();
  for (sql::ColumnDef& column : changed.columns) column.missing.reset();
  choose_presence(changed);
  draft.put(std::move(changed));
  return rewrites;
}

}  // namespace

asio::awaitable<void> rewrite_in_transaction(DdlContext& context, sql::Oid oid, std::string_view command, const ChangeDefinition& change) {
  Transaction& transaction = *context.session.transaction;
  TransactionCatalog& catalog = co_await transaction_catalog(context);
  const TablePtr before = catalog.snapshot()->find_table(oid);
  if (has_pending_checks(transaction, *catalog.snapshot(), *before)) {
    throw SqlError(sqlstate::kObjectInUse, fmt::format("cannot {} \"{}\" because it has pending trigger events", command, before->name));
  }
  if (!before->parts.empty()) throw sql::not_supported(std::string(command) + " that writes the rows of a table in several buckets anew, in a transaction");
  const TableState state = co_await table_state(context.redis, *before);
  const std::string owner = fmt::format("table {}", oid);
  UsedPlaces used;
  std::optional<CatalogDraft> draft;
  std::string prefix;
  do {
    draft.emplace(*catalog.state().draft);
    used.keep_from(*draft);
    prefix = draft->reserve_prefix(before->schema, before->name, owner, before->tag());
  } while (co_await used.find(context, *draft, draft->reserved_prefixes().size() - 1));
  CatalogDraft& trial = *draft;
  const std::vector<ColumnRewrite> rewrites = change_at(trial, oid, prefix, change);
  const TablePtr after = trial.catalog().find_table(oid);
  co_await claim_place(context.redis, transaction, after);
  RowConverter converter(context.session, trial.catalog(), before, after, rewrites);
  try {
    co_await copy_rows(context, before, after, converter, transaction.buffer().changes(oid));
  } catch (const SqlError& error) {
    throw as_build_error(error, *before);
  }
  const MakeDraft make = [&](CatalogDraft& draft) {
    draft.reserve_exactly(prefix, owner);
    change_at(draft, oid, prefix, change);
    if (!catalog.is_new_place(before->prefix)) draft.require_unchanged(state);
    draft.count_change(oid);
    draft.remove(removal_of_table(*before));
  };
  co_await change_catalog(context, make);
}

asio::awaitable<void> move_large_changes(DdlContext& context, std::size_t script_rows) {
  Transaction& transaction = *context.session.transaction;
  for (const sql::Oid oid : tables_too_large_for_commit(transaction, script_rows)) {
    const TablePtr table = transaction.catalog()->snapshot()->find_table(oid);
    if (table->part_of != 0) {
      throw sql::not_supported("a transaction that changes definitions and more than 100000 rows of one bucket of a table in several buckets");
    }
    if (has_pending_checks(transaction, *transaction.catalog()->snapshot(), *table)) {
      throw SqlError(sqlstate::kProgramLimitExceeded,
                     fmt::format("transaction changes definitions and more than {} rows, with deferred foreign keys", script_rows))
          .hint("Use SET CONSTRAINTS ALL IMMEDIATE before, or two transactions.");
    }
    co_await context.lock_table(*table, TableLock::kShareRowExclusive);
    const ChangeDefinition nothing = [](CatalogDraft&) { return std::vector<ColumnRewrite>(); };
    co_await rewrite_in_transaction(context, oid, "COMMIT", nothing);
  }
}

}  // namespace redquel::executor
