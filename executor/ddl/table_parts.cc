#include "executor/ddl/table_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "executor/catalog/dependencies.h"
#include "executor/ddl/exclusion_constraint.h"
#include "executor/ddl/generated_names.h"
#include "executor/ddl/indexable.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/stored_expression.h"
#include "executor/runtime/session_context.h"
#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "sql/catalog/index_text.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/table_keys.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

std::optional<std::uint32_t> position_of(const KeyDraft& key, bool with_position) {
  return with_position ? key.offset : std::nullopt;
}

}  // namespace

std::string index_name(const CatalogDraft& draft, const sql::TableDef& table, const std::string& given,
                       const std::vector<std::string>& columns, std::string_view label) {
  if (given.empty()) {
    return choose_name(table.name, joined_column_names(columns), label, [&](std::string_view name) {
      return constraint_name_is_taken(draft, table.schema, name) || constraint_exists(table, name) || table.primary_key_index.name == name;
    });
  }
  if (draft.catalog().relation_exists(table.schema, given) || table.find_index(given) != nullptr) {
    throw sql::duplicate_relation(given);
  }
  if (constraint_exists(table, given)) {
    throw sql::duplicate_constraint(given, table.name);
  }
  return given;
}

bool constraint_exists(const sql::TableDef& table, std::string_view name) {
  if (!table.primary_key_index.name.empty() && table.primary_key_index.name == name) return true;
  const auto is_named = [&](const auto& part) { return part.name == name; };
  return std::any_of(table.checks.begin(), table.checks.end(), is_named) ||
         std::any_of(table.foreign_keys.begin(), table.foreign_keys.end(), is_named) ||
         std::any_of(table.indexes.begin(), table.indexes.end(),
                     [&](const sql::IndexDef& index) { return index.constraint && index.name == name; });
}

bool constraint_name_is_taken(const CatalogDraft& draft, std::string_view schema, std::string_view name) {
  return draft.catalog().relation_exists(schema, name) || draft.catalog().constraint_exists(schema, name);
}

namespace {

/// Returns the sequence whose next value the expression is, through casts to any integer type; 0: another expression.
sql::Oid sequence_of(const sql::Expression& expression) {
  if (const auto* cast = std::get_if<sql::CastCall>(&expression.node)) return sequence_of(*cast->operand);
  const auto* call = std::get_if<sql::FunctionCall>(&expression.node);
  if (call == nullptr || call->function->name != "nextval") return 0;
  const auto* sequence = std::get_if<sql::Constant>(&call->arguments[0]->node);
  const auto* oid = sequence == nullptr ? nullptr : std::get_if<std::int32_t>(&sequence->value);
  return oid == nullptr ? 0 : static_cast<sql::Oid>(*oid);
}

}  // namespace

void set_default(const CatalogDraft& draft, const sql::TableDef& table, sql::ColumnDef& column, const parser::ast::Expression& written) {
  const sql::ExpressionPtr value = planner::bind_default(written, table, column, draft.catalog(), bind_settings(draft.session()));
  const sql::Oid type = column.type.oid;
  column.sequence = sql::is_integer_type(type) ? sequence_of(*value) : 0;
  column.default_sql = column.sequence == 0 ? parser::to_sql(written) : "";
}

void check_generated(const CatalogDraft& draft, const sql::TableDef& table, std::int16_t number, const parser::ast::Expression& written) {
  const sql::ColumnDef& column = table.columns[table.position(number)];
  planner::bind_generation(written, table, column, planner::positions_as_ids(table), draft.catalog(), bind_settings(draft.session()));
}

void check_not_within_itself(const CatalogDraft& draft, const sql::TableDef& table, sql::Type type) {
  if (table.row_array == 0 || !contains_type(draft.catalog(), type.oid, table.row_type)) return;
  throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("composite type {} cannot be made a member of itself", table.name));
}

sql::ColumnDef& add_column(CatalogDraft& draft, sql::TableDef& table, const ColumnDraft& written, bool is_key) {
  if (table.columns.size() >= 1600) throw sql::too_many_table_columns();
  sql::ColumnDef column = written.column;
  check_not_within_itself(draft, table, column.type);
  column.number = table.next_column++;
  column.field = sql::choose_field(table, column.name);
  if (written.default_value != nullptr) set_default(draft, table, column, *written.default_value);
  if (written.generated != nullptr) column.generated_sql = stored_check(*written.generated);
  if (written.sequence) add_column_sequence(draft, table, column, *written.sequence, is_key);
  return table.columns.emplace_back(std::move(column));
}

void add_column_sequence(CatalogDraft& draft, const sql::TableDef& table, sql::ColumnDef& column, sql::SequenceDef sequence,
                         bool is_key) {
  sequence.oid = draft.new_oid();
  sequence.schema = table.schema;
  if (sequence.name.empty()) {
    sequence.name = choose_name(table.name, column.name, "seq", [&](std::string_view name) {
      return draft.catalog().relation_exists(table.schema, name);
    });
  } else if (draft.catalog().relation_exists(table.schema, sequence.name)) {
    throw sql::duplicate_relation(sequence.name);
  }
  const auto is_used = [&](const std::string& key) {
    return std::any_of(draft.catalog().sequences.begin(), draft.catalog().sequences.end(),
                       [&](const auto& entry) { return entry.second.key == key; });
  };
  const std::string counter = table.prefix + ":id";
  sequence.key = is_key && !is_used(counter) ? counter : counter + ":" + sql::escape_name(column.field);
  sequence.owner_table = table.oid;
  sequence.owner_column = column.number;
  column.sequence = sequence.oid;
  draft.put(std::move(sequence));
}

