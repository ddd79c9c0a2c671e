#include "executor/ddl/definition_rights.h"
#include "executor/ddl/new_owner.h"
#include "executor/ddl/policy.h"
#include "executor/ddl/table_alteration.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/dependencies.h"
#include "executor/ddl/dependents.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/index_expressions.h"
#include "executor/ddl/maintained_parts.h"
#include "executor/ddl/row_conversion.h"
#include "executor/ddl/sequence_options.h"
#include "executor/ddl/spread_options.h"
#include "executor/ddl/storage_parameters.h"
#include "executor/ddl/trigger.h"
#include "executor/ddl/ttl_options.h"
#include "executor/ddl/type_lookup.h"
#include "executor/runtime/session_context.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/stored_text.h"
#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/bind_type.h"
#include "planner/bind/domain.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/resolve.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/datetime.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

using Identity = sql::ColumnDef::Identity;

/// Returns true if all stored texts of one type have the same meaning and order under the other.
bool is_widening(sql::Type from, sql::Type to) {
  const auto rank = [](sql::Type type) {
    return type.oid == sql::oid::kInt2 ? 1 : type.oid == sql::oid::kInt4 ? 2 : type.oid == sql::oid::kInt8 ? 3 : 0;
  };
  if (from == to) return true;
  if (rank(from) > 0 && rank(to) > 0) return rank(from) <= rank(to);
  const auto is_text = [](sql::Type type) { return type.oid == sql::oid::kText || type.oid == sql::oid::kVarchar; };
  if (is_text(from) && is_text(to)) {
    return to.modifier < 0 || (from.oid == sql::oid::kVarchar && from.modifier >= 0 && from.modifier <= to.modifier);
  }
  return from.oid == to.oid && from.oid == sql::oid::kNumeric && to.modifier < 0;
}

}  // namespace

TableAlteration::TableAlteration(CatalogDraft& draft, TablePtr table, bool is_empty, const TreePlace& place)
    : draft_(draft), before_(std::move(table)), table_(*before_), is_empty_(is_empty), place_(place) {}

void TableAlteration::apply(const std::vector<ast::Alteration>& commands) {
  for (const bool drops : {true, false}) {
    for (const ast::Alteration& written : commands) {
      const bool is_drop = std::holds_alternative<ast::DropColumn>(written) || std::holds_alternative<ast::DropConstraint>(written);
      if (is_drop == drops) apply(written);
    }
  }
}

void TableAlteration::apply(const ast::Alteration& written) {
  std::visit([&](const auto& node) { command(node); }, written);
}

void TableAlteration::finish() {
  if (is_empty_ && !place_.only) choose_presence(table_);
  draft_.remove_unused_structures(*before_, table_);
  draft_.reserve_parts(table_);
  draft_.put(table_);
}

sql::ColumnDef& TableAlteration::column(const std::string& name) {
  if (is_system_column(name)) throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot alter system column \"{}\"", name));
  const sql::ColumnDef* found = table_.find_column(name);
  if (found == nullptr) {
    throw sql::undefined_column(name, table_.name);
  }
  return table_.columns[table_.position(found->number)];
}

namespace {

/// 0A000 where values of the table's row type lie in columns: their fields stay what they are, and new ones are NULL.
void check_row_type_is_free(const CatalogDraft& draft, const sql::TableDef& table) {
  if (table.row_array == 0) return;
  for (const auto& [oid, other] : draft.catalog().tables) {
    for (const sql::ColumnDef& column : other->columns) {
      if (!uses_type(draft.catalog(), column, table.row_type)) continue;
      throw SqlError(sqlstate::kFeatureNotSupported,
                     fmt::format("cannot alter table \"{}\" because column \"{}.{}\" uses its row type", table.name, other->name, column.name));
    }
  }
}

}  // namespace

