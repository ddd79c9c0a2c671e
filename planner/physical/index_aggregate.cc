#include <algorithm>

#include "planner/access/indexed_expressions.h"
#include "planner/access/ordered_source.h"
#include "planner/access/set_algebra.h"
#include "planner/physical/physical_planner.h"
#include "planner/tree/logical_walk.h"
#include "sql/catalog/member_form.h"
#include "sql/types/compare.h"
#include "sql/types/index_value.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using SetKind = SetExpression::Kind;

namespace {

/// More ends of orders than these take longer one by one than the rows.
constexpr std::size_t kMostEnds = 4;

/// A number of rows as cardinalities of disjoint intersections, each without some sets: |A ∩ B| − |A ∩ B ∩ C| …
class CountTerms {
 public:
  explicit CountTerms(const sql::TableDef& table) : table_(table), algebra_(table) {}

  std::optional<std::vector<CountTerm>> of(const Condition& condition) {
    if (condition.kind == Condition::Kind::kAnd && condition.operands.empty()) return all_rows({});
    if (auto range = single_range(condition)) return std::vector{std::move(*range)};
    if (auto sets = algebra_.exact(condition)) {
      auto terms = of_sets(*sets);
      return terms && !intersects_short_members(*terms) ? std::move(*terms) : members(*sets);
    }
    if (auto removed = algebra_.exact_complement(condition)) {
      std::vector<SetExpression> parts = removed->kind == SetKind::kUnion ? removed->operands : std::vector{*removed};
      auto terms = all_rows(parts);
      return terms && !intersects_short_members(*terms) ? std::move(terms) : std::nullopt;
    }
    return {};
  }

  /// Returns true if terms of of() whose keys are equal at run time count once.
  bool may_repeat() const { return may_repeat_; }

  /// The algebra as a whole, where a script must count.
  static std::vector<CountTerm> members(const SetExpression& sets) {
    return {CountTerm{1, CountTerm::Kind::kMembers, sets, 0, {}, {}, {}}};
  }

 private:
  bool intersects_short_members(const std::vector<CountTerm>& terms) const {
    return std::ranges::any_of(terms, [&](const CountTerm& term) {
      return term.kind == CountTerm::Kind::kSets && term.sets.kind == SetKind::kIntersection && SetAlgebra::has_short_members(table_, term.sets);
    });
  }

  static bool is_plain(const SetExpression& sets) { return sets.kind == SetKind::kSet || sets.kind == SetKind::kNullSet; }

  static SetExpression intersect(std::vector<SetExpression> sets) {
    if (sets.size() == 1) return std::move(sets.front());
    return {SetKind::kIntersection, {}, {}, std::move(sets)};
  }

  static bool same_column(const SetExpression& a, const SetExpression& b) { return a.columns == b.columns; }

  /// |base| − |base ∩ union of removed|, by inclusion and exclusion. An empty base stands for all rows.
  static std::optional<std::vector<CountTerm>> without(const std::vector<SetExpression>& base, const std::vector<SetExpression>& removed) {
    if (removed.size() > 3 || !std::all_of(removed.begin(), removed.end(), is_plain)) return {};
    std::vector<CountTerm> terms;
    for (unsigned subset = 0; subset < (1u << removed.size()); ++subset) {
      std::vector<SetExpression> sets = base;
      int sign = 1;
      bool disjoint = false;  // the value set and the NULL set of one column share no row
      for (std::size_t i = 0; i < removed.size(); ++i) {
        if (!(subset >> i & 1)) continue;
        sign = -sign;
        for (std::size_t j = 0; j < i; ++j) {
          if ((subset >> j & 1) && removed[i].kind != removed[j].kind && same_column(removed[i], removed[j])) disjoint = true;
        }
        sets.push_back(removed[i]);
      }
      if (disjoint) continue;
      CountTerm term{sign, sets.empty() ? CountTerm::Kind::kAllRows : CountTerm::Kind::kSets, {}, 0, {}, {}, {}};
      if (!sets.empty()) term.sets = intersect(std::move(sets));
      terms.push_back(std::move(term));
    }
    return terms;
  }

  static std::optional<std::vector<CountTerm>> all_rows(const std::vector<SetExpression>& removed) { return without({}, removed); }

