#include "sql/expressions/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/error.h"
#include "sql/expressions/coerce.h"
#include "sql/functions/resolve.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

using testing::ElementsAre;

class Evaluate : public testing::Test {
 protected:
  Evaluate() {
    context_.settings = &settings_;
    Column a(kInt4), b = Column::encoded(kInt4);
    for (std::int32_t value : {0, 1, 2, 3}) a.append(value);
    a.append_null();
    for (std::string_view text : {"10", "20", "30", "40", "50"}) b.append(text);
    batch_.rows = 5;
    batch_.columns = {std::make_shared<const Column>(std::move(a)), std::make_shared<const Column>(std::move(b))};
  }

  static ExpressionPtr column(std::uint32_t position) {
    return make_column(kInt4, position, position == 0 ? "a" : "b");
  }
  static ExpressionPtr number(std::int32_t value) { return make_constant(kInt4, value); }
  static ExpressionPtr call(std::string_view name, ExpressionPtr left, ExpressionPtr right) {
    const ResolvedFunction resolved = resolve_operator(name, left->type, right->type);
    return make_expression(resolved.result, FunctionCall{resolved.function, {std::move(left), std::move(right)}});
  }
  static ExpressionPtr logical(Logical::Kind kind, std::vector<ExpressionPtr> operands) {
    return make_expression(kBool, Logical{kind, std::move(operands)});
  }

  /// One text per row, NULL as "null".
  std::vector<std::string> texts(const ExpressionPtr& expression) {
    const ColumnPtr result = evaluate(*expression, batch_, context_);
    EXPECT_EQ(result->size(), batch_.rows);
    std::vector<std::string> texts;
    for (std::size_t row = 0; row < result->size(); ++row) {
      texts.push_back(result->is_null(row) ? "null" : format_value(expression->type, result->datum(row), settings_));
    }
    return texts;
  }

  SessionSettings settings_;
  EvaluationContext context_;
  Batch batch_;
};

TEST_F(Evaluate, DecodesEncodedColumnsAndPassesNullThrough) {
  EXPECT_THAT(texts(call("+", column(0), column(1))), ElementsAre("10", "21", "32", "43", "null"));
  EXPECT_TRUE(evaluate_for_output(*column(1), batch_, context_)->is_encoded());
}

TEST_F(Evaluate, CaseReachesOnlyTheRowsOfABranch) {
  const ExpressionPtr safe = make_expression(
      kInt4, CaseCall{{{call("<>", column(0), number(0)), call("/", number(6), column(0))}}, number(-1)});
  EXPECT_THAT(texts(safe), ElementsAre("-1", "6", "3", "2", "-1"));
  EXPECT_THROW(texts(call("/", number(6), column(0))), SqlError);
}

TEST_F(Evaluate, AndStopsAtFalseButNotAtNull) {
  const ExpressionPtr division = call(">", call("/", number(6), column(0)), number(2));
  EXPECT_THAT(texts(logical(Logical::Kind::kAnd, {call(">", column(0), number(0)), division})),
              ElementsAre("f", "t", "t", "f", "null"));
  EXPECT_THROW(texts(logical(Logical::Kind::kAnd, {division, call(">", column(0), number(0))})), SqlError);
  const ExpressionPtr null = make_constant(kBool, Datum{});
  EXPECT_THROW(texts(logical(Logical::Kind::kAnd, {null, division})), SqlError);
  EXPECT_THAT(texts(logical(Logical::Kind::kOr, {call("=", column(0), number(0)), division})),
              ElementsAre("t", "t", "t", "f", "null"));
}

TEST_F(Evaluate, AFilterIsThroughWithARowAtNull) {
  const ExpressionPtr division = call(">", call("/", number(6), column(0)), number(2));
  const ExpressionPtr null = make_constant(kBool, Datum{});
  EXPECT_THAT(select_rows(*logical(Logical::Kind::kAnd, {null, division}), batch_, context_), ElementsAre());
  EXPECT_THAT(select_rows(*call(">=", column(0), number(2)), batch_, context_), ElementsAre(2, 3));
}

