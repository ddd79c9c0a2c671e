#include "parser/sql_writer.h"

namespace redquel::parser {

void SqlWriter::assignment_target(const ast::AssignmentTarget& target) {
  name(target.column);
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
  *this << " RETURNING ";
  this->targets(targets);
}

void SqlWriter::on_conflict(const ast::OnConflict& conflict) {
  *this << " ON CONFLICT";
  if (conflict.target && !conflict.target->constraint.empty()) {
    *this << " ON CONSTRAINT ";
    name(conflict.target->constraint);
  } else if (conflict.target) {
    *this << " (";
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
      *this << " WHERE ";
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
  *this << " WHERE ";
  expression(*conflict.where);
}

void SqlWriter::insert(const ast::Insert& insert) {
  if (insert.with) with(*insert.with);
  *this << "INSERT INTO ";
  relation(insert.relation);
  if (!insert.alias.empty()) {
    *this << " AS ";
    name(insert.alias);
  }
  if (!insert.columns.empty()) {
    *this << " (";
    list(insert.columns, [this](const ast::AssignmentTarget& target) { assignment_target(target); });
    *this << ")";
  }
  if (insert.overriding == ast::Overriding::kUserValue) *this << " OVERRIDING USER VALUE";
  if (insert.overriding == ast::Overriding::kSystemValue) *this << " OVERRIDING SYSTEM VALUE";
  if (insert.source) {
    *this << " ";
    select(*insert.source);
  } else {
    *this << " DEFAULT VALUES";
  }
  if (insert.on_conflict) on_conflict(*insert.on_conflict);
  returning(insert.returning);
}

void SqlWriter::update(const ast::Update& update) {
  if (update.with) with(*update.with);
  *this << "UPDATE ";
  from_item({0, ast::TableRef{update.relation.name, update.relation.only, update.relation.alias}});
  *this << " SET ";
  assignments(update.assignments);
  if (!update.from.empty()) {
    *this << " FROM ";
    list(update.from, [this](const ast::FromItem& item) { from_item(item); });
  }
  if (update.where) {
    *this << " WHERE ";
    expression(*update.where);
  }
  returning(update.returning);
}

void SqlWriter::delete_rows(const ast::Delete& statement) {
  if (statement.with) with(*statement.with);
  *this << "DELETE FROM ";
  from_item({0, ast::TableRef{statement.relation.name, statement.relation.only, statement.relation.alias}});
  if (!statement.using_items.empty()) {
    *this << " USING ";
    list(statement.using_items, [this](const ast::FromItem& item) { from_item(item); });
  }
  if (statement.where) {
    *this << " WHERE ";
    expression(*statement.where);
  }
  returning(statement.returning);
}

}  // namespace redquel::parser
