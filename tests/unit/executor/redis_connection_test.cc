#include <gmock/gmock.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include "executor/redis/redis_pool.h"
#include "executor/redis/script.h"
#include "executor/redis/shared_connection.h"
#include "sql/error.h"
#include "tests/unit/executor/one_command.h"
#include "tests/unit/executor/redis_test_server.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

using ::testing::HasSubstr;

class RedisConnection : public ::testing::Test {
 protected:
  RedisConnection() { call({"FLUSHALL"}); }
  ~RedisConnection() override { connection_.stop(); }

  static ConnectionOptions options(int database = 0) {
    ConnectionOptions options;
    options.url = RedisTestServer::shared().url(database);
    return options;
  }
  RepliesPtr call(std::initializer_list<std::string_view> words) { return execute(one(words)); }
  RepliesPtr execute(CommandBatch batch, ExecutionCounters* counters = nullptr) {
    return run_coroutine(loop_, connection_.execute(std::move(batch), counters));
  }

  boost::asio::io_context loop_;
  SharedConnection connection_{loop_.get_executor(), options()};
};

TEST_F(RedisConnection, GivesOneReplyPerCommand) {
  CommandBatch batch;
  batch.add("SET", "k", "v").add("GET", "k").add("HMGET", "h", "a", "b").add("LPUSH", "k", "x").add("INCR", "n");
  const RepliesPtr replies = execute(std::move(batch));
  ASSERT_EQ(replies->size(), 5u);
  EXPECT_EQ(replies->text(0), "OK");
  EXPECT_EQ(replies->text(1), "v");
  EXPECT_EQ(replies->array(2).size(), 2u);
  EXPECT_TRUE((*replies)[3].is_error());
  EXPECT_EQ(replies->command(3), "LPUSH");
  EXPECT_EQ(replies->integer(4), 1);
}

TEST_F(RedisConnection, AnEmptyBatchSendsNothing) {
  const auto turns = connection_.statistics().turns;
  EXPECT_TRUE(execute(CommandBatch())->empty());
  EXPECT_EQ(connection_.statistics().turns, turns);
}

TEST_F(RedisConnection, RepliesOutliveTheConnection) {
  RepliesPtr replies;
  {
    boost::asio::io_context loop;
    SharedConnection connection(loop.get_executor(), options());
    replies = run_coroutine(loop, connection.execute(one({"ECHO", "still here"})));
  }
  EXPECT_EQ(replies->text(0), "still here");
}

TEST_F(RedisConnection, CarriesTheCatalogVersion) {
  EXPECT_EQ(call({"PING"})->catalog_version(), std::nullopt);
  // The version is read behind the batch itself.
  EXPECT_EQ(call({"SET", "redquel:version", "17"})->catalog_version(), "17");
  EXPECT_EQ(call({"PING"})->catalog_version(), "17");
  ConnectionOptions without = options();
  without.version_key = "";
  SharedConnection plain(loop_.get_executor(), without);
  EXPECT_EQ(run_coroutine(loop_, plain.execute(one({"PING"})))->catalog_version(), std::nullopt);
}

TEST_F(RedisConnection, KnowsItsServer) {
  EXPECT_TRUE(is_supported_version(connection_.server().version));
  EXPECT_EQ(connection_.server().run_id.size(), 40u);
  EXPECT_EQ(connection_.server().replication_id.size(), 40u);
  EXPECT_EQ(connection_.server().maxmemory_policy, "noeviction");
  EXPECT_TRUE(connection_.server().may_multi);
  EXPECT_EQ(connection_.generation(), 1u);
  EXPECT_EQ(call({"PING"})->generation(), 1u);
}

boost::asio::awaitable<void> ask_in_order(RedisClient& redis, int caller, int rounds, int& finished) {
  for (int round = 0; round < rounds; ++round) {
    const std::string word = std::to_string(caller) + "/" + std::to_string(round);
    CommandBatch batch;
    batch.add("ECHO", word).add("ECHO", word + "b");
    const RepliesPtr replies = co_await redis.execute(std::move(batch));
    EXPECT_EQ(replies->text(0), word);
    EXPECT_EQ(replies->text(1), word + "b");
  }
  ++finished;
}

