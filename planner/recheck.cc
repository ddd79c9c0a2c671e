#include "planner/recheck.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "planner/bind/plan_nodes.h"
#include "planner/physical/physical_planner.h"
#include "planner/rules/rule.h"
#include "planner/tree/logical_walk.h"
#include "sql/types/type.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

/// Puts slots in place of the relations of a bound source.
class RowOfSlots {
 public:
  RowOfSlots(const RecheckSource& source, std::uint32_t first_slot, SubqueryAnswers answers)
      : source_(source), answers_(answers) {
    recheck_.slot_count = first_slot;
    recheck_.targets.resize(source.targets.size());
  }

  /// Null: see plan_recheck().
  LogicalPtr make() {
    LogicalPtr row = replaced(source_.bound);
    const bool is_complete = row && std::ranges::all_of(recheck_.targets, [](const Recheck::Target& target) {
                               return !target.values.empty();
                             });
    if (!is_complete || !has_all(ids_of(*row))) return nullptr;
    std::vector<ExpressionPtr> expressions;
    std::vector<LogicalColumn> columns;
    for (const ColumnId id : source_.columns) {
      columns.push_back(*std::ranges::find(row->columns, id, &LogicalColumn::id));
      expressions.push_back(reference(columns.back()));
    }
    return make_logical(LogicalProject{std::move(row), std::move(expressions)}, std::move(columns));
  }

  Recheck take() { return std::move(recheck_); }

 private:
  /// Returns true if the columns are the ones that the source gave, and the plan reads no column that it did not keep.
  bool has_all(const std::set<ColumnId>& given) const {
    const auto is_given = [&](ColumnId id) { return given.contains(id); };
    const auto is_made = [&](ColumnId id) { return !missing_.contains(id); };
    return std::ranges::all_of(source_.columns, is_given) && std::ranges::all_of(used_, is_made);
  }

  std::optional<std::size_t> target_of(const Logical& node) const {
    const std::set<ColumnId> ids = ids_of(node);
    const auto found = std::ranges::find_if(source_.targets, [&](ColumnId id) { return ids.contains(id); });
    if (!std::holds_alternative<LogicalScan>(node.node) || found == source_.targets.end()) return std::nullopt;
    return static_cast<std::size_t>(found - source_.targets.begin());
  }

  bool has_target(const Logical& node) const {
    return target_of(node) ||
           std::ranges::any_of(inputs_of(node), [&](const LogicalPtr& input) { return has_target(*input); });
  }

  ExpressionPtr new_slot(const sql::Type& type) {
    return sql::make_expression(type, sql::ParameterRef{recheck_.slot_count++});
  }

  LogicalPtr replaced(const LogicalPtr& node) {
    if (const auto target = target_of(*node))
      return new_version(*node, std::get<LogicalScan>(node->node), recheck_.targets[*target]);
    if (!has_target(*node)) return kept(*node);
    visit_expressions(*node, [this](const ExpressionPtr& expression) { used_.merge(columns_in(*expression)); });
    if (std::holds_alternative<LogicalSort>(node->node)) return replaced(inputs_of(*node)[0]);
    if (std::holds_alternative<LogicalFilter>(node->node) || std::holds_alternative<LogicalProject>(node->node)) {
      const LogicalPtr input = replaced(inputs_of(*node)[0]);
      return input ? with_input(*node, input) : nullptr;
    }
    if (const auto* join = std::get_if<LogicalJoin>(&node->node)) return replaced_join(*node, *join);
    if (const auto* apply = std::get_if<LogicalApply>(&node->node)) return replaced_apply(*node, *apply);
    return nullptr;
  }

  static LogicalPtr with_input(const Logical& node, const LogicalPtr& input) {
    const LogicalPtr whole = with_inputs(node, {input});
    const bool is_same = std::holds_alternative<LogicalFilter>(node.node);
    return is_same ? make_logical(whole->node, input->columns) : whole;
  }

  LogicalPtr replaced_join(const Logical& node, const LogicalJoin& join) {
    const bool is_filter = join.kind == JoinKind::kSemi || join.kind == JoinKind::kAnti;
    if (is_filter && has_target(*join.right)) return nullptr;
    const LogicalPtr left = replaced(join.left);
    if (!left) return nullptr;
    if (is_filter && keeps_answers_of(columns_of(join.condition, *join.left))) return left;
    const LogicalPtr right = is_filter ? join.right : replaced(join.right);
    if (!right) return nullptr;
    std::vector<LogicalColumn> columns = left->columns;
    if (!is_filter) columns.insert(columns.end(), right->columns.begin(), right->columns.end());
    const LogicalPtr whole = with_inputs(node, {left, right});
    return make_logical(whole->node, std::move(columns));
  }

