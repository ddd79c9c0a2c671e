#include "server/row_encoder.h"

#include <cassert>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "sql/sqlstate.h"
#include "sql/types/binary_io.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"
#include "sql/types/type_operations.h"

namespace redquel::server {

namespace {

/// Types whose value in memory is its text form.
bool is_plain_text(sql::Oid type) {
  switch (type) {
    case sql::oid::kText:
    case sql::oid::kVarchar:
    case sql::oid::kName:
    case sql::oid::kUnknown:
    case sql::oid::kJson:
    case sql::oid::kJsonb:
    case sql::oid::kJsonpath:
      return true;
    default:
      return false;
  }
}

}  // namespace

RowEncoder::RowEncoder(MessageEncoder& encoder, std::span<const executor::OutputColumn> columns,
                       std::span<const std::int16_t> formats, const sql::SessionSettings& settings,
                       const executor::Execution& execution)
    : encoder_(encoder), formats_(formats), settings_(settings), execution_(execution) {
  assert(columns.size() == formats.size());
  for (const std::int16_t format : formats) {
    if (format != 0 && format != 1) {
      throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("unsupported format code: {}", format));
    }
  }
  sources_.reserve(columns.size());
}

std::size_t RowEncoder::append_rows(const sql::Batch& batch, std::size_t first, std::size_t end, std::size_t full) {
  if (batch.columns.size() != formats_.size()) throw sql::SqlError(sqlstate::kInternalError, "rows have another shape than their plan");
  std::optional<sql::KnownTypesScope> types;
  if (sql::UserTypesPtr of_rows = execution_.user_types()) types.emplace(std::move(of_rows));
  const bool converting = encoder_.converter() != nullptr;
  sources_.clear();
  named_.clear();
  for (std::size_t i = 0; i < batch.columns.size(); ++i) {
    if (formats_[i] != 1) named_.push_back(execution_.named(batch.columns[i]));
    const sql::Column& column = formats_[i] == 1 ? *batch.columns[i] : *named_.back();
    const sql::Type type = column.type();
    Way way = Way::kText;
    if (formats_[i] == 1) {
      way = Way::kBinary;
    } else if (column.is_encoded() ? sql::output_is_storage_form(type, settings_) : is_plain_text(type.oid)) {
      way = Way::kCopy;
    }
    const bool looks_up = way == Way::kBinary && !column.is_encoded();
    sources_.push_back({&column, way, converting && way != Way::kBinary, looks_up ? sql::operations_of(type.oid).encode_row : nullptr});
  }
  std::size_t row = first;
  for (; row < end && encoder_.size() < full; ++row) {
    encoder_.begin_message('D');
    try {
      encoder_.put_uint16(static_cast<std::uint16_t>(sources_.size()));
      for (const Source& source : sources_) append_value(source, row);
    } catch (...) {
      encoder_.abandon_message();
      throw;
    }
    encoder_.end_message();
  }
  return row;
}

void RowEncoder::append_value(const Source& source, std::size_t row) {
  constexpr std::uint32_t kNull = std::numeric_limits<std::uint32_t>::max();
  if (source.column->is_null(row)) {
    encoder_.put_uint32(kNull);
    return;
  }
  if (source.way == Way::kCopy && !source.convert) {
    const std::string_view text = source.column->get<std::string_view>(row);
    encoder_.put_uint32(static_cast<std::uint32_t>(text.size()));
    encoder_.buffer().append(text);
    return;
  }
  const std::size_t length_at = encoder_.size();
  encoder_.put_uint32(0);
  std::string& out = encoder_.buffer();
  std::string& target = source.convert ? scratch_ : out;
  scratch_.clear();
  switch (source.way) {
    case Way::kCopy:
      target.append(source.column->get<std::string_view>(row));
      break;
    case Way::kText:
      sql::format_value(*source.column, row, settings_, target);
      break;
    case Way::kBinary:
      if (source.encode != nullptr) {
        source.encode(*source.column, row, out, encoder_.converter());
      } else {
        sql::encode_binary(*source.column, row, out, encoder_.converter());
      }
      break;
  }
  if (source.convert) encoder_.converter()->append_for_client(scratch_, out);
  encoder_.set_uint32(length_at, static_cast<std::uint32_t>(out.size() - length_at - 4));
}

}  // namespace redquel::server
