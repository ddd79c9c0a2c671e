#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "parser/text_shape.h"
#include "sql/error.h"
#include "sql/interrupts.h"

namespace redquel::parser {
namespace {

std::string repeat(std::string_view text, std::size_t count) {
  std::string result;
  result.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string sqlstate_of(const std::string& text) {
  try {
    parse(text);
    return "accepted";
  } catch (const sql::SqlError& error) {
    return error.sqlstate();
  }
}

struct Nesting {
  std::string name;
  std::string before;
  std::string open;
  std::string middle;
  std::string close;
};

class Deep : public testing::TestWithParam<Nesting> {
 protected:
  std::string nested(std::size_t levels) const {
    return GetParam().before + repeat(GetParam().open, levels) + GetParam().middle + repeat(GetParam().close, levels);
  }
};

TEST_P(Deep, IsAcceptedWithinReason) { EXPECT_EQ(sqlstate_of(nested(300)), "accepted"); }

TEST_P(Deep, EndsWithStackDepthExceeded) {
  for (const std::size_t levels : {5000U, 50000U, 100000U}) EXPECT_EQ(sqlstate_of(nested(levels)), "54001") << levels;
}

INSTANTIATE_TEST_SUITE_P(
    All, Deep,
    testing::Values(Nesting{"parentheses", "SELECT ", "(", "1", ")"}, Nesting{"sum", "SELECT 1", "", "", "+1"},
                    Nesting{"signs", "SELECT ", "- ", "a", ""}, Nesting{"adjacent_signs", "SELECT 1", "+-", "a", ""},
                    Nesting{"negation", "SELECT ", "NOT ", "true", ""},
                    Nesting{"subqueries", "SELECT ", "(SELECT ", "1", ")"},
                    Nesting{"derived_tables", "SELECT * FROM ", "(SELECT * FROM ", "t", ") AS x"},
                    Nesting{"union_chain", "SELECT 1", "", "", " UNION ALL SELECT 1"},
                    Nesting{"join_chain", "SELECT * FROM a", "", "", " JOIN b ON x OR y"},
                    Nesting{"cases", "SELECT ", "CASE WHEN a THEN ", "1", " END"},
                    Nesting{"casts", "SELECT 1", "", "", "::int"}, Nesting{"calls", "SELECT ", "f(1,", "1", ")"},
                    Nesting{"arrays", "SELECT ", "ARRAY[", "1", "]"}, Nesting{"subscripts", "SELECT ", "a[", "1", "]"},
                    Nesting{"null_tests", "SELECT 1", "", "", " IS NULL"},
                    Nesting{"betweens", "SELECT 1", "", "", " BETWEEN 1 AND 2 IS NULL"},
                    Nesting{"collations", "SELECT a", "", "", " COLLATE \"C\""},
                    Nesting{"zones", "SELECT a", "", "", " AT TIME ZONE 'UTC'"},
                    Nesting{"right_nested_or", "SELECT ", "a AND b OR (", "true", ")"},
                    Nesting{"in_lists", "SELECT ", "a IN (", "1", ")"},
                    Nesting{"grouping_sets", "SELECT 1 GROUP BY ", "GROUPING SETS (", "a", ")"},
                    Nesting{"with", "", "WITH a AS (", "SELECT 1", ") SELECT 1"},
                    Nesting{"after_escaped_quote", "SELECT E'\\'', ", "(", "1", ")"},
                    Nesting{"after_continued_string", "SELECT E'a'\n '\\'', ", "(", "1", ")"},
                    Nesting{"after_nested_comment", "SELECT /* /* */ ' */ ", "(", "1", ")"},
                    Nesting{"after_dollar_quote", "SELECT $a$ ' $a$, ", "(", "1", ")"},
                    Nesting{"after_other_strings", "SELECT '\\', \"'\", U&'\\0061', ", "(", "1", ")"}),
    [](const testing::TestParamInfo<Nesting>& info) { return info.param.name; });

TEST(Limits, DeepTreesComeBackWhole) {
  const std::string sum = "SELECT 1" + repeat(" + 1", 2900);
  const std::vector<ParsedStatement> statements = parse(sum);
  const auto& select = std::get<ast::Select>(statements.at(0).statement->node);
  EXPECT_GT(to_sql(*select.targets.at(0).value).size(), sum.size());
}

TEST(Limits, LongListsAreFlat) {
  EXPECT_EQ(sqlstate_of("SELECT 1 WHERE a = 1" + repeat(" OR a = 1", 5000)), "accepted");
  EXPECT_EQ(sqlstate_of("SELECT 1 WHERE a = 1" + repeat(" AND b <> 'x'", 5000)), "accepted");
  EXPECT_EQ(sqlstate_of("SELECT 1 WHERE (a = 1 AND b = 2)" + repeat(" OR (a = 1 AND b = 2)", 5000)), "accepted");
  EXPECT_EQ(sqlstate_of("SELECT 1 WHERE a IN (1" + repeat(", 1", 10000) + ")"), "accepted");
  EXPECT_EQ(sqlstate_of("INSERT INTO t VALUES (-1, 'a' || 'b')" + repeat(", (-1, 'a' || 'b')", 10000)), "accepted");
  EXPECT_EQ(sqlstate_of("SELECT 1 WHERE a BETWEEN 1 AND 2" + repeat(" OR a BETWEEN 3 AND 4", 5000)), "accepted");
  EXPECT_EQ(parse(repeat("SELECT 1 + 1;", 10000)).size(), 10000U);
  EXPECT_EQ(parse(repeat("SELECT 1 AS case;", 10000)).size(), 10000U);
}

TEST(Limits, LengthIsBounded) {
  EXPECT_EQ(sqlstate_of("SELECT '" + std::string(std::size_t{64} << 20, 'x') + "'"), "54000");
  EXPECT_THROW(parse("SELECT 123", ParseLimits{.text_bytes = 9}), sql::SqlError);
  EXPECT_EQ(parse("SELECT 123", ParseLimits{.text_bytes = 10}).size(), 1U);
}

TEST(Limits, TokensAreBounded) {
  for (const char* unit : {",1", ".a", "[]", "or a ", ";select", " 1"}) {
    EXPECT_EQ(sqlstate_of("SELECT a" + repeat(unit, 2'100'000)), "54000") << unit;
  }
  EXPECT_EQ(measure_shape("SELECT a.b, 12.5, 'x y', $1 + \"q q\" -- c").tokens, 13U);
}

/// libpg_query repeats the source for each column: without a bound 40 kB become gigabytes.
TEST(Limits, RowAssignmentsAreBounded) {
  const std::string update = "UPDATE t SET (a" + repeat(",a", 10000) + ") = ROW(1" + repeat(",1", 10000) + ")";
  EXPECT_EQ(sqlstate_of(update), "54000");
  EXPECT_EQ(sqlstate_of("UPDATE t SET (a" + repeat(",a", 50) + ") = ROW(1" + repeat(",1", 50) + ")"), "accepted");
  EXPECT_EQ(measure_shape("UPDATE t SET (a, b, c) = (SELECT 1, 2, 3)").widest_row_set, 3U);
  EXPECT_EQ(measure_shape("SELECT (a, b, c) = (1, 2, 3)").widest_row_set, 0U);
}

TEST(Limits, ACancelledStatementIsNotParsedToItsEnd) {
  const std::string text = "SELECT 1 IN (1" + repeat(",1", 100'000) + ")";
  sql::Interrupts interrupts;
  {
    const sql::InterruptScope scope(interrupts);
    EXPECT_EQ(sqlstate_of(text), "accepted");
    interrupts.request_cancel();
    EXPECT_EQ(sqlstate_of(text), "57014");
  }
  EXPECT_EQ(sqlstate_of(text), "accepted");
}

TEST(Limits, ThreadsParseAtOnce) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([thread, &wrong] {
      for (int i = 0; i < 200; ++i) {
        const std::string number = std::to_string(thread * 1000 + i);
        const auto statements = parse("SELECT " + number + (i % 20 == 0 ? repeat("::int", 400) : "") + " FROM t");
        if (to_sql(std::get<ast::Select>(statements.at(0).statement->node)).find(number) == std::string::npos) ++wrong;
        if (sqlstate_of("SELECT " + number + " FROM") != "42601") ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace redquel::parser
