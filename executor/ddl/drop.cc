#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/dependent_changes.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/definition_rights.h"
#include "executor/ddl/dependents.h"
#include "executor/ddl/extension.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/policy.h"
#include "executor/ddl/publication.h"
#include "executor/ddl/trigger.h"
#include "executor/ddl/type_lookup.h"
#include "executor/roles/access.h"
#include "executor/transaction/transaction_catalog.h"
#include "parser/deparse.h"
#include "sql/catalog/counterparts.h"
#include "sql/functions/function.h"
#include "sql/functions/resolve.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// The names, in errors, of the kinds of relation that DROP knows.
struct DropKind {
  ast::ObjectType type;
  std::string_view name;        // table "x" does not exist
  std::string_view with_article;  // "x" is not a table
  std::string_view sqlstate;    // of a missing one
  RelationKind relation;
};
constexpr DropKind kKinds[] = {
    {ast::ObjectType::kTable, "table", "a table", sqlstate::kUndefinedTable, RelationKind::kTable},
    {ast::ObjectType::kIndex, "index", "an index", sqlstate::kUndefinedObject, RelationKind::kIndex},
    {ast::ObjectType::kSequence, "sequence", "a sequence", sqlstate::kUndefinedTable, RelationKind::kSequence},
    {ast::ObjectType::kView, "view", "a view", sqlstate::kUndefinedTable, RelationKind::kView},
    {ast::ObjectType::kMaterializedView, "materialized view", "a materialized view", sqlstate::kUndefinedTable, RelationKind::kTable},
    {ast::ObjectType::kForeignTable, "foreign table", "a foreign table", sqlstate::kUndefinedObject, RelationKind::kTable},
};

SqlError wrong_kind(const std::string& name, const DropKind& wanted, RelationKind found) {
  SqlError error(sqlstate::kWrongObjectType, fmt::format("\"{}\" is not {}", name, wanted.with_article));
  switch (found) {
    case RelationKind::kTable:
      return std::move(error).hint("Use DROP TABLE to remove a table.");
    case RelationKind::kIndex:
      return std::move(error).hint("Use DROP INDEX to remove an index.");
    case RelationKind::kSequence:
      return std::move(error).hint("Use DROP SEQUENCE to remove a sequence.");
    case RelationKind::kView:
      return std::move(error).hint("Use DROP VIEW to remove a view.");
    default:
      return error;
  }
}

/// Drops an index, and those of partitions that are parts of it.
void drop_index(CatalogDraft& draft, sql::Oid table, sql::Oid index, bool cascade) {
  const TablePtr before = draft.catalog().find_table(table);
  const sql::IndexDef& dropped = *std::ranges::find(before->indexes, index, &sql::IndexDef::oid);
  for (const TablePtr& partition : draft.catalog().partitions_of(table)) {
    if (const sql::IndexDef* part = sql::counterpart(*before, dropped, *partition)) drop_index(draft, partition->oid, part->oid, cascade);
  }
  drop_dependents(draft, {{DropObject::Kind::kIndex, index}}, cascade);
  const TablePtr now = draft.catalog().find_table(table);
  sql::TableDef changed = *now;
  std::erase_if(changed.indexes, [&](const sql::IndexDef& other) { return other.oid == index; });
  draft.remove_unused_structures(*now, changed);
  draft.put(std::move(changed));
}

/// The error of an index of a partition that is a part of the index of its table.
SqlError required_by(const CatalogDraft& draft, sql::Oid index, sql::Oid whole_index) {
  const std::string whole = describe(draft, {DropObject::Kind::kIndex, whole_index});
  return SqlError(sqlstate::kDependentObjectsStillExist,
                  fmt::format("cannot drop {} because {} requires it", describe(draft, {DropObject::Kind::kIndex, index}), whole))
      .hint(fmt::format("You can drop {} instead.", whole));
}

