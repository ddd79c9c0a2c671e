#include "planner/rules/rule.h"

#include "tests/unit/planner/bind_fixture.h"

namespace redquel::planner {
namespace {

TEST(Rules, FoldConstants) {
  EXPECT_EQ(rewritten("fold constants", "select a + (1 + 2) from t where b = lower('X') and 1 < 2"), R"(
Project [a#0 + (1 + 2) AS ?column?#4]
  Filter (b#1 = lower('X'::text)) AND (1 < 2)
    Scan t [a#0, b#1, c#2, d#3]
=>
Project [a#0 + 3 AS ?column?#4]
  Filter b#1 = 'x'::text
    Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("fold constants", "select a from t where a = 1 and false"), R"(
Project [a#0]
  Filter (a#0 = 1) AND false
    Scan t [a#0, b#1, c#2, d#3]
=>
Values  [a#0]
)");
  EXPECT_EQ(rewritten("fold constants", "select a from t union all select x from k where null"), R"(
Union all [a#7]
  Project [a#0]
    Scan t [a#0, b#1, c#2, d#3]
  Project [x#4]
    Filter NULL::boolean
      Scan k [x#4, y#5, z#6]
=>
Project [a#0 AS a#7]
  Project [a#0]
    Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("fold constants", "select t.a, u.id from t left join u on false where t.d < timestamp '2024-01-01 10:00'"), R"(
Project [a#0, id#4]
  Filter d#3 < '2024-01-01 10:00:00'::timestamp without time zone
    Left join false
      Scan t [a#0, b#1, c#2, d#3]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
=>
Project [a#0, id#4]
  Filter d#3 <= '2024-01-01'::date
    Left join false
      Scan t [a#0, b#1, c#2, d#3]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(rewritten("fold constants", "select a from t where a = 1"), R"(
Project [a#0]
  Filter a#0 = 1
    Scan t [a#0, b#1, c#2, d#3]
=> unchanged
)");
}

TEST(Rules, FlattenLaterals) {
  EXPECT_EQ(rewritten("flatten laterals", "select t.a, l.n from t, lateral (values (t.a * 2)) l(n)"), R"(
Project [a#0, column1#4 AS n#4]
  Apply lateral ($1 = #0)
    Scan t [a#0, b#1, c#2, d#3]
    Values ($1 * 2) [column1#4]
=>
Project [a#0, column1#4 AS n#4]
  Project [a#0, b#1, c#2, d#3, a#0 * 2 AS column1#4]
    Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("flatten laterals", "select t.a, l.z from t, lateral (select z from k where k.x = t.a) l"), R"(
Project [a#0, z#6]
  Apply lateral ($1 = #0)
    Scan t [a#0, b#1, c#2, d#3]
    Project [z#6]
      Filter x#4 = $1
        Scan k [x#4, y#5, z#6]
=> unchanged
)");
}

TEST(Rules, PushDownFilters) {
  EXPECT_EQ(rewritten("push down filters", "select * from t, k where t.a = k.x and t.b = 'q' and k.y > 3"), R"(
Project [a#0, b#1, c#2, d#3, x#4, y#5, z#6]
  Filter (a#0 = x#4) AND (b#1 = 'q'::text) AND (y#5 > 3)
    Inner join
      Scan t [a#0, b#1, c#2, d#3]
      Scan k [x#4, y#5, z#6]
=>
Project [a#0, b#1, c#2, d#3, x#4, y#5, z#6]
  Inner join a#0 = x#4
    Filter b#1 = 'q'::text
      Scan t [a#0, b#1, c#2, d#3]
    Filter y#5 > 3
      Scan k [x#4, y#5, z#6]
)");
  EXPECT_EQ(rewritten("push down filters", "select * from t left join u on u.a = t.a where u.flag and t.a < 5"), R"(
Project [a#0, b#1, c#2, d#3, id#4, a#5, name#6, flag#7]
  Filter flag#7 AND (a#0 < 5)
    Left join a#5 = a#0
      Scan t [a#0, b#1, c#2, d#3]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
=>
Project [a#0, b#1, c#2, d#3, id#4, a#5, name#6, flag#7]
  Inner join a#5 = a#0
    Filter a#0 < 5
      Scan t [a#0, b#1, c#2, d#3]
    Filter flag#7
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(rewritten("push down filters", "select * from (select a, count(*) n from t group by a) g where a = 1 and n > 2"), R"(
Project [a#0, n#4]
  Filter (a#0 = 1) AND (n#4 > 2)
    Project [a#0, count#4 AS n#4]
      Aggregate by [a#0] [count(*) AS count#4]
        Scan t [a#0, b#1, c#2, d#3]
=>
Project [a#0, n#4]
  Project [a#0, count#4 AS n#4]
    Filter count#4 > 2
      Aggregate by [a#0] [count(*) AS count#4]
        Filter a#0 = 1
          Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("push down filters", "select * from (select a from t union select x from k) s where a = 7"), R"(
Project [a#7]
  Filter a#7 = 7
    Union [a#7]
      Project [a#0]
        Scan t [a#0, b#1, c#2, d#3]
      Project [x#4]
        Scan k [x#4, y#5, z#6]
=>
Project [a#7]
  Union [a#7]
    Project [a#0]
      Filter a#0 = 7
        Scan t [a#0, b#1, c#2, d#3]
    Project [x#4]
      Filter x#4 = 7
        Scan k [x#4, y#5, z#6]
)");
  EXPECT_EQ(rewritten("push down filters", "select * from (select a from t order by b limit 3) s where a = 7"), R"(
Project [a#0]
  Filter a#0 = 7
    Project [a#0]
      Limit '3'::bigint offset -
        Sort b#1
          Scan t [a#0, b#1, c#2, d#3]
=>
Project [a#0]
  Project [a#0]
    Filter a#0 = 7
      Limit '3'::bigint offset -
        Sort b#1
          Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("push down filters", "select * from (select a, random() r from t) s where a = 7 and r < 0.5"), R"(
Project [a#0, r#4]
  Filter (a#0 = 7) AND (r#4 < '0.5'::double precision)
    Project [a#0, random() AS r#4]
      Scan t [a#0, b#1, c#2, d#3]
=>
Project [a#0, r#4]
  Filter r#4 < '0.5'::double precision
    Project [a#0, random() AS r#4]
      Filter a#0 = 7
        Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("push down filters", "select * from t, k where t.a = k.x and k.x = 5"), R"(
Project [a#0, b#1, c#2, d#3, x#4, y#5, z#6]
  Filter (a#0 = x#4) AND (x#4 = 5)
    Inner join
      Scan t [a#0, b#1, c#2, d#3]
      Scan k [x#4, y#5, z#6]
=>
Project [a#0, b#1, c#2, d#3, x#4, y#5, z#6]
  Inner join a#0 = x#4
    Filter a#0 = 5
      Scan t [a#0, b#1, c#2, d#3]
    Filter x#4 = 5
      Scan k [x#4, y#5, z#6]
)");
}

TEST(Rules, JoinArrayElements) {
  EXPECT_EQ(rewritten("join array elements", "select b from t where a = any(string_to_array(current_setting('ids'), ',')::int[])"), R"(
Project [b#1]
  Filter a#0 = ANY ((string_to_array(current_setting('ids'::text), ','::text))::integer[])
    Scan t [a#0, b#1, c#2, d#3]
=>
Project [b#1]
  Project [a#0, b#1, c#2, d#3]
    Inner join a#0 = element#4
      Scan t [a#0, b#1, c#2, d#3]
      Distinct
        Function unnest((string_to_array(current_setting('ids'::text), ','::text))::integer[]) [element#4]
)");
  EXPECT_EQ(rewritten("join array elements", "select b from t where c = any(array(select 1.5))"), R"(
Project [b#1]
  Filter c#2 = ANY (COALESCE(array#6, '{}'::numeric[]))
    Apply scalar AS array#6
      Scan t [a#0, b#1, c#2, d#3]
      Aggregate all by [] [array_agg(?column?#4) AS array#5]
        Project [1.5 AS ?column?#4]
          Values () []
=> unchanged
)");
}

TEST(Rules, OrderJoins) {
  EXPECT_EQ(rewritten("order joins", "select 1 from t, u, k where t.a = k.x and k.y = u.a"), R"(
Project [1 AS ?column?#12]
  Inner join (a#0 = x#9) AND (y#10 = a#5)
    Inner join
      Scan t [a#0, b#1, c#2, d#3]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
    Scan k [x#9, y#10, z#11]
=>
Project [1 AS ?column?#12]
  Inner join y#10 = a#5
    Inner join a#0 = x#9
      Scan t [a#0, b#1, c#2, d#3]
      Scan k [x#9, y#10, z#11]
    Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(rewritten("order joins", "select 1 from t, u, k where t.a = k.x and k.y = u.a and u.id = 7", {{"t", 1e6}, {"u", 1e5}, {"k", 1e4}}), R"(
Project [1 AS ?column?#12]
  Inner join (a#0 = x#9) AND (y#10 = a#5)
    Inner join
      Scan t [a#0, b#1, c#2, d#3]
      Filter id#4 = 7
        Scan u [id#4, a#5, name#6, flag#7, rowid#8]
    Scan k [x#9, y#10, z#11]
=>
Project [1 AS ?column?#12]
  Inner join y#10 = a#5
    Inner join a#0 = x#9
      Scan t [a#0, b#1, c#2, d#3]
      Scan k [x#9, y#10, z#11]
    Filter id#4 = 7
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(rewritten("order joins", "select 1 from t left join u on t.a = u.a"), R"(
Project [1 AS ?column?#9]
  Left join a#0 = a#5
    Scan t [a#0, b#1, c#2, d#3]
    Scan u [id#4, a#5, name#6, flag#7, rowid#8]
=> unchanged
)");
}

TEST(Rules, MergeSelfJoins) {
  EXPECT_EQ(rewritten("merge self-joins", "select p.b, q.c from t p join t q on p.a = q.a where q.b > 'm'"), R"(
Project [b#1, c#6]
  Inner join a#0 = a#4
    Scan t p [a#0, b#1, c#2, d#3]
    Filter b#5 > 'm'::text
      Scan t q [a#4, b#5, c#6, d#7]
=>
Project [b#1, c#6]
  Project [a#0, b#1, c#2, d#3, a#0 AS a#4, b#1 AS b#5, c#2 AS c#6, d#3 AS d#7]
    Filter b#1 > 'm'::text
      Scan t p [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("merge self-joins", "select a, b from t where b > 'm' intersect select a, b from t where c = 1"), R"(
Intersect [a#8, b#9]
  Project [a#0, b#1]
    Filter b#1 > 'm'::text
      Scan t [a#0, b#1, c#2, d#3]
  Project [a#4, b#5]
    Filter c#6 = '1'::numeric
      Scan t [a#4, b#5, c#6, d#7]
=>
Project [a#0 AS a#8, b#1 AS b#9]
  Filter (b#1 > 'm'::text) AND (c#2 = '1'::numeric)
    Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("merge self-joins", "select p.b from t p join t q on p.a = q.c"), R"(
Project [b#1]
  Inner join (a#0)::numeric = c#6
    Scan t p [a#0, b#1, c#2, d#3]
    Scan t q [a#4, b#5, c#6, d#7]
=> unchanged
)");
}

TEST(Rules, PruneColumns) {
  EXPECT_EQ(rewritten("prune columns", "select b from t where a > 3 order by d"), R"(
Project [b#1]
  Sort d#3
    Filter a#0 > 3
      Scan t [a#0, b#1, c#2, d#3]
=>
Project [b#1]
  Sort d#3
    Filter a#0 > 3
      Scan t [a#0, b#1, d#3]
)");
  EXPECT_EQ(rewritten("prune columns", "select t.b from t join k on k.x = t.a"), R"(
Project [b#1]
  Inner join x#4 = a#0
    Scan t [a#0, b#1, c#2, d#3]
    Scan k [x#4, y#5, z#6]
=>
Project [b#1]
  Inner join x#4 = a#0
    Scan t [a#0, b#1]
    Scan k [x#4]
)");
  EXPECT_EQ(rewritten("prune columns", "select n from (select a, count(*) n, max(d) from t group by a) g"), R"(
Project [n#4]
  Project [a#0, count#4 AS n#4, max#5]
    Aggregate by [a#0] [count(*) AS count#4, max(d#3) AS max#5]
      Scan t [a#0, b#1, c#2, d#3]
=>
Project [n#4]
  Project [count#4 AS n#4]
    Aggregate by [a#0] [count(*) AS count#4]
      Scan t [a#0]
)");
  EXPECT_EQ(rewritten("prune columns", "with w as materialized (select * from t) select x.a, y.b from w x, w y"), R"(
Share 0 w
  Project [a#5, b#10]
    Inner join
      Shared 0 w [a#5, b#6, c#7, d#8]
      Shared 0 w [a#9, b#10, c#11, d#12]
  Project [a#1, b#2, c#3, d#4]
    Scan t [a#1, b#2, c#3, d#4]
=>
Share 0 w
  Project [a#5, b#10]
    Inner join
      Shared 0 w [a#5]
      Shared 0 w [b#10]
  Project [a#1, b#2]
    Scan t [a#1, b#2]
)");
  EXPECT_EQ(rewritten("prune columns", "select distinct a, b from t"), R"(
Distinct
  Project [a#0, b#1]
    Scan t [a#0, b#1, c#2, d#3]
=>
Distinct
  Project [a#0, b#1]
    Scan t [a#0, b#1]
)");
  EXPECT_EQ(rewritten("prune columns", "update t set b = 'x' where a = 1"), R"(
Update t [b = 'x'::text]
  Filter a#0 = 1
    Scan t [a#0, b#1, c#2, d#3]
=> unchanged
)");
}

TEST(Rules, OrderConditions) {
  EXPECT_EQ(rewritten("order conditions", "select a from t where lower(b) > 'x' and a > 1 and b > 'y' and b is not null"), R"(
Project [a#0]
  Filter (lower(b#1) > 'x'::text) AND (a#0 > 1) AND (b#1 > 'y'::text) AND (b#1 IS NOT NULL)
    Scan t [a#0, b#1, c#2, d#3]
=>
Project [a#0]
  Filter (b#1 IS NOT NULL) AND (a#0 > 1) AND (b#1 > 'y'::text) AND (lower(b#1) > 'x'::text)
    Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(rewritten("order conditions", "select a from t where a > 1 and b > 'x'"), R"(
Project [a#0]
  Filter (a#0 > 1) AND (b#1 > 'x'::text)
    Scan t [a#0, b#1, c#2, d#3]
=> unchanged
)");
}

TEST(Rules, RunInTheOrderOfTheirList) {
  std::string names;
  for (const Rule& rule : rewrite_rules()) names += std::string(names.empty() ? "" : ", ") + rule.name;
  EXPECT_EQ(names, "keep sources, fold constants, flatten laterals, pull up projections, push down filters, fold pushed filters, join array elements, order joins, merge self-joins, order conditions, prune columns");
}

}  // namespace
}  // namespace redquel::planner
