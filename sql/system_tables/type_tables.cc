// pg_type, pg_cast, pg_collation.

#include "sql/catalog/row_types.h"
#include "sql/definition_words.h"
#include "sql/extensions/extension.h"
#include "sql/privileges/acl_text.h"
#include "sql/privileges/object_acl.h"
#include "sql/system_tables/facts.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/type_layout.h"

namespace redquel::sql {
namespace {

/// Returns the list of a type that the system or a relation defines.
std::optional<std::string> granted_acl(const CatalogSnapshot& catalog, Oid type) {
  const auto granted = catalog.system_acls.find({catalog_class::kTypes, type});
  return granted == catalog.system_acls.end() ? std::nullopt : std::optional(acl_text(granted->second));
}

/// The type of the rows of a table or view. `array`: the type of arrays over it; 0: there is none.
template <class Definition>
void add_row_type(RowWriter& out, const CatalogSnapshot& catalog, const Definition& table, Oid array) {
  const TypeFunctions f = functions_of_type(type_info(oid::kRecord));
  out.add(table.row_type, table.name, schema_oid(catalog, table.schema), owner_oid(table.owner), -1, false, 'c', 'C', false, true,
          ',', table.oid, 0, 0, array, f.input, f.output, f.receive, f.send, 0, 0, 0, 'd', 'x', false, 0, -1, 0, 0, kNull, kNull,
          granted_acl(catalog, table.row_type));
}

/// The array type that every user-made type has.
void add_array(RowWriter& out, const CatalogSnapshot& catalog, const UserType& user, Oid array, Oid element) {
  const TypeInfo& type = type_info(array);
  const TypeFunctions f = functions_of_type(type);
  out.add(array, type.name, schema_oid(catalog, user.schema), owner_oid(user.owner), -1, false, 'b', 'A', false, true, ',', 0,
          oid::kArraySubscript, element, 0, f.input, f.output, f.receive, f.send, 0, 0, oid::kArrayAnalyze, type.alignment, 'x', false,
          0, -1, 0, collation_of(type.element), kNull, kNull, kNull);
}

void add_array(RowWriter& out, const CatalogSnapshot& catalog, const UserType& user) { add_array(out, catalog, user, user.array, user.oid); }

/// A range type or the multirange type over it.
void add_range(RowWriter& out, const CatalogSnapshot& catalog, const UserType& user, Oid oid, char kind) {
  const TypeInfo& type = type_info(oid);
  const TypeFunctions f = functions_of_type(type);
  const Oid analyze = kind == 'r' ? oid::kRangeAnalyze : oid::kMultirangeAnalyze;
  out.add(oid, type.name, schema_oid(catalog, user.schema), owner_oid(user.owner), -1, false, kind, 'R', false, true, ',', 0, 0, 0,
          type.array, f.input, f.output, f.receive, f.send, 0, 0, analyze, type.alignment, 'x', false, 0, -1, 0, 0, kNull, kNull,
          kind == 'r' ? acl_text(user.acl) : std::nullopt);
  add_array(out, catalog, user, type.array, oid);
}

void add_user_type(RowWriter& out, const CatalogSnapshot& catalog, const UserType& user, const EvaluationContext& context) {
  const Oid schema = schema_oid(catalog, user.schema), owner = owner_oid(user.owner);
  switch (user.kind) {
    case UserType::Kind::kEnum:
      out.add(user.oid, user.name, schema, owner, 4, true, 'e', 'E', false, true, ',', 0, 0, 0, user.array, kEnumFunctions.input,
              kEnumFunctions.output, kEnumFunctions.receive, kEnumFunctions.send, 0, 0, 0, 'i', 'p', false, 0, -1, 0, 0, kNull, kNull,
              acl_text(user.acl));
      return add_array(out, catalog, user);
    case UserType::Kind::kComposite: {
      const TypeFunctions f = functions_of_type(type_info(oid::kRecord));
      out.add(user.oid, user.name, schema, owner, -1, false, 'c', 'C', false, true, ',', user.relation, 0, 0, user.array, f.input,
              f.output, f.receive, f.send, 0, 0, 0, 'd', 'x', false, 0, -1, 0, 0, kNull, kNull, acl_text(user.acl));
      return add_array(out, catalog, user);
    }
    case UserType::Kind::kDomain: {
      const TypeInfo& base = type_info(user.base.oid);
      const TypeFunctions f = functions_of_type(base);
      const bool over_domain = user.base_domain != 0;
      std::optional<std::string> default_text;
      if (!user.default_sql.empty()) default_text = written_default(context, user.default_sql, user.base, user.schema);
      out.add(user.oid, user.name, schema, owner, base.length, passed_by_value(base), 'd', static_cast<char>(base.category), false,
              true, ',', 0, 0, 0, user.array, kDomainFunctions.input, f.output,
              kDomainFunctions.receive, f.send, 0, 0, 0, base.alignment, storage_letter(base),
              user.not_null, over_domain ? user.base_domain : user.base.oid, over_domain ? -1 : user.base.modifier, 0,
              collation_of(user.base, user.range.collation), default_text, default_text, acl_text(user.acl));
      if (find_type(user.array) != nullptr) add_array(out, catalog, user);
      return;
    }
    case UserType::Kind::kRange:
      add_range(out, catalog, user, user.oid, 'r');
      return add_range(out, catalog, user, user.range.multirange, 'm');
  }
}

/// A type of an extension and the arrays over it.
void add_extension_type(RowWriter& out, const CatalogSnapshot& catalog, const ExtensionDef& extension, const TypeInfo& type) {
  const Oid schema = schema_oid(catalog, extension.schema), owner = owner_oid(extension.owner);
  const TypeFunctions f = functions_of_type(type_info(oid::kText));  // those of citext have the same bodies
  out.add(type.oid, type.name, schema, owner, type.length, false, 'b', static_cast<char>(type.category), false, true, ',', 0, 0, 0, type.array, f.input,
          f.output, f.receive, f.send, 0, 0, 0, type.alignment, 'x', false, 0, -1, 0, collation_of(type.oid), kNull, kNull, kNull);
  const TypeInfo& array = type_info(type.array);
  const TypeFunctions of_array = functions_of_type(array);
  out.add(array.oid, array.name, schema, owner, -1, false, 'b', 'A', false, true, ',', 0, oid::kArraySubscript, type.oid, 0, of_array.input,
          of_array.output, of_array.receive, of_array.send, 0, 0, oid::kArrayAnalyze, array.alignment, 'x', false, 0, -1, 0,
          collation_of(type.oid), kNull, kNull, kNull);
}

void enums(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, type] : catalog.types) {
    for (const EnumLabel& label : type->labels) out.add(label.oid, oid, label.order, label.name);
  }
}

