#include "executor/tables/entry_ranges.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "executor/tables/key_values.h"
#include "sql/ascii.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/datetime.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kDigits = 13;  // of milliseconds since 1970, from 2001 to 2286

std::optional<sql::Datum> value_of(const planner::MappedScan& scan, const planner::RangeBound& bound, const sql::EvaluationContext& context) {
  const sql::Type type = scan.read.table->find_column(scan.ordered_by)->type;
  return to_column_value(type, bound.value->type, sql::evaluate_scalar(*bound.value, context));
}

/// Returns the milliseconds since 1970 of a value of the time's column.
std::int64_t milliseconds(const planner::MappedScan& scan, const sql::Datum& value) {
  constexpr std::int64_t kPerMillisecond = 1000, kEpoch = sql::kEpochUnixSeconds * 1000;
  const auto number = std::get<std::int64_t>(value);
  if (scan.read.table->find_column(scan.ordered_by)->type.oid == sql::oid::kInt8) return number;
  return number / kPerMillisecond - (number % kPerMillisecond < 0 ? 1 : 0) + kEpoch;
}

std::optional<std::vector<EntryRange>> ranges_of_times(const planner::MappedScan& scan, const sql::EvaluationContext& context) {
  EntryRange range;
  if (scan.lower) {
    const auto value = value_of(scan, *scan.lower, context);
    if (!value) return std::nullopt;
    range.first = std::to_string(std::max<std::int64_t>(milliseconds(scan, *value), 0));
  }
  if (scan.upper) {
    const auto value = value_of(scan, *scan.upper, context);
    if (!value) return std::nullopt;
    const std::int64_t last = milliseconds(scan, *value);
    if (last < 0) return std::vector<EntryRange>();
    range.last = std::to_string(last);
  }
  return std::vector<EntryRange>{range};
}

/// Returns the milliseconds that an id of our time begins with; empty: it is none.
std::string milliseconds_of_id(std::string_view id) {
  const bool has_digits = id.size() >= kDigits && std::ranges::all_of(id.substr(0, kDigits), sql::is_digit) && id.front() != '0';
  return has_digits && (id.size() == kDigits || id[kDigits] == '-') ? std::string(id.substr(0, kDigits)) : std::string();
}

/// Ids are compared as texts. Those whose milliseconds have as many digits are in the order of the stream; the others are read, too.
std::optional<std::vector<EntryRange>> ranges_of_ids(const planner::MappedScan& scan, const sql::EvaluationContext& context) {
  EntryRange same{"1" + std::string(kDigits - 1, '0'), std::string(kDigits, '9')};
  const EntryRange before{"-", std::string(kDigits - 1, '9')}, behind{"1" + std::string(kDigits, '0'), "+"};
  for (const auto& [bound, end] : {std::pair(&scan.lower, &same.first), std::pair(&scan.upper, &same.last)}) {
    if (!*bound) continue;
    const auto value = value_of(scan, **bound, context);
    if (!value) return std::nullopt;
    *end = milliseconds_of_id(std::get<std::string>(*value));
    if (end->empty()) return std::nullopt;
  }
  return std::vector<EntryRange>{before, same, behind};
}

}  // namespace

std::optional<std::vector<EntryRange>> entry_ranges(const planner::MappedScan& scan, const sql::EvaluationContext& context) {
  if (scan.read.table->mapping().layout != sql::Mapping::Layout::kStream || (!scan.lower && !scan.upper)) return std::nullopt;
  if (scan.read.table->mapping().column(scan.ordered_by).role == sql::Mapping::Role::kId) return ranges_of_ids(scan, context);
  const bool is_date = scan.read.table->find_column(scan.ordered_by)->type.oid == sql::oid::kDate;
  return is_date ? std::nullopt : ranges_of_times(scan, context);
}

}  // namespace redquel::executor
