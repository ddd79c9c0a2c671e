#include <algorithm>
#include <iterator>
#include <optional>

#include "parser/deparse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/computed_columns.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/insert_targets.h"
#include "planner/bind/missing_arbiter.h"
#include "planner/bind/missing_name.h"
#include "planner/bind/modification.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/query_binder.h"
#include "planner/bind/relation_lookup.h"
#include "planner/bind/row_security.h"
#include "planner/bind/subquery_placement.h"
#include "planner/bind/with.h"
#include "planner/tree/logical_walk.h"
#include "sql/error.h"
#include "sql/expressions/implication.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::ColumnDef;
using sql::ExpressionPtr;
using sql::SqlError;

namespace {

/// One INSERT while it is bound: which columns are given, and where their values come from.
class InsertBinder {
 public:
  InsertBinder(BindState& state, const ast::Insert& insert, WithItem* with)
      : state_(state), insert_(insert), with_(state, nullptr, with, insert.with) {}

  LogicalPtr bind() {
    target_ = bind_write_target(state_, {.name = insert_.relation}, WriteOperation::kInsert);
    table_ = target_.table;
    level_.with = with_.innermost();
    // The target's columns cannot be used in the source; messages know of them.
    level_.range_table.push_back(target_relation(target_, std::nullopt, target_.row));
    targets_.emplace(state_, target_, insert_.columns, insert_.overriding);
    LogicalInsert result{.table = table_};
    if (insert_.source == nullptr) {
      result.source = one_row();
    } else if (is_plain_values(*insert_.source)) {
      bind_values_source(insert_.source->values);
    } else {
      bind_query_source(*insert_.source);
    }
    if (source_) result.source = source_;
    result.columns = targets_->columns();
    result.new_row = make_row_columns(state_, *table_);
    result.generated = bind_generated(state_, *table_, result.new_row);
    result.checks = bind_checks(state_, *table_, result.new_row);
    append_view_checks(target_, result.new_row, result.checks);
    if (insert_.on_conflict) bind_on_conflict(*insert_.on_conflict, result);
    return with_.place(bind_insert_returning(std::move(result)));
  }

 private:
  static bool is_plain_values(const ast::Select& source) {
    return !source.values.empty() && source.order_by.empty() && !source.limit_count && !source.limit_offset &&
           !source.with && source.locking.empty() && std::ranges::none_of(source.values, has_star);
  }

  /// `VALUES (t.*)`: only binding finds the number of values.
  static bool has_star(const ast::Expressions& row) {
    return std::ranges::any_of(row, [](const ast::ExpressionPtr& item) {
      const auto* column = std::get_if<ast::ColumnRef>(&item->node);
      const auto* steps = std::get_if<ast::Indirection>(&item->node);
      return (column && column->star) || (steps && std::holds_alternative<ast::StarStep>(steps->steps.back()));
    });
  }

