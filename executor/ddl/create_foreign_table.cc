#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/default_privileges.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/definition_rights.h"
#include "executor/ddl/foreign_options.h"
#include "executor/ddl/mapped_table.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/storage_parameters.h"
#include "executor/ddl/table_parts.h"
#include "executor/runtime/session_context.h"
#include "parser/option_value.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/mapped_value.h"
#include "sql/catalog/row_types.h"
#include "sql/catalog/stored_keys.h"
#include "sql/expressions/evaluate.h"
#include "sql/functions/object_names.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

std::string mapping_text(const ast::Option& option) {
  check_option_name(option.name);
  if (std::optional<std::string> text = parser::option_text(option)) return *std::move(text);
  throw SqlError(sqlstate::kFdwInvalidAttributeValue, fmt::format("option \"{}\" needs a value", option.name));
}

sql::MappingOptions read_options(const std::vector<ast::Option>& options) {
  sql::MappingOptions result;
  for (const ast::Option& option : options) {
    const auto is_same = [&](const auto& other) { return other.first == option.name; };
    if (std::any_of(result.begin(), result.end(), is_same)) {
      throw SqlError(sqlstate::kDuplicateObject, fmt::format("option \"{}\" provided more than once", option.name));
    }
    result.emplace_back(option.name, mapping_text(option));
  }
  return result;
}

namespace {

/// The text of the column's default, as its field would hold it.
std::string default_text(const CatalogDraft& draft, const sql::TableDef& table, const sql::Mapping::Column& mapped) {
  const sql::ColumnDef& column = *table.find_column(mapped.number);
  const SqlError refusal(sqlstate::kInvalidTableDefinition,
                         fmt::format("option absent 'default' of column \"{}\" needs a default that is always the same", column.name));
  if (column.default_sql.empty()) throw SqlError(refusal);
  const planner::BindSettings settings = bind_settings(draft.session());
  const sql::ExpressionPtr value = planner::bind_default(*parser::parse_expression(column.default_sql), table, column, draft.catalog(), settings);
  if (sql::is_volatile(*value)) throw SqlError(refusal);
  sql::EvaluationContext context;
  context.settings = &draft.session().settings;
  context.catalog = &draft.catalog();
  const sql::Datum datum = sql::evaluate_scalar(*value, context);
  if (sql::is_null(datum)) throw SqlError(refusal);
  return sql::encode_mapped(mapped, column.type, datum);
}

}  // namespace

namespace {

/// The table that option "parent" of a column names. A name without a schema is one of the table's own schema.
sql::Oid parent_of(const CatalogDraft& draft, const sql::TableDef& table, const sql::ColumnDef& column, const std::string& name) {
  const std::vector<std::string> parts = sql::split_name(name);
  if (parts.empty() || parts.size() > 2) {
    throw SqlError(sqlstate::kFdwInvalidAttributeValue, fmt::format("invalid value for option \"parent\": \"{}\"", name))
        .hint("It is the name of a foreign table.");
  }
  const TablePtr parent = draft.catalog().find_table(parts.size() == 2 ? parts.front() : table.schema, parts.back(), {});
  if (!parent) throw sql::undefined_relation(name);
  const bool has_key = parent->is_mapped() && parent->oid != table.oid && parent->primary_key.size() == 1;
  if (!has_key) {
    throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("\"{}\" cannot be the parent of column \"{}\"", name, column.name))
        .detail("A parent is another foreign table whose rows are identified by one column.");
  }
  const sql::Type key = parent->find_column(parent->primary_key.front())->type;
  if (key.oid != column.type.oid && !(sql::is_integer_type(key.oid) && sql::is_integer_type(column.type.oid))) {
    throw SqlError(sqlstate::kInvalidTableDefinition,
                   fmt::format("column \"{}\" and the key of its parent \"{}\" have different types", column.name, name))
        .detail(fmt::format("They are {} and {}.", sql::format_type(column.type), sql::format_type(key)));
  }
  return parent->oid;
}

bool has_parent(const sql::TableDef* table, std::int16_t column, sql::Oid parent) {
  return table != nullptr && table->is_mapped() && std::ranges::any_of(table->mapping().columns, [&](const sql::Mapping::Column& other) {
    return other.number == column && other.parent == parent;
  });
}

}  // namespace

