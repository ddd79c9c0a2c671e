#include <gmock/gmock.h>

#include "tests/unit/executor/ddl_fixture.h"

namespace redquel::executor {
namespace {

using sql::Datum;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Row = std::vector<Datum>;

TEST_F(DdlTest, CreateTableMakesPostgresNames) {
  run_sql("create table t(a int primary key, b int unique, c int check(c>0), check(b>c), check (b > 1), d serial)");
  const auto t = table("t");
  ASSERT_TRUE(t);
  EXPECT_EQ(t->primary_key_index.name, "t_pkey");
  EXPECT_EQ(t->indexes[0].name, "t_b_key");
  ASSERT_EQ(t->checks.size(), 3u);
  EXPECT_EQ(t->checks[0].name, "t_c_check");
  EXPECT_EQ(t->checks[1].name, "t_check");
  EXPECT_EQ(t->checks[2].name, "t_b_check");
  EXPECT_EQ(t->prefix, "t");
  const sql::SequenceDef* sequence = load().snapshot->find_sequence("public", "t_d_seq", {});
  EXPECT_EQ(t->columns[3].sequence, load().snapshot->find_sequence("public", "t_d_seq", {})->oid);
  (void)sequence;
  EXPECT_EQ(load().snapshot->find_sequence("public", "t_d_seq", {})->key, "t:id:d");
  EXPECT_EQ(t->managed().presence, 4);  // d is NOT NULL

  run_sql("create table \"Foo\"(\"Bar\" int, \"Bar x\" int, unique(\"Bar\",\"Bar x\"), check(\"Bar\">0))");
  EXPECT_EQ(table("Foo")->indexes[0].name, "Foo_Bar_Bar x_key");
  EXPECT_EQ(table("Foo")->checks[0].name, "Foo_Bar_check");
  EXPECT_EQ(table("Foo")->managed().presence, 0);

  run_sql("create table aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa("
          "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb serial primary key, c int unique)");
  const auto a = table(std::string(62, 'a'));
  EXPECT_EQ(a->primary_key_index.name, std::string(58, 'a') + "_pkey");
  EXPECT_EQ(a->indexes[0].name, std::string(57, 'a') + "_c_key");
  EXPECT_TRUE(load().snapshot->find_sequence("public", std::string(29, 'a') + "_" + std::string(29, 'b') + "_seq", {}));
}

TEST_F(DdlTest, CreateTableRefusesAsPostgres) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"create table t(a int, a int)", "42701 column \"a\" specified more than once"},
      {"create table t(a int primary key, b int, primary key(b))", "42P16 multiple primary keys for table \"t\" are not allowed"},
      {"create table t(a int not null null)", "42601 conflicting NULL/NOT NULL declarations for column \"a\" of table \"t\""},
      {"create table t(a int, primary key(x))", "42703 column \"x\" named in key does not exist"},
      {"create table t(a int, unique(a,a))", "42701 column \"a\" appears twice in unique constraint"},
      {"create table t(a int default 1 default 2)", "42601 multiple default values specified for column \"a\" of table \"t\""},
      {"create table t(a int generated always as identity default 3)", "42601 both default and identity specified for column \"a\" of table \"t\""},
      {"create table t(a text generated always as identity)", "22023 identity column type must be smallint, integer, or bigint"},
      {"create table nosch.t(a int)", "3F000 schema \"nosch\" does not exist"},
      {"create table pg_catalog.t(a int)", "42501 permission denied to create \"pg_catalog.t\" | System catalog modifications are currently disallowed."},
      {"create table t(a int, constraint c check (a>0), constraint c check(a<5))", "42710 check constraint \"c\" already exists"},
      {"create table t(a int, constraint c check (a>0), constraint c unique(a))", "42710 constraint \"c\" for relation \"t\" already exists"},
      {"create table t(a int, constraint t unique(a))", "42P07 relation \"t\" already exists"},
      {"create table t(a foo)", "42704 type \"foo\" does not exist"},
      {"create table t(a int default 'x')", "22P02 invalid input syntax for type integer: \"x\""},
      {"create table t(a int default b)", "0A000 cannot use column reference in DEFAULT expression"},
      {"create table t(a int check (a))", "42804 argument of CHECK must be type boolean, not type integer"},
      {"create table t(a int collate \"C\")", "42804 collations are not supported by type integer"},
      {"create table t(a int) with (foo=1)", "22023 unrecognized parameter \"foo\""},
      {"create table t(a int, xmin int)", "42701 column name \"xmin\" conflicts with a system column name"},
  };
  for (const auto& [sql, expected] : cases) EXPECT_EQ(error(sql), expected) << sql;
  EXPECT_THAT(dump("*"), IsEmpty());
  run_sql("create table t(a int); create table if not exists t(b int)");
  EXPECT_THAT(take_notices(), ElementsAre("NOTICE 42P07: relation \"t\" already exists, skipping"));
  EXPECT_EQ(error("create table t(a int)"), "42P07 relation \"t\" already exists");
}

