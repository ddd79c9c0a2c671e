// The functions that put catalog objects into words (manual 9.26.4 and following, tables "System Catalog Information Functions"),
// and those about sizes and privileges that programs ask beside them.

#include <algorithm>
#include <array>
#include <span>

#include "sql/catalog/partitions.h"
#include "sql/catalog/publications.h"
#include "sql/catalog/function_text.h"
#include "sql/catalog/role_set.h"
#include "sql/definition_words.h"
#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/quote.h"
#include "sql/name_errors.h"
#include "sql/privileges/row_security.h"
#include "sql/relation_sizes.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/constraints.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/trigger_words.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

Oid as_oid(Int bits) { return static_cast<Oid>(bits); }
Int as_int(Oid oid) { return static_cast<Int>(oid); }

// ---- definitions ----------------------------------------------------------------------------------------------------

/// Its columns' names: all, or one counted from 1.
std::string catalog_index_columns(const CatalogIndex& index, Int only) {
  const SystemTable& table = *find_system_table(index.catalog);
  std::string text;
  for (std::size_t i = 0; i < index.columns.size(); ++i) {
    if (only != 0 && static_cast<std::size_t>(only) != i + 1) continue;
    text += (text.empty() ? "" : ", ") + table.columns[static_cast<std::size_t>(index.columns[i]) - 1].name;
  }
  return text;
}

void catalog_index_text(const Relation& relation, Int column, bool pretty, std::string& out) {
  const CatalogIndex& index = *relation.catalog_index;
  out = catalog_index_columns(index, column);
  if (column != 0) return;
  const std::string table = (pretty ? "" : "pg_catalog.") + find_system_table(index.catalog)->name;
  out = std::string(index.unique ? "CREATE UNIQUE INDEX " : "CREATE INDEX ") + relation.name + " ON " + table + " USING btree (" + out + ")";
}

/// Column 0: the whole definition; else only what stands for that column.
bool index_text(Context context, Int oid, Int column, bool pretty, std::string& out) {
  const CatalogSnapshot& catalog = catalog_of(context);
  const std::optional<Relation> index = find_relation(catalog, as_oid(oid));
  if (index && index->catalog_index != nullptr) {
    catalog_index_text(*index, column, pretty, out);
    return true;
  }
  if (!index || !index->index) return false;
  if (column == 0) {
    const std::optional<Relation> table = find_relation(catalog, index->table->oid);
    const bool bare = pretty && is_visible(catalog, *table, context.search_path);
    out = index_definition(*index->table, *index->index, bare ? quote_identifier(table->name) : qualified_name(*table), pretty, context);
    return true;
  }
  const std::vector<IndexDef::Part>& parts = index->index->parts;
  const std::vector<std::int16_t>& included = index->index->included;
  if (column < 1 || static_cast<std::size_t>(column) > parts.size() + included.size()) return true;  // empty, as PostgreSQL
  if (static_cast<std::size_t>(column) > parts.size()) {
    out = quote_identifier(index->table->find_column(included[static_cast<std::size_t>(column) - parts.size() - 1])->name);
    return true;
  }
  out = index_part_text(*index->table, parts[static_cast<std::size_t>(column) - 1], pretty, context);
  return true;
}
bool whole_index_text(Context context, Int oid, std::string& out) { return index_text(context, oid, 0, false, out); }

bool constraint_text(Context context, Int oid, bool pretty, std::string& out) {
  const CatalogSnapshot& catalog = catalog_of(context);
  std::vector<Constraint> constraints = all_constraints(catalog);
  const std::vector<Constraint> of_domains = domain_constraints(catalog);
  constraints.insert(constraints.end(), of_domains.begin(), of_domains.end());
  for (const Constraint& constraint : constraints) {
    if (constraint.oid != as_oid(oid)) continue;
    out = constraint_definition(catalog, constraint, pretty, context);
    return true;
  }
  const std::span<const CatalogIndex> indexes = catalog_indexes();
  const auto index = std::ranges::find(indexes, as_oid(oid), &CatalogIndex::constraint);
  if (oid != 0 && index != indexes.end() && find_system_table(index->catalog) != nullptr) {
    out = (index->primary ? "PRIMARY KEY (" : "UNIQUE (") + catalog_index_columns(*index, 0) + ")";
    return true;
  }
  return false;
}
bool plain_constraint_text(Context context, Int oid, std::string& out) { return constraint_text(context, oid, false, out); }

