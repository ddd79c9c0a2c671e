// Rows made of json objects (manual 9.16): json_to_record, json_populate_recordset and the like.

#include <fmt/format.h>

#include <map>

#include "sql/error.h"
#include "sql/functions/object_names.h"
#include "sql/functions/row_functions.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/array_value.h"
#include "sql/types/json_text.h"
#include "sql/types/jsonb.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"
#include "sql/types/user_types.h"

namespace redquel::sql {
namespace {

using Text = std::string_view;
using Members = std::map<std::string, Text, std::less<>>;

/// Returns the members; of several with one name, the last.
Members members_of(Text object) {
  Members members;
  for (JsonReader reader(object); reader.next();) members.insert_or_assign(json_string(reader.key()), reader.value());
  return members;
}

/// `key`: whose value it is, for messages; empty: of none. `base`: where fields come from that a row lacks.
std::optional<std::string> storage_text(Type type, Text value, const EvaluationContext& context, Text key,
                                        std::optional<Text> base = std::nullopt);

std::string row_storage_text(Oid type, Text object, const EvaluationContext& context, std::optional<Text> base) {
  const Members members = members_of(object);
  RowValue row;
  std::optional<RowValue> before;
  if (base) before = read_row(type, *base);
  const UserType& composite = user_type(type);
  for (std::size_t i = 0; i < composite.fields.size(); ++i) {
    const CompositeField& field = composite.fields[i];
    const auto found = members.find(field.name);
    const std::optional<Text> known = before ? before->fields.at(i) : std::nullopt;
    if (found == members.end()) {
      row.add(Type{field.type.oid}, known);
    } else {
      row.add(Type{field.type.oid}, storage_text(field.type, found->second, context, field.name, known));
    }
  }
  return row_text(type, row);
}

[[noreturn]] void refuse_json(std::string message) { throw SqlError(sqlstate::kInvalidParameterValue, std::move(message)); }

/// `path`: the places of the value in the arrays around it; empty: it is the key's own.
SqlError expected_array(Text key, const std::vector<std::int32_t>& path) {
  SqlError error(sqlstate::kInvalidTextRepresentation, "expected JSON array");
  std::string places;
  for (const std::int32_t place : path) places += fmt::format("[{}]", place);
  if (path.empty() && !key.empty()) return std::move(error).hint(fmt::format("See the value of key \"{}\".", key));
  if (path.empty()) return error;
  if (key.empty()) return std::move(error).hint(fmt::format("See the array element {}.", places));
  return std::move(error).hint(fmt::format("See the array element {} of key \"{}\".", places, key));
}

/// One dimension of an array; all arrays of a depth must have the same length.
void append_dimension(Type element, Text array, std::size_t level, ArrayValue& result, const EvaluationContext& context, Text key,
                      std::vector<std::int32_t>& path) {
  check_array_depth(level + 1);
  const auto count = static_cast<std::int32_t>(json_count(array));
  if (result.dimensions.size() == level) result.dimensions.push_back({1, count});
  if (result.dimensions[level].length != count) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, "malformed JSON array")
        .detail("Multidimensional arrays must have sub-arrays with matching dimensions.");
  }
  const bool is_json = element.oid == oid::kJson || element.oid == oid::kJsonb;
  path.push_back(0);
  for (JsonReader reader(array); reader.next(); ++path.back()) {
    const Text value = reader.value();
    if (value[0] == '[' && !is_json) {
      append_dimension(element, value, level + 1, result, context, key, path);
    } else if (level + 1 < result.dimensions.size()) {
      throw expected_array(key, path);
    } else {
      result.add(storage_text(element, value, context, {}));
    }
  }
  path.pop_back();
}

std::string array_storage_text(Type type, Text array, const EvaluationContext& context, Text key) {
  ArrayValue result;
  std::vector<std::int32_t> path;
  append_dimension(element_type_of(type), array, 0, result, context, key, path);
  if (result.elements.empty()) result.dimensions.clear();
  return array_text(type.oid, result);
}

/// The value in the storage form of the type; nullopt: NULL.
std::optional<std::string> storage_text(Type type, Text value, const EvaluationContext& context, Text key, std::optional<Text> base) {
  check_stack_depth();
  if (value[0] == 'n') return std::nullopt;
  if (type.oid == oid::kJson) return std::string(value);
  if (type.oid == oid::kJsonb) return parse_jsonb(value);
  if (value[0] != '"' && is_composite_type(type.oid)) {
    if (value[0] != '{') refuse_json(fmt::format("cannot call populate_composite on {}", value[0] == '[' ? "an array" : "a scalar"));
    return row_storage_text(type.oid, value, context, base);
  }
  if (value[0] == '[' && is_array_type(type.oid) && !is_vector_type(type.oid)) return array_storage_text(type, value, context, key);
  if (value[0] != '"' && is_array_type(type.oid) && !is_vector_type(type.oid)) throw expected_array(key, {});
  const std::string text = value[0] == '"' ? json_string(value) : std::string(value);
  Datum parsed = read_value(type, text, context);
  return format_value(Type{type.oid}, apply_modifier(type, std::move(parsed), false));
}

