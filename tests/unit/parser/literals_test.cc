#include "parser/literals.h"

#include <gtest/gtest.h>

namespace redquel::parser {
namespace {

struct Case {
  std::string text, shared;
  std::vector<std::string> literals;
};

std::string shown(const Literal& literal) { return literal.is_string ? "'" + literal.text + "'" : std::to_string(literal.number); }

TEST(TakeLiterals, TakesLiteralsThatParametersCanReplace) {
  const Case cases[] = {
      {"SELECT * FROM t WHERE a = 5", "SELECT * FROM t WHERE a = $1\n--i", {"5"}},
      {"select a from t where b='x''y' and c<>-3;", "select a from t where b=$1 and c<>$2\n--si", {"'x'y'", "-3"}},
      {"SELECT 1 FROM t WHERE a BETWEEN 1 AND 10 AND b >= 5000000000", "SELECT 1 FROM t WHERE a BETWEEN $1 AND $2 AND b >= $3\n--iil", {"1", "10", "5000000000"}},
      {"SELECT a FROM t WHERE b IN (1, -2, 'c') LIMIT 10", "SELECT a FROM t WHERE b IN ($1, $2, $3) LIMIT 10\n--iis", {"1", "-2", "'c'"}},
      {"UPDATE t SET n = n + -12, m = 'x' WHERE id = 7", "UPDATE t SET n = n + $1, m = $2 WHERE id = $3\n--isi", {"-12", "'x'", "7"}},
      {"INSERT INTO t (a, b) VALUES (1, 'two') RETURNING a", "INSERT INTO t (a, b) VALUES ($1, $2) RETURNING a\n--is", {"1", "'two'"}},
      {"DELETE FROM t WHERE a=-5", "DELETE FROM t WHERE a=$1\n--i", {"-5"}},
      {"SELECT a - 5 FROM t", "SELECT a - $1 FROM t\n--i", {"5"}},
  };
  for (const Case& one : cases) {
    const auto taken = take_literals(one.text);
    ASSERT_TRUE(taken) << one.text;
    EXPECT_EQ(taken->text, one.shared);
    std::vector<std::string> literals;
    for (const Literal& literal : taken->literals) literals.push_back(shown(literal));
    EXPECT_EQ(literals, one.literals) << one.text;
  }
}

TEST(TakeLiterals, LeavesLiteralsThatChangeTheMeaning) {
  for (const char* text : {
           "SELECT 1", "SELECT * FROM t ORDER BY 1 LIMIT 5", "SELECT 'x' FROM t", "SELECT * FROM t WHERE a LIKE 'x%'",
           "SELECT * FROM t WHERE a = 5::smallint", "SELECT * FROM t WHERE a = 5 * b", "SELECT * FROM t WHERE a = 1.5",
           "SELECT * FROM t WHERE d > date '2020-01-01'", "SELECT * FROM t WHERE d > interval '1' day",
           "SELECT * FROM t WHERE a = E'x'", "SELECT * FROM t WHERE a = $$x$$", "SELECT * FROM t WHERE a = 5 -- why",
           "SELECT * FROM t WHERE a = /* why */ 5", "SELECT * FROM t WHERE a = 5; SELECT 1", "SELECT * FROM t WHERE a = 'back\\slash'",
           "SELECT * FROM t WHERE a = 'x' 'y'", "INSERT INTO t VALUES (1), (2)", "SET x = 5", "CREATE TABLE t (a int DEFAULT 5)",
           "SELECT * FROM t WHERE a = '", "SELECT substring(a, 1, 2) FROM t", "SELECT a::numeric(10, 2) FROM t",
           "SELECT * FROM t WHERE a = 99999999999999999999", "SELECT * FROM t WHERE b)", "", ";", "SELECT array[1, 2]",
           "SELECT * FROM t WHERE a = $1", "SELECT a + 1 FROM t GROUP BY GROUPING SETS ((a), (a + 1))", "SELECT a + 1 FROM t GROUP BY ROLLUP (a, a + 1)",
       }) {
    EXPECT_FALSE(take_literals(text)) << text;
  }
  EXPECT_FALSE(take_literals("SELECT * FROM t WHERE a = 5" + std::string(10000, ' ')));
}

TEST(TakeLiterals, TypesArePartOfTheText) {
  EXPECT_EQ(take_literals("SELECT * FROM t WHERE a = 1")->text, take_literals("SELECT * FROM t WHERE a = 2")->text);
  EXPECT_NE(take_literals("SELECT * FROM t WHERE a = 1")->text, take_literals("SELECT * FROM t WHERE a = '1'")->text);
  EXPECT_NE(take_literals("SELECT * FROM t WHERE a = 1")->text, take_literals("SELECT * FROM t WHERE a = 3000000000")->text);
}

}  // namespace
}  // namespace redquel::parser
