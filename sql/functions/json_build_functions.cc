// Functions that make json and jsonb from other values (manual 9.16): to_json, json_build_*, json_object, the aggregates, the casts.

#include <fmt/format.h>

#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/json_encode.h"
#include "sql/functions/json_families.h"
#include "sql/functions/lift.h"
#include "sql/growing_text.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/array_value.h"
#include "sql/types/jsonb.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Arguments = std::span<const ColumnPtr>;

/// Computes a value row by row. `build` writes JSON, false for NULL; of jsonb the form is made here.
template <class Build>
ColumnPtr json_rows(std::size_t rows, Type result, const Build& build) {
  Column column(result);
  column.reserve(rows);
  std::string text, form;
  for (std::size_t row = 0; row < rows; ++row) {
    text.clear();
    if (!build(row, text)) {
      column.append_null();
      continue;
    }
    check_text_size(text.size());
    if (result.oid == oid::kJsonb) {
      form.clear();
      append_jsonb(text, form);
      column.append(form);
    } else {
      column.append(text);
    }
  }
  return std::make_shared<const Column>(std::move(column));
}

ColumnPtr to_json(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return json_rows(rows, result, [&](std::size_t row, std::string& out) {
    if (arguments[0]->is_null(row)) return false;
    append_json(*arguments[0], row, context, out);
    return true;
  });
}

ColumnPtr array_to_json(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return json_rows(rows, result, [&](std::size_t row, std::string& out) {
    for (const ColumnPtr& argument : arguments) {
      if (argument->is_null(row)) return false;
    }
    append_json(*arguments[0], row, context, out, arguments.size() > 1 && arguments[1]->get<bool>(row));
    return true;
  });
}

ColumnPtr build_array(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return json_rows(rows, result, [&](std::size_t row, std::string& out) {
    out.push_back('[');
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (i > 0) out += ", ";
      append_json(*arguments[i], row, context, out);
    }
    out.push_back(']');
    return true;
  });
}

ColumnPtr build_object(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  const bool binary = result.oid == oid::kJsonb;
  if (arguments.size() % 2 != 0) {
    throw SqlError(sqlstate::kInvalidParameterValue, "argument list must have even number of elements")
        .hint(fmt::format("The arguments of {}() must consist of alternating keys and values.",
                          binary ? "jsonb_build_object" : "json_build_object"));
  }
  return json_rows(rows, result, [&](std::size_t row, std::string& out) {
    out.push_back('{');
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
      if (i > 0) out += ", ";
      if (arguments[i]->is_null(row)) {
        if (binary) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("argument {}: key must not be null", i + 1));
        throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("argument {} cannot be null", i + 1)).hint("Object keys should be text.");
      }
      append_json_key(*arguments[i], row, context, out);
      out += " : ";
      append_json(*arguments[i + 1], row, context, out);
    }
    out.push_back('}');
    return true;
  });
}

// ---- json_object(text[]) --------------------------------------------------------------------------------------------

void append_pair(std::optional<Text> name, std::optional<Text> value, std::string& out) {
  if (!name) throw SqlError(sqlstate::kNullValueNotAllowed, "null value not allowed for object key");
  out += out.empty() ? "{" : ", ";
  append_json_string(*name, out);
  out += " : ";
  if (value) {
    append_json_string(*value, out);
  } else {
    out += "null";
  }
}

void finish_object(bool binary, std::string& out) {
  out += out.empty() ? "{}" : "}";
  if (!binary) return;
  std::string form;
  append_jsonb(out, form);
  out = std::move(form);
}

template <bool binary>
void object_of_pairs(Text pairs, std::string& out) {
  const ArrayValue array = read_array(oid::kTextArray, pairs);
  const auto& elements = array.elements;
  if (array.dimensions.size() > 2) throw wrong_subscript_count();
  if (array.dimensions.size() == 2 && array.dimensions[1].length != 2) {
    throw SqlError(sqlstate::kArraySubscriptError, "array must have two columns");
  }
  if (elements.size() % 2 != 0) throw SqlError(sqlstate::kArraySubscriptError, "array must have even number of elements");
  for (std::size_t i = 0; i < elements.size(); i += 2) append_pair(elements[i], elements[i + 1], out);
  finish_object(binary, out);
}

