#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/datum.h"

namespace redquel::sql {

/// Percent-escapes one name or value for its place in a key (design-review item 5): the result never contains ':' and never
/// equals a reserved segment; "" is "%"; values over 512 bytes become "%#" and 32 hex digits of their SHA-256.
std::string escape_segment(std::string_view raw);
/// The segment of NULL.
inline constexpr std::string_view kNullSegment = "%N";
/// The segment of what a table keeps about rows that expire.
inline constexpr std::string_view kExpirySegment = "%ttl";

/// A set of Redis keys that belong together, as the indexes of a table need them. Several indexes may share one.
struct Structure {
  enum class Kind : std::uint8_t {
    kSets,    // SET of pks per value, and the SET of values
    kZset,    // one ZSET in the column's order
    kUnique,  // HASH value → pk
    kNulls,   // SET of pks whose value is NULL (part of every index on a nullable column)
    kValueZsets,  // ZSET of pks per value of all columns but the last one, in the last one's order, and the SET of values
    // SET of pks per entry of a value, and the SET of entries (EntryKind)
    kElements,
    kJsonbKeys,
    kJsonbPaths,
    kLexemes,
    kTrigrams,
  };
  Kind kind;
  std::vector<std::int16_t> columns;
  bool readable = true;  // false while the only indexes that need it are being built
  friend bool operator==(const Structure& a, const Structure& b) { return a.kind == b.kind && a.columns == b.columns; }
};

/// Structures that the (not dropping) indexes of the table keep, each once. A btree keeps sets and zset where the type is
/// discrete, only the zset for float, numeric, timestamps, time, interval and bytea; hash only the sets; zset only the zset; gin the sets of
/// each column's entries.
std::vector<Structure> structures_of(const TableDef&);
std::vector<Structure> structures_of(const TableDef&, const IndexDef&);
/// Unique indexes that say what a kUnique structure over these columns may hold: all of them, apart from those being dropped.
std::vector<const IndexDef*> unique_indexes_over(const TableDef&, std::span<const std::int16_t> columns);
/// Two rows of a transaction may share a value of the structure for a while: every index that forbids it is DEFERRABLE.
bool is_deferrable(const TableDef&, std::span<const std::int16_t> columns);

/// The one place where keys of a table are made. With Redis Cluster a bucket's hash tag would be added here.
class TableKeys {
 public:
  explicit TableKeys(const TableDef& table) : table_(table) {}

