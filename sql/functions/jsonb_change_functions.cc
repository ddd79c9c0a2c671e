// Functions that change a json or jsonb value (manual 9.16): || - #- jsonb_set jsonb_insert, strip_nulls, pretty.

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/json_families.h"
#include "sql/functions/json_path_steps.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/array_value.h"
#include "sql/types/jsonb.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

/// Keys or a path: a list.
ArrayValue steps(Text path) {
  ArrayValue array = read_array(oid::kTextArray, path);
  if (array.dimensions.size() > 1) throw wrong_subscript_count();
  return array;
}

void concatenate(Text a, Text b, std::string& out) {
  check_text_size(a.size() + b.size());
  if (a[0] == '{' && b[0] == '{') {
    JsonbObject object;
    object.add_all(a);
    object.add_all(b);
    object.append_to(out);
    return;
  }
  JsonbArray array(out);
  for (const Text side : {a, b}) {
    if (side[0] == '[') {
      array.add_all(side);
    } else {
      array.add(side);
    }
  }
  array.finish();
}

// ---- deleting -------------------------------------------------------------------------------------------------------

/// Without the members of these names, or the elements that are these strings.
template <class IsUnwanted>
void delete_names(Text value, const IsUnwanted& is_unwanted, std::string& out) {
  if (!is_json_container(value)) throw SqlError(sqlstate::kInvalidParameterValue, "cannot delete from scalar");
  std::string buffer;
  if (value[0] == '[') {
    JsonbArray array(out);
    for (JsonReader reader(value); reader.next();) {
      const bool is_string = reader.value()[0] == '"';
      if (!is_string || !is_unwanted(json_string(reader.value(), buffer))) array.add(reader.value());
    }
    array.finish();
    return;
  }
  JsonbObject object;
  for (JsonReader reader(value); reader.next();) {
    std::string name = json_string(reader.key());
    if (!is_unwanted(name)) object.add(std::move(name), std::string(reader.value()));
  }
  object.append_to(out);
}

void delete_name(Text value, Text name, std::string& out) {
  delete_names(value, [&](Text each) { return each == name; }, out);
}
void delete_all_names(Text value, Text names, std::string& out) {
  const ArrayValue unwanted = steps(names);
  delete_names(value, [&](Text each) {
    return std::ranges::any_of(unwanted.elements, [&](const auto& name) { return name && *name == each; });
  }, out);
}
void delete_element(Text value, Int index, std::string& out) {
  if (!is_json_container(value)) throw SqlError(sqlstate::kInvalidParameterValue, "cannot delete from scalar");
  if (value[0] == '{') throw SqlError(sqlstate::kInvalidParameterValue, "cannot delete from object using integer index");
  std::int64_t left = index;
  if (left < 0) left += static_cast<std::int64_t>(json_count(value));
  JsonbArray array(out);
  for (JsonReader reader(value); reader.next(); --left) {
    if (left != 0) array.add(reader.value());
  }
  array.finish();
}
void delete_path(Text value, Text path, std::string& out) {
  out = change_jsonb(value, steps(path).elements, {}, JsonbChange::kDelete);
}

// ---- setting --------------------------------------------------------------------------------------------------------

void set_path(Text target, Text path, Text value, bool create, std::string& out) {
  out = change_jsonb(target, steps(path).elements, value, create ? JsonbChange::kCreate : JsonbChange::kReplace);
}
void set(Text target, Text path, Text value, std::string& out) { set_path(target, path, value, true, out); }

void insert_at(Text target, Text path, Text value, bool after, std::string& out) {
  out = change_jsonb(target, steps(path).elements, value, after ? JsonbChange::kInsertAfter : JsonbChange::kInsertBefore);
}
void insert(Text target, Text path, Text value, std::string& out) { insert_at(target, path, value, false, out); }