bool trigger_text(Context context, Int oid, bool pretty, std::string& out) {
  const auto [table, trigger] = find_trigger(catalog_of(context), as_oid(oid));
  if (trigger == nullptr) return false;
  out = trigger_definition(*table, *trigger, pretty, context);
  return true;
}
bool plain_trigger_text(Context context, Int oid, std::string& out) { return trigger_text(context, oid, false, out); }

bool partition_condition(Context context, Int oid, std::string& out) {
  const CatalogSnapshot::TablePtr table = catalog_of(context).find_table(as_oid(oid));
  if (!table || !table->partition) return false;
  out = partition_condition_text(catalog_of(context), *table, *context.settings);
  return !out.empty();
}

bool partition_key_definition(Context context, Int oid, std::string& out) {
  const CatalogSnapshot::TablePtr table = catalog_of(context).find_table(as_oid(oid));
  if (!table || !table->partition_key) return false;
  out = partition_key_text(*table);
  return true;
}

/// Expression trees are kept as their text.
Text expression_text(Text tree, Int) { return tree; }
void pretty_expression_text(Context context, Text tree, Int relation, bool pretty, std::string& out) {
  const CatalogSnapshot::TablePtr table = pretty ? catalog_of(context).find_table(as_oid(relation)) : nullptr;
  out = table == nullptr ? std::string(tree) : written_expression(*table, std::string(tree), true, context);
}

/// row_security_active(): policies restrict the table's rows for the current role, regardless of the parameter row_security.
bool restricts_rows(Context context, Int relation) {
  const CatalogSnapshot::TablePtr table = catalog_of(context).find_table(as_oid(relation));
  const RoleDef* role = known_roles()->find(context.user);
  return table && role != nullptr && row_security(*table, role->oid, *known_roles(), context.database) == RowSecurity::kEnabled;
}

void role_text(Context context, Int role, std::string& out) {
  for (const Role& known : all_roles(catalog_of(context), context)) {
    if (known.oid == as_oid(role)) {
      out = known.name;
      return;
    }
  }
  out = "unknown (OID=" + std::to_string(as_oid(role)) + ")";
}

// ---- functions ------------------------------------------------------------------------------------------------------

const FunctionDef* find_sql_function(Context context, Int oid) {
  const auto found = catalog_of(context).functions.find(as_oid(oid));
  return found == catalog_of(context).functions.end() ? nullptr : found->second.get();
}
template <bool with_defaults>
bool arguments_text(Context context, Int oid, std::string& out) {
  if (const FunctionDef* own = find_sql_function(context, oid)) {
    out = function_arguments(*own, context, with_defaults);
    return true;
  }
  const CatalogFunction* function = find_catalog_function(as_oid(oid));
  if (function == nullptr) return false;
  out = function_arguments(*function, with_defaults);
  return true;
}
/// integer, text: what psql offers behind DROP FUNCTION f(
void type_list(Context context, Text oids, std::string& out) {
  for (const std::optional<Text> element : read_array(oid::kOidVector, oids).elements) {
    if (!element) continue;
    if (!out.empty()) out += ", ";
    out += object_name(kRegtype, static_cast<Oid>(std::stoul(std::string(*element))), context);
  }
}
bool result_text(Context context, Int oid, std::string& out) {
  if (const FunctionDef* own = find_sql_function(context, oid)) {
    if (own->procedure) return false;
    out = function_result(*own, context);
    return true;
  }
  const CatalogFunction* function = find_catalog_function(as_oid(oid));
  if (function == nullptr) return false;
  out = function_result(*function);
  return true;
}
/// Counts the parameters of a call from 1.
bool argument_default(Context context, Int oid, Int number, std::string& out) {
  const FunctionDef* function = find_sql_function(context, oid);
  if (function == nullptr) return false;
  Int count = 0;
  for (const FunctionDef::Parameter& parameter : function->parameters) {
    if (++count != number || parameter.default_sql.empty()) continue;
    out = written_default(context, parameter.default_sql, parameter.type, function->schema);
    return true;
  }
  return false;
}
bool body_text(Context context, Int oid, std::string& out) {
  const FunctionDef* function = find_sql_function(context, oid);
  if (function == nullptr || !function->standard_body) return false;
  out = written_body(context, *function);
  return true;
}