  void bind_values_source(const std::vector<ast::Expressions>& rows) {
    const std::size_t width = rows[0].size();
    for (const ast::Expressions& row : rows) check_row_length(state_, row, row.size(), width);
    targets_->take(width, [&](std::size_t i) { return state_.position(rows[0][i]->start); });
    // A column is left to its sequence when every row says DEFAULT.
    std::vector<bool> from_sequence(width, false);
    for (std::size_t i = 0; i < width; ++i) {
      const auto is_default = [&](const ast::Expressions& row) {
        return std::holds_alternative<ast::DefaultValue>(row[i]->node);
      };
      const bool all = std::ranges::all_of(rows, is_default);
      from_sequence[i] = targets_->is_overridden((*targets_)[i]) || (has_sequence_default((*targets_)[i]) && all);
    }
    level_.clause = rows.size() == 1 ? Clause::kInsertValues : Clause::kValues;
    std::vector<std::vector<ExpressionPtr>> bound;
    for (const ast::Expressions& row : rows) {
      bound.emplace_back();
      for (std::size_t i = 0; i < width; ++i) {
        const ColumnDef& column = (*targets_)[i];
        ExpressionPtr value;
        if (!targets_->steps(i).empty()) {
          add_part(i, *row[i], from_sequence, bound.back());
          continue;
        }
        if (std::holds_alternative<ast::DefaultValue>(row[i]->node)) {
          if (!column.default_sql.empty()) targets_->check_not_generated(column);  // a default that the view gives it
          value = from_sequence[i] ? nullptr : targets_->default_of(column);
        } else {
          value = coerce_for_column(state_, ExpressionBinder(state_, level_).bind(*row[i]), column);
          if (!from_sequence[i]) targets_->check_may_be_given(column);
        }
        if (!from_sequence[i]) bound.back().push_back(std::move(value));
      }
    }
    std::vector<std::string> names;
    std::vector<sql::Type> types;
    std::vector<const ColumnDef*> given;
    for (std::size_t i = 0; i < width; ++i) {
      if (from_sequence[i]) continue;
      const ColumnDef& column = (*targets_)[i];
      if (std::ranges::find(given, &column) != given.end()) continue;  // another part of it
      names.push_back(column.name);
      types.push_back(column.type);
      given.push_back(&column);
    }
    source_ = place_rows(state_, level_, std::move(bound), names, types);
    for (std::size_t i = 0; i < given.size(); ++i) targets_->give(*given[i], reference(source_->columns[i]));
  }

  /// A part of a column in a row of VALUES: parts of one column become one value, where the first of them stands.
  void add_part(std::size_t index, const ast::Expression& written, const std::vector<bool>& from_sequence, std::vector<ExpressionPtr>& row) {
    targets_->check_part_is_given(index, written);
    std::vector<const ColumnDef*> columns;
    for (std::size_t i = 0; i < index; ++i) {
      if (!from_sequence[i] && std::ranges::find(columns, &(*targets_)[i]) == columns.end()) columns.push_back(&(*targets_)[i]);
    }
    const ColumnDef& column = (*targets_)[index];
    const auto place = static_cast<std::size_t>(std::ranges::find(columns, &column) - columns.begin());
    ExpressionBinder binder(state_, level_);
    const ExpressionPtr value = binder.bind(written);
    const ExpressionPtr whole = targets_->with_part(index, binder, place < row.size() ? row[place] : nullptr, value);
    if (place < row.size()) row[place] = whole;
    else row.push_back(whole);
  }

  void bind_query_source(const ast::Select& query) {
    BoundQuery bound = bind_query(state_, &level_, level_.with, query, true);
    const std::vector<LogicalColumn>& columns = bound.plan->columns;
    targets_->take(columns.size(), [&](std::size_t i) { return bound.offsets[i]; });
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const ExpressionPtr value = bound.unknowns[i] ? bound.unknowns[i] : reference(columns[i], bound.offsets[i]);
      const ColumnDef& column = (*targets_)[i];
      if (!targets_->steps(i).empty()) {
        ExpressionBinder binder(state_, level_);
        targets_->give(column, targets_->with_part(i, binder, targets_->given(column), value));
        continue;
      }
      ExpressionPtr converted = coerce_for_column(state_, value, column);
      if (targets_->is_overridden(column)) continue;
      targets_->check_may_be_given(column);
      targets_->give(column, std::move(converted));
    }
    source_ = bound.plan;
  }

  /// The table under the names by which the statement knows it and its columns.
  sql::TableDef as_called() const {
    sql::TableDef called = *table_;
    called.name = insert_.alias.empty() ? target_.name() : insert_.alias;
    if (!target_.view) return called;
    for (ColumnDef& column : called.columns) {
      const auto shown = std::ranges::find(target_.columns, column.number, &WriteTarget::Column::number);
      column.name = shown == target_.columns.end() ? std::string() : shown->name;
    }
    return called;
  }

