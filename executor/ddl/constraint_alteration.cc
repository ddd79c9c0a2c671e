#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/dependents.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/table_alteration.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

void TableAlteration::command(const ast::AddConstraint& written) {
  const ast::Constraint& constraint = written.constraint;
  refuse_other_constraints(constraint);
  if (std::holds_alternative<ast::CheckConstraint>(constraint.node)) {
    add_new_check(read_check(constraint), !constraint.not_valid);
  } else if (std::holds_alternative<ast::ForeignKeyConstraint>(constraint.node)) {
    add_foreign(read_foreign_key(constraint));
  } else {
    add_key(read_key(constraint));
  }
}

void TableAlteration::add_key(const KeyDraft& key) {
  if (key.primary && table_.has_primary_key()) {
    throw SqlError("42P16", fmt::format("multiple primary keys for table \"{}\" are not allowed", table_.name));
  }
  if (!key.primary || key.deferrable) {
    const sql::IndexState state = is_empty_ ? sql::IndexState::kReady : sql::IndexState::kBuilding;
    const sql::Oid oid = add_unique(draft_, table_, key, state, false);
    if (key.primary) {
      for (const sql::IndexDef::Part& part : table_.indexes.back().parts) require_not_null(table_.columns[table_.position(part.column)]);
    }
    if (is_empty_) return;
    new_indexes_.push_back(oid);
    draft_.begin_build(oid);
    return;
  }
  needs_rewrite_ = needs_rewrite_ || !is_empty_;
  add_primary_key(draft_, table_, key, false);
}

void TableAlteration::add_foreign(const ForeignKeyDraft& written) {
  const sql::IndexState state = is_empty_ ? sql::IndexState::kReady : sql::IndexState::kBuilding;
  const sql::ForeignKeyDef& key = add_foreign_key(draft_, table_, written, state);
  if (is_empty_) return;
  new_indexes_.push_back(key.index);
  draft_.begin_build(key.index);
  if (!key.not_valid) new_foreign_keys_.push_back(key.oid);
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
  if (const auto key = std::ranges::find(table_.foreign_keys, written.name, &sql::ForeignKeyDef::name); key != table_.foreign_keys.end()) {
    return erase_foreign_key(table_, key->oid);
  }
  const sql::IndexDef* index = table_.find_index(written.name);
  const sql::Oid key_oid = index != nullptr ? index->oid : table_.primary_key_oid;
  drop_dependents(draft_, {{DropObject::Kind::kKeyConstraint, key_oid}}, written.cascade);
  take_dropped_references();
  if (std::erase_if(table_.indexes, is_named) > 0) return draft_.put(table_);  // its name is free
  needs_rewrite_ = needs_rewrite_ || !is_empty_;
  table_.primary_key.clear();  // its columns stay NOT NULL, as in PostgreSQL
  table_.primary_key_name.clear();
  table_.primary_key_oid = 0;
  draft_.put(table_);  // its name is free
}

/// Foreign keys of the table itself that went in the draft.
void TableAlteration::take_dropped_references() {
  const TablePtr now = draft_.catalog().find_table(table_.oid);
  const std::vector<sql::ForeignKeyDef> keys = table_.foreign_keys;
  for (const sql::ForeignKeyDef& key : keys) {
    const bool was_there = std::ranges::find(before_->foreign_keys, key.oid, &sql::ForeignKeyDef::oid) != before_->foreign_keys.end();
    const bool is_there = std::ranges::find(now->foreign_keys, key.oid, &sql::ForeignKeyDef::oid) != now->foreign_keys.end();
    if (was_there && !is_there) erase_foreign_key(table_, key.oid);
  }
}

void TableAlteration::command(const ast::AlterConstraint& written) {
  const std::string& name = written.constraint.name;
  const auto key = std::ranges::find(table_.foreign_keys, name, &sql::ForeignKeyDef::name);
  if (key == table_.foreign_keys.end()) {
    if (!constraint_exists(table_, name)) {
      throw SqlError("42704", fmt::format("constraint \"{}\" of relation \"{}\" does not exist", name, table_.name));
    }
    throw SqlError("42809", fmt::format("constraint \"{}\" of relation \"{}\" is not a foreign key constraint", name, table_.name));
  }
  key->deferrable = written.constraint.deferrable;
  key->initially_deferred = written.constraint.initially_deferred;
}

void TableAlteration::command(const ast::ValidateConstraint& written) {
  if (!constraint_exists(table_, written.name)) {
    throw SqlError("42704", fmt::format("constraint \"{}\" of relation \"{}\" does not exist", written.name, table_.name));
  }
  if (const auto key = std::ranges::find(table_.foreign_keys, written.name, &sql::ForeignKeyDef::name); key != table_.foreign_keys.end()) {
    if (key->not_valid && !is_empty_) validated_foreign_keys_.push_back(key->oid);
    key->not_valid = false;
    return;
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