/// CREATE FUNCTION, as \sf shows it.
bool function_text(Context context, Int oid, std::string& out) {
  if (const FunctionDef* own = find_sql_function(context, oid)) {
    out = function_definition(*own, context);
    return true;
  }
  const CatalogFunction* function = find_catalog_function(as_oid(oid));
  if (function == nullptr) return false;
  if (function->kind == 'a') throw SqlError(sqlstate::kWrongObjectType, "\"" + function->name + "\" is an aggregate function");
  out = "CREATE OR REPLACE FUNCTION pg_catalog." + quote_identifier(function->name) + "(" + function_arguments(*function, true) + ")\n";
  out += " RETURNS " + function_result(*function) + "\n LANGUAGE internal\n ";
  if (function->volatility == Volatility::kImmutable) out += "IMMUTABLE ";
  if (function->volatility == Volatility::kStable) out += "STABLE ";
  out += "PARALLEL SAFE";
  if (function->strict) out += " STRICT";
  out += "\nAS $function$" + function->name + "$function$\n";
  return true;
}

// ---- names ----------------------------------------------------------------------------------------------------------

/// to_regproc() and its like: NULL where the input function of the type would say that there is none.
template <Oid type>
std::optional<Int> named_or_null(Context context, Text text) {
  try {
    return as_int(parse_object_name(Type{type}, text, context));
  } catch (const SqlError& error) {
    for (const std::string_view missing : {sqlstate::kUndefinedTable, sqlstate::kUndefinedObject, sqlstate::kUndefinedFunction,
                                           sqlstate::kAmbiguousFunction, sqlstate::kUndefinedSchema}) {
      if (error.sqlstate() == missing) return std::nullopt;
    }
    throw;
  }
}

void schemas(Context context, bool with_implicit, std::string& out) {
  const CatalogSnapshot& catalog = catalog_of(context);
  out = "{";
  const auto add = [&](const std::string& name) { out += (out.size() > 1 ? "," : "") + quote_identifier(name); };
  if (with_implicit && std::ranges::find(context.search_path, "pg_catalog") == context.search_path.end()) add("pg_catalog");
  for (const std::string& name : context.search_path) {
    const bool shown = with_implicit || !is_temporary_schema(name);
    if (shown && schema_oid(catalog, name) != 0) add(name);
  }
  out += "}";
}

std::optional<bool> relation_visible(Context context, Int relation) {
  const std::optional<Relation> found = find_relation(catalog_of(context), as_oid(relation));
  return found ? std::optional(is_visible(catalog_of(context), *found, context.search_path)) : std::nullopt;
}

std::optional<bool> type_visible(Context context, Int type) {
  for (const auto& [oid, user] : catalog_of(context).types) {
    if (oid != as_oid(type) && user->array != as_oid(type)) continue;
    const UserTypePtr found = catalog_of(context).find_user_type({}, user->name, context.search_path);
    return found != nullptr && found->oid == oid;
  }
  if (find_type(as_oid(type)) != nullptr) return true;
  for (const auto& [oid, table] : catalog_of(context).tables) {
    if (table->row_type == as_oid(type)) return relation_visible(context, as_int(oid));
  }
  return std::nullopt;
}

std::optional<bool> function_visible(Context context, Int function) {
  if (const FunctionDef* own = find_sql_function(context, function)) {
    return means_function_of("", own->schema, context.search_path);
  }
  const CatalogFunction* found = find_catalog_function(as_oid(function));
  if (found == nullptr) return std::nullopt;
  const std::string_view schema = own_schema_and_name(*found).first;
  return schema == "pg_catalog" || std::ranges::find(context.search_path, schema) != context.search_path.end();
}

// ---- comments -------------------------------------------------------------------------------------------------------

std::optional<std::string> comment_or_null(std::string comment) {
  return comment.empty() ? std::nullopt : std::optional(std::move(comment));
}

std::optional<std::string> relation_comment(Context context, Int oid) {
  const std::optional<Relation> found = find_relation(catalog_of(context), as_oid(oid));
  return found ? comment_or_null(found->comment) : std::nullopt;
}

