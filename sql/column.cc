#include "sql/column.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <iterator>
#include <type_traits>
#include <utility>

#include "sql/interrupts.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kFirstBlock = 1024, kLargestBlock = 256 * 1024;

Column::Values empty_values(Storage storage) {
  switch (storage) {
    case Storage::kBool:
      return std::vector<std::uint8_t>();
    case Storage::kInt2:
      return std::vector<std::int16_t>();
    case Storage::kInt4:
      return std::vector<std::int32_t>();
    case Storage::kInt8:
      return std::vector<std::int64_t>();
    case Storage::kFloat4:
      return std::vector<float>();
    case Storage::kFloat8:
      return std::vector<double>();
    case Storage::kNumeric:
      return std::vector<Numeric>();
    case Storage::kText:
      return std::vector<std::string_view>();
    case Storage::kInterval:
      return std::vector<Interval>();
    case Storage::kUuid:
      return std::vector<Uuid>();
  }
  return std::vector<std::string_view>();
}

}  // namespace

char* Arena::allocate(std::size_t size) {
  if (capacity_ - used_ < size) {
    if (size >= kLargeAllocation) check_allocation(size);
    const std::size_t wanted = blocks_.empty() ? kFirstBlock : std::min(capacity_ * 2, kLargestBlock);
    capacity_ = std::max(wanted, size);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(capacity_));
    used_ = 0;
  }
  char* room = blocks_.back().get() + used_;
  used_ += size;
  bytes_ += size;
  return room;
}

std::string_view Arena::store(std::string_view bytes) {
  if (bytes.empty()) return std::string_view("", 0);
  char* room = allocate(bytes.size());
  constexpr std::size_t kPieceBytes = std::size_t{256} << 10;  // the interrupts are checked between the pieces of a long value
  for (std::size_t at = 0; at < bytes.size(); at += kPieceBytes) {
    if (at > 0) check_interrupts();
    std::memcpy(room + at, bytes.data() + at, std::min(kPieceBytes, bytes.size() - at));
  }
  return {room, bytes.size()};
}

Column::Column(Type type) : ColumnSource(type), values_(empty_values(storage_of(type))) {}

Column::Column(const Column& other) : ColumnSource(other), size_(other.size_), stride_(other.stride_) {
  other.read_selected();
  values_ = other.values_;
  nulls_ = other.nulls_;
  encoded_ = other.encoded_;
  arena_ = other.arena_;
  owners_ = other.owners_;
  codes_ = other.codes_;
}
Column::Column(Column&&) noexcept = default;
Column& Column::operator=(const Column& other) { return *this = Column(other); }
Column& Column::operator=(Column&&) noexcept = default;
Column::~Column() = default;

Column Column::encoded(Type type) {
  Column column(type);
  column.values_ = std::vector<std::string_view>();
  column.encoded_ = true;
  return column;
}

Column Column::constant(Type type, const Datum& value, std::size_t size) {
  Column column(type);
  column.append_datum(value);
  column.size_ = size;
  column.stride_ = 0;
  return column;
}

Column Column::selected(ColumnSourcePtr source, Selection rows) {
  Column column(source->type());
  column.size_ = rows->size();
  column.selected_ = std::make_unique<const Selected>(std::move(source), std::move(rows));
  return column;
}

void Column::gather_selected() const {
  Column column = selected_->source->gather(*selected_->rows);
  assert(column.stride_ == 1 && column.size_ == size_);
  values_ = std::move(column.values_);
  nulls_ = std::move(column.nulls_);
  encoded_ = column.encoded_;
  arena_ = std::move(column.arena_);
  owners_ = std::move(column.owners_);
  codes_ = std::move(column.codes_);
  if (std::holds_alternative<std::vector<std::string_view>>(values_)) owners_.push_back(selected_->source);
  selected_.reset();
}

Column Column::from_values(Type type, Values values, std::vector<std::uint8_t> nulls) {
  Column column(type);
  column.size_ = std::visit([](const auto& vector) { return vector.size(); }, values);
  column.values_ = std::move(values);
  column.nulls_ = std::move(nulls);
  return column;
}

Datum Column::datum(std::size_t row) const {
  read_selected();
  if (is_null(row)) return {};
  return std::visit(
      [&](const auto& values) -> Datum {
        const auto& value = values[row * stride_];
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::uint8_t>) {
          return value != 0;
        } else if constexpr (std::is_same_v<Value, std::string_view>) {
          return std::string(value);
        } else {
          return value;
        }
      },
      values_);
}