void types(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const TypeInfo& type : all_types()) {
    const TypeFacts* known = find_type_facts(type.oid);
    if (known == nullptr) continue;
    std::vector<FactValue> row = type_facts().values(known->line);
    const std::optional<std::string> acl = granted_acl(catalog, type.oid);
    if (acl) row.back() = *acl;
    out.add_texts(row);
  }
  for (const auto& [oid, definition] : catalog.extensions) {
    const Extension* extension = find_extension(definition.name);
    if (extension == nullptr) continue;
    for (const Oid type : extension->types) add_extension_type(out, catalog, definition, type_info(type));
  }
  for (const auto& [oid, type] : catalog.types) add_user_type(out, catalog, *type, context);
  for (const auto& [oid, table] : catalog.tables) {
    const UserTypePtr row = row_type_of(*table);
    add_row_type(out, catalog, *table, table->row_array);
    if (row && find_type(row->array) != nullptr) add_array(out, catalog, *row);
  }
  for (const auto& [oid, view] : catalog.views) add_row_type(out, catalog, *view, 0);
}

void ranges(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  const FactTable& facts = range_facts();
  for (const std::string_view line : facts.lines()) out.add_texts(facts.values(line));
  for (const auto& [oid, type] : catalog.types) {
    if (type->kind != UserType::Kind::kRange) continue;
    const Oid subtype = type->base.oid;
    Oid difference = 0;
    for (const CatalogFunction* function : find_catalog_functions(type->range.subtype_diff)) {
      if (function->arguments == std::vector<Oid>{subtype, subtype}) difference = function->oid;
    }
    for (const auto& [number, function] : catalog.functions) {
      const bool fits = function->name == type->range.subtype_diff && function->parameters.size() == 2 && function->parameters[0].type.oid == subtype;
      if (fits) difference = number;
    }
    out.add(oid, subtype, type->range.multirange, collation_of(type->base, type->range.collation), operator_class_of(oid::kBtreeMethod, subtype),
            0, difference);
  }
}