void drop_index(CatalogDraft& draft, const ast::RelationName& name, bool concurrently, bool cascade) {
  const auto& path = draft.session().search_path;
  const auto refuse = [&](const std::string& index, sql::Oid oid, const sql::TableDef& table) {
    if (const sql::Oid above = sql::partitioned_index(draft.catalog(), table, oid); above != 0) return required_by(draft, oid, above);
    const std::string shown = display_name(draft, table.schema, table.name);
    return SqlError(sqlstate::kDependentObjectsStillExist,
                    fmt::format("cannot drop index {} because constraint {} on table {} requires it", display_name(draft, table.schema, index),
                                parser::quote_identifier(index), shown))
        .hint(fmt::format("You can drop constraint {} on table {} instead.", parser::quote_identifier(index), shown));
  };
  if (const TablePtr table = draft.catalog().find_primary_key(name.schema, name.name, path)) {
    throw refuse(table->primary_key_index.name, table->primary_key_index.oid, *table);
  }
  const auto [table, index] = draft.catalog().find_index(name.schema, name.name, path);
  if (index == nullptr) return;  // named twice
  if (index->constraint) throw refuse(index->name, index->oid, *table);
  require_owner(draft.session(), table->owner, "index", index->name);
  if (concurrently && table->partition_key) {
    throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot drop partitioned index \"{}\" concurrently", index->name));
  }
  if (const sql::Oid above = sql::partitioned_index(draft.catalog(), *table, index->oid); above != 0) throw required_by(draft, index->oid, above);
  drop_index(draft, table->oid, index->oid, cascade);
}

/// 2BP01 for the sequence of an identity column.
void check_droppable(const CatalogDraft& draft, const sql::SequenceDef& sequence) {
  const TablePtr table = draft.catalog().find_table(sequence.owner_table);
  const sql::ColumnDef* column = table ? table->find_column(sequence.owner_column) : nullptr;
  if (column == nullptr || column->sequence != sequence.oid || column->identity == sql::ColumnDef::Identity::kNone) return;
  const std::string place = describe(draft, {DropObject::Kind::kColumn, table->oid, column->number});
  throw SqlError(sqlstate::kDependentObjectsStillExist,
                 fmt::format("cannot drop {} because {} requires it", describe(draft, {DropObject::Kind::kSequence, sequence.oid}), place))
      .hint(fmt::format("You can drop {} instead.", place));
}

