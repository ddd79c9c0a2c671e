// pg_type, pg_cast, pg_collation.

#include "sql/catalog/row_types.h"
#include "sql/functions/function.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/type_layout.h"
#include "sql/types/range_value.h"

namespace redquel::sql {
namespace {

void add_built_in(RowWriter& out, const TypeInfo& type) {
  const bool pseudo = type.category == TypeCategory::kPseudo || type.category == TypeCategory::kUnknown;
  const bool array = type.category == TypeCategory::kArray;
  const Oid subscript = array ? oid::kArraySubscript : type.oid == oid::kName ? oid::kRawArraySubscript : 0;
  const TypeFunctions f = functions_of_type(type);
  const char kind = pseudo ? 'p' : is_range_type(type.oid) ? 'r' : is_multirange_type(type.oid) ? 'm' : 'b';
  out.add(type.oid, type.name, oid::kPgCatalogSchema, kPostgresRole, type.length, passed_by_value(type), kind,
          static_cast<char>(type.category), type.preferred, true, ',', 0, subscript, type.element, type.array, f.input, f.output,
          f.receive, f.send, f.modifier_input, f.modifier_output, is_true_array(type) ? oid::kArrayAnalyze : 0, type.alignment,
          storage_letter(type), false, 0, -1, 0, collation_of(type.oid), kNull, kNull, kNull);
}

/// The type of the rows of a table or view. `array`: the type of arrays over it; 0: there is none.
template <class Definition>
void add_row_type(RowWriter& out, const CatalogSnapshot& catalog, const Definition& table, Oid array) {
  const TypeFunctions f = functions_of_type(type_info(oid::kRecord));
  out.add(table.row_type, table.name, schema_oid(catalog, table.schema), role_oid(table.owner), -1, false, 'c', 'C', false, true,
          ',', table.oid, 0, 0, array, f.input, f.output, f.receive, f.send, 0, 0, 0, 'd', 'x', false, 0, -1, 0, 0, kNull, kNull,
          kNull);
}

/// The array type that every enum and composite type has.
void add_array(RowWriter& out, const CatalogSnapshot& catalog, const UserType& user) {
  const TypeInfo& type = type_info(user.array);
  const TypeFunctions f = functions_of_type(type);
  out.add(user.array, type.name, schema_oid(catalog, user.schema), role_oid(user.owner), -1, false, 'b', 'A', false, true, ',', 0,
          oid::kArraySubscript, user.oid, 0, f.input, f.output, f.receive, f.send, 0, 0, oid::kArrayAnalyze, type.alignment, 'x', false,
          0, -1, 0, 0, kNull, kNull, kNull);
}

void add_user_type(RowWriter& out, const CatalogSnapshot& catalog, const UserType& user) {
  const Oid schema = schema_oid(catalog, user.schema), owner = role_oid(user.owner);
  switch (user.kind) {
    case UserType::Kind::kEnum:
      out.add(user.oid, user.name, schema, owner, 4, true, 'e', 'E', false, true, ',', 0, 0, 0, user.array, kEnumFunctions.input,
              kEnumFunctions.output, kEnumFunctions.receive, kEnumFunctions.send, 0, 0, 0, 'i', 'p', false, 0, -1, 0, 0, kNull, kNull, kNull);
      return add_array(out, catalog, user);
    case UserType::Kind::kComposite: {
      const TypeFunctions f = functions_of_type(type_info(oid::kRecord));
      out.add(user.oid, user.name, schema, owner, -1, false, 'c', 'C', false, true, ',', user.relation, 0, 0, user.array, f.input,
              f.output, f.receive, f.send, 0, 0, 0, 'd', 'x', false, 0, -1, 0, 0, kNull, kNull, kNull);
      return add_array(out, catalog, user);
    }
    case UserType::Kind::kDomain: {
      const TypeInfo& base = type_info(user.base.oid);
      const TypeFunctions f = functions_of_type(base);
      const bool over_domain = user.base_domain != 0;
      out.add(user.oid, user.name, schema, owner, base.length, passed_by_value(base), 'd', static_cast<char>(base.category), false,
              true, ',', 0, 0, 0, 0, kDomainFunctions.input, f.output,
              kDomainFunctions.receive, f.send, 0, 0, 0, base.alignment, storage_letter(base),
              user.not_null, over_domain ? user.base_domain : user.base.oid, over_domain ? -1 : user.base.modifier, 0,
              collation_of(user.base.oid), null_if_empty(user.default_sql), null_if_empty(user.default_sql), kNull);
      return;
    }
  }
}

void enums(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, type] : catalog.types) {
    for (const EnumLabel& label : type->labels) out.add(label.oid, oid, label.order, label.name);
  }
}

void types(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const TypeInfo& type : all_types()) add_built_in(out, type);
  for (const auto& [oid, type] : catalog.types) add_user_type(out, catalog, *type);
  for (const auto& [oid, table] : catalog.tables) {
    const UserTypePtr row = row_type_of(*table);
    add_row_type(out, catalog, *table, table->row_array);
    if (row && find_type(row->array) != nullptr) add_array(out, catalog, *row);
  }
  for (const auto& [oid, view] : catalog.views) add_row_type(out, catalog, *view, 0);
}

void ranges(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  for (const Oid range : all_range_types()) {
    const Oid subtype = range_subtype(range).oid;
    out.add(range, subtype, multirange_over(range), 0, operator_class_of(oid::kBtreeMethod, subtype), 0, 0);
  }
}

void casts(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  constexpr Oid kFirstCast = 10035;  // as initdb numbers them
  Oid next = kFirstCast;
  for (const CastFunction& cast : all_casts()) {
    Oid function = 0;
    if (cast.kernel != nullptr) {
      // PostgreSQL names these functions after the target.
      for (const CatalogFunction* candidate : find_catalog_functions(type_info(cast.target).name)) {
        if (candidate->arguments == std::vector<Oid>{cast.source}) function = candidate->oid;
      }
    }
    out.add(next++, cast.source, cast.target, function, static_cast<char>(cast.context), cast.kernel == nullptr ? 'b' : 'f');
  }
}

void collations(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  const auto add = [&](Oid collation, std::string_view name, char provider, std::optional<std::string_view> locale) {
    out.add(collation, name, oid::kPgCatalogSchema, kPostgresRole, provider, true, -1, locale, locale, kNull, kNull);
  };
  add(oid::kDefaultCollation, "default", 'd', std::nullopt);
  add(oid::kCCollation, "C", 'c', "C");
  add(oid::kPosixCollation, "POSIX", 'c', "POSIX");
}

const SystemTableDefinition kTables[] = {
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

SystemTableFamily type_tables() { return kTables; }

}  // namespace redquel::sql