  /// `a IN (1, 2)` as disjoint sets; nullopt for other unions. Sets of values that only the run knows (`a IN ($1, $2)`) may turn out to be
  /// the same.
  static std::optional<std::vector<SetExpression>> disjoint_union(const SetExpression& sets) {
    if (has_run_time_values(sets)) {
      const bool is_over_one_column = std::ranges::all_of(sets.operands, [&](const SetExpression& set) {
        return is_plain(set) && same_column(set, sets.operands[0]) && set.columns.size() == 1;
      });
      return is_over_one_column ? std::optional(sets.operands) : std::nullopt;
    }
    std::vector<SetExpression> result;
    for (const SetExpression& set : sets.operands) {
      if (!is_plain(set) || !same_column(set, sets.operands[0]) || set.columns.size() != 1) return {};
      const auto* constant = set.kind == SetKind::kSet ? std::get_if<sql::Constant>(&set.values[0]->node) : nullptr;
      if (constant && sql::is_null(constant->value)) continue;
      bool known = std::any_of(result.begin(), result.end(), [&](const SetExpression& other) {
        if (other.kind != set.kind) return false;
        if (set.kind == SetKind::kNullSet) return true;
        const auto& value = std::get<sql::Constant>(other.values[0]->node).value;
        return other.values[0]->type.oid != set.values[0]->type.oid || sql::compare(set.values[0]->type, value, constant->value) == 0;
      });
      if (known && constant && result[0].kind == SetKind::kSet && result[0].values[0]->type.oid != set.values[0]->type.oid) return {};
      if (!known) result.push_back(set);
    }
    return result;
  }

  static bool has_run_time_values(const SetExpression& sets) {
    return std::ranges::any_of(sets.operands, [](const SetExpression& set) {
      return set.kind == SetKind::kSet && !std::holds_alternative<sql::Constant>(set.values[0]->node);
    });
  }

  std::optional<std::vector<CountTerm>> of_sets(const SetExpression& sets) {
    if (sets.kind == SetKind::kDifference) {
      std::vector<SetExpression> removed(sets.operands.begin() + 1, sets.operands.end());
      return of_intersection(sets.operands[0], removed);
    }
    return of_intersection(sets, {});
  }

  std::optional<std::vector<CountTerm>> of_intersection(const SetExpression& sets, const std::vector<SetExpression>& removed) {
    std::vector<SetExpression> factors = sets.kind == SetKind::kIntersection ? sets.operands : std::vector{sets};
    std::vector<std::vector<SetExpression>> products{{}};
    for (const SetExpression& factor : factors) {
      std::vector<SetExpression> choices{factor};
      if (factor.kind == SetKind::kUnion) {
        auto disjoint = disjoint_union(factor);
        if (!disjoint) return {};
        choices = std::move(*disjoint);
        may_repeat_ = may_repeat_ || has_run_time_values(factor);
      } else if (!is_plain(factor)) {
        return {};
      }
      std::vector<std::vector<SetExpression>> longer;
      for (const auto& product : products) {
        for (const SetExpression& choice : choices) {
          longer.push_back(product);
          longer.back().push_back(choice);
        }
      }
      products = std::move(longer);
      if (products.size() > 200) return {};
    }
    if (may_repeat_ && !removed.empty()) return {};  // equal terms of different signs are none too many
    std::vector<CountTerm> terms;
    for (const auto& product : products) {
      auto part = without(product, removed);
      if (!part) return {};
      std::move(part->begin(), part->end(), std::back_inserter(terms));
    }
    return terms;
  }

