#include "executor/operators/spill_file.h"

#include <cstring>
#include <type_traits>

#include "executor/operators/key_view.h"
#include "executor/runtime/event_loop_turn.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kBlockBytes = 128 * 1024;

// --- a block: for each column its form, its NULLs and its values, as they lie in memory ------------------------------

template <class T>
void put(std::string& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

void put_texts(std::string& out, std::span<const std::string_view> texts) {
  for (const std::string_view text : texts) put(out, static_cast<std::uint32_t>(text.size()));
  for (const std::string_view text : texts) out += text;
}

void put_numerics(std::string& out, std::span<const sql::Numeric> numbers) {
  std::string digits;
  for (const sql::Numeric& number : numbers) {
    const std::optional<std::int64_t> small = number.small_unscaled();
    put(out, static_cast<std::uint8_t>(small ? 1 : 0));
    if (small) {
      put(out, *small);
      put(out, static_cast<std::int32_t>(number.scale()));
    } else {
      digits.clear();
      number.append_to(digits);
      put(out, static_cast<std::uint32_t>(digits.size()));
      out += digits;
    }
  }
}

/// Calls `function` with the element type of the storage's vectors.
template <class Function>
decltype(auto) with_element(sql::Storage storage, Function function) {
  switch (storage) {
    case sql::Storage::kBool:
      return function(std::type_identity<std::uint8_t>());
    case sql::Storage::kInt2:
      return function(std::type_identity<std::int16_t>());
    case sql::Storage::kInt4:
      return function(std::type_identity<std::int32_t>());
    case sql::Storage::kInt8:
      return function(std::type_identity<std::int64_t>());
    case sql::Storage::kFloat4:
      return function(std::type_identity<float>());
    case sql::Storage::kFloat8:
      return function(std::type_identity<double>());
    case sql::Storage::kNumeric:
      return function(std::type_identity<sql::Numeric>());
    case sql::Storage::kText:
      return function(std::type_identity<std::string_view>());
    case sql::Storage::kInterval:
      return function(std::type_identity<sql::Interval>());
    case sql::Storage::kUuid:
      break;
  }
  return function(std::type_identity<sql::Uuid>());
}

template <class Value>
void put_values(std::string& out, const std::vector<Value>& values) {
  if constexpr (std::is_same_v<Value, std::string_view>) {
    put_texts(out, values);
  } else if constexpr (std::is_same_v<Value, sql::Numeric>) {
    put_numerics(out, values);
  } else {
    static_assert(std::is_trivially_copyable_v<Value>);
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
  }
}

void put_column(std::string& out, const sql::Column& column) {
  put(out, static_cast<std::uint8_t>(column.is_encoded()));
  put(out, static_cast<std::uint8_t>(column.has_nulls()));
  for (const std::uint8_t null : column.null_mask()) put(out, null);
  if (column.is_encoded()) return put_texts(out, column.values<std::string_view>());
  with_element(sql::storage_of(column.type()), [&](auto element) {
    put_values(out, column.values<typename decltype(element)::type>());
  });
}

class BlockReader {
 public:
  explicit BlockReader(std::shared_ptr<const std::string> block) : block_(std::move(block)) {}

  template <class T>
  T get() {
    T value;
    std::memcpy(&value, bytes(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view bytes(std::size_t size) {
    const std::string_view found(block_->data() + at_, size);
    at_ += size;
    return found;
  }

  sql::ColumnPtr column(sql::Type type, std::size_t rows) {
    const bool encoded = get<std::uint8_t>() != 0, has_nulls = get<std::uint8_t>() != 0;
    std::vector<std::uint8_t> nulls;
    if (has_nulls) {
      const std::string_view mask = bytes(rows);
      nulls.assign(mask.begin(), mask.end());
    }
    if (encoded) return encoded_column(type, rows, nulls);
    return with_element(sql::storage_of(type), [&](auto element) -> sql::ColumnPtr {
      std::vector<typename decltype(element)::type> values;
      read_values(values, rows);
      sql::Column column = sql::Column::from_values(type, std::move(values), std::move(nulls));
      column.keep_alive(block_);
      return std::make_shared<const sql::Column>(std::move(column));
    });
  }

 private:
  std::vector<std::string_view> texts(std::size_t rows) {
    std::vector<std::uint32_t> sizes(rows);
    const std::string_view raw = bytes(rows * sizeof(std::uint32_t));
    if (rows > 0) std::memcpy(sizes.data(), raw.data(), raw.size());
    std::vector<std::string_view> found;
    found.reserve(rows);
    for (const std::uint32_t size : sizes) found.push_back(bytes(size));
    return found;
  }

  sql::ColumnPtr encoded_column(sql::Type type, std::size_t rows, const std::vector<std::uint8_t>& nulls) {
    auto column = std::make_shared<sql::Column>(sql::Column::encoded(type));
    column->reserve(rows);
    const std::vector<std::string_view> found = texts(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      if (!nulls.empty() && nulls[row] != 0) {
        column->append_null();
      } else {
        column->append_view(found[row]);
      }
    }
    column->keep_alive(block_);
    return column;
  }

  template <class Value>
  void read_values(std::vector<Value>& values, std::size_t rows) {
    if constexpr (std::is_same_v<Value, std::string_view>) {
      values = texts(rows);
    } else if constexpr (std::is_same_v<Value, sql::Numeric>) {
      values.reserve(rows);
      for (std::size_t row = 0; row < rows; ++row) values.push_back(numeric());
    } else {
      values.resize(rows);
      const std::string_view raw = bytes(rows * sizeof(Value));
      if (rows > 0) std::memcpy(values.data(), raw.data(), raw.size());
    }
  }

  sql::Numeric numeric() {
    if (get<std::uint8_t>() != 0) {
      const auto unscaled = get<std::int64_t>();
      return sql::Numeric(unscaled, get<std::int32_t>());
    }
    return sql::Numeric::parse(bytes(get<std::uint32_t>()));
  }

  std::shared_ptr<const std::string> block_;
  std::size_t at_ = 0;
};

/// Gives spilled rows to an operator.
class SpillSource final : public Operator {
 public:
  explicit SpillSource(SpilledRows rows) : rows_(std::move(rows)) { rows_.finish(); }

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (turn_.is_over()) co_await turn_.yield();
    co_return rows_.next();
  }

 private:
  SpilledRows rows_;
  EventLoopTurn turn_;
};

}  // namespace

void SpilledRows::append(std::span<const sql::ColumnPtr> columns, std::span<const RowNumber> rows) {
  waiting_.append(columns, rows);
  rows_ += rows.size();
  if (waiting_.rows() >= sql::kBatchRows || waiting_.memory() >= kBlockBytes) write_block();
}

void SpilledRows::append_all(const sql::Batch& batch) {
  const std::vector<RowNumber> rows = row_range(0, batch.rows);
  append(batch.columns, rows);
}

void SpilledRows::write_block() {
  if (waiting_.rows() == 0) return;
  std::string block;
  put(block, static_cast<std::uint64_t>(waiting_.rows()));
  for (const sql::Column& column : waiting_.columns()) put_column(block, column);
  blocks_.push_back(file_->write(block));
  waiting_.clear();
}

sql::Batch SpilledRows::block(std::size_t number) const {
  BlockReader reader(file_->read(blocks_[number]));
  sql::Batch batch;
  batch.rows = static_cast<std::size_t>(reader.get<std::uint64_t>());
  for (const sql::Type type : types_) batch.columns.push_back(reader.column(type, batch.rows));
  return batch;
}

std::optional<sql::Batch> SpilledRows::next() {
  if (next_ == blocks_.size()) return std::nullopt;
  return block(next_++);
}

RowPartitions::RowPartitions(std::span<const sql::Type> types, unsigned level, TemporarySpacePtr space) : level_(level), chosen_(kCount) {
  const auto file = std::make_shared<SpillFile>(std::move(space));
  for (std::size_t i = 0; i < kCount; ++i) parts_.emplace_back(file, types);
}

void RowPartitions::add(std::span<const sql::ColumnPtr> keys, std::span<const sql::ColumnPtr> columns,
                        std::span<const RowNumber> rows) {
  if (rows.empty()) return;
  // Hash tables look at the lower bits.
  const unsigned shift = 60 - 4 * level_;
  hash_rows(views_of(keys), rows.back() + std::size_t{1}, hashes_);
  for (const RowNumber row : rows) chosen_[(hashes_[row] >> shift) % kCount].push_back(row);
  for (std::size_t part = 0; part < kCount; ++part) {
    if (chosen_[part].empty()) continue;
    parts_[part].append(columns, chosen_[part]);
    chosen_[part].clear();
  }
}

void RowPartitions::add_all(std::span<const sql::ColumnPtr> keys, const sql::Batch& batch) {
  const std::vector<RowNumber> rows = row_range(0, batch.rows);
  add(keys, batch.columns, rows);
}

OperatorPtr RowPartitions::take(std::size_t part) { return std::make_unique<SpillSource>(std::move(parts_[part])); }

}  // namespace redquel::executor
