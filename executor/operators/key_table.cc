#include "executor/operators/key_table.h"

#include <algorithm>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kFirstSlots = 64;
/// So many rows ahead their slots are fetched into the cache.
constexpr std::size_t kPrefetchDistance = 8;
/// Numbers have 32 bits; memory ends long before.
constexpr std::size_t kMostKeys = 0xFFFFFF00;

}  // namespace

KeyTable::KeyTable(std::span<const sql::Type> types, Nulls nulls)
    : types_(types.begin(), types.end()),
      nulls_(nulls),
      hash_is_key_(types.size() == 1 && KeyView::is_integer(KeyView::kind_of(types[0]))),
      keys_(types) {}

void KeyTable::clear() {
  keys_.clear();
  slots_ = {};
  added_.clear();
  null_number_ = kNoRow;
}

void KeyTable::make_room(std::size_t rows) {
  const std::size_t wanted = size() + rows;
  if (wanted > kMostKeys) throw sql::SqlError(sqlstate::kProgramLimitExceeded, "too many distinct keys");
  if (wanted * 4 <= slots_.size() * 3) return;
  std::size_t count = std::max(slots_.size(), kFirstSlots);
  while (wanted * 4 > count * 3) count *= 2;
  std::vector<Slot> larger(count, Slot{0, kNoRow});
  const std::size_t mask = count - 1;
  for (const Slot& slot : slots_) {
    if (slot.number == kNoRow) continue;
    std::size_t at = slot.hash & mask;
    while (larger[at].number != kNoRow) at = (at + 1) & mask;
    larger[at] = slot;
  }
  slots_ = std::move(larger);
}

void KeyTable::start(std::span<const sql::ColumnPtr> keys, std::size_t rows) {
  views_ = views_of(keys);
  stored_.clear();
  for (const sql::Column& column : keys_.columns()) stored_.emplace_back(column);
  has_nulls_ = std::any_of(views_.begin(), views_.end(), [](const KeyView& view) { return view.has_nulls(); });
  hash_rows(views_, rows, hashes_);
  added_.clear();
}

bool KeyTable::is_null(std::size_t row) const {
  return std::any_of(views_.begin(), views_.end(), [&](const KeyView& view) { return view.is_null(row); });
}

bool KeyTable::equals(RowNumber number, std::size_t row) const {
  const std::size_t stored = keys_.rows();
  // Keys that this batch has added are still only in the batch.
  return number < stored ? equal_rows(stored_, number, views_, row)
                         : equal_rows(views_, added_[number - stored], views_, row);
}

KeyTable::Slot& KeyTable::locate(std::size_t row) {
  const std::uint64_t hash = hashes_[row];
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.number == kNoRow) return slot;
    if (slot.hash == hash && (hash_is_key_ || equals(slot.number, row))) return slot;
  }
}

void KeyTable::prefetch(std::size_t row) const {
  if (row < hashes_.size()) __builtin_prefetch(&slots_[hashes_[row] & (slots_.size() - 1)]);
}

void KeyTable::find_or_add(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers) {
  numbers.resize(rows);
  make_room(rows);
  start(keys, rows);
  const std::size_t stored = size();
  const auto add = [&](std::size_t row) {
    added_.push_back(static_cast<RowNumber>(row));
    return static_cast<RowNumber>(stored + added_.size() - 1);
  };
  for (std::size_t row = 0; row < rows; ++row) {
    prefetch(row + kPrefetchDistance);
    if (has_nulls_ && (hash_is_key_ || nulls_ == Nulls::kNeverMatch) && is_null(row)) {
      if (nulls_ == Nulls::kEqual && null_number_ == kNoRow) null_number_ = add(row);
      numbers[row] = null_number_;
      continue;
    }
    Slot& slot = locate(row);
    if (slot.number == kNoRow) slot = {hashes_[row], add(row)};
    numbers[row] = slot.number;
  }
  if (!added_.empty()) keys_.append(keys, added_);
}

void KeyTable::find(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers) {
  if (size() == 0) {
    numbers.assign(rows, kNoRow);
    return;
  }
  numbers.resize(rows);
  make_room(0);
  start(keys, rows);
  for (std::size_t row = 0; row < rows; ++row) {
    prefetch(row + kPrefetchDistance);
    if (has_nulls_ && (hash_is_key_ || nulls_ == Nulls::kNeverMatch) && is_null(row)) {
      numbers[row] = null_number_;
      continue;
    }
    numbers[row] = locate(row).number;
  }
}

}  // namespace redquel::executor
