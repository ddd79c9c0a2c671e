#include <sys/resource.h>

#include "tests/unit/server/running_server.h"

namespace redquel::server {
namespace {

using Lines = std::vector<std::string>;

std::string cancel_request(const std::string& key) { return int32(16) + int32(80877102) + key; }

TEST(SessionLife, Greeting) {
  RunningServer server;
  auto client = server.client({{"application_name", "test"}, {"options", "-c datestyle=german"}});
  Lines greeting;
  for (const Answer& answer : client->greeting()) greeting.push_back(answer.brief());
  ASSERT_EQ(greeting.size(), 16u);
  EXPECT_EQ(greeting[1], "S application_name=test");
  EXPECT_EQ(greeting[3], "S DateStyle=German, DMY");
  EXPECT_EQ(greeting.back(), "Z I");
}

TEST(SessionLife, EncryptionIsDeclined) {
  RunningServer server;
  WireClient client(server.port());
  client.send(int32(8) + int32(80877103));
  EXPECT_EQ(client.raw(1), "N");
  client.send(int32(8) + int32(80877104));
  EXPECT_EQ(client.raw(1), "N");
  EXPECT_EQ(client.ask(startup({{"user", "postgres"}})).back(), "Z I");
}

TEST(SessionLife, NewerProtocolsAreNegotiated) {
  RunningServer server;
  WireClient client(server.port());
  client.send(startup({{"user", "postgres"}, {"_pq_.x", "1"}}, 196610));
  const Answer first = client.next();
  EXPECT_EQ(first.type, 'v');
  EXPECT_EQ(first.body, int32(196608) + int32(1) + text("_pq_.x"));
  EXPECT_EQ(client.until('Z').back().type, 'Z');
}

TEST(SessionLife, StartupsThatFail) {
  RunningServer server;
  const auto last = [&](const std::string& bytes) {
    WireClient client(server.port());
    client.send(bytes);
    Answer answer = client.next();
    while (answer.type == 'R' || answer.type == 'S') answer = client.next();
    return answer.brief();
  };
  EXPECT_EQ(last(startup({{"user", "a"}, {"database", "nix"}})), "E 3D000 database \"nix\" does not exist");
  EXPECT_EQ(last(startup({{"user", "postgres"}, {"nix", "1"}})),
            "E 42704 unrecognized configuration parameter \"nix\"");
  EXPECT_EQ(last(startup({})), "E 28000 no PostgreSQL user name specified in startup packet");
  EXPECT_EQ(last(startup({{"user", "a"}, {"replication", "true"}})), "E 0A000 physical replication is not supported by redquel");
  EXPECT_EQ(last("GET / HTTP/1.0\r\n\r\n"), "end");
  EXPECT_EQ(last(int32(0)), "end");
  EXPECT_EQ(last(int32(3)), "end");
  EXPECT_EQ(last(int32(0x7fffffff) + int32(196608)), "end");
  EXPECT_EQ(last(int32(10005) + int32(196608)), "end");
}

TEST(SessionLife, BrokenStreamsEndTheSessionOnly) {
  RunningServer server;
  for (const std::string& bytes : {"Q" + int32(0), "Q" + int32(3), "Q" + int32(0x7fffffff), "S" + int32(65536)}) {
    auto client = server.client();
    EXPECT_EQ(client->ask(bytes + "some more", 0).front(), "E 08P01 invalid message length");
  }
  auto client = server.client();
  EXPECT_EQ(client->ask(message('j'), 0), (Lines{"E 08P01 invalid frontend message type 106", "end"}));
  EXPECT_EQ(server.client()->ask(query("SELECT rows(1)")).size(), 4u);
}

TEST(SessionLife, CancelReachesTheStatementOnItsThread) {
  RunningServer server;
  // Several, so that canceller and cancelled meet on equal and on different threads.
  for (int i = 0; i < 4; ++i) {
    auto client = server.client();
    client->send(query("SELECT wait()"));
    ASSERT_TRUE(eventually([&] { return server.counters().running == 1; }));
    WireClient wrong(server.port());
    wrong.send(cancel_request(client->key().substr(0, 4) + int32(12345)));
    EXPECT_EQ(wrong.next().type, 0);
    EXPECT_FALSE(client->has_bytes(50) && client->next().type == 'E');
    WireClient canceller(server.port());
    canceller.send(cancel_request(client->key()));
    EXPECT_EQ(canceller.next().type, 0);
    Lines answers;
    for (const Answer& answer : client->until('Z')) answers.push_back(answer.brief());
    EXPECT_EQ(answers.at(answers.size() - 2), "E 57014 canceling statement due to user request");
    EXPECT_EQ(client->ask(query("SELECT rows(1)")), (Lines{"T", "D 1", "C SELECT 1", "Z I"}));
    EXPECT_EQ(server.counters().running, 0);
  }
  // Nothing runs: nothing happens.
  auto idle = server.client();
  WireClient canceller(server.port());
  canceller.send(cancel_request(idle->key()));
  EXPECT_EQ(canceller.next().type, 0);
  EXPECT_EQ(idle->ask(query("SELECT rows(1)")).size(), 4u);
}

TEST(SessionLife, StatementTimeout) {
  RunningServer server;
  auto client = server.client();
  client->ask(query("SET statement_timeout = 2000"));
  EXPECT_EQ(client->ask(query("SELECT wait()")),
            (Lines{"E 57014 canceling statement due to statement timeout", "Z I"}));
  EXPECT_EQ(client->ask(parse("", "SELECT wait()") + bind("", "") + execute("") + execute("") + kSync),
            (Lines{"1", "2", "E 57014 canceling statement due to statement timeout", "Z I"}));
  EXPECT_EQ(client->ask(query("SELECT rows(1)")).size(), 4u);
}

TEST(SessionLife, IdleSessionTimeout) {
  RunningServer server;
  auto client = server.client();
  EXPECT_EQ(client->ask(query("SET idle_session_timeout = 100")).back(), "Z I");
  EXPECT_EQ(client->next().brief(), "E 57P05 terminating connection due to idle-session timeout");
  EXPECT_EQ(client->next().type, 0);
}

TEST(SessionLife, AClientThatDoesNotReadStopsThePulling) {
  RunningServer server;
  WireClient client(server.port(), 16 * 1024);
  client.send(startup({{"user", "postgres"}}));
  client.until('Z');
  client.send(query("SELECT wide(2000, 100000)"));
  ASSERT_TRUE(eventually([&] { return server.counters().pulled > 1; }));
  int before = -1;
  ASSERT_TRUE(eventually([&] { return std::exchange(before, server.counters().pulled) == server.counters().pulled; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(server.counters().pulled, 200);  // of 200 MB only what the socket buffers hold
  // Others are served meanwhile.
  EXPECT_EQ(server.client()->ask(query("SELECT rows(1)")).size(), 4u);
  std::size_t rows = 0;
  for (Answer answer = client.next(); answer.type != 'Z'; answer = client.next()) {
    ASSERT_NE(answer.type, 0);
    if (answer.type == 'D') ++rows;
  }
  EXPECT_EQ(rows, 2000u);
}

TEST(SessionLife, AClientThatVanishesEndsItsStatement) {
  RunningServer server;
  const std::vector<std::string> states = {query("SELECT wait()"),
                                           query("SELECT wide(2000, 100000)"),
                                           parse("", "SELECT wait()") + bind("", "") + execute("") + kSync,
                                           parse("", "SELECT rows(50)") + bind("", "") + execute("", 1) + kFlush,
                                           query("SELECT 1").substr(0, 7),
                                           "Q",
                                           bind("", "nix")};
  for (const std::string& state : states) {
    auto client = server.client();
    client->send(state);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    client->close();
    EXPECT_TRUE(eventually([&] { return server.counters().running == 0; })) << state;
  }
  WireClient half(server.port());
  half.send(startup({{"user", "x"}}).substr(0, 6));
  half.close();
  EXPECT_EQ(server.client()->ask(query("SELECT rows(1)")).size(), 4u);
}

TEST(SessionLife, AHalfClosedSocketGetsItsAnswer) {
  RunningServer server;
  auto client = server.client();
  client->send(query("SELECT rows(3)") + kTerminate);
  client->half_close();
  EXPECT_EQ(client->until('Z').size(), 6u);
  EXPECT_EQ(client->next().type, 0);
}

TEST(SessionLife, TooManyClients) {
  RunningServer server([](ServerOptions& options) { options.max_connections = 2; });
  auto first = server.client();
  auto second = server.client();
  WireClient third(server.port());
  third.send(startup({{"user", "postgres"}}));
  EXPECT_EQ(third.next().brief(), "R");  // places are for clients that have logged in
  EXPECT_EQ(third.next().brief(), "E 53300 sorry, too many clients already");
  first->send(kTerminate);
  EXPECT_EQ(first->next().type, 0);
  EXPECT_TRUE(eventually([&] {
    WireClient again(server.port());
    return again.ask(startup({{"user", "postgres"}})).back() == "Z I";
  }));
}

TEST(SessionLife, ShutdownLetsStatementsFinishAndEndsIdleSessions) {
  RunningServer server;
  auto idle = server.client();
  auto busy = server.client();
  busy->send(query("SELECT wait()"));
  ASSERT_TRUE(eventually([&] { return server.counters().running == 1; }));
  server.ask_to_stop();
  EXPECT_EQ(idle->next().brief(), "E 57P01 terminating connection due to administrator command");
  EXPECT_EQ(idle->next().type, 0);
  EXPECT_EQ(busy->next().brief(), "E 57P01 terminating connection due to administrator command");
  EXPECT_EQ(busy->next().type, 0);
  server.stop();
}

TEST(SessionLife, OnlyThisMachine) {
  ServerOptions options;
  options.listen = {{"0.0.0.0", 0}};
  EXPECT_THROW(Server(options, fake_engines(std::make_shared<FakeCounters>())), std::runtime_error);
}

}  // namespace
}  // namespace redquel::server