void drop_relations(CatalogDraft& draft, const ast::Drop& statement, const DropKind& kind) {
  if (statement.concurrently && statement.names.size() > 1) {
    throw SqlError(sqlstate::kFeatureNotSupported, "DROP INDEX CONCURRENTLY does not support dropping multiple objects");
  }
  if (statement.concurrently && statement.cascade) {
    throw SqlError(sqlstate::kFeatureNotSupported, "DROP INDEX CONCURRENTLY does not support CASCADE");
  }
  std::vector<ast::RelationName> found;
  for (const ast::ObjectName& object : statement.names) {
    const ast::RelationName name = relation_name(object.names);
    if (!name.schema.empty() && name.schema != "pg_temp" && !is_system_schema(name.schema) && !draft.catalog().schemas.contains(name.schema)) {
      if (!statement.if_exists) throw sql::undefined_schema(name.schema);
      draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("schema \"{}\" does not exist, skipping", name.schema));
      continue;
    }
    const RelationKind relation = relation_kind(draft, name);
    if (relation == RelationKind::kSystemTable) {
      throw sql::is_system_catalog(name.name);
    }
    if (relation == RelationKind::kNone) {
      const std::string message = fmt::format("{} \"{}\" does not exist", kind.name, name.name);
      if (!statement.if_exists) throw SqlError(kind.sqlstate, message);
      draft.notice(sqlstate::kSuccessfulCompletion, message + ", skipping");
      continue;
    }
    if (relation == RelationKind::kTable && kind.relation != relation && find_table(draft, name)->materialized) {
      throw sql::wrong_object_kind(name.name, kind.with_article)
          .hint("Use DROP MATERIALIZED VIEW to remove a materialized view.");
    }
    if (relation != kind.relation) throw wrong_kind(name.name, kind, relation);
    const bool wants_materialized = kind.type == ast::ObjectType::kMaterializedView;
    if (relation == RelationKind::kTable && (find_table(draft, name)->materialized != nullptr) != wants_materialized) {
      SqlError error(sqlstate::kWrongObjectType, fmt::format("\"{}\" is not {}", name.name, kind.with_article));
      const bool is_foreign = find_table(draft, name)->is_mapped();
      throw std::move(error).hint(!wants_materialized ? "Use DROP MATERIALIZED VIEW to remove a materialized view."
                                  : is_foreign        ? "Use DROP FOREIGN TABLE to remove a foreign table."
                                                      : "Use DROP TABLE to remove a table.");
    }
    const bool wants_foreign = kind.type == ast::ObjectType::kForeignTable;
    if (relation == RelationKind::kTable && (find_table(draft, name)->is_mapped()) != wants_foreign) {
      SqlError error(sqlstate::kWrongObjectType, fmt::format("\"{}\" is not {}", name.name, kind.with_article));
      throw std::move(error).hint(wants_foreign ? "Use DROP TABLE to remove a table." : "Use DROP FOREIGN TABLE to remove a foreign table.");
    }
    found.push_back(name);
  }
  const auto& path = draft.session().search_path;
  std::vector<DropObject> targets;
  for (const ast::RelationName& name : found) {
    if (kind.relation == RelationKind::kIndex) {
      drop_index(draft, name, statement.concurrently, statement.cascade);
    } else if (kind.relation == RelationKind::kTable) {
      targets.push_back({DropObject::Kind::kTable, find_table(draft, name)->oid});
    } else if (kind.relation == RelationKind::kView) {
      targets.push_back({DropObject::Kind::kView, draft.catalog().find_view(name.schema, name.name, path)->oid});
    } else {
      const sql::SequenceDef* sequence = draft.catalog().find_sequence(name.schema, name.name, path);
      check_droppable(draft, *sequence);
      targets.push_back({DropObject::Kind::kSequence, sequence->oid});
    }
  }
  require_drop_rights(draft, targets);
  // Partitions go with their table.
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].kind != DropObject::Kind::kTable) continue;
    for (const TablePtr& partition : draft.catalog().partitions_of(targets[i].oid)) {
      const DropObject below{DropObject::Kind::kTable, partition->oid};
      if (std::ranges::find(targets, below) == targets.end()) targets.push_back(below);
    }
  }
  const DependentChanges rights_are_checked;
  drop_dependents(draft, targets, statement.cascade);
  for (const DropObject& target : std::views::reverse(targets)) {
    switch (target.kind) {
      case DropObject::Kind::kTable:
        if (draft.catalog().find_table(target.oid)) draft.drop_table(target.oid);
        break;
      case DropObject::Kind::kView:
        draft.drop_view(target.oid);
        break;
      default:
        if (draft.catalog().sequences.contains(target.oid)) draft.drop_sequence(target.oid);
    }
  }
}

void drop_schemas(CatalogDraft& draft, const ast::Drop& statement) {
  std::vector<DropObject> targets;
  for (const ast::ObjectName& object : statement.names) {
    const std::string& name = object.names.back();
    if (is_system_schema(name)) {
      throw SqlError(sqlstate::kDependentObjectsStillExist,
                     fmt::format("cannot drop schema {} because it is required by the database system", name));
    }
    const auto schema = draft.catalog().schemas.find(name);
    if (schema == draft.catalog().schemas.end()) {
      const std::string message = fmt::format("schema \"{}\" does not exist", name);
      if (!statement.if_exists) throw SqlError(sqlstate::kUndefinedSchema, message);
      draft.notice(sqlstate::kSuccessfulCompletion, message + ", skipping");
      continue;
    }
    targets.push_back({DropObject::Kind::kSchema, schema->second.oid});
  }
  require_drop_rights(draft, targets);
  drop_dependents(draft, targets, statement.cascade);
  for (const ast::ObjectName& object : statement.names) {
    if (draft.catalog().schemas.contains(object.names.back())) draft.drop_schema(object.names.back());
  }
}

}  // namespace

