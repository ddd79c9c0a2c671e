// information_schema: schemata, tables, columns, sequences, routines and their parameters.

#include <set>

#include "sql/catalog/role_set.h"
#include "sql/definition_words.h"
#include "sql/extensions/extension.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/row_writer.h"
#include "sql/system_tables/shown_objects.h"
#include "sql/system_tables/type_layout.h"
#include "sql/system_tables/type_properties.h"

namespace redquel::sql {
namespace {

std::string data_type(Oid type) {
  const TypeInfo* info = find_type(type);
  if ((type >= kFirstUserOid || is_extension_type(type)) && info != nullptr && !is_true_array(*info)) return "USER-DEFINED";
  return info != nullptr && is_true_array(*info) ? "ARRAY" : format_type(Type{type});
}

bool has_columns(const Relation& relation) { return relation.kind == 'r' || relation.kind == 'p' || relation.kind == 'v' || relation.kind == 'f'; }

UserTypePtr find_type_by_oid(const CatalogSnapshot& catalog, Oid type) {
  const auto found = catalog.types.find(type);
  return found == catalog.types.end() ? nullptr : found->second;
}

/// The schema that a type, or the type of an array's elements, is in.
std::string schema_of_type(const CatalogSnapshot& catalog, Oid type) {
  if (const ExtensionDef* extension = extension_of_type(catalog, type)) return extension->schema;
  if (type < kFirstUserOid) return "pg_catalog";
  for (const auto& [oid, user] : catalog.types) {
    if (oid == type || user->array == type) return user->schema;
  }
  return {};
}

std::optional<std::string> domain_default(const UserType& domain, const EvaluationContext& context) {
  if (domain.default_sql.empty()) return std::nullopt;
  return written_default(context, domain.default_sql, domain.base, domain.schema);
}

void domains(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const std::string& database = context.database;
  for (const auto& [oid, domain] : catalog.types) {
    if (domain->kind != UserType::Kind::kDomain || !shown.shows_type(oid)) continue;
    // A domain over a domain is made of that.
    const UserTypePtr under = find_type_by_oid(catalog, domain->base_domain);
    const TypeProperties type = under ? TypeProperties{} : type_properties(domain->base);
    const std::optional<std::string_view> collation = shown_collation(collation_of(domain->base, domain->range.collation));
    const bool collated = collation.has_value();
    out.add(database, domain->schema, domain->name, under ? "USER-DEFINED" : data_type(domain->base.oid), type.maximum_length, type.octet_length, kNull, kNull,
            kNull, collated ? std::optional(database) : std::nullopt, collated ? std::optional("pg_catalog") : std::nullopt,
            collation, type.precision, type.radix, type.scale, type.datetime_precision, type.interval_type, kNull,
            domain_default(*domain, context), database, under ? under->schema : schema_of_type(catalog, domain->base.oid),
            under ? std::string_view(under->name) : type_info(domain->base.oid).name, kNull, kNull, kNull, kNull, "1");
  }
}

void domain_checks(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const Constraint& constraint : domain_constraints(catalog)) {
    const UserType& domain = *constraint.domain;
    if (!shown.shows_type(domain.oid)) continue;
    out.add(context.database, domain.schema, constraint.name, context.database, domain.schema, domain.name, false, false);
  }
}

void schemata(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const auto add = [&](std::string_view name, std::string_view owner) {
    if (shown.shows_schema(schema_oid(catalog, name))) out.add(context.database, name, owner, kNull, kNull, kNull, kNull);
  };
  for (const std::string_view name : {"pg_toast", "pg_catalog", "information_schema", "redis", "redquel"}) add(name, "postgres");
  for (const auto& [name, schema] : catalog.schemas) add(name, owner_name(schema.owner));
}

void information_schema_tables(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const Relation& relation : all_relations(catalog)) {
    if (!has_columns(relation) || !shown.shows(relation)) continue;
    const bool table = relation.kind == 'r' || relation.kind == 'p', foreign = relation.kind == 'f', is_updatable = relation.view != nullptr && relation.view->is_updatable();
    out.add(context.database, relation.schema, relation.name, foreign ? "FOREIGN" : !table ? "VIEW" : is_temporary_schema(relation.schema) ? "LOCAL TEMPORARY" : "BASE TABLE", kNull, kNull, kNull, kNull, kNull,
            table || foreign || is_updatable, false, kNull);
  }
}

