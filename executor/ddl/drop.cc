#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "executor/ddl/catalog_draft.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/dependents.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/type_lookup.h"
#include "parser/deparse.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// How errors name the kinds of relation that DROP knows.
struct DropKind {
  ast::ObjectType type;
  std::string_view name;        // table "x" does not exist
  std::string_view with_article;  // "x" is not a table
  std::string_view sqlstate;    // of a missing one
  RelationKind relation;
};
constexpr DropKind kKinds[] = {
    {ast::ObjectType::kTable, "table", "a table", "42P01", RelationKind::kTable},
    {ast::ObjectType::kIndex, "index", "an index", "42704", RelationKind::kIndex},
    {ast::ObjectType::kSequence, "sequence", "a sequence", "42P01", RelationKind::kSequence},
    {ast::ObjectType::kView, "view", "a view", "42P01", RelationKind::kView},
    {ast::ObjectType::kMaterializedView, "materialized view", "a materialized view", "42P01", RelationKind::kTable},
    {ast::ObjectType::kForeignTable, "foreign table", "a foreign table", "42P01", RelationKind::kTable},
};

SqlError wrong_kind(const std::string& name, const DropKind& wanted, RelationKind found) {
  SqlError error("42809", fmt::format("\"{}\" is not {}", name, wanted.with_article));
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

void drop_index(CatalogDraft& draft, const ast::RelationName& name, bool cascade) {
  const auto& path = draft.session().search_path;
  const auto refuse = [&](const std::string& index, const sql::TableDef& table) {
    const std::string shown = display_name(draft, table.schema, table.name);
    return SqlError("2BP01", fmt::format("cannot drop index {} because constraint {} on table {} requires it",
                                         display_name(draft, table.schema, index), parser::quote_identifier(index), shown))
        .hint(fmt::format("You can drop constraint {} on table {} instead.", parser::quote_identifier(index), shown));
  };
  if (const TablePtr table = draft.catalog().find_primary_key(name.schema, name.name, path)) {
    throw refuse(table->primary_key_name, *table);
  }
  const auto [table, index] = draft.catalog().find_index(name.schema, name.name, path);
  if (index == nullptr) return;  // named twice
  if (index->constraint) throw refuse(index->name, *table);
  const sql::Oid oid = index->oid;
  drop_dependents(draft, {{DropObject::Kind::kIndex, oid}}, cascade);
  const TablePtr now = draft.catalog().find_table(table->oid);
  sql::TableDef changed = *now;
  std::erase_if(changed.indexes, [&](const sql::IndexDef& other) { return other.oid == oid; });
  draft.remove_unused_structures(*now, changed);
  draft.put(std::move(changed));
}

/// 2BP01 for the sequence of an identity column.
void check_droppable(const CatalogDraft& draft, const sql::SequenceDef& sequence) {
  const TablePtr table = draft.catalog().find_table(sequence.owner_table);
  const sql::ColumnDef* column = table ? table->find_column(sequence.owner_column) : nullptr;
  if (column == nullptr || column->sequence != sequence.oid || column->identity == sql::ColumnDef::Identity::kNone) return;
  const std::string place = describe(draft, {DropObject::Kind::kColumn, table->oid, column->number});
  throw SqlError("2BP01", fmt::format("cannot drop {} because {} requires it",
                                      describe(draft, {DropObject::Kind::kSequence, sequence.oid}), place))
      .hint(fmt::format("You can drop {} instead.", place));
}

void drop_relations(CatalogDraft& draft, const ast::Drop& statement, const DropKind& kind) {
  std::vector<ast::RelationName> found;
  for (const ast::ObjectName& object : statement.names) {
    const ast::RelationName name = relation_name(object.names);
    if (!name.schema.empty() && name.schema != "pg_temp" && !is_system_schema(name.schema) && !draft.catalog().schemas.contains(name.schema)) {
      if (!statement.if_exists) throw SqlError("3F000", fmt::format("schema \"{}\" does not exist", name.schema));
      draft.notice("00000", fmt::format("schema \"{}\" does not exist, skipping", name.schema));
      continue;
    }
    const RelationKind relation = relation_kind(draft, name);
    if (relation == RelationKind::kSystemTable) {
      throw SqlError("42501", fmt::format("permission denied: \"{}\" is a system catalog", name.name));
    }
    if (relation == RelationKind::kNone) {
      const std::string message = fmt::format("{} \"{}\" does not exist", kind.name, name.name);
      if (!statement.if_exists) throw SqlError(kind.sqlstate, message);
      draft.notice("00000", message + ", skipping");
      continue;
    }
    if (relation == RelationKind::kTable && kind.relation != relation && find_table(draft, name)->materialized) {
      throw SqlError("42809", fmt::format("\"{}\" is not {}", name.name, kind.with_article))
          .hint("Use DROP MATERIALIZED VIEW to remove a materialized view.");
    }
    if (relation != kind.relation) throw wrong_kind(name.name, kind, relation);
    const bool wants_materialized = kind.type == ast::ObjectType::kMaterializedView;
    if (relation == RelationKind::kTable && (find_table(draft, name)->materialized != nullptr) != wants_materialized) {
      SqlError error("42809", fmt::format("\"{}\" is not {}", name.name, kind.with_article));
      const bool is_foreign = find_table(draft, name)->mapping != nullptr;
      throw std::move(error).hint(!wants_materialized ? "Use DROP MATERIALIZED VIEW to remove a materialized view."
                                  : is_foreign        ? "Use DROP FOREIGN TABLE to remove a foreign table."
                                                      : "Use DROP TABLE to remove a table.");
    }
    const bool wants_foreign = kind.type == ast::ObjectType::kForeignTable;
    if (relation == RelationKind::kTable && (find_table(draft, name)->mapping != nullptr) != wants_foreign) {
      SqlError error("42809", fmt::format("\"{}\" is not {}", name.name, kind.with_article));
      throw std::move(error).hint(wants_foreign ? "Use DROP TABLE to remove a table." : "Use DROP FOREIGN TABLE to remove a foreign table.");
    }
    found.push_back(name);
  }
  const auto& path = draft.session().search_path;
  std::vector<DropObject> targets;
  for (const ast::RelationName& name : found) {
    if (kind.relation == RelationKind::kIndex) {
      drop_index(draft, name, statement.cascade);
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
  drop_dependents(draft, targets, statement.cascade);
  for (const DropObject& target : targets) {
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
      throw SqlError("2BP01", fmt::format("cannot drop schema {} because it is required by the database system", name));
    }
    const auto schema = draft.catalog().schemas.find(name);
    if (schema == draft.catalog().schemas.end()) {
      const std::string message = fmt::format("schema \"{}\" does not exist", name);
      if (!statement.if_exists) throw SqlError("3F000", message);
      draft.notice("00000", message + ", skipping");
      continue;
    }
    targets.push_back({DropObject::Kind::kSchema, schema->second.oid});
  }
  drop_dependents(draft, targets, statement.cascade);
  for (const ast::ObjectName& object : statement.names) {
    if (draft.catalog().schemas.contains(object.names.back())) draft.drop_schema(object.names.back());
  }
}

// ---- kinds of objects that redquel has none of ----------------------------------------------------------------------------

/// How messages name them; `place` is what the name of a trigger and the like follows.
struct MissingKind {
  ast::ObjectType type;
  std::string_view name, place;
};
constexpr MissingKind kMissingKinds[] = {
    {ast::ObjectType::kAccessMethod, "access method", ""},
    {ast::ObjectType::kCollation, "collation", ""},
    {ast::ObjectType::kConversion, "conversion", ""},
    {ast::ObjectType::kEventTrigger, "event trigger", ""},
    {ast::ObjectType::kExtension, "extension", ""},
    {ast::ObjectType::kLanguage, "language", ""},
    {ast::ObjectType::kPublication, "publication", ""},
    {ast::ObjectType::kStatistics, "statistics object", ""},
    {ast::ObjectType::kTextSearchConfiguration, "text search configuration", ""},
    {ast::ObjectType::kTextSearchDictionary, "text search dictionary", ""},
    {ast::ObjectType::kTextSearchParser, "text search parser", ""},
    {ast::ObjectType::kTextSearchTemplate, "text search template", ""},
    {ast::ObjectType::kPolicy, "policy", "table"},
    {ast::ObjectType::kRule, "rule", "relation"},
    {ast::ObjectType::kTrigger, "trigger", "table"},
};

/// What PostgreSQL brings along: there is no telling that it does not exist.
constexpr std::string_view kBuiltIn[] = {"plpgsql", "redquel", "sql",   "c",     "internal", "default", "C",
                                         "POSIX",   "heap",    "btree", "hash",  "gin",      "gist",    "simple",
                                         "english", "brin",    "spgist", "ucs_basic"};

/// DROP of triggers, extensions and the like, which do not exist here: 42704, or a notice with IF EXISTS. False: of another kind of
/// object, or of one that PostgreSQL brings along.
bool drop_missing(CatalogDraft& draft, const ast::Drop& statement) {
  const auto* kind = std::ranges::find(kMissingKinds, statement.object, &MissingKind::type);
  if (kind == std::end(kMissingKinds)) return false;
  for (const ast::ObjectName& object : statement.names) {
    const std::string& name = object.names.back();
    if (std::ranges::find(kBuiltIn, name) != std::end(kBuiltIn) || name.starts_with("pg_")) return false;
  }
  for (const ast::ObjectName& object : statement.names) {
    std::string message = fmt::format("{} \"{}\" does not exist", kind->name, fmt::join(object.names, "."));
    if (!kind->place.empty()) {
      const ast::QualifiedName table(object.names.begin(), object.names.end() - 1);
      const ast::RelationName relation = relation_name(table);
      if (relation_kind(draft, relation) == RelationKind::kNone) {
        message = missing_relation(relation).message();
        if (!statement.if_exists) throw missing_relation(relation);
      } else {
        message = fmt::format("{} \"{}\" for {} \"{}\" does not exist", kind->name, object.names.back(),
                              statement.if_exists ? "relation" : kind->place, table.back());
      }
    } else if (statement.object == ast::ObjectType::kCollation && !statement.if_exists) {
      message = fmt::format("collation \"{}\" for encoding \"UTF8\" does not exist", fmt::join(object.names, "."));
    }
    if (!statement.if_exists) throw SqlError("42704", message);
    draft.notice("00000", message + ", skipping");
  }
  return true;
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::Drop& statement) {
  if (statement.object == ast::ObjectType::kDatabase) co_return co_await drop_database(context, statement);
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const DropKind& k) { return k.type == statement.object; });
  const bool is_schema = statement.object == ast::ObjectType::kSchema;
  const bool is_type = statement.object == ast::ObjectType::kType || statement.object == ast::ObjectType::kDomain;
  const bool is_function = is_routine(statement.object);
  const MakeDraft make = [&](CatalogDraft& draft) {
    if (kind == std::end(kKinds) && !is_schema && !is_type && !is_function) {
      if (!drop_missing(draft, statement)) throw sql::not_supported("DROP of this kind of object");
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
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
