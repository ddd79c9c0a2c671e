#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/default_privileges.h"
#include "executor/ddl/attach_partition.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/implicit_objects.h"
#include "executor/ddl/foreign_key_definition.h"
#include "executor/ddl/partition.h"
#include "executor/ddl/placement.h"
#include "executor/ddl/like_clause.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/spread_options.h"
#include "executor/ddl/storage_parameters.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/temporary.h"
#include "executor/ddl/ttl_options.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/partitions.h"
#include "sql/catalog/row_types.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

void refuse_unsupported(const ast::CreateTable& statement) {
  const std::uint32_t offset = statement.relation.offset;
  if (!statement.inherits.empty() && !statement.partition_of) throw sql::not_supported("table inheritance", offset);
  if (statement.of_type) throw sql::not_supported("CREATE TABLE OF", offset);
  if (!statement.access_method.empty() && statement.access_method != "heap") {
    throw sql::undefined_access_method(statement.access_method);
  }
  check_storage_parameters("heap", statement.options);
  check_tablespace(statement.tablespace);
}

/// The parts of the statement, by kind and in the order in which PostgreSQL makes them.
struct TableParts {
  std::vector<ColumnDraft> columns;
  std::optional<KeyDraft> primary_key;
  std::vector<KeyDraft> uniques;
  std::vector<CheckDraft> checks;
  std::vector<ForeignKeyDraft> foreign_keys;
  std::vector<LikeParts> likes;

  void add(KeyDraft key, const std::string& table_name) {
    if (!key.using_index.empty()) throw SqlError(sqlstate::kFeatureNotSupported, "cannot use an existing index in CREATE TABLE").at(key.offset);
    if (!key.primary) {
      uniques.push_back(std::move(key));
      return;
    }
    if (primary_key) {
      // A key that LIKE brings along comes last, and stands nowhere.
      throw SqlError(sqlstate::kInvalidTableDefinition, fmt::format("multiple primary keys for table \"{}\" are not allowed", table_name))
          .at(primary_key->offset ? key.offset : std::nullopt);
    }
    primary_key = std::move(key);
  }
};

TableParts read_parts(const CatalogDraft& draft, const ast::CreateTable& statement) {
  TableParts parts;
  const std::string& name = statement.relation.name;
  for (const ast::TableElement& element : statement.elements) {
    if (const auto* like = std::get_if<ast::LikeClause>(&element)) {
      LikeParts taken = read_like(draft, *like);
      parts.columns.insert(parts.columns.end(), taken.columns.begin(), taken.columns.end());
      for (const KeyDraft& key : taken.keys) parts.add(key, name);
      parts.likes.push_back(std::move(taken));
      continue;
    }
    if (const auto* definition = std::get_if<ast::ColumnDefinition>(&element)) {
      ColumnDraft column = read_column(draft, *definition, name);
      for (KeyDraft& key : column.keys) parts.add(std::move(key), name);
      column.keys.clear();
      parts.checks.insert(parts.checks.end(), column.checks.begin(), column.checks.end());
      column.checks.clear();
      parts.foreign_keys.insert(parts.foreign_keys.end(), column.foreign_keys.begin(), column.foreign_keys.end());
      column.foreign_keys.clear();
      parts.columns.push_back(std::move(column));
      continue;
    }
    const auto& constraint = std::get<ast::Constraint>(element);
    refuse_other_constraints(constraint);
    if (std::holds_alternative<ast::CheckConstraint>(constraint.node)) {
      parts.checks.push_back(read_check(constraint));
    } else if (std::holds_alternative<ast::ForeignKeyConstraint>(constraint.node)) {
      parts.foreign_keys.push_back(read_foreign_key(constraint));
      parts.foreign_keys.back().not_valid = false;  // there is nothing to validate
    } else {
      parts.add(read_key(constraint), name);
    }
  }
  return parts;
}

/// Equal unique constraints are one; one over the primary key's columns is the primary key.
std::vector<KeyDraft> distinct_uniques(const TableParts& parts) {
  std::vector<KeyDraft> distinct;
  for (const KeyDraft& key : parts.uniques) {
    const auto is_same = [&](const KeyDraft& other) {
      if (other.exclusion != nullptr || key.exclusion != nullptr) return false;
      return other.columns == key.columns && other.included == key.included && other.nulls_not_distinct == key.nulls_not_distinct &&
             other.deferrable == key.deferrable && other.initially_deferred == key.initially_deferred &&
             (other.name.empty() || key.name.empty() || other.name == key.name);
    };
    if (parts.primary_key && is_same(*parts.primary_key) && key.name.empty()) continue;
    const auto found = std::find_if(distinct.begin(), distinct.end(), is_same);
    if (found == distinct.end()) {
      distinct.push_back(key);
    } else if (found->name.empty()) {
      found->name = key.name;
    }
  }
  return distinct;
}