void add_column(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context, const Relation& relation,
                const Attribute& attribute) {
  const UserTypePtr domain = attribute.column == nullptr ? nullptr : find_type_by_oid(catalog, attribute.column->domain);
  const UserTypePtr under = domain ? find_type_by_oid(catalog, domain->base_domain) : nullptr;
  const TypeProperties type = under ? TypeProperties{} : type_properties(attribute.type);
  const std::optional<std::string_view> collation = shown_collation(attribute_collation(relation, attribute));
  const std::string& database = context.database;
  const bool collated = collation.has_value();
  std::optional<std::string> value, generated;
  std::optional<std::string_view> generation;
  const SequenceDef* identity = nullptr;
  if (const ColumnDef* column = attribute.column) {
    if (!column->generated_sql.empty()) {
      generated = default_expression(catalog, *relation.table, *column, context);
    } else if (has_default(*column)) {
      value = default_expression(catalog, *relation.table, *column, context);
    }
    const auto sequence = catalog.sequences.find(column->sequence);
    if (column->identity != ColumnDef::Identity::kNone) {
      generation = column->identity == ColumnDef::Identity::kAlways ? "ALWAYS" : "BY DEFAULT";
      if (sequence != catalog.sequences.end()) identity = &sequence->second;
    }
  }
  const bool is_view = relation.view != nullptr && relation.view->base != 0;
  const bool is_updatable = relation.kind == 'r' || relation.kind == 'p' || relation.kind == 'f' ||
                            (is_view && relation.view->columns[static_cast<std::size_t>(attribute.number) - 1].updatable);
  const auto of_identity = [&](std::int64_t SequenceDef::*member) {
    return identity == nullptr ? std::nullopt : std::optional(std::to_string(identity->*member));
  };
  out.add(database, relation.schema, relation.name, attribute.name, attribute.number, value, !attribute.not_null && !(domain && domain->not_null),
          under ? "USER-DEFINED" : data_type(attribute.type.oid), type.maximum_length, type.octet_length, type.precision, type.radix, type.scale,
          type.datetime_precision, type.interval_type, kNull, kNull, kNull, kNull,
          collated ? std::optional(database) : std::nullopt, collated ? std::optional("pg_catalog") : std::nullopt, collation,
          domain ? std::optional(database) : std::nullopt, domain ? std::optional(domain->schema) : std::nullopt,
          domain ? std::optional(domain->name) : std::nullopt, database,
          under ? under->schema : schema_of_type(catalog, attribute.type.oid),
          under ? std::string_view(under->name) : type_info(attribute.type.oid).name, kNull, kNull, kNull, kNull,
          std::to_string(attribute.number), false, generation.has_value(), generation, of_identity(&SequenceDef::start),
          of_identity(&SequenceDef::increment), of_identity(&SequenceDef::maximum), of_identity(&SequenceDef::minimum),
          identity != nullptr && identity->cycle, generated ? "ALWAYS" : "NEVER", generated, is_updatable);
}

void columns(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const Relation& relation : all_relations(catalog)) {
    if (!has_columns(relation)) continue;
    for (const Attribute& attribute : attributes_of(relation)) {
      if (shown.shows_column(relation, attribute.number)) add_column(out, catalog, context, relation, attribute);
    }
  }
}

/// The fields of composite types.
void type_attributes(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const std::string& database = context.database;
  for (const auto& [oid, composite] : catalog.types) {
    if (composite->kind != UserType::Kind::kComposite || !shown.shows_type(oid)) continue;
    std::int32_t number = 0;
    for (const CompositeField& field : composite->fields) {
      ++number;
      const TypeProperties type = type_properties(field.type);
      const std::optional<std::string_view> collation = shown_collation(collation_of(field.type.oid));
      const bool collated = collation.has_value();
      out.add(database, composite->schema, composite->name, field.name, number, kNull, true, data_type(field.type.oid), type.maximum_length,
              type.octet_length, kNull, kNull, kNull, collated ? std::optional(database) : std::nullopt,
              collated ? std::optional("pg_catalog") : std::nullopt, collation, type.precision, type.radix, type.scale,
              type.datetime_precision, type.interval_type, kNull, database, schema_of_type(catalog, field.type.oid),
              type_info(field.type.oid).name, kNull, kNull, kNull, kNull, std::to_string(number), false);
    }
  }
}

