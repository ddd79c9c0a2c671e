#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

#include "executor/ddl/catalog_draft.h"
#include "executor/ddl/column_definition.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/generated_names.h"
#include "executor/ddl/index_build.h"
#include "executor/ddl/index_expressions.h"
#include "executor/ddl/indexable.h"
#include "executor/ddl/mapped_table.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/table_parts.h"
#include "executor/storage/table_walk.h"
#include "executor/transaction/transaction_catalog.h"
#include "parser/deparse.h"
#include "sql/types/compare.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

sql::IndexMethod index_method(const ast::CreateIndex& statement) {
  const std::string& name = statement.access_method;
  if (name.empty() || name == "btree") return sql::IndexMethod::kBtree;
  if (name == "hash") return sql::IndexMethod::kHash;
  if (name == "zset") return sql::IndexMethod::kZset;
  constexpr std::array<std::string_view, 7> kOthers{"gin", "gist", "brin", "spgist", "lookup", "list", "set"};
  if (std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end()) throw sql::not_supported("index access method " + name);
  throw SqlError("42704", fmt::format("access method \"{}\" does not exist", name));
}

/// Operator classes that sort as the types do here: in C order patterns need no class of their own.
void check_operator_class(const ast::IndexElement& element, sql::Type type, std::string_view method) {
  if (element.operator_class.empty()) return;
  const std::string& name = element.operator_class.back();
  const auto info = sql::type_info(type.oid);
  const bool is_text = info.category == sql::TypeCategory::kString;
  constexpr std::array<std::string_view, 6> kTextClasses{"text_ops",         "varchar_ops",         "bpchar_ops",
                                                         "text_pattern_ops", "varchar_pattern_ops", "bpchar_pattern_ops"};
  const bool is_text_class = std::find(kTextClasses.begin(), kTextClasses.end(), name) != kTextClasses.end();
  const std::string own = std::string(info.name) + "_ops";
  if (name == own || (is_text && is_text_class)) return;
  if (is_text_class || sql::find_type(std::string_view(name).substr(0, name.find("_ops"))) != nullptr) {
    throw SqlError("42804", fmt::format("operator class \"{}\" does not accept data type {}", name,
                                        sql::format_type(sql::Type{type.oid})));
  }
  throw SqlError("42704", fmt::format("operator class \"{}\" does not exist for access method \"{}\"", name, method));
}

/// A part, and how its column of the index is called.
std::pair<sql::IndexDef::Part, std::string> index_part(const CatalogDraft& draft, const ast::IndexElement& element,
                                                       const sql::TableDef& table, std::string_view method) {
  if (is_system_column(element.column)) throw SqlError("0A000", "index creation on system columns is not supported");
  const sql::ColumnDef* column = element.expression ? bare_column(table, *element.expression) : table.find_column(element.column);
  sql::IndexDef::Part part;
  sql::Type type;
  std::string name;
  if (column != nullptr) {
    part.column = column->number;
    type = column->type;
    name = column->name;
  } else if (element.expression) {
    IndexExpression expression = read_index_expression(draft, table, *element.expression, false);
    part.expression_sql = std::move(expression.text);
    type = expression.type;
    name = std::move(expression.name);
  } else {
    throw SqlError("42703", fmt::format("column \"{}\" does not exist", element.column));
  }
  check_collation(element.collation, type, std::nullopt);
  check_operator_class(element, type, method);
  check_indexable(type, method);
  part.descending = element.direction == ast::SortDirection::kDescending;
  part.nulls_first = element.nulls == ast::SortNulls::kFirst || (element.nulls == ast::SortNulls::kDefault && part.descending);
  return {std::move(part), std::move(name)};
}

/// The definition, without oid, name and state; how its columns are called.
sql::IndexDef read_index(const CatalogDraft& draft, const ast::CreateIndex& statement, const sql::TableDef& table,
                         std::vector<std::string>& names) {
  sql::IndexDef index;
  index.method = index_method(statement);
  const std::string method = statement.access_method.empty() ? "btree" : statement.access_method;
  index.unique = statement.unique;
  index.nulls_not_distinct = statement.nulls_not_distinct;
  if (index.unique && index.method != sql::IndexMethod::kBtree) {
    throw SqlError("0A000", fmt::format("access method \"{}\" does not support unique indexes", method));
  }
  if (index.method == sql::IndexMethod::kZset && statement.elements.size() > 1) {
    throw SqlError("0A000", fmt::format("access method \"{}\" does not support multicolumn indexes", method));
  }
  if (statement.elements.size() > 32) throw SqlError("54011", "cannot use more than 32 columns in an index");
  if (statement.where) index.predicate_sql = read_index_expression(draft, table, *statement.where, true).text;
  if (!index.predicate_sql.empty() && index.nulls_not_distinct) throw sql::not_supported("a partial index with NULLS NOT DISTINCT");
  check_storage_parameters(statement.options);
  check_tablespace(statement.tablespace);
  for (const ast::IndexElement& element : statement.elements) {
    auto [part, name] = index_part(draft, element, table, method);
    index.parts.push_back(std::move(part));
    names.push_back(std::move(name));
  }
  // A column twice adds nothing, but PostgreSQL allows it.
  std::string included;
  for (const ast::IndexElement& element : statement.including) {
    if (element.expression) throw SqlError("0A000", "expressions are not supported in included columns");
    index_part(draft, element, table, method);
    included += (included.empty() ? "" : ", ") + parser::quote_identifier(element.column);
  }
  if (!included.empty()) index.definition_suffix = fmt::format("INCLUDE ({})", included);
  return index;
}