/// Casts between types that redquel has.
void casts(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  const FactTable& facts = cast_facts();
  const std::size_t source = facts.column("castsource"), target = facts.column("casttarget");
  for (const std::string_view line : facts.lines()) {
    const std::vector<FactValue> row = facts.values(line);
    if (find_type(fact_oid(row[source])) != nullptr && find_type(fact_oid(row[target])) != nullptr) out.add_texts(row);
  }
}

void collations(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  const auto add = [&](Oid collation, std::string_view name, char provider, std::optional<std::string_view> locale) {
    out.add(collation, name, oid::kPgCatalogSchema, kPostgresRole, provider, true, -1, locale, locale, kNull, kNull);
  };
  add(oid::kDefaultCollation, "default", 'd', std::nullopt);
  add(oid::kCCollation, "C", 'c', "C");
  add(oid::kPosixCollation, "POSIX", 'c', "POSIX");
  constexpr std::int32_t kUtf8 = 6;
  out.add(oid::kUcsBasicCollation, "ucs_basic", oid::kPgCatalogSchema, kPostgresRole, 'c', true, kUtf8, "C", "C", kNull, kNull);
}

const SystemTableDefinition kTypeTables[] = {
    {"pg_catalog", "pg_type", 1247, 'r',
     "oid oid!, typname name!, typnamespace oid!, typowner oid!, typlen int2!, typbyval bool!, typtype char!, "
     "typcategory char!, typispreferred bool!, typisdefined bool!, typdelim char!, typrelid oid!, "
     "typsubscript regproc!, typelem oid!, typarray oid!, typinput regproc!, typoutput regproc!, "
     "typreceive regproc!, typsend regproc!, typmodin regproc!, typmodout regproc!, typanalyze regproc!, "
     "typalign char!, typstorage char!, typnotnull bool!, typbasetype oid!, typtypmod int4!, typndims int4!, "
     "typcollation oid!, typdefaultbin pg_node_tree, typdefault text, typacl _aclitem", types},
    {"pg_catalog", "pg_cast", 2605, 'r',
     "oid oid!, castsource oid!, casttarget oid!, castfunc oid!, castcontext char!, castmethod char!", casts},
    {"pg_catalog", "pg_collation", 3456, 'r',
     "oid oid!, collname name!, collnamespace oid!, collowner oid!, collprovider char!, "
     "collisdeterministic bool!, collencoding int4!, collcollate text, collctype text, colliculocale text, "
     "collversion text", collations},
    {"pg_catalog", "pg_enum", 3501, 'r', "oid oid!, enumtypid oid!, enumsortorder float4!, enumlabel name!", enums},
    {"pg_catalog", "pg_range", 3541, 'r',
     "rngtypid oid!, rngsubtype oid!, rngmultitypid oid!, rngcollation oid!, rngsubopc oid!, "
     "rngcanonical regproc!, rngsubdiff regproc!", ranges},
};

}  // namespace

SystemTableFamily type_tables() { return kTypeTables; }

}  // namespace redquel::sql