TEST_F(DdlTest, SecondTablesOfANameGetPrefixesOfTheirOwn) {
  run_sql("create table emp(id int primary key); alter table emp rename to emp_old; create table emp(id int primary key)");
  EXPECT_EQ(table("emp_old")->prefix, "emp");
  EXPECT_EQ(table("emp")->prefix, "emp~2");
  run_sql("create schema sys; create table sys.users(a int); create table sys(a int)");
  EXPECT_EQ(table("users", "sys")->prefix, "sys:users");
  EXPECT_EQ(table("sys")->prefix, "sys~2");
  run_sql("drop table emp_old, emp; create table emp(id int)");
  EXPECT_EQ(table("emp")->prefix, "emp");
}

TEST_F(DdlTest, DropTableLeavesNoKey) {
  run_sql("create table t(id serial primary key, a text, unique(a)); create index on t(a)");
  insert("t", {Row{Datum(1), Datum(std::string("x"))}, Row{Datum(2), Datum()}});
  await(allocate(connection_, load().snapshot->sequences.begin()->second, 3));
  EXPECT_FALSE(dump("t:*").empty());
  run_sql("drop table t");
  EXPECT_THAT(dump("t:*"), IsEmpty());
  EXPECT_EQ(dump("*").size(), 4u);  // redquel:version, :format, :definition_log, and :catalog with next_oid
  EXPECT_EQ(ask({"HKEYS", "redquel:catalog"}), "next_oid");
}

