#include "executor/runtime/row_store.h"

#include <cassert>
#include <numeric>
#include <utility>

namespace redquel::executor {

namespace {

std::size_t width_of(sql::Storage storage) {
  switch (storage) {
    case sql::Storage::kBool:
      return 1;
    case sql::Storage::kInt2:
      return 2;
    case sql::Storage::kInt4:
    case sql::Storage::kFloat4:
      return 4;
    case sql::Storage::kInt8:
    case sql::Storage::kFloat8:
      return 8;
    case sql::Storage::kNumeric:
      return sizeof(sql::Numeric);
    case sql::Storage::kText:
      return sizeof(std::string_view);
    case sql::Storage::kInterval:
      return sizeof(sql::Interval);
    case sql::Storage::kUuid:
      break;
  }
  return sizeof(sql::Uuid);
}

}  // namespace

std::vector<RowNumber> row_range(std::size_t first, std::size_t count) {
  std::vector<RowNumber> rows(count);
  std::iota(rows.begin(), rows.end(), static_cast<RowNumber>(first));
  return rows;
}

sql::ColumnPtr decoded(const sql::ColumnPtr& column) {
  return column->is_encoded() ? std::make_shared<const sql::Column>(column->decode()) : column;
}

std::vector<sql::ColumnPtr> decoded(std::span<const sql::ColumnPtr> columns) {
  std::vector<sql::ColumnPtr> result;
  result.reserve(columns.size());
  for (const sql::ColumnPtr& column : columns) result.push_back(decoded(column));
  return result;
}

RowStore::RowStore(std::span<const sql::Type> types) : types_(types.begin(), types.end()) {
  for (const sql::Type type : types_) fixed_bytes_ += width_of(sql::storage_of(type)) + 1;
  clear();
}

void RowStore::clear() {
  columns_.clear();
  for (const sql::Type type : types_) columns_.emplace_back(type);
  rows_ = text_bytes_ = 0;
}

void RowStore::append_column(std::size_t index, const sql::Column& source, std::span<const RowNumber> rows) {
  sql::Column& target = columns_[index];
  if (source.is_encoded() != target.is_encoded()) {
    if (target.size() == 0) {
      target = source.is_encoded() ? sql::Column::encoded(types_[index]) : sql::Column(types_[index]);
    } else if (target.is_encoded()) {
      target = target.decode();
    } else {
      return append_column(index, source.decode(), rows);
    }
  }
  text_bytes_ += target.append_rows(source, rows);
}

void RowStore::append(std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows) {
  assert(columns.size() == columns_.size());
  for (std::size_t i = 0; i < columns.size(); ++i) append_column(i, *columns[i], rows);
  rows_ += rows.size();
}

void RowStore::append(const RowStore& other, std::span<const RowNumber> rows) {
  assert(other.columns_.size() == columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) append_column(i, other.columns_[i], rows);
  rows_ += rows.size();
}

void RowStore::append_all(const sql::Batch& batch) {
  const std::vector<RowNumber> rows = row_range(0, batch.rows);
  append(batch.columns, rows);
}

void RowStore::append_nulls() {
  for (sql::Column& column : columns_) column.append_null();
  ++rows_;
}

void RowStore::keep(std::span<const RowNumber> rows) {
  RowStore kept(types_);
  kept.append(*this, rows);
  *this = std::move(kept);
}

sql::Batch RowStore::gather(std::span<const RowNumber> rows) const {
  sql::Batch batch;
  batch.rows = rows.size();
  batch.columns.reserve(columns_.size());
  for (const sql::Column& column : columns_)
    batch.columns.push_back(std::make_shared<const sql::Column>(column.gather(rows)));
  return batch;
}

sql::Batch RowStore::slice(std::size_t first, std::size_t count) const {
  const std::vector<RowNumber> rows = row_range(first, count);
  return gather(rows);
}

sql::Batch RowStore::take() {
  sql::Batch batch;
  batch.rows = rows_;
  batch.columns.reserve(columns_.size());
  for (sql::Column& column : columns_) batch.columns.push_back(std::make_shared<const sql::Column>(std::move(column)));
  clear();
  return batch;
}

}  // namespace redquel::executor
