#include "executor/replication/stream_decoder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "executor/redis/command_batch.h"
#include "executor/redis/resp_codec.h"
#include "executor/replication/pgoutput.h"
#include "sql/catalog/catalog_json.h"

namespace redquel::executor {

namespace {

/// The commands of a text, one a line, words between blanks.
std::string encoded(const std::string& text) {
  CommandBatch batch;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream blanks(line);
    std::vector<std::string> words;
    for (std::string word; blanks >> word;) words.push_back(word);
    if (words.empty()) continue;
    batch.begin(words.size());
    for (const std::string& word : words) batch.arg(word);
  }
  return std::string(batch.bytes());
}

sql::TableDef table_definition() {
  sql::TableDef table;
  table.oid = 16400;
  table.name = "t";
  table.prefix = "t";
  table.version = "v1";
  table.columns = {{.number = 1, .name = "id", .field = "id", .type = sql::kInt4, .not_null = true},
                   {.number = 2, .name = "a", .field = "a", .type = sql::kText},
                   {.number = 3, .name = "n", .field = "n", .type = sql::kInt4}};
  table.primary_key = {1};
  return table;
}

StreamDecoder::State state_of(const sql::TableDef& table) {
  sql::PublicationDef publication;
  publication.oid = 16500;
  publication.name = "p";
  publication.all_tables = true;
  auto definitions = std::make_shared<StoredDefinitions>();
  definitions->emplace("table:16400", sql::encode_table(table));
  definitions->emplace("publication:16500", sql::encode_publication(publication));
  StreamDecoder::State state;
  state.definitions = std::move(definitions);
  return state;
}

std::string text_of(const TableChange& change) {
  constexpr std::string_view kNames[] = {"INSERT", "UPDATE", "DELETE", "TRUNCATE", "READ TABLE", "READ ROW"};
  std::string text(kNames[static_cast<std::size_t>(change.kind)]);
  for (const ChangedValue& value : change.values) {
    using Kind = ChangedValue::Kind;
    text += ' ';
    text += value.kind == Kind::kText ? value.text : value.kind == Kind::kNull ? "NULL" : value.kind == Kind::kUnread ? "?" : "-";
  }
  return text;
}

/// Decodes the bytes in pieces of this size. A line of dashes stands behind each transaction.
std::string decode(const std::string& bytes, std::size_t piece) {
  StreamParser parser(100);
  StreamDecoder decoder(0, state_of(table_definition()), {"p"});
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    parser.feed(std::string_view(bytes).substr(at, piece));
    StreamCommand command;
    while (parser.next(command)) {
      const auto transaction = decoder.feed(command);
      if (!transaction) continue;
      for (const TableChange& change : transaction->changes) text += text_of(change) + "\n";
      text += "--\n";
    }
  }
  EXPECT_EQ(parser.offset(), 100 + bytes.size());
  return text;
}

std::string decoded(const std::string& commands) { return decode(encoded(commands), 1 << 20); }

constexpr std::string_view kInsert = "SELECT 0\nMULTI\nINCR redquel:changes:16400\nHSET t:1 a x n 5\nSADD t:indices:a x\nZADD t:zset 1 1\nEXEC\n";

}  // namespace

TEST(StreamDecoderTest, AnInsertHasAllColumns) {
  EXPECT_EQ(decoded(std::string(kInsert)), "INSERT 1 x 5\n--\n");
  EXPECT_EQ(decoded("MULTI\nHSET t:1 a x\nZADD t:zset 1 1\nEXEC\n"), "INSERT 1 x NULL\n--\n");
}

TEST(StreamDecoderTest, AnUpdateHasTheChangedColumns) {
  EXPECT_EQ(decoded("MULTI\nHSET t:1 a y\nEXEC\nMULTI\nHDEL t:1 n\nHSET t:1 a z\nEXEC\n"), "UPDATE 1 y -\n--\nUPDATE 1 z NULL\n--\n");
  EXPECT_EQ(decoded("HINCRBY t:1 n 4\n"), "UPDATE 1 - ?\n--\n");
}

TEST(StreamDecoderTest, RowsThatGoComeBeforeOthers) {
  EXPECT_EQ(decoded("MULTI\nHSET t:2 a x\nUNLINK t:1\nZREM t:zset 1\nZADD t:zset 2 2\nEXEC\n"), "DELETE 1 - -\nINSERT 2 x NULL\n--\n");
  EXPECT_EQ(decoded("MULTI\nUNLINK t:1\nHSET t:1 a x\nZADD t:zset 1 1\nEXEC\n"), "DELETE 1 - -\nINSERT 1 x NULL\n--\n");
  EXPECT_EQ(decoded("DEL t:1\n"), "DELETE 1 - -\n--\n");
}