TEST_F(RedisConnection, KeepsTheOrderOfManyCallers) {
  constexpr int kCallers = 300;
  int finished = 0;
  for (int caller = 0; caller < kCallers; ++caller)
    boost::asio::co_spawn(loop_, ask_in_order(connection_, caller, 30, finished), boost::asio::detached);
  loop_.restart();
  while (finished < kCallers && loop_.run_one() > 0) {
  }
  EXPECT_EQ(finished, kCallers);
}

TEST_F(RedisConnection, WritesOncePerTurnOfTheLoop) {
  constexpr int kCallers = 100;
  constexpr int kRounds = 5;
  const auto turns = connection_.statistics().turns;
  int finished = 0;
  for (int caller = 0; caller < kCallers; ++caller)
    boost::asio::co_spawn(loop_, ask_in_order(connection_, caller, kRounds, finished), boost::asio::detached);
  loop_.restart();
  while (finished < kCallers && loop_.run_one() > 0) {
  }
  EXPECT_EQ(connection_.statistics().turns - turns, static_cast<unsigned>(kRounds));
}

TEST_F(RedisConnection, CountsForTheStatement) {
  ExecutionCounters counters;
  CommandBatch batch;
  batch.add("SET", "k", "v").add("GET", "k");
  const std::size_t sent = batch.bytes().size();
  execute(std::move(batch), &counters);
  EXPECT_EQ(counters.round_trips, 1u);
  EXPECT_EQ(counters.commands, 2u);
  EXPECT_EQ(counters.bytes_sent, sent);
  EXPECT_EQ(counters.bytes_received, 5u + 7u);
  execute(one({"PING"}), &counters);
  EXPECT_EQ(counters.round_trips, 2u);
}

