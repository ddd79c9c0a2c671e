#include "planner/physical/member_lookup.h"

#include <algorithm>

#include "planner/access/index_condition.h"
#include "sql/catalog/member_form.h"
#include "sql/catalog/table_keys.h"

namespace redquel::planner {

namespace {

/// Returns the only column that members of the set hold; nullopt: they hold several.
std::optional<std::int16_t> column_of_members(const sql::TableDef& table, const SetExpression& set) {
  if (set.kind != SetExpression::Kind::kSet) return std::nullopt;
  const sql::OmittedParts omitted = sql::omitted_parts(table, set.columns);
  if (table.primary_key.size() != omitted.first + omitted.last + 1) return std::nullopt;
  return table.primary_key[omitted.first];
}

/// Returns true if the condition is `outer = key`, by position in the outer columns followed by the inner ones.
bool is_equality_with_key(const sql::ExpressionPtr& condition, const LookupJoin& join, std::uint32_t outer) {
  const auto* call = condition ? std::get_if<sql::FunctionCall>(&condition->node) : nullptr;
  if (call == nullptr || call->function->name != "=" || call->arguments.size() != 2) return false;
  const auto* left = std::get_if<sql::ColumnRef>(&call->arguments[0]->node);
  const auto* right = std::get_if<sql::ColumnRef>(&call->arguments[1]->node);
  if (left == nullptr || right == nullptr) return false;
  const std::size_t outer_columns = join.outer->columns.size();
  const std::size_t inner = std::max(left->column, right->column);
  if (std::min(left->column, right->column) != outer || inner < outer_columns) return false;
  const auto output = static_cast<std::size_t>(join.read.outputs.at(inner - outer_columns));
  return join.read.numbers.at(output) == join.columns[0];
}

}  // namespace

std::optional<MemberLookup> member_lookup(const LookupJoin& join) {
  const auto* keys = std::get_if<IndexKeys>(&join.outer->node);
  if (keys == nullptr || keys->by_parts || join.by != LookupJoin::By::kPrimaryKey || join.columns.size() != 1) return std::nullopt;
  if (set_of_condition(join)) return std::nullopt;  // the set leaves out members whose rows need not be read
  // While a slot of a cluster moves, SORT_RO gives no values of rows that have moved, and does not say so.
  const sql::TableDef &of_members = *keys->table, &of_rows = *join.read.table;
  if (!of_members.tag().empty() || !of_rows.tag().empty() || !sql::TableKeys(of_rows).sort_get_is_safe()) return std::nullopt;
  const auto* value = std::get_if<sql::ColumnRef>(&join.values[0]->node);
  const std::optional<std::int16_t> member = column_of_members(of_members, keys->sets);
  if (value == nullptr || !member || keys->numbers.at(value->column) != *member) return std::nullopt;
  // Scores of zsets need commands of their own.
  const bool are_of_key = std::ranges::all_of(keys->numbers, [&](std::int16_t number) { return of_members.in_primary_key(number); });
  const bool is_one_type = of_members.find_column(*member)->type.oid == of_rows.find_column(join.columns[0])->type.oid;
  if (!are_of_key || !is_one_type) return std::nullopt;
  return MemberLookup{keys, is_equality_with_key(join.residual, join, value->column)};
}

std::optional<SetExpression> set_of_condition(const LookupJoin& join) {
  const sql::TableDef& table = *join.read.table;
  if (!join.read.condition || join.by != LookupJoin::By::kPrimaryKey || join.columns.size() != 1 || !table.parts.empty()) return std::nullopt;
  const ColumnNumber number = [&](ColumnId position) { return std::optional(join.read.numbers.at(position)); };
  const std::vector<sql::Structure> structures = sql::structures_of(table);
  for (const sql::ExpressionPtr& expression : sql::split_conjunction(join.read.condition)) {
    const Condition condition = analyse_condition(*expression, table, number);
    if (condition.kind != Condition::Kind::kColumn || condition.column.kind != ColumnCondition::Kind::kEqual || !condition.column.exact) continue;
    const sql::Structure wanted{sql::Structure::Kind::kSets, {condition.column.column}};
    const auto found = std::ranges::find(structures, wanted);
    if (found != structures.end() && found->readable) return SetExpression{SetExpression::Kind::kSet, wanted.columns, condition.column.values, {}};
  }
  return std::nullopt;
}

}  // namespace redquel::planner
