// jsonb_path_exists, _match, _query and their like, @? and @@ (manual 9.16.2). The _tz functions may use the session's time
// zone; the others are immutable.

#include "sql/error.h"
#include "sql/functions/json_families.h"
#include "sql/functions/lift.h"
#include "sql/jsonpath/execute.h"
#include "sql/sqlstate.h"
#include "sql/types/jsonb.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

using Arguments = std::span<const ColumnPtr>;

/// A row's answer is appended to the column; a path that is the same for all rows is read once.
template <class Answer>
ColumnPtr for_each_row(Arguments arguments, std::size_t rows, Type result, bool silent, bool with_zone,
                       const EvaluationContext& context, const Answer& answer) {
  Column column(result);
  column.reserve(rows);
  std::optional<JsonPath> path;
  for (std::size_t row = 0; row < rows; ++row) {
    bool is_null = false;
    for (const ColumnPtr& argument : arguments) is_null = is_null || argument->is_null(row);
    if (is_null) {
      column.append_null();
      continue;
    }
    if (!path || !arguments[1]->is_constant()) path = parse_jsonpath(arguments[1]->get<Text>(row));
    const Text variables = arguments.size() > 2 ? arguments[2]->get<Text>(row) : Text("{}");
    const bool keep_silent = arguments.size() > 3 ? arguments[3]->get<bool>(row) : silent;
    answer(JsonPathQuery{*path, arguments[0]->get<Text>(row), variables, keep_silent, with_zone, context}, column);
  }
  return std::make_shared<const Column>(std::move(column));
}

void append_exists(const JsonPathQuery& query, Column& column) {
  if (const std::optional<bool> exists = jsonpath_exists(query)) {
    column.append(*exists);
  } else {
    column.append_null();
  }
}

void append_match(const JsonPathQuery& query, Column& column) {
  const auto found = run_jsonpath(query);
  const bool single = found && found->size() == 1;
  if (single && json_kind(found->front()) == JsonKind::kBoolean) {
    column.append(found->front() == "true");
  } else if (query.silent || (single && json_kind(found->front()) == JsonKind::kNull)) {
    column.append_null();
  } else {
    throw SqlError(sqlstate::kSingletonSqlJsonItemRequired, "single boolean result is expected");
  }
}

void append_array(const JsonPathQuery& query, Column& column) {
  std::string text;
  JsonbArray array(text);
  if (const auto found = run_jsonpath(query)) {
    for (const std::string& value : *found) array.add(value);
  }
  array.finish();
  column.append(text);
}

void append_first(const JsonPathQuery& query, Column& column) {
  const auto found = run_jsonpath(query);
  if (found && !found->empty()) {
    column.append(found->front());
  } else {
    column.append_null();
  }
}

template <auto answer, bool silent, bool with_zone>
ColumnPtr kernel(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return for_each_row(arguments, rows, result, silent, with_zone, context, answer);
}

/// jsonb_path_query(): the values as rows.
class FoundRows final : public RowSource {
 public:
  explicit FoundRows(std::vector<std::string> values) : values_(std::move(values)) {}

  Batch next(std::size_t limit) override {
    Column column(kJsonb);
    for (; at_ < values_.size() && column.size() < limit; ++at_) column.append(values_[at_]);
    Batch batch;
    batch.rows = column.size();
    batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
    return batch;
  }

 private:
  std::vector<std::string> values_;
  std::size_t at_ = 0;
};

/// The path of a call; a lateral call has mostly that of the row before.
std::shared_ptr<const JsonPath> path_of(const std::string& text) {
  thread_local std::string known;
  thread_local std::shared_ptr<const JsonPath> path;
  if (path && known == text) return path;
  auto made = std::make_shared<const JsonPath>(parse_jsonpath(text));  // other computations of the thread may have their turn here
  path = made;
  known = text;
  return made;
}

template <bool with_zone>
std::unique_ptr<RowSource> open_query(std::span<const Datum> arguments, const EvaluationContext& context) {
  for (const Datum& argument : arguments) {
    if (is_null(argument)) return std::make_unique<FoundRows>(std::vector<std::string>());
  }
  const std::shared_ptr<const JsonPath> path = path_of(std::get<std::string>(arguments[1]));
  const std::string variables = arguments.size() > 2 ? std::get<std::string>(arguments[2]) : "{}";
  const bool silent = arguments.size() > 3 && std::get<bool>(arguments[3]);
  auto found = run_jsonpath({*path, std::get<std::string>(arguments[0]), variables, silent, with_zone, context});
  return std::make_unique<FoundRows>(found ? *std::move(found) : std::vector<std::string>());
}

/// With and without the arguments that have defaults.
void add(std::vector<ScalarFunction>& table, std::string_view name, Type result, Kernel kernel, Volatility volatility) {
  table.push_back(column_function(name, {kJsonb, kJsonpath}, result, kernel, volatility, true));
  table.push_back(column_function(name, {kJsonb, kJsonpath, kJsonb}, result, kernel, volatility, true));
  table.push_back(column_function(name, {kJsonb, kJsonpath, kJsonb, kBool}, result, kernel, volatility, true));
}

}  // namespace

std::vector<ScalarFunction> jsonpath_functions() {
  constexpr auto kImmutable = Volatility::kImmutable, kStable = Volatility::kStable;
  std::vector<ScalarFunction> table = {
      column_function("@?", {kJsonb, kJsonpath}, kBool, kernel<append_exists, true, false>, kImmutable, true),
      column_function("@@", {kJsonb, kJsonpath}, kBool, kernel<append_match, true, false>, kImmutable, true),
  };
  add(table, "jsonb_path_exists", kBool, kernel<append_exists, false, false>, kImmutable);
  add(table, "jsonb_path_exists_tz", kBool, kernel<append_exists, false, true>, kStable);
  add(table, "jsonb_path_match", kBool, kernel<append_match, false, false>, kImmutable);
  add(table, "jsonb_path_match_tz", kBool, kernel<append_match, false, true>, kStable);
  add(table, "jsonb_path_query_array", kJsonb, kernel<append_array, false, false>, kImmutable);
  add(table, "jsonb_path_query_array_tz", kJsonb, kernel<append_array, false, true>, kStable);
  add(table, "jsonb_path_query_first", kJsonb, kernel<append_first, false, false>, kImmutable);
  add(table, "jsonb_path_query_first_tz", kJsonb, kernel<append_first, false, true>, kStable);
  return table;
}

std::vector<TableFunction> jsonpath_table_functions() {
  std::vector<TableFunction> table;
  for (const bool with_zone : {false, true}) {
    const std::string_view name = with_zone ? "jsonb_path_query_tz" : "jsonb_path_query";
    std::vector<Oid> arguments = {oid::kJsonb, oid::kJsonpath};
    for (const Oid optional : {oid::kJsonb, oid::kBool}) {
      table.push_back({name, arguments, {{name, oid::kJsonb}}, with_zone ? open_query<true> : open_query<false>});
      arguments.push_back(optional);
    }
    table.push_back({name, arguments, {{name, oid::kJsonb}}, with_zone ? open_query<true> : open_query<false>});
  }
  return table;
}

}  // namespace redquel::sql