TEST_F(DdlTest, DropsHavePostgresMessages) {
  run_sql("create table t(a int primary key, b int unique, d serial); create index t_b_idx on t(b)");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"drop table nope", "42P01 table \"nope\" does not exist"},
      {"drop table t, nope", "42P01 table \"nope\" does not exist"},
      {"drop table nosch.x", "3F000 schema \"nosch\" does not exist"},
      {"drop index t", "42809 \"t\" is not an index | Use DROP TABLE to remove a table."},
      {"drop table t_b_idx", "42809 \"t_b_idx\" is not a table | Use DROP INDEX to remove an index."},
      {"drop index t_b_key", "2BP01 cannot drop index t_b_key because constraint t_b_key on table t requires it | You can drop constraint t_b_key on table t instead."},
      {"drop index t_pkey", "2BP01 cannot drop index t_pkey because constraint t_pkey on table t requires it | You can drop constraint t_pkey on table t instead."},
      {"drop index nope", "42704 index \"nope\" does not exist"},
      {"drop sequence t_d_seq", "2BP01 cannot drop sequence t_d_seq because other objects depend on it | default value for column d of table t depends on sequence t_d_seq | Use DROP ... CASCADE to drop the dependent objects too."},
      {"drop sequence t", "42809 \"t\" is not a sequence | Use DROP TABLE to remove a table."},
      {"drop view t", "42809 \"t\" is not a view | Use DROP TABLE to remove a table."},
      {"drop view nopev", "42P01 view \"nopev\" does not exist"},
      {"drop schema nope", "3F000 schema \"nope\" does not exist"},
      {"drop schema pg_catalog", "2BP01 cannot drop schema pg_catalog because it is required by the database system"},
      {"drop table pg_class", "42501 permission denied: \"pg_class\" is a system catalog"},
      {"create schema pg_foo", "42939 unacceptable schema name \"pg_foo\" | The prefix \"pg_\" is reserved for system schemas."},
  };
  for (const auto& [sql, expected] : cases) EXPECT_EQ(error(sql), expected) << sql;
  run_sql("drop table if exists nope, nope2; drop table if exists nosch.x; drop index if exists nope; drop view if exists v");
  EXPECT_THAT(take_notices(),
              ElementsAre("NOTICE 00000: table \"nope\" does not exist, skipping", "NOTICE 00000: table \"nope2\" does not exist, skipping",
                          "NOTICE 00000: schema \"nosch\" does not exist, skipping", "NOTICE 00000: index \"nope\" does not exist, skipping",
                          "NOTICE 00000: view \"v\" does not exist, skipping"));
  run_sql("create schema s1; create table s1.x(a int); create table s1.y(a int primary key, b serial)");
  EXPECT_EQ(error("drop schema s1"), "2BP01 cannot drop schema s1 because other objects depend on it | table s1.x depends on schema s1\n"
                                     "table s1.y depends on schema s1 | Use DROP ... CASCADE to drop the dependent objects too.");
  run_sql("drop schema s1 cascade");
  EXPECT_THAT(take_notices(), ElementsAre("NOTICE 00000: drop cascades to 2 other objects | drop cascades to table s1.x\ndrop cascades to table s1.y"));
  EXPECT_FALSE(table("x", "s1"));
  run_sql("drop schema public cascade; create schema public; create table t(a int)");
  EXPECT_TRUE(table("t"));
}

TEST_F(DdlTest, IndexesAreBuiltOverExistingRows) {
  run_sql("create table t(id int primary key, a int, b text not null)");
  std::vector<Row> rows;
  for (int id = -1200; id < 1200; ++id) rows.push_back({Datum(id), id % 3 == 0 ? Datum() : Datum(id % 7), Datum("b" + std::to_string(id))});
  insert("t", rows);
  run_sql("create index on t(a); create index on t using hash (a, b); create unique index on t(b desc); create index t_zs on t using zset (b)");
  const auto t = table("t");
  ASSERT_EQ(t->indexes.size(), 4u);
  EXPECT_EQ(t->indexes[0].name, "t_a_idx");
  EXPECT_EQ(t->indexes[1].name, "t_a_b_idx");
  EXPECT_EQ(t->indexes[2].name, "t_b_idx");
  for (const sql::IndexDef& index : t->indexes) EXPECT_EQ(index.state, sql::IndexState::kReady);
  EXPECT_EQ(ask({"SCARD", "t:indices:a:%N"}), "800");
  EXPECT_EQ(ask({"HLEN", "t:uniques:b"}), "2400");
  EXPECT_THAT(check("t"), IsEmpty());
  EXPECT_THAT(dump("redquel:building:*"), IsEmpty());

  EXPECT_EQ(error("create unique index bad on t(a)").substr(0, 45), "23505 could not create unique index \"bad\" | K");
  EXPECT_EQ(table("t")->indexes.size(), 4u);
  EXPECT_THAT(dump("t:uniques:a"), IsEmpty());
  EXPECT_THAT(check("t"), IsEmpty());

  run_sql("drop index t_a_b_idx; drop index t_b_idx; drop index t_zs");
  EXPECT_THAT(check("t"), IsEmpty());
  EXPECT_THAT(dump("t:uniques*"), IsEmpty());
  EXPECT_THAT(dump("t:zset:b"), IsEmpty());
  EXPECT_EQ(ask({"SCARD", "t:indices:a:%N"}), "800");  // of the other index
}