/// Returns the comment on a role; databases have none.
std::optional<std::string> shared_object_comment(Int oid, Text in) {
  const RoleDef* role = in == "pg_authid" ? known_roles()->find(static_cast<Oid>(oid)) : nullptr;
  return role == nullptr ? std::nullopt : comment_or_null(role->comment);
}

std::optional<std::string> object_comment(Context context, Int oid, Text in) {
  const CatalogSnapshot& catalog = catalog_of(context);
  if (in == "pg_class") return relation_comment(context, oid);
  if (in == "pg_proc") {
    const FunctionDef* function = find_sql_function(context, oid);
    return function == nullptr ? std::nullopt : comment_or_null(function->comment);
  }
  if (in == "pg_namespace") {
    const auto found = catalog.schemas.find(schema_name(catalog, as_oid(oid)));
    if (found != catalog.schemas.end()) return comment_or_null(found->second.comment);
  }
  if (in == "pg_extension") {
    const auto found = catalog.extensions.find(as_oid(oid));
    if (found != catalog.extensions.end()) return comment_or_null(found->second.comment);
  }
  if (in == "pg_publication") {
    const auto found = catalog.publications.find(as_oid(oid));
    if (found != catalog.publications.end()) return comment_or_null(found->second.comment);
  }
  if (in == "pg_type") {
    const auto found = catalog.types.find(as_oid(oid));
    if (found != catalog.types.end()) return comment_or_null(found->second->comment);
  }
  if (in == "pg_trigger") {
    const auto [table, trigger] = find_trigger(catalog, as_oid(oid));
    return trigger == nullptr ? std::nullopt : comment_or_null(trigger->comment);
  }
  if (in == "pg_constraint") {
    std::vector<Constraint> constraints = all_constraints(catalog);
    std::ranges::move(domain_constraints(catalog), std::back_inserter(constraints));
    for (const Constraint& constraint : constraints) {
      if (constraint.oid == as_oid(oid)) return comment_or_null(constraint.comment);
    }
  }
  return std::nullopt;
}

std::optional<std::string> column_comment(Context context, Int relation, Int number) {
  if (const auto view = catalog_of(context).find_view(as_oid(relation))) {
    const auto position = static_cast<std::size_t>(number) - 1;
    return position < view->columns.size() ? comment_or_null(view->columns[position].comment) : std::nullopt;
  }
  for (const auto& [oid, type] : catalog_of(context).types) {
    if (type->relation != as_oid(relation) || relation == 0) continue;
    const auto position = static_cast<std::size_t>(number) - 1;
    return position < type->fields.size() ? comment_or_null(type->fields[position].comment) : std::nullopt;
  }
  const CatalogSnapshot::TablePtr table = catalog_of(context).find_table(as_oid(relation));
  const ColumnDef* column = table == nullptr ? nullptr : table->find_column(static_cast<std::int16_t>(number));
  return column == nullptr ? std::nullopt : comment_or_null(column->comment);
}

// ---- sizes ----------------------------------------------------------------------------------------------------------

const RelationSizes& sizes_of(const EvaluationContext& context) {
  if (context.sizes == nullptr) throw not_supported("a function that returns a size, in this place");
  return *context.sizes;
}

/// Returns nullopt if the size is not known, because Redis refuses MEMORY USAGE.
std::optional<std::int64_t> size_in(const std::map<Oid, std::int64_t>& sizes, Oid oid) {
  const auto found = sizes.find(oid);
  return found == sizes.end() ? std::nullopt : std::optional(found->second);
}

bool keeps_keys(const Relation& relation) {
  return relation.system == nullptr && relation.catalog_index == nullptr &&
         (relation.kind == 'r' || relation.kind == 'm' || relation.kind == 'i' || relation.kind == 'S');
}

