#include "sql/types/range_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/compare.h"
#include "sql/types/part_text.h"
#include "sql/types/text_io.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

/// Returns true if the range has a canonical form with [ and ): built-in ranges whose subtype has no values between two neighbours.
bool is_discrete(Oid range) { return range == oid::kInt4Range || range == oid::kInt8Range || range == oid::kDateRange; }

void step(Oid subtype, Datum& value) {
  if (subtype == oid::kInt8) {
    auto& number = std::get<std::int64_t>(value);
    if (__builtin_add_overflow(number, 1, &number)) throw number_out_of_range("bigint");
    return;
  }
  auto& number = std::get<std::int32_t>(value);
  if (subtype == oid::kInt4) {
    if (__builtin_add_overflow(number, 1, &number)) throw number_out_of_range("integer");
  } else if (is_finite_date(number)) {
    if (++number >= kEndDate) throw datetime_out_of_range("date");
  }
}

/// The order of bounds of equal value: ") ] or [ (" of one value in this order.
int nudge(const RangeBound& bound, Side side) { return bound.inclusive ? 0 : side == Side::kLower ? 1 : -1; }

// ---- text -----------------------------------------------------------------------------------------------------------

bool has_empty_word(std::string_view text, std::size_t at) { return equals_ignoring_case(text.substr(at, 5), "empty"); }

/// Reads one range; errors quote the whole text.
class RangeReader {
 public:
  RangeReader(Oid range, std::string_view text, const SessionSettings& settings, Now now)
      : range_(range), text_(text), settings_(settings), now_(now) {}

  RangeValue read() {
    skip_space();
    if (has_empty_word(text_, at_)) {
      at_ += 5;
      skip_space();
      if (!at_end()) fail("Junk after \"empty\" key word.");
      return {true, {}, {}};
    }
    if (!next_is('[') && !next_is('(')) fail("Missing left parenthesis or bracket.");
    const bool lower_inclusive = text_[at_++] == '[';
    const std::optional<std::string> lower = bound();
    if (!next_is(',')) fail("Missing comma after lower bound.");
    ++at_;
    const std::optional<std::string> upper = bound();
    if (next_is(',')) fail("Too many commas.");
    const bool upper_inclusive = text_[at_++] == ']';
    skip_space();
    if (!at_end()) fail("Junk after right parenthesis or bracket.");
    RangeBound from{value_of(lower), lower_inclusive};
    return make_range(range_, std::move(from), {value_of(upper), upper_inclusive});
  }

 private:
  bool at_end() const { return at_ >= text_.size(); }
  bool next_is(char c) const { return !at_end() && text_[at_] == c; }
  void skip_space() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }

  /// nullopt: none is written.
  std::optional<std::string> bound() {
    const auto is_end = [](char c) { return c == ',' || c == ')' || c == ']'; };
    if (!at_end() && is_end(text_[at_])) return std::nullopt;
    return read_part(text_, at_, is_end, [this](std::string detail) { fail(std::move(detail)); });
  }

  std::optional<Datum> value_of(const std::optional<std::string>& text) const {
    return text ? std::optional(parse_value(range_subtype(range_), *text, settings_, now_)) : std::nullopt;
  }

  [[noreturn]] void fail(std::string detail) const {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("malformed range literal: \"{}\"", text_)).detail(std::move(detail));
  }

  Oid range_;
  std::string_view text_;
  const SessionSettings& settings_;
  Now now_;
  std::size_t at_ = 0;
};

void append_bound(Type subtype, const RangeBound& bound, const SessionSettings& settings, std::string& out) {
  if (!bound.value) return;
  append_part(format_value(subtype, *bound.value, settings), "()[],", out);
}

int compare_one(Type subtype, const RangeValue& a, const RangeValue& b) {
  const int order = compare_bounds(subtype, a.lower, Side::kLower, b.lower, Side::kLower);
  return order != 0 ? order : compare_bounds(subtype, a.upper, Side::kUpper, b.upper, Side::kUpper);
}