struct NewIndex {
  sql::Oid table = 0, index = 0;
  bool needs_build = false;
};

/// nullopt: it exists, which was allowed.
std::optional<NewIndex> make_index(CatalogDraft& draft, const ast::CreateIndex& statement, const TablePtr& known,
                                   const TableState& state) {
  switch (relation_kind(draft, statement.relation)) {
    case RelationKind::kIndex:
      throw SqlError("42809", fmt::format("\"{}\" is an index", statement.relation.name));
    case RelationKind::kSequence:
      throw SqlError("42809", fmt::format("cannot create index on relation \"{}\"", statement.relation.name))
          .detail("This operation is not supported for sequences.");
    case RelationKind::kView:
      throw SqlError("42809", fmt::format("cannot create index on relation \"{}\"", statement.relation.name))
          .detail("This operation is not supported for views.");
    default:
      break;
  }
  const TablePtr table = require_table(draft, statement.relation);
  std::vector<std::string> names;
  sql::IndexDef index = table->mapping ? declare_structure(statement, *table) : read_index(draft, statement, *table, names);
  if (table->mapping) {
    for (const sql::IndexDef::Part& part : index.parts) names.push_back(table->find_column(part.column)->name);
  }
  if (!statement.name.empty() && draft.catalog().relation_exists(table->schema, statement.name)) {
    if (!statement.if_not_exists) throw SqlError("42P07", fmt::format("relation \"{}\" already exists", statement.name));
    draft.notice("42P07", fmt::format("relation \"{}\" already exists, skipping", statement.name));
    return std::nullopt;
  }
  index.oid = draft.new_oid();
  index.name = statement.name;
  if (index.name.empty()) {
    index.name = choose_name(table->name, joined_column_names(names), "idx",
                             [&](std::string_view name) { return draft.catalog().relation_exists(table->schema, name); });
  }
  const bool is_empty = table->mapping || (known && known->oid == table->oid && state.is_empty);
  index.state = is_empty ? sql::IndexState::kReady : sql::IndexState::kBuilding;
  if (is_empty && !table->mapping) {
    draft.require_unchanged(table->oid, state.change_counter);
  } else if (!is_empty) {
    draft.begin_build(index.oid);
  }
  const NewIndex made{table->oid, index.oid, !is_empty};
  sql::TableDef changed = *table;
  add_computed_columns(changed, index, names);
  check_nulls_of_unique(changed, index);
  changed.indexes.push_back(std::move(index));
  draft.put(std::move(changed));
  return made;
}

asio::awaitable<void> build(DdlContext& context, sql::Oid table, sql::Oid index) {
  std::exception_ptr failure;
  const std::vector<sql::Oid> indexes{index};
  try {
    co_await build_indexes(context, table, indexes);
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure) co_return;
  co_await drop_indexes(context, table, indexes);
  std::rethrow_exception(failure);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateIndex& statement) {
  std::optional<NewIndex> made;
  for (int attempt = 0;; ++attempt) {
    // Whether there are rows must be known before the definition is made; that nobody wrote since is part of its commit.
    LoadedCatalog loaded = co_await load_definitions(context);
    const CatalogDraft names(loaded, context.session);
    TablePtr known;
    TableState state;
    if (relation_kind(names, statement.relation) == RelationKind::kTable) {
      known = find_table(names, statement.relation);
      co_await finish_removals_of(context.redis, loaded.removals, known->prefix);
      state = co_await table_state(context.redis, *known);
    }
    if (attempt > 2) state.is_empty = false;  // a busy table: build
    const MakeDraft make = [&](CatalogDraft& draft) { made = make_index(draft, statement, known, state); };
    const bool is_committed = co_await try_change_catalog(context, make);
    if (is_committed) break;
  }
  if (!made || !made->needs_build) co_return;
  if (context.session.transaction) {
    // Filled when the transaction has committed: the rows are not its own before. A violation could not be told then any more.
    if (statement.unique) throw sql::not_supported("CREATE UNIQUE INDEX on a table with rows in a transaction block");
    TransactionCatalog& catalog = co_await transaction_catalog(context);
    catalog.add_sequel([table = made->table, index = made->index](DdlContext& later) { return build(later, table, index); });
    co_return;
  }
  co_await build(context, made->table, made->index);
}

}  // namespace redquel::executor
