#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/dependents.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/partition.h"
#include "executor/ddl/table_alteration.h"
#include "sql/catalog/counterparts.h"
#include "sql/catalog/spread_table.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

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
    KeyDraft key = read_key(constraint);
    if (place_.root_after != nullptr) key.name.clear();  // the index of each partition has a name of its own
    add_key(key);
  }
}

namespace {

/// The unique index that a constraint may take over, as PostgreSQL's transformIndexConstraint() judges it.
const sql::IndexDef& usable_index(const CatalogDraft& draft, const sql::TableDef& table, const KeyDraft& key) {
  const std::string& name = key.using_index;
  const sql::IndexDef* index = table.find_index(name);
  const sql::IndexDef* known = index != nullptr ? index : draft.catalog().find_index(table.schema, name, {}).second;
  const bool is_key = draft.catalog().find_primary_key(table.schema, name, {}) != nullptr || (known != nullptr && known->constraint);
  if (known == nullptr && !is_key) throw SqlError(sqlstate::kUndefinedObject, fmt::format("index \"{}\" does not exist", name)).at(key.offset);
  if (is_key) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("index \"{}\" is already associated with a constraint", name))
        .at(key.offset);
  }
  if (index == nullptr) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("index \"{}\" does not belong to table \"{}\"", name, table.name))
        .at(key.offset);
  }
  const auto refuse = [&](const std::string& message) {
    throw SqlError(sqlstate::kWrongObjectType, message)
        .detail("Cannot create a primary key or unique constraint using such an index.")
        .at(key.offset);
  };
  if (!index->unique) refuse(fmt::format("\"{}\" is not a unique index", name));
  if (std::ranges::any_of(index->parts, [](const sql::IndexDef::Part& part) { return !part.expression_sql.empty(); })) {
    refuse(fmt::format("index \"{}\" contains expressions", name));
  }
  if (!index->predicate_sql.empty()) refuse(fmt::format("\"{}\" is a partial index", name));
  for (std::size_t i = 0; i < index->parts.size(); ++i) {
    const sql::IndexDef::Part& part = index->parts[i];
    if (!part.descending && !part.nulls_first && part.operator_class.empty()) continue;
    refuse(fmt::format("index \"{}\" column number {} does not have default sorting behavior", name, i + 1));
  }
  return *index;
}

}  // namespace

void TableAlteration::take_index(const KeyDraft& key) {
  const sql::IndexDef taken = usable_index(draft_, table_, key);
  check_single_key(key);
  const std::string name = key.name.empty() ? taken.name : key.name;
  if (name != taken.name) {
    draft_.notice(sqlstate::kSuccessfulCompletion,
                  fmt::format("ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{}\" to \"{}\"", taken.name, name));
  }
  const auto refers = [&](const auto& entry) {
    return std::ranges::find(entry.second->foreign_keys, taken.oid, &sql::ForeignKeyDef::referenced_index) != entry.second->foreign_keys.end();
  };
  const bool is_referenced = std::ranges::any_of(draft_.catalog().tables, refers);
  const bool becomes_rows_key = makes_row_key(key);
  if (is_referenced && becomes_rows_key) throw sql::not_supported("PRIMARY KEY USING an INDEX that foreign keys refer to", key.offset);
  if (!becomes_rows_key) {
    if (name != taken.name && (draft_.catalog().relation_exists(table_.schema, name) || constraint_exists(table_, name))) {
      throw sql::duplicate_relation(name);
    }
    sql::IndexDef& index = *std::ranges::find(table_.indexes, taken.oid, &sql::IndexDef::oid);
    index.name = name;
    index.constraint = constraint_of(key);
    if (key.primary) {
      for (const sql::IndexDef::Part& part : taken.parts) require_not_null(table_.columns[table_.position(part.column)]);
    }
    return;
  }
  KeyDraft made = key;
  made.name = name;
  made.using_index.clear();
  for (const sql::IndexDef::Part& part : taken.parts) made.columns.push_back(table_.find_column(part.column)->name);
  for (const std::int16_t number : taken.included) made.included.push_back(table_.find_column(number)->name);
  std::erase_if(table_.indexes, [&](const sql::IndexDef& index) { return index.oid == taken.oid; });
  draft_.put(table_);  // its name is free
  add_key(made);
}

