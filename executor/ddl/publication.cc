// CREATE, ALTER, DROP, RENAME and COMMENT of publications.

#include "executor/ddl/publication.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/object_lookup.h"
#include "executor/roles/access.h"
#include "parser/option_value.h"
#include "sql/catalog/publications.h"
#include "sql/identifier_list.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::PublicationDef;
using sql::SqlError;

namespace {

using PublicationObjects = std::vector<ast::PublicationObject>;
using ObjectKind = ast::PublicationObject::Kind;
using PublicationAction = ast::AlterPublication::Action;

void set_published_kinds(PublicationDef& publication, const std::string& list) {
  publication.inserts = publication.updates = publication.deletes = publication.truncates = false;
  const auto words = sql::split_identifier_list(list);
  if (!words) throw SqlError(sqlstate::kSyntaxError, "invalid list syntax in parameter \"publish\"");
  for (const std::string& word : *words) {
    if (word == "insert") publication.inserts = true;
    else if (word == "update") publication.updates = true;
    else if (word == "delete") publication.deletes = true;
    else if (word == "truncate") publication.truncates = true;
    else throw SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized value for publication option \"publish\": \"{}\"", word));
  }
}

void set_publication_options(PublicationDef& publication, const std::vector<ast::Option>& options) {
  std::set<std::string> seen;
  for (const ast::Option& option : options) {
    const bool is_known = option.name == "publish" || option.name == "publish_via_partition_root";
    if (!is_known) throw SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized publication parameter: \"{}\"", option.name));
    if (!seen.insert(option.name).second) throw sql::conflicting_options().at(option.offset);
    if (option.name == "publish") {
      const std::optional<std::string> list = parser::option_text(option);
      if (!list) throw SqlError(sqlstate::kSyntaxError, "publish requires a parameter");
      set_published_kinds(publication, *list);
      continue;
    }
    const std::optional<bool> flag = parser::option_flag(option);
    if (!flag) throw SqlError(sqlstate::kSyntaxError, "publish_via_partition_root requires a Boolean value");
    if (*flag) throw sql::not_supported("publish_via_partition_root");
  }
}

SqlError cannot_add(std::string_view relation, std::string_view plural) {
  return SqlError(sqlstate::kInvalidParameterValue, fmt::format("cannot add relation \"{}\" to publication", relation))
      .detail(fmt::format("This operation is not supported for {}.", plural));
}

/// A relation that a list names.
struct Listed {
  TablePtr table;  // null: it is of another kind
  std::string name;
  std::string owner, kind;
  std::string_view plural;
};

/// Finds the relation. 42P01; 42809 for an index.
Listed find_listed_relation(const CatalogDraft& draft, const ast::RelationName& name) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  const std::vector<std::string>& path = draft.session().search_path;
  switch (relation_kind(draft, name)) {
    case RelationKind::kTable: {
      TablePtr table = catalog.find_table(name.schema, name.name, path);
      const std::string_view plural = table->is_mapped() ? "foreign tables" : table->materialized ? "materialized views" : "temporary tables";
      return {table, table->name, table->owner, std::string(sql::kind_name(*table)), plural};
    }
    case RelationKind::kView: {
      const auto view = catalog.find_view(name.schema, name.name, path);
      return {nullptr, view->name, view->owner, "view", "views"};
    }
    case RelationKind::kSequence: {
      const sql::SequenceDef& sequence = *catalog.find_sequence(name.schema, name.name, path);
      return {nullptr, sequence.name, sql::owner_of(catalog, sequence), "sequence", "sequences"};
    }
    case RelationKind::kIndex:
      throw SqlError(sqlstate::kWrongObjectType, fmt::format("\"{}\" is an index", name.name));
    case RelationKind::kSystemTable:
      return {nullptr, name.name, sql::owner_reference(sql::kPostgresRole), "table", "system tables"};
    case RelationKind::kNone: break;
  }
  throw missing_relation(draft, name);
}

std::string named_current_schema(const CatalogDraft& draft) {
  for (const std::string& schema : draft.session().search_path) {
    if (draft.catalog().schemas.contains(schema) && !sql::is_temporary_schema(schema)) return schema;
  }
  throw SqlError(sqlstate::kUndefinedSchema, "no schema has been selected for CURRENT_SCHEMA");
}

void refuse_filters(const PublicationObjects& objects, bool drops) {
  for (const ast::PublicationObject& object : objects) {
    if (drops && object.has_columns) throw SqlError(sqlstate::kSyntaxError, "column list must not be specified in ALTER PUBLICATION ... DROP");
    if (drops && object.has_condition) throw SqlError(sqlstate::kSyntaxError, "cannot use a WHERE clause when removing a table from a publication");
    if (object.has_columns) throw sql::not_supported("column list of a publication");
    if (object.has_condition) throw sql::not_supported("WHERE of a publication");
  }
}