bool set_lax(std::optional<Text> target, std::optional<Text> path, std::optional<Text> value, std::optional<bool> create,
             std::optional<Text> treatment, std::string& out) {
  if (!target || !path || !create) return false;
  const SqlError unknown_treatment(sqlstate::kInvalidParameterValue,
                                   "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"");
  if (!treatment) throw unknown_treatment;
  if (value) {
    set_path(*target, *path, *value, *create, out);
  } else if (*treatment == "raise_exception") {
    throw SqlError(sqlstate::kNullValueNotAllowed, "JSON value must not be null")
        .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
        .hint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.");
  } else if (*treatment == "use_json_null") {
    set_path(*target, *path, "null", *create, out);
  } else if (*treatment == "delete_key") {
    delete_path(*target, *path, out);
  } else if (*treatment == "return_target") {
    out = *target;
  } else {
    throw unknown_treatment;
  }
  return true;
}

// ---- forms ----------------------------------------------------------------------------------------------------------

/// Without members whose value is null; `separators` are those of json (none) or jsonb.
void strip_nulls(Text value, bool binary, std::string& out) {
  check_stack_depth();
  std::string buffer;
  if (!is_json_container(value)) {
    if (value[0] == '"') {
      append_json_string(json_string(value, buffer), out);
    } else {
      out += value;
    }
    return;
  }
  out.push_back(value[0]);
  bool first = true;
  for (JsonReader reader(value); reader.next();) {
    if (value[0] == '{' && reader.value()[0] == 'n') continue;
    if (!first) out += binary ? ", " : ",";
    first = false;
    if (value[0] == '{') {
      append_json_string(json_string(reader.key(), buffer), out);
      out += binary ? ": " : ":";
    }
    strip_nulls(reader.value(), binary, out);
  }
  out.push_back(value[0] == '{' ? '}' : ']');
}

void pretty(Text value, std::size_t indent, std::string& out) {
  check_stack_depth();
  if (!is_json_container(value)) {
    out += value;
    return;
  }
  const auto new_line = [&](std::size_t level) { out.append("\n").append(4 * level, ' '); };
  out.push_back(value[0]);
  bool first = true;
  for (JsonReader reader(value); reader.next();) {
    if (!first) out.push_back(',');
    first = false;
    new_line(indent + 1);
    if (value[0] == '{') out.append(reader.key()).append(": ");
    pretty(reader.value(), indent + 1, out);
  }
  new_line(indent);
  out.push_back(value[0] == '{' ? '}' : ']');
}

}  // namespace

std::vector<ScalarFunction> jsonb_change_functions() {
  return {
      scalar<concatenate>("||", {kJsonb, kJsonb}, kJsonb),
      scalar<concatenate>("jsonb_concat", {kJsonb, kJsonb}, kJsonb),
      scalar<delete_name>("-", {kJsonb, kText}, kJsonb),
      scalar<delete_all_names>("-", {kJsonb, kTextArray}, kJsonb),
      scalar<delete_element>("-", {kJsonb, kInt4}, kJsonb),
      scalar<delete_path>("#-", {kJsonb, kTextArray}, kJsonb),
      scalar<delete_name>("jsonb_delete", {kJsonb, kText}, kJsonb),
      scalar<delete_element>("jsonb_delete", {kJsonb, kInt4}, kJsonb),
      scalar<delete_path>("jsonb_delete_path", {kJsonb, kTextArray}, kJsonb),
      scalar<set>("jsonb_set", {kJsonb, kTextArray, kJsonb}, kJsonb),
      scalar<set_path>("jsonb_set", {kJsonb, kTextArray, kJsonb, kBool}, kJsonb),
      scalar<[](std::optional<Text> target, std::optional<Text> path, std::optional<Text> value, std::string& out) {
        return set_lax(target, path, value, true, "use_json_null", out);
      }>("jsonb_set_lax", {kJsonb, kTextArray, kJsonb}, kJsonb),
      scalar<[](std::optional<Text> target, std::optional<Text> path, std::optional<Text> value, std::optional<bool> create,
                std::string& out) {
        return set_lax(target, path, value, create, "use_json_null", out);
      }>("jsonb_set_lax", {kJsonb, kTextArray, kJsonb, kBool}, kJsonb),
      scalar<set_lax>("jsonb_set_lax", {kJsonb, kTextArray, kJsonb, kBool, kText}, kJsonb),
      scalar<insert>("jsonb_insert", {kJsonb, kTextArray, kJsonb}, kJsonb),
      scalar<insert_at>("jsonb_insert", {kJsonb, kTextArray, kJsonb, kBool}, kJsonb),
      scalar<[](Text json, std::string& out) { strip_nulls(json_value(json), false, out); }>("json_strip_nulls", {kJson}, kJson),
      scalar<[](Text value, std::string& out) { strip_nulls(value, true, out); }>("jsonb_strip_nulls", {kJsonb}, kJsonb),
      scalar<[](Text value, std::string& out) { pretty(value, 0, out); }>("jsonb_pretty", {kJsonb}, kText),
  };
}

}  // namespace redquel::sql
