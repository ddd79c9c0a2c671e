#include "tests/unit/server/running_server.h"

namespace redquel::server {
namespace {

using Lines = std::vector<std::string>;

class ExtendedQuery : public testing::Test {
 protected:
  RunningServer server;
  std::unique_ptr<WireClient> client = server.client();
};

TEST_F(ExtendedQuery, RunsAllSteps) {
  EXPECT_EQ(client->ask(parse("", "SELECT rows(2)") + bind("", "") + describe('P', "") + execute("") + kSync),
            (Lines{"1", "2", "T", "D 1", "D 2", "C SELECT 2", "Z I"}));
  EXPECT_EQ(
      client->ask(parse("i", "INSERT INTO t VALUES (1)") + describe('S', "i") + bind("", "i") + execute("") + kSync),
      (Lines{"1", "t", "n", "2", "C INSERT 0 1", "Z I"}));
  EXPECT_EQ(client->ask(parse("", "") + bind("", "") + describe('S', "") + describe('P', "") + execute("") + kSync),
            (Lines{"1", "2", "t", "n", "n", "I", "Z I"}));
}

TEST_F(ExtendedQuery, PipelinesWithoutWaiting) {
  client->ask(parse("p", "SELECT rows(1)") + kSync);
  std::string pipeline;
  for (int i = 0; i < 1000; ++i) pipeline += bind("", "p") + execute("") + kSync;
  client->send(pipeline);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<Answer> answers = client->until('Z');
    ASSERT_EQ(answers.size(), 4u);
    EXPECT_EQ(answers[1].brief(), "D 1");
  }
  EXPECT_EQ(server.counters().prepared, 1);
}

TEST_F(ExtendedQuery, AfterAnErrorEverythingIsSkippedUpToSync) {
  EXPECT_EQ(client->ask(bind("", "nix") + parse("", "SELECT rows(1)") + query("SELECT rows(1)") + execute("") + kSync),
            (Lines{"E 26000 prepared statement \"nix\" does not exist", "Z I"}));
  EXPECT_EQ(
      client->ask(parse("", "SELECT rows(1)") + bind("", "") + execute("") + execute("x") + describe('P', "") + kSync),
      (Lines{"1", "2", "D 1", "C SELECT 1", "E 34000 portal \"x\" does not exist", "Z I"}));
  // The error leaves at once, before a Sync.
  client->send(bind("", "nix"));
  EXPECT_EQ(client->next().type, 'E');
  EXPECT_EQ(client->ask(kSync), (Lines{"Z I"}));
}

TEST_F(ExtendedQuery, PortalsStopAndGoOn) {
  client->send(parse("", "SELECT rows(25)") + bind("a", "") + bind("b", "") + execute("a", 12) + execute("b", 1) +
               execute("a", 12) + execute("b", 0) + execute("a", 12) + execute("a", 1) + kSync);
  std::string shape;
  std::string tags;
  for (const Answer& answer : client->until('Z')) {
    if (answer.type == 'D' && !shape.empty() && shape.back() == 'D') continue;
    shape.push_back(answer.type);
    if (answer.type == 'C') tags += answer.brief() + ";";
  }
  EXPECT_EQ(shape, "122DsDsDsDCDCCZ");
  EXPECT_EQ(tags, "C SELECT 24;C SELECT 1;C SELECT 0;");
  // A limit that is reached exactly suspends, too.
  EXPECT_EQ(client->ask(parse("", "SELECT rows(2)") + bind("", "") + execute("", 2) + execute("", 2) + kSync),
            (Lines{"1", "2", "D 1", "D 2", "s", "C SELECT 0", "Z I"}));
}

TEST_F(ExtendedQuery, AWriteIsCompleteBeforeItsRowsComeInPieces) {
  client->send(parse("", "INSERT INTO t SELECT rows(30) RETURNING 1") + bind("", "") + execute("", 5) + kFlush);
  const std::vector<Answer> answers = client->until('s');
  EXPECT_EQ(answers.size(), 8u);
  EXPECT_EQ(server.counters().pulled, 3);
  EXPECT_EQ(client->ask(execute("", 0) + kSync).at(25), "C INSERT 0 25");
}

TEST_F(ExtendedQuery, SyncClosesPortalsAndKeepsStatements) {
  client->ask(parse("s", "SELECT rows(3)") + bind("p", "s") + execute("p", 1) + kSync);
  EXPECT_EQ(server.counters().running, 0);
  EXPECT_EQ(client->ask(execute("p") + kSync), (Lines{"E 34000 portal \"p\" does not exist", "Z I"}));
  EXPECT_EQ(
      client->ask(bind("p", "s") + close_object('P', "p") + close_object('P', "p") + close_object('S', "nix") + kSync),
      (Lines{"2", "3", "3", "3", "Z I"}));
  EXPECT_EQ(client->ask(close_object('S', "s") + bind("", "s") + kSync),
            (Lines{"3", "E 26000 prepared statement \"s\" does not exist", "Z I"}));
}

TEST_F(ExtendedQuery, Names) {
  client->ask(parse("s", "SELECT rows(1)") + kSync);
  EXPECT_EQ(client->ask(parse("s", "SELECT rows(1)") + kSync),
            (Lines{"E 42P05 prepared statement \"s\" already exists", "Z I"}));
  EXPECT_EQ(client->ask(bind("p", "s") + bind("p", "s") + kSync),
            (Lines{"2", "E 42P03 cursor \"p\" already exists", "Z I"}));
  EXPECT_EQ(client->ask(bind("", "s") + bind("", "s") + kSync), (Lines{"2", "2", "Z I"}));
  EXPECT_EQ(client->ask(describe('S', "") + kSync),
            (Lines{"E 26000 unnamed prepared statement does not exist", "Z I"}));
  EXPECT_EQ(client->ask(parse("", "SELECT rows(1); SELECT rows(2)") + kSync),
            (Lines{"E 42601 cannot insert multiple commands into a prepared statement", "Z I"}));
  // A simple query forgets the unnamed statement.
  client->ask(parse("", "SELECT rows(1)") + kSync);
  client->ask(query("SELECT rows(1)"));
  EXPECT_EQ(client->ask(bind("", "") + kSync), (Lines{"E 26000 unnamed prepared statement does not exist", "Z I"}));
}

TEST_F(ExtendedQuery, FormatsAndCounts) {
  const std::string two = parse("", "SELECT echo($1, $2)", {23, 25});
  EXPECT_EQ(client->ask(two + bind("", "", {}, {"7", "x"}) + execute("") + kSync),
            (Lines{"1", "2", "D 7|x", "C SELECT 1", "Z I"}));
  EXPECT_EQ(client->ask(two + bind("", "", {1}, {int32(7), std::nullopt}, {0}) + execute("") + kSync),
            (Lines{"1", "2", "D 7|NULL", "C SELECT 1", "Z I"}));
  EXPECT_EQ(client->ask(two + bind("", "", {1, 0}, {int32(7), "x"}, {1, 0}) + execute("") + kSync),
            (Lines{"1", "2", "D " + int32(7) + "|x", "C SELECT 1", "Z I"}));
  EXPECT_EQ(client->ask(two + bind("", "", {0, 0, 0}, {"7", "x"}) + kSync),
            (Lines{"1", "E 08P01 bind message has 3 parameter formats but 2 parameters", "Z I"}));
  EXPECT_EQ(client->ask(two + bind("", "", {}, {"7"}) + kSync),
            (Lines{"1", "E 08P01 bind message supplies 1 parameters, but prepared statement \"\" requires 2", "Z I"}));
  EXPECT_EQ(client->ask(two + bind("", "", {}, {"7", "x"}, {1, 1, 1}) + kSync),
            (Lines{"1", "E 08P01 bind message has 3 result formats but query has 2 columns", "Z I"}));
  EXPECT_EQ(client->ask(two + bind("", "", {7}, {"7", "x"}) + kSync),
            (Lines{"1", "E 22023 unsupported format code: 7", "Z I"}));
  EXPECT_EQ(client->ask(two + bind("", "", {}, {"7", "x"}, {5}) + describe('P', "") + execute("") + kSync),
            (Lines{"1", "2", "T", "E 22023 unsupported format code: 5", "Z I"}));
}

TEST_F(ExtendedQuery, BadValues) {
  const std::string one = parse("", "SELECT echo($1)", {23});
  EXPECT_EQ(client->ask(one + bind("", "", {1}, {std::string("\0\0\0\0\1", 5)}) + kSync),
            (Lines{"1", "E 22P03 incorrect binary data format in bind parameter 1", "Z I"}));
  EXPECT_EQ(client->ask(one + bind("", "", {1}, {std::string("\0\0", 2)}) + kSync),
            (Lines{"1", "E 08P01 insufficient data left in message", "Z I"}));
  EXPECT_EQ(client->ask(one + bind("", "", {}, {"abc"}) + kSync),
            (Lines{"1", "E 22P02 invalid input syntax for type integer: \"abc\"", "Z I"}));
  const std::string text = parse("", "SELECT echo($1)", {25});
  EXPECT_EQ(client->ask(text + bind("", "", {}, {"\xff"}) + kSync),
            (Lines{"1", "E 22021 invalid byte sequence for encoding \"UTF8\": 0xff", "Z I"}));
  EXPECT_EQ(client->ask(text + bind("", "", {}, {std::string("a\0b", 3)}) + kSync),
            (Lines{"1", "E 22021 invalid byte sequence for encoding \"UTF8\": 0x00", "Z I"}));
  EXPECT_EQ(client->ask(parse("", "SELECT echo($1)", {999999}) + kSync).front(),
            "E 42704 type with OID 999999 does not exist");
}

TEST_F(ExtendedQuery, SessionStatements) {
  EXPECT_EQ(
      client->ask(parse("", "SHOW work_mem") + describe('S', "") + bind("", "") + execute("") + execute("") + kSync),
      (Lines{"1", "t", "T", "2", "D 64MB", "C SHOW", "C SHOW", "Z I"}));
  EXPECT_EQ(client->ask(parse("", "SET work_mem = 100") + bind("", "") + execute("") + execute("") + kSync),
            (Lines{"1", "2", "C SET", "E 55000 portal \"\" cannot be run", "Z I"}));
  EXPECT_EQ(client->ask(parse("", "SHOW nix") + kSync),
            (Lines{"E 42704 unrecognized configuration parameter \"nix\"", "Z I"}));
  // It discards every portal but its own.
  EXPECT_EQ(client->ask(parse("s", "SELECT rows(9)") + bind("p", "s") + execute("p", 1) + parse("", "DISCARD ALL") +
                        bind("", "") + execute("") + execute("p") + kSync),
            (Lines{"1", "2", "D 1", "s", "1", "2", "C DISCARD ALL", "E 34000 portal \"p\" does not exist", "Z I"}));
}

TEST_F(ExtendedQuery, RowDescriptionNamesTableAndColumn) {
  client->send(parse("", "SELECT rows(1)") + describe('S', "") + kSync);
  for (const Answer& answer : client->until('Z')) {
    if (answer.type != 'T') continue;
    EXPECT_EQ(answer.body,
              int16(1) + text("rows") + int32(77) + int16(3) + int32(23) + int16(4) + int32(-1) + int16(0));
  }
}

TEST_F(ExtendedQuery, FunctionCallsAndStrayCopyData) {
  EXPECT_EQ(client->ask(message('F', int32(0))),
            (Lines{"E 0A000 the function call protocol (fastpath) is not supported by redquel", "Z I"}));
  EXPECT_EQ(client->ask(message('d', "x") + message('c') + message('f', text("x")) + query("SELECT rows(1)")).size(),
            4u);
}

}  // namespace
}  // namespace redquel::server
