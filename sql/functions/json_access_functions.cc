// Functions that read json and jsonb (manual 9.16): -> ->> #> #>> @> ? and the predicates about one value.

#include "sql/error.h"
#include "sql/functions/json_families.h"
#include "sql/functions/json_path_steps.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/jsonb.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

/// The value as ->> gives it. False: JSON's null is SQL's.
bool as_text(Text value, std::string& out) {
  if (value[0] == 'n') return false;
  if (value[0] == '"') {
    std::string buffer;
    out += json_string(value, buffer);
  } else {
    out += value;
  }
  return true;
}
bool as_text(const std::optional<Text>& value, std::string& out) { return value && as_text(*value, out); }

// ---- one step -------------------------------------------------------------------------------------------------------

std::optional<Text> found(Text value) { return value.empty() ? std::nullopt : std::optional(value); }

/// A value of type json: its escapes are checked now.
Text checked(Text json) {
  check_json_escapes(json);
  return json_value(json);
}

std::optional<Text> json_field(Text json, Text name) {
  const Text value = checked(json);
  if (value[0] != '{') return std::nullopt;
  Text last;
  std::string buffer;
  for (JsonReader reader(value); reader.next();) {
    if (json_string(reader.key(), buffer) == name) last = reader.value();
  }
  return found(last);
}
std::optional<Text> jsonb_field(Text value, Text name) {
  return value[0] == '{' ? found(jsonb_member(value, name)) : std::nullopt;
}
std::optional<Text> json_item(Text json, Int index) {
  const Text value = checked(json);
  return value[0] == '[' ? found(jsonb_element(value, index)) : std::nullopt;
}
std::optional<Text> jsonb_item(Text value, Int index) {
  if (!is_json_container(value)) return index == 0 || index == -1 ? std::optional(value) : std::nullopt;
  return value[0] == '[' ? found(jsonb_element(value, index)) : std::nullopt;
}

template <auto step, class Step>
bool step_text(Text value, Step name, std::string& out) {
  return as_text(step(value, name), out);
}

// ---- paths ----------------------------------------------------------------------------------------------------------

std::optional<Text> at_path(Text value, Text path) {
  return json_at(checked(value), read_array(oid::kTextArray, path).elements);
}
bool text_at_path(Text value, Text path, std::string& out) { return as_text(at_path(value, path), out); }

std::vector<std::optional<Text>> steps(std::span<const Text> path) { return {path.begin(), path.end()}; }
std::optional<Text> extract(Text value, std::span<const Text> path) { return json_at(checked(value), steps(path)); }
bool extract_text(Text value, std::span<const Text> path, std::string& out) { return as_text(extract(value, path), out); }

// ---- questions ------------------------------------------------------------------------------------------------------

Text type_name(Text value) { return json_kind_name(json_kind(json_value(value))); }

Int array_length(Text json) {
  const Text value = json_value(json);
  if (!is_json_container(value)) throw SqlError(sqlstate::kInvalidParameterValue, "cannot get array length of a scalar");
  if (value[0] == '{') throw SqlError(sqlstate::kInvalidParameterValue, "cannot get array length of a non-array");
  return static_cast<Int>(json_count(value));
}

/// Returns true if the name is a member's name, or a string among the elements.
bool has_name(Text value, Text name) {
  if (value[0] == '{') return !jsonb_member(value, name).empty();
  std::string buffer;
  if (value[0] == '"') return json_string(value, buffer) == name;
  if (value[0] != '[') return false;
  for (JsonReader reader(value); reader.next();) {
    if (reader.value()[0] == '"' && json_string(reader.value(), buffer) == name) return true;
  }
  return false;
}
bool has_any_name(Text value, Text names) {
  const ArrayValue wanted = read_array(oid::kTextArray, names);
  for (const auto& name : wanted.elements) {
    if (name && has_name(value, *name)) return true;
  }
  return false;
}
bool has_all_names(Text value, Text names) {
  const ArrayValue wanted = read_array(oid::kTextArray, names);
  for (const auto& name : wanted.elements) {
    if (name && !has_name(value, *name)) return false;
  }
  return true;
}

template <class Operator>
bool compares(Text a, Text b) {
  return Operator{}(compare_jsonb(a, b), 0);
}

