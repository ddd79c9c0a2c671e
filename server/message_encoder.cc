#include "server/message_encoder.h"

#include <limits>

#include "sql/sqlstate.h"
#include "sql/types/type.h"

namespace redquel::server {

namespace {

constexpr std::size_t kKeptBuffer = 1 << 20;

void store_big_endian(char* to, std::uint32_t value) {
  to[0] = static_cast<char>(value >> 24);
  to[1] = static_cast<char>(value >> 16);
  to[2] = static_cast<char>(value >> 8);
  to[3] = static_cast<char>(value);
}

void store_big_endian(char* to, std::uint16_t value) {
  to[0] = static_cast<char>(value >> 8);
  to[1] = static_cast<char>(value);
}

}  // namespace

void MessageEncoder::begin_message(char type) {
  message_start_ = buffer_.size();
  buffer_.push_back(type);
  buffer_.append(4, '\0');
}

void MessageEncoder::end_message() {
  const std::size_t length = buffer_.size() - message_start_ - 1;
  if (length > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    abandon_message();
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, "message to the client is too long");
  }
  set_uint32(message_start_ + 1, static_cast<std::uint32_t>(length));
}

void MessageEncoder::abandon_message() { buffer_.resize(message_start_); }

void MessageEncoder::set_uint32(std::size_t position, std::uint32_t value) {
  store_big_endian(buffer_.data() + position, value);
}

void MessageEncoder::put_uint16(std::uint16_t value) {
  char bytes[2];
  store_big_endian(bytes, value);
  buffer_.append(bytes, sizeof bytes);
}

void MessageEncoder::put_uint32(std::uint32_t value) {
  char bytes[4];
  store_big_endian(bytes, value);
  buffer_.append(bytes, sizeof bytes);
}

void MessageEncoder::put_text(std::string_view utf8) {
  if (converter_) {
    converter_->append_for_client(utf8, buffer_, lossy_);
  } else {
    buffer_.append(utf8);
  }
  buffer_.push_back('\0');
}

void MessageEncoder::clear() {
  if (buffer_.capacity() > kKeptBuffer) {
    buffer_ = std::string();
  } else {
    buffer_.clear();
  }
}

void MessageEncoder::empty_message(char type) {
  begin_message(type);
  end_message();
}

void MessageEncoder::authentication_ok() {
  begin_message('R');
  put_uint32(0);
  end_message();
}

void MessageEncoder::negotiate_protocol_version(const std::vector<std::string>& unknown_options) {
  begin_message('v');
  put_uint32(3u << 16);  // the newest version served, as PostgreSQL 15 says it
  put_uint32(static_cast<std::uint32_t>(unknown_options.size()));
  for (const std::string& option : unknown_options) put_text(option);
  end_message();
}

void MessageEncoder::notification_response(std::int32_t process_id, std::string_view channel, std::string_view payload) {
  lossy_ = true;
  begin_message('A');
  put_uint32(static_cast<std::uint32_t>(process_id));
  put_text(channel);
  put_text(payload);
  end_message();
  lossy_ = false;
}

void MessageEncoder::parameter_status(std::string_view name, std::string_view value) {
  lossy_ = true;
  begin_message('S');
  put_text(name);
  put_text(value);
  end_message();
  lossy_ = false;
}

void MessageEncoder::backend_key_data(const CancelKey& key) {
  begin_message('K');
  put_uint32(static_cast<std::uint32_t>(key.process_id));
  put_uint32(static_cast<std::uint32_t>(key.secret));
  end_message();
}

void MessageEncoder::ready_for_query(TransactionStatus status) {
  begin_message('Z');
  put_uint8(static_cast<std::uint8_t>(status));
  end_message();
}

void MessageEncoder::put_field(char field, std::string_view text) {
  if (text.empty()) return;
  buffer_.push_back(field);
  put_text(text);
}

void MessageEncoder::report_message(char type, const ErrorReport& report) {
  const sql::SqlError& error = *report.error;
  lossy_ = true;
  begin_message(type);
  put_field('S', report.severity);
  put_field('V', report.severity);
  put_field('C', error.sqlstate());
  const std::string message = error.message();
  put_field('M', message.empty() ? std::string_view("missing error text") : message);
  put_field('D', error.detail());
  put_field('H', error.hint());
  if (report.character_position > 0) put_field('P', std::to_string(report.character_position));
  std::string context = error.context();
  if (!context.empty() && !report.context.empty()) context += '\n';
  put_field('W', context += report.context);
  put_field('s', error.schema());
  put_field('t', error.table());
  put_field('c', error.column());
  put_field('d', error.data_type());
  put_field('n', error.constraint());
  if (type == 'E') put_field('R', error.routine());
  buffer_.push_back('\0');
  end_message();
  lossy_ = false;
}

void MessageEncoder::command_complete(std::string_view tag) {
  begin_message('C');
  put_text(tag);
  end_message();
}

void MessageEncoder::parameter_description(std::span<const sql::Type> types) {
  begin_message('t');
  put_uint16(static_cast<std::uint16_t>(types.size()));
  for (const sql::Type& type : types) put_uint32(type.oid);
  end_message();
}

void MessageEncoder::row_description(std::span<const executor::OutputColumn> columns,
                                     std::span<const std::int16_t> formats) {
  begin_message('T');
  put_uint16(static_cast<std::uint16_t>(columns.size()));
  try {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const executor::OutputColumn& column = columns[i];
      const sql::TypeInfo* info = sql::find_type(column.type.oid);
      put_text(column.name);
      char rest[18];  // in one piece: clients ask for it with every statement
      store_big_endian(rest, column.table);
      store_big_endian(rest + 4, static_cast<std::uint16_t>(column.attribute));
      store_big_endian(rest + 6, column.type.oid);
      store_big_endian(rest + 10, static_cast<std::uint16_t>(info ? info->length : std::int16_t{-1}));
      store_big_endian(rest + 12, static_cast<std::uint32_t>(column.type.modifier));
      store_big_endian(rest + 16, static_cast<std::uint16_t>(formats[i]));
      buffer_.append(rest, sizeof rest);
    }
  } catch (...) {
    abandon_message();
    throw;
  }
  end_message();
}

}  // namespace redquel::server
