#include "executor/ddl/object_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "executor/ddl/definition_rights.h"
#include "executor/roles/access.h"
#include "parser/deparse.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables.h"
#include "sql/system_tables/facts.h"

namespace redquel::executor {

using parser::ast::RelationName;
using sql::SqlError;

namespace {

void check_database(const CatalogDraft& draft, const RelationName& name) {
  if (name.catalog.empty() || name.catalog == draft.session().database) return;
  throw SqlError(sqlstate::kFeatureNotSupported,
                 fmt::format("cross-database references are not implemented: \"{}.{}.{}\"", name.catalog, name.schema, name.name))
      .at(name.offset);
}

bool has_schema(const CatalogDraft& draft, const RelationName& name) {
  return name.schema.empty() || name.schema == "pg_temp" || is_system_schema(name.schema) || draft.catalog().schemas.contains(name.schema);
}

}  // namespace

bool is_system_schema(std::string_view schema) {
  return schema == "pg_catalog" || schema == "information_schema" || schema == sql::kRedisSchema || schema == "redquel";
}

bool is_system_index(std::string_view name) {
  const std::span<const sql::CatalogIndex> indexes = sql::catalog_indexes();
  return std::ranges::find(indexes, name, &sql::CatalogIndex::name) != indexes.end();
}

std::string creation_schema(CatalogDraft& draft, const RelationName& name, parser::ast::Persistence persistence) {
  check_database(draft, name);
  if (persistence == parser::ast::Persistence::kTemporary || name.schema == "pg_temp") {
    const std::string& own = draft.session().temporary_schema;
    if (persistence == parser::ast::Persistence::kUnlogged) {
      throw SqlError(sqlstate::kInvalidTableDefinition, "only temporary relations may be created in temporary schemas").at(name.offset);
    }
    if (!name.schema.empty() && name.schema != "pg_temp" && name.schema != own) {
      throw SqlError(sqlstate::kInvalidTableDefinition, "cannot create temporary relation in non-temporary schema").at(name.offset);
    }
    require_temporary_creation(draft.session());
    if (!draft.catalog().schemas.contains(own)) {
      const sql::Oid owner = current_role(*sql::known_roles(), draft.session());
      draft.put(sql::SchemaDef{.oid = draft.new_oid(), .name = own, .owner = sql::owner_reference(owner), .comment = {}});
    }
    return own;
  }
  if (sql::is_temporary_schema(name.schema) && name.schema != draft.session().temporary_schema) {
    throw SqlError(sqlstate::kInvalidTableDefinition, "cannot create relations in temporary schemas of other sessions").at(name.offset);
  }
  if (is_system_schema(name.schema) || name.schema == "redquel") {
    throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied to create \"{}.{}\"", name.schema, name.name))
        .detail("System catalog modifications are currently disallowed.");
  }
  if (!name.schema.empty()) {
    if (!draft.catalog().schemas.contains(name.schema)) {
      throw sql::undefined_schema(name.schema).at(name.offset);
    }
    return name.schema;
  }
  for (const std::string& schema : draft.session().search_path) {
    if (draft.catalog().schemas.contains(schema) && !sql::is_temporary_schema(schema)) return schema;
  }
  throw SqlError(sqlstate::kUndefinedSchema, "no schema has been selected to create in").at(name.offset);
}

bool is_there_already(CatalogDraft& draft, const std::string& schema, const std::string& name, bool if_not_exists) {
  if (!draft.catalog().relation_exists(schema, name)) return false;
  if (!if_not_exists) throw sql::duplicate_relation(name);
  draft.notice(sqlstate::kDuplicateTable, fmt::format("relation \"{}\" already exists, skipping", name));
  return true;
}

void check_schema(const CatalogDraft& draft, const RelationName& name) {
  check_database(draft, name);
  if (!has_schema(draft, name)) throw missing_relation(draft, name);
  if (!is_system_schema(name.schema)) require_schema_usage(draft.session(), draft.catalog(), name.schema);
}

RelationKind relation_kind(const CatalogDraft& draft, const RelationName& name) {
  check_database(draft, name);
  const sql::CatalogSnapshot& catalog = draft.catalog();
  if (is_system_schema(name.schema)) return RelationKind::kSystemTable;
  require_schema_usage(draft.session(), draft.catalog(), name.schema);
  // The first schema of the path that has anything of that name decides.
  std::vector<std::string> path = draft.session().search_path;
  if (!name.schema.empty()) path = {name.schema == "pg_temp" ? draft.session().temporary_schema : name.schema};
  for (const std::string& schema : path) {
    const std::vector<std::string> only;
    if (catalog.find_table(schema, name.name, only)) return RelationKind::kTable;
    if (catalog.find_index(schema, name.name, only).second || catalog.find_primary_key(schema, name.name, only)) {
      return RelationKind::kIndex;
    }
    if (catalog.find_sequence(schema, name.name, only)) return RelationKind::kSequence;
    if (catalog.find_view(schema, name.name, only)) return RelationKind::kView;
  }
  const bool is_system = name.schema.empty() && (sql::find_system_table("pg_catalog", name.name) || is_system_index(name.name));
  return is_system ? RelationKind::kSystemTable : RelationKind::kNone;
}

TablePtr find_table(const CatalogDraft& draft, const RelationName& name) {
  switch (relation_kind(draft, name)) {
    case RelationKind::kTable:
      return draft.catalog().find_table(name.schema, name.name, draft.session().search_path);
    case RelationKind::kNone:
      return nullptr;
    case RelationKind::kSystemTable:
      throw sql::is_system_catalog(name.name);
    case RelationKind::kIndex:
    case RelationKind::kSequence:
    case RelationKind::kView:
      break;
  }
  throw sql::wrong_object_kind(name.name, "a table");
}

TablePtr require_table(const CatalogDraft& draft, const RelationName& name) {
  TablePtr table = find_table(draft, name);
  if (!table) throw missing_relation(draft, name);
  return table;
}

SqlError missing_relation(const CatalogDraft& draft, const RelationName& name) {
  if (!has_schema(draft, name)) return sql::undefined_schema(name.schema);
  const std::string shown = name.schema.empty() ? name.name : name.schema + "." + name.name;
  return sql::undefined_relation(shown);
}

RelationName relation_name(const parser::ast::QualifiedName& parts) {
  RelationName name;
  if (!parts.empty()) name.name = parts.back();
  if (parts.size() > 1) name.schema = parts[parts.size() - 2];
  if (parts.size() > 2) name.catalog = parts[parts.size() - 3];
  return name;
}

std::string display_name(const CatalogDraft& draft, std::string_view schema, std::string_view name) {
  const std::string own = parser::quote_identifier(name);
  for (const std::string& visible : draft.session().search_path) {
    if (visible == schema) return own;
    if (draft.catalog().relation_exists(visible, name)) break;
  }
  return parser::quote_identifier(schema) + "." + own;
}

bool is_system_column(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames{"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

void check_new_column_name(const sql::TableDef& table, std::string_view name) {
  if (is_system_column(name)) {
    throw SqlError(sqlstate::kDuplicateColumn, fmt::format("column name \"{}\" conflicts with a system column name", name));
  }
  if (table.find_column(name) != nullptr) {
    throw sql::duplicate_column(name, table.name);
  }
}

}  // namespace redquel::executor