/// The part of both; nullopt: none.
std::optional<RangeValue> common_part(Type subtype, const RangeValue& a, const RangeValue& b) {
  RangeValue part;
  part.lower = compare_bounds(subtype, a.lower, Side::kLower, b.lower, Side::kLower) >= 0 ? a.lower : b.lower;
  part.upper = compare_bounds(subtype, a.upper, Side::kUpper, b.upper, Side::kUpper) <= 0 ? a.upper : b.upper;
  if (compare_bounds(subtype, part.lower, Side::kLower, part.upper, Side::kUpper) > 0) return std::nullopt;
  return part;
}

}  // namespace

bool is_range_type(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->subtype != 0;
}
bool is_multirange_type(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->range != 0;
}
Type range_subtype(Oid range) { return Type{type_info(range).subtype}; }
Oid multirange_over(Oid range) { return type_info(range).multirange; }
Oid range_in(Oid multirange) { return type_info(multirange).range; }
std::vector<Oid> all_range_types() {
  std::vector<Oid> ranges;
  for (const TypeInfo& type : all_types()) {
    if (type.subtype != 0) ranges.push_back(type.oid);
  }
  return ranges;
}

RangeValue make_range(Oid range, RangeBound lower, RangeBound upper) {
  const Type subtype = range_subtype(range);
  const RangeValue empty{true, {}, {}};
  const auto is_empty = [&] {
    if (!lower.value || !upper.value) return false;
    const int order = compare(subtype, *lower.value, *upper.value);
    if (order > 0) throw SqlError(sqlstate::kDataException, "range lower bound must be less than or equal to range upper bound");
    return order == 0 && !(lower.inclusive && upper.inclusive);
  };
  lower.inclusive = lower.inclusive && lower.value;
  upper.inclusive = upper.inclusive && upper.value;
  if (is_empty()) return empty;
  if (is_discrete(range)) {
    const auto is_finite = [&](const RangeBound& bound) {
      return bound.value && (subtype.oid != oid::kDate || is_finite_date(std::get<std::int32_t>(*bound.value)));
    };
    if (is_finite(lower) && !lower.inclusive) step(subtype.oid, *lower.value), lower.inclusive = true;
    if (is_finite(upper) && upper.inclusive) step(subtype.oid, *upper.value), upper.inclusive = false;
    if (is_empty()) return empty;
  }
  return {false, std::move(lower), std::move(upper)};
}

RangeValue parse_range(Oid range, std::string_view text, const SessionSettings& settings, Now now) {
  return RangeReader(range, text, settings, now).read();
}

RangeSet parse_multirange(Oid multirange, std::string_view text, const SessionSettings& settings, Now now) {
  const auto fail = [&](std::string detail) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("malformed multirange literal: \"{}\"", text)).detail(std::move(detail));
  };
  const Oid range = range_in(multirange);
  std::size_t at = 0;
  const auto skip_space = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
    if (at >= text.size()) fail("Unexpected end of input.");
  };
  while (at < text.size() && is_blank(text[at])) ++at;
  if (at >= text.size() || text[at] != '{') fail("Missing left brace.");
  ++at;
  std::vector<RangeValue> ranges;
  skip_space();
  for (bool first = true; !(first && text[at] == '}'); first = false) {
    const std::size_t begin = at;
    if (has_empty_word(text, at)) {
      at += 5;
    } else if (text[at] == '[' || text[at] == '(') {
      bool quoted = false;
      for (++at; quoted || at >= text.size() || (text[at] != ']' && text[at] != ')'); ++at) {
        const bool escaped = at < text.size() && text[at] == '\\';
        if (escaped) ++at;
        if (at >= text.size()) fail("Unexpected end of input.");
        if (text[at] == '"' && !escaped) quoted = !quoted;
      }
      ++at;
    } else {
      fail("Expected range start.");
    }
    ranges.push_back(parse_range(range, text.substr(begin, at - begin), settings, now));
    skip_space();
    if (text[at] == '}') break;
    if (text[at] != ',') fail("Expected comma or end of multirange.");
    ++at;
    skip_space();
  }
  ++at;
  while (at < text.size() && is_blank(text[at])) ++at;
  if (at < text.size()) fail("Junk after closing right brace.");
  return normalize(range_subtype(range), std::move(ranges));
}

