#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/datum.h"

namespace redquel::sql {

// Names of rows inside the sets of an index (TableKeys::value_set). They are whole members (TableKeys::member), or short ones: an index over
// the first or the last columns of a composite primary key leaves these parts out, because the name of the set has them. With the key
// (book_id, tagname) `tag:indices:tagname:ruby` holds 1 and `tag:indices:book_id:1` holds ruby, both for the member `1:ruby`.

/// Counts of a key's parts that members leave out, at its beginning and at its end. Whole members: none.
struct OmittedParts {
  std::size_t first = 0, last = 0;
  bool any() const { return first + last > 0; }
};

/// Returns the parts that members of the sets over these columns leave out. None if an index over them is of a stored format before 2, or if
/// rows of the table expire.
OmittedParts omitted_parts(const TableDef& table, std::span<const std::int16_t> columns);

/// Returns the member without these parts, as a view into `member`.
std::string_view short_member(std::string_view member, const OmittedParts& omitted);

/// Texts before and behind the members of one set that make them whole.
struct MemberEnds {
  std::string head, tail;
  bool any() const { return !head.empty() || !tail.empty(); }
  std::string whole(std::string_view member) const;
  /// The short member of a whole one, as a view into it; the whole one if it has other ends. (No short member of the set is equal to it.)
  std::string_view name_of(std::string_view whole_member) const;
};

/// Returns the texts for the set of these values, which are not NULL; empty ones if its members are whole.
MemberEnds member_ends(const TableDef& table, std::span<const std::int16_t> columns, std::span<const Datum> values);
/// Like the overload for values, for their canonical texts.
MemberEnds member_ends(const TableDef& table, std::span<const std::int16_t> columns, std::span<const std::string> texts);

/// Sets the form of the members of indexes that `before` (may be null) does not have: short ones, unless they share sets with an older index
/// that has whole ones.
void choose_member_forms(const TableDef* before, TableDef& table);

}  // namespace redquel::sql
