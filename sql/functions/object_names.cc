#include "sql/functions/object_names.h"

#include <algorithm>
#include <deque>

#include "sql/catalog/catalog.h"
#include "sql/error.h"
#include "sql/extensions/extension.h"
#include "sql/functions/characters.h"
#include "sql/functions/lift.h"
#include "sql/functions/operator_names.h"
#include "sql/functions/quote.h"
#include "sql/name_errors.h"
#include "sql/privileges/mapped_role.h"
#include "sql/privileges/permission_errors.h"
#include "sql/sqlstate.h"
#include "sql/system_tables/function_catalog.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/text_search/dictionary.h"
#include "sql/types/array_value.h"
#include "sql/types/number_text.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns the end of the type that begins there: the next comma outside of quotes and parentheses.
std::size_t end_of_type(std::string_view list, std::size_t begin) {
  bool quoted = false;
  int depth = 0;
  std::size_t at = begin;
  for (; at < list.size(); ++at) {
    if (list[at] == '"') quoted = !quoted;
    if (quoted) continue;
    if (list[at] == ',' && depth == 0) break;
    depth += (list[at] == '(') - (list[at] == ')');
  }
  if (quoted || depth > 0) throw SqlError(sqlstate::kInvalidTextRepresentation, "improper type name");
  return at;
}

struct SchemaAndName {
  std::string schema, name;
};

/// [database.][schema.]name.
SchemaAndName qualified(std::string_view text, const EvaluationContext& context) {
  std::vector<std::string> parts = split_name(text);
  if (parts.size() > 3) throw SqlError(sqlstate::kSyntaxError, "improper relation name (too many dotted names): " + joined(parts));
  if (parts.size() == 3) {
    if (parts[0] != context.database) {
      throw SqlError(sqlstate::kFeatureNotSupported, "cross-database references are not implemented: \"" + joined(parts) + "\"");
    }
    parts.erase(parts.begin());
  }
  if (parts.size() == 1) return {"", parts[0]};
  return {parts[0], parts[1]};
}

/// 3F000 where the name of something that was not found says a schema that is not there, either.
void check_schema(std::string_view text, const EvaluationContext& context) {
  const std::string_view name = text.substr(0, text.find_first_of("(["));
  if (name.find('.') == std::string_view::npos) return;
  const std::vector<std::string> parts = split_name(name);
  if (parts.size() != 2 || parts[0] == "pg_temp" || schema_oid(catalog_of(context), parts[0]) != 0) return;
  throw undefined_schema(parts[0]);
}

/// 42501 "permission denied for schema s" unless the role may use the schema, if there is one of that name.
void check_schema_usage(std::string_view schema, const EvaluationContext& context) {
  const Oid oid = schema.empty() || schema == "pg_temp" ? 0 : schema_oid(catalog_of(context), schema);
  if (oid == 0) return;
  const RoleSet& roles = *known_roles();
  const RoleDef* role = roles.find(context.user);
  if (has_schema_usage(catalog_of(context), oid, role == nullptr ? kPublic : role->oid, roles, context.database)) return;
  throw permission_denied("schema", schema);
}

// ---- types ----------------------------------------------------------------------------------------------------------

const TableDef* table_of_row_type(const CatalogSnapshot& catalog, Oid type) {
  for (const auto& [oid, table] : catalog.tables) {
    if (table->row_type == type) return table.get();
  }
  return nullptr;
}

/// SQL's spellings that are longer than a name or have a modifier, which does not count: character varying(20).
std::optional<Oid> built_in_type(std::string_view text) {
  std::string name;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : 0;
    if (depth == 0) name += c;
    depth -= c == ')' ? 1 : 0;
  }
  const bool array = name.ends_with("[]");
  if (array) name.resize(name.size() - 2);
  while (name.ends_with(' ')) name.pop_back();
  if (name.starts_with("pg_catalog.")) name.erase(0, std::string_view("pg_catalog.").size());
  if (!name.starts_with('"')) std::ranges::transform(name, name.begin(), to_lower);
  try {
    const Datum found = parse_value(kRegtype, name, {});
    const auto oid = static_cast<Oid>(std::get<std::int32_t>(found));
    if (!array) return oid;
    const TypeInfo* info = find_type(oid);
    return info == nullptr || info->array == 0 ? std::nullopt : std::optional(info->array);
  } catch (const SqlError&) {
    return std::nullopt;
  }
}

