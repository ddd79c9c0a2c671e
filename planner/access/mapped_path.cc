#include "planner/access/mapped_path.h"

#include <algorithm>

#include "planner/access/index_condition.h"
#include "planner/access/set_algebra.h"
#include "sql/catalog/mapping.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using sql::Mapping;
using ColumnKind = ColumnCondition::Kind;

namespace {

/// More keys than this are not worth being named one by one.
constexpr std::size_t kMaxKeys = 100000;

/// A superset of the same rows that names no other structures than sets: applications keep no zset of all keys, nor sets of NULLs.
std::optional<SetExpression> of_sets_alone(SetExpression sets) {
  using Kind = SetExpression::Kind;
  if (sets.operands.empty()) return sets.kind == Kind::kSet ? std::optional(std::move(sets)) : std::nullopt;
  std::vector<SetExpression> kept;
  for (std::size_t i = 0; i < sets.operands.size(); ++i) {
    std::optional<SetExpression> operand = of_sets_alone(std::move(sets.operands[i]));
    const bool is_needed = sets.kind == Kind::kUnion || (sets.kind == Kind::kDifference && i == 0);
    if (!operand && is_needed) return std::nullopt;
    if (operand) kept.push_back(*std::move(operand));
  }
  if (kept.empty()) return std::nullopt;
  if (kept.size() == 1) return std::move(kept.front());
  sets.operands = std::move(kept);
  return sets;
}

class MappedPathChooser {
 public:
  MappedPathChooser(const LogicalScan& scan, const std::vector<LogicalColumn>& columns, const std::vector<ExpressionPtr>& conditions)
      : table_(*scan.table), mapping_(*scan.table->mapping), number_(number_of(scan, columns)) {
    condition_ = analyse_conditions(conditions, table_, number_);
    scan_.read.table = scan.table;
    scan_.read.alias = scan.alias;
    scan_.read.numbers = scan.numbers;
    scan_.read.condition = resolve(sql::conjunction(conditions), column_ids(columns));
    for (std::size_t i = 0; i < columns.size(); ++i) scan_.read.outputs.push_back(static_cast<std::int16_t>(i));
    fix_columns();
  }

  bool all_slots_fixed(const std::map<std::int16_t, ExpressionPtr>& more = {}) const {
    std::size_t product = 1;
    for (const std::int16_t slot : mapping_.key.slots()) {
      if (slot <= 0 || more.contains(slot)) continue;
      const auto found = std::find_if(scan_.fixed.begin(), scan_.fixed.end(), [&](const auto& fixed) { return fixed.column == slot; });
      if (found == scan_.fixed.end()) return false;
      product *= found->values.size();
      if (product > kMaxKeys) return false;
    }
    return true;
  }

  MappedScan choose(const Wish& wish) {
    if (all_slots_fixed()) {
      scan_.path = MappedScan::Path::kKeys;
    } else if (!lookup() && !sets() && !order(wish)) {
      scan_.path = mapping_.ohm ? MappedScan::Path::kSets : MappedScan::Path::kScan;
      if (mapping_.ohm) scan_.sets = SetExpression{SetExpression::Kind::kSet, {}, {}, {}};  // of all ids
    }
    if (scan_.path != MappedScan::Path::kOrder && wish.order.empty()) {
      scan_.goal = wish.goal;
      scan_.goal.exact = false;
    }
    return std::move(scan_);
  }

  MappedScan take() { return std::move(scan_); }

 private:
  /// The shortest list of values that an AND's equalities allow for a column; null: none.
  const std::vector<ExpressionPtr>* values_of(std::int16_t column) {
    const std::vector<ExpressionPtr>* values = nullptr;
    for (const Condition& condition : conjuncts(condition_, single_)) {
      if (condition.kind != Condition::Kind::kColumn || condition.column.column != column) continue;
      if (condition.column.kind != ColumnKind::kEqual && condition.column.kind != ColumnKind::kIn) continue;
      if (values == nullptr || condition.column.values.size() < values->size()) values = &condition.column.values;
    }
    return values;
  }

  void fix_columns() {
    for (const Mapping::Column& column : mapping_.columns) {
      const bool is_part = column.role == Mapping::Role::kSlot || column.role == Mapping::Role::kMember || column.role == Mapping::Role::kName;
      if (!is_part) continue;
      if (const auto* values = values_of(column.number)) scan_.fixed.push_back({column.number, *values});
    }
  }