  /// The columns that the target names; expressions among its elements go to `expressions`.
  std::vector<std::int16_t> conflict_columns(const ast::OnConflict& conflict, const std::vector<ColumnId>& ids,
                                             std::vector<ExpressionPtr>& expressions) const {
    std::vector<std::int16_t> columns;
    for (const ast::IndexElement& element : conflict.target->elements) {
      if (element.expression) {
        const ExpressionPtr bound = bind_arbiter_expression(*element.expression, as_called(), ids, state_.catalog, state_.settings, false);
        if (const auto* plain = std::get_if<sql::ColumnRef>(&bound->node)) {
          columns.push_back(table_->columns[plain->column].number);
        } else {
          expressions.push_back(bound);
        }
        continue;
      }
      const auto column = std::ranges::find(target_.columns, element.column, &WriteTarget::Column::name);
      if (column == target_.columns.end()) throw_missing_element(conflict, element.column);
      columns.push_back(column->number);
    }
    return columns;
  }

  [[noreturn]] void throw_missing_element(const ast::OnConflict& conflict, const std::string& name) const {
    std::optional<ast::Alias> alias;
    if (!insert_.alias.empty()) alias = ast::Alias{insert_.alias, {}};
    const LogicalPtr row = scan_table(state_, table_, table_->name, /*hidden_key=*/true);
    QueryLevel level;
    level.range_table.push_back(target_relation(target_, alias, row->columns));
    if (conflict.update) level.range_table.push_back(target_relation(target_, ast::Alias{"excluded", {}}, row->columns));
    throw_missing_column(level, {}, name, state_.position(conflict.target->offset));
  }

  void bind_on_conflict(const ast::OnConflict& conflict, LogicalInsert& result) {
    if (conflict.target) {
      result.conflict_columns = find_arbiter(conflict);
      mark_arbiter(conflict, *result.conflict_columns);
      const sql::IndexDef* named = conflict.target->constraint.empty() ? nullptr : table_->find_index(conflict.target->constraint);
      if (conflict.update && named != nullptr && named->is_exclusion()) {
        throw SqlError(sqlstate::kWrongObjectType, "ON CONFLICT DO UPDATE not supported with exclusion constraints");
      }
    } else if (conflict.update) {
      throw SqlError(sqlstate::kSyntaxError, "ON CONFLICT DO UPDATE requires inference specification or constraint name")
          .hint("For example, ON CONFLICT (column_name).")
          .at(state_.position(conflict.offset));
    }
    result.on_conflict = conflict.update ? LogicalInsert::OnConflict::kUpdate : LogicalInsert::OnConflict::kNothing;
    if (!conflict.update) return;
    if (target_.requirement != nullptr) target_.requirement->rights |= sql::right::kUpdate;
    bind_conflict_update(conflict, result);
  }

  /// A conflict shows which values are there: the columns of the key are read.
  void mark_arbiter(const ast::OnConflict& conflict, const std::vector<std::int16_t>& key) const {
    if (target_.requirement == nullptr) return;
    target_.requirement->rights |= sql::right::kSelect;
    const auto mark = [&](std::int16_t number) {
      const auto shown = std::ranges::find(target_.columns, number, &WriteTarget::Column::number);
      if (shown != target_.columns.end()) target_.requirement->selected.insert(target_.attribute_of(shown->name));
    };
    for (const std::int16_t number : key) {
      if (number > 0) mark(number);
    }
    for (const ast::IndexElement& element : conflict.target->elements) {
      if (element.expression) mark_columns_of(*element.expression, false, mark);
    }
    if (conflict.target->where) mark_columns_of(*conflict.target->where, true, mark);
  }

  template <class Mark>
  void mark_columns_of(const ast::Expression& expression, bool is_condition, const Mark& mark) const {
    const ExpressionPtr bound = bind_arbiter_expression(expression, as_called(), positions_as_ids(*table_), state_.catalog, state_.settings, is_condition);
    std::vector<ColumnId> read;
    sql::collect_columns(*bound, read);
    for (const ColumnId column : read) mark(table_->columns[column].number);
  }