void Column::reserve(std::size_t rows) {
  std::visit([&](auto& values) { values.reserve(rows); }, values_);
}

void Column::append_view(std::string_view text) {
  std::get<std::vector<std::string_view>>(values_).push_back(text);
  if (!nulls_.empty()) nulls_.push_back(0);
  ++size_;
}

void Column::append_null() {
  grow_nulls();
  std::visit([](auto& values) { values.emplace_back(); }, values_);
  nulls_.push_back(1);
  ++size_;
}

void Column::append_datum(const Datum& value) {
  std::visit(
      [&](const auto& alternative) {
        using Value = std::decay_t<decltype(alternative)>;
        if constexpr (std::is_same_v<Value, std::monostate>) {
          append_null();
        } else {
          append(alternative);
        }
      },
      value);
}

void Column::append_from(const Column& source, std::size_t row) {
  source.read_selected();
  assert(stride_ == 1 && source.encoded_ == encoded_ && source.values_.index() == values_.index());
  if (source.is_null(row)) return append_null();
  std::visit(
      [&](auto& values) {
        using Values = std::decay_t<decltype(values)>;
        values.push_back(std::get<Values>(source.values_)[row * source.stride_]);
      },
      values_);
  if (!nulls_.empty()) nulls_.push_back(0);
  ++size_;
  if (std::holds_alternative<std::vector<std::string_view>>(values_)) share_memory(source);
}

std::size_t Column::append_rows(const Column& source, std::span<const std::uint32_t> rows) {
  source.read_selected();
  assert(stride_ == 1 && source.encoded_ == encoded_ && source.values_.index() == values_.index());
  std::size_t bytes = 0;
  const std::size_t end = size_ + rows.size();
  std::visit(
      [&](auto& values) {
        using Vector = std::decay_t<decltype(values)>;
        using Value = typename Vector::value_type;
        const Value* const from = std::get<Vector>(source.values_).data();
        if (values.capacity() < end) values.reserve(std::max(end, 2 * values.capacity()));
        if constexpr (std::is_same_v<Value, std::string_view>) {
          Arena& room = arena();
          for (const std::uint32_t row : rows) {
            values.push_back(room.store(from[row * source.stride_]));
            bytes += values.back().size();
          }
        } else if constexpr (std::is_trivially_copyable_v<Value>) {
          values.resize(end);
          Value* to = values.data() + size_;
          for (const std::uint32_t row : rows) *to++ = from[row * source.stride_];
        } else {
          for (const std::uint32_t row : rows) values.push_back(from[row * source.stride_]);
        }
      },
      values_);
  const bool adds_nulls = source.has_nulls() && std::ranges::any_of(rows, [&](std::uint32_t row) { return source.is_null(row); });
  if (adds_nulls) grow_nulls();
  if (adds_nulls || !nulls_.empty()) {
    for (const std::uint32_t row : rows) nulls_.push_back(source.is_null(row) ? 1 : 0);
  }
  size_ = end;
  codes_.reset();
  return bytes;
}

void Column::keep_alive(std::shared_ptr<const void> owner) {
  // Searched from the back: rows of one batch follow each other.
  if (owner == nullptr || std::find(owners_.rbegin(), owners_.rend(), owner) != owners_.rend()) return;
  owners_.push_back(std::move(owner));
}

void Column::share_memory(const Column& source) {
  if (source.arena_ != nullptr && source.arena_ != arena_) {
    if (owners_.empty() || owners_.back() != source.arena_) keep_alive(source.arena_);
  }
  for (const std::shared_ptr<const void>& owner : source.owners_) keep_alive(owner);
}

namespace {

/// The positions of rows that are given by their places in a selection.
std::vector<std::uint32_t> positions_of(const Selection& selection, std::span<const std::uint32_t> places) {
  std::vector<std::uint32_t> rows(places.size());
  for (std::size_t i = 0; i < places.size(); ++i) rows[i] = (*selection)[places[i]];
  return rows;
}

}  // namespace

