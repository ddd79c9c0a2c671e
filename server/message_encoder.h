#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/engine/engine.h"
#include "server/startup_packet.h"
#include "sql/types/text_encoding.h"

namespace redquel::server {

enum class TransactionStatus : char { kIdle = 'I', kInBlock = 'T', kFailed = 'E' };

/// An SqlError on its way to the client.
struct ErrorReport {
  std::string_view severity;  // "ERROR", "FATAL", "WARNING"…
  const sql::SqlError* error;
  std::uint32_t character_position = 0;  // 1-based, in the client's query text; 0: none
  std::string_view context = {};         // "unnamed portal parameter $1"
};

/// Backend messages, encoded one behind the other into one buffer that is used again and again. Texts are UTF-8 and
/// leave in the client's encoding. A message that cannot be completed (22P05, 54000) leaves no trace in the buffer.
class MessageEncoder {
 public:
  /// nullptr: UTF-8.
  void set_converter(std::unique_ptr<sql::EncodingConverter> converter) { converter_ = std::move(converter); }
  sql::EncodingConverter* converter() { return converter_.get(); }
  bool has_utf8() const { return converter_ == nullptr; }

  void authentication_ok();
  void negotiate_protocol_version(const std::vector<std::string>& unknown_options);
  void parameter_status(std::string_view name, std::string_view value);
  void backend_key_data(const CancelKey& key);
  void ready_for_query(TransactionStatus status);
  void error_response(const ErrorReport& report) { report_message('E', report); }
  void notice_response(const ErrorReport& report) { report_message('N', report); }

  void notification_response(std::int32_t process_id, std::string_view channel, std::string_view payload);

  void parse_complete() { empty_message('1'); }
  void bind_complete() { empty_message('2'); }
  void close_complete() { empty_message('3'); }
  void no_data() { empty_message('n'); }
  void empty_query_response() { empty_message('I'); }
  void portal_suspended() { empty_message('s'); }
  void command_complete(std::string_view tag);
  void parameter_description(std::span<const sql::Type> types);
  /// `formats`: one per column.
  void row_description(std::span<const executor::OutputColumn> columns, std::span<const std::int16_t> formats);

  // A message by hand: begin_message, fields, end_message. Used by the rows.
  void begin_message(char type);
  void end_message();
  /// Drops a message that was begun.
  void abandon_message();
  void put_uint8(std::uint8_t value) { buffer_.push_back(static_cast<char>(value)); }
  void put_uint16(std::uint16_t value);
  void put_uint32(std::uint32_t value);
  /// Converted, with its terminating zero.
  void put_text(std::string_view utf8);
  std::string& buffer() { return buffer_; }
  /// Writes a length at a place that was left for it.
  void set_uint32(std::size_t position, std::uint32_t value);

  std::string_view bytes() const { return buffer_; }
  std::size_t size() const { return buffer_.size(); }
  bool empty() const { return buffer_.empty(); }
  /// Takes back the messages behind this size.
  void cut(std::size_t size) { buffer_.resize(size); }
  /// After the bytes were sent; a buffer that grew very large is given back.
  void clear();

 private:
  void empty_message(char type);
  void report_message(char type, const ErrorReport& report);
  void put_field(char field, std::string_view text);

  std::string buffer_;
  std::size_t message_start_ = 0;
  bool lossy_ = false;  // '?' for what the client's encoding lacks: errors must always get through
  std::unique_ptr<sql::EncodingConverter> converter_;
};

}  // namespace redquel::server
