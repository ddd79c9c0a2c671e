#include "tests/unit/planner/plan_fixture.h"

namespace redquel::planner {
namespace {

using Format = ExplainOptions::Format;

TEST(Explain, DividesConditionsIntoThoseOfTheIndexAndOthers) {
  EXPECT_EQ(explained("select ename from emp where emp_id = 7 and ename > 'm'"), R"(
Project
  Output: ename
  ->  Key Lookup on emp
        Index Cond: emp_id = 7
        Filter: ename > 'm'::text
        Redis: HMGET emp:7 ename
        Round Trips: 1
)");
  EXPECT_EQ(explained("select ename from emp where dept = 3 and salary < 5 and hired > '2024-01-01'"), R"(
Project
  Output: ename
  ->  Index Set Scan on emp
        Index Cond: (dept = 3) AND (salary < '5'::double precision) AND (hired > '2024-01-01'::date)
        Redis: ZRANGE emp:zset:salary -inf (5 BYSCORE
        Redis: ZRANGE emp:zset:hired (8766 +inf BYSCORE
        Redis: SINTER emp:indices:dept:3 <1> <2>
        Redis: HMGET emp:<key> ename dept salary hired
        As Needed: SCARD, ZCOUNT, SMEMBERS, SMISMEMBER, ZRANGE, ZMSCORE
        Round Trips: 1 (one read-only script; by cursor where a set is large)
)");
  EXPECT_EQ(explained("select ename from emp where salary between 10 and 20"), R"(
Project
  Output: ename
  ->  Ordered Index Scan by salary on emp
        Index Cond: (salary >= '10'::double precision) AND (salary <= '20'::double precision)
        Redis: ZRANGE emp:zset:salary 10 20 BYSCORE LIMIT 0 1000 WITHSCORES
        Redis: HMGET emp:<key> ename salary
        Redis: SORT_RO emp:zset:salary BY nosort LIMIT <rank> 1000 GET # GET emp:*->ename GET emp:*->salary, where there
            are more than 100 rows
        As Needed: ZCOUNT, ZRANK
        Round Trips: 1 (one read-only script); of more than 100 rows 1 and 1 per 1000 rows
)");
}

TEST(Explain, QualifiesColumnsOfSeveralRelations) {
  EXPECT_EQ(explained("select e.ename, d.name from emp e join dept d on d.id = e.dept where e.emp_id = 7"), R"(
Project
  Output: e.ename, d.name
  ->  Lookup Join on dept d
        Join Cond: d.id = e.dept
        Redis: HMGET dept:<e.dept> name
        Round Trips: 1 per batch of the outer rows
        ->  Key Lookup on emp e
              Index Cond: e.emp_id = 7
              Redis: HMGET emp:7 ename dept
              Round Trips: 1
)");
  EXPECT_EQ(explained("select * from emp e join dept d on d.name = e.ename order by d.name"), R"(
Sort
  Sort Key: d.name
  ->  Hash Join
        Hash Cond: (e.ename = d.name)
        ->  Full Scan on emp e
              Redis: SORT_RO emp:zset BY nosort LIMIT 0 1000 GET # GET emp:*->ename GET emp:*->dept GET emp:*->salary
                  GET emp:*->hired GET emp:*->email
              As Needed: ZCARD, ZRANGE
              Round Trips: 1 per 1000 rows
        ->  Full Scan on dept d
              Redis: SORT_RO dept:zset BY nosort LIMIT 0 1000 GET # GET dept:*->name
              As Needed: ZCARD, ZRANGE
              Round Trips: 1 per 1000 rows
)");
  EXPECT_EQ(explained("select ename from emp order by ename"), R"(
Sort
  Sort Key: ename
  ->  Full Scan on emp
        Redis: SORT_RO emp:zset BY nosort LIMIT 0 1000 GET # GET emp:*->ename
        As Needed: ZCARD, ZRANGE
        Round Trips: 1 per 1000 rows
)");
}

TEST(Explain, SaysWhyAnIndexIsNotUsed) {
  EXPECT_EQ(explained("select ename from emp where dept <> 3"), R"(
Project
  Output: ename
  ->  Full Scan on emp
        Filter: dept <> 3
        Index Not Used: dept: most rows satisfy the condition
        Redis: SORT_RO emp:zset BY nosort LIMIT 0 1000 GET # GET emp:*->ename GET emp:*->dept
        As Needed: ZCARD, ZRANGE
        Round Trips: 1 per 1000 rows
)");
  EXPECT_EQ(explained("select * from emp order by hired desc"), R"(
Ordered Index Scan backward by hired on emp
  Nulls: first
  Redis: SCARD emp:indices:hired:%N, and SSCAN and HMGET where it has rows
  Redis: SORT_RO emp:zset:hired BY nosort DESC LIMIT 0 1000 GET # GET emp:*->ename GET emp:*->dept GET emp:*->salary GET
      emp:*->hired GET emp:*->email
  As Needed: ZCARD, ZRANGE
  Round Trips: 1 per 1000 rows
)");
  EXPECT_EQ(explained("select ename from emp where dept + 1 = 3"), R"(
Project
  Output: ename
  ->  Full Scan on emp
        Filter: (dept + 1) = 3
        Index Not Used: dept: the condition is no comparison of the column with a value
        Redis: SORT_RO emp:zset BY nosort LIMIT 0 1000 GET # GET emp:*->ename GET emp:*->dept
        As Needed: ZCARD, ZRANGE
        Round Trips: 1 per 1000 rows
)");
  EXPECT_EQ(explained("select ename from emp where dept = 3 or ename = 'x'"), R"(
Project
  Output: ename
  ->  Full Scan on emp
        Filter: (dept = 3) OR (ename = 'x'::text)
        Index Not Used: dept: an alternative of OR has no index
        Redis: SORT_RO emp:zset BY nosort LIMIT 0 1000 GET # GET emp:*->ename GET emp:*->dept
        As Needed: ZCARD, ZRANGE
        Round Trips: 1 per 1000 rows
)");
}

TEST(Explain, NoLineIsLongerThan120Columns) {
  std::string list;
  for (int i = 1; i <= 60; ++i) list += (i == 1 ? "" : ", ") + std::to_string(i * 1000);
  const std::string text = explained("select ename from emp where dept in (" + list + ")");
  std::size_t begin = 0, longest = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    longest = std::max(longest, end - begin);
    begin = end + 1;
  }
  EXPECT_GT(longest, 100u);
  EXPECT_LE(longest, 120u);
}

/// Blanks at the ends of lines, which YAML's lines of PostgreSQL have, as dots.
std::string with_dots(std::string text) {
  for (std::size_t at = text.find(" \n"); at != std::string::npos; at = text.find(" \n", at)) text[at] = '.';
  return text;
}

TEST(Explain, FormatsOfPostgres) {
  const char* const statement = "select ename from emp where dept = 3 and ename <> '<a>'";
  EXPECT_EQ(explained(statement, {.format = Format::kJson}), R"-(
[
  {
    "Plan": {
      "Node Type": "Project",
      "Output": "ename",
      "Plans": [
        {
          "Node Type": "Index Set Scan",
          "Target": "on emp",
          "Relation Name": "emp",
          "Alias": "emp",
          "Index Cond": "dept = 3",
          "Filter": "ename <> '<a>'::text",
          "Redis Commands": [
            "SORT_RO emp:indices:dept:3 BY nosort GET # GET emp:*->ename GET emp:*->dept"
          ],
          "As Needed": [
            "SCARD",
            "HMGET",
            "SSCAN"
          ],
          "Round Trips": "1 (one read-only script; by cursor where a set is large)"
        }
      ]
    }
  }
]
)-");
  EXPECT_EQ(with_dots(explained(statement, {.format = Format::kYaml})), R"-(
- Plan:.
    Node Type: "Project"
    Output: "ename"
    Plans:.
      - Node Type: "Index Set Scan"
        Target: "on emp"
        Relation Name: "emp"
        Alias: "emp"
        Index Cond: "dept = 3"
        Filter: "ename <> '<a>'::text"
        Redis Commands:.
          - "SORT_RO emp:indices:dept:3 BY nosort GET # GET emp:*->ename GET emp:*->dept"
        As Needed:.
          - "SCARD"
          - "HMGET"
          - "SSCAN"
        Round Trips: "1 (one read-only script; by cursor where a set is large)"
)-");
  EXPECT_EQ(explained(statement, {.format = Format::kXml}), R"-(
<explain xmlns="http://www.postgresql.org/2009/explain">
  <Query>
    <Plan>
      <Node-Type>Project</Node-Type>
      <Output>ename</Output>
      <Plans>
        <Plan>
          <Node-Type>Index Set Scan</Node-Type>
          <Target>on emp</Target>
          <Relation-Name>emp</Relation-Name>
          <Alias>emp</Alias>
          <Index-Cond>dept = 3</Index-Cond>
          <Filter>ename &lt;&gt; '&lt;a&gt;'::text</Filter>
          <Redis-Commands>
            <Item>SORT_RO emp:indices:dept:3 BY nosort GET # GET emp:*-&gt;ename GET emp:*-&gt;dept</Item>
          </Redis-Commands>
          <As-Needed>
            <Item>SCARD</Item>
            <Item>HMGET</Item>
            <Item>SSCAN</Item>
          </As-Needed>
          <Round-Trips>1 (one read-only script; by cursor where a set is large)</Round-Trips>
        </Plan>
      </Plans>
    </Plan>
  </Query>
</explain>
)-");
}

TEST(Explain, NamesTheScriptsAndEntriesOfWrites) {
  EXPECT_EQ(explained("insert into emp values (1, 'a', 3, 5, null, null)"), R"(
Insert on emp
  Redis: EVALSHA write or write_many: HSET emp:<key>
  Redis: ZADD emp:zset
  Redis: SADD emp:indices:dept:<dept>
  Redis: ZADD emp:zset:dept
  Redis: SADD emp:indices:dept:%N if it is NULL
  Redis: ZADD emp:zset:salary
  Redis: SADD emp:indices:salary:%N if it is NULL
  Redis: ZADD emp:zset:hired
  Redis: SADD emp:indices:hired:%N if it is NULL
  Redis: HSET emp:uniques:email <email>
  Redis: SADD emp:indices:email:%N if it is NULL
  Round Trips: 1 (one script, all or nothing)
  ->  Values Scan
        Rows: 1
)");
  EXPECT_EQ(explained("update emp set salary = 7 where dept = 3"), R"(
Update on emp
  Redis: EVALSHA write or write_many: HSET emp:<key>, and HDEL of NULLs
  Redis: ZREM and ZADD emp:zset:salary
  Redis: SREM and SADD emp:indices:salary:%N if it is NULL
  Round Trips: 1 (one script, all or nothing)
  ->  Index Set Scan on emp
        Index Cond: dept = 3
        Redis: SORT_RO emp:indices:dept:3 BY nosort GET # GET emp:*->ename GET emp:*->dept GET emp:*->salary GET
            emp:*->hired GET emp:*->email
        As Needed: SCARD, HMGET, SSCAN
        Round Trips: 1 (one read-only script; by cursor where a set is large)
)");
  EXPECT_EQ(explained("delete from emp where emp_id = 7"), R"(
Delete on emp
  Redis: EVALSHA write or write_many: UNLINK emp:<key>
  Redis: ZREM emp:zset
  Redis: SREM emp:indices:dept:<dept>
  Redis: ZREM emp:zset:dept
  Redis: SREM emp:indices:dept:%N if it is NULL
  Redis: ZREM emp:zset:salary
  Redis: SREM emp:indices:salary:%N if it is NULL
  Redis: ZREM emp:zset:hired
  Redis: SREM emp:indices:hired:%N if it is NULL
  Redis: HDEL emp:uniques:email <email>
  Redis: SREM emp:indices:email:%N if it is NULL
  Round Trips: 1 (one script, all or nothing)
  ->  Key Lookup on emp
        Index Cond: emp_id = 7
        Redis: HMGET emp:7 ename dept salary hired email
        Round Trips: 1
)");
}

}  // namespace
}  // namespace redquel::planner
