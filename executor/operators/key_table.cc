#include "executor/operators/key_table.h"

#include <algorithm>
#include <utility>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kFirstSlots = 64;
/// The distance, in rows, at which slots are fetched into the cache.
constexpr std::size_t kPrefetchDistance = 8;
/// Numbers have 32 bits; memory ends long before.
constexpr std::size_t kMostKeys = 0xFFFFFF00;
/// Combinations of dictionaries' codes that have a number each, and the number of one that has not been seen.
constexpr std::size_t kMostCombinations = 65'536;
constexpr RowNumber kUnknown = kNoRow - 1;
/// Integers whose range is so small, or so many times as large as their number, are found by an array over the range.
constexpr std::uint64_t kDirectKeys = 4096, kDirectShare = 8;

}  // namespace

KeyTable::KeyTable(std::span<const sql::Type> types, Nulls nulls)
    : types_(types.begin(), types.end()),
      nulls_(nulls),
      hash_is_key_(types.size() == 1 && KeyView::is_integer(KeyView::kind_of(types[0]))),
      keys_(types) {}

void KeyTable::clear() {
  keys_.clear();
  expected_rows_ = rows_seen_ = 0;
  slots_ = {};
  direct_ = {};
  is_direct_ = false;
  smallest_ = UINT64_MAX;
  largest_ = 0;
  added_.clear();
  null_number_ = kNoRow;
  dictionaries_.clear();
  coded_numbers_.clear();
}

void KeyTable::check_count(std::size_t rows) const {
  if (size() + rows > kMostKeys) throw sql::SqlError(sqlstate::kProgramLimitExceeded, "too many distinct keys");
}

std::size_t KeyTable::wanted_keys(std::size_t rows) const {
  const std::size_t least = size() + rows;
  if (rows_seen_ == 0 || expected_rows_ <= rows_seen_ + rows) return least;
  const double share = static_cast<double>(size()) / static_cast<double>(rows_seen_);
  return std::max(least, std::min(kMostKeys, static_cast<std::size_t>(share * static_cast<double>(expected_rows_))));
}

void KeyTable::make_room(std::size_t rows) {
  check_count(rows);
  if ((size() + rows) * 4 <= slots_.size() * 3) return;
  const std::size_t wanted = wanted_keys(rows);
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

void KeyTable::start(std::span<const sql::ColumnPtr> keys) {
  views_ = views_of(keys);
  stored_.clear();
  for (const sql::Column& column : keys_.columns()) stored_.emplace_back(column);
  has_nulls_ = std::any_of(views_.begin(), views_.end(), [](const KeyView& view) { return view.has_nulls(); });
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

namespace {

/// Calls `use` with the C++ type of an integer key.
template <class Use>
void with_integer(KeyView::Kind kind, Use use) {
  switch (kind) {
    case KeyView::Kind::kByte: return use(std::uint8_t());
    case KeyView::Kind::kInt2: return use(std::int16_t());
    case KeyView::Kind::kInt4:
    case KeyView::Kind::kUnsigned4: return use(std::int32_t());
    default: return use(std::int64_t());
  }
}

}  // namespace

void KeyTable::choose_form(std::size_t rows) {
  with_integer(views_[0].kind(), [&](auto type) {
    using Value = decltype(type);
    for (std::size_t row = 0; row < rows; ++row) {
      if (has_nulls_ && views_[0].is_null(row)) continue;
      const std::uint64_t number = number_of(views_[0].value<Value>(row));
      smallest_ = std::min(smallest_, number);
      largest_ = std::max(largest_, number);
    }
  });
  if (smallest_ > largest_) return;  // NULLs only
  const std::uint64_t wanted = wanted_keys(rows), span = largest_ - smallest_;
  const bool was_direct = std::exchange(is_direct_, span < std::max<std::uint64_t>(kDirectKeys, kDirectShare * wanted));
  if (is_direct_) make_direct();
  else if (was_direct) make_slots();
}

void KeyTable::make_direct() {
  const bool has_room = !direct_.empty() && smallest_ >= first_ && largest_ - first_ < direct_.size();
  if (has_room) return;
  if (!direct_.empty() && smallest_ >= first_) {  // ascending keys: the vector grows by doubling
    direct_.resize(std::max<std::size_t>(largest_ - first_ + 1, direct_.size() * 2), kNoRow);
    return;
  }
  // Room on both sides, so that descending keys do not move the array each time.
  const std::uint64_t span = largest_ - smallest_ + 1, room = direct_.empty() ? 0 : span;
  first_ = smallest_ - std::min(smallest_, room);
  direct_.assign(largest_ - first_ + 1, kNoRow);
  slots_ = {};
  if (keys_.rows() == 0) return;
  const KeyView stored(keys_.columns()[0]);
  with_integer(stored.kind(), [&](auto type) {
    using Value = decltype(type);
    for (std::size_t row = 0; row < keys_.rows(); ++row) {
      if (!stored.is_null(row)) direct_[number_of(stored.value<Value>(row)) - first_] = static_cast<RowNumber>(row);
    }
  });
}

void KeyTable::make_slots() {
  direct_ = {};
  slots_ = {};
  make_room(0);
  if (keys_.rows() == 0) return;
  const KeyViews stored{KeyView(keys_.columns()[0])};
  std::vector<std::uint64_t> hashes;
  hash_rows(stored, keys_.rows(), hashes);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t row = 0; row < keys_.rows(); ++row) {
    if (stored[0].is_null(row)) continue;
    std::size_t at = hashes[row] & mask;
    while (slots_[at].number != kNoRow) at = (at + 1) & mask;
    slots_[at] = {hashes[row], static_cast<RowNumber>(row)};
  }
}

template <class Add>
void KeyTable::find_direct(std::size_t rows, std::vector<RowNumber>& numbers, Add add) {
  with_integer(views_[0].kind(), [&](auto type) {
    using Value = decltype(type);
    for (std::size_t row = 0; row < rows; ++row) {
      if (has_nulls_ && views_[0].is_null(row)) {
        numbers[row] = add(row, null_number_, nulls_ == Nulls::kEqual);
        continue;
      }
      const std::uint64_t place = number_of(views_[0].value<Value>(row)) - first_;
      if (place < direct_.size()) numbers[row] = add(row, direct_[place], true);
      else numbers[row] = kNoRow;
    }
  });
}

bool KeyTable::find_coded(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers) {
  std::size_t combinations = keys.empty() ? 0 : 1;
  std::vector<const void*> dictionaries;
  for (const sql::ColumnPtr& key : keys) {
    const sql::Column::Codes* const codes = key->codes().get();
    if (codes == nullptr || codes->of_rows.size() != rows) return false;
    combinations *= codes->count + 1;  // the last one: NULL
    if (combinations > kMostCombinations) return false;
    dictionaries.push_back(codes->dictionary);
  }
  if (combinations == 0) return false;
  if (dictionaries != dictionaries_) {
    dictionaries_ = std::move(dictionaries);
    coded_numbers_.assign(combinations, kUnknown);
  }
  std::vector<std::uint32_t> places(rows);
  for (const sql::ColumnPtr& key : keys) {
    const sql::Column::Codes& codes = *key->codes();
    const auto width = static_cast<std::uint32_t>(codes.count + 1);
    for (std::size_t row = 0; row < rows; ++row) places[row] = places[row] * width + codes.of_rows[row];
    if (!key->has_nulls()) continue;
    for (std::size_t row = 0; row < rows; ++row) {
      if (key->is_null(row)) places[row] += width - 1 - codes.of_rows[row];
    }
  }
  std::vector<RowNumber> firsts;  // rows with combinations that have not been seen
  for (std::size_t row = 0; row < rows; ++row) {
    RowNumber& number = coded_numbers_[places[row]];
    if (number != kUnknown) continue;
    number = kNoRow;
    firsts.push_back(static_cast<RowNumber>(row));
  }
  added_.clear();
  if (!firsts.empty()) {
    std::vector<sql::ColumnPtr> picked;
    for (const sql::ColumnPtr& key : keys) picked.push_back(std::make_shared<const sql::Column>(key->gather(firsts)));
    find_or_add(picked, firsts.size(), numbers);
    for (std::size_t i = 0; i < firsts.size(); ++i) coded_numbers_[places[firsts[i]]] = numbers[i];
    for (RowNumber& row : added_) row = firsts[row];
  }
  numbers.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) numbers[row] = coded_numbers_[places[row]];
  return true;
}