TEST_F(DdlTest, IndexErrors) {
  run_sql("create table t(a int primary key, b int); create index on t(b); create index on t(b); create index on t(b, a)");
  EXPECT_EQ(table("t")->indexes[1].name, "t_b_idx1");
  EXPECT_EQ(table("t")->indexes[2].name, "t_b_a_idx");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"create index t_b_idx on t(b)", "42P07 relation \"t_b_idx\" already exists"},
      {"create index i on nope(b)", "42P01 relation \"nope\" does not exist"},
      {"create index i on t(nope)", "42703 column \"nope\" does not exist"},
      {"create index i on t using foo(b)", "42704 access method \"foo\" does not exist"},
      {"create unique index i on t using hash(b)", "0A000 access method \"hash\" does not support unique indexes"},
      {"create index i on t_b_idx (b)", "42809 \"t_b_idx\" is an index"},
      {"create index i on t (b foo_ops)", "42704 operator class \"foo_ops\" does not exist for access method \"btree\""},
      {"create index i on t (b text_ops)", "42804 operator class \"text_ops\" does not accept data type integer"},
      {"create index i on t (ctid)", "0A000 index creation on system columns is not supported"},
      {"create index i on t (b) tablespace foo", "42704 tablespace \"foo\" does not exist"},
      {"create index i on t (b) with (foo=3)", "22023 unrecognized parameter \"foo\""},
  };
  for (const auto& [sql, expected] : cases) EXPECT_EQ(error(sql), expected) << sql;
  run_sql("create index if not exists t_b_idx on t(b)");
  EXPECT_THAT(take_notices(), ElementsAre("NOTICE 42P07: relation \"t_b_idx\" already exists, skipping"));
}

