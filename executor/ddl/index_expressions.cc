#include "executor/ddl/index_expressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/stored_expression.h"
#include "executor/ddl/table_parts.h"
#include "executor/runtime/session_context.h"
#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/computed_columns.h"
#include "planner/bind/written_definition.h"
#include "sql/catalog/prefixes.h"
#include "sql/error.h"
#include "sql/name_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

IndexExpression read_index_expression(const CatalogDraft& draft, const sql::TableDef& table, const ast::Expression& written, bool predicate) {
  const planner::BindSettings settings = bind_settings(draft.session());
  const sql::ExpressionPtr bound = planner::bind_new_index_expression(written, table, draft.catalog(), settings, predicate);
  IndexExpression read{.text = stored_check(written), .type = bound->type, .name = {}};
  bool is_known = true;
  try {
    is_known = planner::bind_indexed(read.text, table, planner::positions_as_ids(table))->type == bound->type;
  } catch (const SqlError&) {
    is_known = false;
  }
  if (!is_known) throw sql::not_supported("an index expression with functions or types that are not built in", written.start);
  if (predicate) return read;
  read.name = planner::index_column_name(written, draft.catalog(), settings);
  if (sql::type_info(read.type.oid).category == sql::TypeCategory::kPseudo) {
    throw sql::has_pseudo_type(read.name, sql::format_type(read.type));
  }
  return read;
}

const sql::ColumnDef* bare_column(const sql::TableDef& table, const ast::Expression& written) {
  const auto* column = std::get_if<ast::ColumnRef>(&written.node);
  return column == nullptr || column->star || column->names.size() != 1 ? nullptr : table.find_column(column->names.front());
}

namespace {

/// Returns the expression of the computed column behind a part of the index.
std::string computed_text(const sql::TableDef& table, const sql::IndexDef& index, const sql::IndexDef::Part& part) {
  std::string text = part.expression_sql;
  if (text.empty()) text = parser::quote_identifier(table.find_column(part.shown_column)->name);
  if (index.is_remembered()) return fmt::format("CASE WHEN false THEN {} END", text);
  return index.predicate_sql.empty() ? text : fmt::format("CASE WHEN {} THEN {} END", index.predicate_sql, text);
}

}  // namespace

void add_computed_columns(sql::TableDef& table, sql::IndexDef& index, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < index.parts.size(); ++i) {
    sql::IndexDef::Part& part = index.parts[i];
    if (part.expression_sql.empty() && (index.predicate_sql.empty() || index.is_remembered())) continue;
    if (part.expression_sql.empty() && part.column > 0) part.shown_column = part.column;
    sql::ColumnDef computed;
    computed.number = table.next_computed--;
    computed.name = names[i];
    computed.field = sql::choose_field(table, index.is_hidden() ? names[i] : index.name);
    computed.generated_sql = computed_text(table, index, part);
    computed.type = planner::bind_indexed(computed.generated_sql, table, planner::positions_as_ids(table))->type;
    part.column = computed.number;
    table.computed.push_back(std::move(computed));
  }
}

bool rebind_computed_columns(const CatalogDraft& draft, const sql::TableDef& before, sql::TableDef& table,
                             sql::IndexDef& index) {
  // The types of literals, and of what they are compared with, are those that the old types have given them.
  const auto in_words = [&](std::string& text) {
    if (text.empty()) return;
    const std::string words =
        planner::written_expression(text, before, draft.catalog(), bind_settings(draft.session()), false);
    text = stored_check(*parser::parse_expression(words));
  };
  in_words(index.predicate_sql);
  for (sql::IndexDef::Part& part : index.parts) in_words(part.expression_sql);
  bool has_changed = false;
  for (const sql::IndexDef::Part& part : index.parts) {
    if (part.column > 0) continue;
    sql::ColumnDef& computed = *std::ranges::find(table.computed, part.column, &sql::ColumnDef::number);
    computed.generated_sql = computed_text(table, index, part);
    const sql::Type known = computed.type;
    without_positions([&] {
      computed.type = planner::bind_indexed(computed.generated_sql, table, planner::positions_as_ids(table))->type;
    });
    has_changed = has_changed || !(computed.type == known);
  }
  return has_changed;
}

std::vector<std::int16_t> index_columns(const sql::TableDef& table, const sql::IndexDef& index) {
  std::vector<std::int16_t> columns;
  const auto add_columns_of = [&](std::string_view expression) {
    std::vector<std::uint32_t> used;
    sql::collect_columns(*planner::bind_indexed(expression, table, planner::positions_as_ids(table)), used);
    for (const std::uint32_t position : used) columns.push_back(table.columns[position].number);
  };
  const bool is_remembered = index.is_remembered();
  for (const sql::IndexDef::Part& part : index.parts) {
    if (part.column > 0) {
      columns.push_back(part.column);
    } else {
      add_columns_of(is_remembered ? part.expression_sql : table.find_column(part.column)->generated_sql);
    }
  }
  if (is_remembered && !index.predicate_sql.empty()) add_columns_of(index.predicate_sql);
  columns.insert(columns.end(), index.included.begin(), index.included.end());
  return columns;
}

}  // namespace redquel::executor