std::optional<Oid> find_type_named(std::string_view text, const EvaluationContext& context) {
  if (std::optional<Oid> found = built_in_type(text)) return found;
  const bool array = text.ends_with("[]");
  const std::vector<std::string> parts = split_name(text.substr(0, text.size() - (array ? 2 : 0)));
  const CatalogSnapshot& catalog = catalog_of(context);
  if (parts.size() <= 2) {
    const std::string& name = parts.back();
    const std::string_view schema = parts.size() == 2 ? std::string_view(parts[0]) : std::string_view();
    check_schema_usage(schema, context);
    if (schema.empty() || schema == "pg_catalog") {  // as pg_type has it: "int4"
      const TypeInfo* info = find_type(std::string_view(name));
      if (info != nullptr && info->oid < kFirstUserOid) return array ? info->array : info->oid;
    }
    const std::vector<std::string> searched = schema.empty() ? context.search_path : std::vector<std::string>{std::string(schema)};
    for (const std::string& in : searched) {
      if (const Oid type = find_extension_type(catalog, in, name)) return array ? type_info(type).array : type;
    }
    if (const UserTypePtr type = catalog.find_user_type(schema, name, context.search_path)) return array ? type->array : type->oid;
    if (const UserTypePtr type = name.starts_with('_') ? catalog.find_user_type(schema, std::string_view(name).substr(1), context.search_path) : nullptr) {
      return type->array;
    }
    for (const auto& [oid, type] : catalog.types) {
      if (type->range.multirange_name != name || name.empty()) continue;
      const bool is_meant = parts.size() == 2 ? type->schema == parts[0] : std::ranges::find(context.search_path, type->schema) != context.search_path.end();
      if (is_meant) return array ? type->range.multirange_array : type->range.multirange;
    }
  }
  const CatalogSnapshot::TablePtr table =
      parts.size() > 2 ? nullptr : catalog.find_table(parts.size() == 2 ? parts[0] : "", parts.back(), context.search_path);
  if (table == nullptr || (array && table->row_array == 0)) return std::nullopt;
  return array ? table->row_array : table->row_type;
}

std::string type_name(Oid type, const EvaluationContext& context) {
  const CatalogSnapshot& catalog = catalog_of(context);
  if (const auto own = catalog.types.find(type); own != catalog.types.end()) {
    const UserType& user = *own->second;
    const UserTypePtr found = catalog.find_user_type("", user.name, context.search_path);
    const std::string schema = found && found->oid == type ? "" : quote_identifier(user.schema) + ".";
    return schema + quote_identifier(user.name);
  }
  if (const TableDef* table = table_of_row_type(catalog, type)) return relation_name(table->oid, context);
  if (const UserType* range = find_user_range(type); range != nullptr && range->range.multirange == type) {
    const bool visible = std::ranges::find(context.search_path, range->schema) != context.search_path.end();
    return (visible ? "" : quote_identifier(range->schema) + ".") + quote_identifier(range->range.multirange_name);
  }
  if (const TypeInfo* info = find_type(type)) {
    const Oid element = info->category == TypeCategory::kArray ? declared_element(type) : 0;
    if (const ExtensionDef* extension = element == 0 ? extension_of_type(catalog, type) : nullptr) {
      const bool visible = std::ranges::find(context.search_path, extension->schema) != context.search_path.end();
      return (visible ? "" : quote_identifier(extension->schema) + ".") + std::string(info->name);
    }
    return element >= kFirstUserOid || is_extension_type(element) ? type_name(element, context) + "[]" : format_type(Type{type});
  }
  return std::to_string(type);
}

