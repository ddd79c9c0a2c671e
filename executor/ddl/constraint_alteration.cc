#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/table_alteration.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

void TableAlteration::command(const ast::AddConstraint& written) {
  const ast::Constraint& constraint = written.constraint;
  refuse_other_constraints(constraint);
  if (std::holds_alternative<ast::CheckConstraint>(constraint.node)) {
    add_new_check(read_check(constraint), !constraint.not_valid);
  } else {
    add_key(read_key(constraint));
  }
}

void TableAlteration::add_key(const KeyDraft& key) {
  if (!key.primary) {
    const sql::IndexState state = is_empty_ ? sql::IndexState::kReady : sql::IndexState::kBuilding;
    const sql::Oid oid = add_unique(draft_, table_, key, state, false);
    if (is_empty_) return;
    new_indexes_.push_back(oid);
    draft_.begin_build(oid);
    return;
  }
  if (!table_.primary_key.empty()) {
    throw SqlError("42P16", fmt::format("multiple primary keys for table \"{}\" are not allowed", table_.name));
  }
  needs_rewrite_ = needs_rewrite_ || !is_empty_;
  add_primary_key(draft_, table_, key, false);
}

void TableAlteration::add_new_check(const CheckDraft& check, bool validate) {
  add_check(draft_, table_, check, false);
  if (validate && !is_empty_) new_checks_.push_back(table_.checks.back().name);
}

void TableAlteration::command(const ast::DropConstraint& written) {
  if (!constraint_exists(table_, written.name)) {
    const std::string message = fmt::format("constraint \"{}\" of relation \"{}\" does not exist", written.name, table_.name);
    if (!written.if_exists) throw SqlError("42704", message);
    draft_.notice("00000", message + ", skipping");
    return;
  }
  const auto is_named = [&](const auto& part) { return part.name == written.name; };
  if (std::erase_if(table_.checks, is_named) > 0) return;
  if (std::erase_if(table_.indexes, is_named) > 0) return;
  needs_rewrite_ = needs_rewrite_ || !is_empty_;
  table_.primary_key.clear();  // its columns stay NOT NULL, as in PostgreSQL
  table_.primary_key_name.clear();
  table_.primary_key_oid = 0;
}

void TableAlteration::command(const ast::ValidateConstraint& written) {
  if (!constraint_exists(table_, written.name)) {
    throw SqlError("42704", fmt::format("constraint \"{}\" of relation \"{}\" does not exist", written.name, table_.name));
  }
  const bool is_check = std::any_of(table_.checks.begin(), table_.checks.end(),
                                    [&](const sql::CheckDef& check) { return check.name == written.name; });
  if (!is_check) {
    throw SqlError("42809", fmt::format("constraint \"{}\" of relation \"{}\" is not a foreign key or check constraint",
                                        written.name, table_.name));
  }
  if (!is_empty_) new_checks_.push_back(written.name);
}

}  // namespace redquel::executor