void composite_types(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const auto& [oid, composite] : catalog.types) {
    if (composite->kind != UserType::Kind::kComposite || !shown.shows_type(oid)) continue;
    out.add(context.database, composite->schema, composite->name, "STRUCTURED", true, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
            kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull);
  }
}

void column_types(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const Relation& relation : all_relations(catalog)) {
    if (!has_columns(relation)) continue;
    for (const Attribute& attribute : attributes_of(relation)) {
      if (!shown.owns(catalog_class::kTypes, attribute.type.oid)) continue;
      out.add(context.database, "pg_catalog", type_info(attribute.type.oid).name, context.database, relation.schema, relation.name,
              attribute.name);
    }
  }
}

/// Those of identity columns are not shown.
void information_schema_sequences(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (!shown.shows_sequence(sequence)) continue;
    const CatalogSnapshot::TablePtr owner = catalog.find_table(sequence.owner_table);
    const ColumnDef* column = owner == nullptr ? nullptr : owner->find_column(sequence.owner_column);
    if (column != nullptr && column->identity != ColumnDef::Identity::kNone) continue;
    const TypeProperties type = type_properties(sequence.type);
    out.add(context.database, sequence.schema, sequence.name, format_type(sequence.type), type.precision, type.radix, type.scale,
            sequence.start, sequence.minimum, sequence.maximum, sequence.increment, sequence.cycle);
  }
}

/// Returns the name of a function in LANGUAGE sql in routines and parameters.
std::string specific_name(const FunctionDef& function) { return function.name + "_" + std::to_string(function.oid); }

/// Source texts are shown to the owner.
std::optional<std::string> definition_if(bool is_owner, std::string text) { return is_owner ? std::optional(std::move(text)) : std::nullopt; }

void routines(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const std::string& database = context.database;
  constexpr std::string_view kCatalog = "pg_catalog";
  for (const CatalogFunction& function : all_catalog_functions()) {
    if (function.kind != 'f' || !shown.shows_function(function.oid)) continue;
    const TypeInfo* result = find_type(function.result);
    const std::string_view udt = result == nullptr ? "cstring" : result->name;
    out.add(database, kCatalog, function.name + "_" + std::to_string(function.oid), database, kCatalog, function.name, "FUNCTION",
            kNull, kNull, kNull, kNull, kNull, kNull, result == nullptr ? "cstring" : data_type(function.result),
            // the result's length, character set, collation, precision and interval are never told
            kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
            database, kCatalog, udt, kNull, kNull, kNull, kNull, "0", "EXTERNAL", definition_if(shown.owns(catalog_class::kFunctions, function.oid), function.name), kNull, "INTERNAL", "GENERAL",
            function.volatility == Volatility::kImmutable, "MODIFIES", function.strict, kNull, true, 0, kNull, kNull, "INVOKER",
            kNull, kNull, kNull, false, kNull, kNull, kNull, false,
            // the cast of the result
            kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
            kNull, kNull, kNull, kNull, kNull, kNull, kNull);
  }
  for (const auto& [oid, function] : catalog.functions) {
    if (!shown.shows_function(oid)) continue;
    const auto of_function = [&](auto value) { return function->procedure ? std::nullopt : std::optional(std::move(value)); };
    const Oid result = function->result.oid;
    out.add(database, function->schema, specific_name(*function), database, function->schema, function->name,
            function->procedure ? "PROCEDURE" : "FUNCTION", kNull, kNull, kNull, kNull, kNull, kNull, of_function(data_type(result)), kNull,
            kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, of_function(database),
            of_function(schema_of_type(catalog, result)), of_function(std::string(type_info(result).name)), kNull, kNull, kNull, kNull,
            of_function(std::string("0")), function->language == "sql" ? "SQL" : "EXTERNAL",
            definition_if(shown.owns(catalog_class::kFunctions, oid), function->standard_body ? std::string() : function->body), kNull, function->language == "sql" ? "SQL" : function->language == "c" ? "C" : "PLPGSQL", "GENERAL",
            function->volatility == FunctionDef::Volatility::kImmutable, "MODIFIES", of_function(function->strict), kNull, true, 0, kNull,
            kNull, function->options.find("SECURITY DEFINER") == std::string::npos ? "INVOKER" : "DEFINER", kNull, kNull, kNull, false, kNull,
            kNull, kNull, false, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull,
            kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull);
  }
}