// ---- functions ------------------------------------------------------------------------------------------------------

/// Functions in LANGUAGE sql, of one schema or those that the path finds. 42501 without USAGE on the schema.
std::vector<const FunctionDef*> sql_functions_named(std::string_view text, const EvaluationContext& context) {
  const std::vector<std::string> parts = split_name(text);
  if (parts.size() == 2) check_schema_usage(parts[0], context);
  std::vector<const FunctionDef*> found;
  for (const auto& [oid, function] : catalog_of(context).functions) {
    const bool visible = parts.size() < 3 && means_function_of(parts.size() == 2 ? parts[0] : "", function->schema, context.search_path);
    if (visible && function->name == parts.back()) found.push_back(function.get());
  }
  return found;
}

/// Those that are built in: all in pg_catalog.
std::vector<const CatalogFunction*> functions_named(std::string_view text) {
  const std::vector<std::string> parts = split_name(text);
  if (parts.size() > 1 && (parts.size() != 2 || parts[0] != "pg_catalog")) return {};
  return find_catalog_functions(parts.back());
}

SqlError no_function(std::string_view text, const EvaluationContext& context) {
  check_schema(text, context);
  return SqlError(sqlstate::kUndefinedFunction, "function \"" + std::string(text) + "\" does not exist");
}

Oid function_named(std::string_view text, const EvaluationContext& context) {
  const std::vector<const CatalogFunction*> found = functions_named(text);
  const std::vector<const FunctionDef*> own = sql_functions_named(text, context);
  if (found.empty() && own.size() == 1) return own.front()->oid;
  if (found.empty() && own.empty()) throw no_function(text, context);
  if (found.size() + own.size() > 1) throw SqlError(sqlstate::kAmbiguousFunction, "more than one function named \"" + std::string(text) + "\"");
  return found.front()->oid;
}

/// lower(text)
Oid procedure_named(std::string_view text, const EvaluationContext& context) {
  const NameWithTypes wanted = parse_name_with_types(text, false, context);
  for (const CatalogFunction* function : functions_named(wanted.name)) {
    if (function->arguments == wanted.types) return function->oid;
  }
  for (const FunctionDef* function : sql_functions_named(wanted.name, context)) {
    const bool same = std::ranges::equal(function->parameters, wanted.types,
                                         [](const FunctionDef::Parameter& parameter, Oid type) { return parameter.type.oid == type; });
    if (same) return function->oid;
  }
  throw no_function(text, context);
}

std::string function_name(Oid function, bool with_arguments, const EvaluationContext& context) {
  if (const auto own = catalog_of(context).functions.find(function); own != catalog_of(context).functions.end()) {
    const FunctionDef& definition = *own->second;
    const bool visible = means_function_of("", definition.schema, context.search_path);
    std::string text;
    if (!visible) text = quote_identifier(definition.schema) + ".";
    append_quoted_identifier(definition.name, text);
    if (!with_arguments) return text;
    std::string types;
    for (const FunctionDef::Parameter& parameter : definition.parameters) types += (types.empty() ? "" : ",") + format_type(parameter.type);
    return text + "(" + types + ")";
  }
  const CatalogFunction* found = find_catalog_function(function);
  if (found == nullptr) return std::to_string(function);
  std::string text;
  if (found->facts.empty()) {
    text = found->name;  // redis.call: with its schema
  } else {
    if (!with_arguments && find_catalog_functions(found->name).size() > 1) text = "pg_catalog.";
    append_quoted_identifier(found->name, text);
  }
  if (!with_arguments) return text;
  text += '(';
  for (std::size_t i = 0; i < found->arguments.size(); ++i) {
    text += (i > 0 ? "," : "") + format_type(Type{found->arguments[i]});
  }
  return text + ')';
}

// ---- schemas and roles ----------------------------------------------------------------------------------------------

std::string single_name(std::string_view text) {
  std::vector<std::string> parts = split_name(text);
  if (parts.size() != 1) throw SqlError(sqlstate::kInvalidName, "invalid name syntax");
  return parts.front();
}