void TableAlteration::command(const ast::AddColumn& written) {
  const std::string& name = written.column.name;
  if (table_.find_column(name) != nullptr && written.if_not_exists) {
    draft_.notice(sqlstate::kDuplicateColumn, fmt::format("column \"{}\" of relation \"{}\" already exists, skipping", name, table_.name));
    return;
  }
  check_new_column_name(table_, name);
  const ColumnDraft read = read_column(draft_, written.column, table_.name);
  const bool has_no_default = read.default_value == nullptr || std::holds_alternative<ast::NullLiteral>(read.default_value->node);
  const bool is_null = has_no_default && read.generated == nullptr && !read.sequence && read.column.domain == 0;
  if (!is_null) check_row_type_is_free(draft_, table_);
  const bool is_key = std::any_of(read.keys.begin(), read.keys.end(), [](const KeyDraft& key) { return key.primary; });
  std::int16_t number = 0;
  without_positions([&] { number = add_column(draft_, table_, read, is_key).number; });
  if (read.generated != nullptr) {
    needs_rewrite_ = needs_rewrite_ || !is_empty_;
    without_positions([&] { check_generated(draft_, table_, number, *read.generated); });
  }
  if (!is_empty_) set_missing(table_.columns[table_.position(number)], read);
  for (const KeyDraft& key : read.keys) add_key(key);
  for (const CheckDraft& check : read.checks) add_new_check(check, true);
  for (const ForeignKeyDraft& key : read.foreign_keys) add_foreign(key);
}

void TableAlteration::set_missing(sql::ColumnDef& added, const ColumnDraft& written) {
  if (written.sequence || written.generated != nullptr) {
    needs_rewrite_ = true;
    return;
  }
  const planner::BindSettings settings = bind_settings(draft_.session());
  sql::ExpressionPtr value;
  if (written.default_value != nullptr) {
    value = planner::bind_default(*written.default_value, table_, added, draft_.catalog(), settings);
  } else if (const std::string text = planner::domain_default(draft_.catalog(), added.domain); !text.empty()) {
    value = planner::bind_default(*parser::parse_expression(text), table_, added, draft_.catalog(), settings, true);
  } else if (added.domain != 0) {
    value = planner::into_domain(draft_.catalog(), settings, sql::make_constant(added.type, {}), added.domain);
  }
  if (value) {
    if (sql::is_volatile(*value)) {
      needs_rewrite_ = true;
      return;
    }
    const sql::Datum datum = sql::evaluate_scalar(*value, definition_context(draft_.session(), draft_.catalog()));
    if (!sql::is_null(datum)) append_stored_text(added.type, datum, added.missing.emplace());
  }
  if (added.not_null && !added.missing) throw column_contains_nulls(table_, added);
}

/// A row is recognised by another field from now on.
void TableAlteration::leave_presence(std::int16_t number) {
  sql::ManagedRows& rows = table_.managed();
  if (is_empty_ || !rows.presence || *rows.presence != number) return;
  needs_stored_keys_ = true;
  rows.presence = 0;
  rows.stores_key = true;
}

void TableAlteration::leave_primary_key() {
  needs_rewrite_ = needs_rewrite_ || !is_empty_;
  if (table_.spread && !table_.spread->names_column) table_.spread->column = 0;  // the hidden key, or a new primary key
  table_.primary_key.clear();
  table_.primary_key_index = {};
}

void TableAlteration::drop_indexes_over(std::int16_t number) {
  std::erase_if(table_.indexes, [&](const sql::IndexDef& index) {
    const std::vector<std::int16_t> used = index_columns(table_, index);
    return std::ranges::find(used, number) != used.end();
  });
}

/// 2BP01 for the column that says when rows expire.
void TableAlteration::check_no_expiry(const sql::ColumnDef& changed) const {
  if (table_.managed().expiry.column != changed.number) return;
  throw SqlError(sqlstate::kDependentObjectsStillExist,
                 fmt::format("cannot change column \"{}\" of table \"{}\" because its rows expire by it", changed.name, table_.name))
      .hint("Use ALTER TABLE ... RESET (ttl_column) first.");
}