TEST(StreamDecoderTest, BookkeepingAndOtherKeysAreNoChanges) {
  EXPECT_EQ(decoded("HSET redquel:locks:16400 r1 4x\nPING\nSET u:1 x\nHSET u:1 a b\nSADD t:indices:a x\nZADD t:zset:n 5 1\nINCRBY t:id 3\n"), "");
  EXPECT_EQ(decoded("SELECT 1\nHSET t:1 a x\nSELECT 0\nHSET t:1 a y\n"), "UPDATE 1 y -\n--\n");
}

TEST(StreamDecoderTest, AUnitOfManyBlocksIsOneTransaction) {
  EXPECT_EQ(decoded("HSET redquel:exclusive 16400 unit\nMULTI\nHSET t:1 a x\nZADD t:zset 1 1\nRPUSH redquel:journal:unit u\nEXEC\n"
                    "MULTI\nHSET t:2 a y\nZADD t:zset 2 2\nEXEC\nMULTI\nHDEL redquel:exclusive 16400\nUNLINK redquel:journal:unit\nEXEC\n"),
            "INSERT 1 x NULL\nINSERT 2 y NULL\n--\n");
}

TEST(StreamDecoderTest, ATruncateLeavesRowsOut) {
  EXPECT_EQ(decoded("MULTI\nUNLINK t:zset t:1 t:2\nEXEC\nFLUSHDB\n"), "TRUNCATE\n--\nTRUNCATE\n--\n");
  EXPECT_EQ(decoded("MULTI\nUNLINK t:zset t:1\nHSET t:3 a x\nZADD t:zset 3 3\nEXEC\n"), "TRUNCATE\nINSERT 3 x NULL\n--\n");
}

TEST(StreamDecoderTest, UnknownCommandsMakeRowsBeRead) {
  EXPECT_EQ(decoded("RESTORE t:1 0 x\n"), "READ ROW 1 - -\n--\n");
  EXPECT_EQ(decoded("ZADD t:zset 1 1\n"), "READ ROW 1 - -\n--\n");
  EXPECT_THROW(decoded("SWAPDB 0 1\n"), sql::SqlError);
}

TEST(StreamDecoderTest, EscapedKeysAreUndone) {
  EXPECT_EQ(decoded("HSET t:a%20b a x\n"), "UPDATE a b x -\n--\n");
}

TEST(StreamDecoderTest, CutsOfTheStreamMeanNothing) {
  const std::string bytes = encoded(std::string(kInsert) + "MULTI\nHSET t:1 a y\nEXEC\nDEL t:1\n");
  const std::string whole = decode(bytes, bytes.size());
  for (std::size_t piece = 1; piece < 40; ++piece) EXPECT_EQ(decode(bytes, piece), whole) << piece;
}

TEST(StreamDecoderTest, HostileBytesAreRefused) {
  const auto refuses = [](std::string_view bytes) {
    StreamParser parser(0, {.words = 10, .word_bytes = 100, .command_bytes = 300});
    StreamCommand command;
    try {
      parser.feed(bytes);
      while (parser.next(command)) continue;
    } catch (const ProtocolError&) {
      return true;
    }
    return false;
  };
  EXPECT_TRUE(refuses("PING\r\n"));
  EXPECT_TRUE(refuses("*-1\r\n"));
  EXPECT_TRUE(refuses("*0\r\n"));
  EXPECT_TRUE(refuses("*11\r\n"));
  EXPECT_TRUE(refuses("*99999999999999999999999\r\n"));
  EXPECT_TRUE(refuses("*1\r\n:1\r\n"));
  EXPECT_TRUE(refuses("*1\r\n$101\r\n"));
  EXPECT_TRUE(refuses("*1\r\n$-5\r\n"));
  EXPECT_TRUE(refuses("*1\r\n$3\r\nabcde"));
  EXPECT_TRUE(refuses("*1\r\n$11111111111111111"));
  EXPECT_TRUE(refuses("*4\r\n$90\r\n" + std::string(90, 'x') + "\r\n$90\r\n" + std::string(90, 'x') + "\r\n$90\r\n" + std::string(90, 'x') + "\r\n$90\r\n"));
  EXPECT_FALSE(refuses("\n\n*1\r\n$4\r\nPING\r\n\n"));
}

TEST(StreamDecoderTest, PgoutputDescribesATableOnce) {
  StreamDecoder decoder(0, state_of(table_definition()), {"p"});
  StreamParser parser(0);
  parser.feed(encoded("HSET t:1 a x\nHSET t:1 a y\n"));
  PgoutputEncoder encoder;
  std::string kinds;
  StreamCommand command;
  while (parser.next(command)) {
    for (const ReplicationMessage& message : encoder.encode(*decoder.feed(command), 0, 0)) kinds += message.body[0];
  }
  EXPECT_EQ(kinds, "BRUCBUC");
}

}  // namespace redquel::executor