TEST_F(RedisConnection, MovesMegabytes) {
  const std::string large(20 << 20, 'x');
  execute(one({"SET", "large", large}));
  EXPECT_EQ(call({"GET", "large"})->text(0), large);
  CommandBatch many;
  for (int number = 0; number < 100'000; ++number) many.add("RPUSH", "list", number);
  EXPECT_EQ(execute(std::move(many))->integer(99'999), 100'000);
  const RepliesPtr list = call({"LRANGE", "list", "0", "-1"});
  ASSERT_EQ(list->array(0).size(), 100'000u);
  EXPECT_EQ(list->array(0)[77'777].text, "77777");
}

// MULTI/EXEC

TEST_F(RedisConnection, AnAtomicBatchGivesTheCommandsReplies) {
  ExecutionCounters counters;
  CommandBatch batch;
  batch.add("SADD", "s", 1, 2, 3).add("SCARD", "s").add("SMEMBERS", "s").add("GET", "s");
  const RepliesPtr replies = run_coroutine(loop_, connection_.execute_atomic(std::move(batch), &counters));
  ASSERT_EQ(replies->size(), 4u);
  EXPECT_EQ(replies->integer(1), 3);
  EXPECT_EQ(replies->array(2).size(), 3u);
  EXPECT_TRUE((*replies)[3].is_error());  // at run time: a value, as ever
  EXPECT_EQ(replies->command(3), "GET");
  EXPECT_EQ(counters.commands, 6u);
  EXPECT_EQ(counters.round_trips, 1u);
}

TEST_F(RedisConnection, AnAtomicBatchThatCannotBeQueuedHasNoEffect) {
  CommandBatch batch;
  batch.add("SET", "k", "v").add("NOSUCHCOMMAND");
  try {
    run_coroutine(loop_, connection_.execute_atomic(std::move(batch)));
    FAIL();
  } catch (const sql::SqlError& error) {
    EXPECT_THAT(error.message(), HasSubstr("NOSUCHCOMMAND"));
  }
  EXPECT_TRUE((*call({"GET", "k"}))[0].is_nil());
  // And the connection is not left inside MULTI.
  EXPECT_EQ(call({"SET", "k", "v"})->text(0), "OK");
}

// Scripts

const Script kAddTwice("add_twice",
                       "return {redis.call('INCRBY', KEYS[1], ARGV[1]), redis.call('INCRBY', KEYS[1], ARGV[1])}",
                       "e3b5a9a3b57f1059af224033c58cc05f73f5ab69");
const Script kReadOne("read_one", "return redis.call('GET', KEYS[1])", "d3c21d0c2b9ca22f82737626a27bcaf5d288f99f",
                      Script::Access::read_only);
const Script kWriteReadOnly("write_read_only", "return redis.call('SET', KEYS[1], '1')", "872bc6701b4ac00ebb820e81652ffe2b4bc16f1b",
                      Script::Access::read_only);

TEST_F(RedisConnection, LoadsAScriptThatRedisDoesNotKnow) {
  call({"SCRIPT", "FLUSH"});
  const std::vector<std::string> keys = {"n"};
  const std::vector<int> arguments = {5};
  ExecutionCounters counters;
  RepliesPtr replies = run_coroutine(loop_, run_script(connection_, kAddTwice, keys, arguments, &counters));
  EXPECT_EQ(replies->array(0)[1].integer, 10);
  EXPECT_EQ(counters.round_trips, 2u);
  replies = run_coroutine(loop_, run_script(connection_, kAddTwice, keys, arguments, &counters));
  EXPECT_EQ(replies->array(0)[1].integer, 20);
  EXPECT_EQ(counters.round_trips, 3u);
  EXPECT_EQ(call({"SCRIPT", "EXISTS", kAddTwice.sha1()})->array(0)[0].integer, 1);
}

TEST_F(RedisConnection, RunsOnlyTheMissedCallsOfABatchAgain) {
  call({"SCRIPT", "FLUSH"});
  const std::vector<std::string> keys = {"n"};
  const std::vector<int> arguments = {5};
  CommandBatch batch;
  batch.add("INCR", "other");
  kReadOne.append_call(batch, keys, std::vector<std::string>());
  batch.add("INCR", "other");
  kAddTwice.append_call(batch, keys, arguments);
  const std::vector<const Script*> scripts = {&kReadOne, &kAddTwice};
  const RepliesPtr replies = run_coroutine(loop_, run_scripts(connection_, scripts, std::move(batch)));
  ASSERT_EQ(replies->size(), 4u);
  EXPECT_EQ(replies->integer(0), 1);
  EXPECT_EQ(replies->integer(2), 2);
  EXPECT_EQ(replies->array(3)[1].integer, 10);
  EXPECT_EQ(replies->command(1), "EVALSHA_RO");
}

TEST_F(RedisConnection, AReadOnlyScriptCannotWrite) {
  const std::vector<std::string> keys = {"n"};
  const RepliesPtr replies =
      run_coroutine(loop_, run_script(connection_, kWriteReadOnly, keys, std::vector<std::string>()));
  EXPECT_THROW(replies->or_throw(), sql::SqlError);
}

// Databases, logins

TEST_F(RedisConnection, EachDatabaseHasItsConnections) {
  RedisPool pool(loop_.get_executor(), options());
  run_coroutine(loop_, pool.shared(0).execute(one({"SET", "k", "zero"})));
  run_coroutine(loop_, pool.shared(7).execute(one({"SET", "k", "seven"})));
  EXPECT_EQ(run_coroutine(loop_, pool.bulk(7).execute(one({"GET", "k"})))->text(0), "seven");
  EXPECT_EQ(run_coroutine(loop_, pool.bulk(0).execute(one({"GET", "k"})))->text(0), "zero");
  EXPECT_EQ(&pool.shared(7), &pool.shared(7));
  EXPECT_EQ(pool.statistics().connects, 4u);
  EXPECT_EQ(pool.statistics().commands, 4u);
  try {
    run_coroutine(loop_, pool.shared(99).execute(one({"PING"})));
    FAIL();
  } catch (const sql::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "3D000");
  }
}

TEST_F(RedisConnection, AWrongPasswordIsSaidAtOnce) {
  call({"ACL", "SETUSER", "ann", "on", ">right", "~*", "+@all"});
  ConnectionOptions wrong = options();
  wrong.url.user = "ann";
  wrong.url.password = "wrong";
  wrong.connect_timeout = std::chrono::hours(1);
  SharedConnection refused(loop_.get_executor(), wrong);
  try {
    run_coroutine(loop_, refused.ready());
    FAIL();
  } catch (const sql::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "28000");
    EXPECT_THAT(error.message(), HasSubstr("WRONGPASS"));
  }
  wrong.url.password = "right";
  SharedConnection accepted(loop_.get_executor(), wrong);
  run_coroutine(loop_, accepted.ready());
}

TEST_F(RedisConnection, AReadOnlyUserIsServed) {
  call({"ACL", "SETUSER", "reader", "on", ">pw", "%R~app:*", "%R~redquel:*", "+@read", "+@connection"});
  ConnectionOptions limited = options();
  limited.url.user = "reader";
  limited.url.password = "pw";
  SharedConnection reader(loop_.get_executor(), limited);
  run_coroutine(loop_, reader.ready());
  EXPECT_FALSE(reader.server().may_info);
  EXPECT_FALSE(reader.server().may_multi);
  EXPECT_FALSE(reader.server().may_script_read);
  EXPECT_FALSE(reader.server().may_sort_get);
  const RepliesPtr replies = run_coroutine(loop_, reader.execute(one({"SET", "app:k", "v"})));
  try {
    replies->or_throw();
    FAIL();
  } catch (const sql::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "42501");
  }
}

// Cancellation

/// Runs a batch that can be cancelled from outside and notes how it ended.
boost::asio::awaitable<void> run_cancellable(RedisClient& redis, CommandBatch batch, std::string& outcome) {
  co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::enable_total_cancellation());
  try {
    const RepliesPtr replies = co_await redis.execute(std::move(batch));
    outcome = "done";
  } catch (const boost::system::system_error& error) {
    outcome = error.code() == boost::asio::error::operation_aborted ? "cancelled" : error.what();
  } catch (const sql::SqlError& error) {
    outcome = error.sqlstate();
  }
}

TEST_F(RedisConnection, ACancelledCallerDoesNotAffectOthers) {
  for (const auto type : {boost::asio::cancellation_type::total, boost::asio::cancellation_type::partial,
                          boost::asio::cancellation_type::terminal}) {
    RedisTestServer::shared().pause();
    boost::asio::cancellation_signal signal;
    std::string cancelled, kept;
    boost::asio::co_spawn(loop_, run_cancellable(connection_, one({"ECHO", "dropped"}), cancelled),
                          boost::asio::bind_cancellation_slot(signal.slot(), boost::asio::detached));
    boost::asio::co_spawn(loop_, run_cancellable(connection_, one({"ECHO", "kept"}), kept), boost::asio::detached);
    loop_.restart();
    loop_.run_for(std::chrono::milliseconds(20));  // both were written
    signal.emit(type);
    EXPECT_TRUE(run_until(loop_, [&] { return !cancelled.empty(); }));
    EXPECT_EQ(cancelled, "cancelled");
    EXPECT_EQ(kept, "");
    RedisTestServer::shared().go_on();
    EXPECT_EQ(call({"ECHO", "next"})->text(0), "next");
    EXPECT_EQ(kept, "done");
  }
  EXPECT_EQ(connection_.statistics().connects, 1u);
}

TEST_F(RedisConnection, ABatchThatIsCancelledBeforeSendingIsNotSent) {
  boost::asio::cancellation_signal signal;
  std::string outcome;
  boost::asio::co_spawn(loop_, run_cancellable(connection_, one({"SET", "k", "v"}), outcome),
                        boost::asio::bind_cancellation_slot(signal.slot(), boost::asio::detached));
  // Runs between the coroutine's start and the flush that it posts.
  boost::asio::post(loop_, [&] { signal.emit(boost::asio::cancellation_type::total); });
  EXPECT_TRUE((*call({"GET", "k"}))[0].is_nil());
  EXPECT_TRUE(run_until(loop_, [&] { return !outcome.empty(); }));
  EXPECT_EQ(outcome, "cancelled");
}

TEST_F(RedisConnection, StopEndsWaitingCallers) {
  RedisTestServer::shared().pause();
  std::string outcome;
  boost::asio::co_spawn(loop_, run_cancellable(connection_, one({"PING"}), outcome), boost::asio::detached);
  loop_.restart();
  loop_.run_for(std::chrono::milliseconds(20));
  connection_.stop();
  loop_.run();  // nothing is left
  RedisTestServer::shared().go_on();
  EXPECT_EQ(outcome, "57P01");
  EXPECT_THROW(call({"PING"}), sql::SqlError);
}

TEST_F(RedisConnection, TheLoopMayGoBeforeItsCoroutines) {
  std::string outcome;
  auto loop = std::make_unique<boost::asio::io_context>();
  auto connection = std::make_unique<SharedConnection>(loop->get_executor(), options());
  run_coroutine(*loop, connection->ready());
  boost::asio::co_spawn(*loop, run_cancellable(*connection, one({"BLPOP", "never", "0"}), outcome),
                        boost::asio::detached);
  loop->run_for(std::chrono::milliseconds(20));
  connection.reset();
  loop.reset();
  EXPECT_EQ(outcome, "");
}

}  // namespace
}  // namespace redquel::executor