  /// All conditions are bounds of one ordered column, perhaps beside values for the columns before it in an index: ZCOUNT or ZLEXCOUNT.
  std::optional<CountTerm> single_range(const Condition& condition) const {
    std::vector<Condition> single;
    CountTerm term{1, CountTerm::Kind::kRange, {}, 0, {}, {}, {}};
    for (const Condition& operand : conjuncts(condition, single)) {
      if (operand.kind != Condition::Kind::kColumn || !operand.column.exact) return {};
      const ColumnCondition& column = operand.column;
      if (column.kind == ColumnCondition::Kind::kEqual) {
        term.leading.columns.push_back(column.column);
        term.leading.values.push_back(column.values[0]);
        continue;
      }
      if (term.column != 0 && term.column != column.column) return {};
      term.column = column.column;
      using Kind = ColumnCondition::Kind;
      bool inclusive = column.kind == Kind::kLessEqual || column.kind == Kind::kGreaterEqual;
      if (column.kind == Kind::kLess || column.kind == Kind::kLessEqual) {
        if (term.upper) return {};
        term.upper = RangeBound{column.values[0], inclusive};
      } else if (column.kind == Kind::kGreater || column.kind == Kind::kGreaterEqual) {
        if (term.lower) return {};
        term.lower = RangeBound{column.values[0], inclusive};
      } else if (column.kind == Kind::kPrefix && column.exact) {
        if (term.prefix) return {};
        term.prefix = PrefixBound{column.prefix};
      } else {
        return {};
      }
    }
    if (term.prefix && (term.lower || term.upper)) return {};
    if (!term.prefix && !term.lower && !term.upper && term.leading.empty()) return {};
    const auto source = term.leading.empty() ? ordered_source(table_, term.column) : value_source(term);
    if (!source) return {};
    if (term.prefix) {
      if (source->encoding == OrderedSource::Encoding::kScore || term.prefix->prefix.size() >= sql::kMaxOrderedPrefix / 2) return {};
      term.kind = CountTerm::Kind::kPrefix;
    }
    return term;
  }

  /// Returns the form of the zsets that have the rows with the term's leading values, in the order of the term's column, and brings the
  /// values into the order of the index. A term without a column counts all rows with the values, if no row's last column can be NULL.
  std::optional<OrderedSource> value_source(CountTerm& term) const {
    for (const sql::Structure& structure : sql::structures_of(table_)) {
      if (structure.kind != sql::Structure::Kind::kValueZsets || !structure.readable) continue;
      const std::int16_t last = structure.columns.back();
      if (structure.columns.size() != term.leading.columns.size() + 1 || (term.column != 0 && term.column != last)) continue;
      if (term.column == 0 && table_.is_nullable(*table_.find_column(last))) continue;
      LeadingValues leading{{structure.columns.begin(), structure.columns.end() - 1}, {}};
      for (const std::int16_t column : leading.columns) {
        const auto found = std::ranges::find(term.leading.columns, column);
        if (found == term.leading.columns.end()) break;
        leading.values.push_back(term.leading.values[static_cast<std::size_t>(found - term.leading.columns.begin())]);
      }
      if (leading.values.size() < leading.columns.size()) continue;
      term.leading = std::move(leading);
      term.column = last;
      return value_ordered_source(table_, term.leading.columns, last);
    }
    return {};
  }