  /// Name of a row inside sets and zsets: the raw text of a single-column key, escaped segments joined by ':' for a composite one.
  std::string member(std::span<const Datum> primary_key) const;
  /// Returns the common prefix of the members of all rows with these values in the first columns of a composite key: each segment with ':'
  /// behind it.
  std::string member_prefix(std::span<const Datum> first_values) const;
  /// `emp:7`. From the member: `row_of_member`.
  std::string row(std::span<const Datum> primary_key) const;
  std::string row_of_member(std::string_view member) const;
  /// The primary key's values, from a member (never escaped for single keys). Throws XX001 when it does not parse.
  std::vector<Datum> decode_member(std::string_view member) const;
  /// Splits the member into canonical texts, without parsing them.
  std::vector<std::string> split_member(std::string_view member) const;
  /// Columns of the row's key: 1 for a hidden one.
  std::size_t key_size() const { return table_.has_hidden_key() ? 1 : table_.primary_key.size(); }
  Type key_type(std::size_t position) const;
  std::string all_rows() const;                                                       // emp:zset
  std::string value_set(std::span<const std::int16_t> columns, std::span<const Datum>) const;  // emp:indices:dept:7
  std::string null_set(std::int16_t column) const;                                    // emp:indices:dept:%N
  std::string values(std::span<const std::int16_t> columns) const;                    // emp:indices:dept
  /// Member of `values`: the raw canonical text for one column, escaped segments joined by ':' for several.
  std::string values_entry(std::span<const std::int16_t> columns, std::span<const Datum>) const;
  /// `value_set` of a member of `values`.
  std::string value_set_of_entry(std::span<const std::int16_t> columns, std::string_view entry) const;
  /// The set of the entries that a column's values are taken apart into, and the set of the rows with one of them. `kind`: EntryKind::segment().
  std::string entries_of(std::string_view kind, std::int16_t column) const;           // emp:indices:%elements:tags
  std::string rows_with(std::string_view kind, std::int16_t column, std::string_view entry) const;  // emp:indices:%elements:tags:red
  std::string ordered(std::int16_t column) const;                                     // emp:zset:salary
  /// emp:zset:dept:7:salary: the rows with these values in all columns but the last one, in the order of the last one. `of_nulls`:
  /// emp:zset:dept:7:salary:%N, the rows whose last column is NULL.
  std::string value_zset(std::span<const std::int16_t> columns, std::span<const Datum> leading, bool of_nulls) const;
  std::string value_zsets(std::span<const std::int16_t> columns) const;               // emp:zset:dept,salary
  /// Member of `value_zsets`: escaped segments joined by ':', the last one %N for the zset of rows whose last column is NULL.
  std::string value_zset_entry(std::span<const std::int16_t> columns, std::span<const Datum> leading, bool of_nulls) const;
  /// `value_zset` of a member of `value_zsets`.
  std::string value_zset_of_entry(std::span<const std::int16_t> columns, std::string_view entry) const;
  /// emp:uniques:email. Of values that lie by value (spread_table.h) the one in the bucket of the prefix, see uniques_with.
  std::string uniques(std::span<const std::int16_t> columns) const;
  /// Key of the hash that has this field of unique values: the one in its bucket.
  std::string uniques_with(std::span<const std::int16_t> columns, std::string_view field) const;
  /// Field of the uniques hash: as `values_entry`; a single NULL (NULLS NOT DISTINCT) is a zero byte.
  std::string unique_field(std::span<const std::int16_t> columns, std::span<const Datum>) const;
  std::string row_counter() const;                                                    // emp:rowid, of hidden keys
  /// Keys of a table whose rows expire: ZSET member → milliseconds since 1970 (emp:zset:%ttl), and HASH member → places of the row's
  /// entries (emp:indices:%ttl). No segment of a column or value is `%ttl`.
  std::string expiries() const;
  std::string entries() const;
  std::string changes() const;                                                        // redquel:changes:<oid>
  /// `emp:*`, for SORT … GET; only where `sort_get_is_safe`.
  std::string row_pattern() const;
  /// Keys never need escaping and neither prefix nor field can be mistaken for a pattern (design-review item 16).
  bool sort_get_is_safe() const;
  /// Score of the row in `emp:zset`: the integer key, else "0".
  std::string row_score(std::span<const Datum> primary_key) const;
  /// Different keys have different scores (int8 beyond 2^53 does not).
  bool row_score_is_exact() const;
  /// Member of the column's ordered zset: the row's member, behind order-preserving bytes and a zero byte for types without a score.
  std::string ordered_member(std::int16_t column, const Datum& value, std::string_view member) const;
  /// Score of the row in a zset in the order of the column: "0" for types without a score.
  std::string score_in_order(std::int16_t column, const Datum& value) const;
  /// The row's member in a member of an ordered zset.
  static std::string_view member_of_ordered(std::string_view ordered_member);
  /// The column whose hash field marks a row as existing: the first NOT NULL one outside the key; nullptr: the key itself is stored as
  /// field(s) (design-review item 7).
  const ColumnDef* presence_column() const;
  /// The hash field that every row has: part of every fetch, its absence means that there is no row.
  std::string presence_field() const;
  /// Returns true if every row holds this key column as a field: without a presence column, or with a type whose canonical text is not its
  /// output.
  bool stores_key_column(const ColumnDef&) const;
  /// Returns true if a write stores this key column (nullptr: the hidden one, as kHiddenKeyField) in the hash. Also true while older rows
  /// lack the field.
  bool writes_key_column(const ColumnDef*) const;

 private:
  std::string field_segment(std::int16_t column) const;
  std::string joined_fields(std::span<const std::int16_t> columns) const;
  /// Returns the first part of keys of rows and indexes. Throws 0A000 for a table in several buckets: its parts have these keys.
  const std::string& prefix() const;

  const TableDef& table_;
};

}  // namespace redquel::sql