template <bool binary>
void object_of_two(Text names, Text values, std::string& out) {
  const ArrayValue keys = read_array(oid::kTextArray, names), items = read_array(oid::kTextArray, values);
  if (keys.dimensions.size() > 1 || keys.dimensions.size() != items.dimensions.size()) {
    throw wrong_subscript_count();
  }
  if (keys.elements.size() != items.elements.size()) throw SqlError(sqlstate::kArraySubscriptError, "mismatched array dimensions");
  for (std::size_t i = 0; i < keys.elements.size(); ++i) append_pair(keys.elements[i], items.elements[i], out);
  finish_object(binary, out);
}

// ---- aggregates -----------------------------------------------------------------------------------------------------

/// The JSON text of each group while it grows.
class JsonCollector : public Aggregator {
 public:
  explicit JsonCollector(Type result) : result_(result) {}

  void update(Arguments arguments, std::span<const std::uint32_t> groups, std::size_t group_count,
              const EvaluationContext& context) override {
    texts_.resize(group_count);
    for (std::size_t row = 0; row < groups.size(); ++row) {
      std::string& text = texts_[groups[row]];
      const std::size_t before = text.size();
      constexpr std::size_t kElementRoom = std::size_t{64} << 10;  // in a long text; larger elements make their own
      make_room(text, kElementRoom);
      add(arguments, row, context, text);
      bytes_ += text.size() - before;
      meter_.add(text.size() - before);
    }
  }

  ColumnPtr finish(std::size_t group_count, const EvaluationContext&) override {
    texts_.resize(group_count);
    return json_rows(group_count, result_, [&](std::size_t group, std::string& out) {
      if (texts_[group].empty()) return false;
      out = std::move(texts_[group]);
      close(out);
      return true;
    });
  }

  std::size_t memory() const override { return bytes_ + texts_.capacity() * sizeof(std::string); }

 private:
  virtual void add(Arguments arguments, std::size_t row, const EvaluationContext& context, std::string& text) = 0;
  virtual void close(std::string& text) = 0;

  WorkMeter meter_;
  Type result_;
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
};

class ArrayCollector final : public JsonCollector {
 public:
  using JsonCollector::JsonCollector;

 private:
  void add(Arguments arguments, std::size_t row, const EvaluationContext& context, std::string& text) override {
    const Column& column = *arguments[0];
    const bool on_its_line = !text.empty() && !column.is_null(row) && is_json_container_type(column.type());
    text += text.empty() ? "[" : ", ";
    if (on_its_line) text += "\n ";
    append_json(column, row, context, text);
  }
  void close(std::string& text) override { text.push_back(']'); }
};

class ObjectCollector final : public JsonCollector {
 public:
  using JsonCollector::JsonCollector;

 private:
  void add(Arguments arguments, std::size_t row, const EvaluationContext& context, std::string& text) override {
    if (arguments[0]->is_null(row)) throw SqlError(sqlstate::kInvalidParameterValue, "field name must not be null");
    text += text.empty() ? "{ " : ", ";
    append_json_key(*arguments[0], row, context, text);
    text += " : ";
    append_json(*arguments[1], row, context, text);
  }
  void close(std::string& text) override { text += " }"; }
};

template <class Collector>
std::unique_ptr<Aggregator> make_collector(std::span<const Type>, Type result) {
  return std::make_unique<Collector>(result);
}

// ---- casts ----------------------------------------------------------------------------------------------------------

std::string_view cast_kind_name(JsonKind kind) {
  return kind == JsonKind::kNumber ? "numeric" : json_kind_name(kind);
}

