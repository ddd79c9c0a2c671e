// GRANT and REVOKE on one object: PostgreSQL's ExecGrant_Relation, ExecGrant_Attribute and their kin (catalog/aclchk.c).

#include "executor/ddl/object_privileges.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "executor/catalog/dependent_changes.h"
#include "executor/roles/access.h"
#include "sql/name_errors.h"
#include "sql/privileges/grants.h"
#include "sql/privileges/held_rights.h"
#include "sql/privileges/permission_errors.h"
#include "sql/privileges/system_acl.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"

namespace redquel::executor {

using sql::AclKind;
using sql::Rights;
using sql::SqlError;

namespace {

namespace classes = sql::catalog_class;

// SQLSTATEs of warnings.
constexpr std::string_view kPrivilegeNotGranted = "01007", kPrivilegeNotRevoked = "01006";

/// Names of the columns that every table has, by their numbers from -6 up.
constexpr std::string_view kSystemColumns[] = {"tableoid", "cmax", "xmax", "cmin", "xmin", "ctid"};
constexpr std::int16_t kFirstSystemColumn = -6;

/// The roles that decide about a change, and the object's owner.
struct Deciders {
  const sql::RoleSet& roles;
  std::string_view database;
  sql::Oid owner;

  sql::AclOwner of_acl() const { return {owner, roles, database}; }
};

/// An object or column as warnings name it.
struct ShownObject {
  std::string name, column;  // no column: of an object

  std::string text() const { return column.empty() ? fmt::format("\"{}\"", name) : fmt::format("column \"{}\" of relation \"{}\"", column, name); }
};

/// Returns the part of the rights that the role may grant or revoke, and warns of the others (restrict_and_check_grant()).
Rights restricted(const PrivilegeChange& change, Rights wanted, Rights grantable, bool is_all, const ShownObject& shown, const Warn& warn) {
  const Rights rights = wanted & grantable;
  if (rights != 0 && (is_all || rights == wanted)) return rights;
  const std::string_view none = change.is_grant ? "no privileges were granted for" : "no privileges could be revoked for";
  const std::string_view some = change.is_grant ? "not all privileges were granted for" : "not all privileges could be revoked for";
  warn(SqlError(change.is_grant ? kPrivilegeNotGranted : kPrivilegeNotRevoked,
                fmt::format("{} {}", rights == 0 ? none : some, shown.text())));
  return rights;
}

sql::Acl merged(const PrivilegeChange& change, sql::Acl acl, sql::Oid grantor, Rights rights, const Deciders& deciders) {
  if (change.is_grant) return sql::grant(std::move(acl), change.grantees, grantor, rights, change.grant_option, deciders.of_acl());
  return sql::revoke(std::move(acl), change.grantees, grantor, rights, change.grant_option, change.cascade, deciders.of_acl());
}

/// Returns true if the role has one of the rights that objects of kind `of` can have, or its grant option.
bool has_any_right(const sql::Acl& acl, AclKind kind, AclKind of, sql::Oid role, const Deciders& deciders) {
  const Rights held = sql::held_rights(acl, kind, deciders.owner, role, deciders.roles, deciders.database) |
                      sql::held_grant_options(acl, kind, deciders.owner, role, deciders.roles, deciders.database);
  return (held & sql::all_rights(of)) != 0;
}

sql::Acl changed_list(const PrivilegeChange& change, const sql::ObjectAcl& object, Rights wanted, const std::string& name,
                      const Deciders& deciders, const Warn& warn) {
  sql::Acl acl = object.effective();
  const sql::Grantor grantor = sql::select_best_grantor(acl, change.role, wanted, deciders.of_acl());
  if (grantor.grantable == 0 && !has_any_right(acl, object.kind, object.kind, grantor.role, deciders)) {
    throw sql::permission_denied(word_for(object.kind), name);
  }
  const Rights rights = restricted(change, wanted, grantor.grantable, change.rights.is_all, {name, ""}, warn);
  return merged(change, std::move(acl), grantor.role, rights, deciders);
}

// ---- relations --------------------------------------------------------------------------------------------------------

/// A relation with the lists of its columns.
class RelationPrivileges {
 public:
  RelationPrivileges(CatalogDraft& draft, const PrivilegeChange& change, sql::Relation relation, sql::ObjectAcl object)
      : draft_(draft),
        change_(change),
        relation_(std::move(relation)),
        object_(std::move(object)),
        deciders_{*sql::known_roles(), draft.session().database, object_.owner},
        warn_([&draft](SqlError warning) { draft.notice(warning.sqlstate(), warning.message()); }) {}