void KeyTable::find_or_add(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers) {
  if (find_coded(keys, rows, numbers)) return;
  numbers.resize(rows);
  start(keys);
  if (hash_is_key_) choose_form(rows);
  rows_seen_ += rows;
  const std::size_t stored = size();
  const auto add = [&](std::size_t row) {
    added_.push_back(static_cast<RowNumber>(row));
    return static_cast<RowNumber>(stored + added_.size() - 1);
  };
  if (is_direct_) {
    check_count(rows);
    find_direct(rows, numbers, [&](std::size_t row, RowNumber& number, bool may_add) {
      if (number == kNoRow && may_add) number = add(row);
      return number;
    });
    if (!added_.empty()) keys_.append(keys, added_);
    return;
  }
  make_room(rows);
  hash_rows(views_, rows, hashes_);
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

void KeyTable::find(std::span<const sql::ColumnPtr> keys, std::size_t rows, std::vector<RowNumber>& numbers, Search& search) const {
  if (size() == 0) {
    numbers.assign(rows, kNoRow);
    return;
  }
  numbers.resize(rows);
  search.views = views_of(keys);
  const bool has_nulls = std::ranges::any_of(search.views, [](const KeyView& view) { return view.has_nulls(); });
  const auto is_null = [&](std::size_t row) { return std::ranges::any_of(search.views, [&](const KeyView& view) { return view.is_null(row); }); };
  if (is_direct_) {
    const KeyView& view = search.views[0];
    with_integer(view.kind(), [&](auto type) {
      using Value = decltype(type);
      for (std::size_t row = 0; row < rows; ++row) {
        const std::uint64_t place = has_nulls && view.is_null(row) ? UINT64_MAX : number_of(view.template value<Value>(row)) - first_;
        numbers[row] = place < direct_.size() ? direct_[place] : kNoRow;
        if (has_nulls && view.is_null(row)) numbers[row] = null_number_;
      }
    });
    return;
  }
  search.stored.clear();
  for (const sql::Column& column : keys_.columns()) search.stored.emplace_back(column);
  hash_rows(search.views, rows, search.hashes);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t row = 0; row < rows; ++row) {
    if (row + kPrefetchDistance < rows) __builtin_prefetch(&slots_[search.hashes[row + kPrefetchDistance] & mask]);
    if (has_nulls && (hash_is_key_ || nulls_ == Nulls::kNeverMatch) && is_null(row)) {
      numbers[row] = null_number_;
      continue;
    }
    const std::uint64_t hash = search.hashes[row];
    const auto is_key = [&](const Slot& slot) { return slot.hash == hash && (hash_is_key_ || equal_rows(search.stored, slot.number, search.views, row)); };
    std::size_t at = hash & mask;
    while (slots_[at].number != kNoRow && !is_key(slots_[at])) at = (at + 1) & mask;
    numbers[row] = slots_[at].number;
  }
}

}  // namespace redquel::executor