  /// The columns of the unique key that ON CONFLICT means.
  std::vector<std::int16_t> find_arbiter(const ast::OnConflict& conflict) const {
    const ast::ConflictTarget& target = *conflict.target;
    if (!target.constraint.empty()) return constraint_columns(target.constraint);
    const std::vector<ColumnId> ids = positions_as_ids(*table_);
    std::vector<ExpressionPtr> expressions, held;
    const std::vector<std::int16_t> columns = conflict_columns(conflict, ids, expressions);
    if (target.where) held = sql::split_conjunction(bind_arbiter_expression(*target.where, as_called(), ids, state_.catalog, state_.settings, true));
    const auto is_in = [](const std::vector<std::int16_t>& in) {
      return [&in](std::int16_t number) { return std::ranges::find(in, number) != in.end(); };
    };
    const auto is_one_of = [](const std::vector<ExpressionPtr>& in) {
      return [&in](const ExpressionPtr& expression) {
        return std::ranges::any_of(in, [&](const ExpressionPtr& other) { return sql::equal(*other, *expression); });
      };
    };
    const auto same_set = [&](const std::vector<std::int16_t>& key, const std::vector<ExpressionPtr>& parts) {
      return std::ranges::all_of(columns, is_in(key)) && std::ranges::all_of(key, is_in(columns)) &&
             std::ranges::all_of(expressions, is_one_of(parts)) && std::ranges::all_of(parts, is_one_of(expressions));
    };
    if (!table_->primary_key.empty() && same_set(table_->primary_key, {})) return table_->primary_key;
    for (const bool partial : {false, true}) {
      for (const sql::IndexDef& index : table_->indexes) {
        if (!index.unique || index.is_exclusion() || index.predicate_sql.empty() == partial) continue;
        std::vector<std::int16_t> key;
        std::vector<ExpressionPtr> parts;
        for (const sql::IndexDef::Part& part : index.parts) {
          if (part.expression_sql.empty()) {
            key.push_back(part.shown_column != 0 ? part.shown_column : part.column);
          } else {
            parts.push_back(bind_indexed(part.expression_sql, *table_, ids));
          }
        }
        if (!same_set(key, parts)) continue;
        if (!partial || sql::implies_all(held, bind_indexed(index.predicate_sql, *table_, ids))) return columns_of(index);
      }
    }
    throw MissingArbiter();
  }

  /// The proposed rows become the left side of a join with the rows that are there; SET and WHERE see both.
  void bind_conflict_update(const ast::OnConflict& conflict, LogicalInsert& result) {
    std::vector<OutputValue> proposed;
    for (const InsertColumn& column : result.columns) {
      const ColumnDef& target = *table_->find_column(column.number);
      proposed.push_back({column.value ? column.value : targets_->default_of(target), target.name});
    }
    const LogicalPtr rows = make_project(state_, result.source, proposed);
    std::optional<ast::Alias> alias;
    if (!insert_.alias.empty()) alias = ast::Alias{insert_.alias, {}};
    const LogicalPtr existing = scan_table(state_, table_, alias ? alias->name : table_->name, /*hidden_key=*/true);

    QueryLevel level{.with = level_.with};
    const RelationPtr target = target_relation(target_, alias, existing->columns);
    excluded_ = target_relation(target_, ast::Alias{"excluded", {}}, rows->columns);
    std::vector<ExpressionPtr> same_key;
    for (std::size_t i = 0; i < table_->columns.size(); ++i) {
      const ColumnDef& column = table_->columns[i];
      const ExpressionPtr there = reference(existing->columns[i]), given = reference(rows->columns[i]);
      result.columns[i] = {column.number, given};
      if (std::ranges::find(*result.conflict_columns, column.number) == result.conflict_columns->end()) continue;
      same_key.push_back(is_same(there, given, *result.conflict_columns));
    }
    add_same_expressions(*result.conflict_columns, existing, rows, same_key);
    for (const RelationPtr& relation : {target, excluded_}) {
      level.names.push_back({.relation = relation});
      level.range_table.push_back(relation);
    }
    result.source = make_join(JoinKind::kLeft, rows, existing, sql::conjunction(std::move(same_key)));

    ConflictUpdate<LogicalColumn> update{.old_row = existing->columns};
    WriteTarget stored = target_;
    stored.row = existing->columns;  // SET a[1] = … changes the row that is there
    update.assignments = bind_assignments(state_, level, stored, conflict.assignments);
    std::vector<ExpressionPtr> values;
    for (const Assignment& assignment : update.assignments) values.push_back(assignment.value);
    if (conflict.where) {
      Scoped clause(level.clause, Clause::kWhere);
      update.condition = ExpressionBinder(state_, level).bind_boolean(*conflict.where, "WHERE");
      values.push_back(update.condition);
    }
    result.source = place_subqueries(state_, level, result.source, values);
    result.conflict_update = std::move(update);
  }

