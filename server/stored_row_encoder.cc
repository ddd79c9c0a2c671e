#include "server/stored_row_encoder.h"

#include <limits>

#include "executor/storage/stored_text.h"
#include "sql/types/binary_io.h"
#include "sql/types/text_io.h"

namespace redquel::server {

StoredRowEncoder::StoredRowEncoder(MessageEncoder& encoder, std::span<const executor::OutputColumn> columns, std::span<const std::int16_t> formats,
                                   const sql::SessionSettings& settings)
    : encoder_(encoder), settings_(settings) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const sql::Type type = columns[i].type;
    columns_.push_back({type, formats[i] == 1 ? Way::kBinary : sql::output_is_storage_form(type, settings) ? Way::kCopy : Way::kText});
  }
}

bool StoredRowEncoder::add(std::span<const std::optional<std::string_view>> row) {
  constexpr std::uint32_t kNull = std::numeric_limits<std::uint32_t>::max();
  encoder_.begin_message('D');
  try {
    encoder_.put_uint16(static_cast<std::uint16_t>(columns_.size()));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (row[i]) append(columns_[i], *row[i]);
      else encoder_.put_uint32(kNull);
    }
  } catch (const sql::SqlError&) {
    encoder_.abandon_message();
    return false;
  }
  encoder_.end_message();
  ++rows_;
  return true;
}

void StoredRowEncoder::append(const Column& column, std::string_view text) {
  std::string& out = encoder_.buffer();
  if (column.way == Way::kCopy) {
    encoder_.put_uint32(static_cast<std::uint32_t>(text.size()));
    out.append(text);
    return;
  }
  const std::size_t length_at = encoder_.size();
  encoder_.put_uint32(0);
  const sql::Datum value = executor::parse_stored_text(column.type, text);
  if (column.way == Way::kBinary) sql::encode_binary(column.type, value, out);
  else sql::format_value(column.type, value, settings_, out);
  encoder_.set_uint32(length_at, static_cast<std::uint32_t>(out.size() - length_at - 4));
}

}  // namespace redquel::server