  const sql::TableDef& table_;
  SetAlgebra algebra_;
  bool may_repeat_ = false;
};

const sql::ColumnRef* plain_column(const ExpressionPtr& expression) { return std::get_if<sql::ColumnRef>(&expression->node); }

bool is_never_null(const sql::TableDef& table, std::int16_t number) {
  if (table.find_column(number)->not_null) return true;
  return std::find(table.primary_key.begin(), table.primary_key.end(), number) != table.primary_key.end();
}

/// The scan's column that an aggregate's argument is; 0: none.
std::int16_t argument_column(const ScanPattern& pattern, const std::vector<LogicalColumn>& columns, const ExpressionPtr& argument) {
  const auto* column = plain_column(argument);
  if (!column) return 0;
  auto ids = column_ids(columns);
  auto found = std::find(ids.begin(), ids.end(), column->column);
  if (found == ids.end()) return 0;
  const auto* source = plain_column(pattern.outputs[static_cast<std::size_t>(found - ids.begin())]);
  if (!source) return 0;
  return number_of(*pattern.scan, *pattern.columns)(source->column).value_or(0);
}

/// The column of `count(DISTINCT column)` alone, where the set of an index's values has as many members; else 0.
std::int16_t distinct_count(const ScanPattern& pattern, const LogicalAggregate& aggregate) {
  if (aggregate.calls.size() != 1) return 0;
  const AggregateCall& call = aggregate.calls[0];
  if (call.function->name != "count" || !call.distinct || call.filter || call.arguments.size() != 1) return 0;
  const std::int16_t number = argument_column(pattern, aggregate.input->columns, call.arguments[0]);
  return number > 0 && SetAlgebra(*pattern.scan->table).has(sql::Structure::Kind::kSets, number) ? number : std::int16_t{0};
}

/// The conditions of a pattern over columns and indexed expressions.
Condition conditions_of(const ScanPattern& pattern) {
  const IndexedExpressions indexed(*pattern.scan, *pattern.columns, pattern.conditions);
  const ExpressionNumber computed = [&](const sql::Expression& expression) { return indexed.number_of(expression); };
  return analyse_conditions(pattern.conditions, *pattern.scan->table, number_of(*pattern.scan, *pattern.columns),
                            pattern.scan->table->computed.empty() ? ExpressionNumber() : computed);
}

/// The sets whose intersection has exactly the rows of a WHERE clause, and that Redis can intersect with the sets of a column's values;
/// nullopt: there are none.
std::optional<std::vector<SetExpression>> plain_sets(const ScanPattern& pattern, std::int16_t column) {
  if (pattern.conditions.empty()) return std::vector<SetExpression>{};
  const sql::TableDef& table = *pattern.scan->table;
  auto sets = SetAlgebra(table).exact(conditions_of(pattern));
  if (!sets) return {};
  std::vector<SetExpression> parts = sets->kind == SetKind::kIntersection ? sets->operands : std::vector{*sets};
  const bool plain = std::ranges::all_of(parts, [](const SetExpression& s) { return s.kind == SetKind::kSet || s.kind == SetKind::kNullSet; });
  const bool are_whole = !sql::omitted_parts(table, {&column, 1}).any() && !SetAlgebra::has_short_members(table, *sets);
  return plain && are_whole ? std::optional(std::move(parts)) : std::nullopt;
}

/// GROUP BY one column of an index, over all rows or over those of sets; without its fallback.
std::optional<IndexGroups> index_groups(const ScanPattern& pattern, const std::vector<LogicalColumn>& columns, const LogicalAggregate& aggregate) {
  const sql::TableDef& table = *pattern.scan->table;
  const std::int16_t number = argument_column(pattern, columns, aggregate.group_by[0]);
  if (number <= 0 || !SetAlgebra(table).has(sql::Structure::Kind::kSets, number)) return {};
  if (!sql::canonical_text_is_output(table.find_column(number)->type)) return {};
  auto among = plain_sets(pattern, number);
  if (!among) return {};
  return IndexGroups{pattern.scan->table, number, true, aggregate.calls.size(), nullptr, std::move(*among)};
}

}  // namespace

namespace {

/// Returns true if the node's rows are those of a mapped table.
bool scanned_mapping(const Logical& node) {
  if (const auto* scan = std::get_if<LogicalScan>(&node.node)) return scan->table->is_mapped();
  const auto* filter = std::get_if<LogicalFilter>(&node.node);
  const auto* project = std::get_if<LogicalProject>(&node.node);
  return (filter && scanned_mapping(*filter->input)) || (project && scanned_mapping(*project->input));
}

}  // namespace

bool reads_first_rows(const PhysicalNode& node) {
  if (const auto* sets = std::get_if<SetScan>(&node.node)) return sets->first.has_value();
  if (const auto* ordered = std::get_if<OrderedScan>(&node.node)) return static_cast<bool>(ordered->goal);
  if (const auto* mapped = std::get_if<MappedScan>(&node.node)) return mapped->path == MappedScan::Path::kOrder || mapped->wants_order;
  const std::vector<PhysicalPlan> inputs = inputs_of(node);
  return inputs.size() == 1 && reads_first_rows(*inputs[0]);
}