// ---- what is not there ------------------------------------------------------------------------------------------------------

namespace {

/// The kinds' names in messages; `place` is the phrase before the relation of a trigger and the like.
struct MissingKind {
  ast::ObjectType type;
  std::string_view name, place;
};
constexpr MissingKind kMissingKinds[] = {
    {ast::ObjectType::kAccessMethod, "access method", ""},
    {ast::ObjectType::kCollation, "collation", ""},
    {ast::ObjectType::kConversion, "conversion", ""},
    {ast::ObjectType::kEventTrigger, "event trigger", ""},
    {ast::ObjectType::kForeignDataWrapper, "foreign-data wrapper", ""},
    {ast::ObjectType::kForeignServer, "server", ""},
    {ast::ObjectType::kLanguage, "language", ""},
    {ast::ObjectType::kStatistics, "statistics object", ""},
    {ast::ObjectType::kTextSearchConfiguration, "text search configuration", ""},
    {ast::ObjectType::kTextSearchDictionary, "text search dictionary", ""},
    {ast::ObjectType::kTextSearchParser, "text search parser", ""},
    {ast::ObjectType::kTextSearchTemplate, "text search template", ""},
    {ast::ObjectType::kPolicy, "policy", "table"},
    {ast::ObjectType::kRule, "rule", "relation"},
    {ast::ObjectType::kTrigger, "trigger", "table"},
};

/// PostgreSQL's built-in objects: DROP IF EXISTS must not claim that they do not exist.
constexpr std::string_view kBuiltIn[] = {"plpgsql", "redis",   "sql",   "c",      "internal", "default", "C",     "POSIX",
                                         "heap",    "btree",   "hash",    "gin",   "gist",   "simple",   "english", "brin", "spgist",
                                         "ucs_basic"};
constexpr std::string_view kAccessMethods[] = {"btree", "hash", "gin", "gist", "brin", "spgist"};

/// Types as they were written, without their modifiers.
std::string written_types(std::span<const ast::TypeName> types) {
  std::string text;
  for (const ast::TypeName& type : types) {
    text += (text.empty() ? "" : ",") + fmt::format("{}", fmt::join(type.names, ".")) + (type.array_bounds.empty() ? "" : "[]");
  }
  return text;
}

std::string type_text(const CatalogDraft& draft, const ast::TypeName& type) { return sql::format_type(declared_type(draft, type).type); }

/// A notice or an error with the same words.
void tell(CatalogDraft& draft, bool if_exists, std::string_view sqlstate, const std::string& message) {
  if (!if_exists) throw SqlError(sqlstate, message);
  draft.notice(sqlstate::kSuccessfulCompletion, message + ", skipping");
}

/// True: the schema does not exist, and IF EXISTS was said. 3F000 otherwise.
bool skips_schema(CatalogDraft& draft, const std::string& schema, bool if_exists) {
  if (is_system_schema(schema) || schema == "pg_temp" || draft.catalog().schemas.contains(schema)) return false;
  tell(draft, if_exists, sqlstate::kUndefinedSchema, fmt::format("schema \"{}\" does not exist", schema));
  return true;
}

/// True: a type or its schema does not exist, which a notice says. NONE of an operator is no type.
bool skips_type(CatalogDraft& draft, const ast::TypeName& type) {
  if (type.names.empty()) return false;
  if (type.names.size() > 1 && skips_schema(draft, type.names[type.names.size() - 2], true)) return true;
  try {
    declared_type(draft, type);
  } catch (const SqlError& error) {
    if (error.sqlstate() != sqlstate::kUndefinedObject) throw;
    draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("type \"{}\" does not exist, skipping", fmt::join(type.names, ".")));
    return true;
  }
  return false;
}

