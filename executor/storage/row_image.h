#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/storage/placed_table.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/member_form.h"
#include "sql/catalog/structure_kind.h"
#include "sql/catalog/table_keys.h"
#include "sql/column.h"
#include "sql/datum.h"
#include "sql/expressions/expression.h"

namespace redquel::executor {

/// Texts that a unit of writes works with, in one list; a NULL is a view without data.
class Words {
 public:
  /// Copies the text.
  std::string_view store(std::string_view text) { return text.empty() ? std::string_view("", 0) : arena_.store(text); }
  std::string_view number(std::size_t value);
  void push(std::string_view word) { list_.push_back(word); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(list_.size()); }
  std::string_view operator[](std::size_t index) const { return list_[index]; }
  void set(std::size_t index, std::string_view word) { list_[index] = word; }
  std::span<const std::string_view> range(std::size_t first, std::size_t count) const {
    return std::span(list_).subspan(first, count);
  }

 private:
  sql::Arena arena_;
  std::vector<std::string_view> list_;
};

inline bool is_null(std::string_view word) { return word.data() == nullptr; }
/// NULL and the empty text compare equal as words, and are not the same.
inline bool are_same(std::string_view a, std::string_view b) { return a == b && is_null(a) == is_null(b); }

/// A row as Redis holds it: its key, its member in index structures, its stored texts, and its entry in each structure.
struct RowImage {
  std::string_view member, key;
  std::string_view score;      // in the all-rows zset
  std::uint32_t texts = 0;     // in Words: one per column of the table, then the hidden key's where there is one
  std::uint32_t entries = 0;   // in Words: two per structure (see RowEncoder::entry)
};

/// Makes images of the rows of one table.
class RowEncoder {
 public:
  /// Structures: those of the table's indexes unless given.
  explicit RowEncoder(std::shared_ptr<const sql::TableDef> table,
                      std::optional<std::vector<sql::Structure>> structures = std::nullopt);

  const sql::TableDef& table() const { return *table_; }
  const std::shared_ptr<const sql::TableDef>& definition() const { return table_; }
  const sql::TableKeys& keys() const { return keys_; }

  struct StructureKeys : sql::StructurePlace {
    const sql::StructureKind* kind = nullptr;
    std::vector<std::size_t> positions;  // of its columns (TableDef::position)
    std::vector<std::size_t> sources;    // of the stored columns that its entries depend on: those of computed ones, too
    sql::OmittedParts omitted = {};      // of the members in the sets of values
    std::vector<PlacedTable> places = {};  // parallel to `keys_by_value`: the parts of the table
  };
  const std::vector<StructureKeys>& structures() const { return structures_; }
  const std::string& all_rows() const { return all_rows_; }
  /// Key of the counter of the table's changes.
  const std::string& counter() const { return counter_; }

  /// No other row can have the key or a unique value of a new one.
  bool is_free_to_insert() const;
  /// Returns the number of values of a row: the table's columns, and the hidden key.
  std::size_t width() const { return table_->columns.size() + (table_->has_hidden_key() ? 1 : 0); }
  /// Field of column `position` in the row's hash; nullptr for key columns that are only in the key.
  const std::string* field(std::size_t position) const {
    return fields_[position].empty() ? nullptr : &fields_[position];
  }
  /// `<field>%N` of a column with `missing`; empty: the column has none.
  const std::string& null_marker(std::size_t position) const { return null_markers_[position]; }
  const std::string& presence_field() const { return presence_field_; }
  std::vector<sql::Datum> primary_key(std::span<const sql::Datum> row) const;
  sql::Type type(std::size_t position) const {
    if (position < table_->columns.size()) return table_->columns[position].type;
    return position < width() ? sql::kInt8 : table_->computed[position - width()].type;
  }
  /// Returns a row's values in the structure's columns. Throws the errors of computing an expression.
  std::vector<sql::Datum> values(const StructureKeys& structure, std::span<const sql::Datum> row) const;

  RowImage encode(std::span<const sql::Datum> row, Words& words) const;
  /// The image of what has become of a row: texts and entries that stay are those of `before`, its image in the same words.
  RowImage encode_change(std::span<const sql::Datum> old_row, const RowImage& before, std::span<const sql::Datum> row, Words& words) const;
  /// The fields of the row's hash, replacing what the vectors held. Names view into the encoder.
  void fields_of(const RowImage& image, const Words& words, std::vector<std::string_view>& names,
                 std::vector<std::string_view>& values) const;

  /// The row's member as the structure has it. Views into the image.
  static std::string_view member_in(const StructureKeys& structure, const RowImage& image) {
    return structure.omitted.any() ? sql::short_member(image.member, structure.omitted) : image.member;
  }

  /// The entry of an image in structure number `index` (sql::StructureEntry): null where it has none.
  static std::pair<std::string_view, std::string_view> entry(const Words& words, const RowImage& image, std::size_t index) {
    return {words[image.entries + 2 * index], words[image.entries + 2 * index + 1]};
  }
  /// Key of the hash that has an entry of a structure with owners.
  static std::string_view unique_key(const StructureKeys& structure, std::pair<std::string_view, std::string_view> entry) {
    return entry.second.empty() ? std::string_view(structure.key) : entry.second;
  }
  /// The part of the table, or the table, where the entry lies with its lock.
  PlacedTable place_of(const StructureKeys& structure, std::pair<std::string_view, std::string_view> entry) const;
  /// Returns true if entries of the structure lie where the hash of their value says, not with their rows (sql/catalog/spread_table.h).
  static bool lies_by_value(const StructureKeys& structure) { return !structure.places.empty(); }
  /// Adds the buckets of the unique values that lie by value and come or go when the row becomes another one; null: it was, or will be, not there.
  void add_value_buckets(const RowImage* before, const RowImage* after, const Words& words, std::set<int>& buckets) const;
  /// Key of the row that owns a value of the structure. Throws XX001 if the member does not parse.
  std::string row_of_owner(const StructureKeys& structure, std::string_view member) const;

  /// The elements of an entry that is not null.
  static sql::StructureElements elements(const StructureKeys& structure, const RowImage& image,
                                         std::pair<std::string_view, std::string_view> entry) {
    return structure.kind->elements(structure, entry.first, entry.second, member_in(structure, image));
  }

 private:
  void encode_text(std::size_t position, const sql::Datum& value, Words& words) const;
  void encode_key(std::span<const sql::Datum> row, RowImage& image, Words& words) const;
  void encode_entry(const StructureKeys& structure, std::span<const sql::Datum> row, RowImage image, Words& words) const;
  std::vector<sql::Datum> with_computed(std::span<const sql::Datum> row) const;

  std::shared_ptr<const sql::TableDef> table_;
  sql::TableKeys keys_;
  std::string all_rows_, counter_, presence_field_;
  std::vector<StructureKeys> structures_;
  std::vector<std::string> fields_, null_markers_;
  std::vector<bool> canonical_is_stored_;
  std::vector<std::size_t> key_positions_;
  std::vector<sql::ExpressionPtr> computed_;  // over the row's columns, by position
};

/// The encoder of a definition, with the structures of its indexes: made once for many statements. Of this thread.
std::shared_ptr<const RowEncoder> encoder_of(const std::shared_ptr<const sql::TableDef>& table);

}  // namespace redquel::executor
