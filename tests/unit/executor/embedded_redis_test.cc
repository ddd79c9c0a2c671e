#include <gmock/gmock.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "executor/embedded/append_only_file.h"
#include "executor/embedded/child_process.h"
#include "executor/embedded/data_directory.h"
#include "executor/embedded/embedded_redis.h"
#include "executor/redis/shared_connection.h"
#include "sql/error.h"
#include "tests/unit/executor/redis_test_server.h"
#include "tests/unit/executor/run_coroutine.h"

namespace redquel::executor {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

/// A connection to an embedded server, one call at a time.
class Caller {
 public:
  explicit Caller(const EmbeddedRedis& redis) : connection_(loop_.get_executor(), options(redis)) {}
  ~Caller() { connection_.stop(); }

  RepliesPtr call(std::initializer_list<std::string_view> words) {
    CommandBatch batch;
    batch.append(words);
    return run_coroutine(loop_, connection_.execute(std::move(batch)));
  }
  std::int64_t number_of_keys() { return call({"DBSIZE"})->integer(0); }
  std::string setting(std::string_view name) { return std::string(call({"CONFIG", "GET", name})->array(0)[1].text); }

 private:
  static ConnectionOptions options(const EmbeddedRedis& redis) {
    ConnectionOptions options;
    options.url = redis.url();
    return options;
  }
  boost::asio::io_context loop_;
  SharedConnection connection_;
};

EmbeddedRedisOptions in(const std::filesystem::path& directory) {
  EmbeddedRedisOptions options;
  options.data_directory = directory;
  return options;
}

std::string error_of(EmbeddedRedisOptions options) {
  try {
    EmbeddedRedis redis(std::move(options));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

template <typename Condition>
bool wait_until(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(EmbeddedRedis, KeepsItsDataOverRestarts) {
  TemporaryDirectory directory;
  const auto data = directory.path() / "new" / "data";
  {
    EmbeddedRedis redis(in(data));
    Caller caller(redis);
    caller.call({"SET", "k", "v"})->or_throw();
    EXPECT_EQ(caller.setting("appendonly"), "yes");
    EXPECT_EQ(caller.setting("appendfsync"), "everysec");
    EXPECT_EQ(caller.setting("maxmemory-policy"), "noeviction");
    EXPECT_EQ(caller.setting("set-max-intset-entries"), "65536");
    EXPECT_EQ(caller.setting("hash-max-listpack-value"), "1024");
    EXPECT_EQ(caller.setting("save"), "");
    EXPECT_EQ(caller.setting("port"), "0");
  }
  EXPECT_FALSE(std::filesystem::exists(data / "redis.running"));
  EmbeddedRedis redis(in(data));
  EXPECT_EQ(Caller(redis).call({"GET", "k"})->text(0), "v");
}

TEST(EmbeddedRedis, TakesFurtherSettings) {
  TemporaryDirectory directory;
  EmbeddedRedisOptions options = in(directory.path());
  options.settings = {{"maxmemory", "64mb"}, {"appendfsync", "always"}};
  EmbeddedRedis redis(options);
  Caller caller(redis);
  EXPECT_EQ(caller.setting("maxmemory"), "67108864");
  EXPECT_EQ(caller.setting("appendfsync"), "always");
}

TEST(EmbeddedRedis, WorksInADirectoryWithALongPath) {
  TemporaryDirectory directory;
  std::filesystem::path deep = directory.path();
  for (int level = 0; level < 4; ++level) deep /= std::string(60, 'd');
  EmbeddedRedis redis(in(deep));
  EXPECT_EQ(Caller(redis).call({"PING"})->text(0), "PONG");
}

TEST(EmbeddedRedis, TwoOnOneDirectoryAreRefused) {
  TemporaryDirectory directory;
  EmbeddedRedis redis(in(directory.path()));
  EXPECT_THAT(error_of(in(directory.path())),
              HasSubstr("is in use by another redquel (process " + std::to_string(::getpid()) + ")"));
  EXPECT_EQ(Caller(redis).call({"PING"})->text(0), "PONG");
}

TEST(EmbeddedRedis, SaysWhyItCannotStart) {
  TemporaryDirectory directory;
  EmbeddedRedisOptions missing = in(directory.path());
  missing.server_program = "redis-server-that-is-not-installed";
  EXPECT_EQ(error_of(missing), "could not start redis-server-that-is-not-installed: program not found");

  EmbeddedRedisOptions wrong = in(directory.path());
  wrong.settings = {{"appendfsync", "sometimes"}};
  EXPECT_THAT(error_of(wrong), HasSubstr("redis-server exited with status 1 at its start"));
  EXPECT_THAT(error_of(wrong), HasSubstr("appendfsync"));

  EXPECT_THAT(error_of(in("/proc/redquel")), HasSubstr("data directory \"/proc/redquel\" cannot be made"));
  EXPECT_THAT(error_of(in("/proc/self")), HasSubstr("permissions should be u=rwx (0700)"));
  // And nothing of that is in the way of a good start.
  EXPECT_EQ(error_of(in(directory.path())), "");
}

TEST(EmbeddedRedis, IsRestartedWhenItDies) {
  TemporaryDirectory directory;
  EmbeddedRedis redis(in(directory.path()));
  redis.supervise();
  Caller caller(redis);
  for (int round = 0; round < 3; ++round) {
    caller.call({"INCR", "n"})->or_throw();
    const pid_t killed = redis.pid();
    ::kill(killed, SIGKILL);
    ASSERT_TRUE(wait_until([&] { return redis.pid() != 0 && redis.pid() != killed; }));
    std::string outcome;
    try {
      caller.call({"GET", "n"});
    } catch (const sql::SqlError& error) {
      outcome = error.sqlstate();  // the statement that finds the connection dead
    }
    EXPECT_TRUE(outcome.empty() || outcome == "08006");
  }
  EXPECT_EQ(caller.call({"GET", "n"})->text(0), "3");
  const pid_t last = redis.pid();
  redis.stop();
  EXPECT_FALSE(is_alive(last));
  EXPECT_EQ(redis.pid(), 0);
}

/// Another process with an embedded server, as a redquel would be; it says the server's pid on a pipe.
class OtherRedquel {
 public:
  explicit OtherRedquel(const std::filesystem::path& directory) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) run(directory, ends[1]);
    ::close(ends[1]);
    EXPECT_EQ(::read(ends[0], &server_, sizeof server_), static_cast<ssize_t>(sizeof server_));
    ::close(ends[0]);
  }
  void kill() const {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t server() const { return server_; }

 private:
  [[noreturn]] static void run(const std::filesystem::path& directory, int report) {
    try {
      EmbeddedRedis redis(in(directory));
      Caller(redis).call({"SET", "from", "other"});
      const pid_t server = redis.pid();
      [[maybe_unused]] const auto written = ::write(report, &server, sizeof server);
      while (true) ::pause();
    } catch (...) {  // never back into the tests
      ::_exit(1);
    }
  }

  pid_t pid_ = 0;
  pid_t server_ = 0;
};

TEST(EmbeddedRedis, EndsWithAKilledParent) {
  TemporaryDirectory directory;
  const OtherRedquel other(directory.path());
  other.kill();
  EXPECT_TRUE(wait_until([&] { return !is_alive(other.server()); }));
  EmbeddedRedis redis(in(directory.path()));
  EXPECT_EQ(Caller(redis).call({"GET", "from"})->text(0), "other");
}

TEST(EmbeddedRedis, AServerLeftBehindIsEndedNotDoubled) {
  TemporaryDirectory directory;
  const OtherRedquel other(directory.path());
  ::kill(other.server(), SIGSTOP);  // it cannot follow its parent, and hears no SIGTERM
  other.kill();
  EXPECT_TRUE(is_alive(other.server()));
  EmbeddedRedisOptions options = in(directory.path());
  options.shutdown_timeout = milliseconds(200);
  EmbeddedRedis redis(options);
  EXPECT_NE(redis.pid(), other.server());
  EXPECT_TRUE(wait_until([&] { return !is_alive(other.server()); }));
  EXPECT_EQ(Caller(redis).call({"GET", "from"})->text(0), "other");
}

// Torn append-only files

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void write_file(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// A data directory whose append-only file ends with the block of one script: before=1, then ten keys at once.
class TornFile : public ::testing::Test {
 protected:
  TornFile() {
    {
      EmbeddedRedis redis(in(directory_.path()));
      Caller caller(redis);
      caller.call({"SET", "before", "1"})->or_throw();
      caller.call({"EVAL", "for i = 1, 10 do redis.call('SET', 'unit' .. i, i) end", "0"})->or_throw();
    }
    whole_ = read_file(file());
    block_ = whole_.find("*1\r\n$5\r\nMULTI\r\n");
  }

  std::filesystem::path file() const { return directory_.path() / "appendonlydir" / "appendonly.aof.1.incr.aof"; }
  void tear(std::string_view bytes) const {
    write_file(file(), bytes);
    write_file(directory_.path() / "redis.running", "");  // an unclean end
  }
  /// Starts twice, with a write in between, and gives the number of keys of the unit that came back.
  std::int64_t start_twice() const {
    {
      EmbeddedRedis redis(in(directory_.path()));
      Caller(redis).call({"SET", "after", "1"})->or_throw();
    }
    EmbeddedRedis redis(in(directory_.path()));
    Caller caller(redis);
    EXPECT_EQ(caller.call({"GET", "before"})->text(0), "1");
    EXPECT_EQ(caller.call({"GET", "after"})->text(0), "1");
    return caller.number_of_keys() - 2;
  }

  TemporaryDirectory directory_;
  std::string whole_;
  std::size_t block_ = 0;
};

TEST_F(TornFile, NeverHalfAppliesAUnit) {
  ASSERT_NE(block_, std::string::npos);
  // In the header of MULTI, inside a command, between two commands, inside EXEC, one byte before the end.
  const std::size_t between = whole_.find("*3\r\n", block_ + 60);
  const std::size_t exec = whole_.rfind("*1\r\n");
  for (const std::size_t length :
       {block_ + 1, block_ + 9, block_ + 15, block_ + 30, between, between + 1, exec, exec + 8, whole_.size() - 1}) {
    SCOPED_TRACE(length);
    tear(std::string_view(whole_).substr(0, length));
    EXPECT_EQ(start_twice(), 0);
    EXPECT_EQ(read_file(file().string() + ".torn").size(), length);
  }
  tear(whole_);
  EXPECT_EQ(start_twice(), 10);
}

TEST_F(TornFile, EveryByteOfTheBlockIsCutBackToItsStart) {
  for (std::size_t length = block_ + 1; length < whole_.size(); length += 3) {
    write_file(file(), std::string_view(whole_).substr(0, length));
    EXPECT_NE(repair_append_only_file(directory_.path(), "redis-check-aof"), "");
    EXPECT_EQ(std::filesystem::file_size(file()), block_) << length;
  }
  write_file(file(), whole_);
  EXPECT_EQ(repair_append_only_file(directory_.path(), "redis-check-aof"), "");
}

TEST_F(TornFile, AZeroFilledTailIsCutToo) {
  tear(whole_ + std::string(4096, '\0'));
  EXPECT_EQ(start_twice(), 10);
}

TEST_F(TornFile, IsNoticedWithoutTheMark) {
  write_file(file(), std::string_view(whole_).substr(0, whole_.size() - 3));
  EXPECT_EQ(start_twice(), 0);
}

TEST_F(TornFile, UnrepairableFilesAreReported) {
  const auto base = directory_.path() / "appendonlydir" / "appendonly.aof.1.base.rdb";
  const std::string bytes = read_file(base);
  write_file(base, std::string_view(bytes).substr(0, bytes.size() / 2));
  write_file(directory_.path() / "redis.running", "");
  EXPECT_THAT(error_of(in(directory_.path())), HasSubstr("could not be repaired"));
  EXPECT_EQ(read_file(file()), whole_);
}

TEST_F(TornFile, ItsCheckerMayBeMissing) {
  tear(std::string_view(whole_).substr(0, whole_.size() - 3));
  EmbeddedRedisOptions options = in(directory_.path());
  options.check_program = "redis-check-aof-that-is-not-installed";
  EXPECT_EQ(error_of(options), "could not start redis-check-aof-that-is-not-installed: program not found");
}

TEST(RunProgram, AProgramMayEndWithoutReadingItsInput) {
  for (int times = 0; times < 50; ++times) EXPECT_TRUE(run_program({"true"}, "yes\n").ended_well);
}

}  // namespace
}  // namespace redquel::executor
