#include <fmt/format.h>
#include <fmt/ranges.h>

#include "parser/parse.h"
#include "planner/tree/requirement.h"
#include "tests/unit/planner/bind_fixture.h"

namespace redquel::planner {
namespace {

/// Returns the statement's requirements, one entry a line: "t: SELECT(1,2) UPDATE(2) as 10".
std::string required(const std::string& text) {
  const sql::CatalogSnapshot catalog = test_catalog();
  StatementRights rights;
  BindSettings settings;
  settings.rights = &rights;
  bind(*parser::parse_statement(text), catalog, {}, settings);
  std::string lines;
  for (const Requirement& one : rights.requirements) {
    const auto table = catalog.find_table(one.object);
    lines += table ? table->name : one.kind == sql::AclKind::kSequence ? "sequence" : "other";
    const auto add = [&](sql::Rights right, const char* name, const std::set<std::int16_t>& columns) {
      if ((one.rights & right) != 0) lines += fmt::format(" {}({})", name, fmt::join(columns, ","));
    };
    add(sql::right::kSelect, "select", one.selected);
    add(sql::right::kInsert, "insert", one.inserted);
    add(sql::right::kUpdate, "update", one.updated);
    add(sql::right::kDelete, "delete", {});
    add(sql::right::kUsage, "usage", {});
    lines += "\n";
  }
  return lines;
}

TEST(Requirements, QueriesReadTheColumnsThatTheyName) {
  EXPECT_EQ(required("select a from t where b = 'x' order by d"), "t select(1,2,4)\n");
  EXPECT_EQ(required("select * from t"), "t select(1,2,3,4)\n");
  EXPECT_EQ(required("select count(*) from t"), "t select()\n");
  EXPECT_EQ(required("select t from t"), "t select(0,1,2,3,4)\n");
  EXPECT_EQ(required("select ctid from t"), "t select(-1)\n");
  EXPECT_EQ(required("select a as b from t order by b"), "t select(1)\n");
  EXPECT_EQ(required("select 1"), "");
}

TEST(Requirements, OuterQueriesComeFirst) {
  EXPECT_EQ(required("select x.a from (select a, b from t) x, u where exists (select from k where k.x = u.a)"),
            "u select(2)\nt select(1,2)\nk select(1)\n");
  EXPECT_EQ(required("with w as (select c from t) select id, c from u, w"), "u select(1)\nt select(3)\n");
  EXPECT_EQ(required("select 1 from t join u using (a)"), "t select(1)\nu select(2)\n");
  EXPECT_EQ(required("select j.flag from (t join u using (a)) as j"), "t select(1)\nu select(2,4)\n");
}

TEST(Requirements, RowLocksUpdate) { EXPECT_EQ(required("select a from t for update"), "t select(1) update()\n"); }

TEST(Requirements, WritesNameTheirColumns) {
  EXPECT_EQ(required("insert into t (a, b) values (1, 'x')"), "t insert(1,2)\n");
  EXPECT_EQ(required("insert into t values (1, 'x')"), "t insert(1,2)\n");
  EXPECT_EQ(required("insert into ida default values"), "ida insert()\n");
  EXPECT_EQ(required("insert into s (v) values ('x')"), "s insert(2)\nsequence update() usage()\n");
  EXPECT_EQ(required("insert into t (a, b) values (1, 'x') returning c"), "t select(3) insert(1,2)\n");
  EXPECT_EQ(required("insert into t (a, b) values (1, 'x') on conflict (a) do update set c = excluded.c where t.d is null"),
            "t select(1,3,4) insert(1,2) update(3)\n");
  EXPECT_EQ(required("update t set b = 'x'"), "t update(2)\n");
  EXPECT_EQ(required("update t set b = name from u where u.a = t.a"), "t select(1) update(2)\nu select(2,3)\n");
  EXPECT_EQ(required("delete from t"), "t delete()\n");
  EXPECT_EQ(required("delete from t where c = 1"), "t select(3) delete()\n");
  EXPECT_EQ(required("merge into t using u on t.a = u.a when matched then update set b = 'x' when not matched then insert (a, b) values (u.a, 'y')"),
            "t select(1) insert(1,2) update(2)\nu select(2)\n");
}

}  // namespace
}  // namespace redquel::planner