std::optional<Planned> PhysicalPlanner::plan_ends_of_orders(const Logical& node, const LogicalAggregate& aggregate) {
  if (!aggregate.scalar || aggregate.calls.empty()) return {};
  const bool is_mapped = scanned_mapping(*aggregate.input);
  const auto pattern = is_mapped ? std::nullopt : match_scan(aggregate.input);
  if (!is_mapped && (!pattern || pattern->conditions.empty() || aggregate.calls.size() > kMostEnds)) return {};
  std::optional<Planned> all;
  for (std::size_t i = 0; i < aggregate.calls.size(); ++i) {
    const Logical one{LogicalAggregate{aggregate.input, {}, {aggregate.calls[i]}, true}, {node.columns[i]}};
    auto end = plan_end_of_order(one, std::get<LogicalAggregate>(one.node));
    if (!end) return {};
    if (!all) {
      all = std::move(end);
      continue;
    }
    auto columns = all->plan->columns;
    columns.push_back(end->plan->columns.front());
    all->ids.push_back(end->ids.front());
    all->plan = make_physical(NestedLoopJoin{JoinKind::kInner, all->plan, end->plan, nullptr}, std::move(columns));
  }
  if (is_mapped) return all;
  // The rows of a small set are read faster.
  index_answers_ = false;
  Planned rows = plan_node(node, aggregate, {});
  index_answers_ = true;
  const RowGoal one{sql::make_constant(sql::kInt8, std::int64_t{1}), nullptr};
  Choice choice{arrange(*all, node.columns).plan, arrange(std::move(rows), node.columns).plan, nullptr, pattern->scan->table_rows, 0, one};
  if (choice.counted_rows > 0) choice.count = plan_count_of_one(aggregate.input);
  return Planned{make_physical(std::move(choice), physical_columns(node.columns)), column_ids(node.columns)};
}

std::optional<Planned> PhysicalPlanner::plan_end_of_order(const Logical& node, const LogicalAggregate& aggregate) {
  if (!aggregate.scalar || aggregate.calls.size() != 1) return {};
  const AggregateCall& call = aggregate.calls[0];
  const bool maximum = call.function->name == "max";
  if ((!maximum && call.function->name != "min") || call.filter || call.arguments.size() != 1 || !plain_column(call.arguments[0])) return {};
  const auto pattern = match_scan(aggregate.input);
  const bool is_own = pattern && !pattern->conditions.empty() && !changed_tables_.contains(pattern->scan->table->oid);
  if (!is_own && !scanned_mapping(*aggregate.input)) return {};
  // The first row in the order of the argument has it; NULLs come last.
  const auto& columns = aggregate.input->columns;
  LogicalSort sort{aggregate.input, {{call.arguments[0], maximum, false}}};
  LogicalLimit first{make_logical(std::move(sort), columns), sql::make_constant(sql::kInt8, std::int64_t{1}), nullptr};
  LogicalAggregate over_first = aggregate;
  over_first.input = make_logical(std::move(first), columns);
  Planned planned = plan_node(node, over_first, {});
  if (!reads_first_rows(*planned.plan)) return {};
  return planned;
}

