#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "sql/datum.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// Bytes of text values: blocks that never move, freed together.
class Arena {
 public:
  std::string_view store(std::string_view bytes);
  /// Uninitialised room for `size` bytes that the caller fills.
  char* allocate(std::size_t size);
  std::size_t bytes() const { return bytes_; }

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t used_ = 0, capacity_ = 0, bytes_ = 0;
};

class Column;

/// Immutable values by row, of which columns are made: a column, or a packed one of a copy in memory.
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;

  Type type() const { return type_; }
  /// Returns the values of the given rows, in that order. Texts may view into the source, which the caller keeps alive.
  virtual Column gather(std::span<const std::uint32_t> rows) const = 0;
  /// Returns true if the values are kept elsewhere in any case, so that positions of rows can replace copies of values.
  virtual bool is_lasting() const { return false; }
  /// The bytes that columns over the source keep alive; 0: they are counted elsewhere.
  virtual std::size_t memory() const = 0;

 protected:
  explicit ColumnSource(Type type) : type_(type) {}
  ColumnSource(const ColumnSource&) = default;
  ColumnSource& operator=(const ColumnSource&) = default;

  Type type_;
};
using ColumnSourcePtr = std::shared_ptr<const ColumnSource>;

/// Positions of rows that several columns share.
using Selection = std::shared_ptr<const std::vector<std::uint32_t>>;

/// One typed contiguous column of a batch: values and a null mask.
///
/// Three economies are built in. A *constant* column holds one value that stands for every row. An *encoded* column holds
/// PostgreSQL text forms as they came from Redis; `decode` turns it into the type's storage when something computes with it,
/// and a plain SELECT never does. A *selected* column borrows rows of a source, and gathers them when a value is first asked for; until then
/// only one thread may use it.
class Column final : public ColumnSource {
 public:
  using Values = std::variant<std::vector<std::uint8_t>, std::vector<std::int16_t>, std::vector<std::int32_t>,
                              std::vector<std::int64_t>, std::vector<float>, std::vector<double>, std::vector<Numeric>,
                              std::vector<std::string_view>, std::vector<Interval>, std::vector<Uuid>>;

  /// An empty column in the type's storage.
  explicit Column(Type type);
  /// An empty column of text forms (see above).
  static Column encoded(Type type);
  /// `size` rows of one value.
  static Column constant(Type type, const Datum& value, std::size_t size);

  /// Takes over computed values of the type's storage; `nulls` is empty or has one byte per row. Text lives in memory that the
  /// caller keeps alive (`keep_alive`).
  static Column from_values(Type type, Values values, std::vector<std::uint8_t> nulls = {});

  /// The given rows of a source.
  struct Selected {
    ColumnSourcePtr source;
    Selection rows;
  };
  static Column selected(ColumnSourcePtr source, Selection rows);
  /// The source and the rows, while no value has been asked for. Null: the column has its values.
  const Selected* unread() const { return selected_.get(); }

  // In column.cc: every file that has a Column would compile those of ten vectors.
  Column(const Column&);
  Column(Column&&) noexcept;
  Column& operator=(const Column&);
  Column& operator=(Column&&) noexcept;
  ~Column() override;

  std::size_t size() const { return size_; }
  bool is_constant() const { return stride_ == 0; }
  bool is_encoded() const {
    read_selected();
    return encoded_;
  }
  bool has_nulls() const { return !null_mask().empty(); }

  /// Empty, or one byte per row (one only when `is_constant()`).
  const std::vector<std::uint8_t>& null_mask() const {
    read_selected();
    return nulls_;
  }