TEST_F(DdlTest, TruncateEmptiesTables) {
  run_sql("create table t(id serial primary key, a int unique); create index on t(a)");
  await(allocate(connection_, load().snapshot->sequences.begin()->second, 3));
  insert("t", {Row{Datum(1), Datum(1)}, Row{Datum(2), Datum()}});
  run_sql("truncate t");
  EXPECT_EQ(dump("t:*"), (std::map<std::string, std::string>{{"t:id", "STRING 3"}}));
  insert("t", {Row{Datum(1), Datum(1)}});
  run_sql("truncate table t restart identity cascade");
  EXPECT_THAT(dump("t:*"), IsEmpty());
  EXPECT_EQ(error("truncate nope"), "42P01 relation \"nope\" does not exist");
  EXPECT_EQ(error("truncate t_pkey"), "42809 \"t_pkey\" is not a table");

  // A large one: the keys go behind its back, then it has its old prefix again.
  std::vector<Row> rows;
  for (int id = 0; id < 12'000; ++id) rows.push_back({Datum(id), Datum(id)});
  insert("t", rows);
  await(allocate(connection_, load().snapshot->sequences.begin()->second, 5));
  run_sql("truncate t");
  EXPECT_EQ(table("t")->prefix, "t");
  EXPECT_EQ(dump("t*"), (std::map<std::string, std::string>{{"t:id", "STRING 5"}}));
  EXPECT_EQ(ask({"HKEYS", "redquel:prefixes"}), "t");
  EXPECT_EQ(ask({"HLEN", "redquel:removals"}), "0");
}

TEST_F(DdlTest, AlterTableChangesColumns) {
  run_sql("create table u(id int primary key, n int, s varchar(3) not null)");
  insert("u", {Row{Datum(1), Datum(), Datum(std::string("a"))}, Row{Datum(2), Datum(), Datum(std::string("b"))}});
  const std::vector<std::pair<std::string, std::string>> cases{
      {"alter table nope add column x int", "42P01 relation \"nope\" does not exist"},
      {"alter table u add column n int", "42701 column \"n\" of relation \"u\" already exists"},
      {"alter table u add column z int not null", "23502 column \"z\" of relation \"u\" contains null values"},
      {"alter table u add column id2 int primary key", "42P16 multiple primary keys for table \"u\" are not allowed"},
      {"alter table u drop column nope", "42703 column \"nope\" of relation \"u\" does not exist"},
      {"alter table u rename column nope to x", "42703 column \"nope\" does not exist"},
      {"alter table u rename column n to s", "42701 column \"s\" of relation \"u\" already exists"},
      {"alter table u alter column nope set default 3", "42703 column \"nope\" of relation \"u\" does not exist"},
      {"alter table u alter column n set default 'abc'", "22P02 invalid input syntax for type integer: \"abc\""},
      {"alter table u alter column n set not null", "23502 column \"n\" of relation \"u\" contains null values"},
      {"alter table u alter column id drop not null", "42P16 column \"id\" is in a primary key"},
      {"alter table u add check (n is not null)", "23514 check constraint \"u_n_check\" of relation \"u\" is violated by some row"},
      {"alter table u add check (id > 1)", "23514 check constraint \"u_id_check\" of relation \"u\" is violated by some row"},
      {"alter table u add unique (nope)", "42703 column \"nope\" named in key does not exist"},
      {"alter table u drop constraint nope", "42704 constraint \"nope\" of relation \"u\" does not exist"},
      {"alter table u rename constraint nope to x", "42704 constraint \"nope\" for table \"u\" does not exist"},
      {"alter table u set schema nope", "3F000 schema \"nope\" does not exist"},
      {"alter table u owner to nope", "42704 role \"nope\" does not exist"},
  };
  const std::string version = ask({"GET", "redquel:version"});
  for (const auto& [sql, expected] : cases) EXPECT_EQ(error(sql), expected) << sql;
  EXPECT_EQ(ask({"GET", "redquel:version"}), version);

  run_sql("alter table u add column z int default 5 not null, add column w text, add constraint x check (z > id)");
  EXPECT_EQ(table("u")->find_column("z")->missing, "5");
  EXPECT_EQ(table("u")->find_column("w")->missing, std::nullopt);
  EXPECT_EQ(error("alter table u add constraint x check (n > 0)"), "42710 constraint \"x\" for relation \"u\" already exists");
  run_sql("alter table u rename column z to \"Z z\"; alter table u rename to v; alter table v rename constraint x to y");
  EXPECT_EQ(table("v")->checks[0].name, "y");
  EXPECT_THAT(table("v")->checks[0].expression_sql, HasSubstr("\"Z z\""));
  run_sql("alter table v rename \"Z z\" to q");
  EXPECT_EQ(table("v")->checks[0].expression_sql.find("Z z"), std::string::npos);
  run_sql("alter table v drop column q; alter table v add column q int");
  EXPECT_THAT(table("v")->checks, IsEmpty());
  EXPECT_EQ(table("v")->find_column("q")->field, "q");
  EXPECT_EQ(error("alter table v drop column w, add column w int"), "");
  EXPECT_EQ(table("v")->find_column("w")->field, "w~2");
  run_sql("alter table v alter n set default 1+1, alter s type text, alter id type bigint");
  EXPECT_EQ(table("v")->find_column("s")->type, sql::kText);
  EXPECT_THAT(error("alter table v alter s type int"), HasSubstr("42804 column \"s\" cannot be cast automatically to type integer"));
}

TEST_F(DdlTest, RowsStayVisibleWithoutTheirPresenceColumn) {
  run_sql("create table u(id int primary key, s text not null)");
  insert("u", {Row{Datum(1), Datum(std::string("a"))}, Row{Datum(2), Datum(std::string("b"))}});
  EXPECT_EQ(ask({"HGETALL", "u:1"}), "s a");
  EXPECT_EQ(table("u")->managed().presence, 2);
  run_sql("alter table u alter s drop not null");
  EXPECT_EQ(ask({"HGETALL", "u:1"}, true), "1 a id s");
  EXPECT_EQ(table("u")->managed().presence, 0);
  run_sql("alter table u alter s set not null");
  EXPECT_EQ(table("u")->managed().presence, 0);  // once chosen, it stays
  run_sql("create table w(id int primary key, s text not null, t text)");
  insert("w", {Row{Datum(1), Datum(std::string("a")), Datum()}});
  run_sql("alter table w drop column s");
  EXPECT_EQ(ask({"HGETALL", "w:1"}, true), "1 a id s");
  EXPECT_EQ(ask({"HGET", "w:1", "id"}), "1");
}

TEST_F(DdlTest, UniqueConstraintsOnRows) {
  run_sql("create table u(id int primary key, n int)");
  insert("u", {Row{Datum(1), Datum(5)}, Row{Datum(2), Datum(5)}, Row{Datum(3), Datum()}});
  const std::string before = ask({"HGET", "redquel:catalog", "table:" + std::to_string(table("u")->oid)});
  EXPECT_EQ(error("alter table u add column m int, add unique (n)"),
            "23505 could not create unique index \"u_n_key\" | Key (n)=(5) is duplicated.");
  EXPECT_EQ(table("u")->columns.size(), 2u);
  EXPECT_THAT(table("u")->indexes, IsEmpty());
  EXPECT_THAT(dump("u:uniques:*"), IsEmpty());
  run_sql("alter table u add unique (n, id), add constraint mine unique (id)");
  EXPECT_EQ(table("u")->indexes[0].name, "u_n_id_key");
  EXPECT_THAT(check("u"), IsEmpty());
  run_sql("alter table u drop constraint mine, drop constraint u_n_id_key");
  EXPECT_THAT(dump("u:uniques:*"), IsEmpty());
  EXPECT_THAT(check("u"), IsEmpty());
}

TEST_F(DdlTest, PrimaryKeysOfEmptyTables) {
  run_sql("create table h(a int, b int); alter table h add primary key (a, b)");
  EXPECT_EQ(table("h")->primary_key_index.name, "h_pkey");
  EXPECT_TRUE(table("h")->columns[1].not_null);
  run_sql("alter table h drop constraint h_pkey");
  EXPECT_TRUE(table("h")->has_hidden_key());
  insert("h", {Row{Datum(1), Datum(2), Datum(std::int64_t{1})}});
  run_sql("alter table h add primary key (a)");
  EXPECT_FALSE(table("h")->has_hidden_key());
}

TEST_F(DdlTest, SequencesHaveOptionsAndBounds) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"create sequence s increment 0", "22023 INCREMENT must not be zero"},
      {"create sequence s minvalue 5 maxvalue 3", "22023 MINVALUE (5) must be less than MAXVALUE (3)"},
      {"create sequence s start 5 maxvalue 3", "22023 START value (5) cannot be greater than MAXVALUE (3)"},
      {"create sequence s cache 0", "22023 CACHE (0) must be greater than zero"},
      {"create sequence s as text", "22023 sequence type must be smallint, integer, or bigint"},
      {"create sequence s as int2 maxvalue 99999", "22023 MAXVALUE (99999) is out of range for sequence data type smallint"},
      {"create sequence s increment by 2 increment by 3", "42601 conflicting or redundant options"},
      {"create sequence s owned by foo", "42601 invalid OWNED BY option | Specify OWNED BY table.column or OWNED BY NONE."},
      {"create sequence s start 0", "22023 START value (0) cannot be less than MINVALUE (1)"},
  };
  for (const auto& [sql, expected] : cases) EXPECT_EQ(error(sql), expected) << sql;
  const auto next = [&](const std::string& name, std::size_t count) {
    const LoadedCatalog loaded = load();
    return await(allocate(connection_, *loaded.snapshot->find_sequence("public", name, {}), count));
  };
  run_sql("create sequence s start 10 increment 5 maxvalue 22; create sequence c minvalue -1 maxvalue 2 cycle; create sequence d increment -3 maxvalue 7");
  EXPECT_THAT(next("s", 2), ElementsAre(10, 15));
  EXPECT_EQ(ask({"GET", "s:id"}), "15");
  EXPECT_THAT(next("s", 1), ElementsAre(20));
  EXPECT_THROW(next("s", 1), sql::SqlError);
  EXPECT_THAT(next("c", 6), ElementsAre(-1, 0, 1, 2, -1, 0));
  EXPECT_THAT(next("d", 3), ElementsAre(7, 4, 1));
  run_sql("create sequence big start 9223372036854775805; create sequence low increment -1 start -9223372036854775807");
  EXPECT_THAT(next("big", 3), ElementsAre(9223372036854775805, 9223372036854775806, 9223372036854775807));
  try {
    next("big", 1);
    FAIL();
  } catch (const sql::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "2200H");
    EXPECT_EQ(error.message(), "nextval: reached maximum value of sequence \"big\" (9223372036854775807)");
  }
  EXPECT_EQ(ask({"GET", "big:id"}), "9223372036854775807");
  EXPECT_THAT(next("low", 2), ElementsAre(-9223372036854775807, INT64_MIN));
  EXPECT_THROW(next("low", 1), sql::SqlError);
  run_sql("alter sequence s restart with 12 maxvalue 100");
  EXPECT_THAT(next("s", 2), ElementsAre(12, 17));
  run_sql("drop sequence s, c, d, big, low");
  EXPECT_EQ(dump("*").size(), 4u);
  run_sql("create sequence s; drop sequence s; create table s(a int)");
  EXPECT_EQ(table("s")->prefix, "s");
}

