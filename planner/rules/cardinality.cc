#include "planner/rules/cardinality.h"

#include <algorithm>
#include <cmath>

#include "planner/tree/logical_walk.h"
#include "sql/catalog/table_keys.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

// The guesses that hold without statistics.
constexpr double kRangeShare = 1.0 / 3, kPatternShare = 0.05, kNullShare = 0.05, kUnknownShare = 1.0 / 3, kGroupShare = 0.2;
constexpr double kUsualValues = 100, kRowsOfUnknown = 1000, kRowsOfIndexedValue = 5;

bool has_structure(const sql::TableDef& table, sql::Structure::Kind kind, std::int16_t number) {
  const std::vector<std::int16_t> key{number};
  return std::ranges::any_of(sql::structures_of(table), [&](const sql::Structure& s) { return s.kind == kind && s.columns == key; });
}

bool is_unique_column(const sql::TableDef& table, std::int16_t number) {
  return table.primary_key == std::vector<std::int16_t>{number} || has_structure(table, sql::Structure::Kind::kUnique, number);
}

const sql::ColumnRef* column_under_casts(const sql::Expression& expression) {
  if (const auto* cast = std::get_if<sql::CastCall>(&expression.node)) return column_under_casts(*cast->operand);
  return std::get_if<sql::ColumnRef>(&expression.node);
}

std::optional<double> constant_number(const ExpressionPtr& expression) {
  const auto* constant = expression ? std::get_if<sql::Constant>(&expression->node) : nullptr;
  const auto* number = constant ? std::get_if<std::int64_t>(&constant->value) : nullptr;
  if (number == nullptr) return {};
  return static_cast<double>(*number);
}

}  // namespace

std::pair<const sql::Expression*, const sql::Expression*> sides_of_equality(const sql::Expression& condition) {
  const auto* call = std::get_if<sql::FunctionCall>(&condition.node);
  if (call == nullptr || call->function->name != "=" || call->arguments.size() != 2) return {nullptr, nullptr};
  return {call->arguments[0].get(), call->arguments[1].get()};
}

ColumnId Cardinality::representative(ColumnId column) const {
  for (auto next = equal_to_.find(column); next != equal_to_.end(); next = equal_to_.find(column)) column = next->second;
  return column;
}

void Cardinality::make_equal(ColumnId one, ColumnId other) {
  one = representative(one);
  other = representative(other);
  if (one == other) return;
  equal_to_[other] = one;
  const Values added = values_[other];
  Values& values = values_[one];
  values.named = std::max(values.named, added.named);
  values.joined = std::max(values.joined, added.joined);
  if (added.at_most) values.at_most = std::min(values.at_most.value_or(*added.at_most), *added.at_most);
}

void Cardinality::add_conditions(const std::vector<ExpressionPtr>& conditions) {
  for (const ExpressionPtr& condition : conditions) {
    const auto [left, right] = sides_of_equality(*condition);
    const sql::ColumnRef* one = left != nullptr ? column_under_casts(*left) : nullptr;
    const sql::ColumnRef* other = right != nullptr ? column_under_casts(*right) : nullptr;
    if (one != nullptr && other != nullptr) make_equal(one->column, other->column);
  }
}

void Cardinality::add_column(ColumnId id, const sql::TableDef& table, std::int16_t number, const TableSize& size) {
  const sql::ColumnDef* column = number > 0 ? table.find_column(number) : nullptr;
  const double usual = column != nullptr && column->type.oid == sql::oid::kBool ? 2 : std::min(size.rows, kUsualValues);
  Values values{usual, usual, {}};
  if (number == 0 || is_unique_column(table, number)) {
    values = {size.rows, size.rows, size.rows};
  } else if (has_structure(table, sql::Structure::Kind::kSets, number) || (!table.primary_key.empty() && table.primary_key[0] == number)) {
    values.joined = std::max(usual, size.rows / kRowsOfIndexedValue);
  }
  const auto counted = size.values.find(number);
  if (counted != size.values.end()) values = {std::max(counted->second, 1.0), std::max(counted->second, 1.0), {}};
  values_[id] = values;
}

void Cardinality::add(const Logical& node, const LogicalScan& scan) {
  ++(scan.table_rows > 0 ? counted_tables_ : uncounted_tables_);
  const TableSize size = scan.size ? *scan.size : TableSize{scan.table_rows, {}};
  for (std::size_t i = 0; i < scan.numbers.size(); ++i) add_column(node.columns[i].id, *scan.table, scan.numbers[i], size);
}

void Cardinality::add(const Logical& node) {
  if (const auto* scan = std::get_if<LogicalScan>(&node.node)) add(node, *scan);
  for (const LogicalPtr& input : inputs_of(node)) add(*input);
  const auto* join = std::get_if<LogicalJoin>(&node.node);
  if (join != nullptr && join->condition) add_conditions(sql::split_conjunction(join->condition));
}

double Cardinality::values_of(const sql::Expression& expression, const sql::Expression& other) const {
  const sql::ColumnRef* column = column_under_casts(expression);
  if (column == nullptr) return columns_in(expression).empty() ? 1 : kUsualValues;
  const auto found = values_.find(representative(column->column));
  if (found == values_.end()) return kUsualValues;
  return found->second.at_most.value_or(columns_in(other).empty() ? found->second.named : found->second.joined);
}

