#include <gmock/gmock.h>
#include <sys/mman.h>

#include <random>

#include "executor/redis/command_batch.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/resp_codec.h"
#include "sql/error.h"
#include "tests/unit/executor/resp_text.h"

namespace redquel::executor {
namespace {

using ::testing::ElementsAre;

constexpr std::size_t kLimit = 1 << 20;

/// A reply as text, to compare with.
std::string show(const Reply& reply) {
  switch (reply.kind) {
    case Reply::Kind::nil:
      return "nil";
    case Reply::Kind::integer:
      return std::to_string(reply.integer);
    case Reply::Kind::string:
      return "'" + std::string(reply.text) + "'";
    case Reply::Kind::status:
      return "+" + std::string(reply.text);
    case Reply::Kind::error:
      return "-" + std::string(reply.text);
    case Reply::Kind::array:
      break;
  }
  std::string shown = "[";
  for (const Reply& child : reply.children()) shown += (shown.size() > 1 ? " " : "") + show(child);
  return shown + "]";
}

std::vector<std::string> decode(std::string_view bytes, std::size_t portion = 1 << 20) {
  ReplyDecoder decoder(kLimit);
  Replies replies;
  while (!bytes.empty()) {
    decoder.feed(bytes.substr(0, portion));
    bytes.remove_prefix(std::min(portion, bytes.size()));
    while (decoder.next(replies)) {
    }
  }
  std::vector<std::string> shown;
  for (const Reply& reply : replies.all()) shown.push_back(show(reply));
  return shown;
}

std::string error_of(std::string_view bytes) {
  try {
    decode(bytes);
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "";
}

TEST(CommandBatch, EncodesWordsNumbersAndRanges) {
  CommandBatch batch;
  const std::vector<std::string> fields = {"ename", "city"};
  const std::vector<std::int64_t> numbers = {1, -2};
  batch.add("HMGET", "emp:1", fields);
  batch.add("ZADD", std::string("z"), 5, std::string_view("a b"), numbers);
  EXPECT_EQ(batch.size(), 2u);
  EXPECT_TRUE(batch.bytes().starts_with("*4\r\n$5\r\nHMGET\r\n$5\r\nemp:1\r\n$5\r\nename\r\n$4\r\ncity\r\n"));
  EXPECT_THAT(batch.texts(), ElementsAre("HMGET emp:1 ename city", "ZADD z 5 \"a b\" 1 -2"));
}

TEST(CommandBatch, IsBinarySafe) {
  CommandBatch batch;
  batch.append({"SET", std::string_view("a\0\r\n", 4), ""});
  EXPECT_EQ(batch.bytes(), std::string_view("*3\r\n$3\r\nSET\r\n$4\r\na\0\r\n\r\n$0\r\n\r\n", 29));
  EXPECT_THAT(batch.texts(), ElementsAre("SET \"a\\x00\\r\\n\" \"\""));
}

/// A value of so many bytes that were never written, so that it takes no memory.
class UntouchedValue {
 public:
  explicit UntouchedValue(std::size_t bytes) : bytes_(bytes), start_(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~UntouchedValue() { munmap(start_, bytes_); }
  UntouchedValue(const UntouchedValue&) = delete;
  UntouchedValue& operator=(const UntouchedValue&) = delete;
  std::string_view text() const { return {static_cast<const char*>(start_), bytes_}; }

 private:
  std::size_t bytes_;
  void* start_;
};

TEST(CommandBatch, RefusesValuesThatRedisDoesNotTake) {
  const UntouchedValue value((std::size_t{512} << 20) + 1);
  ASSERT_NE(value.text().data(), MAP_FAILED);
  CommandBatch batch;
  batch.begin(3).arg("SET").arg("k");
  try {
    batch.arg(value.text());
    FAIL() << "no error";
  } catch (const sql::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "54000");
    EXPECT_EQ(error.message(), "a value of 536870913 bytes is too large");
  }
  EXPECT_LT(batch.bytes().size(), 100u);  // nothing of it was copied
}

TEST(CommandBatch, StreamsCommandsOfRuntimeSize) {
  CommandBatch batch;
  batch.begin(3).arg("MGET").arg("k").arg(std::int64_t{9223372036854775807});
  EXPECT_THAT(batch.texts(), ElementsAre("MGET k 9223372036854775807"));
}

TEST(CommandBatch, NamesAndPicksItsCommands) {
  CommandBatch batch;
  for (int key = 0; key < 3; ++key) batch.add("GET", key);
  batch.add("SCARD", "s");
  EXPECT_EQ(batch.names()[2], "GET");
  EXPECT_EQ(batch.names()[3], "SCARD");
  EXPECT_EQ(batch.names()[4], "?");
  CommandBatch picked;
  picked.append_commands(batch, std::vector<std::size_t>{1, 3});
  EXPECT_THAT(picked.texts(), ElementsAre("GET 1", "SCARD s"));
  EXPECT_EQ(picked.names()[1], "SCARD");
}

const std::string kEveryKind =
    resp::ok() + resp::integer(-7) + resp::nil() + "*-1\r\n" + resp::text("") + resp::text("a\r\nb") +
    resp::error("ERR no") + resp::array({}) +
    resp::array({resp::texts({"x", "y"}), resp::array({}), resp::integer(1),
                 resp::array({resp::array({resp::nil(), resp::error("E")}), resp::text("z")})});

TEST(ReplyDecoder, DecodesEveryKindFromPiecesOfAnySize) {
  const auto expected =
      ElementsAre("+OK", "-7", "nil", "nil", "''", "'a\r\nb'", "-ERR no", "[]", "[['x' 'y'] [] 1 [[nil -E] 'z']]");
  for (std::size_t portion = 1; portion <= kEveryKind.size(); ++portion)
    EXPECT_THAT(decode(kEveryKind, portion), expected);
}

TEST(ReplyDecoder, WaitsForTheRestOfAReply) {
  for (std::size_t length = 0; length < kEveryKind.size(); ++length)
    EXPECT_LT(decode(kEveryKind.substr(0, length)).size(), 9u);
}

TEST(ReplyDecoder, RefusesBytesThatAreNotResp) {
  for (const char* bytes : {"hello\r\n", "$abc\r\n", "$-2\r\nx\r\n", "*-2\r\n", "*4294967296\r\n", "$3\r\nabcdef\r\n",
                            "$99999999999999999999\r\n", "%1\r\n+a\r\n+b\r\n", "$ 3\r\nabc\r\n"})
    EXPECT_NE(error_of(bytes), "") << bytes;
}

TEST(ReplyDecoder, BelievesNoLength) {
  // Two gigabytes are announced; nothing is reserved for them.
  EXPECT_EQ(error_of("*2147483647\r\n"), "");
  EXPECT_EQ(error_of("$2147483647\r\n"), "");
  EXPECT_EQ(error_of("$9223372036854775807\r\nabc"), "");
  EXPECT_EQ(error_of("*2147483647\r\n*2147483647\r\n*2147483647\r\n:1\r\n"), "");
}

TEST(ReplyDecoder, BoundsDepthSizeAndLines) {
  std::string deep;
  for (int level = 0; level < 10'000; ++level) deep += "*1\r\n";
  EXPECT_NE(error_of(deep), "");
  EXPECT_EQ(error_of("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n"), "");
  EXPECT_THAT(error_of("$2000000\r\n" + std::string(kLimit + 100, 'x')), ::testing::HasSubstr("larger than"));
  EXPECT_THAT(error_of("+" + std::string(100'000, 'x')), ::testing::HasSubstr("does not end"));
  EXPECT_THAT(error_of("*2\r\n:1\r\n$" + std::string(100'000, '1')), ::testing::HasSubstr("does not end"));
}

TEST(ReplyDecoder, SurvivesDamagedBytes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = kEveryKind;
    for (int change = 0; change < 3; ++change) bytes[random() % bytes.size()] = "*$:+-0123456789\r\nx"[random() % 18];
    error_of(bytes);
  }
}

TEST(ReplyDecoder, CountsTheBytesOfEachReply) {
  ReplyDecoder decoder(kLimit);
  Replies first, second;
  decoder.feed(":1\r\n$3\r\nabc\r\n");
  EXPECT_TRUE(decoder.next(first));
  EXPECT_TRUE(decoder.next(second));
  EXPECT_FALSE(decoder.has_pending());
  EXPECT_EQ(first.bytes(), 4u);
  EXPECT_EQ(second.bytes(), 9u);
}

TEST(Replies, ConvertWithTheCommandsErrors) {
  Replies replies;
  ReplyDecoder decoder(kLimit);
  decoder.feed(resp::integer(5) + resp::error("WRONGTYPE Operation against a key") + resp::text("x") + resp::nil());
  while (decoder.next(replies)) {
  }
  CommandBatch batch;
  batch.add("SCARD", "a").add("SMEMBERS", "b").add("GET", "c").add("GET", "d");
  replies.set_names(batch.names());
  EXPECT_EQ(replies.integer(0), 5);
  EXPECT_EQ(replies.text(2), "x");
  EXPECT_EQ(replies.text(3), std::nullopt);
  EXPECT_TRUE(replies.array(3).empty());
  EXPECT_THROW(replies.integer(2), sql::SqlError);
  EXPECT_THROW(replies.array(2), sql::SqlError);
  try {
    replies.or_throw();
    FAIL();
  } catch (const sql::SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "XX001");
    EXPECT_EQ(error.message(), "Redis refused SMEMBERS: WRONGTYPE Operation against a key");
  }
}

TEST(RedisError, MapsEachErrorToItsSqlstate) {
  const auto state = [](std::string_view text) { return redis_error(text, "X").sqlstate(); };
  EXPECT_EQ(state("OOM command not allowed when used memory > 'maxmemory'."), "53200");
  EXPECT_EQ(state("READONLY You can't write against a read only replica."), "25006");
  EXPECT_EQ(state("NOAUTH Authentication required."), "28000");
  EXPECT_EQ(state("WRONGPASS invalid username-password pair or user is disabled."), "28000");
  EXPECT_EQ(state("NOPERM this user has no permissions to run the 'set' command"), "42501");
  EXPECT_EQ(state("LOADING Redis is loading the dataset in memory"), "57P03");
  EXPECT_EQ(state("BUSY Redis is busy running a script."), "57P03");
  EXPECT_EQ(state("BUSYKEY Target key name already exists."), "XX000");
  EXPECT_EQ(state("ERR unknown command"), "XX000");
  EXPECT_EQ(state(""), "XX000");
  EXPECT_EQ(redis_error("ERR a\r\nb\xff", "GET").message(), "Redis refused GET: ERR a??b?");
}

}  // namespace
}  // namespace redquel::executor