Oid schema_named(std::string_view text, const EvaluationContext& context) {
  const std::string name = single_name(text);
  if (const Oid found = schema_oid(catalog_of(context), name); found != 0) return found;
  throw undefined_schema(name);
}

Oid role_named(std::string_view text, const EvaluationContext& context) {
  const std::string name = single_name(text);
  for (const Role& role : all_roles(catalog_of(context), context)) {
    if (role.name == name) return role.oid;
  }
  throw undefined_role(name);
}

std::string role_name(Oid role, const EvaluationContext& context) {
  for (const Role& known : all_roles(catalog_of(context), context)) {
    if (known.oid == role) return quote_identifier(known.name);
  }
  return std::to_string(role);
}

}  // namespace

NameWithTypes parse_name_with_types(std::string_view text, bool allows_none, const EvaluationContext& context) {
  text = trimmed(text);
  const std::size_t open = text.find('(');
  if (open == std::string_view::npos) throw SqlError(sqlstate::kInvalidTextRepresentation, "expected a left parenthesis");
  if (!text.ends_with(')')) throw SqlError(sqlstate::kInvalidTextRepresentation, "expected a right parenthesis");
  NameWithTypes result{trimmed(text.substr(0, open)), {}};
  const std::string_view list = trimmed(text.substr(open + 1, text.size() - open - 2));
  if (list.empty()) return result;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = end_of_type(list, begin);
    const std::string_view type = trimmed(list.substr(begin, end - begin));
    begin = end + 1;
    if (type.empty() && end == list.size()) throw SqlError(sqlstate::kInvalidTextRepresentation, "expected a type name");
    if (type.empty()) throw SqlError(sqlstate::kSyntaxError, "invalid type name \"\"");
    const bool is_none = allows_none && equals_ignoring_case(type, "none");
    result.types.push_back(is_none ? 0 : parse_object_name(kRegtype, type, context));
  }
  return result;
}

std::vector<std::string> split_name(std::string_view text) {
  std::vector<std::string> parts(1);
  const auto invalid = [] { return SqlError(sqlstate::kInvalidName, "invalid name syntax"); };
  std::size_t i = 0;
  const auto skip_blanks = [&] {
    while (i < text.size() && is_blank(text[i])) ++i;
  };
  for (;;) {
    skip_blanks();
    if (i < text.size() && text[i] == '"') {
      for (++i;; ++i) {
        if (i >= text.size()) throw invalid();
        if (text[i] == '"') {
          if (i + 1 >= text.size() || text[i + 1] != '"') break;
          ++i;
        }
        parts.back() += text[i];
      }
      ++i;
    } else {
      while (i < text.size() && text[i] != '.' && !is_blank(text[i])) parts.back() += to_lower(text[i++]);
    }
    if (parts.back().empty()) throw invalid();
    skip_blanks();
    if (i == text.size()) return parts;
    if (text[i] != '.') throw invalid();
    parts.emplace_back();
    ++i;
  }
}

const CatalogSnapshot& catalog_of(const EvaluationContext& context) {
  static const CatalogSnapshot kEmpty;
  return context.catalog == nullptr ? kEmpty : *context.catalog;
}

bool is_object_name_type(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->operations->names_objects;
}

bool shows_object_names(Oid type) {
  return is_object_name_type(type) || (is_array_type(type) && is_object_name_type(element_type_of(Type{type}).oid));
}

std::string read_object_names(Type array, std::string_view text, const EvaluationContext& context) {
  const Type element = element_type_of(array);
  ArrayValue value = read_array(array.oid, text);
  std::deque<std::string> oids;  // what the elements are views into
  for (std::optional<std::string_view>& name : value.elements) {
    if (name) name = oids.emplace_back(std::to_string(parse_object_name(element, *name, context)));
  }
  return array_text(array.oid, value);
}