std::vector<std::int16_t> key_columns(const sql::TableDef& table, const KeyDraft& key, bool with_position) {
  const std::optional<std::uint32_t> position = position_of(key, with_position);
  std::vector<std::int16_t> numbers;
  for (const std::string& name : key.columns) {
    const sql::ColumnDef* column = table.find_column(name);
    if (column == nullptr && key.primary && !with_position) {  // ALTER TABLE makes the columns NOT NULL first
      throw sql::undefined_column(name, table.name);
    }
    if (column == nullptr) throw sql::undefined_key_column(name).at(position);
    if (std::find(numbers.begin(), numbers.end(), column->number) != numbers.end()) {
      throw SqlError(sqlstate::kDuplicateColumn,
                     fmt::format("column \"{}\" appears twice in {} constraint", name, key.primary ? "primary key" : "unique"))
          .at(position);
    }
    check_indexable(column->type, "btree");
    numbers.push_back(column->number);
  }
  if (numbers.size() > 32) throw sql::too_many_index_columns();
  return numbers;
}

std::vector<std::int16_t> included_columns(const sql::TableDef& table, const std::vector<std::string>& names,
                                           std::optional<std::uint32_t> position) {
  std::vector<std::int16_t> numbers;
  for (const std::string& name : names) {
    const sql::ColumnDef* column = table.find_column(name);
    if (column == nullptr) throw sql::undefined_key_column(name).at(position);
    numbers.push_back(column->number);
  }
  return numbers;
}

void add_primary_key(CatalogDraft& draft, sql::TableDef& table, const KeyDraft& key, bool with_position) {
  const std::vector<std::int16_t> numbers = key_columns(table, key, with_position);
  table.primary_key_index.name = index_name(draft, table, key.name, {}, "pkey");
  table.primary_key = numbers;
  table.primary_key_index.included = included_columns(table, key.included, position_of(key, with_position));
  table.primary_key_index.oid = draft.new_oid();
  for (std::int16_t number : numbers) table.columns[table.position(number)].not_null = true;
}

void check_nulls_of_unique(const sql::TableDef& table, const sql::IndexDef& index) {
  const auto differs = [&](const sql::IndexDef& other) {
    return other.unique && index.unique && other.nulls_not_distinct != index.nulls_not_distinct &&
           std::ranges::equal(other.parts, index.parts, {}, &sql::IndexDef::Part::column, &sql::IndexDef::Part::column);
  };
  if (std::ranges::any_of(table.indexes, differs)) {
    throw sql::not_supported("a unique index with NULLS NOT DISTINCT beside one without it over the same columns");
  }
}

sql::IndexConstraint constraint_of(const KeyDraft& key) {
  using enum sql::IndexConstraint::Kind;
  return {.kind = key.exclusion != nullptr ? kExclusion : key.primary ? kPrimaryKey : kUnique,
          .deferrable = key.deferrable,
          .initially_deferred = key.initially_deferred};
}

sql::Oid add_unique(CatalogDraft& draft, sql::TableDef& table, const KeyDraft& key, sql::IndexState state, bool with_position) {
  if (key.exclusion != nullptr) return add_exclusion(draft, table, key, state);
  const std::vector<std::int16_t> numbers = key_columns(table, key, with_position);
  sql::IndexDef index;
  index.included = included_columns(table, key.included, position_of(key, with_position));
  std::vector<std::string> names = key.columns;
  names.insert(names.end(), key.included.begin(), key.included.end());
  names = sql::distinct_column_names(names);
  index.name = key.primary ? index_name(draft, table, key.name, {}, "pkey") : index_name(draft, table, key.name, names, "key");
  index.oid = draft.new_oid();
  index.unique = true;
  index.constraint = constraint_of(key);
  index.nulls_not_distinct = key.nulls_not_distinct;
  index.state = state;
  for (std::int16_t number : numbers) index.parts.push_back({number, false, false});
  check_nulls_of_unique(table, index);
  table.indexes.push_back(std::move(index));
  return table.indexes.back().oid;
}

void add_check(CatalogDraft& draft, sql::TableDef& table, const CheckDraft& check, bool in_create_table) {
  const sql::ExpressionPtr bound = planner::bind_check(*check.condition, table, planner::positions_as_ids(table), draft.catalog(),
                                                       bind_settings(draft.session()));
  sql::CheckDef made;
  if (check.name.empty()) {
    const std::vector<std::int16_t> used = columns_of(bound, table);
    const std::string column = used.size() == 1 ? table.find_column(used[0])->name : std::string();
    made.name = choose_name(table.name, column, "check", [&](std::string_view name) {
      return draft.catalog().constraint_exists(table.schema, name) || constraint_exists(table, name);
    });
  } else {
    if (constraint_exists(table, check.name)) {
      throw SqlError(sqlstate::kDuplicateObject, in_create_table
                                  ? fmt::format("check constraint \"{}\" already exists", check.name)
                                  : fmt::format("constraint \"{}\" for relation \"{}\" already exists", check.name, table.name));
    }
    made.name = check.name;
  }
  made.expression_sql = stored_check(*check.condition);
  made.no_inherit = check.no_inherit;
  made.not_valid = check.not_valid && !in_create_table;
  table.checks.push_back(std::move(made));
}

void choose_presence(sql::TableDef& table) {
  sql::ManagedRows& rows = table.managed();
  rows.presence.reset();
  rows.stores_key = false;
  const sql::ColumnDef* column = sql::TableKeys(table).presence_column();
  rows.presence = column == nullptr ? std::int16_t{0} : column->number;
  rows.stores_key = column == nullptr;
}

}  // namespace redquel::executor