/// A trigger, rule or policy of a table; what it is the property of comes first.
void drop_part(CatalogDraft& draft, const MissingKind& kind, const ast::ObjectName& object, bool if_exists) {
  const ast::RelationName relation = relation_name({object.names.begin(), object.names.end() - 1});
  if (!relation.schema.empty() && skips_schema(draft, relation.schema, if_exists)) return;
  if (relation_kind(draft, relation) == RelationKind::kNone) {
    const SqlError missing = missing_relation(draft, relation);
    if (!if_exists) throw missing;
    return draft.notice(sqlstate::kSuccessfulCompletion, missing.message() + ", skipping");
  }
  tell(draft, if_exists, sqlstate::kUndefinedObject,
       fmt::format("{} \"{}\" for {} \"{}\" does not exist", kind.name, object.names.back(), if_exists ? "relation" : kind.place, relation.name));
}

/// False: PostgreSQL brings such an aggregate along.
bool drop_aggregate(CatalogDraft& draft, const ast::ObjectName& object, bool if_exists) {
  const ast::RelationName name = relation_name(object.names);
  if (if_exists && skips_missing_place(draft, object)) return true;
  if (name.schema.empty() || name.schema == "pg_catalog") {
    if (!sql::find_aggregates(name.name).empty()) return false;
  }
  const std::string shown = fmt::format("{}", fmt::join(object.names, "."));
  std::string types;
  if (if_exists) {
    draft.notice(sqlstate::kSuccessfulCompletion,
                 fmt::format("aggregate {}({}) does not exist, skipping", shown, written_types(object.argument_types)));
    return true;
  }
  for (const ast::TypeName& type : object.argument_types) types += (types.empty() ? "" : ", ") + type_text(draft, type);
  if (!object.arguments_given) throw SqlError(sqlstate::kUndefinedFunction, fmt::format("could not find an aggregate named \"{}\"", shown));
  const auto is_named = [&](const auto& entry) {
    const sql::FunctionDef& function = *entry.second;
    std::string own;
    for (const auto& parameter : function.parameters) own += (own.empty() ? "" : ", ") + sql::format_type(sql::Type{parameter.type.oid});
    return function.name == name.name && own == types && (name.schema.empty() || name.schema == function.schema);
  };
  if (std::ranges::any_of(draft.catalog().functions, is_named)) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("function {}({}) is not an aggregate", shown, types));
  }
  throw SqlError(sqlstate::kUndefinedFunction, fmt::format("aggregate {}({}) does not exist", shown, types.empty() ? "*" : types));
}

/// False: PostgreSQL brings such an operator along.
bool drop_operator(CatalogDraft& draft, const ast::ObjectName& object, bool if_exists) {
  const std::string shown = fmt::format("{}", fmt::join(object.names, "."));
  if (if_exists) {
    if (skips_missing_place(draft, object)) return true;
    if (!sql::find_functions(object.names.back()).empty()) return false;
    draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("operator {} does not exist, skipping", shown));
    return true;
  }
  std::vector<std::string> types;
  for (const ast::TypeName& type : object.argument_types) types.push_back(type.names.empty() ? "" : type_text(draft, type));
  if (!sql::find_functions(object.names.back()).empty()) return false;
  if (!types.empty() && types.back().empty()) throw SqlError(sqlstate::kSyntaxError, "postfix operators are not supported");
  const bool is_prefix = types.size() < 2 || types[0].empty();
  throw SqlError(sqlstate::kUndefinedFunction,
                 fmt::format("operator does not exist: {}{} {}", is_prefix ? "" : types[0] + " ", shown, types.empty() ? "" : types.back()));
}

