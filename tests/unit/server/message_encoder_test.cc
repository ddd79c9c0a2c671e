#include "server/message_encoder.h"

#include <boost/asio/awaitable.hpp>
#include <gtest/gtest.h>

#include "server/row_encoder.h"
#include "tests/unit/server/wire_client.h"

namespace redquel::server {
namespace {

sql::ColumnPtr text_column(std::vector<std::optional<std::string>> values) {
  sql::Column column(sql::kText);
  for (const auto& value : values) value ? column.append(std::string_view(*value)) : column.append_null();
  return std::make_shared<const sql::Column>(std::move(column));
}

/// Rows that come from nowhere.
class NoExecution final : public executor::Execution {
 public:
  boost::asio::awaitable<std::optional<sql::Batch>> next() override { co_return std::nullopt; }
  std::string command_tag() const override { return ""; }
};

const NoExecution kNoExecution;

TEST(MessageEncoder, Messages) {
  MessageEncoder encoder;
  encoder.parse_complete();
  encoder.ready_for_query(TransactionStatus::kIdle);
  encoder.command_complete("SELECT 1");
  EXPECT_EQ(encoder.bytes(), message('1') + message('Z', "I") + message('C', text("SELECT 1")));
  encoder.clear();
  const std::vector<executor::OutputColumn> columns = {{"id", sql::kInt4, 16400, 2}};
  const std::vector<std::int16_t> formats = {1};
  encoder.row_description(columns, formats);
  EXPECT_EQ(encoder.bytes(), message('T', int16(1) + text("id") + int32(16400) + int16(2) + int32(23) + int16(4) +
                                              int32(-1) + int16(1)));
}

TEST(MessageEncoder, ErrorFields) {
  MessageEncoder encoder;
  const sql::SqlError error = sql::SqlError("23505", "duplicate").detail("Key").table("emp").constraint("emp_pkey");
  encoder.error_response({"ERROR", &error, 12});
  EXPECT_EQ(encoder.bytes(), message('E', text("SERROR") + text("VERROR") + text("C23505") + text("Mduplicate") +
                                              text("DKey") + text("P12") + text("temp") + text("nemp_pkey") + '\0'));
}

TEST(MessageEncoder, RowsInTextAndBinary) {
  MessageEncoder encoder;
  sql::Column numbers = sql::Column::encoded(sql::kInt4);
  numbers.append(std::string_view("7"));
  numbers.append_null();
  sql::Batch batch;
  batch.rows = 2;
  batch.columns = {std::make_shared<const sql::Column>(std::move(numbers)), text_column({"a", ""})};
  const std::vector<executor::OutputColumn> columns = {{"n", sql::kInt4, 0, 0}, {"t", sql::kText, 0, 0}};
  const sql::SessionSettings settings;
  const std::vector<std::int16_t> formats = {0, 0};
  RowEncoder rows(encoder, columns, formats, settings, kNoExecution);
  EXPECT_EQ(rows.append_rows(batch, 0, 2, 1 << 20), 2u);
  const std::string second = message('D', int16(2) + int32(-1) + int32(0));
  EXPECT_EQ(encoder.bytes(), message('D', int16(2) + int32(1) + "7" + int32(1) + "a") + second);
  encoder.clear();

  const std::vector<std::int16_t> binary = {1, 1};
  RowEncoder binary_rows(encoder, columns, binary, settings, kNoExecution);
  EXPECT_EQ(binary_rows.append_rows(batch, 0, 2, 1), 1u);  // full after one row
  EXPECT_EQ(encoder.bytes(), message('D', int16(2) + int32(4) + int32(7) + int32(1) + "a"));
  const std::vector<std::int16_t> unknown = {0, 5};
  EXPECT_THROW(RowEncoder(encoder, columns, unknown, settings, kNoExecution), sql::SqlError);
}

TEST(MessageEncoder, ClientEncoding) {
  MessageEncoder encoder;
  encoder.set_converter(sql::EncodingConverter::make(*sql::find_client_encoding("latin1")));
  encoder.command_complete("caf\xc3\xa9");
  EXPECT_EQ(encoder.bytes(), message('C', text("caf\xe9")));
  encoder.clear();

  // A row that cannot be said leaves the rows before it whole and nothing of itself.
  sql::Batch batch;
  batch.rows = 2;
  batch.columns = {text_column({"\xc3\xa9", "\xe4\xb8\xad"})};
  const std::vector<executor::OutputColumn> columns = {{"t", sql::kText, 0, 0}};
  const std::vector<std::int16_t> formats = {0};
  const sql::SessionSettings settings;
  RowEncoder rows(encoder, columns, formats, settings, kNoExecution);
  EXPECT_THROW(rows.append_rows(batch, 0, 2, 1 << 20), sql::SqlError);
  EXPECT_EQ(encoder.bytes(), message('D', int16(1) + int32(1) + "\xe9"));
  encoder.clear();

  // Errors always get through.
  const sql::SqlError error("XX000", "a \xe4\xb8\xad b");
  encoder.error_response({"ERROR", &error, 0});
  EXPECT_NE(encoder.bytes().find("Ma ? b"), std::string_view::npos);
}

}  // namespace
}  // namespace redquel::server