  /// Adds the equality of the existing row (`existing`) and the proposed one under a unique index on expressions, or a partial one.
  void add_same_expressions(const std::vector<std::int16_t>& key, const LogicalPtr& existing, const LogicalPtr& rows,
                            std::vector<ExpressionPtr>& same_key) {
    const auto arbiter = std::ranges::find_if(table_->indexes, [&](const sql::IndexDef& index) { return index.unique && columns_of(index) == key; });
    if (arbiter == table_->indexes.end()) return;
    std::vector<ColumnId> there, proposed;
    for (std::size_t i = 0; i < table_->columns.size(); ++i) {
      there.push_back(existing->columns[i].id);
      proposed.push_back(rows->columns[i].id);
    }
    if (!arbiter->predicate_sql.empty()) {
      same_key.push_back(bind_indexed(arbiter->predicate_sql, *table_, there));
      same_key.push_back(bind_indexed(arbiter->predicate_sql, *table_, proposed));
    }
    for (const sql::IndexDef::Part& part : arbiter->parts) {
      if (part.column > 0) continue;
      std::string text = part.expression_sql;
      if (text.empty()) text = parser::quote_identifier(table_->find_column(part.shown_column)->name);
      same_key.push_back(is_same(bind_indexed(text, *table_, there), bind_indexed(text, *table_, proposed), key));
    }
  }

  /// Equal as the unique key's index sees it.
  ExpressionPtr is_same(const ExpressionPtr& left, const ExpressionPtr& right, const std::vector<std::int16_t>& key) {
    ExpressionPtr equal = make_operator(state_, "=", left, right, std::nullopt);
    const bool nulls_are_equal = std::ranges::any_of(table_->indexes, [&](const sql::IndexDef& index) {
      return index.unique && index.nulls_not_distinct && columns_of(index) == key;
    });
    if (!nulls_are_equal) return equal;
    const auto is_null = [](const ExpressionPtr& value) { return sql::make_expression(sql::kBool, sql::NullTest{value, false}); };
    const ExpressionPtr both = make_boolean(sql::Logical::Kind::kAnd, {is_null(left), is_null(right)});
    return make_boolean(sql::Logical::Kind::kOr, {std::move(equal), both});
  }

  static std::vector<std::int16_t> columns_of(const sql::IndexDef& index) {
    std::vector<std::int16_t> columns;
    for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
    return columns;
  }

  std::vector<std::int16_t> constraint_columns(const std::string& name) const {
    if (target_.view) throw sql::undefined_table_constraint(name, target_.view->name);
    if (!table_->primary_key.empty() && table_->primary_key_index.name == name) return table_->primary_key;
    const sql::IndexDef* index = table_->find_index(name);
    if (index != nullptr && index->constraint && index->unique) return columns_of(*index);
    throw sql::undefined_table_constraint(name, table_->name);
  }