void put_mapping(const CatalogDraft& draft, sql::TableDef& table, sql::Mapping mapping) {
  if (sql::uses_cluster() && mapping.database.value_or(0) != 0) throw SqlError(sqlstate::kFeatureNotSupported, "a cluster has the logical database 0 alone");
  const TablePtr before = draft.catalog().find_table(table.oid);
  for (const sql::Mapping::Option& option : mapping.options) {
    if (option.column == 0 || option.name != "parent") continue;
    const auto column = std::ranges::find(mapping.columns, option.column, &sql::Mapping::Column::number);
    column->parent = parent_of(draft, table, *table.find_column(option.column), option.value);
    if (has_parent(before.get(), option.column, column->parent)) continue;
    // DELETE from the parent goes on in this table, as with a foreign key.
    require_references(draft, *draft.catalog().find_table(column->parent), {});
  }
  for (sql::Mapping::Column& column : mapping.columns) {
    if (column.absent == sql::Mapping::Absent::kDefault) column.default_text = default_text(draft, table, column);
  }
  table.primary_key = sql::identity_columns(mapping);
  sql::add_hidden_ttl(table, mapping);
  table.storage = sql::MappedRows{std::make_shared<const sql::Mapping>(std::move(mapping))};
}

namespace {

/// The first part of redquel's own keys, in a cluster behind the tag of a bucket.
constexpr std::string_view kOwnName = "redquel";

}  // namespace

void check_overlap(const CatalogDraft& draft, const sql::TableDef& table) {
  const auto refuse = [&](const std::string& other, std::string_view what) {
    throw SqlError(sqlstate::kInvalidObjectDefinition,
                   fmt::format("keys of foreign table \"{}\" could be keys of {} \"{}\"", table.name, what, other))
        .detail(fmt::format("Its key template is \"{}\".", sql::template_text(table.mapping().key, table)));
  };
  for (const auto& [oid, other] : draft.catalog().tables) {
    if (oid == table.oid) continue;
    if (other->is_mapped()) {
      if (sql::may_overlap(table, *other)) refuse(other->name, "foreign table");
    } else if (!table.mapping().database && sql::may_reach(table, other->prefix)) {
      refuse(other->name, "table");
    }
  }
  check_reach(table);
}

void check_reach(const sql::TableDef& table) {
  bool reaches = sql::may_reach(table, kOwnName);
  for (int bucket = 0; sql::uses_cluster() && !reaches && bucket < sql::kBucketLimit; ++bucket) {
    reaches = sql::may_reach(table, std::string(sql::bucket_tag(bucket)).append(kOwnName));
  }
  if (!reaches) return;
  throw SqlError(sqlstate::kInvalidObjectDefinition, "keys that begin with \"redquel:\" are redquel's own")
      .detail(fmt::format("Keys of foreign table \"{}\" could begin so.", table.name));
}

namespace {

void require_redis(const std::string& server) {
  if (server != "redis") {
    throw SqlError(sqlstate::kUndefinedObject, fmt::format("server \"{}\" does not exist", server)).hint("Server redis always exists.");
  }
}

SqlError not_on_foreign(std::string_view what) {
  return SqlError(sqlstate::kFeatureNotSupported, fmt::format("{} are not supported on foreign tables", what));
}

void refuse_constraint(const ast::Constraint& constraint) {
  if (const auto* key = std::get_if<ast::KeyConstraint>(&constraint.node)) throw not_on_foreign(key->primary ? "primary key constraints" : "unique constraints");
  if (std::holds_alternative<ast::ForeignKeyConstraint>(constraint.node)) throw not_on_foreign("foreign key constraints");
  if (std::holds_alternative<ast::ExclusionConstraint>(constraint.node)) throw not_on_foreign("exclusion constraints");
}

/// The counter that an application increments for new ids becomes a sequence: INCRBY on the same key.
void add_counter(CatalogDraft& draft, sql::TableDef& table) {
  if (table.mapping().counter.empty()) return;
  const std::vector<std::int16_t> slots = table.mapping().key.slots();
  const sql::ColumnDef* slot = slots.empty() || slots.front() <= 0 ? nullptr : table.find_column(slots.front());
  if (slot == nullptr || !sql::is_integer_type(slot->type.oid)) {
    throw SqlError(sqlstate::kInvalidTableDefinition, "option \"counter\" needs a key whose first slot is a column of an integer type");
  }
  sql::ColumnDef& column = table.columns[table.position(slot->number)];
  if (column.sequence != 0 || !column.default_sql.empty()) {
    throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("column \"{}\" has a default beside the counter", column.name));
  }
  sql::SequenceDef sequence;
  sequence.type = sql::kInt8;
  sequence.foreign = true;
  add_column_sequence(draft, table, column, sequence, false);
  sql::SequenceDef made = draft.catalog().sequences.at(column.sequence);
  made.key = table.mapping().counter;
  draft.put(std::move(made));
}