/// A column of the table above as PARTITION OF changes it: another default, further conditions.
void change_inherited_column(CatalogDraft& draft, sql::TableDef& table, const ast::ColumnDefinition& written) {
  const sql::ColumnDef* found = table.find_column(written.name);
  if (found == nullptr) throw SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" does not exist", written.name));
  sql::ColumnDef& column = table.columns[table.position(found->number)];
  for (const ast::Constraint& constraint : written.constraints) {
    const sql::Overloaded apply{
        [&](const ast::NotNullConstraint&) { column.not_null = true; },
        [](const ast::NullConstraint&) {},
        [&](const ast::DefaultConstraint& value) {
          column.sequence = 0;
          set_default(draft, table, column, *value.value);
        },
        [&](const ast::CheckConstraint&) { add_check(draft, table, read_check(constraint), true); },
        [](const auto&) { throw sql::not_supported("this constraint of a column of a partition"); },
    };
    std::visit(apply, constraint.node);
  }
}

/// The new table without a place and columns.
sql::TableDef begin_table(CatalogDraft& draft, const ast::CreateTable& statement, const std::string& schema) {
  sql::TableDef table;
  table.oid = draft.new_oid();
  sql::choose_row_type(table);
  table.schema = schema;
  table.name = statement.relation.name;
  take_ownership(draft, sql::AclKind::kTable, table);
  table.on_commit = on_commit(statement.on_commit, schema);
  return table;
}

/// CREATE TABLE … PARTITION OF.
std::vector<std::string> make_partition(CatalogDraft& draft, const ast::CreateTable& statement, const std::string& schema) {
  const std::string& name = statement.relation.name;
  const TablePtr parent = require_partitioned(draft, statement.inherits.front());
  const bool is_temporary = sql::is_temporary_schema(schema);
  if (is_temporary != sql::is_temporary_schema(parent->schema)) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("cannot create a {} relation as partition of {} relation \"{}\"", is_temporary ? "temporary" : "permanent",
                                                           is_temporary ? "permanent" : "temporary", parent->name));
  }
  sql::TableDef table = begin_table(draft, statement, schema);
  table.prefix = draft.reserve_prefix(schema, name, fmt::format("table {}", table.oid), parent->tag());
  table.partition = sql::PartitionDef{.parent = parent->oid, .bound = read_bound(draft, *parent, *statement.partition_of)};
  check_new_bound(draft, *parent, name, table.partition->bound, *statement.partition_of);
  take_definition(draft, *parent, table);
  for (const ast::TableElement& element : statement.elements) {
    if (const auto* column = std::get_if<ast::ColumnDefinition>(&element)) {
      change_inherited_column(draft, table, *column);
      continue;
    }
    const auto* constraint = std::get_if<ast::Constraint>(&element);
    const auto* check = constraint != nullptr ? std::get_if<ast::CheckConstraint>(&constraint->node) : nullptr;
    if (check == nullptr) throw sql::not_supported("this element of CREATE TABLE ... PARTITION OF");
    add_check(draft, table, read_check(*constraint), true);
  }
  if (statement.partition_by) set_partition_key(table, *statement.partition_by);
  set_time_to_live(table, statement.options);
  set_cache_option(table, statement.options);
  if (declares_buckets(statement.options)) throw sql::not_supported("a partition in several buckets");
  std::vector<std::string> made = implicit_objects("CREATE TABLE", draft.catalog(), nullptr, table);
  draft.put(std::move(table));
  return made;
}