std::vector<ScalarFunction> reading(Type type, bool binary) {
  const auto name = [binary](std::string_view json, std::string_view jsonb) { return binary ? jsonb : json; };
  std::vector<ScalarFunction> table;
  table.push_back(scalar<at_path>("#>", {type, kTextArray}, type));
  table.push_back(scalar<text_at_path>("#>>", {type, kTextArray}, kText));
  table.push_back(scalar<extract>(name("json_extract_path", "jsonb_extract_path"), {type, kText}, type));
  table.push_back(scalar<extract_text>(name("json_extract_path_text", "jsonb_extract_path_text"), {type, kText}, kText));
  table.push_back(scalar<type_name>(name("json_typeof", "jsonb_typeof"), {type}, kText));
  table.push_back(scalar<array_length>(name("json_array_length", "jsonb_array_length"), {type}, kInt4));
  return table;
}

}  // namespace

std::vector<ScalarFunction> json_access_functions() {
  std::vector<ScalarFunction> table = {
      scalar<json_field>("->", {kJson, kText}, kJson),
      scalar<json_item>("->", {kJson, kInt4}, kJson),
      scalar<step_text<json_field, Text>>("->>", {kJson, kText}, kText),
      scalar<step_text<json_item, Int>>("->>", {kJson, kInt4}, kText),
      scalar<json_field>("json_object_field", {kJson, kText}, kJson),
      scalar<json_item>("json_array_element", {kJson, kInt4}, kJson),
      scalar<step_text<json_field, Text>>("json_object_field_text", {kJson, kText}, kText),
      scalar<step_text<json_item, Int>>("json_array_element_text", {kJson, kInt4}, kText),
      scalar<jsonb_field>("->", {kJsonb, kText}, kJsonb),
      scalar<jsonb_item>("->", {kJsonb, kInt4}, kJsonb),
      scalar<step_text<jsonb_field, Text>>("->>", {kJsonb, kText}, kText),
      scalar<step_text<jsonb_item, Int>>("->>", {kJsonb, kInt4}, kText),
      scalar<jsonb_field>("jsonb_object_field", {kJsonb, kText}, kJsonb),
      scalar<jsonb_item>("jsonb_array_element", {kJsonb, kInt4}, kJsonb),
      scalar<step_text<jsonb_field, Text>>("jsonb_object_field_text", {kJsonb, kText}, kText),
      scalar<step_text<jsonb_item, Int>>("jsonb_array_element_text", {kJsonb, kInt4}, kText),
      scalar<jsonb_contains>("@>", {kJsonb, kJsonb}, kBool),
      scalar<[](Text part, Text value) { return jsonb_contains(value, part); }>("<@", {kJsonb, kJsonb}, kBool),
      scalar<jsonb_contains>("jsonb_contains", {kJsonb, kJsonb}, kBool),
      scalar<[](Text part, Text value) { return jsonb_contains(value, part); }>("jsonb_contained", {kJsonb, kJsonb}, kBool),
      scalar<has_name>("?", {kJsonb, kText}, kBool),
      scalar<has_any_name>("?|", {kJsonb, kTextArray}, kBool),
      scalar<has_all_names>("?&", {kJsonb, kTextArray}, kBool),
      scalar<has_name>("jsonb_exists", {kJsonb, kText}, kBool),
      scalar<has_any_name>("jsonb_exists_any", {kJsonb, kTextArray}, kBool),
      scalar<has_all_names>("jsonb_exists_all", {kJsonb, kTextArray}, kBool),
      scalar<compares<std::equal_to<>>>("=", {kJsonb, kJsonb}, kBool),
      scalar<compares<std::not_equal_to<>>>("<>", {kJsonb, kJsonb}, kBool),
      scalar<compares<std::less<>>>("<", {kJsonb, kJsonb}, kBool),
      scalar<compares<std::less_equal<>>>("<=", {kJsonb, kJsonb}, kBool),
      scalar<compares<std::greater<>>>(">", {kJsonb, kJsonb}, kBool),
      scalar<compares<std::greater_equal<>>>(">=", {kJsonb, kJsonb}, kBool),
  };
  for (const bool binary : {false, true}) {
    for (ScalarFunction& function : reading(binary ? kJsonb : kJson, binary)) table.push_back(std::move(function));
  }
  return table;
}

}  // namespace redquel::sql
