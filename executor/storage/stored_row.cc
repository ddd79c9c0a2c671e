#include "executor/storage/stored_row.h"

#include "executor/redis/redis_error.h"
#include "executor/storage/field_text.h"
#include "executor/storage/stored_text.h"
#include "executor/storage/table_companion.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

std::vector<std::int16_t> all_columns(const sql::TableDef& table) {
  std::vector<std::int16_t> numbers;
  for (const sql::ColumnDef& column : table.columns) numbers.push_back(column.number);
  if (table.has_hidden_key()) numbers.push_back(0);
  return numbers;
}

}  // namespace

StoredRows::StoredRows(std::shared_ptr<const sql::TableDef> table)
    : table_(std::move(table)), keys_(*table_), fields_(sql::row_fields(*table_, all_columns(*table_))) {
  presence_and_fields_.push_back(fields_.fields[fields_.presence]);
  presence_and_fields_.insert(presence_and_fields_.end(), fields_.fields.begin(), fields_.fields.end());
}

std::shared_ptr<const StoredRows> stored_rows_of(const std::shared_ptr<const sql::TableDef>& table) { return companion_of<StoredRows>(table); }

bool StoredRows::is_canonical(std::string_view member) const {
  try {
    return keys_.member(keys_.decode_member(member)) == member;
  } catch (const sql::SqlError&) {
    return false;
  }
}

void StoredRows::append_fetch(CommandBatch& batch, std::string_view member) const {
  batch.add("HMGET", keys_.row_of_member(member), fields_.fields);
}

std::optional<std::vector<sql::Datum>> StoredRows::decode(std::string_view member, std::span<const Reply> values) const {
  using Kind = sql::RowFields::Source::Kind;
  if (values.size() != fields_.fields.size()) throw unexpected_reply("HMGET", "one value per field");
  if (!values[fields_.presence].is_text()) return std::nullopt;
  const std::vector<sql::Datum> key = keys_.decode_member(member);
  std::vector<sql::Datum> row;
  for (std::size_t index = 0; index < fields_.columns.size(); ++index) {
    const sql::RowFields::Source& source = fields_.columns[index];
    if (source.kind == Kind::kHiddenKey) {
      row.push_back(key[0]);
    } else if (source.kind == Kind::kKeyPart) {
      row.push_back(key[source.index]);
    } else if (const auto text = field_text(source, values)) {
      row.push_back(parse_stored_text(table_->columns[index].type, *text));
    } else {
      row.emplace_back();
    }
  }
  return row;
}

}  // namespace redquel::executor