  LogicalPtr replaced_apply(const Logical& node, const LogicalApply& apply) {
    if (has_target(*apply.subquery)) return nullptr;
    const LogicalPtr input = replaced(apply.input);
    if (!input) return nullptr;
    // PostgreSQL keeps the rows of subqueries in FROM.
    if (apply.kind == LogicalApply::Kind::kLateral) return with_kept(input, apply.subquery->columns);
    std::set<ColumnId> looked_at = columns_of(apply.comparison, *apply.input);
    for (const LogicalApply::Correlation& correlation : apply.correlations) looked_at.insert(correlation.column);
    const bool is_given = std::ranges::find(source_.columns, node.columns.back().id) != source_.columns.end();
    if (is_given && (looked_at.empty() || keeps_answers_of(looked_at))) return with_kept(input, {node.columns.back()});
    used_.insert(looked_at.begin(), looked_at.end());
    std::vector<LogicalColumn> columns = input->columns;
    columns.push_back(node.columns.back());
    const LogicalPtr whole = with_inputs(node, {input, apply.subquery});
    return make_logical(whole->node, std::move(columns));
  }

  static std::set<ColumnId> columns_of(const ExpressionPtr& expression, const Logical& input) {
    std::set<ColumnId> columns;
    if (!expression) return columns;
    const std::set<ColumnId> all = columns_in(*expression), ids = ids_of(input);
    std::ranges::set_intersection(all, ids, std::inserter(columns, columns.end()));
    return columns;
  }

  /// Returns true if the answers of a subquery that looks at these columns of its input were kept. Notes the columns.
  bool keeps_answers_of(const std::set<ColumnId>& looked_at) {
    const auto is_known = [&](ColumnId id) { return constant_.contains(id) || of_target_.contains(id); };
    if (answers_ != SubqueryAnswers::kKept || !std::ranges::all_of(looked_at, is_known)) return false;
    for (const ColumnId id : looked_at) {
      if (const auto found = of_target_.find(id); found != of_target_.end())
        found->second.first->looked_at.insert(found->second.second);
    }
    return true;
  }

  /// The rows of the input with columns that the source has kept.
  LogicalPtr with_kept(const LogicalPtr& input, const std::vector<LogicalColumn>& added) {
    std::vector<ExpressionPtr> expressions;
    std::vector<LogicalColumn> columns = input->columns;
    for (const LogicalColumn& column : columns) expressions.push_back(reference(column));
    for (const LogicalColumn& column : added) {
      if (const ExpressionPtr slot = kept_value(column)) {
        expressions.push_back(slot);
        columns.push_back(column);
      }
    }
    return make_logical(LogicalProject{input, std::move(expressions)}, std::move(columns));
  }

  LogicalPtr new_version(const Logical& node, const LogicalScan& scan, Recheck::Target& target) {
    target.is_there = recheck_.slot_count;
    const ExpressionPtr is_there = new_slot(sql::kBool);
    std::vector<ExpressionPtr> row;
    for (std::size_t index = 0; index < node.columns.size(); ++index) {
      target.values.emplace_back(recheck_.slot_count, scan.numbers[index]);
      row.push_back(new_slot(node.columns[index].type));
      of_target_.emplace(node.columns[index].id, std::pair(&target, scan.numbers[index]));
    }
    LogicalPtr values = make_logical(LogicalValues{{std::move(row)}}, node.columns);
    return filtered(std::move(values), {is_there});
  }

  /// Null: the source has not kept the column.
  ExpressionPtr kept_value(const LogicalColumn& column) {
    const auto found = std::ranges::find(source_.columns, column.id);
    if (found == source_.columns.end()) {
      missing_.insert(column.id);
      return nullptr;
    }
    constant_.insert(column.id);
    recheck_.kept.emplace_back(recheck_.slot_count, static_cast<std::size_t>(found - source_.columns.begin()));
    return new_slot(column.type);
  }

  LogicalPtr kept(const Logical& node) {
    std::vector<ExpressionPtr> row;
    std::vector<LogicalColumn> columns;
    for (const LogicalColumn& column : node.columns) {
      if (const ExpressionPtr slot = kept_value(column)) {
        row.push_back(slot);
        columns.push_back(column);
      }
    }
    return make_logical(LogicalValues{{std::move(row)}}, std::move(columns));
  }

  const RecheckSource& source_;
  const SubqueryAnswers answers_;
  Recheck recheck_;
  std::map<ColumnId, std::pair<Recheck::Target*, std::int16_t>> of_target_;
  std::set<ColumnId> constant_;  // what the source has kept
  std::set<ColumnId> used_, missing_;
};

}  // namespace

std::optional<Recheck> plan_recheck(const RecheckSource& source, const sql::SessionSettings& settings,
                                    const std::set<sql::Oid>& changed_tables, std::uint32_t first_slot,
                                    SubqueryAnswers answers) {
  if (!source.bound) return std::nullopt;
  RowOfSlots slots(source, first_slot, answers);
  const LogicalPtr row = slots.make();
  if (!row) return std::nullopt;
  Recheck recheck = slots.take();
  recheck.plan = PhysicalPlanner(settings, changed_tables).plan_statement(rewrite(row));
  return recheck;
}

}  // namespace redquel::planner
