#include "sql/functions/lift.h"

#include <gtest/gtest.h>

#include "sql/functions/resolve.h"

namespace redquel::sql {
namespace {

ColumnPtr numbers(std::vector<std::optional<std::int32_t>> values) {
  Column column(kInt4);
  for (const std::optional<std::int32_t>& value : values) {
    if (value) {
      column.append(*value);
    } else {
      column.append_null();
    }
  }
  return std::make_shared<const Column>(std::move(column));
}

std::int32_t add(std::int32_t a, std::int32_t b) { return a + b; }
std::int32_t count_known(std::optional<std::int32_t> a, std::optional<std::int32_t> b) {
  return (a ? 1 : 0) + (b ? 1 : 0);
}
std::optional<std::int32_t> even(std::int32_t a) { return a % 2 == 0 ? std::optional(a) : std::nullopt; }
std::int32_t sum(std::int32_t first, std::span<const std::int32_t> rest) {
  for (std::int32_t value : rest) first += value;
  return first;
}
std::string_view head(std::string_view text) { return text.substr(0, 1); }
void twice(std::string_view text, std::string& out) {
  out += text;
  out += text;
}
bool unless_empty(std::string_view text, std::string& out) {
  out += text;
  return !text.empty();
}

ColumnPtr run(const ScalarFunction& function, std::vector<ColumnPtr> arguments, std::size_t rows) {
  return function.kernel(arguments, rows, Type{function.result}, EvaluationContext{});
}

TEST(Lift, StrictFunctionsSkipNull) {
  const ScalarFunction function = scalar<add>("add", {kInt4, kInt4}, kInt4);
  EXPECT_TRUE(function.strict);
  const ColumnPtr result = run(function, {numbers({1, {}, 3}), numbers({10, 20, {}})}, 3);
  EXPECT_EQ(result->get<std::int32_t>(0), 11);
  EXPECT_TRUE(result->is_null(1));
  EXPECT_TRUE(result->is_null(2));
}

TEST(Lift, ConstantsStayConstant) {
  const ScalarFunction function = scalar<add>("add", {kInt4, kInt4}, kInt4);
  const auto constant = [](Datum value) { return std::make_shared<const Column>(Column::constant(kInt4, value, 3)); };
  const ColumnPtr both = run(function, {constant(std::int32_t{1}), constant(std::int32_t{2})}, 3);
  EXPECT_TRUE(both->is_constant());
  EXPECT_EQ(both->get<std::int32_t>(2), 3);
  const ColumnPtr one = run(function, {numbers({1, 2, 3}), constant(std::int32_t{5})}, 3);
  EXPECT_EQ(one->get<std::int32_t>(2), 8);
  const ColumnPtr null = run(function, {numbers({1, 2, 3}), constant(Datum{})}, 3);
  EXPECT_TRUE(null->is_null(0) && null->is_null(2));
}

TEST(Lift, OptionalParametersSeeNull) {
  const ScalarFunction function = scalar<count_known>("count", {kInt4, kInt4}, kInt4);
  EXPECT_FALSE(function.strict);
  const ColumnPtr result = run(function, {numbers({1, {}}), numbers({{}, {}})}, 2);
  EXPECT_EQ(result->get<std::int32_t>(0), 1);
  EXPECT_EQ(result->get<std::int32_t>(1), 0);
}

TEST(Lift, OptionalResultsAreNull) {
  const ColumnPtr result = run(scalar<even>("even", {kInt4}, kInt4), {numbers({1, 2})}, 2);
  EXPECT_TRUE(result->is_null(0));
  EXPECT_EQ(result->get<std::int32_t>(1), 2);
}

TEST(Lift, VariadicRest) {
  const ScalarFunction function = scalar<sum>("sum", {kInt4, kInt4}, kInt4);
  EXPECT_TRUE(function.variadic);
  const ColumnPtr result = run(function, {numbers({1, 2}), numbers({10, 20}), numbers({100, {}})}, 2);
  EXPECT_EQ(result->get<std::int32_t>(0), 111);
  EXPECT_TRUE(result->is_null(1));
}

TEST(Lift, TextResults) {
  Column texts(kText);
  for (std::string_view text : {"ab", "", "c"}) texts.append(text);
  ColumnPtr column = std::make_shared<const Column>(std::move(texts));
  const ColumnPtr views = run(scalar<head>("head", {kText}, kText), {column}, 3);
  const ColumnPtr copies = run(scalar<twice>("twice", {kText}, kText), {column}, 3);
  const ColumnPtr nulls = run(scalar<unless_empty>("unless", {kText}, kText), {column}, 3);
  column.reset();  // the views keep it alive
  EXPECT_EQ(views->get<std::string_view>(0), "a");
  EXPECT_EQ(copies->get<std::string_view>(2), "cc");
  EXPECT_TRUE(nulls->is_null(1));
}

TEST(Aggregates, GroupsAndNulls) {
  const ResolvedAggregate average = resolve_aggregate("avg", std::vector{kInt4});
  EXPECT_EQ(average.result, kNumeric);
  const std::unique_ptr<Aggregator> state = average.function->make(average.arguments, average.result);
  const std::vector<ColumnPtr> values = {numbers({1, 2, {}, 4})};
  const std::vector<std::uint32_t> groups = {0, 1, 1, 1};
  state->update(values, groups, 2, EvaluationContext{});
  state->update(values, groups, 2, EvaluationContext{});
  const ColumnPtr result = state->finish(3, EvaluationContext{});
  EXPECT_EQ(result->get<Numeric>(0).to_string(), "1.00000000000000000000");
  EXPECT_EQ(result->get<Numeric>(1).to_string(), "3.0000000000000000");
  EXPECT_TRUE(result->is_null(2));
}

TEST(TableFunctions, SeriesInPieces) {
  const ResolvedTableFunction series = resolve_table_function("generate_series", std::vector{kInt4, kInt4});
  const std::vector<Datum> bounds = {Datum(std::int32_t{2147483646}), Datum(std::int32_t{2147483647})};
  const std::unique_ptr<RowSource> source = series.function->open(bounds, EvaluationContext{});
  EXPECT_EQ(source->next(1).rows, 1U);
  EXPECT_EQ(source->next(10).rows, 1U);
  EXPECT_EQ(source->next(10).rows, 0U);
}

}  // namespace
}  // namespace redquel::sql