std::vector<std::string> listed_schemas(const CatalogDraft& draft, const PublicationObjects& objects) {
  std::vector<std::string> schemas;
  for (const ast::PublicationObject& object : objects) {
    if (object.kind == ObjectKind::kTable) continue;
    std::string schema = object.kind == ObjectKind::kSchema ? object.schema : named_current_schema(draft);
    if (!is_system_schema(schema) && !draft.catalog().schemas.contains(schema)) throw sql::undefined_schema(schema);
    if (std::ranges::find(schemas, schema) == schemas.end()) schemas.push_back(std::move(schema));
  }
  return schemas;
}

std::vector<Listed> listed_tables(const CatalogDraft& draft, const PublicationObjects& objects) {
  std::vector<Listed> tables;
  for (const ast::PublicationObject& object : objects) {
    if (object.kind != ObjectKind::kTable) continue;
    Listed listed = find_listed_relation(draft, object.table);
    const auto is_same = [&](const Listed& other) { return other.table && other.table == listed.table; };
    if (std::ranges::none_of(tables, is_same)) tables.push_back(std::move(listed));
  }
  return tables;
}

bool has_member(const std::vector<PublicationDef::Member>& members, sql::Oid object) {
  return std::ranges::find(members, object, &PublicationDef::Member::object) != members.end();
}

void add_listed_tables(CatalogDraft& draft, PublicationDef& publication, const std::vector<Listed>& tables, bool may_be_there) {
  for (const Listed& listed : tables) {
    require_owner(draft.session(), listed.owner, listed.kind, listed.name);
    if (listed.table && has_member(publication.tables, listed.table->oid)) {
      if (may_be_there) continue;
      throw SqlError(sqlstate::kDuplicateObject, fmt::format("relation \"{}\" is already member of publication \"{}\"", listed.name, publication.name));
    }
    if (!listed.table || !sql::is_publishable(*listed.table)) throw cannot_add(listed.name, listed.plural);
    publication.tables.push_back({draft.new_oid(), listed.table->oid});
  }
}

void add_listed_schemas(CatalogDraft& draft, PublicationDef& publication, const std::vector<std::string>& schemas, bool may_be_there) {
  for (const std::string& schema : schemas) {
    const sql::Oid oid = sql::schema_oid(draft.catalog(), schema);
    if (has_member(publication.schemas, oid)) {
      if (may_be_there) continue;
      throw SqlError(sqlstate::kDuplicateObject, fmt::format("schema \"{}\" is already member of publication \"{}\"", schema, publication.name));
    }
    const auto refuse = [&](std::string_view detail) {
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("cannot add schema \"{}\" to publication", schema)).detail(std::string(detail));
    };
    if (is_system_schema(schema)) refuse("This operation is not supported for system schemas.");
    if (sql::is_temporary_schema(schema)) refuse("Temporary schemas cannot be replicated.");
    publication.schemas.push_back({draft.new_oid(), oid});
  }
}

void drop_listed_tables(PublicationDef& publication, const std::vector<Listed>& tables) {
  for (const Listed& listed : tables) {
    const sql::Oid oid = listed.table ? listed.table->oid : 0;
    if (std::erase_if(publication.tables, [&](const auto& member) { return member.object == oid; }) != 0) continue;
    throw SqlError(sqlstate::kUndefinedObject, fmt::format("relation \"{}\" is not part of the publication", listed.name));
  }
}

void drop_listed_schemas(const CatalogDraft& draft, PublicationDef& publication, const std::vector<std::string>& schemas) {
  for (const std::string& schema : schemas) {
    const sql::Oid oid = sql::schema_oid(draft.catalog(), schema);
    if (std::erase_if(publication.schemas, [&](const auto& member) { return member.object == oid; }) != 0) continue;
    throw SqlError(sqlstate::kUndefinedObject, fmt::format("tables from schema \"{}\" are not part of the publication", schema));
  }
}

void create_publication(CatalogDraft& draft, const ast::CreatePublication& statement) {
  const SessionState& session = draft.session();
  require_schema_creation(session);
  if (statement.all_tables) require_superuser(session, "must be superuser to create FOR ALL TABLES publication");
  if (draft.catalog().find_publication(statement.name) != nullptr) {
    throw SqlError(sqlstate::kDuplicateObject, fmt::format("publication \"{}\" already exists", statement.name));
  }
  PublicationDef publication{.name = statement.name, .owner = sql::owner_reference(current_role(*sql::known_roles(), session)), .comment = {}, .all_tables = statement.all_tables, .tables = {}, .schemas = {}};
  set_publication_options(publication, statement.options);
  publication.oid = draft.new_oid();
  const std::vector<std::string> schemas = listed_schemas(draft, statement.objects);
  if (!schemas.empty()) require_superuser(session, "must be superuser to create FOR TABLES IN SCHEMA publication");
  refuse_filters(statement.objects, false);
  add_listed_tables(draft, publication, listed_tables(draft, statement.objects), true);
  add_listed_schemas(draft, publication, schemas, true);
  draft.put(std::move(publication));
}

SqlError is_for_all_tables(const PublicationDef& publication, std::string_view kind) {
  return SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("publication \"{}\" is defined as FOR ALL TABLES", publication.name))
      .detail(fmt::format("{} cannot be added to or dropped from FOR ALL TABLES publications.", kind));
}

