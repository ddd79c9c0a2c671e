#include "parser/sql_writer.h"

namespace redquel::parser {

void SqlWriter::assignment_target(const ast::AssignmentTarget& target) {
  const bool is_known = names_ != nullptr && names_->assigned.contains(&target);
  name(is_known ? names_->assigned.at(&target) : target.column);
  indirection(target.steps);
}

void SqlWriter::assignments(const std::vector<ast::Assignment>& assignments) {
  list(assignments, [this](const ast::Assignment& assignment) {
    if (assignment.row) *this << "(";
    list(assignment.targets, [this](const ast::AssignmentTarget& target) { assignment_target(target); });
    *this << (assignment.row ? ") = " : " = ");
    expression(*assignment.value);
  });
}

void SqlWriter::returning(const std::vector<ast::Target>& targets) {
  if (targets.empty()) return;
  clause("RETURNING", 1);
  this->targets(targets);
}

void SqlWriter::begin_write(std::string_view words) {
  if (lays_out()) *this << " ";
  indentation_ += 8;
  *this << words;
}

void SqlWriter::target(const ast::TableRef& table) {
  if (table.only) *this << "ONLY ";
  relation(table.name);
  if (!table.alias) return;
  *this << " AS ";
  name(table.alias->name);
}

void SqlWriter::end_write() { indentation_ -= 8; }

void SqlWriter::on_conflict(const ast::OnConflict& conflict) {
  *this << " ON CONFLICT";
  if (conflict.target && !conflict.target->constraint.empty()) {
    *this << " ON CONSTRAINT ";
    name(conflict.target->constraint);
  } else if (conflict.target) {
    *this << (lays_out() ? "(" : " (");
    list(conflict.target->elements, [this](const ast::IndexElement& element) {
      if (element.expression) {
        *this << "(";
        expression(*element.expression);
        *this << ")";
      } else {
        name(element.column);
      }
      if (!element.collation.empty()) {
        *this << " COLLATE ";
        qualified(element.collation);
      }
      if (!element.operator_class.empty()) {
        *this << " ";
        qualified(element.operator_class);
      }
    });
    *this << ")";
    if (conflict.target->where) {
      clause("WHERE", 1);
      expression(*conflict.target->where);
    }
  }
  if (!conflict.update) {
    *this << " DO NOTHING";
    return;
  }
  *this << " DO UPDATE SET ";
  assignments(conflict.assignments);
  if (!conflict.where) return;
  clause("WHERE", 1);
  expression(*conflict.where);
}

void SqlWriter::insert(const ast::Insert& insert) {
  if (insert.with) with(*insert.with);
  begin_write("INSERT INTO ");
  relation(insert.relation);
  if (!insert.alias.empty()) {
    *this << " AS ";
    name(insert.alias);
  }
  if (!insert.columns.empty()) {
    *this << " (";
    list(insert.columns, [this](const ast::AssignmentTarget& target) { assignment_target(target); });
    *this << ")";
  } else if (names_ != nullptr && names_->insert_columns.contains(&insert)) {
    *this << " (";
    names(names_->insert_columns.at(&insert));
    *this << ")";
  }
  if (insert.overriding == ast::Overriding::kUserValue) *this << " OVERRIDING USER VALUE";
  if (insert.overriding == ast::Overriding::kSystemValue) *this << " OVERRIDING SYSTEM VALUE";
  if (insert.source && lays_out() && insert.source->values.size() == 1) {
    line(-8, 8, 2);
    is_only_row_ = true;
    select_core(*insert.source, true);
    is_only_row_ = false;
  } else if (insert.source) {
    const bool has_own_blank = lays_out() && !insert.source->values.empty() && !insert.source->with;  // VALUES brings one
    if (!has_own_blank) *this << " ";
    names_nothing_ = true;
    select(*insert.source);
  } else {
    *this << " DEFAULT VALUES";
  }
  if (insert.on_conflict) on_conflict(*insert.on_conflict);
  returning(insert.returning);
  end_write();
}

void SqlWriter::update(const ast::Update& update) {
  if (update.with) with(*update.with);
  begin_write("UPDATE ");
  target(update.relation);
  *this << " SET ";
  assignments(update.assignments);
  if (!update.from.empty()) {
    from_items("FROM", update.from);
  }
  if (update.where) {
    clause("WHERE", 1);
    expression(*update.where);
  }
  returning(update.returning);
  end_write();
}

void SqlWriter::delete_rows(const ast::Delete& statement) {
  if (statement.with) with(*statement.with);
  begin_write("DELETE FROM ");
  target(statement.relation);
  if (!statement.using_items.empty()) {
    from_items("USING", statement.using_items);
  }
  if (statement.where) {
    clause("WHERE", 1);
    expression(*statement.where);
  }
  returning(statement.returning);
  end_write();
}

}  // namespace redquel::parser
