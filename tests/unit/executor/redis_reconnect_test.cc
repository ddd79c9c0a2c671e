#include <gmock/gmock.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <functional>

#include "executor/redis/shared_connection.h"
#include "sql/error.h"
#include "tests/unit/executor/one_command.h"
#include "tests/unit/executor/redis_test_server.h"
#include "tests/unit/executor/resp_text.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

using boost::asio::awaitable;
using boost::asio::local::stream_protocol;
using ::testing::HasSubstr;

std::string state_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const sql::SqlError& error) {
    return error.sqlstate() + " " + error.message();
  }
  return "none";
}

ConnectionOptions impatient(RedisUrl url) {
  ConnectionOptions options;
  options.url = std::move(url);
  options.connect_timeout = std::chrono::milliseconds(300);
  return options;
}

/// Longer than any process stands still.
ConnectionOptions patient(RedisUrl url) {
  ConnectionOptions options;
  options.url = std::move(url);
  options.connect_timeout = std::chrono::minutes(1);
  return options;
}

TEST(RedisReconnect, AStatementOnItsWayFailsAndTheNextOneIsServed) {
  RedisTestServer server;
  boost::asio::io_context loop;
  SharedConnection connection(loop.get_executor(), patient(server.url()));
  run_coroutine(loop, connection.ready());
  const std::string first_run = connection.server().run_id;
  const auto turns = connection.statistics().turns;

  server.pause();
  std::string outcome;
  bool done = false;
  const auto wait_for_reply = [](SharedConnection& redis, std::string& result, bool& ended) -> awaitable<void> {
    CommandBatch batch = one({"INCR", "n"});
    try {
      co_await redis.execute(std::move(batch));
    } catch (const sql::SqlError& error) {
      result = error.sqlstate() + " " + error.message();
    }
    ended = true;
  };
  boost::asio::co_spawn(loop, wait_for_reply(connection, outcome, done), boost::asio::detached);
  EXPECT_TRUE(run_until(loop, [&] { return connection.statistics().turns > turns; }));
  server.kill();
  EXPECT_TRUE(run_until(loop, [&] { return done; }));
  EXPECT_THAT(outcome, HasSubstr("08006 connection to Redis lost: "));

  // Asked while there is no server: waits until there is one again.
  done = false;
  outcome = "";
  boost::asio::co_spawn(loop, wait_for_reply(connection, outcome, done), boost::asio::detached);
  loop.run_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(done);
  server.start();
  EXPECT_TRUE(run_until(loop, [&] { return done; }));
  EXPECT_EQ(outcome, "");
  EXPECT_NE(connection.server().run_id, first_run);
  EXPECT_EQ(connection.generation(), 2u);
  EXPECT_EQ(connection.statistics().connects, 2u);
}