/// Removes the members that the new lists lack.
void keep_listed(const CatalogDraft& draft, PublicationDef& publication, const std::vector<Listed>& tables, const std::vector<std::string>& schemas) {
  std::erase_if(publication.tables, [&](const auto& member) {
    return std::ranges::none_of(tables, [&](const Listed& listed) { return listed.table && listed.table->oid == member.object; });
  });
  std::erase_if(publication.schemas, [&](const auto& member) {
    return std::ranges::none_of(schemas, [&](const std::string& schema) { return sql::schema_oid(draft.catalog(), schema) == member.object; });
  });
}

void alter_members(CatalogDraft& draft, PublicationDef& publication, const ast::AlterPublication& statement) {
  const std::vector<std::string> schemas = listed_schemas(draft, statement.objects);
  if (statement.action != PublicationAction::kDrop && !schemas.empty()) require_superuser(draft.session(), "must be superuser to add or set schemas");
  if (publication.all_tables && !schemas.empty()) throw is_for_all_tables(publication, "Schemas");
  const bool names_tables = std::ranges::any_of(statement.objects, [](const auto& object) { return object.kind == ObjectKind::kTable; });
  if (publication.all_tables && names_tables) throw is_for_all_tables(publication, "Tables");
  publication.tables = sql::existing_tables(draft.catalog(), publication);
  publication.schemas = sql::existing_schemas(draft.catalog(), publication);
  const std::vector<Listed> tables = listed_tables(draft, statement.objects);
  refuse_filters(statement.objects, statement.action == PublicationAction::kDrop);
  if (statement.action == PublicationAction::kDrop) {
    drop_listed_tables(publication, tables);
    return drop_listed_schemas(draft, publication, schemas);
  }
  const bool sets = statement.action == PublicationAction::kSet;
  if (sets) keep_listed(draft, publication, tables, schemas);
  add_listed_tables(draft, publication, tables, sets);
  add_listed_schemas(draft, publication, schemas, sets);
}

void alter_publication(CatalogDraft& draft, const ast::AlterPublication& statement) {
  PublicationDef publication = require_publication(draft, statement.name);
  require_owner(draft.session(), publication.owner, "publication", publication.name);
  if (statement.action == PublicationAction::kSetOptions) set_publication_options(publication, statement.options);
  else alter_members(draft, publication, statement);
  draft.put(std::move(publication));
}

}  // namespace

const PublicationDef& require_publication(const CatalogDraft& draft, const std::string& name) {
  const PublicationDef* publication = draft.catalog().find_publication(name);
  if (publication == nullptr) throw SqlError(sqlstate::kUndefinedObject, fmt::format("publication \"{}\" does not exist", name));
  return *publication;
}

void drop_publications(CatalogDraft& draft, const ast::Drop& statement) {
  std::vector<sql::Oid> targets;
  for (const ast::ObjectName& object : statement.names) {
    const std::string& name = object.names.back();
    if (statement.if_exists && draft.catalog().find_publication(name) == nullptr) {
      draft.notice(sqlstate::kSuccessfulCompletion, fmt::format("publication \"{}\" does not exist, skipping", name));
      continue;
    }
    const PublicationDef& publication = require_publication(draft, name);
    require_owner(draft.session(), publication.owner, "publication", name);
    targets.push_back(publication.oid);
  }
  for (const sql::Oid oid : targets) {
    if (draft.catalog().publications.contains(oid)) draft.drop_publication(oid);
  }
}

void rename_publication(CatalogDraft& draft, const ast::Rename& statement) {
  PublicationDef publication = require_publication(draft, statement.name.names.back());
  require_owner(draft.session(), publication.owner, "publication", publication.name);
  if (draft.catalog().find_publication(statement.new_name) != nullptr) {
    throw SqlError(sqlstate::kDuplicateObject, fmt::format("publication \"{}\" already exists", statement.new_name));
  }
  publication.name = statement.new_name;
  draft.put(std::move(publication));
}

void comment_on_publication(CatalogDraft& draft, const std::string& name, const std::string& text) {
  PublicationDef publication = require_publication(draft, name);
  require_owner(draft.session(), publication.owner, "publication", publication.name);
  publication.comment = text;
  draft.put(std::move(publication));
}

void check_publication_owner(const PublicationDef& publication, const sql::RoleDef& owner) {
  if (owner.superuser || (!publication.all_tables && publication.schemas.empty())) return;
  throw SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied to change owner of publication \"{}\"", publication.name))
      .hint(fmt::format("The owner of a FOR {} publication must be a superuser.", publication.all_tables ? "ALL TABLES" : "TABLES IN SCHEMA"));
}

asio::awaitable<void> run(DdlContext& context, const ast::CreatePublication& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) { create_publication(draft, statement); };
  co_await change_catalog(context, make);
}

asio::awaitable<void> run(DdlContext& context, const ast::AlterPublication& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) { alter_publication(draft, statement); };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