  LogicalPtr bind_insert_returning(LogicalInsert result) {
    const std::vector<LogicalColumn> new_row = result.new_row;
    QueryLevel level{.with = level_.with};
    std::optional<ast::Alias> alias;
    if (!insert_.alias.empty()) alias = ast::Alias{insert_.alias, {}};
    const RelationPtr relation = target_relation(target_, alias, new_row);
    level.names.push_back({.relation = relation});
    level.range_table.push_back(relation);
    if (excluded_) level.range_table.push_back(excluded_);
    Returning returning = bind_returning(state_, level, insert_.returning, new_row);
    if (is_restricted(state_, target_)) {
      const bool has_arbiter = insert_.on_conflict && insert_.on_conflict->target;
      restrict_insert(result, has_arbiter || reads_columns(returning.values, level, new_row));
    }
    if (result.conflict_update) {
      ConflictUpdate<LogicalColumn>& update = *result.conflict_update;
      append_visibility_checks(state_, target_, update.old_row, result.source, update.policy_checks);
    }
    return with_returning(state_, level, std::move(result), std::move(returning), new_row);
  }

  /// Policies of the target: what may be written. `reads`: the statement shows rows of it.
  void restrict_insert(LogicalInsert& result, bool reads) {
    using Row = PolicyCheck::Row;
    PolicyCheckBinder proposed(state_, target_, result.new_row);
    proposed.add(PolicyCommand::kInsert, Row::kNew, false);
    if (reads) proposed.add(PolicyCommand::kSelect, Row::kNew, true);
    if (proposed.needs_values() && !result.conflict_update) {
      std::vector<OutputValue> values;
      for (const InsertColumn& column : result.columns) {
        const ColumnDef& target = *table_->find_column(column.number);
        values.push_back({column.value ? column.value : targets_->default_of(target), target.name});
      }
      result.source = make_project(state_, result.source, values);
      for (std::size_t i = 0; i < result.columns.size(); ++i) result.columns[i] = {result.columns[i].number, reference(result.source->columns[i])};
    }
    std::vector<Assignment> values;
    for (const InsertColumn& column : result.columns) {
      if (column.value) values.push_back({column.number, column.value});
    }
    result.policy_checks = proposed.place(result.source, computed_row(*table_, result.new_row, {}, values, result.generated));
    if (!result.conflict_update) return;
    ConflictUpdate<LogicalColumn>& update = *result.conflict_update;
    PolicyCheckBinder existing(state_, target_, update.old_row), changed(state_, target_, result.new_row);
    existing.add(PolicyCommand::kUpdate, Row::kConflict, true);
    existing.add(PolicyCommand::kSelect, Row::kConflict, true);
    changed.add(PolicyCommand::kUpdate, Row::kNew, false);
    changed.add(PolicyCommand::kSelect, Row::kNew, true);
    update.policy_checks = existing.place(result.source, {});
    std::vector<PolicyCheck> of_changed =
        changed.place(result.source, computed_row(*table_, result.new_row, update.old_row, update.assignments, result.generated));
    std::ranges::move(of_changed, std::back_inserter(update.policy_checks));
  }

  BindState& state_;
  const ast::Insert& insert_;
  const WithScope with_;
  QueryLevel level_;
  WriteTarget target_;
  std::shared_ptr<const sql::TableDef> table_;  // the target's
  std::optional<InsertTargets> targets_;
  LogicalPtr source_;  // null: DEFAULT VALUES
  RelationPtr excluded_;  // of ON CONFLICT DO UPDATE: RETURNING knows it, but cannot see it
};

}  // namespace

LogicalPtr bind_insert(BindState& state, const ast::Insert& insert, WithItem* with) {
  return InsertBinder(state, insert, with).bind();
}

}  // namespace redquel::planner