/// Returns the notices about implicit objects of the new table.
std::vector<std::string> make_table(CatalogDraft& draft, const ast::CreateTable& statement) {
  const std::string schema = creation_schema(draft, statement.relation, statement.persistence);
  const std::string& name = statement.relation.name;
  if (is_there_already(draft, schema, name, statement.if_not_exists)) return {};
  refuse_unsupported(statement);
  if (statement.partition_of) return make_partition(draft, statement, schema);
  TableParts parts = read_parts(draft, statement);

  sql::TableDef table = begin_table(draft, statement, schema);
  std::vector<const ast::RelationName*> referenced;
  for (const ForeignKeyDraft& key : parts.foreign_keys) referenced.push_back(&key.node->referenced);
  table.prefix = draft.reserve_prefix(schema, name, fmt::format("table {}", table.oid), declares_buckets(statement.options) ? sql::home_tag() : tag_of_new_table(draft, referenced));
  draft.put(table);
  const auto is_single_key = [&](const std::string& column) {
    return parts.primary_key && parts.primary_key->columns == std::vector<std::string>{column};
  };
  for (const ColumnDraft& column : parts.columns) {
    if (table.find_column(column.column.name) != nullptr) {
      throw sql::column_listed_twice(column.column.name);
    }
    check_new_column_name(table, column.column.name);
    add_column(draft, table, column, is_single_key(column.column.name));
  }
  for (std::size_t i = 0; i < parts.columns.size(); ++i) {
    if (parts.columns[i].generated != nullptr) check_generated(draft, table, table.columns[i].number, *parts.columns[i].generated);
  }
  set_time_to_live(table, statement.options);
  set_cache_option(table, statement.options);
  for (const CheckDraft& check : parts.checks) add_check(draft, table, check, true);
  if (parts.primary_key && parts.primary_key->deferrable) {
    add_unique(draft, table, *parts.primary_key, sql::IndexState::kReady, true);
    for (const sql::IndexDef::Part& part : table.indexes.back().parts) table.columns[table.position(part.column)].not_null = true;
  } else if (parts.primary_key) {
    add_primary_key(draft, table, *parts.primary_key, true);
  }
  for (const KeyDraft& key : distinct_uniques(parts)) add_unique(draft, table, key, sql::IndexState::kReady, true);
  for (const LikeParts& like : parts.likes) add_like_parts(draft, like, table);
  for (const ForeignKeyDraft& key : parts.foreign_keys) add_foreign_key(draft, table, key, sql::IndexState::kReady);
  choose_presence(table);
  if (statement.partition_by) {
    const bool refers_to_itself = std::ranges::find(table.foreign_keys, table.oid, &sql::ForeignKeyDef::referenced) != table.foreign_keys.end();
    if (refers_to_itself) throw sql::not_supported("a foreign key that refers to a partitioned table or a partition");
    if (declares_buckets(statement.options)) throw sql::not_supported("a partitioned table in several buckets");
    set_partition_key(table, *statement.partition_by);
  } else {
    set_spread(draft, table, statement.options);
  }
  std::vector<std::string> made = implicit_objects("CREATE TABLE", draft.catalog(), nullptr, table);
  draft.put(std::move(table));
  return made;
}

}  // namespace

sql::TableDef::OnCommit on_commit(ast::OnCommit written, std::string_view schema) {
  if (written != ast::OnCommit::kNone && !sql::is_temporary_schema(schema)) {
    throw SqlError(sqlstate::kInvalidTableDefinition, "ON COMMIT can only be used on temporary tables");
  }
  switch (written) {
    case ast::OnCommit::kNone:
    case ast::OnCommit::kPreserveRows:
      return sql::TableDef::OnCommit::kPreserveRows;
    case ast::OnCommit::kDeleteRows:
      return sql::TableDef::OnCommit::kDeleteRows;
    case ast::OnCommit::kDrop:
      return sql::TableDef::OnCommit::kDrop;
  }
  return {};
}

namespace {

/// Returns true if the table that the statement makes a partition of has a default partition, which may have rows of the new one.
asio::awaitable<bool> has_default_partition(DdlContext& context, const ast::CreateTable& statement) {
  const LoadedCatalog loaded = co_await load_definitions(context);
  const CatalogDraft draft(loaded, context.session);
  if (relation_kind(draft, statement.relation) != RelationKind::kNone) co_return false;
  const TablePtr parent = find_table(draft, statement.inherits.front());
  co_return parent && parent->router && parent->router->default_child() != nullptr;
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateTable& statement) {
  std::vector<std::string> made;
  const MakeDraft make = [&](CatalogDraft& draft) { made = make_table(draft, statement); };
  bool has_default = false;
  if (statement.partition_of) has_default = co_await has_default_partition(context, statement);
  if (has_default) {
    co_await add_partition(context, statement.inherits.front(), nullptr, *statement.partition_of, make);
  } else {
    co_await change_catalog(context, make);
  }
  tell_implicit_objects(context.session, std::move(made));
  if (statement.on_commit == ast::OnCommit::kDrop && !context.session.transaction) co_await end_temporary(context);
}

}  // namespace redquel::executor
