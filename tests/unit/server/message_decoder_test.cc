#include "server/message_decoder.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/server/wire_client.h"

namespace redquel::server {
namespace {

void feed(MessageDecoder& decoder, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = decoder.room();
    const std::size_t count = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), count);
    decoder.commit(count);
    bytes.remove_prefix(count);
  }
}

/// A whole message, decoded; what it views stays until the next call.
FrontendMessage decode(const std::string& bytes) {
  static MessageDecoder decoder(1 << 20);
  feed(decoder, bytes);
  const auto raw = decoder.next();
  EXPECT_TRUE(raw.has_value());
  return decode_message(*raw);
}

std::string error_of(const std::string& bytes) {
  try {
    decode(bytes);
  } catch (const sql::SqlError& error) {
    return error.sqlstate() + " " + error.message();
  }
  return "none";
}

TEST(MessageDecoder, CutsMessagesOutOfAnyPieces) {
  const std::string bytes = query("SELECT 1") + kSync + execute("p", 7);
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    MessageDecoder decoder(1000);
    std::string types;
    for (std::size_t i = 0; i < bytes.size(); i += piece) {
      feed(decoder, std::string_view(bytes).substr(i, piece));
      while (const auto raw = decoder.next()) types.push_back(raw->type);
    }
    EXPECT_EQ(types, "QSE") << piece;
  }
}

TEST(MessageDecoder, ReadsEveryField) {
  const auto bound =
      std::get<BindMessage>(decode(bind("p", "s", {0, 1}, {"a", std::nullopt, std::string("\0b", 2)}, {1})));
  EXPECT_EQ(bound.portal, "p");
  EXPECT_EQ(bound.statement, "s");
  EXPECT_EQ(bound.parameter_formats, (ColumnFormats{0, 1}));
  ASSERT_EQ(bound.parameters.size(), 3u);
  EXPECT_EQ(bound.parameters[0], "a");
  EXPECT_FALSE(bound.parameters[1]);
  EXPECT_EQ(bound.parameters[2], std::string_view("\0b", 2));
  EXPECT_EQ(bound.result_formats, (ColumnFormats{1}));

  const auto parsed = std::get<ParseMessage>(decode(parse("n", "SELECT $1", {23, 0})));
  EXPECT_EQ(parsed.statement, "n");
  EXPECT_EQ(parsed.text, "SELECT $1");
  EXPECT_EQ(parsed.parameter_types, (std::vector<sql::Oid>{23, 0}));

  EXPECT_EQ(std::get<ExecuteMessage>(decode(execute("p", 7))).max_rows, 7);
  EXPECT_EQ(std::get<DescribeMessage>(decode(describe('P', "x"))).target, DescribeTarget::kPortal);
  EXPECT_EQ(std::get<CloseMessage>(decode(close_object('S', "x"))).name, "x");
}

TEST(MessageDecoder, RefusesLengthsOutOfBounds) {
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{3}, std::int64_t{0x7fffffff}, std::int64_t{-1}}) {
    MessageDecoder decoder(1 << 20);
    feed(decoder, "Q" + int32(length));
    EXPECT_THROW(decoder.next(), ProtocolViolation) << length;
  }
  MessageDecoder small(1 << 20);
  feed(small, "S" + int32(10005));
  EXPECT_THROW(small.next(), ProtocolViolation);
  MessageDecoder unknown(1 << 20);
  feed(unknown, "j");
  EXPECT_THROW(unknown.next(), ProtocolViolation);
}

TEST(MessageDecoder, GrowsWithReceivedBytesNotWithTheAnnouncedLength) {
  MessageDecoder decoder(std::size_t{1} << 30);
  feed(decoder, "Q" + int32(1 << 29));
  EXPECT_FALSE(decoder.next());
  EXPECT_LE(decoder.room().size(), 16u * 1024);
}

TEST(MessageDecoder, DropsTheBodyOfAMessageBeyondItsLimit) {
  MessageDecoder decoder(100'000);
  const std::string long_query = query(std::string(300'000, 'x'));
  std::string_view rest = long_query;
  while (rest.size() > 50'000) {
    feed(decoder, rest.substr(0, 50'000));
    rest.remove_prefix(50'000);
    EXPECT_FALSE(decoder.next());
    EXPECT_LE(decoder.room().size(), 256u * 1024);
  }
  feed(decoder, std::string(rest) + kSync);
  const auto dropped = decoder.next();
  ASSERT_TRUE(dropped);
  EXPECT_EQ(dropped->type, 'Q');
  EXPECT_EQ(dropped->dropped, 300'001u);
  EXPECT_THROW(decode_message(*dropped), sql::SqlError);
  EXPECT_EQ(decoder.next()->type, 'S');
}

TEST(MessageDecoder, LongMessagesAndTheRoomAfterThem) {
  MessageDecoder decoder(1 << 24);
  const std::string sql(3'000'000, 'x');
  feed(decoder, query(sql) + kSync);
  EXPECT_EQ(decoder.next()->body.size(), sql.size() + 1);
  EXPECT_EQ(decoder.next()->type, 'S');
  EXPECT_LE(decoder.room().size(), 16u * 1024);
}

TEST(MessageDecoder, MalformedBodiesAreErrorsInPostgresWords) {
  EXPECT_EQ(error_of(message('Q', "select 1")), "08P01 invalid string in message");
  EXPECT_EQ(error_of(message('Q')), "08P01 invalid string in message");
  EXPECT_EQ(error_of(message('Q', text("a") + text("b"))), "08P01 invalid message format");
  EXPECT_EQ(error_of(message('S', "x")), "08P01 invalid message format");
  EXPECT_EQ(error_of(message('P', text("") + text("select 1"))), "08P01 insufficient data left in message");
  EXPECT_EQ(error_of(message('P', text("") + text("select 1") + int16(5) + int32(1))),
            "08P01 insufficient data left in message");
  EXPECT_EQ(error_of(message('B', text("") + text("") + int16(0) + int16(0xffff))),
            "08P01 insufficient data left in message");
  EXPECT_EQ(error_of(message('B', text("") + text("") + int16(0) + int16(1) + int32(-2) + int16(0))),
            "08P01 insufficient data left in message");
  EXPECT_EQ(error_of(message('B', text("") + text("") + int16(0) + int16(1) + int32(0x7fffffff) + int16(0))),
            "08P01 insufficient data left in message");
  EXPECT_EQ(error_of(message('D', "Q" + text("a"))), "08P01 invalid DESCRIBE message subtype 81");
  EXPECT_EQ(error_of(message('C', "Q" + text("a"))), "08P01 invalid CLOSE message subtype 81");
  EXPECT_EQ(error_of(message('E', text("a"))), "08P01 insufficient data left in message");
}

TEST(MessageDecoder, EveryTruncationOfEveryMessageIsAnErrorOrAMessage) {
  for (const std::string& whole : {bind("p", "s", {0, 1}, {"a", std::nullopt}, {1}), parse("n", "SELECT $1", {23}),
                                   execute("p", 1), describe('S', "x"), query("SELECT")}) {
    for (std::size_t size = 0; size <= whole.size() - 5; ++size) {
      MessageDecoder decoder(1 << 20);
      feed(decoder, message(whole[0], whole.substr(5, size)));
      try {
        decode_message(*decoder.next());
      } catch (const sql::SqlError& error) {
        EXPECT_EQ(error.sqlstate(), "08P01");
      }
    }
  }
}

}  // namespace
}  // namespace redquel::server
