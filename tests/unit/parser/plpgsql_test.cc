#include <gtest/gtest.h>

#include "parser/plpgsql_parse.h"
#include "parser/plpgsql_scanner.h"
#include "sql/error.h"

namespace redquel::parser::plpgsql {
namespace {

Body parsed(std::string_view text, const Signature& signature = {}) { return parse_body(text, signature); }

const Statements& body_of(const Body& body) { return std::get<Block>(body.block.node).body; }

template <class Node>
const Node& only(const Body& body) {
  EXPECT_EQ(body_of(body).size(), 1U);
  return std::get<Node>(body_of(body).at(0)->node);
}

std::string error_of(std::string_view text, const Signature& signature = {}) {
  try {
    parsed(text, signature);
  } catch (const sql::SqlError& error) {
    return error.sqlstate() + " " + error.message() + " @" + (error.position() ? std::to_string(*error.position()) : "-");
  }
  return "none";
}

TEST(PlpgsqlScanner, SplitsRangesAssignmentsAndLabels) {
  std::vector<std::string> texts;
  for (const Token& token : scan("<<a>> x:=1..10 || $tag$b'$tag$ -- end\n /* c /* d */ */ E'\\n' \"Q\"")) texts.push_back(token.value);
  EXPECT_EQ(texts, (std::vector<std::string>{"<<", "a", ">>", "x", ":=", "1", "..", "10", "||", "b'", "\n", "Q", ""}));
}

TEST(PlpgsqlParser, FindsTheVariablesOfAnExpression) {
  const Body body = parsed("DECLARE a int; r record; BEGIN a := a + r.x + t.a + \"a\"; END");
  const auto& assign = only<Assign>(body);
  ASSERT_EQ(assign.value.uses.size(), 2U);
  EXPECT_EQ(assign.value.uses[0].name, "a");
  EXPECT_EQ(assign.value.uses[1].field, "x");
}

TEST(PlpgsqlParser, AnInnerVariableHidesAnOuterOneThatItsLabelStillNames) {
  const Body body = parsed("<<o>> DECLARE a int; BEGIN DECLARE a int; BEGIN a := o.a; END; END");
  const auto& inner = std::get<Block>(body_of(body).at(0)->node);
  const auto& assign = std::get<Assign>(inner.body.at(0)->node);
  EXPECT_EQ(body.variables[assign.target.variable].name, "a");
  ASSERT_EQ(assign.value.uses.size(), 1U);
  EXPECT_EQ(assign.value.uses[0].block, "o");
  EXPECT_NE(assign.value.uses[0].variable, assign.target.variable);
}

TEST(PlpgsqlParser, TakesIntoOutOfAStatement) {
  const Body body = parsed("DECLARE a int; b int; BEGIN SELECT x, y INTO STRICT a, b FROM t; END");
  const auto& sql = only<Sql>(body);
  ASSERT_TRUE(sql.into);
  EXPECT_TRUE(sql.into->strict);
  EXPECT_EQ(sql.into->targets.size(), 2U);
  EXPECT_EQ(sql.statement.text.find("INTO"), std::string::npos);
}

TEST(PlpgsqlParser, TellsIntegerLoopsFromQueries) {
  EXPECT_TRUE(only<ForInteger>(parsed("BEGIN FOR i IN REVERSE 10..f(1) BY 2 LOOP NULL; END LOOP; END")).reverse);
  const Body body = parsed("DECLARE r record; BEGIN FOR r IN SELECT 1 LOOP NULL; END LOOP; END");
  EXPECT_TRUE(std::holds_alternative<SqlText>(only<ForQuery>(body).query));
}

TEST(PlpgsqlParser, NamesTheErrorAndItsPlace) {
  EXPECT_EQ(error_of("BEGIN x := 1; END"), "42601 \"x\" is not a known variable @6");
  EXPECT_EQ(error_of("BEGIN IF 1 THEN NULL; END; END"), "42601 syntax error at or near \";\" @25");
  EXPECT_EQ(error_of("BEGIN EXIT; END"), "42601 EXIT cannot be used outside a loop, unless it has a label @6");
  EXPECT_EQ(error_of("BEGIN RAISE NOTICE '%'; END"), "42601 too few parameters specified for RAISE @19");
  EXPECT_EQ(error_of("BEGIN PERFORM 1 +; END"), "42601 syntax error at end of input @17");
  EXPECT_EQ(error_of("DECLARE a int; a int; BEGIN END"), "42601 duplicate declaration at or near \"a\" @15");
}

TEST(PlpgsqlParser, ReturnFitsTheResult) {
  EXPECT_EQ(error_of("BEGIN RETURN 1; END", {.returns_set = true}).substr(0, 5), "42804");
  EXPECT_EQ(error_of("BEGIN RETURN NEXT 1; END").substr(0, 5), "42804");
  EXPECT_EQ(error_of("BEGIN RETURN; END"), "42601 missing expression at or near \";\" @12");
  EXPECT_EQ(error_of("BEGIN RETURN; END", {.procedure = true}), "none");
}

}  // namespace
}  // namespace redquel::parser::plpgsql
