#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parser/parse.h"
#include "tests/unit/parser/parse_as.h"

namespace redquel::parser {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const ast::Option& option(const std::vector<ast::Option>& options, const std::string& name) {
  for (const ast::Option& candidate : options) {
    if (candidate.name == name) return candidate;
  }
  throw std::out_of_range(name);
}

// --- writing rows --------------------------------------------------------------------------------------------------

TEST(ParseStatement, Insert) {
  const std::string text =
      "INSERT INTO s.t AS x (a, b[1], c.d) OVERRIDING USER VALUE VALUES (1, DEFAULT, 2) ON CONFLICT (a, (lower(b))) "
      "WHERE a > 0 "
      "DO UPDATE SET a = excluded.a, (b, c) = (1, DEFAULT) WHERE x.a > 1 RETURNING *, a AS y";
  const auto insert = parse_as<ast::Insert>(text);
  EXPECT_EQ(insert.relation.schema, "s");
  EXPECT_EQ(insert.alias, "x");
  ASSERT_EQ(insert.columns.size(), 3U);
  EXPECT_EQ(insert.columns[1].steps.size(), 1U);
  EXPECT_EQ(insert.columns[1].offset, text.find("b[1]"));
  EXPECT_EQ(insert.overriding, ast::Overriding::kUserValue);
  EXPECT_TRUE(std::holds_alternative<ast::DefaultValue>(insert.source->values.at(0).at(1)->node));
  ASSERT_TRUE(insert.on_conflict);
  EXPECT_TRUE(insert.on_conflict->update);
  EXPECT_EQ(insert.on_conflict->target->elements.at(0).column, "a");
  EXPECT_NE(insert.on_conflict->target->elements.at(1).expression, nullptr);
  const std::vector<ast::Assignment>& assignments = insert.on_conflict->assignments;
  ASSERT_EQ(assignments.size(), 2U);
  EXPECT_FALSE(assignments[0].row);
  EXPECT_TRUE(assignments[1].row);
  EXPECT_EQ(assignments[1].targets.size(), 2U);
  EXPECT_EQ(insert.returning.size(), 2U);
  EXPECT_EQ(parse_as<ast::Insert>("INSERT INTO t DEFAULT VALUES").source, nullptr);
}

TEST(ParseStatement, UpdateAndDelete) {
  const auto update =
      parse_as<ast::Update>("UPDATE ONLY t AS x SET a = a + 1, (b, c) = (SELECT 1, 2) FROM u WHERE x.a = u.a");
  EXPECT_TRUE(update.relation.only);
  EXPECT_EQ(update.relation.alias->name, "x");
  ASSERT_EQ(update.assignments.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<ast::SubLink>(update.assignments[1].value->node));
  const auto remove = parse_as<ast::Delete>("DELETE FROM t USING u WHERE CURRENT OF c RETURNING 1");
  EXPECT_EQ(std::get<ast::CurrentOf>(remove.where->node).cursor, "c");
}

TEST(ParseStatement, Merge) {
  const auto merge = parse_as<ast::Merge>(
      "MERGE INTO t USING s ON t.a = s.a WHEN MATCHED AND s.x THEN DELETE WHEN MATCHED THEN UPDATE SET b = 1 WHEN NOT "
      "MATCHED THEN INSERT (a, b) VALUES (1, DEFAULT) WHEN NOT MATCHED THEN DO NOTHING");
  ASSERT_EQ(merge.whens.size(), 4U);
  EXPECT_EQ(merge.whens[0].action, ast::MergeAction::kDelete);
  EXPECT_NE(merge.whens[0].condition, nullptr);
  EXPECT_EQ(merge.whens[1].assignments.size(), 1U);
  EXPECT_EQ(merge.whens[2].columns.size(), 2U);
  EXPECT_EQ(merge.whens[2].values.size(), 2U);
  EXPECT_EQ(merge.whens[3].action, ast::MergeAction::kDoNothing);
}

// --- tables --------------------------------------------------------------------------------------------------------

TEST(ParseStatement, CreateTable) {
  const std::string text =
      "CREATE TEMP TABLE IF NOT EXISTS t (id bigint GENERATED ALWAYS AS IDENTITY (START 5) PRIMARY KEY, name "
      "varchar(20) "
      "COLLATE \"C\" NOT NULL DEFAULT 'x' CONSTRAINT named CHECK (name <> ''), total numeric GENERATED ALWAYS AS (a * "
      "b) "
      "STORED, other int REFERENCES s.o (k) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED, CONSTRAINT u UNIQUE NULLS "
      "NOT "
      "DISTINCT (id, name), FOREIGN KEY (id, other) REFERENCES o MATCH FULL ON UPDATE SET NULL NOT VALID, LIKE l "
      "INCLUDING ALL EXCLUDING INDEXES) WITH (ttl = '1 hour', cached = off, size = 10, ttl_column = hired) ON COMMIT "
      "DROP";
  const auto table = parse_as<ast::CreateTable>(text);
  EXPECT_EQ(table.persistence, ast::Persistence::kTemporary);
  EXPECT_TRUE(table.if_not_exists);
  EXPECT_EQ(table.on_commit, ast::OnCommit::kDrop);
  ASSERT_EQ(table.elements.size(), 7U);
  const auto& id = std::get<ast::ColumnDefinition>(table.elements[0]);
  ASSERT_EQ(id.constraints.size(), 2U);
  EXPECT_TRUE(std::get<ast::IdentityConstraint>(id.constraints[0].node).always);
  EXPECT_TRUE(std::get<ast::KeyConstraint>(id.constraints[1].node).primary);
  EXPECT_EQ(id.type->offset, text.find("bigint"));
  const auto& name = std::get<ast::ColumnDefinition>(table.elements[1]);
  EXPECT_THAT(name.collation, ElementsAre("C"));
  ASSERT_EQ(name.constraints.size(), 3U);
  EXPECT_EQ(name.constraints[2].name, "named");
  EXPECT_EQ(name.constraints[2].offset, text.find("CONSTRAINT named"));
  const auto& other = std::get<ast::ColumnDefinition>(table.elements[3]);
  ASSERT_EQ(other.constraints.size(), 1U);
  EXPECT_TRUE(other.constraints[0].deferrable);
  EXPECT_TRUE(other.constraints[0].initially_deferred);
  const auto& reference = std::get<ast::ForeignKeyConstraint>(other.constraints[0].node);
  EXPECT_EQ(reference.referenced.schema, "s");
  EXPECT_EQ(reference.on_delete, ast::ForeignKeyAction::kCascade);
  const auto& unique = std::get<ast::Constraint>(table.elements[4]);
  EXPECT_TRUE(std::get<ast::KeyConstraint>(unique.node).nulls_not_distinct);
  EXPECT_THAT(std::get<ast::KeyConstraint>(unique.node).columns, ElementsAre("id", "name"));
  const auto& foreign = std::get<ast::Constraint>(table.elements[5]);
  EXPECT_TRUE(foreign.not_valid);
  EXPECT_EQ(std::get<ast::ForeignKeyConstraint>(foreign.node).match, ast::ForeignKeyMatch::kFull);
  const auto& like = std::get<ast::LikeClause>(table.elements[6]);
  EXPECT_TRUE(like.defaults);
  EXPECT_FALSE(like.indexes);
  EXPECT_EQ(std::get<std::string>(option(table.options, "ttl").value), "1 hour");
  EXPECT_EQ(std::get<std::string>(option(table.options, "cached").value), "off");
  EXPECT_EQ(std::get<std::int64_t>(option(table.options, "size").value), 10);
  EXPECT_EQ(std::get<std::string>(option(table.options, "ttl_column").value), "hired");
}

TEST(ParseStatement, OtherTables) {
  const auto foreign = parse_as<ast::CreateForeignTable>(
      "CREATE FOREIGN TABLE f (a int OPTIONS (field 'x')) SERVER redis OPTIONS (key 'k:{a}')");
  EXPECT_EQ(foreign.server, "redis");
  EXPECT_EQ(std::get<std::string>(option(foreign.options, "key").value), "k:{a}");
  EXPECT_EQ(std::get<ast::ColumnDefinition>(foreign.table.elements.at(0)).foreign_options.size(), 1U);
  const auto as = parse_as<ast::CreateTableAs>("CREATE TABLE t (x, y) AS SELECT 1, 2 WITH NO DATA");
  EXPECT_THAT(as.into.columns, ElementsAre("x", "y"));
  EXPECT_TRUE(as.into.with_no_data);
  EXPECT_TRUE(parse_as<ast::CreateTable>("CREATE TABLE t (a int) PARTITION BY LIST (a)").partition_by);
  EXPECT_TRUE(parse_as<ast::CreateTable>("CREATE TABLE t PARTITION OF s DEFAULT").partition_of);
  EXPECT_EQ(parse_as<ast::Select>("SELECT 1 INTO TEMP t").into->persistence, ast::Persistence::kTemporary);
}

TEST(ParseStatement, CreateIndex) {
  const auto index = parse_as<ast::CreateIndex>(
      "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON s.t USING zset (a DESC NULLS LAST, lower(b) text_ops) "
      "INCLUDE "
      "(c) WITH (key = 'k') WHERE a > 0");
  EXPECT_TRUE(index.unique);
  EXPECT_EQ(index.access_method, "zset");
  EXPECT_EQ(index.elements.at(0).direction, ast::SortDirection::kDescending);
  EXPECT_THAT(index.elements.at(1).operator_class, ElementsAre("text_ops"));
  EXPECT_EQ(index.including.at(0).column, "c");
  EXPECT_NE(index.where, nullptr);
  EXPECT_EQ(parse_as<ast::CreateIndex>("CREATE INDEX ON t (a)").access_method, "btree");
}

TEST(ParseStatement, AlterTable) {
  const auto alter = parse_as<ast::AlterTable>(
      "ALTER TABLE IF EXISTS t ADD COLUMN IF NOT EXISTS a int NOT NULL, DROP COLUMN b CASCADE, ALTER c SET DEFAULT 1, "
      "ALTER c "
      "DROP DEFAULT, ALTER d SET NOT NULL, ALTER e TYPE text USING e::text, ADD CONSTRAINT k CHECK (a > 0), DROP "
      "CONSTRAINT "
      "IF EXISTS l, ENABLE RULE audit, SET (ttl = 5), OWNER TO bob, ALTER f ADD GENERATED BY DEFAULT AS IDENTITY");
  EXPECT_TRUE(alter.if_exists);
  ASSERT_EQ(alter.commands.size(), 12U);
  EXPECT_TRUE(std::get<ast::AddColumn>(alter.commands[0]).if_not_exists);
  EXPECT_TRUE(std::get<ast::DropColumn>(alter.commands[1]).cascade);
  EXPECT_NE(std::get<ast::AlterColumnDefault>(alter.commands[2]).value, nullptr);
  EXPECT_EQ(std::get<ast::AlterColumnDefault>(alter.commands[3]).value, nullptr);
  EXPECT_TRUE(std::get<ast::AlterColumnNotNull>(alter.commands[4]).not_null);
  EXPECT_NE(std::get<ast::AlterColumnType>(alter.commands[5]).using_value, nullptr);
  EXPECT_EQ(std::get<ast::AddConstraint>(alter.commands[6]).constraint.name, "k");
  EXPECT_TRUE(std::get<ast::DropConstraint>(alter.commands[7]).if_exists);
  EXPECT_EQ(std::get<ast::OtherAlteration>(alter.commands[8]).name, "ALTER TABLE ... ENABLE RULE");
  EXPECT_EQ(std::get<ast::ChangeOwner>(alter.commands[10]).role, "bob");
  const auto rename = parse_as<ast::Rename>("ALTER TABLE t RENAME COLUMN a TO b");
  EXPECT_EQ(rename.object, ast::ObjectType::kColumn);
  EXPECT_EQ(rename.relation->name, "t");
  EXPECT_EQ(rename.old_name, "a");
  EXPECT_EQ(parse_as<ast::Rename>("ALTER TABLE t RENAME TO u").new_name, "u");
  EXPECT_EQ(parse_as<ast::SetSchema>("ALTER TABLE t SET SCHEMA s").new_schema, "s");
}

TEST(ParseStatement, DropAndTruncate) {
  const auto drop = parse_as<ast::Drop>("DROP TABLE IF EXISTS a, s.b CASCADE");
  EXPECT_EQ(drop.object, ast::ObjectType::kTable);
  EXPECT_TRUE(drop.if_exists);
  EXPECT_TRUE(drop.cascade);
  EXPECT_THAT(drop.names.at(1).names, ElementsAre("s", "b"));
  const auto function = parse_as<ast::Drop>("DROP FUNCTION f(int, text), g");
  EXPECT_EQ(function.names.at(0).argument_types.size(), 2U);
  EXPECT_TRUE(function.names.at(0).arguments_given);
  EXPECT_FALSE(function.names.at(1).arguments_given);
  EXPECT_THAT(parse_as<ast::Drop>("DROP SCHEMA s").names.at(0).names, ElementsAre("s"));
  EXPECT_THAT(parse_as<ast::Drop>("DROP TYPE s.t").names.at(0).names, ElementsAre("s", "t"));
  EXPECT_TRUE(parse_as<ast::Truncate>("TRUNCATE a, b RESTART IDENTITY").restart_identity);
}

// --- other objects -------------------------------------------------------------------------------------------------

TEST(ParseStatement, Definitions) {
  const auto view = parse_as<ast::CreateView>("CREATE OR REPLACE VIEW v (a) AS SELECT 1 WITH LOCAL CHECK OPTION");
  EXPECT_TRUE(view.replace);
  EXPECT_EQ(view.check_option, ast::CheckOption::kLocal);
  const auto sequence =
      parse_as<ast::CreateSequence>("CREATE SEQUENCE s AS bigint INCREMENT -2 MAXVALUE 99999999999 OWNED BY t.a");
  EXPECT_EQ(std::get<std::int64_t>(option(sequence.options, "increment").value), -2);
  EXPECT_EQ(std::get<ast::NumberText>(option(sequence.options, "maxvalue").value).text, "99999999999");
  EXPECT_THAT(std::get<ast::TypeName>(option(sequence.options, "as").value).names, ElementsAre("pg_catalog", "int8"));
  EXPECT_THAT(std::get<std::vector<std::string>>(option(sequence.options, "owned_by").value), ElementsAre("t", "a"));
  EXPECT_THAT(parse_as<ast::CreateEnum>("CREATE TYPE e AS ENUM ('a', 'b')").labels, ElementsAre("a", "b"));
  EXPECT_EQ(parse_as<ast::CreateDomain>("CREATE DOMAIN d AS int CHECK (VALUE > 0) NOT NULL").constraints.size(), 2U);
  EXPECT_EQ(parse_as<ast::CreateComposite>("CREATE TYPE c AS (a int, b text)").columns.size(), 2U);
  const auto comment = parse_as<ast::Comment>("COMMENT ON COLUMN s.t.a IS 'x'");
  EXPECT_EQ(comment.object, ast::ObjectType::kColumn);
  EXPECT_THAT(comment.name.names, ElementsAre("s", "t", "a"));
  EXPECT_EQ(parse_as<ast::Comment>("COMMENT ON TABLE t IS NULL").comment, std::nullopt);
  EXPECT_EQ(parse_as<ast::CreateSchema>("CREATE SCHEMA s CREATE TABLE t (a int)").elements.size(), 1U);
  const auto import =
      parse_as<ast::ImportForeignSchema>("IMPORT FOREIGN SCHEMA r LIMIT TO (a, b) FROM SERVER redis INTO s");
  EXPECT_EQ(import.tables.size(), 2U);
  EXPECT_EQ(parse_as<ast::CreateForeignServer>("CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (host 'h')").wrapper,
            "w");
}

TEST(ParseStatement, CreateFunction) {
  const auto function = parse_as<ast::CreateFunction>(
      "CREATE OR REPLACE FUNCTION f(a int DEFAULT 1, OUT b text, VARIADIC c int[]) RETURNS text LANGUAGE sql IMMUTABLE "
      "STRICT "
      "AS 'SELECT 1'");
  ASSERT_EQ(function.parameters.size(), 3U);
  EXPECT_NE(function.parameters[0].default_value, nullptr);
  EXPECT_EQ(function.parameters[1].mode, ast::ParameterMode::kOut);
  EXPECT_EQ(function.parameters[2].mode, ast::ParameterMode::kVariadic);
  EXPECT_EQ(std::get<std::string>(option(function.options, "language").value), "sql");
  EXPECT_THAT(std::get<std::vector<std::string>>(option(function.options, "as").value), ElementsAre("SELECT 1"));
  EXPECT_TRUE(std::get<bool>(option(function.options, "strict").value));
  EXPECT_NE(parse_as<ast::CreateFunction>("CREATE FUNCTION f() RETURNS int RETURN 1").return_expression, nullptr);
  const auto atomic = parse_as<ast::CreateFunction>(
      "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC INSERT INTO t VALUES (1); SELECT 2; END");
  EXPECT_TRUE(atomic.sql_body);
  EXPECT_EQ(atomic.body.size(), 2U);
}

TEST(ParseStatement, AlterFunction) {
  const auto alter = parse_as<ast::AlterFunction>("ALTER PROCEDURE s.f(int) SECURITY DEFINER SET x TO 1, 2 RESET y RESET ALL");
  EXPECT_EQ(alter.object, ast::ObjectType::kProcedure);
  EXPECT_THAT(alter.function.names, ElementsAre("s", "f"));
  ASSERT_EQ(alter.options.size(), 4U);
  EXPECT_TRUE(std::get<bool>(alter.options[0].value));
  EXPECT_THAT(std::get<std::vector<std::string>>(alter.options[1].value), ElementsAre("x", "1", "2"));
  EXPECT_EQ(alter.options[2].action, ast::OptionAction::kDrop);
  EXPECT_THAT(std::get<std::vector<std::string>>(alter.options[2].value), ElementsAre("y"));
  EXPECT_EQ(alter.options[3].action, ast::OptionAction::kDrop);
  EXPECT_THAT(std::get<std::vector<std::string>>(alter.options[3].value), ElementsAre(""));
}

TEST(ParseStatement, Exclusion) {
  const auto table = parse_as<ast::CreateTable>("CREATE TABLE t (a int, EXCLUDE USING gist (a WITH =, (a + 1) WITH OPERATOR(s.&&)) WHERE (a > 0))");
  const auto& constraint = std::get<ast::Constraint>(table.elements.at(1));
  const auto& exclusion = std::get<ast::ExclusionConstraint>(constraint.node);
  EXPECT_EQ(exclusion.access_method, "gist");
  ASSERT_EQ(exclusion.elements.size(), 2U);
  EXPECT_EQ(exclusion.elements[0].column, "a");
  EXPECT_THAT(exclusion.operators[0], ElementsAre("="));
  EXPECT_THAT(exclusion.operators[1], ElementsAre("s", "&&"));
  EXPECT_NE(exclusion.where, nullptr);
}

TEST(ParseStatement, RolesAndRights) {
  const auto grant = parse_as<ast::Grant>("GRANT SELECT (a), INSERT ON s.t TO bob, PUBLIC WITH GRANT OPTION");
  EXPECT_EQ(grant.privileges.at(0).name, "select");
  EXPECT_THAT(grant.privileges.at(0).columns, ElementsAre("a"));
  EXPECT_THAT(grant.grantees, ElementsAre("bob", "public"));
  EXPECT_THAT(grant.objects.at(0).names, ElementsAre("s", "t"));
  EXPECT_TRUE(grant.grant_option);
  EXPECT_THAT(parse_as<ast::Grant>("REVOKE ALL ON SCHEMA s FROM bob").privileges, IsEmpty());
  EXPECT_THAT(parse_as<ast::GrantRole>("GRANT a, b TO c").roles, ElementsAre("a", "b"));
  const auto defaults = parse_as<ast::Grant>("ALTER DEFAULT PRIVILEGES FOR ROLE bob IN SCHEMA a, b REVOKE SELECT ON TABLES FROM PUBLIC");
  EXPECT_TRUE(defaults.defaults);
  EXPECT_FALSE(defaults.grant);
  EXPECT_THAT(defaults.makers, ElementsAre("bob"));
  EXPECT_THAT(defaults.schemas, ElementsAre("a", "b"));
  EXPECT_EQ(parse_as<ast::CreateRole>("CREATE USER u PASSWORD 'p'").kind, ast::CreateRole::Kind::kUser);
}

// --- session -------------------------------------------------------------------------------------------------------

TEST(ParseStatement, Settings) {
  using Kind = ast::SetVariable::Kind;
  const auto set = parse_as<ast::SetVariable>("SET LOCAL search_path TO a, 'B', 3");
  EXPECT_TRUE(set.local);
  ASSERT_EQ(set.values.size(), 3U);
  EXPECT_EQ(set.values[1].text, "B");
  EXPECT_FALSE(set.values[2].is_string);
  EXPECT_EQ(parse_as<ast::SetVariable>("SET x TO on").values.at(0).text, "on");
  EXPECT_EQ(parse_as<ast::SetVariable>("SET x TO -1.5").values.at(0).text, "-1.5");
  EXPECT_EQ(parse_as<ast::SetVariable>("SET my.x = 1").name, "my.x");
  EXPECT_EQ(parse_as<ast::SetVariable>("SET x TO DEFAULT").kind, Kind::kDefault);
  EXPECT_EQ(parse_as<ast::SetVariable>("RESET x").kind, Kind::kReset);
  EXPECT_EQ(parse_as<ast::SetVariable>("RESET ALL").kind, Kind::kResetAll);
  const auto zone = parse_as<ast::SetVariable>("SET TIME ZONE INTERVAL '-08:00' HOUR TO MINUTE");
  EXPECT_EQ(zone.name, "timezone");
  EXPECT_TRUE(zone.values.at(0).interval);
  EXPECT_EQ(parse_as<ast::SetVariable>("SET TIME ZONE LOCAL").kind, Kind::kDefault);
  EXPECT_EQ(parse_as<ast::SetVariable>("SET NAMES 'utf8'").name, "client_encoding");
  const auto level =
      parse_as<ast::SetVariable>("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE");
  EXPECT_TRUE(level.session_characteristics);
  EXPECT_EQ(std::get<std::string>(option(level.modes, "transaction_isolation").value), "serializable");
  EXPECT_EQ(parse_as<ast::SetVariable>("SET TRANSACTION SNAPSHOT 'abc'").snapshot, "abc");
  EXPECT_EQ(parse_as<ast::ShowVariable>("SHOW TIME ZONE").name, "timezone");
  EXPECT_EQ(parse_as<ast::ShowVariable>("SHOW ALL").name, "all");
}

TEST(ParseStatement, Transactions) {
  const auto begin = parse_as<ast::Transaction>("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY, NOT DEFERRABLE");
  EXPECT_EQ(std::get<std::string>(option(begin.modes, "transaction_isolation").value), "repeatable read");
  EXPECT_EQ(std::get<std::int64_t>(option(begin.modes, "transaction_read_only").value), 1);
  EXPECT_EQ(std::get<std::int64_t>(option(begin.modes, "transaction_deferrable").value), 0);
  EXPECT_TRUE(parse_as<ast::Transaction>("COMMIT AND CHAIN").chain);
  EXPECT_EQ(parse_as<ast::Transaction>("ROLLBACK TO SAVEPOINT a").savepoint, "a");
  EXPECT_EQ(parse_as<ast::Transaction>("END").kind, ast::TransactionKind::kCommit);
  EXPECT_TRUE(parse_as<ast::SetConstraints>("SET CONSTRAINTS ALL DEFERRED").deferred);
}

TEST(ParseStatement, PreparedAndCursors) {
  EXPECT_EQ(parse_as<ast::Prepare>("PREPARE p (int, text) AS SELECT $1").parameter_types.size(), 2U);
  EXPECT_EQ(parse_as<ast::Execute>("EXECUTE p (1, 'a')").arguments.size(), 2U);
  EXPECT_EQ(parse_as<ast::Deallocate>("DEALLOCATE ALL").name, "");
  const auto declare = parse_as<ast::DeclareCursor>("DECLARE c BINARY NO SCROLL CURSOR WITH HOLD FOR SELECT 1");
  EXPECT_TRUE(declare.binary);
  EXPECT_TRUE(declare.hold);
  EXPECT_EQ(declare.scroll, false);
  EXPECT_EQ(declare.insensitive, std::nullopt);
  EXPECT_EQ(parse_as<ast::Fetch>("FETCH ALL FROM c").count, ast::Fetch::kAll);
  EXPECT_EQ(parse_as<ast::Fetch>("FETCH c").count, 1);
  const auto move = parse_as<ast::Fetch>("MOVE LAST IN c");
  EXPECT_TRUE(move.move);
  EXPECT_EQ(move.direction, ast::FetchDirection::kAbsolute);
  EXPECT_EQ(move.count, -1);
  EXPECT_EQ(parse_as<ast::ClosePortal>("CLOSE ALL").name, "");
}

TEST(ParseStatement, Maintenance) {
  const auto explain = parse_as<ast::Explain>("EXPLAIN (ANALYZE, FORMAT json, COSTS off) SELECT 1");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(option(explain.options, "analyze").value));
  EXPECT_EQ(std::get<std::string>(option(explain.options, "format").value), "json");
  EXPECT_TRUE(std::holds_alternative<ast::Select>(explain.statement->node));
  EXPECT_EQ(parse_as<ast::Explain>("EXPLAIN ANALYZE VERBOSE SELECT 1").options.size(), 2U);
  const auto copy = parse_as<ast::Copy>("COPY t (a, b) FROM STDIN WITH (FORMAT csv, HEADER, FORCE_NULL (a))");
  EXPECT_TRUE(copy.from);
  EXPECT_EQ(copy.file, std::nullopt);
  EXPECT_THAT(std::get<std::vector<std::string>>(option(copy.options, "force_null").value), ElementsAre("a"));
  EXPECT_NE(parse_as<ast::Copy>("COPY (SELECT 1) TO STDOUT CSV").query, nullptr);
  EXPECT_EQ(parse_as<ast::Copy>("COPY t TO '/tmp/x'").file, "/tmp/x");
  EXPECT_TRUE(parse_as<ast::Vacuum>("ANALYZE t (a)").analyze_only);
  EXPECT_EQ(parse_as<ast::Vacuum>("VACUUM (FULL, VERBOSE) a, b").relations.size(), 2U);
  EXPECT_EQ(parse_as<ast::Reindex>("REINDEX TABLE t").relation->name, "t");
  EXPECT_EQ(parse_as<ast::LockTable>("LOCK TABLE t IN ROW SHARE MODE NOWAIT").mode, 2);
  EXPECT_EQ(parse_as<ast::Discard>("DISCARD TEMP").target, ast::DiscardTarget::kTemporary);
  EXPECT_EQ(parse_as<ast::Notify>("NOTIFY c, 'p'").payload, "p");
  EXPECT_EQ(parse_as<ast::Do>("DO LANGUAGE plpgsql 'x'").language, "plpgsql");
  const ast::Call call = parse_as<ast::Call>("CALL s.f(1)");
  const auto& called = std::get<ast::FunctionRef>(std::get<ast::Select>(call.query->node).from.at(0).node);
  EXPECT_EQ(std::get<ast::FunctionCall>(called.functions.at(0).call->node).arguments.size(), 1U);
}