/// False: there is such a cast.
bool drop_cast(CatalogDraft& draft, const ast::ObjectName& object, bool if_exists) {
  const std::span types(object.argument_types);
  if (if_exists && (skips_type(draft, types[0]) || skips_type(draft, types[1]))) return true;
  const sql::Type from = declared_type(draft, types[0]).type, to = declared_type(draft, types[1]).type;
  const auto path = sql::find_cast_path(from.oid, to.oid, sql::CastContext::kExplicit);
  if (path && (path->method == sql::CastPath::Method::kFunction || path->method == sql::CastPath::Method::kRelabel)) return false;
  const std::string source = if_exists ? written_types(types.first(1)) : sql::format_type(sql::Type{from.oid});
  const std::string target = if_exists ? written_types(types.last(1)) : sql::format_type(sql::Type{to.oid});
  tell(draft, if_exists, sqlstate::kUndefinedObject, fmt::format("cast from type {} to type {} does not exist", source, target));
  return true;
}

/// An operator class or family; the access method's name comes first. False: PostgreSQL brings it along.
bool drop_operator_class(CatalogDraft& draft, const ast::ObjectName& object, std::string_view kind, bool if_exists) {
  const std::string& method = object.names.front();
  if (std::ranges::find(kAccessMethods, method) == std::end(kAccessMethods)) {
    throw sql::undefined_access_method(method);
  }
  const ast::QualifiedName name(object.names.begin() + 1, object.names.end());
  if (name.back().ends_with("_ops")) return false;
  if (name.size() > 1 && skips_schema(draft, name.front(), if_exists)) return true;
  tell(draft, if_exists, sqlstate::kUndefinedObject,
       fmt::format("{} \"{}\" does not exist for access method \"{}\"", kind, fmt::join(name, "."), method));
  return true;
}

}  // namespace

bool skips_missing_place(CatalogDraft& draft, const ast::ObjectName& object) {
  if (object.names.size() > 1 && skips_schema(draft, object.names[object.names.size() - 2], true)) return true;
  return std::ranges::any_of(object.argument_types, [&](const ast::TypeName& type) { return skips_type(draft, type); });
}

bool drop_missing(CatalogDraft& draft, ast::ObjectType type, std::span<const ast::ObjectName> names, bool if_exists) {
  const auto drop_each = [&](const auto& drop) { return std::ranges::all_of(names, drop); };
  switch (type) {
    case ast::ObjectType::kAggregate:
      return drop_each([&](const ast::ObjectName& object) { return drop_aggregate(draft, object, if_exists); });
    case ast::ObjectType::kOperator:
      return drop_each([&](const ast::ObjectName& object) { return drop_operator(draft, object, if_exists); });
    case ast::ObjectType::kCast:
      return drop_each([&](const ast::ObjectName& object) { return drop_cast(draft, object, if_exists); });
    case ast::ObjectType::kOperatorClass:
      return drop_each([&](const ast::ObjectName& object) { return drop_operator_class(draft, object, "operator class", if_exists); });
    case ast::ObjectType::kOperatorFamily:
      return drop_each([&](const ast::ObjectName& object) { return drop_operator_class(draft, object, "operator family", if_exists); });
    default:
      break;
  }
  const auto* kind = std::ranges::find(kMissingKinds, type, &MissingKind::type);
  if (kind == std::end(kMissingKinds)) return false;
  for (const ast::ObjectName& object : names) {
    const std::string& name = object.names.back();
    if (std::ranges::find(kBuiltIn, name) != std::end(kBuiltIn) || name.starts_with("pg_")) return false;
  }
  for (const ast::ObjectName& object : names) {
    if (!kind->place.empty()) {
      drop_part(draft, *kind, object, if_exists);
      continue;
    }
    const std::string shown = fmt::format("{}", fmt::join(object.names, "."));
    if (object.names.size() > 1 && skips_schema(draft, object.names[object.names.size() - 2], if_exists)) continue;
    const bool is_collation = type == ast::ObjectType::kCollation && !if_exists;
    tell(draft, if_exists, sqlstate::kUndefinedObject,
         fmt::format("{} \"{}\"{} does not exist", kind->name, shown, is_collation ? " for encoding \"UTF8\"" : ""));
  }
  return true;
}