  bool lookup() {
    for (const sql::IndexDef& index : table_.indexes) {
      if (index.method != sql::IndexMethod::kLookup) continue;
      std::vector<std::vector<ExpressionPtr>> product{{}};
      for (const sql::IndexDef::Part& part : index.parts) {
        const std::vector<ExpressionPtr>* values = values_of(part.column);
        if (values == nullptr || product.size() * values->size() > kMaxKeys) {
          product.clear();
          break;
        }
        std::vector<std::vector<ExpressionPtr>> longer;
        for (const auto& head : product) {
          for (const ExpressionPtr& value : *values) {
            longer.push_back(head);
            longer.back().push_back(value);
          }
        }
        product = std::move(longer);
      }
      if (product.empty()) continue;
      scan_.path = MappedScan::Path::kLookup;
      scan_.index = index.oid;
      scan_.lookups = std::move(product);
      return true;
    }
    return false;
  }

  bool sets() {
    std::vector<sql::Structure> structures;
    for (const sql::IndexDef& index : table_.indexes) {
      if (index.method != sql::IndexMethod::kSet || !sql::index_key(index).has_slots()) continue;
      std::vector<std::int16_t> columns;
      for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
      structures.push_back({sql::Structure::Kind::kSets, std::move(columns), true});
    }
    if (structures.empty()) return false;
    const SetAlgebra algebra(table_, std::move(structures));
    std::optional<SetExpression> superset = algebra.superset(condition_);
    if (superset) scan_.sets = of_sets_alone(*std::move(superset));
    if (!scan_.sets) return false;
    scan_.path = MappedScan::Path::kSets;
    return true;
  }

  bool is_never_null(std::int16_t number) {
    if (table_.find_column(number)->not_null || table_.in_primary_key(number)) return true;
    const auto& all = conjuncts(condition_, single_);
    return std::any_of(all.begin(), all.end(), [&](const Condition& c) {
      return c.kind == Condition::Kind::kColumn && c.column.column == number && c.column.kind != ColumnKind::kIsNull;
    });
  }

  /// A zset or a list that has the wanted rows first. Rows whose column is NULL are in neither.
  bool order(const Wish& wish) {
    if (wish.order.empty() || !wish.goal.limit) return false;
    const SortKey& key = wish.order.front();
    const auto* column = std::get_if<sql::ColumnRef>(&key.expression->node);
    const auto number = column ? number_(column->column) : std::nullopt;
    if (!number || *number <= 0) return false;
    for (const sql::IndexDef& index : table_.indexes) {
      const bool is_zset = index.method == sql::IndexMethod::kZset;
      const bool is_list = index.method == sql::IndexMethod::kList && key.descending;  // the newest first
      if ((!is_zset && !is_list) || index.parts.front().column != *number) continue;
      if (key.nulls_first && !is_never_null(*number)) return false;
      scan_.path = MappedScan::Path::kOrder;
      scan_.index = index.oid;
      scan_.descending = key.descending;
      scan_.goal = wish.goal;
      scan_.goal.exact = false;
      return true;
    }
    return false;
  }

  const sql::TableDef& table_;
  const Mapping& mapping_;
  ColumnNumber number_;
  Condition condition_;
  std::vector<Condition> single_;
  MappedScan scan_;
};

}  // namespace

Planned plan_mapped_access(const std::vector<LogicalColumn>& columns, const LogicalScan& scan,
                           const std::vector<ExpressionPtr>& conditions, const Wish& wish) {
  MappedPathChooser chooser(scan, columns, conditions);
  return {make_physical(chooser.choose(wish), physical_columns(columns)), column_ids(columns)};
}

std::optional<MappedJoinPath> plan_mapped_join(const std::vector<LogicalColumn>& columns, const LogicalScan& scan,
                                               const std::vector<ExpressionPtr>& conditions,
                                               const std::map<std::int16_t, ExpressionPtr>& values) {
  MappedPathChooser chooser(scan, columns, conditions);
  if (chooser.all_slots_fixed() || !chooser.all_slots_fixed(values)) return {};
  MappedJoinPath path{chooser.take(), {}};
  for (const Mapping::Column& column : scan.table->mapping->columns) {
    const bool is_part = column.role == Mapping::Role::kSlot || column.role == Mapping::Role::kMember || column.role == Mapping::Role::kName;
    if (!is_part || !values.contains(column.number)) continue;
    path.columns.push_back(column.number);
    std::erase_if(path.inner.fixed, [&](const MappedScan::Fixed& fixed) { return fixed.column == column.number; });
  }
  path.inner.path = MappedScan::Path::kKeys;
  return path;
}

}  // namespace redquel::planner