TEST(ParseStatement, CommandTags) {
  const auto tag = [](const std::string& text) {
    const std::vector<ParsedStatement> statements = parse(text);
    return std::string(command_tag(*statements.at(0).statement));
  };
  EXPECT_EQ(tag("SELECT 1"), "SELECT");
  EXPECT_EQ(tag("CREATE TABLE t ()"), "CREATE TABLE");
  EXPECT_EQ(tag("CREATE TABLE t AS SELECT 1"), "CREATE TABLE AS");
  EXPECT_EQ(tag("DROP INDEX i"), "DROP INDEX");
  EXPECT_EQ(tag("DROP MATERIALIZED VIEW i"), "DROP MATERIALIZED VIEW");
  EXPECT_EQ(tag("ALTER TABLE t RENAME a TO b"), "ALTER TABLE");
  EXPECT_EQ(tag("ALTER VIEW v RENAME TO w"), "ALTER VIEW");
  EXPECT_EQ(tag("ALTER INDEX i RENAME TO w"), "ALTER INDEX");
  EXPECT_EQ(tag("ALTER SCHEMA s OWNER TO x"), "ALTER SCHEMA");
  EXPECT_EQ(tag("ALTER SEQUENCE s RESTART"), "ALTER SEQUENCE");
  EXPECT_EQ(tag("RELEASE a"), "RELEASE");
  EXPECT_EQ(tag("ABORT"), "ROLLBACK");
  EXPECT_EQ(tag("RESET ALL"), "RESET");
  EXPECT_EQ(tag("DEALLOCATE ALL"), "DEALLOCATE ALL");
  EXPECT_EQ(tag("CLOSE c"), "CLOSE CURSOR");
  EXPECT_EQ(tag("CREATE TRIGGER a BEFORE INSERT ON t EXECUTE FUNCTION f()"), "CREATE TRIGGER");
  EXPECT_EQ(tag("CREATE AGGREGATE a (int) (sfunc = f, stype = int)"), "CREATE AGGREGATE");
  EXPECT_EQ(tag("CREATE DATABASE d"), "CREATE DATABASE");
  EXPECT_EQ(tag("CREATE TYPE t AS RANGE (subtype = int)"), "CREATE TYPE");
  EXPECT_EQ(tag("CREATE POLICY p ON t"), "CREATE POLICY");
  EXPECT_EQ(tag("ALTER SYSTEM SET x = 1"), "ALTER SYSTEM");
}

}  // namespace
}  // namespace redquel::parser