TEST_F(DdlTest, CommentsAreKept) {
  run_sql("create table t(a int primary key, b int check (b > 0)); create index i on t(b)");
  run_sql("comment on table t is 'one'; comment on column t.a is 'two'; comment on index i is 'three'; comment on constraint t_pkey on t is 'four';"
          "comment on constraint t_b_check on t is 'five'; comment on schema public is 'six'");
  const auto t = table("t");
  EXPECT_EQ(t->comment, "one");
  EXPECT_EQ(t->columns[0].comment, "two");
  EXPECT_EQ(t->indexes[0].comment, "three");
  EXPECT_EQ(t->primary_key_index.constraint_comment, "four");
  EXPECT_EQ(t->primary_key_index.comment, "");
  EXPECT_EQ(t->checks[0].comment, "five");
  EXPECT_EQ(load().snapshot->schemas.at("public").comment, "six");
  run_sql("comment on table t is null");
  EXPECT_EQ(table("t")->comment, "");
  const std::vector<std::pair<std::string, std::string>> cases{
      {"comment on table nope is 'x'", "42P01 relation \"nope\" does not exist"},
      {"comment on column t.nope is 'x'", "42703 column \"nope\" of relation \"t\" does not exist"},
      {"comment on index t is 'x'", "42809 \"t\" is not an index"},
      {"comment on table t_pkey is 'x'", "42809 \"t_pkey\" is not a table"},
      {"comment on constraint nope on t is 'x'", "42704 constraint \"nope\" for table \"t\" does not exist"},
      {"comment on schema nope is 'x'", "3F000 schema \"nope\" does not exist"},
  };
  for (const auto& [sql, expected] : cases) EXPECT_EQ(error(sql), expected) << sql;
}

