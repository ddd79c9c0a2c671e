#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/catalog/key_template.h"
#include "sql/types/type.h"

namespace redquel::sql {

struct CatalogSnapshot;
struct TableDef;
struct IndexDef;
struct ColumnDef;

/// The layout of a mapped table (CREATE FOREIGN TABLE … SERVER redis) in keys of an application. The users' page is docs/mapping.md.
struct Mapping {
  enum class Layout : std::uint8_t { kHash, kStrings, kString, kSet, kZset, kList, kHashFields, kStream };
  /// The part of a row that a column holds.
  enum class Role : std::uint8_t {
    kSlot,      // of the key
    kField,     // a hash field, a string of its own, a part of a string, a field of a stream's entry
    kValue,     // the string, the list's element, the hash field's value
    kMember,    // of the set or zset
    kScore,     // of the zset
    kPosition,  // in the list, from 0
    kName,      // the hash field's name
    kId,        // of the stream's entry
    kTtl,       // seconds that the key will live
    kTime,      // of the stream's entry: the first number of its id
    kSequence,  // the second one
  };
  enum class Format : std::uint8_t { kText, kBool01, kUnix, kUnixMs, kList, kJson, kRaw };
  /// The value of an absent field.
  enum class Absent : std::uint8_t { kNull, kDefault, kEmpty };
  struct Column {
    std::int16_t number = 0;
    Role role = Role::kField;
    std::string field;
    Format format = Format::kText;
    std::string delimiter;  // of Format::kList
    Absent absent = Absent::kNull;
    std::string default_text;  // Absent::kDefault: what stands for an absent field, in the column's format
    bool repeats_key = false;  // a slot of layout hash whose value each row has in `field`, too; only writes know it
    Oid parent = 0;            // the rows go with the row of this mapped table whose key has the value; 0: none
    int width = 0;             // digits of an integer, padded with zeros; 0: as they are
  };
  /// One string that holds several columns.
  enum class Parts : std::uint8_t { kWhole, kDelimited, kJson };

  Layout layout = Layout::kHash;
  KeyTemplate key;
  /// The hashes are a model's of the Ruby library Ohm, which keeps a set of all ids, and what it has indexed of each row.
  bool ohm = false;
  /// The logical database of the keys; nullopt: that of the session.
  std::optional<int> database;
  /// Rows that differ only in `version` are versions of one: the newest so many stay when one is inserted. 0: all.
  std::int64_t versions = 0;
  std::int16_t version = 0;  // a slot's column
  std::string counter;  // key of the id counter; empty: none
  Parts parts = Parts::kWhole;
  std::string delimiter;  // Parts::kDelimited
  std::vector<Column> columns;  // one for each live column, in their order
  /// An option as written, for the system catalogs: (column's number or 0, name, value); the key template in its stored form.
  struct Option {
    std::int16_t column = 0;
    std::string name, value;
  };
  std::vector<Option> options;

  const Column& column(std::int16_t number) const;
  /// nullptr: no column has it.
  const Column* with_role(Role role) const;
  /// The key of one column of the strings layout; else of the row.
  std::optional<std::string> render_key(const KeyTemplate::TextOfColumn& text, std::string_view field = {}) const;
};

/// A key that Ohm keeps for a model: `all` is "User:all".
std::string ohm_key(const Mapping& mapping, std::string_view part);

using MappingOptions = std::vector<std::pair<std::string, std::string>>;

/// The mapping that options of a table and its columns say. `columns`: parallel to the table's. Sets nothing in the table.
/// Throws SqlError HV00D for options that there are not, HV024 for values that mean nothing, 22023 for templates,
/// 42P16 where columns and layout do not go together, 0A000.
Mapping make_mapping(const TableDef& table, const MappingOptions& options, const std::vector<MappingOptions>& columns);
/// Returns the columns that identify a row: the key's slots and the columns that distinguish the rows of one key.
std::vector<std::int16_t> identity_columns(const Mapping& mapping);
/// Type of the keys as TYPE names it: "hash".
std::string_view redis_type(Mapping::Layout layout);
std::string_view layout_name(Mapping::Layout layout);
/// Returns true if a key (or the keys of one rendering) is one row.
inline bool has_one_row(Mapping::Layout layout) {
  return layout == Mapping::Layout::kHash || layout == Mapping::Layout::kStrings || layout == Mapping::Layout::kString;
}
/// Returns an option's value as it would be written now; nullopt: the option has no meaning any more.
std::optional<std::string> option_text(const CatalogSnapshot& catalog, const TableDef& table, const Mapping::Option& option);
/// Returns true if a key may belong to both tables.
bool may_overlap(const TableDef& a, const TableDef& b);
/// Returns true if a key of a row, of a declared structure or the counter could begin with the prefix and a colon.
bool may_reach(const TableDef& foreign, std::string_view prefix);
/// The keys' template with the slots of columns named.
std::string template_text(const KeyTemplate& key, const TableDef& table);
/// Ohm's template for the structure of a column: "User:indices:name:{name}", "User:uniques:email".
std::string ohm_index_key(const TableDef& table, std::int16_t column, bool is_unique);
/// Gives a table without a column for the time to live the hidden column `ttl`, in both places.
void add_hidden_ttl(TableDef& table, Mapping& mapping);

// Structures that an index declares. A structure's key has slots, too; what they are not, its content says.

/// Returns true if the rows that a declared structure gives are all rows with its values: it was compared with the rows, or filled.
bool is_believed(const IndexDef& index);
/// Returns true if writes leave a structure of the table alone, so that rows which they change may be missing there.
bool has_unkept_structure(const TableDef& table);
/// A structure's template as a declared index keeps it.
KeyTemplate index_key(const IndexDef& index);
/// Columns as slots parted by colons, stored form.
std::string joined_slots(const std::vector<std::int16_t>& columns);
/// Returns the default member of a structure for a row: the identity columns that are no slots of the structure's key, separated by
/// colons. Stored form; empty if there are none.
std::string natural_member(const TableDef& table, const KeyTemplate& structure);
KeyTemplate index_member(const TableDef& table, const IndexDef& index);
/// The index's columns that are no slots of its key.
std::vector<std::int16_t> columns_beside_key(const IndexDef& index);
/// A lookup by fields of a hash, whose names `index_field` makes; else it is a string.
bool is_hash_lookup(const IndexDef& index);
KeyTemplate index_field(const IndexDef& index);
/// Returns the column that orders a zset or list.
std::int16_t ordered_column(const IndexDef& index);
/// The zset that redquel keeps of the versions of each thing (Mapping::versions): its key has the slots in front of the version's;
/// nullptr: none is declared.
const IndexDef* versions_index(const TableDef& table);
/// Slots in front of the version's: what it is a version of.
std::vector<std::int16_t> versioned_slots(const Mapping& mapping);

}  // namespace redquel::sql
