#include "planner/bind/insert_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "planner/bind/part_assignment.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ColumnDef;
using sql::ExpressionPtr;
using sql::SqlError;

InsertTargets::InsertTargets(BindState& state, const WriteTarget& target, const std::vector<ast::AssignmentTarget>& written,
                             ast::Overriding overriding)
    : state_(state), table_(*target.table), written_(written), overriding_(overriding), target_(target) {
  for (std::size_t i = 0; target.view && i < target.columns.size(); ++i) {
    // A default that the view gives such a column is a value for it, too.
    const bool has_default = target.columns[i].number == 0 && !target.view->columns[i].default_sql.empty();
    if (has_default) find_target_column(state, target, {.column = target.columns[i].name});
  }
  if (written.empty()) {
    for (const WriteTarget::Column& column : target.columns) {
      if (column.number == 0) {
        refused_ = column.name;
        return;
      }
      if (!column.hidden) targets_.push_back(table_.find_column(column.number));
    }
    return;
  }
  std::unordered_set<std::string_view> wholes, known;  // names that are written without steps; names before
  for (const ast::AssignmentTarget& name : written) {
    if (name.steps.empty()) wholes.insert(name.column);
  }
  for (const ast::AssignmentTarget& name : written) {
    const ColumnDef& column = find_target_column(state, target, name);
    const bool again = !known.insert(name.column).second;
    // Several parts of one column go together.
    if (again && wholes.contains(name.column)) {
      throw sql::column_listed_twice(column.name).at(state.position(name.offset));
    }
    targets_.push_back(&column);
  }
}

/// Refuses a column of the table that a view shows twice.
void InsertTargets::check_single(std::size_t given) const {
  std::unordered_multimap<const ColumnDef*, std::size_t> known;
  for (std::size_t index = 0; target_.view && index < given; ++index) {
    const auto [first, last] = known.equal_range(targets_[index]);
    const bool is_twice = std::any_of(first, last, [&](const auto& before) {
      return written_.empty() || written_[before.second].column != written_[index].column;
    });
    if (is_twice)
      throw SqlError(sqlstate::kSyntaxError,
                     fmt::format("multiple assignments to same column \"{}\"", targets_[index]->name));
    known.emplace(targets_[index], index);
  }
}

void InsertTargets::mark_inserted() const {
  if (target_.requirement == nullptr) return;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const std::int16_t shown = target_.view ? static_cast<std::int16_t>(i + 1) : targets_[i]->number;
    target_.requirement->inserted.insert(written_.empty() ? shown : target_.attribute_of(written_[i].column));
  }
}

const std::vector<ast::IndirectionStep>& InsertTargets::steps(std::size_t index) const {
  static const std::vector<ast::IndirectionStep> kNone;
  return index < written_.size() ? written_[index].steps : kNone;
}

ExpressionPtr InsertTargets::with_part(std::size_t index, ExpressionBinder& binder, const ExpressionPtr& current,
                                       const ExpressionPtr& value) const {
  const ColumnDef& column = *targets_[index];
  const ExpressionPtr before = current ? current : sql::make_constant(column.type, {});
  return PartAssignment(state_, binder, column.name, state_.position(written_[index].offset)).assign(before, steps(index), value);
}

void InsertTargets::check_part_is_given(std::size_t index, const ast::Expression& written) const {
  if (!std::holds_alternative<ast::DefaultValue>(written.node)) return;
  const bool is_field = std::holds_alternative<ast::FieldStep>(steps(index).back());
  throw SqlError(sqlstate::kFeatureNotSupported, is_field ? "cannot set a subfield to DEFAULT" : "cannot set an array element to DEFAULT")
      .at(state_.position(written_[index].offset));
}

void InsertTargets::check_count(std::size_t given, std::optional<std::uint32_t> surplus) const {
  if (given > targets_.size() && !refused_.empty()) {
    // Columns that the view itself computes are refused before those of views below it.
    const auto is_own = [&](const WriteTarget::Column& column) { return column.number == 0 && column.view == target_.name(); };
    const auto taken = std::span(target_.columns).first(std::min(given, target_.columns.size()));
    const auto own = std::ranges::find_if(taken, is_own);
    find_target_column(state_, target_, {.column = own == taken.end() ? refused_ : own->name});
  }
  if (given > targets_.size()) throw SqlError(sqlstate::kSyntaxError, "INSERT has more expressions than target columns").at(surplus);
  if (given < targets_.size() && !written_.empty()) {
    throw SqlError(sqlstate::kSyntaxError, "INSERT has more target columns than expressions").at(state_.position(written_[given].offset));
  }
  check_single(given);
}

void InsertTargets::check_not_generated(const ColumnDef& column) const {
  if (column.generated_sql.empty()) return;
  throw SqlError(sqlstate::kGeneratedAlways, fmt::format("cannot insert a non-DEFAULT value into column \"{}\"", column.name))
      .detail(fmt::format("Column \"{}\" is a generated column.", column.name));
}

void InsertTargets::check_may_be_given(const ColumnDef& column) const {
  check_not_generated(column);
  if (column.identity != ColumnDef::Identity::kAlways || overriding_ != ast::Overriding::kNone) return;
  throw SqlError(sqlstate::kGeneratedAlways, fmt::format("cannot insert a non-DEFAULT value into column \"{}\"", column.name))
      .detail(fmt::format("Column \"{}\" is an identity column defined as GENERATED ALWAYS.", column.name))
      .hint("Use OVERRIDING SYSTEM VALUE to override.");
}

bool InsertTargets::is_overridden(const ColumnDef& column) const {
  return overriding_ == ast::Overriding::kUserValue && column.identity != ColumnDef::Identity::kNone;
}

ExpressionPtr InsertTargets::default_of(const ColumnDef& column) {
  ExpressionPtr& known = defaults_[column.number];
  if (!known) known = bind_column_default(state_, table_, column);
  return known;
}

std::vector<InsertColumn> InsertTargets::columns() {
  // Sequences give the values of many rows at once, unless another default wants to know each of them.
  const bool one_by_one = std::ranges::any_of(table_.columns, [&](const ColumnDef& column) {
    return !values_.contains(column.number) && !has_sequence_default(column) && asks_for_current_value(*default_of(column));
  });
  std::vector<InsertColumn> result;
  for (const ColumnDef& column : table_.columns) {
    const auto given = values_.find(column.number);
    if (given != values_.end()) {
      // The value assembled from parts enters the column's domain, and the parts' values the domains within its type.
      bool are_parts = false;
      const bool may_test = column.domain != 0 || column.type.oid >= sql::kFirstUserOid;
      for (std::size_t i = 0; i < targets_.size() && may_test; ++i) are_parts = are_parts || (targets_[i] == &column && !steps(i).empty());
      result.push_back({column.number, are_parts ? coerce_for_column(state_, given->second, column) : given->second});
    } else if (has_sequence_default(column) && !one_by_one) {
      require_draws(state_, column);
      result.push_back({column.number, nullptr, column.sequence});
    } else {
      result.push_back({column.number, default_of(column)});
    }
  }
  return result;
}

}  // namespace redquel::planner