void TableAlteration::check_single_key(const KeyDraft& key) const {
  if (key.primary && table_.has_primary_key()) {
    throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("multiple primary keys for table \"{}\" are not allowed", table_.name));
  }
}

bool TableAlteration::makes_row_key(const KeyDraft& key) const {
  const bool is_alone = place_.only || (table_.partition && place_.root_after == nullptr);
  return key.primary && !key.deferrable && !is_alone;
}

void TableAlteration::add_key(const KeyDraft& key) {
  if (!key.using_index.empty()) return take_index(key);
  check_single_key(key);
  check_key_of_partitioned(table_, key_columns(table_, key, false), key.primary ? "PRIMARY KEY" : "UNIQUE");
  if (!makes_row_key(key)) {
    const sql::IndexState state = place_.only || has_rows_of_its_own() ? sql::IndexState::kBuilding : sql::IndexState::kReady;
    const sql::Oid oid = add_unique(draft_, table_, key, state, false);
    if (key.primary) {
      for (const sql::IndexDef::Part& part : table_.indexes.back().parts) require_not_null(table_.columns[table_.position(part.column)]);
    }
    if (!has_rows_of_its_own()) return;
    if (sql::lies_by_value(table_, table_.indexes.back())) {  // entries in other buckets than their rows come with these
      needs_rewrite_ = true;
      return;
    }
    new_indexes_.push_back(oid);
    draft_.begin_build(oid);
    return;
  }
  needs_rewrite_ = needs_rewrite_ || !is_empty_;
  add_primary_key(draft_, table_, key, false);
}

void TableAlteration::add_foreign(const ForeignKeyDraft& written) {
  const sql::IndexState state = has_rows_of_its_own() ? sql::IndexState::kBuilding : sql::IndexState::kReady;
  ForeignKeyDraft named = written;
  if (place_.root_after != nullptr) named.name.clear();
  const sql::ForeignKeyDef& key = add_foreign_key(draft_, table_, named, state);
  if (place_.root_after != nullptr) {
    const sql::ForeignKeyDef* above = sql::counterpart(table_, key, *place_.root_after);
    if (above == nullptr) return erase_foreign_key(table_, key.oid);  // it had one of its own, which belongs to the new one from now on
    if (!constraint_exists(table_, above->name)) table_.foreign_keys.back().name = above->name;
  }
  if (!has_rows_of_its_own()) return;
  new_indexes_.push_back(key.index);
  draft_.begin_build(key.index);
  if (!key.not_valid) new_foreign_keys_.push_back(key.oid);
}

void TableAlteration::add_new_check(const CheckDraft& check, bool validate) {
  without_positions([&] { add_check(draft_, table_, check, false); });
  if (place_.root_after != nullptr && check.name.empty()) {
    sql::CheckDef& made = table_.checks.back();
    const auto above = std::ranges::find_if(place_.root_after->checks, [&](const sql::CheckDef& other) {
      return other.expression_sql == made.expression_sql && std::ranges::find(table_.checks, other.name, &sql::CheckDef::name) == table_.checks.end();
    });
    if (above != place_.root_after->checks.end()) made.name = above->name;
  }
  if (validate && !is_empty_) new_checks_.push_back(table_.checks.back().name);
}

std::string TableAlteration::own_constraint_name(const std::string& written) const {
  if (place_.root_before == nullptr) return written;
  if (written == place_.root_before->primary_key_index.name) return table_.primary_key_index.name;
  const sql::IndexDef* above = place_.root_before->find_index(written);
  if (const sql::IndexDef* own = above != nullptr ? sql::counterpart(*place_.root_before, *above, table_) : nullptr) return own->name;
  const auto key = std::ranges::find(place_.root_before->foreign_keys, written, &sql::ForeignKeyDef::name);
  if (key == place_.root_before->foreign_keys.end()) return written;
  const sql::ForeignKeyDef* own = sql::counterpart(*place_.root_before, *key, table_);
  return own != nullptr ? own->name : written;
}

