#include "executor/memory/resp3_decoder.h"

#include <gmock/gmock.h>

namespace redquel::executor {
namespace {

using ::testing::ElementsAre;

std::string show_resp3(const Resp3Value& value) {
  using Kind = Resp3Value::Kind;
  switch (value.kind) {
    case Kind::kNull: return "null";
    case Kind::kText: return "'" + value.text + "'";
    case Kind::kError: return "-" + value.text;
    case Kind::kInteger: return std::to_string(value.integer);
    case Kind::kArray:
    case Kind::kPush: break;
  }
  std::string text;
  for (const Resp3Value& child : value.children) text += (text.empty() ? "" : " ") + show_resp3(child);
  return (value.kind == Kind::kPush ? ">[" : "[") + text + "]";
}

std::vector<std::string> decode_resp3(std::string_view bytes, std::size_t piece, Resp3Decoder decoder = Resp3Decoder()) {
  std::vector<std::string> values;
  while (!bytes.empty()) {
    decoder.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    while (const std::optional<Resp3Value> value = decoder.next()) values.push_back(show_resp3(*value));
  }
  return values;
}

constexpr std::string_view kMessages =
    "+OK\r\n>2\r\n$10\r\ninvalidate\r\n*2\r\n$3\r\nt:1\r\n$5\r\na\r\nb\x01\r\n>2\r\n+invalidate\r\n_\r\n*4\r\n:-5\r\n$-1\r\n*0\r\n-ERR no\r\n%1\r\n+a\r\n#t\r\n~1\r\n,1.5\r\n"
    "=7\r\ntxt:abc\r\n!5\r\nERR x\r\n*-1\r\n";

TEST(Resp3Decoder, GivesTheSameValuesFromPiecesOfAnySize) {
  for (std::size_t piece = 1; piece <= kMessages.size(); ++piece) {
    EXPECT_THAT(decode_resp3(kMessages, piece), ElementsAre("'OK'", ">['invalidate' ['t:1' 'a\r\nb\x01']]", ">['invalidate' null]", "[-5 null [] -ERR no]",
                                                      "['a' 't']", "['1.5']", "'txt:abc'", "-ERR x", "null"))
        << piece;
    if (testing::Test::HasFailure()) return;
  }
}

/// Like decode_resp3(), with messages of invalidated keys taken as such where they are complete.
std::vector<std::string> decode_with_invalidations(std::string_view bytes, std::size_t piece, std::size_t& taken) {
  Resp3Decoder decoder;
  std::vector<std::string> values;
  while (!bytes.empty()) {
    decoder.feed(bytes.substr(0, piece));
    bytes.remove_prefix(std::min(piece, bytes.size()));
    for (;;) {
      std::string keys;
      if (decoder.take_invalidation([&](std::string_view key) { keys += (keys.empty() ? "'" : " '") + std::string(key) + "'"; })) {
        values.push_back(">['invalidate' [" + keys + "]]");
        ++taken;
        continue;
      }
      const std::optional<Resp3Value> value = decoder.next();
      if (!value) break;
      values.push_back(show_resp3(*value));
    }
  }
  return values;
}

TEST(Resp3Decoder, TakesMessagesOfInvalidatedKeysWithoutMakingValues) {
  const std::string bytes = std::string(kMessages) + ">2\r\n$10\r\ninvalidate\r\n*0\r\n" + std::string(kMessages);
  const std::vector<std::string> all = decode_resp3(bytes, bytes.size());
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    std::size_t taken = 0;
    EXPECT_EQ(decode_with_invalidations(bytes, piece, taken), all) << piece;
    EXPECT_TRUE(taken == 3 || piece < bytes.size()) << piece;
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Resp3Decoder, LeavesMalformedMessagesOfInvalidatedKeysToTheDecoder) {
  const std::string head = ">2\r\n$10\r\ninvalidate\r\n*";
  for (const std::string_view rest : {"x\r\n", "-1\r\n", "1\r\n$-1\r\n", "1\r\n:1\r\n", "1\r\n$3\r\nabcd\r\n", "123456789\r\n", "1\r\n$99999999\r\n"}) {
    Resp3Decoder decoder;
    decoder.feed(head + std::string(rest));
    EXPECT_FALSE(decoder.take_invalidation([](std::string_view) { FAIL(); })) << rest;
  }
  EXPECT_THROW(decode_resp3(head + "1\r\n$3\r\nabcd\r\n", 100), ProtocolError);
}

TEST(Resp3Decoder, RefusesBytesThatAreNotResp3) {
  for (const std::string_view bytes : {"?\r\n", "\r\n", ":x\r\n", "$x\r\n", "$-2\r\n", "$3\r\nabcd\r\n", "*-2\r\n", "*?\r\n", "*1\r\n>0\r\n", "|1\r\n+a\r\n+b\r\n"}) {
    EXPECT_THROW(decode_resp3(bytes, 100), ProtocolError) << bytes;
  }
}

TEST(Resp3Decoder, IsBounded) {
  const Resp3Decoder::Bounds bounds{.bytes = 100, .values = 10, .depth = 3};
  const auto decode_bounded = [&](const std::string& bytes) { return decode_resp3(bytes, 7, Resp3Decoder(bounds)); };
  EXPECT_THROW(decode_bounded("$101\r\n"), ProtocolError);
  EXPECT_THROW(decode_bounded("*2\r\n$60\r\n" + std::string(60, 'x') + "\r\n$60\r\n" + std::string(60, 'x') + "\r\n"), ProtocolError);
  EXPECT_THROW(decode_bounded("*11\r\n"), ProtocolError);
  EXPECT_THROW(decode_bounded("*2\r\n*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n*5\r\n:1\r\n:1\r\n:1\r\n:1\r\n:1\r\n"), ProtocolError);
  EXPECT_THROW(decode_bounded("*1\r\n*1\r\n*1\r\n*1\r\n"), ProtocolError);
  EXPECT_THROW(decode_bounded("+" + std::string(100'000, 'x')), ProtocolError);
  // The bounds are those of one value.
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "*2\r\n:1\r\n$5\r\nhello\r\n";
  EXPECT_EQ(decode_bounded(many).size(), 1000u);
}

TEST(Resp3Decoder, GivesALargeMessageAsSoonAsItIsComplete) {
  const std::string text(70'000, 'x'), bytes = "$70000\r\n" + text + "\r\n";
  Resp3Decoder decoder;
  decoder.feed(std::string_view(bytes).substr(0, 65'536));
  EXPECT_FALSE(decoder.next());
  decoder.feed(std::string_view(bytes).substr(65'536));
  const std::optional<Resp3Value> value = decoder.next();
  ASSERT_TRUE(value);
  EXPECT_EQ(value->text, text);
}

}  // namespace
}  // namespace redquel::executor