/// The bytes of the relation alone. NULL if there is no such relation; 0 for views and foreign tables.
std::optional<std::int64_t> relation_size(Context context, Int relation) {
  const std::optional<Relation> found = find_relation(catalog_of(context), as_oid(relation));
  if (!found) return std::nullopt;
  return keeps_keys(*found) ? size_in(sizes_of(context).relations, found->oid) : 0;
}
std::optional<std::int64_t> indexes_size(Context context, Int relation) {
  const std::optional<Relation> found = find_relation(catalog_of(context), as_oid(relation));
  if (!found) return std::nullopt;
  return keeps_keys(*found) && (found->kind == 'r' || found->kind == 'm') ? size_in(sizes_of(context).indexes, found->oid) : 0;
}
std::optional<std::int64_t> total_relation_size(Context context, Int relation) {
  const std::optional<std::int64_t> own = relation_size(context, relation), indexes = indexes_size(context, relation);
  return own && indexes ? std::optional(*own + *indexes) : std::nullopt;
}
std::optional<std::int64_t> fork_size(Context context, Int relation, Text fork) {
  if (fork == "main") return relation_size(context, relation);
  for (const std::string_view empty : {"fsm", "vm", "init"}) {
    if (fork == empty) return relation_size(context, relation) ? std::optional<std::int64_t>(0) : std::nullopt;
  }
  throw SqlError(sqlstate::kInvalidParameterValue, "invalid fork name").hint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\".");
}

std::int64_t size_of_database(Context context, Text name) {
  const bool is_known = name == context.database || name == "template0" || name == "template1" ||
                        std::ranges::find(context.databases, name) != context.databases.end() ||
                        (context.sizes != nullptr && context.sizes->databases.contains(std::string(name)));
  if (!is_known) throw undefined_database(name);
  const std::map<std::string, std::int64_t>& sizes = sizes_of(context).databases;
  const auto found = sizes.find(std::string(name));
  return found == sizes.end() ? 0 : found->second;  // a template without keys
}
/// NULL if there is no such database.
std::optional<std::int64_t> size_of_database_number(Context context, Int oid) {
  for (const auto& [name, size] : sizes_of(context).databases) {
    if (database_oid(name) == as_oid(oid)) return size;
  }
  return std::nullopt;
}

// ---- privileges and properties --------------------------------------------------------------------------------------

std::optional<bool> publishable(Context context, Int relation) {
  const std::optional<Relation> found = find_relation(catalog_of(context), as_oid(relation));
  if (!found) return std::nullopt;
  return found->table != nullptr && !found->index && is_publishable(*found->table);
}

/// Bits of 1 << CmdType: UPDATE 4, INSERT 8, DELETE 16.
constexpr Int kUpdates = 4, kInserts = 8, kDeletes = 16;
Int trigger_events(const ViewDef& view) {
  using Event = TriggerDef::Event;
  return (view.has_instead_of(Event::kUpdate) ? kUpdates : 0) | (view.has_instead_of(Event::kInsert) ? kInserts : 0) |
         (view.has_instead_of(Event::kDelete) ? kDeletes : 0);
}
Int updatable(Context context, Int relation, bool with_triggers) {
  const std::optional<Relation> found = find_relation(catalog_of(context), as_oid(relation));
  if (!found) return 0;
  if (found->view != nullptr) {
    return (found->view->is_updatable() ? kUpdates | kInserts | kDeletes : found->view->base != 0 ? kDeletes : 0) | (with_triggers ? trigger_events(*found->view) : 0);
  }
  return found->kind == 'r' || found->kind == 'p' || found->kind == 'f' ? 4 | 8 | 16 : 0;
}
bool column_updatable(Context context, Int relation, std::int16_t number, bool with_triggers) {
  const std::optional<Relation> found = find_relation(catalog_of(context), as_oid(relation));
  if (!found || number < 1) return false;
  const auto place = static_cast<std::size_t>(number) - 1;
  if (found->view != nullptr && with_triggers && (trigger_events(*found->view) & (kUpdates | kDeletes)) == (kUpdates | kDeletes)) return true;
  if (found->view != nullptr) return found->view->base != 0 && place < found->view->columns.size() && found->view->columns[place].updatable;
  return found->kind == 'r' || found->kind == 'p' || found->kind == 'f';
}

/// There are no files: a relation that would have one has its own number. NULL of others.
std::optional<Int> file_number(Context context, Int number) {
  const std::optional<Relation> relation = find_relation(catalog_of(context), as_oid(number));
  constexpr std::string_view kKindsWithFiles = "rimSt";
  return relation && kKindsWithFiles.find(relation->kind) != std::string_view::npos ? std::optional(number) : std::nullopt;
}
std::optional<Int> relation_of_file(Context context, Int tablespace, Int number) {
  constexpr Int kDefaultSpace = 1663, kGlobalSpace = 1664;
  const bool is_space = tablespace == 0 || tablespace == kDefaultSpace || tablespace == kGlobalSpace;
  return is_space ? file_number(context, number) : std::nullopt;
}