  void apply(bool named_as_table) {
    const Rights wanted = rights_of_relation(named_as_table);
    const sql::Acl before = object_.effective();
    // Privileges that columns have, too, are revoked from each of them.
    if (!change_.is_grant) add_all_columns(wanted & sql::all_rights(AclKind::kColumn));
    if (wanted != 0) {
      put_acl(draft_, {classes::kRelations, relation_.oid, 0}, changed_list(change_, object_, wanted, relation_.name, deciders_, warn_));
    }
    for (const WrittenRights::OfColumns& written : change_.rights.of_columns) add_columns(written);
    for (const auto& [number, rights] : columns_) change_column(number, rights, before);
  }

 private:
  bool is_sequence() const { return relation_.kind == 'S'; }

  Rights rights_of_relation(bool named_as_table) const {
    const Rights possible = sql::all_rights(is_sequence() ? AclKind::kSequence : AclKind::kTable);
    if (change_.rights.is_all) return possible;
    const Rights wanted = change_.rights.rights;
    if (!named_as_table || (wanted & ~possible) == 0) return wanted;
    if (!is_sequence()) throw SqlError(sqlstate::kInvalidGrantOperation, "invalid privilege type USAGE for table");
    draft_.notice(sqlstate::kInvalidGrantOperation,
                  fmt::format("sequence \"{}\" only supports USAGE, SELECT, and UPDATE privileges", relation_.name));
    return wanted & possible;
  }

  void add_all_columns(Rights rights) {
    if (rights == 0) return;
    for (std::int16_t number = kFirstSystemColumn; number < 0 && relation_.kind != 'v'; ++number) columns_[number] |= rights;
    for (const sql::Attribute& attribute : sql::attributes_of(relation_)) columns_[attribute.number] |= rights;
  }

  void add_columns(const WrittenRights::OfColumns& written) {
    Rights rights = written.rights;
    if ((rights & ~sql::all_rights(AclKind::kColumn)) != 0) {
      throw invalid_privilege(rights, "column");
    }
    if (is_sequence() && (rights & ~sql::right::kSelect) != 0) {
      draft_.notice(sqlstate::kInvalidGrantOperation, fmt::format("sequence \"{}\" only supports SELECT column privileges", relation_.name));
      rights &= sql::right::kSelect;
    }
    for (const std::string& name : written.columns) columns_[number_of(name)] |= rights;
  }

  std::int16_t number_of(const std::string& name) const {
    for (const sql::Attribute& attribute : sql::attributes_of(relation_)) {
      if (attribute.name == name) return attribute.number;
    }
    const auto* system = std::ranges::find(kSystemColumns, name);
    if (system == std::end(kSystemColumns) || relation_.kind == 'v') throw sql::undefined_column(name, relation_.name);
    return static_cast<std::int16_t>(kFirstSystemColumn + (system - std::begin(kSystemColumns)));
  }

  std::string name_of(std::int16_t number) const {
    if (number < 0) return std::string(kSystemColumns[number - kFirstSystemColumn]);
    for (const sql::Attribute& attribute : sql::attributes_of(relation_)) {
      if (attribute.number == number) return attribute.name;
    }
    return {};
  }