Datum read_value(Type type, std::string_view text, const EvaluationContext& context) {
  if (is_object_name_type(type.oid)) return static_cast<std::int32_t>(parse_object_name(type, text, context));
  if (shows_object_names(type.oid)) return read_object_names(type, text, context);
  return parse_value(type, text, *context.settings, context.transaction_timestamp);
}

std::string object_names(Type array, std::string_view oids, const EvaluationContext& context) {
  const Type element = element_type_of(array);
  const ArrayValue numbers = read_array(array.oid, oids);
  ArrayValue names;
  names.dimensions = numbers.dimensions;
  std::vector<std::string> texts;  // what the elements are views into
  texts.reserve(numbers.elements.size());
  for (const std::optional<std::string_view> number : numbers.elements) {
    // Casts of arrays give names already.
    const bool is_name = number && !all_digits(*number);
    texts.push_back(!number ? "" : is_name ? std::string(*number) : object_name(element, static_cast<Oid>(parse_oid(*number)), context));
    names.elements.push_back(number ? std::optional<std::string_view>(texts.back()) : std::nullopt);
  }
  return array_text(array.oid, names);
}

namespace {

std::string name_or_number(std::string name, Oid object) { return name.empty() ? std::to_string(object) : name; }

Oid type_named(std::string_view text, const EvaluationContext& context) {
  if (const std::optional<Oid> found = find_type_named(text, context)) return *found;
  check_schema(text, context);
  throw undefined_type(joined(split_name(text)));
}

/// `rows`: of pg_ts_config or pg_ts_dict, all in pg_catalog.
Oid text_search_object_named(std::string_view kind, const auto& rows, std::string_view text, const EvaluationContext& context) {
  const std::vector<std::string> parts = split_name(text);
  if (parts.size() == 1 || (parts.size() == 2 && parts[0] == "pg_catalog")) {
    for (const auto& row : rows) {
      if (row.name == parts.back()) return row.oid;
    }
  }
  check_schema(text, context);
  throw SqlError(sqlstate::kUndefinedObject, fmt::format("text search {} \"{}\" does not exist", kind, joined(parts)));
}

std::string text_search_object_name(const auto& rows, Oid object) {
  for (const auto& row : rows) {
    if (row.oid == object) return quote_identifier(row.name);
  }
  return std::to_string(object);
}

/// Returns true if the text names the dictionary of the extension unaccent.
bool names_unaccent(std::string_view text, const EvaluationContext& context) {
  const ExtensionDef* extension = catalog_of(context).find_extension("unaccent");
  const std::vector<std::string> parts = extension == nullptr ? std::vector<std::string>() : split_name(text);
  if (parts.empty() || parts.size() > 2 || parts.back() != "unaccent") return false;
  return parts.size() == 2 ? parts[0] == extension->schema : std::ranges::find(context.search_path, extension->schema) != context.search_path.end();
}

/// A kind of object: the type of its names, how they are read and printed, and what stands for no object.
struct NamedKind {
  Oid type;
  Oid (*read)(std::string_view, const EvaluationContext&);
  std::string (*print)(Oid, const EvaluationContext&);
  std::string_view none = "-";
};
constexpr NamedKind kNamedKinds[] = {
    {oid::kRegclass, relation_named, relation_name},
    {oid::kRegtype, type_named, type_name},
    {oid::kRegproc, function_named, [](Oid object, const EvaluationContext& context) { return function_name(object, false, context); }},
    {oid::kRegprocedure, procedure_named, [](Oid object, const EvaluationContext& context) { return function_name(object, true, context); }},
    {oid::kRegoper,
     [](std::string_view text, const EvaluationContext& context) {
       check_schema(text, context);
       return operator_named(text);
     },
     [](Oid object, const EvaluationContext&) { return name_or_number(operator_name(object), object); }, "0"},
    {oid::kRegoperator, operator_with_types_named,
     [](Oid object, const EvaluationContext&) { return name_or_number(operator_name_with_types(object), object); }, "0"},
    {oid::kRegcollation,
     [](std::string_view text, const EvaluationContext& context) {
       check_schema(text, context);
       return collation_named(text);
     },
     [](Oid object, const EvaluationContext&) { return name_or_number(collation_name(object), object); }},
    {oid::kRegnamespace, schema_named,
     [](Oid object, const EvaluationContext& context) {
       const std::string name = schema_name(catalog_of(context), object);
       return name.empty() ? std::to_string(object) : quote_identifier(name);
     }},
    {oid::kRegrole, role_named, role_name},
    {oid::kRegconfig,
     [](std::string_view text, const EvaluationContext& context) {
       return text_search_object_named("configuration", text_search::built_in_configurations(), text, context);
     },
     [](Oid object, const EvaluationContext&) { return text_search_object_name(text_search::built_in_configurations(), object); }},
    {oid::kRegdictionary,
     [](std::string_view text, const EvaluationContext& context) {
       if (names_unaccent(text, context)) return kUnaccentDictionary;
       return text_search_object_named("dictionary", text_search::built_in_dictionaries(), text, context);
     },
     [](Oid object, const EvaluationContext& context) {
       const ExtensionDef* extension = object == kUnaccentDictionary ? catalog_of(context).find_extension("unaccent") : nullptr;
       if (extension == nullptr) return text_search_object_name(text_search::built_in_dictionaries(), object);
       const bool visible = std::ranges::find(context.search_path, extension->schema) != context.search_path.end();
       return (visible ? "" : quote_identifier(extension->schema) + ".") + "unaccent";
     }},
};

const NamedKind& named_kind(Type type) { return *std::ranges::find(kNamedKinds, type.oid, &NamedKind::type); }

}  // namespace