/// Lists the parameters of functions in LANGUAGE sql.
void parameters(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects objects(catalog, context);
  for (const auto& [oid, function] : catalog.functions) {
    if (!objects.shows_function(oid)) continue;
    const bool is_owner = objects.owns(catalog_class::kFunctions, oid);
    int position = 0;
    std::set<std::string> shown;  // parameters that are results, too
    const auto add = [&](std::string_view mode, const std::string& name, Oid type, const std::optional<std::string>& value) {
      ++position;
      const std::optional<std::string> known_name = name.empty() ? std::nullopt : std::optional(name);
      out.add(context.database, function->schema, specific_name(*function), position, mode, false, false, known_name, data_type(type),
              kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, context.database,
              schema_of_type(catalog, type), type_info(type).name, kNull, kNull, kNull, kNull, std::to_string(position), value);
    };
    for (const FunctionDef::Parameter& parameter : function->parameters) {
      using Mode = FunctionDef::Parameter::Mode;
      std::optional<std::string> value;
      if (is_owner && !parameter.default_sql.empty()) value = written_default(context, parameter.default_sql, parameter.type, function->schema);
      add(parameter.mode == Mode::kInOut ? "INOUT" : parameter.mode == Mode::kOut ? "OUT" : "IN", parameter.name, parameter.type.oid, value);
      if (parameter.mode == Mode::kInOut || parameter.mode == Mode::kOut) shown.insert(parameter.name);
    }
    for (const FunctionDef::Column& column : function->columns) {
      if (!function->procedure && !shown.contains(column.name)) add("OUT", column.name, column.type.oid, std::nullopt);
    }
  }
}

/// Lists the element types of the arrays of columns, fields, domains and parameters.
void collection_elements(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  const ShownObjects shown(catalog, context);
  const auto add = [&](const std::string& schema, const std::string& object, std::string_view kind, const std::string& identifier, Oid type) {
    const TypeInfo& array = type_info(type);
    if (!is_true_array(array)) return;
    out.add(context.database, schema, object, kind, identifier, data_type(array.element), kNull, kNull, kNull, kNull, kNull, kNull, kNull,
            kNull, kNull, kNull, kNull, kNull, kNull, kNull, kNull, context.database, schema_of_type(catalog, array.element),
            type_info(array.element).name, kNull, kNull, kNull, kNull, "a" + identifier);
  };
  for (const Relation& relation : all_relations(catalog)) {
    if (!has_columns(relation)) continue;
    for (const Attribute& attribute : attributes_of(relation)) {
      const bool has_domain = attribute.column != nullptr && attribute.column->domain != 0;
      if (!has_domain && shown.shows_column(relation, attribute.number)) add(relation.schema, relation.name, "TABLE", std::to_string(attribute.number), attribute.type.oid);
    }
  }
  for (const auto& [oid, user] : catalog.types) {
    if (!shown.shows_type(oid)) continue;
    if (user->kind == UserType::Kind::kDomain && user->base_domain == 0) add(user->schema, user->name, "DOMAIN", "1", user->base.oid);
    for (std::size_t i = 0; i < user->fields.size(); ++i) {
      add(user->schema, user->name, "USER-DEFINED TYPE", std::to_string(i + 1), user->fields[i].type.oid);
    }
  }
  for (const auto& [oid, function] : catalog.functions) {
    if (!shown.shows_function(oid)) continue;
    std::size_t position = 0;
    for (const FunctionDef::Parameter& parameter : function->parameters) {
      if (parameter.mode == FunctionDef::Parameter::Mode::kOut) continue;
      add(function->schema, specific_name(*function), "ROUTINE", std::to_string(++position), parameter.type.oid);
    }
    if (!function->procedure) add(function->schema, specific_name(*function), "ROUTINE", "0", function->result.oid);
  }
}

