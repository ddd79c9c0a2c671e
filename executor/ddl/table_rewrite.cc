#include "executor/ddl/catalog_change.h"
#include "executor/ddl/table_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <memory>

#include "executor/ddl/row_copy.h"
#include "executor/ddl/row_relocation.h"
#include "executor/ddl/table_alteration.h"
#include "executor/runtime/failure.h"
#include "executor/storage/table_walk.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/table_keys.h"
#include "sql/error.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// The changed definition of the draft's table under the new prefix.
sql::TableDef changed_at(CatalogDraft& draft, sql::Oid oid, const std::string& prefix, const ChangeDefinition& change,
                         std::vector<ColumnRewrite>& rewrites) {
  rewrites = change(draft);
  return relocated(*draft.catalog().find_table(oid), prefix);
}

/// Commits the altered definition alone, where the rows can stay as they are and where they are.
asio::awaitable<bool> try_keep_rows(DdlContext& context, TablePtr before, const ChangeDefinition& change) {
  const LoadedCatalog loaded = co_await load_committed(context);
  const TablePtr now = loaded.snapshot->find_table(before->oid);
  if (!now || now->version != before->version || !now->has_hidden_key() || !now->parts.empty()) co_return false;
  const TableState state = co_await table_state(context.redis, *before);
  CatalogDraft trial(loaded, context.session);
  std::vector<ColumnRewrite> rewrites;
  const auto after = std::make_shared<const sql::TableDef>(changed_at(trial, before->oid, before->prefix, change, rewrites));
  if (!after->parts.empty()) co_return false;
  const RowConverter converter(context.session, trial.catalog(), now, after, rewrites);
  if (!converter.keeps_values()) co_return false;
  const bool stays = co_await may_stay(context, now, after);
  if (!stays) co_return false;
  bool is_same = false;
  const MakeDraft make = [&](CatalogDraft& draft) {
    const TablePtr table = draft.catalog().find_table(before->oid);
    is_same = table && table->version == before->version;
    if (!is_same) return;
    sql::TableDef altered = changed_at(draft, table->oid, table->prefix, change, rewrites);
    altered.used_fields = table->used_fields;
    draft.require_unchanged(state);
    draft.delete_key(sql::TableKeys(*table).row_counter());
    draft.put(std::move(altered));
  };
  const bool is_first = co_await try_change_catalog(context, make);
  co_return is_first && is_same;
}

}  // namespace

sql::TableDef relocated(sql::TableDef table, const std::string& prefix) {
  table.managed().stores_key = false;
  table.managed().presence.reset();
  table.used_fields.clear();
  for (sql::ColumnDef& column : table.columns) column.missing.reset();
  for (sql::IndexDef& index : table.indexes) index.short_members = true;
  choose_presence(table);
  table.prefix = prefix;
  sql::settle_spread(table);
  sql::make_parts(table);
  return table;
}

bool has_same_parts(const sql::TableDef& before, const sql::TableDef& after) {
  return std::ranges::equal(before.parts, after.parts, {}, &sql::TableDef::oid, &sql::TableDef::oid);
}

void move_sequences(CatalogDraft& draft, const sql::TableDef& before, const std::string& prefix) {
  const sql::DefinitionMap<sql::SequenceDef> sequences = draft.catalog().sequences;
  for (auto [oid, sequence] : sequences) {
    if (sequence.owner_table != before.oid || !sequence.key.starts_with(before.prefix + ":")) continue;
    const std::string key = prefix + sequence.key.substr(before.prefix.size());
    draft.rename_key(sequence.key, key);
    sequence.key = key;
    draft.put(std::move(sequence));
  }
}

asio::awaitable<bool> try_rewrite_table(DdlContext& context, TablePtr before, const ChangeDefinition& change) {
  const bool is_kept = co_await try_keep_rows(context, before, change);
  if (is_kept) co_return true;
  std::string prefix;
  const MakeDraft reserve = [&](CatalogDraft& draft) {
    CatalogDraft trial = draft;
    prefix = draft.reserve_prefix(before->schema, before->name, fmt::format("table {}", before->oid), before->tag());
    std::vector<ColumnRewrite> rewrites;
    draft.reserve_parts(changed_at(trial, before->oid, prefix, change, rewrites));
  };
  co_await change_catalog(context, reserve);

  const LoadedCatalog loaded = co_await load_committed(context);
  const TablePtr now = loaded.snapshot->find_table(before->oid);
  sql::TableDef shadow = *before;
  shadow.prefix = prefix;
  sql::make_parts(shadow);
  const auto write_rows = [&]() -> asio::awaitable<bool> {
    if (!now || now->version != before->version) co_return false;
    try {
      const TableState state = co_await table_state(context.redis, *before);
      CatalogDraft trial(loaded, context.session);
      std::vector<ColumnRewrite> rewrites;
      shadow = changed_at(trial, before->oid, prefix, change, rewrites);
      const auto after = std::make_shared<const sql::TableDef>(shadow);
      RowConverter converter(context.session, trial.catalog(), now, after, rewrites);
      co_await copy_rows(context, now, after, converter);
      bool is_committed = false;
      const MakeDraft make = [&](CatalogDraft& draft) {
        const TablePtr table = draft.catalog().find_table(before->oid);
        is_committed = table && table->version == before->version;
        if (!is_committed) return;
        sql::TableDef altered = changed_at(draft, before->oid, prefix, change, rewrites);
        move_sequences(draft, *table, prefix);
        draft.require_unchanged(state);
        if (has_same_parts(*table, altered)) draft.count_change(table->oid);
        draft.remove_stored_tables(*table);
        draft.put(std::move(altered));
      };
      const bool is_first = co_await try_change_catalog(context, make);
      co_return is_committed && is_first;
    } catch (const SqlError& error) {
      throw as_build_error(error, *before);
    }
  };
  const Attempt<bool> is_committed = co_await attempt(write_rows());
  if (is_committed.value.value_or(false)) co_return true;
  if (is_committed.failure) co_await asio::this_coro::reset_cancellation_state();  // nothing could be awaited after a cancellation
  const MakeDraft clean = [&](CatalogDraft& draft) { draft.remove_stored_tables(shadow); };
  co_await change_catalog(context, clean);
  if (is_committed.failure) std::rethrow_exception(is_committed.failure);
  co_return false;
}

}  // namespace redquel::executor
