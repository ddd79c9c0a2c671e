#include "planner/access/indexed_expressions.h"

#include <algorithm>
#include <string_view>

#include "planner/bind/computed_columns.h"
#include "sql/catalog/table_keys.h"
#include "sql/types/compare.h"

namespace redquel::planner {

using sql::Expression;
using sql::ExpressionPtr;

namespace {

/// `value op constant`, turned so that the constant is on the right.
struct Comparison {
  const Expression* value;
  std::string_view operation;
  const Expression* constant;
};

std::string_view flipped(std::string_view operation) {
  if (operation == "<") return ">";
  if (operation == "<=") return ">=";
  if (operation == ">") return "<";
  if (operation == ">=") return "<=";
  return operation;
}

std::optional<Comparison> comparison_of(const Expression& condition) {
  const auto* call = std::get_if<sql::FunctionCall>(&condition.node);
  if (call == nullptr || call->arguments.size() != 2) return {};
  const std::string_view name = call->function->name;
  if (name != "=" && name != "<" && name != "<=" && name != ">" && name != ">=" && name != "<>") return {};
  const Expression &left = *call->arguments[0], &right = *call->arguments[1];
  if (std::holds_alternative<sql::Constant>(right.node)) return Comparison{&left, name, &right};
  if (std::holds_alternative<sql::Constant>(left.node)) return Comparison{&right, flipped(name), &left};
  return {};
}

/// Does `value held a` imply `value wanted b`, where `order` is how a compares with b?
bool follows(std::string_view held, std::string_view wanted, int order) {
  if (held == "=") {
    if (wanted == "=") return order == 0;
    if (wanted == "<>") return order != 0;
    if (wanted == "<") return order < 0;
    if (wanted == "<=") return order <= 0;
    return wanted == ">" ? order > 0 : order >= 0;
  }
  const bool is_below = held == "<" || held == "<=", is_above = held == ">" || held == ">=";
  const bool is_open = held == "<" || held == ">";
  if (wanted == "<>") return (is_below && (order < 0 || (is_open && order == 0))) || (is_above && (order > 0 || (is_open && order == 0)));
  if (is_below && wanted == "<") return order < 0 || (is_open && order == 0);
  if (is_below && wanted == "<=") return order <= 0;
  if (is_above && wanted == ">") return order > 0 || (is_open && order == 0);
  if (is_above && wanted == ">=") return order >= 0;
  return false;
}

/// Is the condition never true where the value is NULL?
bool needs_value(const Expression& condition, const Expression& value) {
  if (const auto* call = std::get_if<sql::FunctionCall>(&condition.node)) {
    return call->function->strict && std::ranges::any_of(call->arguments, [&](const ExpressionPtr& argument) { return sql::equal(*argument, value); });
  }
  if (const auto* list = std::get_if<sql::InListTest>(&condition.node)) return sql::equal(*list->operand, value);
  return false;
}

bool implies(const Expression& held, const Expression& wanted) {
  if (sql::equal(held, wanted)) return true;
  if (const auto* test = std::get_if<sql::NullTest>(&wanted.node)) return test->negated && needs_value(held, *test->operand);
  const auto a = comparison_of(held), b = comparison_of(wanted);
  if (!a || !b || a->constant->type.oid != b->constant->type.oid || !sql::equal(*a->value, *b->value)) return false;
  const sql::Datum &x = std::get<sql::Constant>(a->constant->node).value, &y = std::get<sql::Constant>(b->constant->node).value;
  return !sql::is_null(x) && !sql::is_null(y) && follows(a->operation, b->operation, sql::compare(a->constant->type, x, y));
}

bool has_own_structure(const sql::TableDef& table, std::int16_t number) {
  if (table.primary_key == std::vector<std::int16_t>{number}) return true;
  const auto structures = sql::structures_of(table);
  return std::ranges::any_of(structures, [&](const sql::Structure& structure) {
    return structure.readable && structure.kind != sql::Structure::Kind::kNulls && structure.columns[0] == number;
  });
}

}  // namespace

bool implies_all(const std::vector<ExpressionPtr>& conditions, const ExpressionPtr& predicate) {
  return std::ranges::all_of(sql::split_conjunction(predicate), [&](const ExpressionPtr& part) {
    return std::ranges::any_of(conditions, [&](const ExpressionPtr& held) { return implies(*held, *part); });
  });
}

IndexedExpressions::IndexedExpressions(const LogicalScan& scan, const std::vector<LogicalColumn>& columns,
                                       const std::vector<ExpressionPtr>& conditions) {
  const sql::TableDef& table = *scan.table;
  if (table.computed.empty()) return;
  // Columns that the query does not read get ids that nothing has.
  std::vector<ColumnId> ids;
  for (const sql::ColumnDef& column : table.columns) {
    const auto found = std::ranges::find(scan.numbers, column.number);
    ids.push_back(found == scan.numbers.end() ? UINT32_MAX - static_cast<ColumnId>(ids.size())
                                              : columns[static_cast<std::size_t>(found - scan.numbers.begin())].id);
  }
  for (const sql::IndexDef& index : table.indexes) {
    if (index.state != sql::IndexState::kReady || (sql::is_remembered(index.method) && !index.unique)) continue;
    if (!index.predicate_sql.empty() && !implies_all(conditions, bind_indexed(index.predicate_sql, table, ids))) continue;
    for (const sql::IndexDef::Part& part : index.parts) {
      if (part.column > 0) continue;
      const bool is_whole = part.shown_column != 0 && index.parts.size() == 1 && !table.is_nullable(*table.find_column(part.shown_column));
      if (is_whole) covers_.push_back({part.column, part.shown_column});
      if (!part.expression_sql.empty()) {
        entries_.push_back({bind_indexed(part.expression_sql, table, ids), part.column, false});
      } else if (!has_own_structure(table, part.shown_column)) {
        const sql::ColumnDef& column = *table.find_column(part.shown_column);
        entries_.push_back({sql::make_column(column.type, ids[table.position(column.number)], column.name), part.column,
                            !table.is_nullable(column)});
      }
    }
  }
}

std::optional<std::int16_t> IndexedExpressions::number_of(const Expression& expression) const {
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return sql::equal(*entry.expression, expression); });
  return found == entries_.end() ? std::nullopt : std::optional(found->number);
}

bool IndexedExpressions::is_never_null(std::int16_t number) const {
  return std::ranges::any_of(entries_, [&](const Entry& entry) { return entry.number == number && entry.never_null; });
}

}  // namespace redquel::planner