double Cardinality::selectivity(const sql::Expression& condition) const {
  const auto& node = condition.node;
  if (const auto [left, right] = sides_of_equality(condition); left != nullptr) {
    return 1 / std::max(values_of(*left, *right), values_of(*right, *left));
  }
  if (const auto* call = std::get_if<sql::FunctionCall>(&node)) {
    const std::string_view name = call->function->name;
    if (name == "<" || name == "<=" || name == ">" || name == ">=") return kRangeShare;
    if (name == "<>" || name.starts_with('!')) return 1 - kPatternShare;
    if (name == "@>" || name == "<@" || name == "&&" || name == "@@" || name.starts_with('?')) return kEntriesShare;
    return name.starts_with('~') ? kPatternShare : kUnknownShare;
  }
  if (const auto* list = std::get_if<sql::InListTest>(&node)) {
    const double share = std::min(0.5, static_cast<double>(list->list.size()) / values_of(*list->operand, *list->list[0]));
    return list->negated ? 1 - share : share;
  }
  if (const auto* test = std::get_if<sql::NullTest>(&node)) return test->negated ? 1 - kNullShare : kNullShare;
  if (const auto* constant = std::get_if<sql::Constant>(&node)) {
    const auto* value = std::get_if<bool>(&constant->value);
    return value != nullptr && *value ? 1 : 0;
  }
  const auto* logical = std::get_if<sql::Logical>(&node);
  if (logical == nullptr) return kUnknownShare;
  if (logical->kind == sql::Logical::Kind::kNot) return 1 - selectivity(*logical->operands[0]);
  double all = 1, none = 1;
  for (const ExpressionPtr& operand : logical->operands) {
    const double share = selectivity(*operand);
    all *= share;
    none *= 1 - share;
  }
  return logical->kind == sql::Logical::Kind::kAnd ? all : 1 - none;
}

double Cardinality::pair_selectivity(const std::vector<ExpressionPtr>& conditions) const {
  std::vector<double> equalities;
  double share = 1;
  for (const ExpressionPtr& condition : conditions) {
    const double one = selectivity(*condition);
    if (sides_of_equality(*condition).first != nullptr) equalities.push_back(one);
    else share *= one;
  }
  std::ranges::sort(equalities);
  double power = 1;
  for (const double one : equalities) {
    share *= std::pow(one, power);
    power /= 2;
  }
  return share;
}

namespace {

struct RowsOfNode {
  const Cardinality& of;

  double operator()(const LogicalScan& n) const { return n.table_rows; }
  double operator()(const LogicalFunctionScan&) const { return kRowsOfUnknown; }
  double operator()(const LogicalSystemScan&) const { return kRowsOfUnknown; }
  double operator()(const LogicalSharedScan&) const { return kRowsOfUnknown; }
  double operator()(const LogicalValues& n) const { return static_cast<double>(n.rows.size()); }
  double operator()(const LogicalFilter& n) const {
    double rows = of.rows(*n.input);
    for (const ExpressionPtr& condition : sql::split_conjunction(n.condition)) rows *= of.selectivity(*condition);
    return rows;
  }
  double operator()(const LogicalJoin& n) const {
    const double left = of.rows(*n.left), right = of.rows(*n.right);
    if (n.kind == JoinKind::kSemi || n.kind == JoinKind::kAnti) return left / 2;
    const double pairs = left * right * (n.condition ? of.pair_selectivity(sql::split_conjunction(n.condition)) : 1);
    if (n.kind == JoinKind::kLeft) return std::max(pairs, left);
    if (n.kind == JoinKind::kRight) return std::max(pairs, right);
    return n.kind == JoinKind::kFull ? std::max({pairs, left, right}) : pairs;
  }
  double operator()(const LogicalApply& n) const {
    return n.kind == LogicalApply::Kind::kLateral ? of.rows(*n.input) * of.rows(*n.subquery) : of.rows(*n.input);
  }
  double operator()(const LogicalAggregate& n) const { return n.scalar ? 1 : of.rows(*n.input) * kGroupShare; }
  double operator()(const LogicalLimit& n) const {
    const std::optional<double> most = constant_number(n.limit);
    return std::min(of.rows(*n.input), most.value_or(of.rows(*n.input)));
  }
  double operator()(const LogicalSetOperation& n) const { return of.rows(*n.left) + of.rows(*n.right); }
  double operator()(const LogicalRecursiveUnion& n) const { return 10 * of.rows(*n.left); }
  double operator()(const LogicalInsert& n) const { return of.rows(*n.source); }
  double operator()(const LogicalUpdate& n) const { return of.rows(*n.source); }
  double operator()(const LogicalDelete& n) const { return of.rows(*n.source); }
  double operator()(const LogicalMerge& n) const { return of.rows(*n.source); }
  /// Returns about the number of the input's rows.
  double operator()(const OneOf<LogicalProject, LogicalWindow, LogicalSort, LogicalLockRows, LogicalDistinct, LogicalShare> auto& n) const {
    return of.rows(*n.input);
  }
};

}  // namespace

double Cardinality::rows(const Logical& part) const {
  return std::max(1.0, std::visit(RowsOfNode{*this}, part.node));
}

}  // namespace redquel::planner
