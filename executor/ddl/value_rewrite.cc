#include "executor/catalog/dependencies.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/value_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <memory>

#include "executor/ddl/row_copy.h"
#include "executor/ddl/row_validation.h"
#include "executor/ddl/table_rewrite.h"
#include "executor/runtime/failure.h"
#include "executor/storage/table_walk.h"
#include "sql/catalog/spread_table.h"
#include "executor/transaction/transaction.h"
#include "executor/transaction/transaction_catalog.h"
#include "sql/functions/changed_values.h"
#include "sql/sqlstate.h"
#include "sql/types/row_value.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

constexpr int kRewriteAttempts = 10;

/// A table whose rows are copied to another place.
struct Moved {
  TablePtr before, shadow;
  TableState state = {};
};

std::vector<TablePtr> tables_with(const sql::CatalogSnapshot& catalog, sql::Oid type) {
  std::vector<TablePtr> tables;
  for (const auto& [oid, table] : catalog.tables) {
    if (std::ranges::any_of(table->columns, [&](const auto& column) { return uses_type(catalog, column, type); })) tables.push_back(table);
  }
  return tables;
}

/// Entries of indexes over rows are made of the rows' old form.
void check_movable(const sql::CatalogSnapshot& catalog, const sql::TableDef& table, sql::Oid type) {
  if (table.is_mapped()) throw sql::not_supported("another definition of a type that a foreign table uses");
  if (!sql::is_composite_type(type)) return;
  for (const sql::ColumnDef& column : table.columns) {
    if (!uses_type(catalog, column, type)) continue;
    const bool is_indexed = table.in_primary_key(column.number) || std::ranges::any_of(table.indexes, [&](const sql::IndexDef& index) {
      return std::ranges::find(index.parts, column.number, &sql::IndexDef::Part::column) != index.parts.end();
    });
    if (is_indexed || !table.computed.empty()) throw sql::not_supported("another list of attributes for a type that an index uses");
  }
}

std::vector<ColumnRewrite> rewrites_of(const sql::CatalogSnapshot& catalog, const sql::TableDef& table, const TypeChange& change) {
  std::vector<ColumnRewrite> rewrites;
  for (const sql::ColumnDef& column : table.columns) {
    if (!uses_type(catalog, column, change.type)) continue;
    std::vector<sql::ExpressionPtr> arguments = {
        sql::make_column(column.type, static_cast<std::uint32_t>(table.position(column.number)), column.name),
        sql::make_constant(sql::kInt4, static_cast<std::int32_t>(change.type)), sql::make_constant(sql::kText, change.from),
        sql::make_constant(sql::kText, change.to)};
    rewrites.push_back({column.number, nullptr,
                        sql::make_expression(column.type, sql::FunctionCall{&sql::changed_value(), std::move(arguments)})});
  }
  return rewrites;
}

/// The types of a session while it copies rows: values may be of the definition before and of that after the change.
class TypesMeanwhile {
 public:
  TypesMeanwhile(sql::KnownTypes& known, const sql::UserTypePtr& type) : known_(known), before_(known.types) {
    if (!type) return;
    const auto both = std::make_shared<sql::UserTypes>(before_);
    both->add({type});
    known_.types = both;
  }
  ~TypesMeanwhile() { known_.types = before_; }
  TypesMeanwhile(const TypesMeanwhile&) = delete;
  TypesMeanwhile& operator=(const TypesMeanwhile&) = delete;

 private:
  sql::KnownTypes& known_;
  const sql::UserTypesPtr before_;
};

/// Copies the rows of one table. Its place is reserved already.
asio::awaitable<void> copy_table(DdlContext& context, const LoadedCatalog& loaded, const Moved& moved, const TypeChange& change) {
  const TypesMeanwhile types(*context.session.known_types, change.meanwhile);
  RowConverter converter(context.session, *loaded.snapshot, moved.before, moved.shadow, rewrites_of(*loaded.snapshot, *moved.before, change));
  try {
    co_await copy_rows(context, moved.before, moved.shadow, converter);
  } catch (const SqlError& error) {
    throw as_build_error(error, *moved.before);
  }
}

