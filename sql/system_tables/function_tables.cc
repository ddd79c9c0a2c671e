// pg_proc, pg_aggregate, pg_operator, pg_language, pg_conversion.

#include <algorithm>
#include <set>

#include "sql/catalog/function_text.h"
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
#include "sql/types/array_value.h"

namespace redquel::sql {
namespace {

constexpr Oid kInternalLanguage = 12, kCLanguage = 13, kSqlLanguage = 14, kPlpgsqlLanguage = 13758;

void add_function(RowWriter& out, const CatalogSnapshot& catalog, const CatalogFunction& function) {
  const std::optional<std::string> acl = acl_text(acl_of(catalog, catalog_class::kFunctions, function.oid)->acl);
  if (!function.facts.empty()) {
    std::vector<FactValue> row = function_facts().values(function.facts);
    if (acl) row.back() = *acl;
    return out.add_texts(std::span(row).subspan(1));  // behind `supports`
  }
  std::optional<std::string> all_types, modes, names;
  if (!function.output_columns.empty()) {
    std::vector<Oid> types = function.arguments;
    std::string letters, words;
    for (std::size_t i = 0; i < function.arguments.size(); ++i) letters += "i,", words += "\"\",";
    for (const auto& [name, type] : function.output_columns) {
      types.push_back(type);
      letters += "o,";
      words += name + ",";
    }
    letters.pop_back();
    words.pop_back();
    all_types = array_text(types);
    modes = "{" + letters + "}";
    names = "{" + words + "}";
  }
  const auto [schema, name] = own_schema_and_name(function);
  out.add(function.oid, name, schema_oid(catalog, schema),
          kPostgresRole, kInternalLanguage, 1.0,
          function.returns_set ? 1000.0 : 0.0, function.variadic, 0, function.kind, false, false, function.strict,
          function.returns_set, static_cast<char>(function.volatility), 's', function.arguments.size(), 0, function.result,
          vector_text(function.arguments), all_types, modes, names, kNull, kNull,
          function.kind == 'a' ? "aggregate_dummy" : function.name, kNull, kNull, kNull, acl);
}

/// A name as an element of an array's text.
std::string array_word(const std::string& name) {
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (!name.empty() && name != "null" && std::ranges::all_of(name, is_plain)) return name;
  std::string word = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') word += '\\';
    word += c;
  }
  return word + "\"";
}

void add_function(RowWriter& out, const CatalogSnapshot& catalog, const FunctionDef& function, const EvaluationContext& context) {
  std::vector<Oid> types, all_types;
  std::set<std::string> shown;  // parameters that are results, too
  std::string letters, names;
  bool has_names = false;
  std::int64_t defaults = 0;
  std::string default_texts;
  const auto add = [&](char letter, const std::string& name, Oid type) {
    all_types.push_back(type);
    letters += (letters.empty() ? "" : ",") + std::string(1, letter);
    names += (names.empty() ? "" : ",") + array_word(name);
    has_names = has_names || !name.empty();
  };
  for (const FunctionDef::Parameter& parameter : function.parameters) {
    using Mode = FunctionDef::Parameter::Mode;
    const bool is_both = parameter.mode == Mode::kInOut;
    const char letter = is_both ? 'b' : parameter.mode == Mode::kOut ? 'o' : parameter.mode == Mode::kVariadic ? 'v' : 'i';
    if (letter != 'o') types.push_back(parameter.type.oid);
    add(letter, parameter.name, parameter.type.oid);
    if (!parameter.default_sql.empty()) {
      if (defaults++ > 0) default_texts += ", ";
      default_texts += written_default(context, parameter.default_sql, parameter.type, function.schema);
    }
    if (is_both || letter == 'o') shown.insert(parameter.name);
  }
  for (const FunctionDef::Column& column : function.columns) {
    if (function.procedure || shown.contains(column.name)) continue;
    add(function.table_syntax ? 't' : 'o', column.name, column.type.oid);
  }
  const bool has_outputs = !function.columns.empty() || function.is_variadic();
  Oid result = function.result.oid, variadic = 0;
  if (const auto table = catalog.find_table(function.result_relation)) result = table->row_type;
  if (const auto view = catalog.find_view(function.result_relation)) result = view->row_type;
  if (function.is_variadic()) {
    const Oid array = function.parameters.back().type.oid;
    variadic = array == oid::kAnyArray ? oid::kAnyElement : array == oid::kAnyCompatibleArray ? oid::kAnyCompatible : type_info(array).element;
  }
  const char volatility = function.volatility == FunctionDef::Volatility::kImmutable ? 'i'
                          : function.volatility == FunctionDef::Volatility::kStable  ? 's'
                                                                                     : 'v';
  const FunctionWords words(function);
  std::string settings;
  for (const std::string& setting : function_settings(function)) append_array_element(setting, settings);
  if (!settings.empty()) finish_array_text(settings);
  const auto if_any = [](bool any, std::string text) { return any ? std::optional(std::move(text)) : std::nullopt; };
  const bool is_c = function.language == "c";
  const Oid language = is_c ? kCLanguage : function.language == "plpgsql" ? kPlpgsqlLanguage : kSqlLanguage;
  out.add(function.oid, function.name, schema_oid(catalog, function.schema), owner_oid(function.owner), language, words.cost,
          function.returns_set ? words.rows : 0.0, variadic, 0, function.procedure ? 'p' : function.window ? 'w' : 'f', words.security_definer,
          words.leakproof, function.strict, function.returns_set, volatility, words.parallel, types.size(), defaults, result, vector_text(types),
          if_any(has_outputs, array_text(all_types)), if_any(has_outputs, "{" + letters + "}"), if_any(has_names, "{" + names + "}"),
          if_any(defaults > 0, default_texts), kNull, function.standard_body ? "" : function.body,
          if_any(is_c, extension_library(function)), if_any(function.standard_body, written_body(context, function)), if_any(!settings.empty(), settings),
          acl_text(function.acl));
}

void functions(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext& context) {
  for (const CatalogFunction& function : all_catalog_functions()) add_function(out, catalog, function);
  for (const auto& [oid, function] : catalog.functions) add_function(out, catalog, *function, context);
}

/// The aggregates of pg_proc.
void aggregates(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  const FactTable& facts = aggregate_facts();
  const std::size_t function = facts.column("aggfnoid");
  for (const std::string_view line : facts.lines()) {
    const std::vector<FactValue> row = facts.values(line);
    if (find_catalog_function(fact_oid(row[function])) != nullptr) out.add_texts(row);
  }
}

/// An operator of PostgreSQL's that redquel has for these types, or for any.
bool has_operator(std::string_view name, Oid left, Oid right) {
  std::vector<Oid> wanted = {left, right};
  if (left == 0) wanted.erase(wanted.begin());
  return std::ranges::any_of(find_functions(name), [&](const ScalarFunction* own) { return own->arguments == wanted; });
}

/// Those that redquel has, and those that the families of operators name.
void operators(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  const FactTable &facts = operator_facts(), &members = family_operator_facts();
  std::set<Oid> named;
  const std::size_t member = members.column("amopopr");
  for (const std::string_view line : members.lines()) named.insert(fact_oid(members.values(line)[member]));
  const std::size_t oid = facts.column("oid"), name = facts.column("oprname"), left = facts.column("oprleft"), right = facts.column("oprright");
  for (const std::string_view line : facts.lines()) {
    const std::vector<FactValue> row = facts.values(line);
    if (named.contains(fact_oid(row[oid])) || has_operator(*row[name], fact_oid(row[left]), fact_oid(row[right]))) out.add_texts(row);
  }
}

void conversions(RowWriter& out, const CatalogSnapshot&, const EvaluationContext&) {
  const FactTable& facts = conversion_facts();
  for (const std::string_view line : facts.lines()) out.add_texts(facts.values(line));
}

void languages(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  const auto add = [&](Oid oid, std::string_view name, bool is_trusted, Oid validator, Oid handler = 0, Oid inline_handler = 0) {
    out.add(oid, name, kPostgresRole, handler != 0, is_trusted, handler, inline_handler, validator, acl_text(acl_of(catalog, catalog_class::kLanguages, oid)->acl));
  };
  add(kInternalLanguage, "internal", false, 2246);
  add(kCLanguage, "c", false, 2247);
  add(kSqlLanguage, "sql", true, 2248);
  add(kPlpgsqlLanguage, "plpgsql", true, 13757, 13755, 13756);  // functions that nothing calls
}

const SystemTableDefinition kFunctionTables[] = {
    {"pg_catalog", "pg_proc", 1255, 'r',
     "oid oid!, proname name!, pronamespace oid!, proowner oid!, prolang oid!, procost float4!, "
     "prorows float4!, provariadic oid!, prosupport regproc!, prokind char!, prosecdef bool!, "
     "proleakproof bool!, proisstrict bool!, proretset bool!, provolatile char!, proparallel char!, "
     "pronargs int2!, pronargdefaults int2!, prorettype oid!, proargtypes oidvector!, proallargtypes _oid, "
     "proargmodes _char, proargnames _text, proargdefaults pg_node_tree, protrftypes _oid, prosrc text!, "
     "probin text, prosqlbody pg_node_tree, proconfig _text, proacl _aclitem", functions},
    {"pg_catalog", "pg_aggregate", 2600, 'r',
     "aggfnoid regproc!, aggkind char!, aggnumdirectargs int2!, aggtransfn regproc!, aggfinalfn regproc!, "
     "aggcombinefn regproc!, aggserialfn regproc!, aggdeserialfn regproc!, aggmtransfn regproc!, "
     "aggminvtransfn regproc!, aggmfinalfn regproc!, aggfinalextra bool!, aggmfinalextra bool!, "
     "aggfinalmodify char!, aggmfinalmodify char!, aggsortop oid!, aggtranstype oid!, aggtransspace int4!, "
     "aggmtranstype oid!, aggmtransspace int4!, agginitval text, aggminitval text", aggregates},
    {"pg_catalog", "pg_operator", 2617, 'r',
     "oid oid!, oprname name!, oprnamespace oid!, oprowner oid!, oprkind char!, oprcanmerge bool!, "
     "oprcanhash bool!, oprleft oid!, oprright oid!, oprresult oid!, oprcom oid!, oprnegate oid!, "
     "oprcode regproc!, oprrest regproc!, oprjoin regproc!", operators},
    {"pg_catalog", "pg_language", 2612, 'r',
     "oid oid!, lanname name!, lanowner oid!, lanispl bool!, lanpltrusted bool!, lanplcallfoid oid!, "
     "laninline oid!, lanvalidator oid!, lanacl _aclitem", languages},
    {"pg_catalog", "pg_conversion", 2607, 'r',
     "oid oid!, conname name!, connamespace oid!, conowner oid!, conforencoding int4!, contoencoding int4!, "
     "conproc regproc!, condefault bool!", conversions},
};

}  // namespace

SystemTableFamily function_tables() { return kFunctionTables; }

}  // namespace redquel::sql