  void change_column(std::int16_t number, Rights wanted, const sql::Acl& of_relation) {
    if (wanted == 0) return;
    const sql::OptionalAcl before = sql::column_acl(draft_.catalog(), relation_.oid, number);
    sql::Acl acl = before.value_or(sql::Acl());
    // Grant options on the whole relation count, too.
    sql::Acl both = of_relation;
    both.insert(both.end(), acl.begin(), acl.end());
    const sql::Grantor grantor = sql::select_best_grantor(both, change_.role, wanted, deciders_.of_acl());
    const ShownObject shown{relation_.name, name_of(number)};
    if (grantor.grantable == 0 && !has_any_right(both, AclKind::kTable, AclKind::kColumn, grantor.role, deciders_)) {
      throw SqlError(sqlstate::kInsufficientPrivilege, "permission denied for " + shown.text());
    }
    const bool is_all = wanted == sql::all_rights(AclKind::kColumn);
    const Rights rights = restricted(change_, wanted, grantor.grantable, is_all, shown, warn_);
    acl = merged(change_, std::move(acl), grantor.role, rights, deciders_);
    if (!acl.empty() || before) put_acl(draft_, {classes::kRelations, relation_.oid, number}, std::move(acl));
  }

  CatalogDraft& draft_;
  const PrivilegeChange& change_;
  const sql::Relation relation_;
  const sql::ObjectAcl object_;
  const Deciders deciders_;
  const Warn warn_;
  std::map<std::int16_t, Rights> columns_;
};

void change_relation(CatalogDraft& draft, const PrivilegeChange& change, const sql::ObjectAddress& address, bool named_as_table) {
  const std::optional<sql::Relation> relation = sql::find_relation(draft.catalog(), address.object);
  std::optional<sql::ObjectAcl> object = sql::acl_of(draft.catalog(), address.catalog, address.object);
  if (!relation || !object) return;
  // The relation must not change while it is read: put() replaces definitions.
  const sql::CatalogSnapshot::TablePtr table = draft.catalog().find_table(relation->oid);
  const sql::CatalogSnapshot::ViewPtr view = draft.catalog().find_view(relation->oid);
  const auto is = [&](std::string_view what) {
    throw SqlError(sqlstate::kWrongObjectType, fmt::format("\"{}\" is {}", relation->name, what));
  };
  if (relation->kind == 'i' || relation->kind == 'I') is("an index");
  if (relation->kind == 'c') is("a composite type");
  if (!named_as_table && relation->kind != 'S') is("not a sequence");
  RelationPrivileges(draft, change, *relation, std::move(*object)).apply(named_as_table);
}

// ---- where lists lie ---------------------------------------------------------------------------------------------------

sql::OptionalAcl unless_empty(sql::Acl acl) { return acl.empty() ? std::nullopt : sql::OptionalAcl(std::move(acl)); }

/// Writes through the view were checked with its privileges, so the table under it gets another version.
void move_base(CatalogDraft& draft, sql::Oid base) {
  for (int depth = 0; base != 0 && depth < 100; ++depth) {
    if (const auto table = draft.catalog().find_table(base)) return draft.put(sql::TableDef(*table));
    const auto view = draft.catalog().find_view(base);
    base = view ? view->base : 0;
  }
}

void put_relation_acl(CatalogDraft& draft, const sql::ObjectAddress& address, sql::Acl acl) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  const auto number = static_cast<std::int16_t>(address.column);
  if (number < 0) throw sql::not_supported("privileges of system columns");
  if (const auto found = catalog.find_table(address.object)) {
    sql::TableDef table = *found;
    if (number == 0) table.acl = std::move(acl);
    else table.columns[table.position(number)].acl = unless_empty(std::move(acl));
    return draft.put(std::move(table));
  }
  if (const auto found = catalog.find_view(address.object)) {
    sql::ViewDef view = *found;
    if (number == 0) view.acl = std::move(acl);
    else view.columns.at(static_cast<std::size_t>(number - 1)).acl = unless_empty(std::move(acl));
    const sql::Oid base = view.base;
    draft.put(std::move(view));
    return move_base(draft, base);
  }
  if (const auto found = catalog.sequences.find(address.object); found != catalog.sequences.end()) {
    if (number != 0) throw sql::not_supported("privileges of columns of a sequence");
    sql::SequenceDef sequence = found->second;
    sequence.acl = std::move(acl);
    return draft.put(std::move(sequence));
  }
  const auto [object_class, object] = sql::system_acl_key(address);
  draft.put_system_acl(object_class, object, std::move(acl));
}

/// Returns the name that messages have for it.
std::string name_of(const sql::CatalogSnapshot& catalog, const sql::ObjectAddress& address) {
  switch (address.catalog) {
    case classes::kFunctions: {
      const auto found = catalog.functions.find(address.object);
      if (found != catalog.functions.end()) return found->second->name;
      const sql::CatalogFunction* function = sql::find_catalog_function(address.object);
      return function == nullptr ? "" : std::string(function->name);
    }
    case classes::kTypes: return sql::format_type(sql::Type{address.object});
    case classes::kSchemas: return sql::schema_name(catalog, address.object);
    case classes::kLanguages: return address.object == 12 ? "internal" : address.object == 13 ? "c" : "sql";
    default: return "redis";  // the server and its wrapper
  }
}

}  // namespace