void expect_kind(Text value, JsonKind wanted, std::string_view type) {
  const JsonKind kind = json_kind(value);
  if (kind == wanted) return;
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("cannot cast jsonb {} to type {}", cast_kind_name(kind), type));
}

Numeric number(Text value, std::string_view type) {
  expect_kind(value, JsonKind::kNumber, type);
  return Numeric::parse(value);
}

void jsonb_of_json(Text json, std::string& out) { append_jsonb(json, out); }

}  // namespace

std::vector<ScalarFunction> json_build_functions() {
  std::vector<ScalarFunction> table = {
      column_function("to_json", {kAnyElement}, kJson, to_json, kStable, true),
      column_function("to_jsonb", {kAnyElement}, kJsonb, to_json, kStable, true),
      column_function("array_to_json", {Type{oid::kAnyArray}}, kJson, array_to_json, kStable, true),
      column_function("array_to_json", {Type{oid::kAnyArray}, kBool}, kJson, array_to_json, kStable, true),
      column_function("row_to_json", {Type{oid::kRecord}}, kJson, array_to_json, kStable, true),
      column_function("row_to_json", {Type{oid::kRecord}, kBool}, kJson, array_to_json, kStable, true),
      scalar<object_of_pairs<false>>("json_object", {kTextArray}, kJson),
      scalar<object_of_two<false>>("json_object", {kTextArray, kTextArray}, kJson),
      scalar<object_of_pairs<true>>("jsonb_object", {kTextArray}, kJsonb),
      scalar<object_of_two<true>>("jsonb_object", {kTextArray, kTextArray}, kJsonb),
  };
  for (const bool binary : {false, true}) {
    const Type type = binary ? kJsonb : kJson;
    const std::string_view array = binary ? "jsonb_build_array" : "json_build_array";
    const std::string_view object = binary ? "jsonb_build_object" : "json_build_object";
    table.push_back(column_function(array, {}, type, build_array, kStable, false));
    table.push_back(column_function(array, {kAny}, type, build_array, kStable, false, true));
    table.push_back(column_function(object, {}, type, build_object, kStable, false));
    table.push_back(column_function(object, {kAny}, type, build_object, kStable, false, true));
  }
  return table;
}

std::vector<AggregateFunction> json_aggregates() {
  return {
      {"json_agg", {oid::kAnyElement}, oid::kJson, make_collector<ArrayCollector>},
      {"jsonb_agg", {oid::kAnyElement}, oid::kJsonb, make_collector<ArrayCollector>},
      {"json_object_agg", {oid::kAny, oid::kAny}, oid::kJson, make_collector<ObjectCollector>},
      {"jsonb_object_agg", {oid::kAny, oid::kAny}, oid::kJsonb, make_collector<ObjectCollector>},
  };
}

std::vector<CastFunction> json_casts() {
  constexpr auto kExplicit = CastContext::kExplicit, kAssignment = CastContext::kAssignment;
  constexpr auto as_boolean = [](Text value) {
    expect_kind(value, JsonKind::kBoolean, "boolean");
    return value == "true";
  };
  return {
      cast<jsonb_of_json>(kJson, kJsonb, kAssignment),
      cast<[](Text value) { return value; }>(kJsonb, kJson, kAssignment),
      cast<as_boolean>(kJsonb, kBool, kExplicit),
      cast<[](Text value) { return number(value, "numeric"); }>(kJsonb, kNumeric, kExplicit),
      cast<[](Text value) { return number(value, "smallint").to_int16(); }>(kJsonb, kInt2, kExplicit),
      cast<[](Text value) { return number(value, "integer").to_int32(); }>(kJsonb, kInt4, kExplicit),
      cast<[](Text value) { return number(value, "bigint").to_int64(); }>(kJsonb, kInt8, kExplicit),
      cast<[](Text value) { return number(value, "real").to_float(); }>(kJsonb, kFloat4, kExplicit),
      cast<[](Text value) { return number(value, "double precision").to_double(); }>(kJsonb, kFloat8, kExplicit),
  };
}

}  // namespace redquel::sql
