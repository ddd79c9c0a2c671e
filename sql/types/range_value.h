#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/datum.h"
#include "sql/session_settings.h"
#include "sql/types/datetime.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

// Ranges and multiranges lie in columns and in Redis as PostgreSQL's text form of them, [1,5) or {[1,3),[5,7)}, in canonical form and
// with bounds in the storage form of their subtype.

/// nullopt: the range has no bound on that side.
struct RangeBound {
  std::optional<Datum> value;
  bool inclusive = false;
};

struct RangeValue {
  bool empty = false;
  RangeBound lower, upper;
};

/// Disjoint, not adjacent, not empty, in order: a multirange; a range as none or one.
using RangeSet = std::vector<RangeValue>;

bool is_range_type(Oid type);
bool is_multirange_type(Oid type);
/// Returns the subtype of a range type.
Type range_subtype(Oid range);
Oid multirange_over(Oid range);
/// Returns the range type of a multirange type.
Oid range_in(Oid multirange);
/// The built-in ones.
std::vector<Oid> all_range_types();

/// Checks the bounds and gives the canonical form. 22000 "range lower bound must be less than or equal to range upper bound", 22003,
/// 22008 where a bound's successor is out of range.
RangeValue make_range(Oid range, RangeBound lower, RangeBound upper);

/// range_in, multirange_in. 22P02 "malformed range literal" with its detail, and the subtype's errors.
RangeValue parse_range(Oid range, std::string_view text, const SessionSettings& settings, Now now = {});
RangeSet parse_multirange(Oid multirange, std::string_view text, const SessionSettings& settings, Now now = {});
void append_range(Oid range, const RangeValue& value, const SessionSettings& settings, std::string& out);
void append_multirange(Oid multirange, const RangeSet& value, const SessionSettings& settings, std::string& out);

/// The value in a column of a range or multirange type.
RangeSet read_ranges(Oid type, std::string_view text);
/// The storage form. Several ranges need a multirange type.
std::string ranges_text(Oid type, const RangeSet& ranges);

/// Order of two bounds on the axis of the subtype: which side they are on counts.
enum class Side { kLower, kUpper };
int compare_bounds(Type subtype, const RangeBound& a, Side side_a, const RangeBound& b, Side side_b);
/// Compares two values of one range or multirange type.
int compare_ranges(Oid type, std::string_view a, std::string_view b);

/// Any ranges as a set: sorted, what touches joined.
RangeSet normalize(Type subtype, std::vector<RangeValue> ranges);
/// Nothing lies between the end of `a` and the beginning of `b`, and nothing is in both.
bool touches(Type subtype, const RangeValue& a, const RangeValue& b);
RangeSet intersection(Type subtype, const RangeSet& a, const RangeSet& b);
RangeSet difference(Type subtype, const RangeSet& a, const RangeSet& b);

}  // namespace redquel::sql