TEST(RedisReconnect, TheSameServerIsNoNewGeneration) {
  RedisTestServer server;
  boost::asio::io_context loop;
  SharedConnection connection(loop.get_executor(), patient(server.url()));
  SharedConnection other(loop.get_executor(), patient(server.url()));
  run_coroutine(loop, connection.ready());
  run_coroutine(loop, other.execute(one({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"})));
  EXPECT_TRUE(run_until(loop, [&] { return connection.statistics().connects == 2; }));
  run_coroutine(loop, connection.ready());
  EXPECT_EQ(connection.statistics().connects, 2u);
  EXPECT_EQ(connection.generation(), 1u);
}

TEST(RedisReconnect, WaitsNoLongerThanTheLimit) {
  boost::asio::io_context loop;
  RedisUrl nowhere = parse_redis_url("unix:///nonexistent/redis.sock");
  SharedConnection connection(loop.get_executor(), impatient(nowhere));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(state_of([&] { run_coroutine(loop, connection.ready()); }),
            "08006 could not connect to Redis at /nonexistent/redis.sock: No such file or directory");
  const auto waited = std::chrono::steady_clock::now() - start;
  EXPECT_GE(waited, std::chrono::milliseconds(290));
  EXPECT_LT(waited, std::chrono::minutes(1));
}

TEST(RedisReconnect, ASilentServerIsGivenUp) {
  RedisTestServer server;
  server.pause();  // it accepts (the kernel does) and says nothing
  boost::asio::io_context loop;
  SharedConnection connection(loop.get_executor(), impatient(server.url()));
  EXPECT_THAT(state_of([&] { run_coroutine(loop, connection.ready()); }),
              HasSubstr("08006 could not connect to Redis"));
  server.go_on();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::string outcome;
  do {
    outcome = state_of([&] { run_coroutine(loop, connection.ready()); });
  } while (outcome != "none" && std::chrono::steady_clock::now() < deadline);
  EXPECT_EQ(outcome, "none");
}

TEST(RedisReconnect, ReachesASocketWithALongPath) {
  TemporaryDirectory directory;
  std::filesystem::path deep = directory.path();
  for (int level = 0; level < 5; ++level) deep /= std::string(50, 'd');
  std::filesystem::create_directories(deep);
  ProcessSpec spec;
  spec.command = {"redis-server", "--port", "0", "--unixsocket", "redis.sock", "--save", ""};
  spec.working_directory = deep;
  const Descriptor log(::open((deep / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  spec.output = log.get();
  ChildProcess server(spec);
  boost::asio::io_context loop;
  ConnectionOptions options;
  options.url.place = UnixPlace{(deep / "redis.sock").string()};
  SharedConnection connection(loop.get_executor(), options);
  run_coroutine(loop, connection.ready());
}

TEST(RedisReconnect, SpeaksTcp) {
  // Redis takes no port 0 for "any", so a free one is looked for; another process may take it before Redis does.
  boost::asio::io_context loop;
  std::unique_ptr<RedisTestServer> server;
  std::string port;
  for (int attempt = 0; !server; ++attempt) {
    boost::asio::ip::tcp::acceptor finder(loop, {boost::asio::ip::make_address("127.0.0.1"), 0});
    port = std::to_string(finder.local_endpoint().port());
    finder.close();
    try {
      server = std::make_unique<RedisTestServer>(std::vector<std::string>{"--port", port, "--bind", "127.0.0.1"});
    } catch (const std::runtime_error&) {
      if (attempt == 10) throw;
    }
  }
  SharedConnection by_address(loop.get_executor(), patient(parse_redis_url("redis://127.0.0.1:" + port)));
  run_coroutine(loop, by_address.ready());
  SharedConnection by_name(loop.get_executor(), patient(parse_redis_url("redis://localhost:" + port + "/3")));
  run_coroutine(loop, by_name.ready());
}

TEST(RedisReconnect, MapsOutOfMemory) {
  RedisTestServer server({"--maxmemory", "1mb", "--maxmemory-policy", "noeviction"});
  boost::asio::io_context loop;
  SharedConnection connection(loop.get_executor(), patient(server.url()));
  const std::string large(100'000, 'x');
  EXPECT_THAT(state_of([&] {
                for (int number = 0; number < 30; ++number)
                  run_coroutine(loop, connection.execute(one({"SET", std::to_string(number), large})))->or_throw();
              }),
              HasSubstr("53200 Redis refused SET: OOM"));
}

// A server that shakes hands as Redis does and then answers what the test likes.

class ScriptedServer {
 public:
  using Answer = std::function<std::string(std::string_view request)>;

  ScriptedServer(boost::asio::io_context& loop, Answer answer) : answer_(std::move(answer)), acceptor_(loop) {
    path_ = (directory_.path() / "s").string();
    acceptor_.open();
    acceptor_.bind(stream_protocol::endpoint(path_));
    acceptor_.listen();
    boost::asio::co_spawn(loop, accept(), boost::asio::detached);
  }
  RedisUrl url() const {
    RedisUrl url;
    url.place = UnixPlace{path_};
    return url;
  }
  int connections() const { return connections_; }

 private:
  awaitable<void> accept() {
    while (true) {
      stream_protocol::socket socket = co_await acceptor_.async_accept(boost::asio::use_awaitable);
      ++connections_;
      boost::asio::co_spawn(acceptor_.get_executor(), serve(std::move(socket)), boost::asio::detached);
    }
  }
  awaitable<void> serve(stream_protocol::socket socket) {
    std::string buffer(65536, '\0');
    while (true) {
      const std::size_t count =
          co_await socket.async_read_some(boost::asio::buffer(buffer), boost::asio::use_awaitable);
      const std::string_view request(buffer.data(), count);
      std::string reply;
      if (request.find("SORT_RO") != std::string_view::npos) {
        reply = resp::ok() + resp::text("redis_version:7.0.0\r\nrun_id:a\r\nmaster_replid:b\r\n") + resp::ok() +
                resp::array({}) + resp::integer(1) + resp::array({});
      } else {
        reply = answer_(request);
        if (reply.empty()) co_return;  // hangs up
      }
      co_await boost::asio::async_write(socket, boost::asio::buffer(reply), boost::asio::use_awaitable);
    }
  }

  TemporaryDirectory directory_;
  Answer answer_;
  std::string path_;
  stream_protocol::acceptor acceptor_;
  int connections_ = 0;
};

TEST(RedisReconnect, HostileRepliesEndTheConnectionNotTheProcess) {
  const std::string cut_off = "$100\r\nabc";
  for (const std::string& hostile :
       {std::string("garbage\r\n"), std::string("*99999999999\r\n"), std::string("$-5\r\n"),
        resp::ok() + resp::ok() + resp::ok(), "+" + std::string(200'000, 'x'), cut_off + std::string(2 << 20, 'x')}) {
    boost::asio::io_context loop;
    bool is_hostile = true;
    ScriptedServer server(
        loop, [&](std::string_view) { return is_hostile ? hostile : resp::status("PONG") + resp::text("v1"); });
    ConnectionOptions options = patient(server.url());
    options.max_reply_bytes = 1 << 20;
    SharedConnection connection(loop.get_executor(), options);
    std::string outcome = state_of([&] { run_coroutine(loop, connection.ready()); });
    // The third +OK may come behind the turn that it disturbs.
    if (outcome == "none") outcome = state_of([&] { run_coroutine(loop, connection.ready()); });
    if (outcome != "none") {
      EXPECT_THAT(outcome, HasSubstr("08006 connection to Redis lost: ")) << hostile.substr(0, 20);
    }
    is_hostile = false;
    loop.run_for(std::chrono::milliseconds(50));
    const RepliesPtr replies = run_coroutine(loop, connection.execute(one({"PING"})));
    EXPECT_EQ(replies->text(0), "PONG");
    EXPECT_EQ(replies->catalog_version(), "v1");
    EXPECT_GE(server.connections(), 2);
    connection.stop();
  }
}

TEST(RedisReconnect, RepliesWaitForTheVersionOfTheirTurn) {
  boost::asio::io_context loop;
  int requests = 0;
  // The reply comes, the version does not: the statement must not go on with it.
  ScriptedServer server(loop, [&](std::string_view) { return ++requests == 1 ? resp::status("PONG") : std::string(); });
  SharedConnection connection(loop.get_executor(), patient(server.url()));
  std::string outcome = "waiting";
  const auto ask = [](SharedConnection& redis, std::string& result) -> awaitable<void> {
    try {
      co_await redis.ready();
      result = "answered";
    } catch (const sql::SqlError& error) {
      result = error.sqlstate();
    }
  };
  boost::asio::co_spawn(loop, ask(connection, outcome), boost::asio::detached);
  EXPECT_TRUE(run_until(loop, [&] { return requests == 1; }));
  loop.run_for(std::chrono::milliseconds(50));
  EXPECT_EQ(outcome, "waiting");
  std::string second;
  boost::asio::co_spawn(loop, ask(connection, second), boost::asio::detached);  // and now it hangs up
  EXPECT_TRUE(run_until(loop, [&] { return !second.empty(); }));
  EXPECT_EQ(outcome, "08006");
  EXPECT_EQ(second, "08006");
  connection.stop();
}

TEST(RedisReconnect, AServerThatIsNoRedisIsNamed) {
  boost::asio::io_context loop;
  TemporaryDirectory directory;
  const std::string path = (directory.path() / "s").string();
  stream_protocol::acceptor acceptor(loop, stream_protocol::endpoint(path));
  const auto serve = [](stream_protocol::acceptor& listener) -> awaitable<void> {
    while (true) {
      stream_protocol::socket socket = co_await listener.async_accept(boost::asio::use_awaitable);
      static const std::string greeting = "HTTP/1.1 400 Bad Request\r\n\r\n";
      co_await boost::asio::async_write(socket, boost::asio::buffer(greeting), boost::asio::use_awaitable);
    }
  };
  boost::asio::co_spawn(loop, serve(acceptor), boost::asio::detached);
  ConnectionOptions options;
  options.connect_timeout = std::chrono::seconds(4);  // tried again till then
  options.url.place = UnixPlace{path};
  SharedConnection connection(loop.get_executor(), options);
  EXPECT_THAT(state_of([&] { run_coroutine(loop, connection.ready()); }), HasSubstr("does not speak Redis's protocol"));
  connection.stop();
}

}  // namespace
}  // namespace redquel::executor