  bool is_null(std::size_t row) const {
    read_selected();
    return !nulls_.empty() && nulls_[row * stride_] != 0;
  }
  /// The value of a row that is not NULL; T is the C++ type of the storage (std::string_view for text and encoded columns,
  /// bool for booleans).
  template <class T>
  T get(std::size_t row) const {
    read_selected();
    if constexpr (std::is_same_v<T, bool>) {
      return std::get<std::vector<std::uint8_t>>(values_)[row * stride_] != 0;
    } else {
      return std::get<std::vector<T>>(values_)[row * stride_];
    }
  }
  template <class T>
  const T& ref(std::size_t row) const {
    read_selected();
    return std::get<std::vector<T>>(values_)[row * stride_];
  }
  /// Raw values; one element only when `is_constant()`. Elements of NULL rows are default-constructed.
  template <class T>
  const std::vector<T>& values() const {
    read_selected();
    return std::get<std::vector<T>>(values_);
  }
  Datum datum(std::size_t row) const;

  void reserve(std::size_t rows);
  /// Text is copied into the column's arena.
  template <class T>
  void append(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::get<std::vector<std::uint8_t>>(values_).push_back(value ? 1 : 0);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      std::get<std::vector<std::string_view>>(values_).push_back(arena().store(value));
    } else {
      std::get<std::vector<T>>(values_).push_back(value);
    }
    if (!nulls_.empty()) nulls_.push_back(0);
    ++size_;
  }
  /// Text that stays alive by an owner given to `keep_alive`; nothing is copied.
  void append_view(std::string_view text);
  void append_null();
  void append_datum(const Datum& value);
  /// Row `row` of `source`, which has the same type and encoding; text is shared, not copied.
  void append_from(const Column& source, std::size_t row);
  /// Keeps the memory that appended views point into.
  void keep_alive(std::shared_ptr<const void> owner);

  /// Appends rows of a column of the same type and encoding. Text is copied; returns its bytes.
  std::size_t append_rows(const Column& source, std::span<const std::uint32_t> rows);

  /// The numbers that the texts of a column have in a dictionary.
  struct Codes {
    std::vector<std::uint16_t> of_rows;  // parallel to the rows; those of NULL mean nothing
    std::size_t count = 0;               // codes are smaller
    const void* dictionary = nullptr;    // equal codes of one dictionary mean equal texts; the column keeps it alive
  };
  /// Null: unknown. Columns that are made of this one have none.
  const std::shared_ptr<const Codes>& codes() const {
    read_selected();
    return codes_;
  }
  void set_codes(std::shared_ptr<const Codes> codes) { codes_ = std::move(codes); }

  /// The given rows, in that order. Reads only them if the column is selected and unread.
  Column gather(std::span<const std::uint32_t> rows) const override;
  /// Returns the values in the type's storage (a copy of itself unless encoded). Throws SqlError if a text does not parse.
  Column decode() const;
  /// Returns the values under another type of equal storage (text → varchar).
  Column retyped(Type type) const;
  std::size_t memory() const override;

 private:
  void read_selected() const {
    if (selected_) [[unlikely]] gather_selected();
  }
  void gather_selected() const;
  Arena& arena();
  void grow_nulls();
  void share_memory(const Column& source);

  std::size_t size_ = 0;
  std::size_t stride_ = 1;  // 0 for constants
  // Those of a selected column are gathered by the first reader.
  mutable std::unique_ptr<const Selected> selected_;  // null: the values are here
  mutable Values values_;
  mutable std::vector<std::uint8_t> nulls_;  // empty: no NULLs
  mutable bool encoded_ = false;
  mutable std::shared_ptr<Arena> arena_;
  mutable std::vector<std::shared_ptr<const void>> owners_;
  mutable std::shared_ptr<const Codes> codes_;
};

using ColumnPtr = std::shared_ptr<const Column>;

/// A few thousand rows, column by column. `rows` counts also where there are no columns (SELECT FROM t).
struct Batch {
  std::size_t rows = 0;
  std::vector<ColumnPtr> columns;

  /// The given rows, in that order. Many rows are selected, not copied.
  Batch gather(std::span<const std::uint32_t> rows) const;
  std::size_t memory() const;
};

/// Rows that a batch holds unless memory says less.
inline constexpr std::size_t kBatchRows = 1024;

}  // namespace redquel::sql
