#include "executor/storage/row_reader.h"

#include <fmt/format.h>

#include "executor/storage/field_text.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::executor {

RowReader::RowReader(const planner::TableRead& read, TableChangesPtr changes)
    : read_(read),
      changes_(std::move(changes)),
      keys_(*read.table),
      fields_(read.fields ? read.fields : std::make_shared<const sql::RowFields>(sql::row_fields(*read.table, read.numbers))) {
  for (const auto& source : fields_->columns) {
    needs_key_parts_ |= source.kind == sql::RowFields::Source::Kind::kKeyPart && read.table->primary_key.size() > 1;
  }
}

void RowReader::start() {
  columns_.reserve(fields_->columns.size());
  for (const auto& source : fields_->columns) columns_.push_back({std::make_shared<sql::Column>(sql::Column::encoded(source.type)), stored_text_check(source.type)});
}

void RowReader::refuse(std::size_t column, std::string_view member, std::string_view text) const {
  const auto& source = fields_->columns[column];
  const bool is_field = source.kind == sql::RowFields::Source::Kind::kField;
  const std::string key = keys_.row_of_member(member);
  std::string place = fmt::format("The Redis key \"{}\" holds it as a part of its name.", key);
  if (is_field) place = fmt::format("The Redis hash \"{}\" holds it in the field \"{}\", a column of table \"{}\".", key, fields_->fields[source.index], read_.table->name);
  const auto with_place = [&](const sql::SqlError& error) {
    // Policies may hide the row from the role that asks.
    if (read_.table->security.enabled) return sql::SqlError(error.sqlstate(), fmt::format("a stored value of table \"{}\" cannot be read", read_.table->name));
    return sql::SqlError(error.sqlstate(), error.message()).detail(std::move(place)).hint("Give the field a value of its type in Redis, or remove it.");
  };
  try {
    sql::check_utf8(text);
    parse_stored_text(source.type, text);
  } catch (const sql::SqlError& error) {
    throw with_place(error);
  }
  throw with_place(sql::SqlError(sqlstate::kInvalidTextRepresentation, "invalid stored text"));
}

void RowReader::append_fetch(CommandBatch& batch, std::string_view member) const {
  batch.add("HMGET", keys_.row_of_member(member), fields_->fields);
}

void append_sort_get(CommandBatch& batch, const sql::TableKeys& keys, const sql::RowFields& fields, const sql::MemberEnds& ends) {
  batch.arg("GET").arg("#");
  std::string row = keys.row_pattern();  // ends in the place of the member
  row.insert(row.size() - 1, ends.head);
  row += ends.tail + "->";
  for (const std::string& field : fields.fields) batch.arg("GET").arg(row + field);
}

bool RowReader::add(std::string_view member, std::span<const Reply> values) {
  using Kind = sql::RowFields::Source::Kind;
  if (values.size() < fields_->fields.size()) {
    throw sql::SqlError(sqlstate::kInternalError, "unexpected reply from Redis: a row with too few fields");
  }
  if (!values[fields_->presence].is_text()) return false;
  if (changes_ && changes_->contains(member)) return false;
  if (columns_.empty()) start();
  std::vector<std::string> parts;
  if (needs_key_parts_) parts = keys_.split_member(member);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const auto& source = fields_->columns[i];
    const auto& [column, check] = columns_[i];
    if (source.kind == Kind::kHiddenKey || (source.kind == Kind::kKeyPart && !needs_key_parts_)) {
      if (check != nullptr && !check(source.type, member)) refuse(i, member, member);
      column->append_view(member);
    } else if (source.kind == Kind::kKeyPart) {
      if (check != nullptr && !check(source.type, parts[source.index])) refuse(i, member, parts[source.index]);
      column->append<std::string_view>(parts[source.index]);
    } else if (const auto text = field_text(source, values)) {
      if (check != nullptr && !check(source.type, *text)) refuse(i, member, *text);
      column->append_view(*text);  // of an absent field it lives in the table's definition, which the plan holds
    } else {
      column->append_null();
    }
  }
  if (notes_members_) members_.push_back(member);
  ++rows_;
  return true;
}

bool RowReader::add_entry(std::string_view member, const Reply& value) {
  entry_.assign(fields_->fields.size(), value);
  return add(member, entry_);
}

sql::Batch RowReader::take_all() {
  if (columns_.empty()) start();
  keep_alive(read_.table);
  // One owner of them all: every column, and what is made of it, holds it.
  const auto memory = std::make_shared<const std::vector<std::shared_ptr<const void>>>(std::move(owners_));
  sql::Batch batch;
  batch.rows = rows_;
  batch.columns.reserve(columns_.size());
  for (ReadColumn& column : columns_) {
    column.values->keep_alive(memory);
    batch.columns.push_back(std::move(column.values));
  }
  columns_.clear();
  owners_.clear();
  rows_ = 0;
  return batch;
}

sql::Batch RowReader::take(const sql::EvaluationContext& context) {
  sql::Batch batch = take_all();
  if (!read_.condition || batch.rows == 0) return batch;
  std::vector<std::uint32_t> selected = sql::select_rows(*read_.condition, batch, context);
  if (selected.size() == batch.rows) return batch;
  return batch.gather(selected);
}

}  // namespace redquel::executor
