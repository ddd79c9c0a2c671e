#include "parser/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "sql/error.h"
#include "tests/unit/parser/parse_as.h"

namespace redquel::parser {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <typename Kind>
const Kind& as(const ast::ExpressionPtr& expression) {
  return std::get<Kind>(expression->node);
}

ast::ExpressionPtr where_of(const std::string& condition) {
  return std::move(parse_as<ast::Select>("SELECT FROM t WHERE " + condition).where);
}

// --- a text and its statements -------------------------------------------------------------------------------------

TEST(Parse, SplitsStatements) {
  const std::string text = " SELECT 1 ; ;-- nothing\n /* é */ INSERT INTO t VALUES (';') \n;";
  const std::vector<ParsedStatement> statements = parse(text);
  ASSERT_EQ(statements.size(), 2U);
  EXPECT_EQ(text.substr(statements[0].offset, statements[0].length), "SELECT 1");
  EXPECT_EQ(text.substr(statements[1].offset, statements[1].length), "INSERT INTO t VALUES (';')");
  EXPECT_EQ(statements[1].statement->offset, statements[1].offset);
  EXPECT_THAT(parse(""), IsEmpty());
  EXPECT_THAT(parse(" -- only a comment"), IsEmpty());
}

TEST(Parse, OffsetsAreBytesOfTheWholeText) {
  const std::string text = "SELECT 'é'; SELECT 'ü' + größe FROM tabelle";
  const std::vector<ParsedStatement> statements = parse(text);
  const auto& select = std::get<ast::Select>(statements.at(1).statement->node);
  const ast::Expression& sum = *select.targets.at(0).value;
  const auto& call = std::get<ast::OperatorCall>(sum.node);
  EXPECT_EQ(sum.offset, text.find('+'));
  EXPECT_EQ(sum.start, text.find("'ü'"));
  EXPECT_EQ(call.right->offset, text.find("größe"));
  EXPECT_EQ(std::get<ast::TableRef>(select.from.at(0).node).name.offset, text.find("tabelle"));
}

// --- expressions ---------------------------------------------------------------------------------------------------

TEST(ParseExpression, Literals) {
  EXPECT_EQ(as<ast::IntegerLiteral>(parse_expression("-5")).value, -5);
  EXPECT_EQ(as<ast::IntegerLiteral>(parse_expression("0")).value, 0);
  EXPECT_EQ(as<ast::NumericLiteral>(parse_expression("2147483648")).text, "2147483648");
  EXPECT_EQ(as<ast::NumericLiteral>(parse_expression("-1.50")).text, "-1.50");
  EXPECT_EQ(as<ast::StringLiteral>(parse_expression("E'\\u00e9'''")).value, "é'");
  EXPECT_EQ(as<ast::StringLiteral>(parse_expression("$x$a$x$")).value, "a");
  EXPECT_EQ(as<ast::StringLiteral>(parse_expression("''")).value, "");
  EXPECT_EQ(as<ast::BitStringLiteral>(parse_expression("X'1F'")).text, "x1F");
  EXPECT_TRUE(as<ast::BooleanLiteral>(parse_expression("true")).value);
  EXPECT_FALSE(as<ast::BooleanLiteral>(parse_expression("false")).value);
  EXPECT_TRUE(std::holds_alternative<ast::NullLiteral>(parse_expression("NULL")->node));
  EXPECT_TRUE(std::holds_alternative<ast::TypeCast>(parse_expression("'t'::bool")->node));
  EXPECT_EQ(as<ast::ParameterRef>(parse_expression("$7")).number, 7);
}

TEST(ParseExpression, AndOrAreFlat) {
  const ast::ExpressionPtr condition = where_of("a AND b AND c OR d OR NOT e");
  const auto& any = as<ast::Or>(condition);
  ASSERT_EQ(any.arguments.size(), 3U);
  EXPECT_EQ(as<ast::And>(any.arguments[0]).arguments.size(), 3U);
  EXPECT_TRUE(std::holds_alternative<ast::Not>(any.arguments[2]->node));
}

TEST(ParseExpression, KeepsKindsApart) {
  EXPECT_EQ(as<ast::OperatorCall>(where_of("a = 1")).name, ast::QualifiedName{"="});
  EXPECT_EQ(as<ast::OperatorCall>(where_of("a != 1")).name, ast::QualifiedName{"<>"});
  EXPECT_EQ(as<ast::OperatorCall>(where_of("@ a")).left, nullptr);
  EXPECT_TRUE(as<ast::InList>(where_of("a NOT IN (1, 2)")).negated);
  EXPECT_TRUE(as<ast::ArrayComparison>(where_of("a <> ALL (b)")).all);
  EXPECT_FALSE(as<ast::ArrayComparison>(where_of("a = ANY (b)")).all);
  EXPECT_TRUE(as<ast::DistinctFrom>(where_of("a IS NOT DISTINCT FROM b")).negated);
  EXPECT_TRUE(as<ast::NullTest>(where_of("a IS NOT NULL")).negated);
  EXPECT_EQ(as<ast::BooleanTest>(where_of("a IS NOT UNKNOWN")).value, ast::TruthValue::kUnknown);
  const ast::ExpressionPtr like = where_of("a NOT LIKE b ESCAPE 'x'");
  EXPECT_TRUE(as<ast::Like>(like).negated);
  EXPECT_NE(as<ast::Like>(like).escape, nullptr);
  EXPECT_EQ(as<ast::Like>(where_of("a ILIKE b")).kind, ast::LikeKind::kILike);
  EXPECT_EQ(as<ast::Like>(where_of("a ILIKE b")).escape, nullptr);
  EXPECT_EQ(as<ast::Like>(where_of("a SIMILAR TO b")).kind, ast::LikeKind::kSimilarTo);
  const ast::ExpressionPtr between = where_of("a NOT BETWEEN SYMMETRIC 1 AND 2");
  EXPECT_TRUE(as<ast::Between>(between).negated);
  EXPECT_TRUE(as<ast::Between>(between).symmetric);
}

TEST(ParseExpression, SubLinks) {
  const ast::ExpressionPtr in = where_of("a NOT IN (SELECT b FROM u)");
  const auto& link = as<ast::SubLink>(as<ast::Not>(in).argument);
  EXPECT_EQ(link.kind, ast::SubLinkKind::kAny);
  EXPECT_THAT(link.operator_name, IsEmpty());
  EXPECT_EQ(link.query->targets.size(), 1U);
  EXPECT_EQ(as<ast::SubLink>(where_of("EXISTS (SELECT)")).kind, ast::SubLinkKind::kExists);
  EXPECT_EQ(as<ast::SubLink>(where_of("a >= ALL (SELECT 1)")).operator_name, ast::QualifiedName{">="});
  EXPECT_EQ(as<ast::SubLink>(where_of("ARRAY(SELECT 1)")).kind, ast::SubLinkKind::kArray);
  EXPECT_EQ(as<ast::SubLink>(where_of("(SELECT true)")).kind, ast::SubLinkKind::kScalar);
}

TEST(ParseExpression, FunctionCalls) {
  const ast::ExpressionPtr expression =
      parse_expression("s.f(DISTINCT a, b => 2 ORDER BY c DESC) FILTER (WHERE d) OVER (w ROWS 3 PRECEDING)");
  const auto& call = as<ast::FunctionCall>(expression);
  EXPECT_THAT(call.name, ElementsAre("s", "f"));
  EXPECT_TRUE(call.distinct);
  ASSERT_EQ(call.arguments.size(), 2U);
  EXPECT_EQ(call.arguments[1].name, "b");
  EXPECT_EQ(call.order_by.at(0).direction, ast::SortDirection::kDescending);
  EXPECT_NE(call.filter, nullptr);
  ASSERT_NE(call.over, nullptr);
  EXPECT_EQ(call.over->base, "w");
  EXPECT_EQ(call.over->frame.mode, ast::FrameMode::kRows);
  EXPECT_EQ(call.over->frame.start, ast::FrameBound::kOffsetPreceding);
  EXPECT_EQ(call.over->frame.end, ast::FrameBound::kCurrentRow);
  EXPECT_NE(call.over->frame.start_offset, nullptr);
  EXPECT_TRUE(as<ast::FunctionCall>(parse_expression("count(*)")).star);
  const ast::ExpressionPtr extract = parse_expression("extract(year FROM a)");
  EXPECT_TRUE(as<ast::FunctionCall>(extract).sql_syntax);
  EXPECT_THAT(as<ast::FunctionCall>(extract).name, ElementsAre("pg_catalog", "extract"));
}

TEST(ParseExpression, Types) {
  const ast::TypeName type = parse_type_name("numeric(10, 2)[3][]");
  EXPECT_THAT(type.names, ElementsAre("pg_catalog", "numeric"));
  ASSERT_EQ(type.modifiers.size(), 2U);
  EXPECT_EQ(as<ast::IntegerLiteral>(type.modifiers[0]).value, 10);
  EXPECT_THAT(type.array_bounds, ElementsAre(3, -1));
  const ast::TypeName interval = parse_type_name("interval day to second(3)");
  ASSERT_EQ(interval.modifiers.size(), 2U);
  EXPECT_EQ(as<ast::IntegerLiteral>(interval.modifiers[1]).value, 3);
  EXPECT_THAT(parse_type_name("serial").names, ElementsAre("serial"));
}

TEST(ParseExpression, SingleExpressionsOnly) {
  for (const char* text : {"1, 2", "1 AS a", "1 FROM t", "1; SELECT 2", "", "1 UNION SELECT 2", "1 ORDER BY 1"}) {
    EXPECT_THROW(parse_expression(text), sql::SqlError) << text;
  }
  for (const char* text : {"int USING 1", "int, ADD COLUMN x int", "text COLLATE \"C\"", "1"}) {
    EXPECT_THROW(parse_type_name(text), sql::SqlError) << text;
  }
}

// --- queries -------------------------------------------------------------------------------------------------------

TEST(ParseQuery, Joins) {
  const auto select = parse_as<ast::Select>(
      "SELECT * FROM a AS x JOIN b USING (i, j) AS u, ONLY c CROSS JOIN d, e NATURAL LEFT JOIN f");
  ASSERT_EQ(select.from.size(), 3U);
  const auto& inner = std::get<ast::Join>(select.from[0].node);
  EXPECT_EQ(inner.kind, ast::JoinKind::kInner);
  EXPECT_THAT(inner.using_columns, ElementsAre("i", "j"));
  EXPECT_EQ(inner.using_alias, "u");
  EXPECT_EQ(std::get<ast::TableRef>(inner.left->node).alias->name, "x");
  const auto& cross = std::get<ast::Join>(select.from[1].node);
  EXPECT_EQ(cross.kind, ast::JoinKind::kCross);
  EXPECT_TRUE(std::get<ast::TableRef>(cross.left->node).only);
  EXPECT_TRUE(std::get<ast::Join>(select.from[2].node).natural);
}

TEST(ParseQuery, Clauses) {
  const auto select = parse_as<ast::Select>(
      "WITH RECURSIVE w (a) AS NOT MATERIALIZED (SELECT 1) SELECT DISTINCT ON (a) a x, * FROM w WHERE b GROUP BY "
      "DISTINCT a, "
      "ROLLUP (c, (d, e)) HAVING f WINDOW v AS (PARTITION BY g) ORDER BY h DESC NULLS LAST OFFSET 2 FETCH FIRST 5 ROWS "
      "WITH TIES");
  ASSERT_TRUE(select.with);
  EXPECT_TRUE(select.with->recursive);
  EXPECT_EQ(select.with->expressions.at(0).materialization, ast::Materialization::kNever);
  EXPECT_TRUE(std::holds_alternative<ast::Select>(select.with->expressions[0].statement->node));
  EXPECT_TRUE(select.distinct);
  EXPECT_EQ(select.distinct_on.size(), 1U);
  EXPECT_EQ(select.targets.at(0).name, "x");
  EXPECT_TRUE(as<ast::ColumnRef>(select.targets.at(1).value).star);
  EXPECT_TRUE(select.group_distinct);
  const auto& rollup = *std::get<std::unique_ptr<const ast::GroupingSet>>(select.group_by.at(1));
  EXPECT_EQ(rollup.kind, ast::GroupingSetKind::kRollup);
  EXPECT_FALSE(as<ast::Row>(std::get<ast::ExpressionPtr>(rollup.elements.at(1))).explicit_row);
  EXPECT_EQ(select.windows.at(0).name, "v");
  EXPECT_EQ(select.order_by.at(0).nulls, ast::SortNulls::kLast);
  EXPECT_TRUE(select.with_ties);
  EXPECT_NE(select.limit_offset, nullptr);
  EXPECT_TRUE(parse_as<ast::Select>("SELECT DISTINCT a").distinct_on.empty());
}

TEST(ParseQuery, SetOperationsAndValues) {
  const auto select =
      parse_as<ast::Select>("VALUES (1, 2), (3, 4) UNION ALL SELECT 5, 6 EXCEPT SELECT 7, 8 ORDER BY 1");
  EXPECT_EQ(select.set_operator, ast::SetOperator::kExcept);
  EXPECT_EQ(select.left->set_operator, ast::SetOperator::kUnion);
  EXPECT_TRUE(select.left->set_all);
  EXPECT_EQ(select.left->left->values.size(), 2U);
  EXPECT_EQ(select.order_by.size(), 1U);
}

TEST(ParseQuery, FunctionsInFrom) {
  const auto select = parse_as<ast::Select>(
      "SELECT * FROM f(1) WITH ORDINALITY AS g (a, n), LATERAL h() AS k (x int, y text), ROWS FROM (p(), q() AS (z "
      "int)) r");
  const auto& ordinality = std::get<ast::FunctionRef>(select.from.at(0).node);
  EXPECT_TRUE(ordinality.with_ordinality);
  EXPECT_THAT(ordinality.alias->columns, ElementsAre("a", "n"));
  const auto& lateral = std::get<ast::FunctionRef>(select.from.at(1).node);
  EXPECT_TRUE(lateral.lateral);
  EXPECT_EQ(lateral.columns.at(1).name, "y");
  const auto& rows = std::get<ast::FunctionRef>(select.from.at(2).node);
  EXPECT_TRUE(rows.rows_from);
  EXPECT_EQ(rows.functions.at(1).columns.size(), 1U);
}

// --- errors --------------------------------------------------------------------------------------------------------

struct Refused {
  std::string text;
  std::string sqlstate;
  std::string message;
  std::optional<std::uint32_t> position;
  std::string hint = {};
};

std::ostream& operator<<(std::ostream& out, const Refused& refused) { return out << refused.text; }

class ParseError : public testing::TestWithParam<Refused> {};

TEST_P(ParseError, IsPostgresqls) {
  const Refused& refused = GetParam();
  try {
    parse(refused.text);
    FAIL() << refused.text << " was accepted";
  } catch (const sql::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), refused.sqlstate) << refused.text;
    EXPECT_EQ(error.message(), refused.message) << refused.text;
    EXPECT_EQ(error.position(), refused.position) << refused.text;
    EXPECT_EQ(error.hint(), refused.hint) << refused.text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseError,
    testing::Values(
        Refused{"SELECT FORM t x y", "42601", "syntax error at or near \"x\"", 14},
        Refused{"SELECT 1 +", "42601", "syntax error at end of input", 10},
        Refused{"SELECT 'é', 'ü' 2", "42601", "syntax error at or near \"2\"", 18},
        Refused{"SELECT 1; SELECT 'ü' 2", "42601", "syntax error at or near \"2\"", 22},
        Refused{"SELECT é é é", "42601", "syntax error at or near \"é\"", 13},
        Refused{"SELECT 'abc", "42601", "unterminated quoted string at or near \"'abc\"", 7},
        Refused{"SELECT \"abc", "42601", "unterminated quoted identifier at or near \"\"abc\"", 7},
        Refused{"SELECT /* abc", "42601", "unterminated /* comment at or near \"/* abc\"", 7},
        Refused{"SELECT $$abc", "42601", "unterminated dollar-quoted string at or near \"$$abc\"", 7},
        Refused{"SELECT \"\"", "42601", "zero-length delimited identifier at or near \"\"\"\"", 7},
        Refused{"SELECT 123abc", "42601", "trailing junk after numeric literal at or near \"123abc\"", 7},
        Refused{"SELECT 1é2", "42601", "trailing junk after numeric literal at or near \"1é2\"", 7},
        Refused{"SELECT 1.5e+foo", "42601", "trailing junk after numeric literal at or near \"1.5e+\"", 7},
        Refused{"SELECT $1abc", "42601", "trailing junk after parameter at or near \"$1abc\"", 7},
        Refused{"SELECT E'\\u12'", "22025", "invalid Unicode escape", 9,
                "Unicode escapes must be \\uXXXX or \\UXXXXXXXX."},
        Refused{"SELECT U&'\\00'", "42601", "invalid Unicode escape", 10,
                "Unicode escapes must be \\XXXX or \\+XXXXXX."},
        Refused{"SELECT E'\\xff'", "22021", "invalid byte sequence for encoding \"UTF8\": 0xff", std::nullopt},
        Refused{"SELECT 1 LIMIT 1, 2", "42601", "LIMIT #,# syntax is not supported", 9,
                "Use separate LIMIT and OFFSET clauses."},
        Refused{"SELECT * FROM (SELECT 1)", "42601", "subquery in FROM must have an alias", 14,
                "For example, FROM (SELECT ...) [AS] foo."},
        Refused{"SELECT CAST(1 AS float(54))", "22023", "precision for type float must be less than 54 bits", 23},
        Refused{"SELECT sum(x) OVER (ROWS UNBOUNDED FOLLOWING)", "42P20", "frame start cannot be UNBOUNDED FOLLOWING",
                25},
        Refused{"CREATE TABLE t (a int REFERENCES b MATCH PARTIAL)", "0A000", "MATCH PARTIAL not yet implemented", 35},
        Refused{"CREATE TABLE t (a int, UNIQUE (a) NOT VALID)", "0A000",
                "UNIQUE constraints cannot be marked NOT VALID", std::nullopt},
        Refused{"CREATE ROLE public", "42939", "role name \"public\" is reserved", 12},
        Refused{"CREATE TABLE t (a int DEFERRABLE)", "42601", "misplaced DEFERRABLE clause", 22},
        Refused{"CREATE TABLE t (a int PRIMARY KEY NOT DEFERRABLE INITIALLY DEFERRED)", "42601",
                "constraint declared INITIALLY DEFERRED must be DEFERRABLE", 49},
        Refused{"SELECT xmlelement(name a)", "0A000", "XMLELEMENT is not supported by redquel", 7},
        Refused{std::string("SELECT \0 1", 10), "22021", "invalid byte sequence for encoding \"UTF8\": 0x00",
                std::nullopt}));

}  // namespace
}  // namespace redquel::parser