void TableAlteration::command(const ast::DropColumn& written) {
  if (is_system_column(written.column)) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot drop system column \"{}\"", written.column));
  }
  if (table_.find_column(written.column) == nullptr && written.if_exists) {
    draft_.notice(sqlstate::kSuccessfulCompletion,
                  fmt::format("column \"{}\" of relation \"{}\" does not exist, skipping", written.column, table_.name));
    return;
  }
  const sql::ColumnDef dropped = column(written.column);
  check_no_expiry(dropped);
  const std::vector<std::int16_t> generated = drop_dependents(draft_, {{DropObject::Kind::kColumn, table_.oid, dropped.number}}, written.cascade);
  take_dropped_references();
  for (const std::int16_t number : generated) take_column(*table_.find_column(number));
  take_column(dropped);
}

/// Drops the parts of the table that depend on the column.
void TableAlteration::take_column(sql::ColumnDef dropped) {
  const bool is_included = std::ranges::find(table_.primary_key_index.included, dropped.number) != table_.primary_key_index.included.end();
  if (is_included || table_.in_primary_key(dropped.number)) leave_primary_key();
  const std::vector<sql::ForeignKeyDef> keys = table_.foreign_keys;
  for (const sql::ForeignKeyDef& key : keys) {
    if (std::ranges::find(key.columns, dropped.number) != key.columns.end()) erase_foreign_key(table_, key.oid);
  }
  leave_presence(dropped.number);
  drop_indexes_over(dropped.number);
  std::erase_if(table_.checks, [&](const sql::CheckDef& check) {
    const std::vector<std::int16_t> used = columns_of_check(draft_, table_, check);
    return std::find(used.begin(), used.end(), dropped.number) != used.end();
  });
  std::vector<sql::Oid> owned;
  for (const auto& [oid, sequence] : draft_.catalog().sequences) {
    if (sequence.owner_table == table_.oid && sequence.owner_column == dropped.number) owned.push_back(oid);
  }
  for (sql::Oid oid : owned) draft_.drop_sequence(oid);
  table_.used_fields.push_back(dropped.field);
  std::erase_if(table_.columns, [&](const sql::ColumnDef& other) { return other.number == dropped.number; });
  draft_.put(table_);  // the next command looks there for what depends on its column
}

void TableAlteration::command(const ast::AlterColumnDefault& written) {
  sql::ColumnDef& changed = column(written.column);
  if (changed.identity != Identity::kNone) {
    SqlError error(sqlstate::kSyntaxError, fmt::format("column \"{}\" of relation \"{}\" is an identity column", changed.name, table_.name));
    if (written.value) throw error;
    throw std::move(error).hint("Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY instead.");
  }
  if (!changed.generated_sql.empty()) {
    SqlError error(sqlstate::kSyntaxError, fmt::format("column \"{}\" of relation \"{}\" is a generated column", changed.name, table_.name));
    if (written.value) throw error;
    throw std::move(error).hint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.");
  }
  changed.sequence = 0;  // a serial's sequence stays, owned by the column
  changed.default_sql.clear();
  if (written.value) without_positions([&] { set_default(draft_, table_, changed, *written.value); });
}

void TableAlteration::require_not_null(sql::ColumnDef& changed) {
  if (changed.not_null) return;
  changed.not_null = true;
  const bool is_new = before_->find_column(changed.number) == nullptr;
  if (!is_empty_ && !is_new) new_not_null_.push_back(changed.number);
  if (!is_empty_ && is_new && !changed.missing) throw column_contains_nulls(table_, changed);
}

void TableAlteration::command(const ast::AlterColumnNotNull& written) {
  sql::ColumnDef& changed = column(written.column);
  if (written.not_null) return require_not_null(changed);
  if (changed.identity != Identity::kNone) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("column \"{}\" of relation \"{}\" is an identity column", changed.name, table_.name));
  }
  const sql::IndexDef* key = table_.primary_key_as_index();
  if (table_.in_primary_key(changed.number) ||
      (key != nullptr && std::ranges::find(key->parts, changed.number, &sql::IndexDef::Part::column) != key->parts.end())) {
    throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("column \"{}\" is in a primary key", changed.name));
  }
  if (changed.not_null) check_not_maintained(table_, "DROP NOT NULL");  // a group that may be NULL has another index
  changed.not_null = false;
  leave_presence(changed.number);
}