Oid parse_object_name(Type type, std::string_view text, const EvaluationContext& context) {
  if (text == "-") return 0;
  if (all_digits(text)) return static_cast<Oid>(parse_oid(text));
  return named_kind(type).read(text, context);
}

std::string object_name(Type type, Oid object, const EvaluationContext& context) {
  const NamedKind& kind = named_kind(type);
  return object == 0 ? std::string(kind.none) : kind.print(object, context);
}

ColumnPtr with_object_names(const ColumnPtr& column, const EvaluationContext& context) {
  const Type type = column->type();
  if (!shows_object_names(type.oid)) return column;
  if (column->is_encoded()) return with_object_names(std::make_shared<const Column>(column->decode()), context);  // as rows hold it: an oid
  const bool is_array = is_array_type(type.oid);
  Column names = Column::encoded(type);
  for (std::size_t row = 0; row < column->size(); ++row) {
    if (column->is_null(row)) {
      names.append_null();
    } else if (is_array) {
      names.append(object_names(type, column->get<std::string_view>(row), context));
    } else {
      names.append(object_name(type, static_cast<Oid>(column->get<std::int32_t>(row)), context));
    }
  }
  return std::make_shared<const Column>(std::move(names));
}

std::optional<Oid> find_relation(std::string_view text, const EvaluationContext& context) {
  if (text == "-") return Oid{0};
  if (all_digits(text)) return static_cast<Oid>(parse_oid(text));
  const SchemaAndName wanted = qualified(text, context);
  check_schema_usage(wanted.schema, context);
  const std::optional<Relation> found = find_relation(catalog_of(context), wanted.schema, wanted.name, context.search_path);
  return found ? std::optional(found->oid) : std::nullopt;
}

Oid relation_named(std::string_view text, const EvaluationContext& context) {
  if (const std::optional<Oid> found = find_relation(text, context)) return *found;
  check_schema(text, context);
  throw undefined_relation(joined(split_name(text)));
}

std::string relation_name(Oid relation, const EvaluationContext& context) {
  if (relation == 0) return "-";
  const std::optional<Relation> found = find_relation(catalog_of(context), relation);
  if (!found) return std::to_string(relation);
  if (is_visible(catalog_of(context), *found, context.search_path)) return quote_identifier(found->name);
  return qualified_name(*found);
}

}  // namespace redquel::sql
