#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/catalog/structure_kind.h"

namespace redquel::sql {

/// The role of a Redis key in a table: the inverse of TableKeys.
struct KeyRole {
  enum class Kind {
    kRow,         // emp:7
    kAllRows,     // emp:zset
    kRowCounter,  // emp:rowid
    kSequence,    // emp:id, emp:id:col
    kStructure,   // StructureKind::key() of `structure`: emp:zset:salary
    kValueSet,    // a set of `structure` that lists values: emp:indices:dept:7
    kExpiries,    // emp:zset:%ttl, emp:indices:%ttl
    kUnknown,     // has the prefix, but no part of the table has this form or names these columns
  };
  Kind kind = Kind::kUnknown;
  const StructureKind* structure = nullptr;  // kStructure, kValueSet
  std::vector<std::int16_t> columns;         // of the structure
  /// kRow: the segments of the key; kValueSet: those of the values. Hashed ones ("%#…") cannot be undone.
  std::vector<std::string> segments;
};

/// Finds the roles of many Redis keys in one table.
class KeyClassifier {
 public:
  /// `table` outlives this.
  explicit KeyClassifier(const TableDef& table);

  /// nullopt: not a key of this table. Whether an index keeps the structure is not asked.
  std::optional<KeyRole> classify(std::string_view key) const;

 private:
  KeyRole role(const std::vector<std::string_view>& segments) const;
  KeyRole structure_role(const StructureKind& kind, const StructureKeyName& name) const;
  KeyRole row_role(const std::vector<std::string_view>& segments) const;

  const TableDef& table_;
  std::map<std::string, std::int16_t, std::less<>> numbers_;  // of columns, by the segment that names them
};

/// Returns the role of one key.
std::optional<KeyRole> classify(const TableDef& table, std::string_view key);

/// The member that a row's key belongs to; nullopt where a hash hides it or the segments are no key of the table.
std::optional<std::string> member_of_row(const TableDef& table, const KeyRole& row);

}  // namespace redquel::sql
