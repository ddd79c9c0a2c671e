#pragma once

#include <map>
#include <string>
#include <vector>

#include "planner/bind/modification.h"

namespace redquel::planner {

class ExpressionBinder;

/// The columns that an INSERT, or an INSERT of MERGE, gives values, and what the others get.
class InsertTargets {
 public:
  /// All columns where `written` is empty. `written` outlives the object. 42703, 42701.
  InsertTargets(BindState&, const WriteTarget&, const std::vector<parser::ast::AssignmentTarget>& written, parser::ast::Overriding);

  std::size_t size() const { return targets_.size(); }
  const sql::ColumnDef& operator[](std::size_t index) const { return *targets_[index]; }
  /// Returns the part of the column that the value replaces, for `a[1]` or `c.x`; empty: all of it.
  const std::vector<parser::ast::IndirectionStep>& steps(std::size_t index) const;
  /// The column with that part replaced. `current`: what parts before it have made of the column; null: nothing yet.
  sql::ExpressionPtr with_part(std::size_t index, ExpressionBinder& binder, const sql::ExpressionPtr& current,
                               const sql::ExpressionPtr& value) const;
  /// 0A000 for DEFAULT as the value of a part.
  void check_part_is_given(std::size_t index, const parser::ast::Expression& written) const;
  /// 42601 for another number of values than columns; fewer will do where no columns are written. `offset_of` gives the place of the
  /// i-th value. What is not given a value is a target no more.
  template <class OffsetOf>
  void take(std::size_t given, const OffsetOf& offset_of) {
    check_count(given, given > targets_.size() ? offset_of(targets_.size()) : std::nullopt);
    targets_.resize(given);
    mark_inserted();
  }
  /// 428C9 for a generated column.
  void check_not_generated(const sql::ColumnDef&) const;
  /// Like the check above, and refuses a column GENERATED ALWAYS AS IDENTITY without OVERRIDING.
  void check_may_be_given(const sql::ColumnDef&) const;
  /// OVERRIDING USER VALUE: what is given for identity columns is thrown away.
  bool is_overridden(const sql::ColumnDef&) const;
  /// Bound once, though a thousand rows may say DEFAULT.
  sql::ExpressionPtr default_of(const sql::ColumnDef&);

  /// This column gets that value.
  void give(const sql::ColumnDef& column, sql::ExpressionPtr value) { values_[column.number] = std::move(value); }
  /// Returns the value given so far; null: none.
  sql::ExpressionPtr given(const sql::ColumnDef& column) const {
    const auto found = values_.find(column.number);
    return found == values_.end() ? nullptr : found->second;
  }
  /// Every live column of the table, in order. Those with a sequence that are not given have no value.
  std::vector<InsertColumn> columns();

 private:
  void check_count(std::size_t given, std::optional<std::uint32_t> surplus) const;
  void check_single(std::size_t given) const;
  void mark_inserted() const;

  BindState& state_;
  const sql::TableDef& table_;
  const std::vector<parser::ast::AssignmentTarget>& written_;
  parser::ast::Overriding overriding_;
  std::vector<const sql::ColumnDef*> targets_;
  const WriteTarget& target_;
  std::string refused_;  // where no columns are written: the view's first column that takes no value, and with which the targets end
  std::map<std::int16_t, sql::ExpressionPtr> values_, defaults_;
};

}  // namespace redquel::planner
