#include "parser/deparse.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "parser/parse.h"
#include "tests/unit/parser/raw_tree.h"

namespace redquel::parser {
namespace {

const std::vector<std::string> kExpressions = {
    "1",
    "-1",
    "- 1",
    "+1",
    "-2147483648",
    "2147483648",
    "-1.5e10",
    "1.",
    ".5",
    "NULL",
    "TRUE",
    "false",
    "'text'",
    "'it''s'",
    "E'a\\\\b\\n'",
    "''",
    "B'101'",
    "X'1F'",
    "$1",
    "a",
    "t.a",
    "s.t.a",
    "\"A\"",
    "\"a\"\"b\"",
    "\"select\"",
    "a + b",
    "a + b * c",
    "(a + b) * c",
    "a - b - c",
    "a - (b - c)",
    "-a",
    "- (-a)",
    "a || b || 'x'",
    "a OPERATOR(pg_catalog.+) b",
    "OPERATOR(pg_catalog.-) a",
    "a -> 'b' ->> 'c'",
    "@ a",
    "|/ 4",
    "a <@ b",
    "a = b",
    "a <> b",
    "a != b",
    "a < b AND c >= d OR NOT e",
    "NOT a AND b",
    "NOT (a AND b)",
    "a AND (b AND c)",
    "(a AND b) AND c",
    "a OR (b OR c)",
    "NOT NOT a",
    "a IS NULL",
    "a IS NOT NULL",
    "a + 1 IS NULL",
    "a ISNULL",
    "a IS TRUE",
    "a IS NOT FALSE",
    "a IS UNKNOWN",
    "(a IS NULL) IS TRUE",
    "a IS DISTINCT FROM b",
    "a IS NOT DISTINCT FROM NULL",
    "a IN (1, 2, 3)",
    "a NOT IN (b, 'c')",
    "(a, b) IN ((1, 2), (3, 4))",
    "a IN ((SELECT 1), 2)",
    "a IN (SELECT b FROM c)",
    "a NOT IN (SELECT b FROM c)",
    "(a, b) = ANY (SELECT 1, 2)",
    "a < ALL (SELECT b)",
    "a = ANY ('{1,2}')",
    "a = ANY (ARRAY[1, 2])",
    "a <> ALL (b)",
    "a LIKE ANY (b)",
    "a NOT ILIKE ALL (SELECT b)",
    "a LIKE 'x%'",
    "a NOT LIKE b ESCAPE '!'",
    "a ILIKE 'x' || b",
    "a NOT ILIKE 'x'",
    "a SIMILAR TO 'x'",
    "a NOT SIMILAR TO 'x' ESCAPE 'y'",
    "a ~ 'x'",
    "a !~* 'x'",
    "a ~~ 'b'",
    "a BETWEEN 1 AND 2",
    "a NOT BETWEEN b + 1 AND c",
    "a BETWEEN SYMMETRIC 1 AND 2",
    "a NOT BETWEEN SYMMETRIC b AND c",
    "a BETWEEN (b AND c) AND d",
    "CASE WHEN a THEN b END",
    "CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END",
    "CASE a + 1 WHEN b THEN CASE WHEN c THEN d END END",
    "COALESCE(a, b, 0)",
    "NULLIF(a, '')",
    "GREATEST(a, b)",
    "LEAST(1, 2, 3)",
    "a::int",
    "a::numeric(10, 2)",
    "CAST(a AS varchar(3))",
    "'1'::int::text",
    "-1::int",
    "(-1)::int",
    "int '1'",
    "date '2020-01-01'",
    "interval '1' day",
    "interval(3) '1.5'",
    "interval '1' hour to second(2)",
    "a::timestamp with time zone",
    "a::timestamp(3)",
    "a::time(2) with time zone",
    "a::char",
    "a::char(3)",
    "a::\"char\"",
    "a::bit",
    "a::bit(3)",
    "a::bit varying(4)",
    "a::double precision",
    "a::float(3)",
    "a::dec(3)",
    "a::int[]",
    "a::int[3][]",
    "a::int array[4]",
    "a::s.my_type",
    "a::my_type(1, 'b')",
    "a::interval year to month",
    "a::interval(3)",
    "a::boolean",
    "a::pg_catalog.int4",
    "a::timestamptz",
    "a::\"Odd Type\"[]",
    "a COLLATE \"C\"",
    "a || b COLLATE pg_catalog.\"default\"",
    "(a COLLATE \"C\") < b",
    "f()",
    "f(a)",
    "f(a, b, c)",
    "s.f(a)",
    "f(VARIADIC a)",
    "f(a, VARIADIC b)",
    "f(a => 1, b := 2)",
    "f(1, b => 2)",
    "count(*)",
    "count(DISTINCT a)",
    "sum(a) FILTER (WHERE b > 0)",
    "string_agg(a, ',' ORDER BY b DESC NULLS LAST, c)",
    "array_agg(DISTINCT a ORDER BY a)",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)",
    "mode() WITHIN GROUP (ORDER BY a DESC) FILTER (WHERE b)",
    "f(ALL a)",
    "rank() OVER w",
    "rank() OVER ()",
    "rank() OVER (w)",
    "rank() OVER (PARTITION BY a, b ORDER BY c DESC)",
    "sum(a) OVER (w ROWS UNBOUNDED PRECEDING)",
    "sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "sum(a) OVER (ORDER BY b RANGE BETWEEN '1 day' PRECEDING AND '1 day' FOLLOWING)",
    "sum(a) OVER (ORDER BY b GROUPS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING EXCLUDE TIES)",
    "sum(a) OVER (ROWS 2 + 1 PRECEDING EXCLUDE CURRENT ROW)",
    "sum(a) OVER (ROWS CURRENT ROW EXCLUDE GROUP)",
    "sum(a) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE NO OTHERS)",
    "sum(a) OVER (ORDER BY b USING < ROWS BETWEEN $1 FOLLOWING AND 5 FOLLOWING)",
    "EXTRACT(year FROM a)",
    "EXTRACT('epoch' FROM a)",
    "POSITION('a' IN b)",
    "SUBSTRING(a FROM 2)",
    "SUBSTRING(a FROM 2 FOR 3)",
    "SUBSTRING(a FOR 3)",
    "SUBSTRING(a SIMILAR 'x' ESCAPE '#')",
    "substring(a, 1, 2)",
    "OVERLAY(a PLACING b FROM 2)",
    "OVERLAY(a PLACING b FROM 2 FOR 1)",
    "TRIM(a)",
    "TRIM(BOTH 'x' FROM a)",
    "TRIM(LEADING FROM a)",
    "TRIM(TRAILING 'x' FROM a)",
    "a AT TIME ZONE 'UTC'",
    "a AT TIME ZONE b AT TIME ZONE c",
    "(a, b) OVERLAPS (c, d)",
    "a IS NORMALIZED",
    "a IS NOT NFC NORMALIZED",
    "NORMALIZE(a, NFD)",
    "COLLATION FOR (a)",
    "TREAT(a AS int)",
    "CURRENT_DATE",
    "CURRENT_TIME",
    "CURRENT_TIME(2)",
    "CURRENT_TIMESTAMP",
    "CURRENT_TIMESTAMP(0)",
    "LOCALTIME",
    "LOCALTIME(1)",
    "LOCALTIMESTAMP",
    "LOCALTIMESTAMP(3)",
    "CURRENT_USER",
    "CURRENT_ROLE",
    "SESSION_USER",
    "USER",
    "CURRENT_CATALOG",
    "CURRENT_SCHEMA",
    "ROW(1, 2)",
    "ROW()",
    "ROW(a)",
    "(1, 2)",
    "ROW(1, 2) = (a, b)",
    "(a, b) < (1, 2)",
    "ROW(t.*)",
    "ARRAY[1, 2]",
    "ARRAY[]::int[]",
    "ARRAY[[1, 2], [3, 4]]",
    "ARRAY[ARRAY[1], b]",
    "ARRAY(SELECT a FROM b)",
    "a[1]",
    "a[1][2]",
    "a[1:2]",
    "a[:2]",
    "a[1:]",
    "a[:]",
    "a[b + 1:c][d]",
    "(a).b",
    "(a).b.c",
    "(a).*",
    "(f(a)).b",
    "(f(a))[1].c",
    "(SELECT a)[1]",
    "(SELECT a).b",
    "$1.b",
    "$1[2]",
    "(a + b)[1]",
    "(ARRAY[1, 2])[1]",
    "(CASE WHEN a THEN b END)[1]",
    "t.a[1].b",
    "(SELECT 1)",
    "((SELECT 1))",
    "EXISTS (SELECT 1)",
    "NOT EXISTS (SELECT FROM t)",
    "(SELECT max(a) FROM t WHERE t.b = u.b) + 1",
    "grouping(a, b)",
    "grouping(a + 1)",
    "a = b IS TRUE",
    "(a = b) = c",
    "- a ^ 2",
    "(- a) ^ 2",
    "a ^ b ^ c",
    "a ^ (b ^ c)",
    "a % b / c",
    "a <-> b < 3",
    "\"left\"(a, 1)",
    "left(a, 1)",
    "\"F\"(a)",
    "pg_catalog.btrim(a)",
    "'a' || -1",
    "a - -1",
    "a -(-1.5)",
    "1 - - - 2",
    "a IS NULL = b",
    "(a IS NULL) + 1",
    "U&'\\00e9'",
    "'é' || 'ü'",
    "\"é\"",
    "t.\"end\"",
    "a.b.c.d",
    "'\\'",
    "a::text = 'b'::varchar",
    "a::int[] || b",
    "(a::int[])[1]",
    "('x'::t).b",
};

class RoundTrip : public testing::TestWithParam<std::string> {};

/// PostgreSQL's grammar reads a statement and its deparsed text as one tree.
TEST_P(RoundTrip, KeepsTheTree) {
  const std::string text = GetParam();
  const std::string expected = raw_tree("SELECT " + text);
  ASSERT_NE(expected, "") << text;
  const std::string sql = to_sql(*parse_expression(text));
  EXPECT_EQ(raw_tree("SELECT " + sql), expected) << text << "  became  " << sql;
  EXPECT_EQ(to_sql(*parse_expression(sql)), sql);
}

INSTANTIATE_TEST_SUITE_P(Expressions, RoundTrip, testing::ValuesIn(kExpressions));

/// Any expression as an operand of any construct.
TEST(Deparse, KeepsTheTreeOfNestedExpressions) {
  const std::vector<std::string> frames = {"(@) + 1",
                                           "1 - (@)",
                                           "- (@)",
                                           "NOT (@)",
                                           "(@) AND x",
                                           "x OR (@)",
                                           "(@) IS NULL",
                                           "(@) IN (1, 2)",
                                           "x IN (1, (@))",
                                           "(@) LIKE 'a'",
                                           "x LIKE (@) ESCAPE 'b'",
                                           "(@) BETWEEN 1 AND 2",
                                           "x BETWEEN (@) AND (@)",
                                           "(@)::text",
                                           "(@) COLLATE \"C\"",
                                           "f((@), y => (@))",
                                           "CASE (@) WHEN (@) THEN (@) ELSE (@) END",
                                           "ARRAY[(@)]",
                                           "ROW((@), 1)",
                                           "((@), 1)",
                                           "((@))[(@)]",
                                           "((@)).b",
                                           "(@) = ANY ((@)::int[])",
                                           "(@) IS DISTINCT FROM (@)",
                                           "COALESCE((@), 1)",
                                           "(SELECT (@) FROM t WHERE (@))",
                                           "(@) < ALL (SELECT (@))",
                                           "sum((@)) FILTER (WHERE (@)) OVER (PARTITION BY (@) ORDER BY (@))",
                                           "(@) IS NOT TRUE",
                                           "a[(@):(@)]",
                                           "(@) AT TIME ZONE (@)"};
  std::mt19937 random(20240517);
  const auto pick = [&random](const auto& items) -> const std::string& { return items[random() % items.size()]; };
  for (int i = 0; i < 1500; ++i) {
    std::string text = pick(kExpressions);
    for (std::uint32_t depth = 1 + random() % 3; depth > 0; --depth) {
      std::string frame = pick(frames);
      for (std::size_t at = 0; (at = frame.find('@', at)) != std::string::npos;) {
        const std::string& inner = random() % 3 == 0 ? pick(kExpressions) : text;
        frame.replace(at, 1, inner);
        at += inner.size();
      }
      text = frame;
    }
    const std::string expected = raw_tree("SELECT " + text);
    if (expected.empty()) continue;  // (a).* and the like cannot stand everywhere
    const std::string sql = to_sql(*parse_expression(text));
    ASSERT_EQ(raw_tree("SELECT " + sql), expected) << text << "  became  " << sql;
  }
}

const std::vector<std::string> kQueries = {
    "SELECT",
    "SELECT *",
    "SELECT t.*, a AS b, c d FROM t",
    "SELECT DISTINCT a FROM t",
    "SELECT DISTINCT ON (a, b) a, c FROM t ORDER BY a, b DESC",
    "SELECT ALL a FROM ONLY s.t AS x (p, q)",
    "SELECT 1 FROM a, b, c",
    "SELECT 1 FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (y, z)",
    "SELECT 1 FROM a NATURAL JOIN b",
    "SELECT 1 FROM a NATURAL LEFT JOIN b CROSS JOIN c",
    "SELECT 1 FROM a RIGHT JOIN (b FULL JOIN c USING (q) AS u) ON true",
    "SELECT 1 FROM (a JOIN b ON true) AS j (x, y)",
    "SELECT 1 FROM a JOIN b JOIN c ON 1 = 1 ON 2 = 2",
    "SELECT 1 FROM (SELECT 2) AS s (a)",
    "SELECT 1 FROM t, LATERAL (SELECT t.a) AS s",
    "SELECT 1 FROM f(1) AS g",
    "SELECT 1 FROM f(1) WITH ORDINALITY AS g (a, n)",
    "SELECT 1 FROM f() AS g (a int, b text COLLATE \"C\")",
    "SELECT 1 FROM f() AS (a int)",
    "SELECT 1 FROM ROWS FROM (f(1), g(2) AS (a int)) WITH ORDINALITY AS h",
    "SELECT 1 FROM t, LATERAL f(t.a)",
    "SELECT 1 FROM t TABLESAMPLE bernoulli (10) REPEATABLE (1)",
    "SELECT 1 FROM generate_series(1, 10) g, unnest(ARRAY[1]) u",
    "SELECT a FROM t WHERE b > 1 GROUP BY a HAVING count(*) > 1",
    "SELECT 1 FROM t GROUP BY ()",
    "SELECT 1 FROM t GROUP BY ROLLUP (a, (b, c)), CUBE (d), e",
    "SELECT 1 FROM t GROUP BY DISTINCT GROUPING SETS ((a, b), (), ROLLUP (c), GROUPING SETS (d))",
    "SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b), v AS (w ORDER BY c)",
    "SELECT a FROM t ORDER BY a ASC NULLS FIRST, b DESC, c USING >, d + 1",
    "SELECT a FROM t LIMIT 1",
    "SELECT a FROM t LIMIT ALL OFFSET 2",
    "SELECT a FROM t OFFSET 2 ROWS FETCH NEXT 3 ROWS ONLY",
    "SELECT a FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES",
    "SELECT a FROM t ORDER BY a FETCH FIRST ROW WITH TIES",
    "VALUES (1, 'a'), (2, DEFAULT)",
    "VALUES (1) ORDER BY 1 LIMIT 1",
    "SELECT 1 UNION SELECT 2",
    "SELECT 1 UNION ALL SELECT 2 UNION SELECT 3",
    "SELECT 1 EXCEPT (SELECT 2 INTERSECT ALL SELECT 3) ORDER BY 1 LIMIT 2",
    "(SELECT 1 LIMIT 1) UNION (SELECT 2 ORDER BY 1)",
    "SELECT 1 UNION VALUES (2)",
    "TABLE t",
    "SELECT * FROM t FOR UPDATE",
    "SELECT * FROM t, u FOR SHARE OF t NOWAIT FOR NO KEY UPDATE OF u SKIP LOCKED",
    "SELECT * FROM t FOR KEY SHARE",
    "WITH a AS (SELECT 1), b (x, y) AS MATERIALIZED (SELECT 2, 3) SELECT * FROM a, b",
    "WITH RECURSIVE r (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT * FROM r",
    "WITH a AS NOT MATERIALIZED (SELECT 1) TABLE a",
    "WITH RECURSIVE r AS (SELECT 1 UNION SELECT 2) SEARCH DEPTH FIRST BY a, b SET c CYCLE a SET is_cycle USING path "
    "SELECT * FROM r",
    "WITH RECURSIVE r AS (SELECT 1) SEARCH BREADTH FIRST BY a SET c SELECT 1",
    "WITH RECURSIVE r AS (SELECT 1) CYCLE a, b SET m TO 'Y' DEFAULT 'N' USING p SELECT 1",
    "WITH a AS (INSERT INTO t (x, y[1], z.w) VALUES (1, 2, 3) ON CONFLICT (x, (lower(y)) COLLATE \"C\" text_ops) WHERE "
    "x > 0 DO UPDATE SET x = excluded.x, (y, z) = (1, 2), w = DEFAULT WHERE t.x > 1 RETURNING *) SELECT * FROM a",
    "WITH a AS (INSERT INTO t AS u DEFAULT VALUES ON CONFLICT DO NOTHING RETURNING x AS y) SELECT 1",
    "WITH a AS (INSERT INTO t OVERRIDING SYSTEM VALUE SELECT 1 ON CONFLICT ON CONSTRAINT c DO NOTHING) SELECT 1",
    "WITH a AS (UPDATE ONLY s.t AS u SET x = 1, (y, z) = (SELECT 1, 2), w[1] = 3 FROM v WHERE u.a = v.a RETURNING u.*) "
    "SELECT * FROM a",
    "WITH a AS (DELETE FROM t USING u, v WHERE t.x = u.x RETURNING t.x) SELECT * FROM a",
    "WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b) SELECT * FROM a ORDER BY 1 FOR UPDATE",
    "WITH a AS (SELECT 1) SELECT 1 UNION SELECT 2",
    "SELECT 1 UNION (WITH a AS (SELECT 1) SELECT * FROM a)",
    "SELECT (SELECT count(*) FROM t WHERE EXISTS (SELECT FROM u)) FROM (VALUES (1), (2)) v (x) WHERE x IN (SELECT 1 "
    "UNION SELECT 2)",
};

class QueryRoundTrip : public testing::TestWithParam<std::string> {};

TEST_P(QueryRoundTrip, KeepsTheTree) {
  const std::string expected = raw_tree(GetParam());
  ASSERT_NE(expected, "") << GetParam();
  const std::vector<ParsedStatement> statements = parse(GetParam());
  const std::string sql = to_sql(std::get<ast::Select>(statements.at(0).statement->node));
  EXPECT_EQ(raw_tree(sql), expected) << GetParam() << "  became  " << sql;
}

INSTANTIATE_TEST_SUITE_P(Queries, QueryRoundTrip, testing::ValuesIn(kQueries));

TEST(Deparse, WritesReadableSql) {
  const auto rewrite = [](const std::string& text) { return to_sql(*parse_expression(text)); };
  EXPECT_EQ(rewrite("price>0 and Name<>''"), "(price > 0) AND (name <> '')");
  EXPECT_EQ(rewrite("nextval('s'::regclass)"), "nextval('s'::regclass)");
  EXPECT_EQ(rewrite("cast(a as int)"), "a::integer");
  EXPECT_EQ(rewrite("a::timestamptz(3)"), "a::timestamptz(3)");
  EXPECT_EQ(rewrite("a::timestamp(3) with time zone"), "a::timestamp(3) with time zone");
}

TEST(Deparse, WritesTypes) {
  for (const char* text : {"integer", "numeric(10, 2)", "character varying(20)", "timestamp with time zone",
                           "integer[]", "\"My Type\"", "s.t", "double precision", "interval", "bytea", "SETOF s.t"}) {
    EXPECT_EQ(to_sql(parse_type_name(text)), text);
  }
  EXPECT_EQ(to_sql(parse_type_name("int4")), "int4");
  EXPECT_EQ(to_sql(parse_type_name("char(3)")), "pg_catalog.bpchar(3)");
  EXPECT_EQ(to_sql(parse_type_name("float")), "double precision");
}

TEST(Deparse, QuotesNamesAndLiterals) {
  EXPECT_EQ(quote_identifier("abc_1"), "abc_1");
  EXPECT_EQ(quote_identifier("Abc"), "\"Abc\"");
  EXPECT_EQ(quote_identifier("1a"), "\"1a\"");
  EXPECT_EQ(quote_identifier("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(quote_identifier("select"), "\"select\"");
  EXPECT_EQ(quote_identifier("value"), "value");
  EXPECT_EQ(quote_identifier(""), "\"\"");
  EXPECT_EQ(quote_literal("it's"), "'it''s'");
  EXPECT_EQ(quote_literal("a\\b"), " E'a\\\\b'");
}

}  // namespace
}  // namespace redquel::parser