/// The objects of one value, a row each.
class RecordRows final : public RowSource {
 public:
  RecordRows(std::string json, std::vector<Text> (*objects)(Text), std::span<const ResultColumn> columns,
             const EvaluationContext& context, std::optional<RowValue> base, bool is_set)
      : json_(std::move(json)), columns_(columns.begin(), columns.end()), context_(context), base_(std::move(base)) {
    if (!json_.empty()) objects_ = objects(json_value(json_));
    if (json_.empty() && !is_set) objects_.emplace_back();  // NULL: a row of NULLs, or the base row
  }

  Batch next(std::size_t limit) override {
    std::vector<Column> values;
    for (const ResultColumn& column : columns_) values.emplace_back(column.type);
    Batch batch;
    for (; next_ < objects_.size() && batch.rows < limit; ++next_, ++batch.rows) {
      const Members members = objects_[next_].empty() ? Members() : members_of(objects_[next_]);
      for (std::size_t i = 0; i < values.size(); ++i) append(members, i, values[i]);
    }
    for (Column& column : values) batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
    return batch;
  }

 private:
  void append(const Members& members, std::size_t place, Column& column) const {
    const auto found = members.find(columns_[place].name);
    const std::optional<Text> known = base_ ? base_->fields[place] : std::nullopt;
    if (found != members.end()) {
      append_element(column, storage_text(columns_[place].type, found->second, context_, columns_[place].name, known));
    } else {
      append_element(column, known);
    }
  }

  std::string json_;  // where the objects lie
  std::vector<Text> objects_;
  std::size_t next_ = 0;
  std::vector<ResultColumn> columns_;
  const EvaluationContext& context_;
  std::optional<RowValue> base_;
};

enum class Kind : std::uint8_t { kToRecord, kToRecordset, kPopulateRecord, kPopulateRecordset };

constexpr bool is_set(Kind kind) { return kind == Kind::kToRecordset || kind == Kind::kPopulateRecordset; }
constexpr bool has_base(Kind kind) { return kind == Kind::kPopulateRecord || kind == Kind::kPopulateRecordset; }

template <Kind kind, bool binary>
constexpr Text function_name() {
  switch (kind) {
    case Kind::kToRecord:
      return binary ? "jsonb_to_record" : "json_to_record";
    case Kind::kToRecordset:
      return binary ? "jsonb_to_recordset" : "json_to_recordset";
    case Kind::kPopulateRecord:
      return binary ? "jsonb_populate_record" : "json_populate_record";
    case Kind::kPopulateRecordset:
      break;
  }
  return binary ? "jsonb_populate_recordset" : "json_populate_recordset";
}

/// 22023 where the value is no object, or no array of them.
template <Kind kind, bool binary>
std::vector<Text> objects_of(Text value) {
  const Text name = function_name<kind, binary>();
  if (!is_set(kind)) {
    if (value[0] == '{') return {value};
    refuse_json(fmt::format("cannot call populate_composite on {}", value[0] == '[' ? "an array" : "a scalar"));
  }
  if (value[0] != '[' && binary) refuse_json(fmt::format("cannot call {} on a non-array", name));
  if (value[0] != '[') refuse_json(fmt::format("cannot call {} on {}", name, value[0] == '{' ? "an object" : "a scalar"));
  std::vector<Text> objects;
  for (JsonReader reader(value); reader.next();) {
    if (reader.value()[0] != '{') refuse_json(fmt::format("argument of {} must be an array of objects", name));
    objects.push_back(reader.value());
  }
  return objects;
}

template <Kind kind, bool binary>
std::unique_ptr<RowSource> open(std::span<const Datum> arguments, std::span<const ResultColumn> columns, const EvaluationContext& context) {
  const Datum& value = arguments.back();
  std::string json;
  if (!is_null(value)) json = std::get<std::string>(value);
  std::optional<RowValue> base;
  if (has_base(kind) && !is_null(arguments[0])) base = read_row(oid::kRecord, std::get<std::string>(arguments[0]));
  return std::make_unique<RecordRows>(std::move(json), objects_of<kind, binary>, columns, context, std::move(base), is_set(kind));
}

template <Kind kind, bool binary>
TableFunction row() {
  const Oid json = binary ? oid::kJsonb : oid::kJson;
  std::vector<Oid> arguments = {json};
  if (has_base(kind)) arguments = {oid::kRecord, json};
  return {function_name<kind, binary>(), arguments, {}, nullptr, open<kind, binary>};
}

}  // namespace

std::vector<TableFunction> json_record_functions() {
  using enum Kind;
  return {row<kToRecord, false>(),       row<kToRecord, true>(),       row<kToRecordset, false>(),
          row<kToRecordset, true>(),     row<kPopulateRecord, false>(), row<kPopulateRecord, true>(),
          row<kPopulateRecordset, false>(), row<kPopulateRecordset, true>()};
}

}  // namespace redquel::sql
