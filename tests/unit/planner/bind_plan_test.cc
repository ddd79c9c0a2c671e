#include "tests/unit/planner/bind_fixture.h"

namespace redquel::planner {
namespace {

TEST(BindPlans, Joins) {
  EXPECT_EQ(bound("select t.*, u.name n from t join u using (a) where t.a > 3 and u.flag order by u.name limit 5"), R"(
Project [a#0, b#1, c#2, d#3, name#6 AS n#6]
  Limit (5)::bigint offset -
    Sort name#6
      Filter (a#0 > 3) AND flag#7
        Inner join a#0 = a#5
          Scan t [a#0, b#1, c#2, d#3]
          Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select * from t full join u using (a)"), R"(
Project [COALESCE(a#0, a#5) AS a#9, b#1, c#2, d#3, id#4, name#6, flag#7]
  Full join a#0 = a#5
    Scan t [a#0, b#1, c#2, d#3]
    Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select * from t natural left join u where u.id is null"), R"(
Project [a#0, b#1, c#2, d#3, id#4, name#6, flag#7]
  Filter id#4 IS NULL
    Left join a#0 = a#5
      Scan t [a#0, b#1, c#2, d#3]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
}

TEST(BindPlans, Grouping) {
  EXPECT_EQ(bound("select a+1 as x, count(*) from t where b = 'x' group by 1 having sum(c) > 5 order by 2 desc"), R"(
Project [?column?#6 AS x#6, count#4]
  Sort count#4 DESC
    Filter sum#5 > (5)::numeric
      Aggregate by [a#0 + 1 AS ?column?#6] [count(*) AS count#4, sum(c#2) AS sum#5]
        Filter b#1 = 'x'::text
          Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(bound("select b, c, d from t group by a"), R"(
Project [b#1, c#2, d#3]
  Aggregate by [a#0, b#1, c#2, d#3] []
    Scan t [a#0, b#1, c#2, d#3]
)");
}

TEST(BindPlans, Order) {
  EXPECT_EQ(bound("select distinct on (b) b, a from t order by b, c"), R"(
Project [b#1, a#0]
  Distinct on b#1
    Sort b#1, ?column?#2
      Project [b#1, a#0, c#2 AS ?column?#2]
        Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(bound("select distinct a, b from t order by b desc nulls last"), R"(
Sort b#1 DESC NULLS LAST
  Distinct
    Project [a#0, b#1]
      Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(bound("select a from t order by random()"), R"(
Project [a#0]
  Sort ?column?#4
    Project [a#0, random() AS ?column?#4]
      Scan t [a#0, b#1, c#2, d#3]
)");
}

TEST(BindPlans, Subqueries) {
  EXPECT_EQ(bound("select * from t where exists (select 1 from u where u.a = t.a and u.flag limit 1)"), R"(
Project [a#0, b#1, c#2, d#3]
  Semi join a#5 = a#0
    Scan t [a#0, b#1, c#2, d#3]
    Filter flag#7
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select * from t where not exists (select 1 from u where u.a = t.a)"), R"(
Project [a#0, b#1, c#2, d#3]
  Anti join a#5 = a#0
    Scan t [a#0, b#1, c#2, d#3]
    Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select * from t where a in (select a from u where u.name = t.b)"), R"(
Project [a#0, b#1, c#2, d#3]
  Semi join (a#0 = a#5) AND ((name#6)::text = b#1)
    Scan t [a#0, b#1, c#2, d#3]
    Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select * from t where a not in (select a from u)"), R"(
Project [a#0, b#1, c#2, d#3]
  Filter NOT any#9
    Apply any a#0 = a#5 AS any#9
      Scan t [a#0, b#1, c#2, d#3]
      Project [a#5]
        Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select * from t where a not in (select x from k)"), R"(
Project [a#0, b#1, c#2, d#3]
  Anti join a#0 = x#4
    Scan t [a#0, b#1, c#2, d#3]
    Scan k [x#4, y#5, z#6]
)");
  EXPECT_EQ(bound("select * from t where exists (select 1 from u left join k on k.y = t.a where u.id > 1)"), R"(
Project [a#0, b#1, c#2, d#3]
  Filter exists#13
    Apply exists AS exists#13 ($1 = #0)
      Scan t [a#0, b#1, c#2, d#3]
      Project [1 AS ?column?#12]
        Filter id#4 > 1
          Left join y#10 = $1
            Scan u [id#4, a#5, name#6, flag#7, rowid#8]
            Scan k [x#9, y#10, z#11]
)");
  EXPECT_EQ(bound("select b from t where a = (select max(id) from u where u.name = t.b)"), R"(
Project [b#1]
  Filter a#0 = max#10
    Apply scalar AS max#10 ($1 = #1)
      Scan t [a#0, b#1, c#2, d#3]
      Project [max#9]
        Aggregate all by [] [max(id#4) AS max#9]
          Filter (name#6)::text = $1
            Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select b, (select max(u.id) from u where u.a = t.b::int) from t group by b"), R"(
Project [b#1, max#10]
  Apply scalar AS max#10 ($1 = #1)
    Aggregate by [b#1] []
      Scan t [a#0, b#1, c#2, d#3]
    Project [max#9]
      Aggregate all by [] [max(id#4) AS max#9]
        Filter a#5 = ($1)::integer
          Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select (select count(t.a) from u) from t"), R"(
Project [count#11]
  Apply scalar AS count#11 ($1 = #9)
    Aggregate all by [] [count(a#0) AS count#9]
      Scan t [a#0, b#1, c#2, d#3]
    Project [$1 AS count#10]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select a > all (select a from u) from t"), R"(
Project [any#9 AS ?column?#9]
  Apply all a#0 > a#5 AS any#9
    Scan t [a#0, b#1, c#2, d#3]
    Project [a#5]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
}

TEST(BindPlans, FromAndLimit) {
  EXPECT_EQ(bound("select a, generate_series(1, a) g from t order by g limit 3"), R"(
Limit (3)::bigint offset -
  Sort g#4
    Project [a#0, generate_series#4 AS g#4]
      Apply lateral ($1 = #0)
        Scan t [a#0, b#1, c#2, d#3]
        Function generate_series(1, $1) [generate_series#4]
)");
  EXPECT_EQ(bound("select q.id from t left join lateral (select u.id from u where u.a = t.a) q on q.id > t.a"), R"(
Project [id#4]
  Apply left lateral ($1 = #0)
    Scan t [a#0, b#1, c#2, d#3]
    Filter id#4 > $1
      Project [id#4]
        Filter a#5 = $1
          Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select * from generate_series(1, (select max(a) from t)) with ordinality g(n, i)"), R"(
Project [generate_series#6 AS n#6, ordinality#7 AS i#7]
  Apply lateral ($1 = #5)
    Apply scalar AS max#5
      Values () []
      Project [max#4]
        Aggregate all by [] [max(a#0) AS max#4]
          Scan t [a#0, b#1, c#2, d#3]
    Function generate_series(1, $1) with ordinality [generate_series#6, ordinality#7]
)");
  EXPECT_EQ(bound("select a from t limit (select 1)"), R"(
Project [a#0]
  Apply lateral ($1 = #5)
    Apply scalar AS ?column?#5
      Values () []
      Project [1 AS ?column?#4]
        Values () []
    Limit ($1)::bigint offset -
      Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(bound("select '1' union all select a from t order by 1 limit 2"), R"(
Project [?column?#6]
  Limit (2)::bigint offset -
    Sort ?column?#6
      Union all [?column?#6]
        Project [1 AS ?column?#5]
          Project [NULL::text AS ?column?#0]
            Values () []
        Project [a#1]
          Scan t [a#1, b#2, c#3, d#4]
)");
  EXPECT_EQ(bound("with x(q) as (select a from t) select x.q from x, x y"), R"(
Share 0 x
  Project [q#5]
    Inner join
      Shared 0 x [q#5]
      Shared 0 x [q#6]
  Project [a#1]
    Scan t [a#1, b#2, c#3, d#4]
)");
  EXPECT_EQ(bound("with x(q) as (select a from t) select q from x where q > 1"), R"(
Project [q#5]
  Filter q#5 > 1
    Project [a#1 AS q#5]
      Project [a#1]
        Scan t [a#1, b#2, c#3, d#4]
)");
  EXPECT_EQ(bound("with recursive x(n) as (select 1 union all select n + 1 from x where n < 3) select n from x"), R"(
Share 0 x
  Project [n#6]
    Shared 0 x [n#6]
  Recursive union all 2 [?column?#5]
    Project [1 AS ?column?#1]
      Values () []
    Project [?column?#4]
      Project [n#3 + 1 AS ?column?#4]
        Filter n#3 < 3
          Shared 2 x [n#3]
)");
  EXPECT_EQ(bound("select a, rank() over (partition by d order by a desc), sum(c) over (partition by d) from t"), R"(
Project [a#0, rank#4, sum#5]
  Window by [d#3] order [] [sum(c#2) AS sum#5]
    Window by [d#3] order [a#0 DESC] [rank() AS rank#4]
      Sort d#3, a#0 DESC
        Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(bound("values (1, 'a'), (2.5, null)"), R"(
Values ((1)::numeric, 'a'::text), (2.5, NULL::text) [column1#0, column2#1]
)");
}

TEST(BindPlans, Expressions) {
  EXPECT_EQ(bound("select (a, b) < (1, 'x'), a in (1, 2), b between symmetric 'x' and 'y' from t"), R"(
Project [(a#0 < 1) OR ((a#0 = 1) AND (b#1 < 'x'::text)) AS ?column?#4, a#0 IN (1, 2) AS ?column?#5, ((b#1 >= 'x'::text) AND (b#1 <= 'y'::text)) OR ((b#1 >= 'y'::text) AND (b#1 <= 'x'::text)) AS ?column?#6]
  Scan t [a#0, b#1, c#2, d#3]
)");
  EXPECT_EQ(bound("select a from t where a = $1 and exists (select 1 from u where u.id < $2 + t.a offset 1)"), R"(
Project [a#0]
  Filter exists#10
    Apply exists AS exists#10 ($3 = #0)
      Filter a#0 = $1
        Scan t [a#0, b#1, c#2, d#3]
      Project [1 AS ?column?#9]
        Limit - offset (1)::bigint
          Filter id#4 < ($2 + $3)
            Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("select t.a from t join u on t.a in (select x from k) and u.a = t.a"), R"(
Project [a#0]
  Semi join a#0 = x#9
    Inner join a#5 = a#0
      Scan t [a#0, b#1, c#2, d#3]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
    Scan k [x#9, y#10, z#11]
)");
  EXPECT_EQ(bound("select t.a from t left join u on u.a in (select x from k)"), R"(
Project [a#0]
  Left join any#12
    Scan t [a#0, b#1, c#2, d#3]
    Apply any a#5 = x#9 AS any#12
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
      Project [x#9]
        Scan k [x#9, y#10, z#11]
)");
}

TEST(BindPlans, Modifications) {
  EXPECT_EQ(bound("insert into s(v) values ('x'), (default) returning *, id + 1 as n1"), R"(
Insert s [id#4 = sequence 20100, v#5 = v#3, n#6 = NULL::integer] check s_n_check n#6 > 0 returning [id#4 AS id#7, v#5 AS v#8, n#6 AS n#9, id#4 + 1 AS n1#10]
  Values ('x'::text), ('dflt'::text) [v#3]
)");
  EXPECT_EQ(bound("insert into s(id, n) values (default, 1), (default, 2)"), R"(
Insert s [id#4 = sequence 20100, v#5 = 'dflt'::text, n#6 = n#3] check s_n_check n#6 > 0
  Values (1), (2) [n#3]
)");
  EXPECT_EQ(bound("insert into t values (1, (select b from t)), (2, 'x')"), R"(
Insert t [a#14 = a#12, b#15 = b#13, c#16 = NULL::numeric(10,2), d#17 = NULL::date]
  Union all [a#12, b#13]
    Project [1 AS a#9, b#8]
      Apply scalar AS b#8
        Values () []
        Project [b#5]
          Scan t [a#4, b#5, c#6, d#7]
    Project [2 AS a#10, 'x'::text AS b#11]
      Values () []
)");
  EXPECT_EQ(bound("insert into t(a, b) select a, name from u on conflict do nothing"), R"(
Insert t [a#9 = a#5, b#10 = (name#6)::text, c#11 = NULL::numeric(10,2), d#12 = NULL::date] on conflict do nothing
  Project [a#5, name#6]
    Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
  EXPECT_EQ(bound("insert into ida(e) values ('x') on conflict (e) do nothing"), R"(
Insert ida [id#4 = sequence 20101, v#5 = NULL::integer, e#6 = e#3] on conflict do nothing
  Values ('x'::character varying(10)) [e#3]
)");
  EXPECT_EQ(bound("insert into s default values"), R"(
Insert s [id#3 = sequence 20100, v#4 = 'dflt'::text, n#5 = NULL::integer] check s_n_check n#5 > 0
  Values () []
)");
  EXPECT_EQ(bound("update t set b = u.name, c = (select 1) from u where u.a = t.a returning t.*, u.id"), R"(
Update t [b = (name#6)::text, c = ((?column?#19)::numeric)::numeric(10,2)] returning [a#9 AS a#13, b#10 AS b#14, c#11 AS c#15, d#12 AS d#16, id#4 AS id#17]
  Apply scalar AS ?column?#19
    Filter a#5 = a#0
      Inner join
        Scan t [a#0, b#1, c#2, d#3]
        Scan u [id#4, a#5, name#6, flag#7, rowid#8]
    Project [1 AS ?column?#18]
      Values () []
)");
  EXPECT_EQ(bound("update s set v = default, n = n + 1"), R"(
Update s [v = 'dflt'::text, n = n#2 + 1] check s_n_check n#5 > 0
  Scan s [id#0, v#1, n#2]
)");
  EXPECT_EQ(bound("update u set name = 'abcdef' where id = 1"), R"(
Update u [name = 'abcdef'::character varying(20)]
  Filter id#0 = 1
    Scan u [id#0, a#1, name#2, flag#3, rowid#4]
)");
  EXPECT_EQ(bound("update t set (b, c) = (select name, id from u where u.a = t.a)"), R"(
Update t [b = (name#13)::text, c = ((id#19)::numeric)::numeric(10,2)]
  Apply scalar AS id#19 ($2 = #0)
    Apply scalar AS name#13 ($1 = #0)
      Scan t [a#0, b#1, c#2, d#3]
      Project [name#10]
        Project [name#10, id#8]
          Filter a#9 = $1
            Scan u [id#8, a#9, name#10, flag#11, rowid#12]
    Project [id#14]
      Project [name#16, id#14]
        Filter a#15 = $2
          Scan u [id#14, a#15, name#16, flag#17, rowid#18]
)");
  EXPECT_EQ(bound("delete from t using u where t.a = u.a returning t.b, u.id"), R"(
Delete t returning [b#1 AS b#9, id#4 AS id#10]
  Filter a#0 = a#5
    Inner join
      Scan t [a#0, b#1, c#2, d#3]
      Scan u [id#4, a#5, name#6, flag#7, rowid#8]
)");
}

}  // namespace
}  // namespace redquel::planner