TEST_F(DdlTest, WorkOfKilledProcessesIsCompleted) {
  run_sql("create table t(id int primary key, a int); create index i on t(a)");
  insert("t", {Row{Datum(1), Datum(1)}, Row{Datum(2), Datum(2)}});
  // The definition is gone, the keys are not: killed after the commit of DROP TABLE.
  LoadedCatalog loaded = load();
  CatalogChange change;
  change.dropped_tables.push_back(table("t")->oid);
  change.removals.push_back(removal_of_table(*table("t")));
  EXPECT_TRUE(await(commit_catalog(connection_, *loaded.snapshot, change)));
  EXPECT_FALSE(await(commit_catalog(connection_, *loaded.snapshot, change)));  // another version by now
  run_sql("create table t(id int primary key)");
  EXPECT_EQ(table("t")->prefix, "t~2");
  EXPECT_FALSE(dump("t:*").empty());
  await(finish_removals(connection_));
  EXPECT_THAT(dump("t:*"), IsEmpty());
  EXPECT_EQ(ask({"HKEYS", "redquel:prefixes"}), "t~2");

  // An index whose builder died.
  run_sql("create table b(id int primary key, a int)");
  insert("b", {Row{Datum(1), Datum(1)}});
  loaded = load();
  sql::TableDef building = *table("b");
  sql::add_index(building, {"a"}).state = sql::IndexState::kBuilding;
  CatalogChange begun;
  begun.tables.push_back(building);
  EXPECT_TRUE(await(commit_catalog(connection_, *loaded.snapshot, begun)));
  insert("b", {Row{Datum(2), Datum(2)}});
  EXPECT_FALSE(dump("b:indices:*").empty());
  await(finish_removals(connection_));
  EXPECT_THAT(table("b")->indexes, IsEmpty());
  EXPECT_THAT(dump("b:indices:*"), IsEmpty());
}

