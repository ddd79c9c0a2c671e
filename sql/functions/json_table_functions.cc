// Rows of json and jsonb values (manual 9.16): elements, members, names.

#include <fmt/format.h>

#include "sql/error.h"
#include "sql/functions/json_families.h"
#include "sql/sqlstate.h"
#include "sql/types/json_text.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

using Text = std::string_view;

enum class Output : std::uint8_t { kNames, kMembers, kMemberTexts, kElements, kElementTexts };

constexpr bool is_text(Output output) { return output == Output::kMemberTexts || output == Output::kElementTexts; }

/// Goes through one container as rows are asked for.
class JsonRows final : public RowSource {
 public:
  JsonRows(Output output, Type type, std::string value) : output_(output), type_(type), value_(std::move(value)) {
    const Text container = json_value(value_);
    if (!container.empty()) reader_.emplace(container);
  }

  Batch next(std::size_t limit) override {
    Column names(kText), values(is_text(output_) ? kText : type_);
    std::size_t rows = 0;
    std::string buffer;
    while (reader_ && rows < limit) {
      if (!reader_->next()) {
        reader_.reset();
        break;
      }
      ++rows;
      if (output_ <= Output::kMemberTexts) names.append(json_string(reader_->key(), buffer));
      if (output_ != Output::kNames) append(values, reader_->value());
    }
    Batch batch;
    batch.rows = rows;
    if (output_ <= Output::kMemberTexts) batch.columns.push_back(std::make_shared<const Column>(std::move(names)));
    if (output_ != Output::kNames) batch.columns.push_back(std::make_shared<const Column>(std::move(values)));
    return batch;
  }

 private:
  void append(Column& column, Text value) const {
    std::string buffer;
    if (!is_text(output_)) {
      column.append(value);
    } else if (value[0] == 'n') {
      column.append_null();
    } else {
      column.append(value[0] == '"' ? json_string(value, buffer) : value);
    }
  }

  Output output_;
  Type type_;
  std::string value_;  // where the reader reads
  std::optional<JsonReader> reader_;
};

[[noreturn]] void refuse(std::string message) { throw SqlError(sqlstate::kInvalidParameterValue, std::move(message)); }

/// 22023 where the value is not of the kind that the function takes apart; the words differ from function to function.
template <Output output, bool binary>
void check_kind(Text value) {
  const bool scalar = !is_json_container(value);
  const char wanted = output <= Output::kMemberTexts ? '{' : '[';
  if (value[0] == wanted) return;
  const std::string_view suffix = is_text(output) ? "_text" : "";
  const std::string_view type = binary ? "jsonb" : "json";
  if (output == Output::kNames) {
    refuse(fmt::format("cannot call {}_object_keys on {}", type, scalar ? "a scalar" : "an array"));
  } else if (wanted == '{') {
    if (binary) refuse(fmt::format("cannot call jsonb_each{} on a non-object", suffix));
    refuse(scalar ? "cannot deconstruct a scalar" : "cannot deconstruct an array as an object");
  } else if (binary) {
    refuse(scalar ? "cannot extract elements from a scalar" : "cannot extract elements from an object");
  } else {
    refuse(fmt::format("cannot call json_array_elements{} on a {}", suffix, scalar ? "scalar" : "non-array"));
  }
}

template <Output output, bool binary>
std::unique_ptr<RowSource> open(std::span<const Datum> arguments, const EvaluationContext&) {
  std::string value;
  if (!is_null(arguments[0])) {
    value = std::get<std::string>(arguments[0]);
    if (output != Output::kElements) check_json_escapes(value);
    check_kind<output, binary>(json_value(value));
  }
  return std::make_unique<JsonRows>(output, binary ? kJsonb : kJson, std::move(value));
}

template <bool binary>
void add(std::vector<TableFunction>& table) {
  using enum Output;
  const Oid type = binary ? oid::kJsonb : oid::kJson;
  const auto name = [](std::string_view json, std::string_view jsonb) { return binary ? jsonb : json; };
  const auto keys = name("json_object_keys", "jsonb_object_keys");
  table.push_back({keys, {type}, {{keys, oid::kText}}, open<kNames, binary>});
  table.push_back({name("json_each", "jsonb_each"), {type}, {{"key", oid::kText}, {"value", type}}, open<kMembers, binary>});
  table.push_back({name("json_each_text", "jsonb_each_text"), {type}, {{"key", oid::kText}, {"value", oid::kText}},
                   open<kMemberTexts, binary>});
  table.push_back({name("json_array_elements", "jsonb_array_elements"), {type}, {{"value", type}}, open<kElements, binary>});
  table.push_back({name("json_array_elements_text", "jsonb_array_elements_text"), {type}, {{"value", oid::kText}},
                   open<kElementTexts, binary>});
}

}  // namespace

std::vector<TableFunction> json_table_functions() {
  std::vector<TableFunction> table;
  add<false>(table);
  add<true>(table);
  return table;
}

}  // namespace redquel::sql
