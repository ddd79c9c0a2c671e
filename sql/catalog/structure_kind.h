#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/catalog/table_keys.h"

namespace redquel::sql {

/// A Redis type as structures use it, with the commands for its elements.
struct ElementForm {
  std::string_view type;             // TYPE's word
  std::string_view scan, count;      // of a key
  std::string_view look, look_many;  // of one element, of many
  std::string_view add, remove;
};
inline constexpr ElementForm kSetForm{"set", "SSCAN", "SCARD", "SISMEMBER", "SMISMEMBER", "SADD", "SREM"};
inline constexpr ElementForm kZsetForm{"zset", "ZSCAN", "ZCARD", "ZSCORE", "ZMSCORE", "ZADD", "ZREM"};
inline constexpr ElementForm kHashForm{"hash", "HSCAN", "HLEN", "HGET", "HMGET", "HSET", "HDEL"};

/// An element that a row has in a key of a structure.
struct StructureElement {
  const ElementForm* form = nullptr;
  std::string_view key, name;
  std::string_view value;    // the score of a zset's member, the value of a hash's field
  bool lists_value = false;  // the name is the value of the set before this element; other rows have it, too
};

/// The elements of one row in one structure, in the order in which they come.
class StructureElements {
 public:
  /// At most two.
  StructureElements(std::initializer_list<StructureElement> elements) {
    for (const StructureElement& element : elements) few_[size_++] = element;
  }
  explicit StructureElements(std::vector<StructureElement> elements) : size_(elements.size()), many_(std::move(elements)) {}
  const StructureElement* begin() const { return many_.empty() ? few_.data() : many_.data(); }
  const StructureElement* end() const { return begin() + size_; }

 private:
  std::array<StructureElement, 2> few_{};
  std::size_t size_ = 0;
  std::vector<StructureElement> many_;
};

/// A structure of a table as the entries of its rows are made: computed once.
struct StructurePlace {
  Structure structure;
  std::string key;                // StructureKind::key()
  std::string value_prefix;       // of the sets of one column's values: "emp:indices:dept:"
  bool nulls_are_equal = false;   // NULLS NOT DISTINCT
  std::vector<std::string> keys_by_value = {};  // of unique values that lie by value (spread_table.h): key() in each part; empty: others
};

/// The values of a row that an entry is made of.
struct EntryValues {
  const TableKeys& keys;
  std::span<const Datum> values;  // of the structure's columns
  Type type;                      // of its first column
  std::string_view member;        // of the row
  std::string_view first_text;    // the canonical text of the first value; without data: not known
};

/// Two words from which all elements of an entry follow.
struct StructureEntry {
  std::string first, second;
  bool first_is_member = false;  // `first` is the row's member and left out
};

/// The name of a structure's key, taken apart: "uniques:email". Views into the name; names are escaped (key_segments.h).
struct StructureKeyName {
  std::vector<std::string_view> columns;  // the names of the columns' fields
  std::vector<std::string_view> values;   // of the key of one value, parallel to the columns; empty: StructureKind::key()
};

/// A kind of index structure: its keys, the entries of rows, and the elements that these are in Redis. Writes, checks, repair and removal
/// work on elements, whatever the kind. One class per kind, without state.
class StructureKind {
 public:
  virtual ~StructureKind() = default;

  virtual Structure::Kind kind() const = 0;
  /// The name of its entries in reports of the index checker.
  virtual std::string_view name() const = 0;
  /// The form of key().
  virtual const ElementForm& form() const = 0;
  /// The key that exists as long as the structure has entries.
  virtual std::string key(const TableKeys& keys, std::span<const std::int16_t> columns) const = 0;
  /// Takes the name of a key apart, without the table's prefix. nullopt: the kind has no keys of this form.
  virtual std::optional<StructureKeyName> read_key(std::span<const std::string_view> segments) const = 0;
  /// key() lists values, each of which has a set or zset of its own.
  virtual bool lists_values() const { return false; }
  /// The key of a value that key() lists; and its form, which is that of the structure's entries. Throws XX001 if no value is written so.
  virtual std::string value_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view entry) const;
  virtual const ElementForm& entry_form() const { return form(); }
  /// Two rows may not have the same element: the value of an element is its owner.
  virtual bool has_owners() const { return false; }
  /// A row may have several elements that do not list a value: they come and go one by one.
  virtual bool has_many_elements() const { return false; }

  /// Returns the entry of a row; nullopt if it has none.
  virtual std::optional<StructureEntry> entry(const StructurePlace& place, const EntryValues& row) const = 0;
  /// Returns the elements of an entry. `member`: of the row, as the structure has it. Views into the arguments.
  virtual StructureElements elements(const StructurePlace& place, std::string_view first, std::string_view second,
                                     std::string_view member) const = 0;
  /// Returns the words that lead to the entry in the list of a row that expires (`emp:indices:%ttl`); the first one is read by
  /// listed_entries.lua.
  virtual std::array<std::string_view, 4> listed(const StructurePlace& place, std::string_view first, std::string_view second) const = 0;

  /// Returns true if a script can move the entry of a single column without a previous read of the row: it makes the old entry from the
  /// old field.
  virtual bool is_moved_by_script(Type column) const = 0;
  /// Return an entry's key and the words behind it as EXPLAIN prints them. `names`: the columns' names, "<dept>:<job>".
  virtual std::string shown_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view names) const;
  virtual std::string shown_suffix(std::string_view names) const;
};

/// The class of a kind.
const StructureKind& structure_kind(Structure::Kind kind);
/// The classes of all kinds.
std::span<const StructureKind* const> structure_kinds();

}  // namespace redquel::sql