void TableAlteration::command(const ast::DropConstraint& written) {
  const std::string name = own_constraint_name(written.name);
  if (!constraint_exists(table_, name)) {
    if (place_.root_before != nullptr) return;  // one that partitions do not have
    const std::string message = fmt::format("constraint \"{}\" of relation \"{}\" does not exist", name, table_.name);
    if (!written.if_exists) throw SqlError(sqlstate::kUndefinedObject, message);
    draft_.notice(sqlstate::kSuccessfulCompletion, message + ", skipping");
    return;
  }
  const auto is_named = [&](const auto& part) { return part.name == name; };
  if (std::erase_if(table_.checks, is_named) > 0) return;
  if (const auto key = std::ranges::find(table_.foreign_keys, name, &sql::ForeignKeyDef::name); key != table_.foreign_keys.end()) {
    return erase_foreign_key(table_, key->oid);
  }
  const sql::IndexDef* index = table_.find_index(name);
  const sql::Oid key_oid = index != nullptr ? index->oid : table_.primary_key_index.oid;
  drop_dependents(draft_, {{DropObject::Kind::kKeyConstraint, key_oid}}, written.cascade);
  take_dropped_references();
  if (std::erase_if(table_.indexes, is_named) > 0) return draft_.put(table_);  // its name is free
  leave_primary_key();  // its columns stay NOT NULL, as in PostgreSQL
  draft_.put(table_);   // its name is free
}

/// Foreign keys, policies and triggers of the table itself that went in the draft.
void TableAlteration::take_dropped_references() {
  const TablePtr now = draft_.catalog().find_table(table_.oid);
  const std::vector<sql::ForeignKeyDef> keys = table_.foreign_keys;
  for (const sql::ForeignKeyDef& key : keys) {
    const bool was_there = std::ranges::find(before_->foreign_keys, key.oid, &sql::ForeignKeyDef::oid) != before_->foreign_keys.end();
    const bool is_there = std::ranges::find(now->foreign_keys, key.oid, &sql::ForeignKeyDef::oid) != now->foreign_keys.end();
    if (was_there && !is_there) erase_foreign_key(table_, key.oid);
  }
  table_.security.policies = now->security.policies;
  std::erase_if(table_.triggers, [&](const sql::TriggerDef& trigger) {
    return std::ranges::find(now->triggers, trigger.oid, &sql::TriggerDef::oid) == now->triggers.end();
  });
}

void TableAlteration::command(const ast::AlterConstraint& written) {
  const std::string name = own_constraint_name(written.constraint.name);
  const auto key = std::ranges::find(table_.foreign_keys, name, &sql::ForeignKeyDef::name);
  if (key == table_.foreign_keys.end()) {
    if (!constraint_exists(table_, name)) {
      throw SqlError(sqlstate::kUndefinedObject, fmt::format("constraint \"{}\" of relation \"{}\" does not exist", name, table_.name));
    }
    throw SqlError(sqlstate::kWrongObjectType,
                   fmt::format("constraint \"{}\" of relation \"{}\" is not a foreign key constraint", name, table_.name));
  }
  key->deferrable = written.constraint.deferrable;
  key->initially_deferred = written.constraint.initially_deferred;
}

void TableAlteration::command(const ast::ValidateConstraint& written) {
  const std::string name = own_constraint_name(written.name);
  if (!constraint_exists(table_, name)) {
    throw SqlError(sqlstate::kUndefinedObject, fmt::format("constraint \"{}\" of relation \"{}\" does not exist", name, table_.name));
  }
  if (const auto key = std::ranges::find(table_.foreign_keys, name, &sql::ForeignKeyDef::name); key != table_.foreign_keys.end()) {
    if (key->not_valid && !is_empty_) validated_foreign_keys_.push_back(key->oid);
    key->not_valid = false;
    return;
  }
  const auto check = std::ranges::find(table_.checks, name, &sql::CheckDef::name);
  if (check == table_.checks.end()) {
    throw SqlError(sqlstate::kWrongObjectType,
                   fmt::format("constraint \"{}\" of relation \"{}\" is not a foreign key or check constraint", name, table_.name));
  }
  if (check->not_valid && !is_empty_) new_checks_.push_back(name);
  check->not_valid = false;
}

}  // namespace redquel::executor