namespace {

/// Columns of keys that may go along with what one statement drops.
constexpr std::size_t kKeyColumns = 100;

/// ALTER TABLE … DROP COLUMN … CASCADE; gives the column as notices call it.
asio::awaitable<std::string> drop_key_column(DdlContext& context, KeyColumnGoes key) {
  const LoadedCatalog loaded = co_await load_definitions(context);
  const TablePtr table = loaded.snapshot->find_table(key.table);
  const sql::ColumnDef* column = table ? table->find_column(key.column) : nullptr;
  if (column == nullptr) co_return std::string();
  CatalogDraft known(loaded, context.session);
  const std::string described = describe(known, {DropObject::Kind::kColumn, key.table, key.column});
  ast::DropColumn command;
  command.column = column->name;
  command.cascade = true;
  ast::AlterTable alteration;
  alteration.relation.schema = table->schema;
  alteration.relation.name = table->name;
  alteration.commands.emplace_back(std::move(command));
  co_await run(context, alteration);
  co_return described;
}

}  // namespace

asio::awaitable<void> drop_with_key_columns(DdlContext& context, const MakeDraft& make) {
  std::vector<std::string> gone;
  const MakeDraft with_notices = [&](CatalogDraft& draft) {
    for (const std::string& column : gone) draft.notice(sqlstate::kSuccessfulCompletion, "drop cascades to " + column);
    make(draft);
  };
  for (std::size_t attempt = 0; attempt <= kKeyColumns; ++attempt) {
    std::optional<KeyColumnGoes> key;
    try {
      co_await change_catalog(context, with_notices);
    } catch (const KeyColumnGoes& found) {
      if (attempt == kKeyColumns) throw;
      key = found;
    }
    if (!key) co_return;
    std::string column = co_await drop_key_column(context, *key);
    if (!column.empty()) gone.push_back(std::move(column));
  }
}

asio::awaitable<void> run(DdlContext& context, const ast::Drop& statement) {
  if (statement.object == ast::ObjectType::kDatabase) co_return co_await drop_database(context, statement);
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const DropKind& k) { return k.type == statement.object; });
  const bool is_schema = statement.object == ast::ObjectType::kSchema;
  const bool is_type = statement.object == ast::ObjectType::kType || statement.object == ast::ObjectType::kDomain;
  const bool is_function = is_routine(statement.object);
  const MakeDraft make = [&](CatalogDraft& draft) {
    if (statement.object == ast::ObjectType::kPolicy) {
      drop_policies(draft, statement);
    } else if (statement.object == ast::ObjectType::kExtension) {
      drop_extensions(draft, statement);
    } else if (statement.object == ast::ObjectType::kPublication) {
      drop_publications(draft, statement);
    } else if (statement.object == ast::ObjectType::kTrigger) {
      drop_triggers(draft, statement);
    } else if (kind == std::end(kKinds) && !is_schema && !is_type && !is_function) {
      if (!drop_missing(draft, statement.object, statement.names, statement.if_exists)) throw sql::not_supported("DROP of this kind of object");
    } else if (is_type) {
      drop_types(draft, statement);
    } else if (is_schema) {
      drop_schemas(draft, statement);
    } else if (is_function) {
      drop_functions(draft, statement);
    } else {
      drop_relations(draft, statement, *kind);
    }
  };
  co_await drop_with_key_columns(context, make);
}

}  // namespace redquel::executor