/// New elements of a list go to its end, new entries of a stream get their id from Redis.
void set_row_defaults(sql::TableDef& table) {
  const auto set = [&](sql::Mapping::Role role, const char* text) {
    const sql::Mapping::Column* mapped = table.mapping().with_role(role);
    if (mapped == nullptr) return;
    sql::ColumnDef& column = table.columns[table.position(mapped->number)];
    if (column.default_sql.empty()) column.default_sql = text;
  };
  set(sql::Mapping::Role::kPosition, "-1");
  set(sql::Mapping::Role::kId, "'*'");
}

void make_foreign_table(CatalogDraft& draft, const ast::CreateForeignTable& statement) {
  const ast::CreateTable& written = statement.table;
  const std::string schema = creation_schema(draft, written.relation, written.persistence);
  const std::string& name = written.relation.name;
  if (is_there_already(draft, schema, name, written.if_not_exists)) return;
  require_redis(statement.server);
  if (!written.inherits.empty()) throw sql::not_supported("inheritance of foreign tables");
  if (sql::is_temporary_schema(schema)) throw sql::not_supported("a temporary foreign table");
  sql::TableDef table;
  table.oid = draft.new_oid();
  sql::choose_row_type(table);
  table.schema = schema;
  table.name = name;
  take_ownership(draft, sql::AclKind::kTable, table);
  table.prefix = fmt::format("{}mapped:{}", sql::home_key(sql::kOwnPrefix), table.oid);  // of no key
  draft.put(table);
  std::vector<sql::MappingOptions> columns;
  std::vector<CheckDraft> checks;
  std::vector<std::pair<std::string, const ast::Expression*>> generated;
  for (const ast::TableElement& element : written.elements) {
    if (const auto* constraint = std::get_if<ast::Constraint>(&element)) {
      refuse_constraint(*constraint);
      refuse_other_constraints(*constraint);
      checks.push_back(read_check(*constraint));
      continue;
    }
    const auto* definition = std::get_if<ast::ColumnDefinition>(&element);
    if (definition == nullptr) throw sql::not_supported("LIKE in CREATE FOREIGN TABLE");
    for (const ast::Constraint& constraint : definition->constraints) refuse_constraint(constraint);
    const ColumnDraft column = read_column(draft, *definition, name);
    if (table.find_column(column.column.name) != nullptr) {
      throw sql::column_listed_twice(column.column.name);
    }
    if (column.generated != nullptr) generated.emplace_back(column.column.name, column.generated);
    if (column.sequence) throw sql::not_supported("a serial or identity column of a foreign table");
    check_new_column_name(table, column.column.name);
    add_column(draft, table, column, false);
    columns.push_back(read_options(definition->foreign_options));
    checks.insert(checks.end(), column.checks.begin(), column.checks.end());
  }
  put_mapping(draft, table, sql::make_mapping(table, read_options(statement.options), columns));
  for (const auto& [column, expression] : generated) check_generated(draft, table, table.find_column(column)->number, *expression);
  set_row_defaults(table);
  for (const CheckDraft& check : checks) add_check(draft, table, check, true);
  check_overlap(draft, table);
  add_counter(draft, table);
  draft.put(std::move(table));
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateForeignTable& statement) {
  const MakeDraft make = [&statement](CatalogDraft& draft) { make_foreign_table(draft, statement); };
  co_await change_catalog(context, make);
}

asio::awaitable<void> run(DdlContext& context, const ast::CreateForeignServer& statement) {
  if (statement.name != "redis") throw sql::not_supported("CREATE SERVER of another server than redis, which always exists");
  if (!statement.if_not_exists) throw SqlError(sqlstate::kDuplicateObject, "server \"redis\" already exists");
  if (context.session.notice) context.session.notice("NOTICE", SqlError(sqlstate::kDuplicateObject, "server \"redis\" already exists, skipping"));
  co_return;
}

}  // namespace redquel::executor