std::optional<bool> no_text(Int) { return std::nullopt; }

template <auto body>
ScalarFunction stable(std::string_view name, std::initializer_list<Type> arguments, Type result) {
  return scalar<body>(name, arguments, result, kStable);
}

/// Objects that redquel has none of: their definitions are NULL.
bool undefined(Int, std::string&) { return false; }
bool undefined_pretty(Int, bool, std::string&) { return false; }

bool view_text(Context context, Int oid, bool pretty, std::string& out) {
  const CatalogSnapshot& catalog = catalog_of(context);
  CatalogSnapshot::ViewPtr view = catalog.find_view(as_oid(oid));
  if (const auto table = catalog.find_table(as_oid(oid))) view = table->materialized;
  if (view == nullptr) return false;
  out = view_definition(catalog, *view, pretty, context.search_path);
  return true;
}
bool named_view_text(Context context, Text name, std::string& out) {
  return view_text(context, as_int(relation_named(name, context)), false, out);
}

}  // namespace

std::vector<ScalarFunction> catalog_functions() {
  constexpr Type kNameArray{oid::kNameArray}, kRegprocedure{oid::kRegprocedure}, kRegnamespace{oid::kRegnamespace},
      kRegrole{oid::kRegrole};
  std::vector<ScalarFunction> table = {
      stable<whole_index_text>("pg_get_indexdef", {kOidType}, kText),
      stable<index_text>("pg_get_indexdef", {kOidType, kInt4, kBool}, kText),
      stable<plain_constraint_text>("pg_get_constraintdef", {kOidType}, kText),
      stable<constraint_text>("pg_get_constraintdef", {kOidType, kBool}, kText),
      stable<plain_trigger_text>("pg_get_triggerdef", {kOidType}, kText),
      stable<trigger_text>("pg_get_triggerdef", {kOidType, kBool}, kText),
      stable<expression_text>("pg_get_expr", {kText, kOidType}, kText),
      stable<pretty_expression_text>("pg_get_expr", {kText, kOidType, kBool}, kText),
      stable<role_text>("pg_get_userbyid", {kOidType}, kName),
      stable<arguments_text<true>>("pg_get_function_arguments", {kOidType}, kText),
      stable<arguments_text<false>>("pg_get_function_identity_arguments", {kOidType}, kText),
      stable<result_text>("pg_get_function_result", {kOidType}, kText),
      stable<type_list>("oidvectortypes", {Type{oid::kOidVector}}, kText),
      stable<function_text>("pg_get_functiondef", {kOidType}, kText),
      stable<body_text>("pg_get_function_sqlbody", {kOidType}, kText),
      stable<argument_default>("pg_get_function_arg_default", {kOidType, kInt4}, kText),
      stable<named_view_text>("pg_get_viewdef", {kText}, kText),
      stable<[](Context context, Text name, bool pretty, std::string& out) {
        return view_text(context, as_int(relation_named(name, context)), pretty, out);
      }>("pg_get_viewdef", {kText, kBool}, kText),
      stable<[](Context context, Int oid, std::string& out) { return view_text(context, oid, false, out); }>(
          "pg_get_viewdef", {kOidType}, kText),
      stable<view_text>("pg_get_viewdef", {kOidType, kBool}, kText),
      stable<[](Context context, Int oid, Int, std::string& out) { return view_text(context, oid, true, out); }>(
          "pg_get_viewdef", {kOidType, kInt4}, kText),
      stable<named_or_null<oid::kRegproc>>("to_regproc", {kText}, kRegproc),
      stable<named_or_null<oid::kRegprocedure>>("to_regprocedure", {kText}, kRegprocedure),
      stable<named_or_null<oid::kRegnamespace>>("to_regnamespace", {kText}, kRegnamespace),
      stable<named_or_null<oid::kRegrole>>("to_regrole", {kText}, kRegrole),
      stable<named_or_null<oid::kRegoper>>("to_regoper", {kText}, Type{oid::kRegoper}),
      stable<named_or_null<oid::kRegoperator>>("to_regoperator", {kText}, Type{oid::kRegoperator}),
      stable<named_or_null<oid::kRegcollation>>("to_regcollation", {kText}, Type{oid::kRegcollation}),
      stable<named_or_null<oid::kRegtype>>("to_regtype", {kText}, kRegtype),
      stable<schemas>("current_schemas", {kBool}, kNameArray),
      stable<relation_visible>("pg_table_is_visible", {kOidType}, kBool),
      stable<type_visible>("pg_type_is_visible", {kOidType}, kBool),
      stable<function_visible>("pg_function_is_visible", {kOidType}, kBool),
      stable<relation_comment>("obj_description", {kOidType}, kText),
      stable<object_comment>("obj_description", {kOidType, kName}, kText),
      stable<column_comment>("col_description", {kOidType, kInt4}, kText),
      stable<shared_object_comment>("shobj_description", {kOidType, kName}, kText),
      stable<[](Int, std::string&) { return true; }>("pg_tablespace_location", {kOidType}, kText),
      stable<publishable>("pg_relation_is_publishable", {kRegclass}, kBool),
      stable<updatable>("pg_relation_is_updatable", {kRegclass, kBool}, kInt4),
      stable<column_updatable>("pg_column_is_updatable", {kRegclass, kInt2, kBool}, kBool),
      stable<file_number>("pg_relation_filenode", {kRegclass}, kOidType),
      stable<relation_of_file>("pg_filenode_relation", {kOidType, kOidType}, kRegclass),
      stable<restricts_rows>("row_security_active", {kOidType}, kBool),
      stable<[](Context context, Text name) {
        return restricts_rows(context, as_int(relation_named(name, context)));
      }>("row_security_active", {kText}, kBool),
      stable<fork_size>("pg_relation_size", {kRegclass, kText}, kInt8),
      stable<size_of_database>("pg_database_size", {kName}, kInt8),
      stable<size_of_database_number>("pg_database_size", {kOidType}, kInt8),
      stable<[](Text) { return std::int64_t{0}; }>("pg_tablespace_size", {kName}, kInt8),
      stable<[](Int) { return std::int64_t{0}; }>("pg_tablespace_size", {kOidType}, kInt8),
  };
  for (const std::string_view name : {"pg_relation_size", "pg_table_size"}) {
    table.push_back(stable<relation_size>(name, {kRegclass}, kInt8));
  }
  table.push_back(stable<indexes_size>("pg_indexes_size", {kRegclass}, kInt8));
  table.push_back(stable<total_relation_size>("pg_total_relation_size", {kRegclass}, kInt8));
  table.push_back(stable<partition_condition>("pg_get_partition_constraintdef", {kOidType}, kText));
  table.push_back(stable<partition_key_definition>("pg_get_partkeydef", {kOidType}, kText));
  table.push_back(stable<undefined>("pg_get_statisticsobjdef", {kOidType}, kText));
  table.push_back(stable<undefined_pretty>("pg_get_statisticsobjdef", {kOidType, kBool}, kText));
  for (const std::string_view name :
       {"pg_get_statisticsobjdef_columns"}) {
    table.push_back(stable<undefined>(name, {kOidType}, kText));
  }
  for (const std::string_view name :
       {"pg_statistics_obj_is_visible", "pg_ts_config_is_visible", "pg_ts_dict_is_visible", "pg_ts_parser_is_visible",
        "pg_ts_template_is_visible"}) {
    table.push_back(stable<no_text>(name, {kOidType}, kBool));
  }
  return table;
}

SizesAsked sizes_asked_by(const ScalarFunction& function) {
  constexpr std::array<std::string_view, 4> kOfRelations{"pg_relation_size", "pg_table_size", "pg_indexes_size", "pg_total_relation_size"};
  if (!function.name.starts_with("pg_")) return SizesAsked::kNone;
  if (function.name == "pg_database_size") return SizesAsked::kRelationsAndDatabases;
  return std::ranges::find(kOfRelations, function.name) == kOfRelations.end() ? SizesAsked::kNone : SizesAsked::kRelations;
}

}  // namespace redquel::sql