/// Values on both sides of a foreign key must stay of types that its index keys can be made of.
void TableAlteration::check_type_is_free(std::int16_t number) const {
  const auto uses = [&](const std::vector<std::int16_t>& columns) { return std::ranges::find(columns, number) != columns.end(); };
  for (const auto& [oid, other] : draft_.catalog().tables) {
    for (const sql::ForeignKeyDef& key : other->oid == table_.oid ? table_.foreign_keys : other->foreign_keys) {
      const bool is_used = (oid == table_.oid && uses(key.columns)) || (key.referenced == table_.oid && uses(key.referenced_columns));
      if (is_used) throw sql::not_supported("ALTER COLUMN TYPE of a column in a foreign key");
    }
  }
}

/// The sequence of an identity column has the column's type. 22023.
void TableAlteration::change_identity_type(const sql::ColumnDef& changed, sql::Type type) {
  if (type.oid != sql::oid::kInt2 && type.oid != sql::oid::kInt4 && type.oid != sql::oid::kInt8) {
    throw SqlError(sqlstate::kInvalidParameterValue, "identity column type must be smallint, integer, or bigint");
  }
  sql::SequenceDef sequence = draft_.catalog().sequences.at(changed.sequence);
  change_sequence_type(sequence, type);
  draft_.put(std::move(sequence));
}

namespace {

/// For a column that has its new type.
SqlError default_cannot_be_cast(const sql::ColumnDef& column) {
  return SqlError(sqlstate::kDatatypeMismatch,
                  fmt::format("default for column \"{}\" cannot be cast automatically to type {}", column.name, sql::format_type(column.type)));
}

}  // namespace

/// Returns the indexes on expressions, and the partial ones, that use the column.
std::vector<sql::Oid> TableAlteration::computed_indexes_over(std::int16_t number) const {
  std::vector<sql::Oid> indexes;
  for (const sql::IndexDef& index : table_.indexes) {
    const bool is_computed =
        std::ranges::any_of(index.parts, [](const sql::IndexDef::Part& part) { return part.column < 0; });
    const std::vector<std::int16_t> used = is_computed ? index_columns(table_, index) : std::vector<std::int16_t>();
    if (std::ranges::find(used, number) != used.end()) indexes.push_back(index.oid);
  }
  return indexes;
}

void TableAlteration::command(const ast::AlterColumnType& written) {
  sql::ColumnDef& changed = column(written.column);
  check_type_schema(draft_, written.type);
  const auto [type, domain] = planner::bind_declared_type(written.type, draft_.catalog(), draft_.session().search_path);
  require_type_usage(draft_, {type, domain});
  check_not_within_itself(draft_, table_, type);
  check_collation(written.collation, type, written.offset);
  if (!changed.generated_sql.empty() && written.using_value) {
    throw SqlError(sqlstate::kInvalidColumnDefinition, "cannot specify USING when altering type of generated column")
        .detail(fmt::format("Column \"{}\" is a generated column.", changed.name));
  }
  for (const sql::ColumnDef& other : table_.columns) {
    if (other.generated_sql.empty() || other.number == changed.number) continue;
    const std::vector<std::int16_t> used = columns_of_generation(draft_, table_, other);
    if (std::ranges::find(used, changed.number) == used.end()) continue;
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot alter type of a column used by a generated column")
        .detail(fmt::format("Column \"{}\" is used by generated column \"{}\".", changed.name, other.name));
  }
  // Values enter a domain by being written.
  if (type.oid != changed.type.oid) check_no_expiry(changed);
  const std::vector<sql::Oid> computed_indexes = computed_indexes_over(changed.number);
  if (written.using_value || domain != 0 || !is_widening(changed.type, type)) {
    check_type_is_free(changed.number);
    needs_rewrite_ = needs_rewrite_ || !is_empty_;
    rewrites_.push_back({changed.number, written.using_value.get()});
  }
  if (before_->find_column(changed.number) != nullptr) {
    check_no_view_uses(draft_, table_.oid, changed.number);
    check_no_policy_uses(draft_, table_.oid, changed.number);
    check_no_trigger_uses(draft_, table_, changed.number);
  }
  check_row_type_is_free(draft_, table_);
  if (const std::string view = table_.row_type == 0 ? "" : view_of_type(draft_, table_.row_type); !view.empty()) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot alter table \"{}\" because {} uses its row type", table_.name, view));
  }
  if (changed.identity != Identity::kNone && type != changed.type) change_identity_type(changed, type);
  const sql::TableDef with_old_type = table_;
  changed.type = type;
  changed.domain = domain;
  for (const sql::Oid oid : computed_indexes) {
    sql::IndexDef& index = *std::ranges::find(table_.indexes, oid, &sql::IndexDef::oid);
    const bool has_changed = rebind_computed_columns(draft_, with_old_type, table_, index);
    needs_rewrite_ = needs_rewrite_ || (has_changed && !is_empty_);
  }
  changed.collation = written.collation.empty() ? domain_collation(draft_, domain) : remembered_collation(written.collation);
  const bool is_rewritten = !rewrites_.empty() && rewrites_.back().column == changed.number;
  if (is_rewritten && before_->find_column(changed.number) != nullptr) {
    converted_column(*before_, changed, rewrites_.back(), draft_.catalog(), bind_settings(draft_.session()));
  }
  const bool is_serial = changed.sequence != 0 && changed.identity == Identity::kNone && changed.default_sql.empty();
  if (is_serial && type.oid != sql::oid::kInt8 && !sql::find_cast_path(sql::oid::kInt8, type.oid, sql::CastContext::kAssignment)) {
    throw default_cannot_be_cast(changed);
  }
  if (!changed.default_sql.empty()) {
    const ast::ExpressionPtr parsed = parser::parse_expression(changed.default_sql);
    try {
      planner::bind_default(*parsed, table_, changed, draft_.catalog(), bind_settings(draft_.session()), true);
    } catch (const SqlError&) {
      throw default_cannot_be_cast(changed);
    }
  }
  for (const sql::CheckDef& check : table_.checks) columns_of_check(draft_, table_, check);  // throws if it is no expression any more
}