TEST_F(DdlTest, TheCheckerFindsEveryKindOfDifference) {
  run_sql("create table t(id int primary key, a int, b text unique, c float8); create index on t(a); create index on t(c)");
  insert("t", {Row{Datum(1), Datum(1), Datum(std::string("x")), Datum(1.5)}, Row{Datum(2), Datum(), Datum(), Datum()},
               Row{Datum(3), Datum(1), Datum(std::string("z")), Datum(0.1)}});
  EXPECT_THAT(check("t"), IsEmpty());
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"ZREM", "t:zset", "1"}, "all rows t:zset 1 stored=- expected=1"},
      {{"ZADD", "t:zset", "5", "1"}, "all rows t:zset 1 stored=5 expected=1"},
      {{"ZADD", "t:zset", "9", "9"}, "all rows t:zset 9 stored=9 expected=-"},
      {{"SREM", "t:indices:a:1", "1"}, "set t:indices:a:1 1 stored=- expected=1"},
      {{"SADD", "t:indices:a:1", "2"}, "set t:indices:a:1 2 stored=1 expected=-"},
      {{"SADD", "t:indices:a:7", "77"}, "set t:indices:a:7 77 stored=1 expected=-"},
      {{"SADD", "t:indices:a", "7"}, "values t:indices:a 7 stored=1 expected=-"},
      {{"SREM", "t:indices:a", "1"}, "values t:indices:a 1 stored=- expected=1"},
      {{"SREM", "t:indices:a:%N", "2"}, "nulls t:indices:a:%N 2 stored=- expected=1"},
      {{"SADD", "t:indices:a:%N", "1"}, "nulls t:indices:a:%N 1 stored=1 expected=-"},
      {{"ZADD", "t:zset:c", "9", "1"}, "ordered t:zset:c 1 stored=9 expected=1.5"},
      {{"HSET", "t:uniques:b", "x", "2"}, "unique t:uniques:b x stored=2 expected=1"},
      {{"HSET", "t:uniques:b", "gone", "44"}, "unique t:uniques:b gone stored=44 expected=-"},
      {{"HSET", "t:zset:zz", "x", "2"}, "unknown t:zset:zz  stored=hash expected=-"},
      {{"SET", "t:id", "2"}, "sequence t:id  stored=string expected=-"},
      {{"HSET", "t:4", "x", "2"}, "row t:4  stored=hash expected=-"},
      {{"HSET", "t:007", "id", "7"}, "row t:007  stored=hash expected=-"},
      {{"SADD", "t:indices:b:q", "2"}, "unknown t:indices:b:q  stored=set expected=-"},
      {{"HSET", "t:1", "a", "many"}, "row t:1 1 stored=invalid input syntax for type integer: \"many\" expected=-"},
  };
  for (const auto& [command, expected] : cases) {
    call({"FLUSHALL"});
    run_sql("create table t(id int primary key, a int, b text unique, c float8); create index on t(a); create index on t(c)");
    insert("t", {Row{Datum(1), Datum(1), Datum(std::string("x")), Datum(1.5)}, Row{Datum(2), Datum(), Datum(), Datum()},
                 Row{Datum(3), Datum(1), Datum(std::string("z")), Datum(0.1)}});
    call(command);
    EXPECT_THAT(check("t"), ::testing::Contains(expected)) << command[1] << " " << command[2];
  }
}

}  // namespace
}  // namespace redquel::executor
