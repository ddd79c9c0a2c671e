#include "executor/storage/row_record.h"

#include <cstring>

#include "executor/storage/stored_text.h"

namespace redquel::executor {

namespace {

/// In place of a length: there is nothing.
constexpr std::uint32_t kNothing = 0xFFFFFFFF;

sql::Type type_at(const sql::TableDef& table, std::size_t position) {
  return position < table.columns.size() ? table.columns[position].type : sql::kInt8;  // the hidden key
}

}  // namespace

void put_number(std::string& out, std::uint32_t number) { out.append(reinterpret_cast<const char*>(&number), sizeof(number)); }

void put_row(std::string& out, const sql::TableDef& table, std::optional<std::span<const sql::Datum>> row) {
  if (!row) return put_number(out, kNothing);
  put_number(out, static_cast<std::uint32_t>(row->size()));
  std::string text;
  for (std::size_t position = 0; position < row->size(); ++position) {
    const sql::Datum& value = (*row)[position];
    if (sql::is_null(value)) {
      put_number(out, kNothing);
      continue;
    }
    text.clear();
    append_stored_text(type_at(table, position), value, text);
    put_number(out, static_cast<std::uint32_t>(text.size()));
    out += text;
  }
}

std::uint32_t RecordReader::number() {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes_.data() + at_, sizeof(value));
  at_ += sizeof(value);
  return value;
}

std::string_view RecordReader::text(std::size_t size) {
  const std::string_view found = bytes_.substr(at_, size);
  at_ += size;
  return found;
}

std::optional<std::vector<sql::Datum>> RecordReader::row(const sql::TableDef& table) {
  const std::uint32_t width = number();
  if (width == kNothing) return std::nullopt;
  std::vector<sql::Datum> values(width);
  for (std::size_t position = 0; position < width; ++position) {
    const std::uint32_t size = number();
    if (size != kNothing) values[position] = parse_stored_text(type_at(table, position), text(size));
  }
  return values;
}

}  // namespace redquel::executor
