// information_schema: roles and what they may do (everything, to what they own), and what the implementation says of itself.

#include "sql/system_tables/families.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

void catalog_name(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) { out.add(context.database); }

void enabled_roles(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Role& role : all_roles(catalog, context)) out.add(role.name);
}

/// Tables and views of the snapshot, and PostgreSQL's.
bool is_granted(const Relation& relation) { return relation.kind == 'r' || relation.kind == 'v' || relation.kind == 'f'; }

template <class Add>
void for_each_table_privilege(const CatalogSnapshot& catalog, const Add& add) {
  for (const Relation& relation : all_relations(catalog)) {
    if (!is_granted(relation)) continue;
    for (const std::string_view privilege :
         {"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}) {
      add(relation, privilege);
    }
  }
}

void table_privileges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for_each_table_privilege(catalog, [&](const Relation& relation, std::string_view privilege) {
    out.add(relation.owner, relation.owner, context.database, relation.schema, relation.name, privilege, true,
            privilege == "SELECT");
  });
}

void column_privileges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const Relation& relation : all_relations(catalog)) {
    if (!is_granted(relation)) continue;
    for (const Attribute& attribute : attributes_of(relation)) {
      for (const std::string_view privilege : {"INSERT", "SELECT", "UPDATE", "REFERENCES"}) {
        out.add(relation.owner, relation.owner, context.database, relation.schema, relation.name, attribute.name, privilege, true);
      }
    }
  }
}

/// Everybody may call what is there, and owners may grant it.
template <bool with_everybody>
void routine_privileges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const auto add = [&](std::string_view owner, std::string_view schema, const std::string& name, Oid oid) {
    const std::string specific = name + "_" + std::to_string(oid);
    const auto add_for = [&](std::string_view grantee, bool grantable) {
      out.add(owner, grantee, context.database, schema, specific, context.database, schema, name, "EXECUTE", grantable);
    };
    if (with_everybody) add_for("PUBLIC", false);
    add_for(owner, true);
  };
  for (const CatalogFunction& function : all_catalog_functions()) add("postgres", "pg_catalog", function.name, function.oid);
  for (const auto& [oid, function] : catalog.functions) add(owner_name(function->owner), function->schema, function->name, oid);
}

void character_sets(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  out.add(kNull, kNull, "UTF8", "UCS", "UTF8", context.database, "pg_catalog", "C");
}

void information_schema_collations(RowWriter& out, const CatalogSnapshot&, const EvaluationContext& context) {
  for (const std::string_view name : {"default", "C", "POSIX"}) out.add(context.database, "pg_catalog", name, "NO PAD");
}

void implementation(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  out.add("10003", "CATALOG NAME", kNull, "Y", kNull);
  out.add("10004", "COLLATING SEQUENCE", kNull, "C", kNull);
  out.add("23", "CURSOR COMMIT BEHAVIOR", 1, kNull, "close cursors and retain prepared statements");
  out.add("2", "DATA SOURCE NAME", kNull, "", kNull);
  out.add("17", "DBMS NAME", kNull, "PostgreSQL", kNull);
  out.add("18", "DBMS VERSION", kNull, "15.0.0000", kNull);
  out.add("26", "DEFAULT TRANSACTION ISOLATION", 2, kNull, "READ COMMITTED; user-settable");
  out.add("28", "IDENTIFIER CASE", 3, kNull, "stored in mixed case - case sensitive");
  out.add("85", "NULL COLLATION", 0, kNull, "nulls higher than non-nulls");
  out.add("13", "SERVER NAME", kNull, "", kNull);
  out.add("94", "SPECIAL CHARACTERS", kNull, "", "all non-ASCII characters allowed");
  out.add("46", "TRANSACTION CAPABLE", 2, kNull, "both DML and DDL");
}

const SystemTableDefinition kInformationPrivileges[] = {
    {"information_schema", "information_schema_catalog_name", 13227, 'v', "catalog_name", catalog_name},
    {"information_schema", "enabled_roles", 13325, 'v', "role_name", enabled_roles},
    {"information_schema", "applicable_roles", 13236, 'v', "grantee, role_name, is_grantable yes_or_no"},
    {"information_schema", "administrable_role_authorizations", 13241, 'v',
     "grantee, role_name, is_grantable yes_or_no"},
    {"information_schema", "table_privileges", 13416, 'v',
     "grantor, grantee, table_catalog, table_schema, table_name, privilege_type character_data, "
     "is_grantable yes_or_no, with_hierarchy yes_or_no", table_privileges},
    {"information_schema", "role_table_grants", 13421, 'v',
     "grantor, grantee, table_catalog, table_schema, table_name, privilege_type character_data, "
     "is_grantable yes_or_no, with_hierarchy yes_or_no", table_privileges},
    {"information_schema", "column_privileges", 13285, 'v',
     "grantor, grantee, table_catalog, table_schema, table_name, column_name, privilege_type character_data, "
     "is_grantable yes_or_no", column_privileges},
    {"information_schema", "role_column_grants", 13344, 'v',
     "grantor, grantee, table_catalog, table_schema, table_name, column_name, privilege_type character_data, "
     "is_grantable yes_or_no", column_privileges},
    {"information_schema", "routine_privileges", 13353, 'v',
     "grantor, grantee, specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, "
     "routine_name, privilege_type character_data, is_grantable yes_or_no", routine_privileges<true>},
    {"information_schema", "role_routine_grants", 13358, 'v',
     "grantor, grantee, specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, "
     "routine_name, privilege_type character_data, is_grantable yes_or_no", routine_privileges<false>},
    {"information_schema", "character_sets", 13250, 'v',
     "character_set_catalog, character_set_schema, character_set_name, character_repertoire, form_of_use, "
     "default_collate_catalog, default_collate_schema, default_collate_name", character_sets},
    {"information_schema", "collations", 13265, 'v',
     "collation_catalog, collation_schema, collation_name, pad_attribute character_data", information_schema_collations},
    {"information_schema", "collation_character_set_applicability", 13270, 'v',
     "collation_catalog, collation_schema, collation_name, character_set_catalog, character_set_schema, "
     "character_set_name"},
    {"information_schema", "sql_implementation_info", 13396, 'r',
     "implementation_info_id character_data, implementation_info_name character_data, "
     "integer_value cardinal_number, character_value character_data, comments character_data", implementation},
};

}  // namespace

SystemTableFamily information_privileges() { return kInformationPrivileges; }

}  // namespace redquel::sql