Column Column::gather(std::span<const std::uint32_t> rows) const {
  if (selected_) {
    Column result = selected_->source->gather(positions_of(selected_->rows, rows));
    if (std::holds_alternative<std::vector<std::string_view>>(result.values_)) result.owners_.push_back(selected_->source);
    return result;
  }
  Column result(type_);
  result.encoded_ = encoded_;
  result.stride_ = stride_;
  result.size_ = rows.size();
  result.arena_ = arena_;
  result.owners_ = owners_;
  if (stride_ == 0) {
    result.values_ = values_;
    result.nulls_ = nulls_;
    return result;
  }
  std::visit(
      [&](const auto& source) {
        std::decay_t<decltype(source)> picked;
        picked.reserve(rows.size());
        for (const std::uint32_t row : rows) picked.push_back(source[row]);
        result.values_ = std::move(picked);
      },
      values_);
  if (!nulls_.empty()) {
    result.nulls_.resize(rows.size());
    bool any = false;
    for (std::size_t i = 0; i < rows.size(); ++i) any |= (result.nulls_[i] = nulls_[rows[i]]) != 0;
    if (!any) result.nulls_.clear();
  }
  return result;
}

Column Column::decode() const {
  if (!is_encoded()) return *this;
  const auto& texts = std::get<std::vector<std::string_view>>(values_);
  Column result(type_);
  if (is_kept_as_text(type_.oid)) {  // stored text is the value itself
    result.values_ = texts;
    result.arena_ = arena_;
    result.owners_ = owners_;
    result.codes_ = codes_;
  } else {
    result.reserve(texts.size());
    append_stored(result, texts, nulls_);
  }
  result.nulls_ = nulls_;
  result.size_ = size_;
  result.stride_ = stride_;
  return result;
}

Column Column::retyped(Type type) const {
  assert(storage_of(type) == storage_of(type_));
  Column result = *this;
  result.type_ = type;
  return result;
}

std::size_t Column::memory() const {
  // A small part of a source would keep all of it.
  if (selected_ && !selected_->source->is_lasting()) gather_selected();
  if (selected_) {  // with room for its values, which it holds once it is read
    const std::size_t width = std::visit([](const auto& values) { return sizeof(values[0]); }, values_);
    return sizeof(Column) + sizeof(Selected) + size_ * (width + sizeof(std::uint32_t)) + selected_->source->memory();
  }
  std::size_t bytes = sizeof(Column) + nulls_.capacity() + (arena_ != nullptr ? arena_->bytes() : 0);
  std::visit([&](const auto& values) { bytes += values.capacity() * sizeof(values[0]); }, values_);
  if (arena_ == nullptr) {
    if (const auto* texts = std::get_if<std::vector<std::string_view>>(&values_))
      for (const std::string_view text : *texts) bytes += text.size();
  }
  return bytes;
}

Arena& Column::arena() {
  if (arena_ == nullptr || arena_.use_count() > 1) {
    // Another column (perhaps of another thread) reads the old arena: it stays as it is.
    if (arena_ != nullptr) keep_alive(std::move(arena_));
    arena_ = std::make_shared<Arena>();
  }
  return *arena_;
}

void Column::grow_nulls() {
  if (nulls_.empty()) nulls_.assign(size_, 0);
}

Batch Batch::gather(std::span<const std::uint32_t> picked) const {
  constexpr std::size_t kLeastSelected = 32;  // fewer values are copied as fast
  Batch result;
  result.rows = picked.size();
  result.columns.reserve(columns.size());
  if (picked.size() < kLeastSelected) {
    for (const ColumnPtr& column : columns) result.columns.push_back(column ? std::make_shared<const Column>(column->gather(picked)) : nullptr);
    return result;
  }
  Selection rows;                                             // of columns that have their values
  std::vector<std::pair<const void*, Selection>> selections;  // of the others, by the selection that they have here
  for (const ColumnPtr& column : columns) {
    if (!column) {
      result.columns.emplace_back();
    } else if (const Column::Selected* const unread = column->unread()) {
      auto known = std::ranges::find(selections, unread->rows.get(), [](const auto& entry) { return entry.first; });
      if (known == selections.end()) {
        selections.emplace_back(unread->rows.get(), std::make_shared<const std::vector<std::uint32_t>>(positions_of(unread->rows, picked)));
        known = std::prev(selections.end());
      }
      result.columns.push_back(std::make_shared<const Column>(Column::selected(unread->source, known->second)));
    } else if (column->is_constant()) {
      result.columns.push_back(std::make_shared<const Column>(column->gather(picked)));
    } else {
      if (!rows) rows = std::make_shared<const std::vector<std::uint32_t>>(picked.begin(), picked.end());
      result.columns.push_back(std::make_shared<const Column>(Column::selected(column, rows)));
    }
  }
  return result;
}

std::size_t Batch::memory() const {
  std::size_t bytes = sizeof(Batch);
  for (const ColumnPtr& column : columns) bytes += column->memory();
  return bytes;
}

}  // namespace redquel::sql