TEST_F(Evaluate, CoalesceNullIfAndDistinct) {
  EXPECT_THAT(texts(make_expression(kInt4, CoalesceCall{{column(0), column(1)}})),
              ElementsAre("0", "1", "2", "3", "50"));
  const ScalarFunction& equal = equality_operator(kInt4);
  EXPECT_THAT(texts(make_expression(kInt4, NullIfCall{&equal, column(0), number(2)})),
              ElementsAre("0", "1", "null", "3", "null"));
  EXPECT_THAT(texts(make_expression(kBool, DistinctTest{&equal, column(0), number(2), false})),
              ElementsAre("t", "t", "f", "t", "t"));
  EXPECT_THAT(texts(make_expression(kBool, DistinctTest{&equal, column(0), make_constant(kInt4, Datum{}), true})),
              ElementsAre("f", "f", "f", "f", "t"));
}

TEST_F(Evaluate, GreatestIgnoresNull) {
  EXPECT_THAT(texts(make_expression(kInt4, GreatestLeast{true, {column(0), number(2)}})),
              ElementsAre("2", "2", "2", "3", "2"));
  EXPECT_THAT(texts(make_expression(kInt4, GreatestLeast{false, {column(0), number(2)}})),
              ElementsAre("0", "1", "2", "2", "2"));
}

TEST_F(Evaluate, InListIsUnknownBesideNull) {
  const ScalarFunction& equal = equality_operator(kInt4);
  const ExpressionPtr null = make_constant(kInt4, Datum{});
  EXPECT_THAT(texts(make_expression(kBool, InListTest{&equal, column(0), {number(1), number(3)}, false})),
              ElementsAre("f", "t", "f", "t", "null"));
  EXPECT_THAT(texts(make_expression(kBool, InListTest{&equal, column(0), {number(1), null}, true})),
              ElementsAre("null", "f", "null", "null", "null"));
}

TEST_F(Evaluate, LongInListIsHashedWhenFolded) {
  const ScalarFunction& equal = equality_operator(kInt4);
  std::vector<ExpressionPtr> list;
  for (std::int32_t i = 1; i < 100; i += 2) list.push_back(number(i));
  const ExpressionPtr test = make_expression(kBool, InListTest{&equal, column(0), list, false});
  const ExpressionPtr folded = fold_constants(test, context_);
  EXPECT_NE(std::get<InListTest>(folded->node).constants, nullptr);
  EXPECT_EQ(texts(folded), texts(test));
}

TEST_F(Evaluate, FoldingKeepsFailingExpressions) {
  const ExpressionPtr division = call("/", number(1), number(0));
  EXPECT_EQ(fold_constants(division, context_), division);
  const ExpressionPtr sum = fold_constants(call("+", number(1), number(2)), context_);
  EXPECT_EQ(std::get<std::int32_t>(std::get<Constant>(sum->node).value), 3);
  const ExpressionPtr never = make_expression(kInt4, CaseCall{{{make_constant(kBool, false), division}}, column(1)});
  EXPECT_EQ(to_string(*fold_constants(never, context_)), "b");
  const ExpressionPtr random = make_expression(kFloat8, FunctionCall{resolve_function("random", {}).function, {}});
  EXPECT_EQ(fold_constants(random, context_), random);
}

TEST_F(Evaluate, VolatileFunctionsRunForEveryRow) {
  const ExpressionPtr random = make_expression(kFloat8, FunctionCall{resolve_function("random", {}).function, {}});
  const ColumnPtr values = evaluate(*random, batch_, context_);
  EXPECT_FALSE(values->is_constant());
  EXPECT_NE(values->get<double>(0), values->get<double>(1));
}

TEST_F(Evaluate, ParametersAreConstants) {
  context_.parameters = {Datum(std::int32_t{2})};
  const ExpressionPtr parameter = make_expression(kInt4, ParameterRef{0});
  EXPECT_TRUE(evaluate(*parameter, batch_, context_)->is_constant());
  EXPECT_THAT(select_rows(*call("=", column(0), parameter), batch_, context_), ElementsAre(2));
}