std::optional<Planned> PhysicalPlanner::plan_index_aggregate(const Logical& node, const LogicalAggregate& aggregate) {
  if (const auto scanned = match_scan(aggregate.input); scanned && !scanned->scan->table->parts.empty()) {
    return plan_aggregate_of_parts(node, aggregate);
  }
  if (rules_.allow(AccessRule::kEndOfOrder)) {
    if (auto planned = plan_end_of_order(node, aggregate)) return planned;
    if (auto planned = plan_ends_of_orders(node, aggregate)) return planned;
  }
  if (auto planned = tried(AccessRule::kForeignCount, [&] { return plan_mapped_count(node, aggregate); })) return planned;
  auto pattern = match_scan(aggregate.input);
  if (!pattern || aggregate.calls.empty() || changed_tables_.contains(pattern->scan->table->oid)) return {};
  const sql::TableDef& table = *pattern->scan->table;
  if (table.rows_expire()) return {};  // entries of rows that are gone count, too
  const auto& input_columns = aggregate.input->columns;
  auto with_fallback = [&](auto node_of) {
    index_answers_ = false;
    PhysicalPlan fallback = plan_node(node, aggregate, {}).plan;
    index_answers_ = true;
    return Planned{make_physical(node_of(std::move(fallback)), physical_columns(node.columns)), column_ids(node.columns)};
  };
  if (const std::int16_t number = aggregate.scalar && pattern->conditions.empty() ? distinct_count(*pattern, aggregate) : std::int16_t{0}) {
    CountTerm term{1, CountTerm::Kind::kValues, {}, number, {}, {}, {}};
    return with_fallback([&](PhysicalPlan fallback) { return IndexCount{pattern->scan->table, {term}, std::move(fallback), 1}; });
  }
  for (const AggregateCall& call : aggregate.calls) {
    if (call.distinct || call.filter || !call.order_by.empty()) return {};
  }
  auto counts_rows = [&](const AggregateCall& call) {
    if (call.function->name != "count") return false;
    if (call.arguments.empty()) return true;
    std::int16_t number = argument_column(*pattern, input_columns, call.arguments[0]);
    return number > 0 && is_never_null(table, number);
  };
  // count(x) of one nullable column alone counts the rows in which x is not NULL.
  std::int16_t counted = 0;
  if (aggregate.scalar && aggregate.calls.size() == 1 && aggregate.calls[0].function->name == "count" && !aggregate.calls[0].arguments.empty()) {
    counted = argument_column(*pattern, input_columns, aggregate.calls[0].arguments[0]);
  }
  bool only_counts = counted > 0 || std::all_of(aggregate.calls.begin(), aggregate.calls.end(), counts_rows);
  if (aggregate.scalar && only_counts) {
    if (!rules_.allow(AccessRule::kIndexCount)) return {};
    Condition condition = conditions_of(*pattern);
    if (counted > 0 && !is_never_null(table, counted)) {
      Condition not_null;
      not_null.kind = Condition::Kind::kColumn;
      not_null.column = {ColumnCondition::Kind::kIsNotNull, counted, {}, {}, true};
      if (condition.kind != Condition::Kind::kAnd) condition = Condition{Condition::Kind::kAnd, {condition}, {}};
      condition.operands.push_back(std::move(not_null));
    }
    CountTerms count(table);
    auto terms = count.of(condition);
    if (!terms) return {};
    return with_fallback([&](PhysicalPlan fallback) {
      return IndexCount{pattern->scan->table, std::move(*terms), std::move(fallback), aggregate.calls.size(), count.may_repeat()};
    });
  }
  if (!aggregate.scalar && only_counts && aggregate.group_by.size() == 1) {
    if (auto groups = rules_.allow(AccessRule::kIndexGroups) ? index_groups(*pattern, input_columns, aggregate) : std::nullopt) {
      return with_fallback([&](PhysicalPlan fallback) {
        groups->fallback = std::move(fallback);
        return std::move(*groups);
      });
    }
    return {};
  }
  if (!pattern->conditions.empty()) return {};

  if (aggregate.scalar && rules_.allow(AccessRule::kIndexEnds)) {
    std::vector<IndexMinMax::End> ends;
    for (const AggregateCall& call : aggregate.calls) {
      if ((call.function->name != "min" && call.function->name != "max") || call.arguments.size() != 1) return {};
      std::int16_t number = argument_column(*pattern, input_columns, call.arguments[0]);
      if (number <= 0 || !ordered_source(table, number)) return {};
      ends.push_back({number, call.function->name == "max"});
    }
    return with_fallback([&](PhysicalPlan fallback) { return IndexMinMax{pattern->scan->table, ends, std::move(fallback)}; });
  }

  return {};
}

std::optional<Planned> PhysicalPlanner::plan_index_distinct(const Logical& node, const LogicalDistinct& distinct) {
  if (!distinct.on.empty() || node.columns.size() != 1) return {};
  auto pattern = match_scan(distinct.input);
  if (!pattern || pattern->outputs.size() != 1) return {};
  if (!pattern->scan->table->parts.empty()) return plan_distinct_of_parts(node, distinct);
  if (changed_tables_.contains(pattern->scan->table->oid)) return {};
  const sql::TableDef& table = *pattern->scan->table;
  if (table.rows_expire()) return {};
  const auto* column = plain_column(pattern->outputs[0]);
  std::int16_t number = column ? number_of(*pattern->scan, *pattern->columns)(column->column).value_or(0) : std::int16_t{0};
  if (number <= 0 || !SetAlgebra(table).has(sql::Structure::Kind::kSets, number)) return {};
  if (!sql::canonical_text_is_output(table.find_column(number)->type)) return {};
  auto among = plain_sets(*pattern, number);
  if (!among) return {};
  index_answers_ = false;
  PhysicalPlan fallback = plan_node(node, distinct, {}).plan;
  index_answers_ = true;
  IndexGroups groups{pattern->scan->table, number, false, 0, std::move(fallback), std::move(*among)};
  return Planned{make_physical(std::move(groups), physical_columns(node.columns)), column_ids(node.columns)};
}

}  // namespace redquel::planner