void TableAlteration::command(const ast::AddIdentity& written) {
  sql::ColumnDef& changed = column(written.column);
  const auto& identity = std::get<ast::IdentityConstraint>(written.identity.node);
  if (changed.type.oid != sql::oid::kInt2 && changed.type.oid != sql::oid::kInt4 && changed.type.oid != sql::oid::kInt8) {
    throw SqlError(sqlstate::kInvalidParameterValue, "identity column type must be smallint, integer, or bigint");
  }
  if (!changed.not_null) {
    throw SqlError(
        sqlstate::kObjectNotInPrerequisiteState,
        fmt::format("column \"{}\" of relation \"{}\" must be declared NOT NULL before identity can be added", changed.name, table_.name));
  }
  if (changed.identity != Identity::kNone) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState,
                   fmt::format("column \"{}\" of relation \"{}\" is already an identity column", changed.name, table_.name));
  }
  if (!changed.default_sql.empty() || changed.sequence != 0) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState,
                   fmt::format("column \"{}\" of relation \"{}\" already has a default value", changed.name, table_.name));
  }
  sql::SequenceDef sequence;
  sequence.type = changed.type;
  const SequenceOptions options = apply_sequence_options(identity.sequence_options, true, sequence);
  if (options.name) sequence.name = *options.name;
  changed.identity = identity.always ? Identity::kAlways : Identity::kByDefault;
  add_column_sequence(draft_, table_, changed, std::move(sequence), table_.primary_key == std::vector{changed.number});
}

void TableAlteration::command(const ast::SetIdentity& written) {
  sql::ColumnDef& changed = column(written.column);
  if (changed.identity == Identity::kNone) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState,
                   fmt::format("column \"{}\" of relation \"{}\" is not an identity column", changed.name, table_.name));
  }
  for (const Option& option : written.options) {
    if (option.name != "generated") continue;
    const auto* letter = std::get_if<std::int64_t>(&option.value);
    changed.identity = letter != nullptr && *letter == 'd' ? Identity::kByDefault : Identity::kAlways;
  }
  sql::SequenceDef sequence = draft_.catalog().sequences.at(changed.sequence);
  const SequenceOptions options = apply_sequence_options(written.options, false, sequence);
  if (options.restart) restarts_.emplace_back(sequence.oid, *options.restart);
  draft_.put(std::move(sequence));
}

