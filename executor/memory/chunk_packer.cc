#include "executor/memory/table_copy.h"
#include "executor/storage/field_text.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

namespace {

using SourceKind = sql::RowFields::Source::Kind;

/// Returns whether members are the texts of the table's only key column.
bool members_are_values(const sql::TableDef& table, const sql::TableKeys& keys) {
  return table.has_hidden_key() || (keys.key_size() == 1 && !keys.stores_key_column(*table.find_column(table.primary_key[0])));
}

}  // namespace

ChunkPacker::ChunkPacker(const sql::TableDef& table, std::span<const std::int16_t> numbers)
    : table_(table),
      keys_(table),
      numbers_(numbers.begin(), numbers.end()),
      fields_(table.is_mapped() ? sql::RowFields() : sql::row_fields(table, numbers_)),
      members_(!table.is_mapped() && members_are_values(table, keys_) ? keys_.key_type(0) : sql::kText) {
  if (table.is_mapped() || !members_are_values(table, keys_)) members_.take_any_text();
  if (table.is_mapped()) {
    for (const std::int16_t number : numbers_) columns_.emplace_back(std::in_place, table.find_column(number)->type);
    return;
  }
  for (const auto& source : fields_.columns) {
    const bool is_member = source.kind == SourceKind::kHiddenKey || (source.kind == SourceKind::kKeyPart && keys_.key_size() == 1);
    needs_key_parts_ |= source.kind == SourceKind::kKeyPart && !is_member;
    if (is_member) columns_.emplace_back();
    else columns_.emplace_back(std::in_place, source.type);
  }
}

void ChunkPacker::add(std::string_view member, std::span<const Reply> values, std::int64_t expiry) {
  std::vector<std::string> parts;
  if (needs_key_parts_) parts = keys_.split_member(member);
  members_.append(member);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i]) continue;
    const auto& source = fields_.columns[i];
    if (source.kind == SourceKind::kKeyPart) columns_[i]->append(parts[source.index]);
    else columns_[i]->append(field_text(source, values));
  }
  expiries_.push_back(expiry > 0 ? expiry : 0);
  any_expires_ |= expiry > 0;
}

void ChunkPacker::add(std::string_view member, const sql::Batch& rows, std::size_t row, std::int64_t expiry) {
  members_.append(member);
  for (std::size_t i = 0; i < columns_.size(); ++i) columns_[i]->append(*rows.columns[i], row);
  expiries_.push_back(expiry);
  any_expires_ |= expiry > 0;
}

void ChunkPacker::add(const Chunk& chunk, std::size_t row) {
  members_.append(*chunk.members->text(row));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!columns_[i]) continue;
    const std::optional<std::string> text = chunk.columns.at(numbers_[i])->text(row);
    columns_[i]->append(text ? std::optional<std::string_view>(*text) : std::nullopt);
  }
  expiries_.push_back(chunk.expiries.empty() ? 0 : chunk.expiries[row]);
  any_expires_ |= expiries_.back() > 0;
}

ChunkPtr ChunkPacker::finish() {
  for (;;) {
    if (ChunkPtr chunk = finish_next_column()) return chunk;
  }
}

ChunkPtr ChunkPacker::finish_next_column() {
  if (!finished_) {
    finished_ = std::make_shared<Chunk>();
    finished_->rows = members_.size();
    finished_->members = members_.finish();
    if (std::exchange(any_expires_, false)) finished_->expiries = std::move(expiries_);
    expiries_.clear();
    next_column_ = 0;
  } else {
    const std::size_t i = next_column_++;
    finished_->columns[numbers_[i]] = columns_[i] ? columns_[i]->finish() : finished_->members;
  }
  return next_column_ == columns_.size() ? std::exchange(finished_, nullptr) : nullptr;
}

}  // namespace redquel::executor