/// Reserves a place for the rows of a table.
asio::awaitable<TablePtr> make_shadow(DdlContext& context, TablePtr before) {
  std::string prefix;
  const MakeDraft reserve = [&](CatalogDraft& draft) {
    prefix = draft.reserve_place(*before);
  };
  co_await change_catalog(context, reserve);
  co_return std::make_shared<const sql::TableDef>(relocated(*before, prefix));
}

/// Tries once. False: another session was faster.
asio::awaitable<bool> try_change_type(DdlContext& context, const std::function<TypeChange(CatalogDraft&)>& make) {
  const LoadedCatalog loaded = co_await load_definitions(context);
  CatalogDraft trial(loaded, context.session);
  const TypeChange change = make(trial);
  std::vector<std::pair<TablePtr, TableState>> empty_tables;
  std::vector<Moved> moves;
  for (const TablePtr& table : tables_with(*loaded.snapshot, change.type)) {
    TableState state = co_await own_table_state(context, table);
    if (state.is_empty && !table->is_mapped()) {
      empty_tables.emplace_back(table, std::move(state));
      continue;
    }
    check_movable(*loaded.snapshot, *table, change.type);
    if (context.session.transaction) throw sql::not_supported("another definition of a type that rows are of, in a transaction block");
    moves.push_back({table, nullptr, std::move(state)});
  }
  const auto move_rows = [&]() -> asio::awaitable<bool> {
    for (Moved& moved : moves) {
      moved.shadow = co_await make_shadow(context, moved.before);
      co_await copy_table(context, loaded, moved, change);
    }
    bool is_same = true;
    const MakeDraft commit = [&](CatalogDraft& draft) {
      const auto is_unchanged = [&](const TablePtr& table) {
        const TablePtr now = draft.catalog().find_table(table->oid);
        return now && now->version == table->version;
      };
      is_same = std::ranges::all_of(moves, [&](const Moved& moved) { return is_unchanged(moved.before); }) &&
                std::ranges::all_of(empty_tables, [&](const auto& table) { return is_unchanged(table.first); }) &&
                tables_with(draft.catalog(), change.type).size() == moves.size() + empty_tables.size();
      if (!is_same) return;
      make(draft);
      for (const auto& [table, state] : empty_tables) draft.require_unchanged(state);
      for (const Moved& moved : moves) {
        move_sequences(draft, *moved.before, moved.shadow->prefix);
        draft.require_unchanged(moved.state);
        draft.count_change(moved.before->oid);
        draft.remove_stored_tables(*moved.before);
        draft.put(relocated(*draft.catalog().find_table(moved.before->oid), moved.shadow->prefix));
      }
    };
    const bool is_committed = co_await try_change_catalog(context, commit);
    co_return is_committed && is_same;
  };
  const Attempt<bool> is_committed = co_await attempt(move_rows());
  if (is_committed.value.value_or(false)) co_return true;
  const MakeDraft clean = [&](CatalogDraft& draft) {
    for (const Moved& moved : moves) {
      if (moved.shadow) draft.remove_stored_tables(*moved.shadow);
    }
  };
  if (is_committed.failure) co_await asio::this_coro::reset_cancellation_state();  // nothing could be awaited after a cancellation
  if (!moves.empty()) co_await change_catalog(context, clean);
  if (is_committed.failure) std::rethrow_exception(is_committed.failure);
  co_return false;
}

}  // namespace

std::string places_text(const std::vector<std::optional<std::size_t>>& places) {
  std::string text;
  for (const std::optional<std::size_t>& place : places) text += (text.empty() ? "" : ",") + (place ? std::to_string(*place) : std::string("NULL"));
  return "{" + text + "}";
}

asio::awaitable<void> change_type(DdlContext& context, const std::function<TypeChange(CatalogDraft&)>& make) {
  for (int attempt = 0; attempt < kRewriteAttempts; ++attempt) {
    const bool is_done = co_await try_change_type(context, make);
    if (is_done) co_return;
  }
  throw SqlError(sqlstate::kSerializationFailure, "could not alter type due to concurrent writes");
}

}  // namespace redquel::executor