void TableAlteration::command(const ast::DropIdentity& written) {
  sql::ColumnDef& changed = column(written.column);
  if (changed.identity == Identity::kNone) {
    const std::string message = fmt::format("column \"{}\" of relation \"{}\" is not an identity column", changed.name, table_.name);
    if (!written.if_exists) throw SqlError(sqlstate::kObjectNotInPrerequisiteState, message);
    draft_.notice(sqlstate::kSuccessfulCompletion, message + ", skipping");
    return;
  }
  changed.identity = Identity::kNone;
  draft_.drop_sequence(changed.sequence);
  changed.sequence = 0;
}

/// Rows that are there begin to live anew, or no longer expire: they are written again.
void TableAlteration::command(const ast::SetTableOptions& written) {
  if (written.reset) check_reset_parameters(written.options);
  else check_storage_parameters("heap", written.options);
  if (change_spread(draft_, table_, written.options, written.reset)) needs_rewrite_ = needs_rewrite_ || !is_empty_;
  set_cache_option(table_, written.options, written.reset);
  if (set_time_to_live(table_, written.options, written.reset)) needs_rewrite_ = needs_rewrite_ || !is_empty_;
}

void TableAlteration::command(const ast::SetColumnOptions& written) {
  column(written.column);
  for (const Option& option : written.options) check_option_name(option.name);
  for (const Option& option : written.options) {
    if (option.name != "n_distinct" && option.name != "n_distinct_inherited") {
      throw sql::unrecognized_parameter(option.name);
    }
  }
}

void TableAlteration::command(const ast::SetIndexStatistics&) {
  throw SqlError(sqlstate::kFeatureNotSupported, "cannot refer to non-index column by number");
}

void TableAlteration::command(const ast::ChangeOwner& written) {
  give_to(draft_, table_, new_owner_in_schema(draft_, written.role, table_.owner, table_.schema));
}

void TableAlteration::command(const ast::DropExpression& written) {
  sql::ColumnDef& changed = column(written.column);
  if (changed.generated_sql.empty()) {
    const std::string message =
        fmt::format("column \"{}\" of relation \"{}\" is not a stored generated column", changed.name, table_.name);
    if (!written.if_exists) throw SqlError(sqlstate::kObjectNotInPrerequisiteState, message);
    draft_.notice(sqlstate::kSuccessfulCompletion, message + ", skipping");
    return;
  }
  changed.generated_sql.clear();
}

void TableAlteration::command(const ast::AlterForeignOptions&) { throw sql::not_supported("foreign tables"); }
// These concern the table alone that the statement names.
void TableAlteration::command(const ast::SetRowSecurity& written) {
  if (place_.root_before != nullptr) return;
  if (written.on && !written.forces) check_not_maintained(table_, "ENABLE ROW LEVEL SECURITY");
  (written.forces ? table_.security.forced : table_.security.enabled) = written.on;
}
void TableAlteration::command(const ast::SetReplicaIdentity& written) {
  if (place_.root_before != nullptr) return;
  // Redis's stream names a row by its primary key, and has no old values: FULL and USING INDEX, which schemas bring along, are the default.
  const bool is_nothing = written.identity == ast::SetReplicaIdentity::Identity::kNothing;
  table_.replica_identity = is_nothing ? sql::TableDef::ReplicaIdentity::kNothing : sql::TableDef::ReplicaIdentity::kDefault;
}
void TableAlteration::command(const ast::SetTriggerFiring& written) {
  if (place_.root_before == nullptr) set_trigger_firing(draft_, table_, written);
}
void TableAlteration::command(const ast::AttachPartition&) { throw sql::not_supported("ATTACH PARTITION beside other changes"); }
void TableAlteration::command(const ast::AttachIndex&) { throw sql::not_supported("ATTACH PARTITION of an index by ALTER TABLE"); }
void TableAlteration::command(const ast::DetachPartition&) { throw sql::not_supported("DETACH PARTITION beside other changes"); }
void TableAlteration::command(const ast::OtherAlteration& written) { throw sql::not_supported(written.name); }

}  // namespace redquel::executor
