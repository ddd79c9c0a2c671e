#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/table_keys.h"
#include "sql/datum.h"
#include "sql/entries/entry_query.h"

namespace redquel::sql {

/// A comparison of an indexed column with a value that entries may answer.
enum class EntryOperation : std::uint8_t {
  kContains,    // column @> value
  kOverlaps,    // column && value
  kHasElement,  // value = ANY (column)
  kHasKey,      // column ? value
  kHasAnyKey,   // column ?| value
  kHasAllKeys,  // column ?& value
  kMatches,     // column @@ value
  kLike,        // column LIKE value
  kILike,       // column ILIKE value
};

/// How an index USING gin takes values apart: an operator class of PostgreSQL. One class per kind, without state.
class EntryKind {
 public:
  virtual ~EntryKind() = default;

  virtual Structure::Kind structure() const = 0;
  /// The segment of its keys that names the kind, which no name of a column equals: "%elements".
  virtual std::string_view segment() const = 0;
  /// The name of an entry in reports of the index checker.
  virtual std::string_view name() const = 0;
  /// Returns true if an index with this operator class over this type has such entries. Empty: the type's own class.
  virtual bool takes(Type column, std::string_view operator_class) const = 0;

  /// Returns the entries of a value in order, each once. The value is not NULL.
  virtual std::vector<std::string> entries(Type column, const Datum& value) const = 0;
  virtual bool answers(EntryOperation operation, Type column, Type value) const = 0;
  /// Returns true if the operation finds exactly the right rows for every value.
  virtual bool is_always_exact(EntryOperation) const { return false; }
  /// The rows that an operation finds for a value that is not NULL.
  virtual EntryQuery query(EntryOperation operation, Type type, const Datum& value) const = 0;
};

std::span<const EntryKind* const> entry_kinds();
/// nullptr: the structure is another one.
const EntryKind* find_entry_kind(Structure::Kind structure);
/// The kind of an index USING gin over a column; nullptr: there is none.
const EntryKind* find_entry_kind(Type column, std::string_view operator_class);

}  // namespace redquel::sql
