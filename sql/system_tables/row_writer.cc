#include "sql/system_tables/row_writer.h"

#include <charconv>

#include "sql/types/text_io.h"

namespace redquel::sql {

RowWriter::RowWriter(const SystemTable& table) {
  for (const SystemTable::SystemColumn& column : table.columns) columns_.emplace_back(column.type);
}

Batch RowWriter::finish() {
  Batch batch;
  batch.rows = rows_;
  for (Column& column : columns_) batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
  return batch;
}

void RowWriter::add_texts(std::span<const std::optional<std::string_view>> values) {
  assert(values.size() == columns_.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i]) {
      put_text_form(columns_[i], *values[i]);
    } else {
      columns_[i].append_null();
    }
  }
  ++rows_;
}

void RowWriter::put_text_form(Column& column, std::string_view value) {
  const char* const end = value.data() + value.size();
  switch (storage_of(column.type())) {
    case Storage::kBool: column.append(value == "t"); break;
    case Storage::kInt2:
    case Storage::kInt4:
    case Storage::kInt8: {
      std::int64_t number = 0;
      std::from_chars(value.data(), end, number);
      put_integer(column, number);
      break;
    }
    case Storage::kFloat4:
    case Storage::kFloat8: {
      double number = 0;
      std::from_chars(value.data(), end, number);
      put_real(column, number);
      break;
    }
    case Storage::kNumeric: column.append_datum(parse_value(column.type(), value, {})); break;
    default: put_text(column, value);
  }
}

void RowWriter::put_boolean(Column& column, bool value) {
  if (storage_of(column.type()) == Storage::kText) {
    column.append(std::string_view(value ? "YES" : "NO"));  // information_schema.yes_or_no
  } else {
    column.append(value);
  }
}

void RowWriter::put_integer(Column& column, std::int64_t value) {
  switch (storage_of(column.type())) {
    case Storage::kInt2: column.append(static_cast<std::int16_t>(value)); break;
    case Storage::kInt4: column.append(static_cast<std::int32_t>(value)); break;  // oids above 2^31 wrap to their bit pattern
    case Storage::kInt8: column.append(value); break;
    case Storage::kText: column.append(std::string_view(std::to_string(value))); break;
    default: put_real(column, static_cast<double>(value));
  }
}

void RowWriter::put_real(Column& column, double value) {
  if (storage_of(column.type()) == Storage::kFloat4) {
    column.append(static_cast<float>(value));
  } else {
    column.append(value);
  }
}

void RowWriter::put_text(Column& column, std::string_view value) { column.append(value); }

}  // namespace redquel::sql