std::string_view word_for(AclKind kind) {
  switch (kind) {
    case AclKind::kTable: return "table";
    case AclKind::kColumn: return "column";
    case AclKind::kSequence: return "sequence";
    case AclKind::kDatabase: return "database";
    case AclKind::kFunction: return "function";
    case AclKind::kLanguage: return "language";
    case AclKind::kLargeObject: return "large object";
    case AclKind::kSchema: return "schema";
    case AclKind::kTablespace: return "tablespace";
    case AclKind::kForeignDataWrapper: return "foreign-data wrapper";
    case AclKind::kForeignServer: return "foreign server";
    case AclKind::kType: return "type";
    case AclKind::kParameter: return "parameter";
  }
  return "";
}

sql::Acl changed_acl(const PrivilegeChange& change, const sql::ObjectAcl& object, const std::string& name, const sql::RoleSet& roles,
                     std::string_view database, const Warn& warn) {
  const Rights wanted = change.rights.is_all ? sql::all_rights(object.kind) : change.rights.rights;
  return changed_list(change, object, wanted, name, {roles, database, object.owner}, warn);
}

void put_acl(CatalogDraft& draft, const sql::ObjectAddress& address, sql::Acl acl) {
  const DependentChanges checked_here;
  const sql::CatalogSnapshot& catalog = draft.catalog();
  if (address.catalog == classes::kRelations) return put_relation_acl(draft, address, std::move(acl));
  if (address.catalog == classes::kFunctions) {
    if (const auto found = catalog.functions.find(address.object); found != catalog.functions.end()) {
      sql::FunctionDef function = *found->second;
      function.acl = std::move(acl);
      return draft.put(std::move(function));
    }
  } else if (address.catalog == classes::kTypes) {
    if (const auto found = catalog.types.find(address.object); found != catalog.types.end()) {
      sql::UserType type = *found->second;
      type.acl = std::move(acl);
      return draft.put(std::move(type));
    }
  } else if (address.catalog == classes::kSchemas) {
    const auto found = catalog.schemas.find(sql::schema_name(catalog, address.object));
    if (found != catalog.schemas.end() && found->second.oid == address.object) {
      sql::SchemaDef schema = found->second;
      schema.acl = std::move(acl);
      return draft.put(std::move(schema));
    }
  } else if (address.catalog == classes::kForeignServers) {
    sql::ForeignServerDef server = catalog.server;
    server.acl = std::move(acl);
    return draft.put(std::move(server));
  }
  draft.put_system_acl(address.catalog, address.object, std::move(acl));
}

void change_privileges(CatalogDraft& draft, const PrivilegeChange& change, const sql::ObjectAddress& address, bool named_as_table) {
  if (address.catalog == classes::kRelations) return change_relation(draft, change, address, named_as_table);
  const std::optional<sql::ObjectAcl> object = sql::acl_of(draft.catalog(), address.catalog, address.object);
  if (!object) return;
  const Warn warn = [&](SqlError warning) { draft.notice(warning.sqlstate(), warning.message()); };
  put_acl(draft, address,
          changed_acl(change, *object, name_of(draft.catalog(), address), *sql::known_roles(), draft.session().database, warn));
}

}  // namespace redquel::executor
