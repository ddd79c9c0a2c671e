#include "tests/unit/server/running_server.h"

namespace redquel::server {
namespace {

using Lines = std::vector<std::string>;

TEST(SimpleQuery, RowsAndTags) {
  RunningServer server;
  auto client = server.client();
  EXPECT_EQ(client->ask(query("SELECT rows(2)")), (Lines{"T", "D 1", "D 2", "C SELECT 2", "Z I"}));
  EXPECT_EQ(client->ask(query("INSERT INTO t VALUES (1)")), (Lines{"C INSERT 0 1", "Z I"}));
  EXPECT_EQ(client->ask(query("")), (Lines{"I", "Z I"}));
  EXPECT_EQ(client->ask(query(" ; -- nothing")), (Lines{"I", "Z I"}));
}

TEST(SimpleQuery, TheErrorEndsTheString) {
  RunningServer server;
  auto client = server.client();
  EXPECT_EQ(client->ask(query("SELECT rows(1); SELECT divide(); SELECT rows(3)")),
            (Lines{"T", "D 1", "C SELECT 1", "E 22012 division by zero", "Z I"}));
  // Nothing runs where one of them does not parse.
  const int prepared = server.counters().prepared;
  EXPECT_EQ(client->ask(query("SELECT rows(1); SELEC")), (Lines{"E 42601 syntax error at or near \"SELEC\"", "Z I"}));
  EXPECT_EQ(server.counters().prepared, prepared);
}

TEST(SimpleQuery, PositionsCountCharactersInTheWholeString) {
  RunningServer server;
  auto client = server.client();
  client->send(query("SELECT 'ä', rows(1); SELECT wrong"));
  std::string position;
  for (const Answer& answer : client->until('Z')) {
    if (answer.type == 'E') position = answer.field('P');
  }
  EXPECT_EQ(position, "29");
  client->send(query("SELECT 'äö', wrong"));
  for (const Answer& answer : client->until('Z')) {
    if (answer.type == 'E') position = answer.field('P');
  }
  EXPECT_EQ(position, "14");
}

TEST(SimpleQuery, InvalidTexts) {
  RunningServer server;
  auto client = server.client();
  EXPECT_EQ(client->ask(query("SELECT '\xe4\xb8'")),
            (Lines{"E 22021 invalid byte sequence for encoding \"UTF8\": 0xe4 0xb8 0x27", "Z I"}));
  EXPECT_EQ(client->ask(message('Q', "SELECT")), (Lines{"E 08P01 invalid string in message", "Z I"}));
  EXPECT_EQ(client->ask(query("SELECT rows(1)")).back(), "Z I");
}

TEST(SimpleQuery, TenThousandStatements) {
  RunningServer server;
  auto client = server.client();
  std::string sql;
  for (int i = 0; i < 10000; ++i) sql += "SELECT rows(1);";
  const Lines answers = client->ask(query(sql));
  EXPECT_EQ(answers.size(), 30001u);
}

TEST(SimpleQuery, ParametersAndTheirReports) {
  RunningServer server;
  auto client = server.client();
  EXPECT_EQ(
      client->ask(query("SET datestyle = german; SET TimeZone = 'CET'; SHOW datestyle")),
      (Lines{"C SET", "C SET", "T", "D German, DMY", "C SHOW", "S DateStyle=German, DMY", "S TimeZone=CET", "Z I"}));
  EXPECT_EQ(client->ask(query("SET nix = 1")), (Lines{"E 42704 unrecognized configuration parameter \"nix\"", "Z I"}));
  EXPECT_EQ(client->ask(query("RESET ALL")), (Lines{"C RESET", "S DateStyle=ISO, MDY", "S TimeZone=UTC", "Z I"}));
  EXPECT_EQ(
      client->ask(query("SET LOCAL work_mem = '1MB'")),
      (Lines{"N 25P01 SET LOCAL can only be used in transaction blocks", "C SET", "Z I"}));
  EXPECT_EQ(client->ask(query("SHOW work_mem")), (Lines{"T", "D 64MB", "C SHOW", "Z I"}));
  EXPECT_EQ(client->ask(query("SET search_path = a, \"B c\"; SHOW search_path")),
            (Lines{"C SET", "T", "D a, \"B c\"", "C SHOW", "Z I"}));
  EXPECT_GT(client->ask(query("SHOW ALL")).size(), 100u);
}

TEST(SimpleQuery, TransactionsAreHonest) {
  RunningServer server;
  auto client = server.client();
  EXPECT_EQ(client->ask(query("BEGIN")), (Lines{"C BEGIN", "Z T"}));
  EXPECT_EQ(client->ask(query("BEGIN")), (Lines{"N 25001 there is already a transaction in progress", "C BEGIN", "Z T"}));
  EXPECT_EQ(client->ask(query("SELECT divide()")), (Lines{"E 22012 division by zero", "Z E"}));
  EXPECT_EQ(client->ask(query("SELECT rows(1)")),
            (Lines{"E 25P02 current transaction is aborted, commands ignored until end of transaction block", "Z E"}));
  EXPECT_EQ(client->ask(query("COMMIT")), (Lines{"C ROLLBACK", "Z I"}));
  EXPECT_EQ(client->ask(query("COMMIT")), (Lines{"N 25P01 there is no transaction in progress", "C COMMIT", "Z I"}));
  EXPECT_EQ(client->ask(query("SAVEPOINT a")),
            (Lines{"E 25P01 SAVEPOINT can only be used in transaction blocks", "Z I"}));
}

TEST(SimpleQuery, NoticesFollowClientMinMessages) {
  RunningServer server;
  auto client = server.client();
  EXPECT_EQ(client->ask(query("SELECT notice()")), (Lines{"N 00000 well", "T", "D 1", "C SELECT 1", "Z I"}));
  client->ask(query("SET client_min_messages = warning"));
  EXPECT_EQ(client->ask(query("SELECT notice()")), (Lines{"T", "D 1", "C SELECT 1", "Z I"}));
}

TEST(SimpleQuery, ClientEncoding) {
  RunningServer server;
  auto client = server.client({{"client_encoding", "LATIN1"}});
  EXPECT_EQ(client->ask(query("SET my.word = 'caf\xe9'; SHOW my.word")),
            (Lines{"C SET", "T", "D caf\xe9", "C SHOW", "Z I"}));
  EXPECT_EQ(client->ask(query("SET client_encoding = utf8; SHOW my.word")),
            (Lines{"C SET", "T", "D caf\xc3\xa9", "C SHOW", "S client_encoding=UTF8", "Z I"}));
}

TEST(SimpleQuery, SqlPrepare) {
  RunningServer server;
  auto client = server.client();
  EXPECT_EQ(client->ask(query("PREPARE p AS SELECT rows(2)")), (Lines{"C PREPARE", "Z I"}));
  EXPECT_EQ(client->ask(query("PREPARE p AS SELECT rows(2)")),
            (Lines{"E 42P05 prepared statement \"p\" already exists", "Z I"}));
  EXPECT_EQ(client->ask(query("EXECUTE p")), (Lines{"T", "D 1", "D 2", "C SELECT 2", "Z I"}));
  EXPECT_EQ(client->ask(query("EXECUTE p(1)")),
            (Lines{"E 42601 wrong number of parameters for prepared statement \"p\"", "Z I"}));
  EXPECT_EQ(client->ask(query("DEALLOCATE p; EXECUTE p")),
            (Lines{"C DEALLOCATE", "E 26000 prepared statement \"p\" does not exist", "Z I"}));
  EXPECT_EQ(client->ask(query("DISCARD ALL")), (Lines{"C DISCARD ALL", "Z I"}));
}

}  // namespace
}  // namespace redquel::server