TEST_F(Evaluate, EmptyBatchGivesEmptyColumn) {
  Batch empty;
  empty.columns = {std::make_shared<const Column>(kInt4), std::make_shared<const Column>(Column::encoded(kInt4))};
  EXPECT_EQ(evaluate(*call("/", number(1), column(0)), empty, context_)->size(), 0U);
  EXPECT_EQ(evaluate(*call("/", number(1), column(1)), empty, context_)->size(), 0U);
}

TEST(Expression, PrintsAsExplainDoes) {
  const ExpressionPtr a = make_column(kInt4, 0, "dept"), b = make_column(kText, 1, "name");
  const auto compare = [](std::string_view name, ExpressionPtr left, ExpressionPtr right) {
    const ResolvedFunction resolved = resolve_operator(name, left->type, right->type);
    return make_expression(kBool, FunctionCall{resolved.function, {left, right}});
  };
  const ExpressionPtr condition = conjunction({compare("=", a, make_constant(kInt4, std::int32_t{7})),
                                               compare("~~", b, make_constant(kText, std::string("it's%")))});
  EXPECT_EQ(to_string(*condition), "(dept = 7) AND (name ~~ 'it''s%'::text)");
  EXPECT_EQ(split_conjunction(condition).size(), 2U);
  EXPECT_TRUE(equal(*condition, *conjunction(split_conjunction(condition))));
  EXPECT_EQ(hash(*condition), hash(*conjunction(split_conjunction(condition))));
  EXPECT_FALSE(equal(*make_constant(kNumeric, Numeric(10, 1)), *make_constant(kNumeric, Numeric(100, 2))));
}

TEST(Coerce, ReadsLiteralsAndPointsAtThem) {
  const SessionSettings settings;
  const auto literal = [](std::string text) { return make_expression(kUnknown, Constant{Datum(std::move(text))}, 17); };
  const ExpressionPtr date = coerce(literal("2024-02-29"), kDate, CastContext::kImplicit, settings);
  EXPECT_EQ(to_string(*date), "'2024-02-29'::date");
  try {
    coerce(literal("abc"), kInt4, CastContext::kImplicit, settings);
    FAIL();
  } catch (const SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "22P02");
    EXPECT_EQ(error.message(), "invalid input syntax for type integer: \"abc\"");
    EXPECT_EQ(error.position(), 17U);
  }
  EXPECT_EQ(try_coerce(make_constant(kBool, true), kDate, CastContext::kExplicit, settings), nullptr);
  EXPECT_EQ(try_coerce(make_constant(kInt8, std::int64_t{1}), kInt4, CastContext::kImplicit, settings), nullptr);
  const Type short_text{oid::kVarchar, 3 + 4};
  const ExpressionPtr cut = coerce(literal("abcdef"), short_text, CastContext::kExplicit, settings);
  EXPECT_EQ(std::get<std::string>(std::get<Constant>(cut->node).value), "abc");
}

TEST(CommonType, FollowsTheManual) {
  EXPECT_EQ(resolve_common_type(std::vector{kInt4, kNumeric, kUnknown}, "CASE"), kNumeric);
  EXPECT_EQ(resolve_common_type(std::vector{kUnknown, kUnknown}, "UNION"), kText);
  EXPECT_EQ(resolve_common_type(std::vector{kFloat4, kNumeric}, "UNION"), kFloat4);
  const Type varchar{oid::kVarchar, 14};
  EXPECT_EQ(resolve_common_type(std::vector{varchar, varchar}, "UNION"), varchar);
  EXPECT_EQ(resolve_common_type(std::vector{varchar, Type{oid::kVarchar, 24}}, "UNION"), kVarchar);
  try {
    resolve_common_type(std::vector{kInt4, kBool}, "CASE", std::vector<std::optional<std::uint32_t>>{3, 9});
    FAIL();
  } catch (const SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "42804");
    EXPECT_EQ(error.message(), "CASE types integer and boolean cannot be matched");
    EXPECT_EQ(error.position(), 9U);
  }
}

}  // namespace
}  // namespace redquel::sql