const SystemTableDefinition kInformationTables[] = {
    {"information_schema", "element_types", 13493, 'v',
     "object_catalog, object_schema, object_name, object_type character_data, collection_type_identifier, "
     "data_type character_data, character_maximum_length cardinal_number, "
     "character_octet_length cardinal_number, character_set_catalog, character_set_schema, character_set_name, "
     "collation_catalog, collation_schema, collation_name, numeric_precision cardinal_number, "
     "numeric_precision_radix cardinal_number, numeric_scale cardinal_number, "
     "datetime_precision cardinal_number, interval_type character_data, interval_precision cardinal_number, "
     "domain_default character_data, udt_catalog, udt_schema, udt_name, scope_catalog, scope_schema, "
     "scope_name, maximum_cardinality cardinal_number, dtd_identifier", collection_elements},
    {"information_schema", "schemata", 13382, 'v',
     "catalog_name, schema_name, schema_owner, default_character_set_catalog, default_character_set_schema, "
     "default_character_set_name, sql_path character_data", schemata},
    {"information_schema", "tables", 13425, 'v',
     "table_catalog, table_schema, table_name, table_type character_data, self_referencing_column_name, "
     "reference_generation character_data, user_defined_type_catalog, user_defined_type_schema, "
     "user_defined_type_name, is_insertable_into yes_or_no, is_typed yes_or_no, commit_action character_data", information_schema_tables},
    {"information_schema", "domains", 13320, 'v',
     "domain_catalog, domain_schema, domain_name, data_type character_data, "
     "character_maximum_length cardinal_number, character_octet_length cardinal_number, character_set_catalog, "
     "character_set_schema, character_set_name, collation_catalog, collation_schema, collation_name, "
     "numeric_precision cardinal_number, numeric_precision_radix cardinal_number, "
     "numeric_scale cardinal_number, datetime_precision cardinal_number, interval_type character_data, "
     "interval_precision cardinal_number, domain_default character_data, udt_catalog, udt_schema, udt_name, "
     "scope_catalog, scope_schema, scope_name, maximum_cardinality cardinal_number, dtd_identifier", domains},
    {"information_schema", "domain_constraints", 13310, 'v',
     "constraint_catalog, constraint_schema, constraint_name, domain_catalog, domain_schema, domain_name, "
     "is_deferrable yes_or_no, initially_deferred yes_or_no", domain_checks},
    {"information_schema", "columns", 13295, 'v',
     "table_catalog, table_schema, table_name, column_name, ordinal_position cardinal_number, "
     "column_default character_data, is_nullable yes_or_no, data_type character_data, "
     "character_maximum_length cardinal_number, character_octet_length cardinal_number, "
     "numeric_precision cardinal_number, numeric_precision_radix cardinal_number, "
     "numeric_scale cardinal_number, datetime_precision cardinal_number, interval_type character_data, "
     "interval_precision cardinal_number, character_set_catalog, character_set_schema, character_set_name, "
     "collation_catalog, collation_schema, collation_name, domain_catalog, domain_schema, domain_name, "
     "udt_catalog, udt_schema, udt_name, scope_catalog, scope_schema, scope_name, "
     "maximum_cardinality cardinal_number, dtd_identifier, is_self_referencing yes_or_no, "
     "is_identity yes_or_no, identity_generation character_data, identity_start character_data, "
     "identity_increment character_data, identity_maximum character_data, identity_minimum character_data, "
     "identity_cycle yes_or_no, is_generated character_data, generation_expression character_data, "
     "is_updatable yes_or_no", columns},
    {"information_schema", "column_udt_usage", 13290, 'v',
     "udt_catalog, udt_schema, udt_name, table_catalog, table_schema, table_name, column_name", column_types},
    {"information_schema", "sequences", 13386, 'v',
     "sequence_catalog, sequence_schema, sequence_name, data_type character_data, "
     "numeric_precision cardinal_number, numeric_precision_radix cardinal_number, "
     "numeric_scale cardinal_number, start_value character_data, minimum_value character_data, "
     "maximum_value character_data, increment character_data, cycle_option yes_or_no", information_schema_sequences},
    {"information_schema", "attributes", 13245, 'v',
     "udt_catalog, udt_schema, udt_name, attribute_name, ordinal_position cardinal_number, "
     "attribute_default character_data, is_nullable yes_or_no, data_type character_data, "
     "character_maximum_length cardinal_number, character_octet_length cardinal_number, character_set_catalog, "
     "character_set_schema, character_set_name, collation_catalog, collation_schema, collation_name, "
     "numeric_precision cardinal_number, numeric_precision_radix cardinal_number, "
     "numeric_scale cardinal_number, datetime_precision cardinal_number, interval_type character_data, "
     "interval_precision cardinal_number, attribute_udt_catalog, attribute_udt_schema, attribute_udt_name, "
     "scope_catalog, scope_schema, scope_name, maximum_cardinality cardinal_number, dtd_identifier, "
     "is_derived_reference_attribute yes_or_no", type_attributes},
    {"information_schema", "user_defined_types", 13463, 'v',
     "user_defined_type_catalog, user_defined_type_schema, user_defined_type_name, "
     "user_defined_type_category character_data, is_instantiable yes_or_no, is_final yes_or_no, "
     "ordering_form character_data, ordering_category character_data, ordering_routine_catalog, "
     "ordering_routine_schema, ordering_routine_name, reference_type character_data, data_type character_data, "
     "character_maximum_length cardinal_number, character_octet_length cardinal_number, character_set_catalog, "
     "character_set_schema, character_set_name, collation_catalog, collation_schema, collation_name, "
     "numeric_precision cardinal_number, numeric_precision_radix cardinal_number, "
     "numeric_scale cardinal_number, datetime_precision cardinal_number, interval_type character_data, "
     "interval_precision cardinal_number, source_dtd_identifier, ref_dtd_identifier", composite_types},
    {"information_schema", "parameters", 13334, 'v',
     "specific_catalog, specific_schema, specific_name, ordinal_position cardinal_number, "
     "parameter_mode character_data, is_result yes_or_no, as_locator yes_or_no, parameter_name, "
     "data_type character_data, character_maximum_length cardinal_number, "
     "character_octet_length cardinal_number, character_set_catalog, character_set_schema, character_set_name, "
     "collation_catalog, collation_schema, collation_name, numeric_precision cardinal_number, "
     "numeric_precision_radix cardinal_number, numeric_scale cardinal_number, "
     "datetime_precision cardinal_number, interval_type character_data, interval_precision cardinal_number, "
     "udt_catalog, udt_schema, udt_name, scope_catalog, scope_schema, scope_name, "
     "maximum_cardinality cardinal_number, dtd_identifier, parameter_default character_data", parameters},
    {"information_schema", "routines", 13377, 'v',
     "specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, routine_name, "
     "routine_type character_data, module_catalog, module_schema, module_name, udt_catalog, udt_schema, "
     "udt_name, data_type character_data, character_maximum_length cardinal_number, "
     "character_octet_length cardinal_number, character_set_catalog, character_set_schema, character_set_name, "
     "collation_catalog, collation_schema, collation_name, numeric_precision cardinal_number, "
     "numeric_precision_radix cardinal_number, numeric_scale cardinal_number, "
     "datetime_precision cardinal_number, interval_type character_data, interval_precision cardinal_number, "
     "type_udt_catalog, type_udt_schema, type_udt_name, scope_catalog, scope_schema, scope_name, "
     "maximum_cardinality cardinal_number, dtd_identifier, routine_body character_data, "
     "routine_definition character_data, external_name character_data, external_language character_data, "
     "parameter_style character_data, is_deterministic yes_or_no, sql_data_access character_data, "
     "is_null_call yes_or_no, sql_path character_data, schema_level_routine yes_or_no, "
     "max_dynamic_result_sets cardinal_number, is_user_defined_cast yes_or_no, "
     "is_implicitly_invocable yes_or_no, security_type character_data, to_sql_specific_catalog, "
     "to_sql_specific_schema, to_sql_specific_name, as_locator yes_or_no, created time_stamp, "
     "last_altered time_stamp, new_savepoint_level yes_or_no, is_udt_dependent yes_or_no, "
     "result_cast_from_data_type character_data, result_cast_as_locator yes_or_no, "
     "result_cast_char_max_length cardinal_number, result_cast_char_octet_length cardinal_number, "
     "result_cast_char_set_catalog, result_cast_char_set_schema, result_cast_char_set_name, "
     "result_cast_collation_catalog, result_cast_collation_schema, result_cast_collation_name, "
     "result_cast_numeric_precision cardinal_number, result_cast_numeric_precision_radix cardinal_number, "
     "result_cast_numeric_scale cardinal_number, result_cast_datetime_precision cardinal_number, "
     "result_cast_interval_type character_data, result_cast_interval_precision cardinal_number, "
     "result_cast_type_udt_catalog, result_cast_type_udt_schema, result_cast_type_udt_name, "
     "result_cast_scope_catalog, result_cast_scope_schema, result_cast_scope_name, "
     "result_cast_maximum_cardinality cardinal_number, result_cast_dtd_identifier", routines},
};

}  // namespace

SystemTableFamily information_tables() { return kInformationTables; }

}  // namespace redquel::sql