void append_range(Oid range, const RangeValue& value, const SessionSettings& settings, std::string& out) {
  if (value.empty) {
    out += "empty";
    return;
  }
  const Type subtype = range_subtype(range);
  out += value.lower.inclusive ? '[' : '(';
  append_bound(subtype, value.lower, settings, out);
  out += ',';
  append_bound(subtype, value.upper, settings, out);
  out += value.upper.inclusive ? ']' : ')';
}

void append_multirange(Oid multirange, const RangeSet& value, const SessionSettings& settings, std::string& out) {
  out += '{';
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i > 0) out += ',';
    append_range(range_in(multirange), value[i], settings, out);
  }
  out += '}';
}

RangeSet read_ranges(Oid type, std::string_view text) {
  if (is_multirange_type(type)) return parse_multirange(type, text, {});
  RangeValue range = parse_range(type, text, {});
  if (range.empty) return {};
  return {std::move(range)};
}

std::string ranges_text(Oid type, const RangeSet& ranges) {
  std::string text;
  if (is_multirange_type(type)) {
    append_multirange(type, ranges, {}, text);
  } else {
    append_range(type, ranges.empty() ? RangeValue{true, {}, {}} : ranges[0], {}, text);
  }
  return text;
}

int compare_bounds(Type subtype, const RangeBound& a, Side side_a, const RangeBound& b, Side side_b) {
  const auto infinity = [](const RangeBound& bound, Side side) { return bound.value ? 0 : side == Side::kLower ? -1 : 1; };
  if (!a.value || !b.value) return infinity(a, side_a) - infinity(b, side_b);
  const int order = compare(subtype, *a.value, *b.value);
  return order != 0 ? order : nudge(a, side_a) - nudge(b, side_b);
}

int compare_ranges(Oid type, std::string_view a, std::string_view b) {
  const Type subtype = range_subtype(is_multirange_type(type) ? range_in(type) : type);
  const RangeSet left = read_ranges(type, a), right = read_ranges(type, b);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (const int order = compare_one(subtype, left[i], right[i]); order != 0) return order;
  }
  return (left.size() > right.size()) - (left.size() < right.size());
}

bool touches(Type subtype, const RangeValue& a, const RangeValue& b) {
  if (!a.upper.value || !b.lower.value || compare(subtype, *a.upper.value, *b.lower.value) != 0) return false;
  return a.upper.inclusive != b.lower.inclusive;
}

RangeSet normalize(Type subtype, std::vector<RangeValue> ranges) {
  std::erase_if(ranges, [](const RangeValue& range) { return range.empty; });
  std::ranges::stable_sort(ranges, [&](const RangeValue& a, const RangeValue& b) { return compare_one(subtype, a, b) < 0; });
  RangeSet result;
  for (RangeValue& range : ranges) {
    if (!result.empty()) {
      RangeValue& last = result.back();
      const bool overlaps = compare_bounds(subtype, range.lower, Side::kLower, last.upper, Side::kUpper) <= 0;
      if (overlaps || touches(subtype, last, range)) {
        if (compare_bounds(subtype, range.upper, Side::kUpper, last.upper, Side::kUpper) > 0) last.upper = std::move(range.upper);
        continue;
      }
    }
    result.push_back(std::move(range));
  }
  return result;
}

RangeSet intersection(Type subtype, const RangeSet& a, const RangeSet& b) {
  RangeSet result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (std::optional<RangeValue> part = common_part(subtype, a[i], b[j])) result.push_back(*std::move(part));
    if (compare_bounds(subtype, a[i].upper, Side::kUpper, b[j].upper, Side::kUpper) < 0) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

RangeSet difference(Type subtype, const RangeSet& a, const RangeSet& b) {
  RangeSet result;
  for (RangeValue rest : a) {
    bool left = true;
    for (const RangeValue& cut : b) {
      if (!common_part(subtype, rest, cut)) continue;
      if (compare_bounds(subtype, rest.lower, Side::kLower, cut.lower, Side::kLower) < 0) {
        result.push_back({false, rest.lower, {cut.lower.value, !cut.lower.inclusive}});
      }
      left = compare_bounds(subtype, rest.upper, Side::kUpper, cut.upper, Side::kUpper) > 0;
      if (!left) break;
      rest.lower = {cut.upper.value, !cut.upper.inclusive};
    }
    if (left) result.push_back(std::move(rest));
  }
  return result;
}

}  // namespace redquel::sql
