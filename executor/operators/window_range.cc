#include "executor/operators/window_range.h"

#include <utility>

#include "sql/error.h"
#include "sql/functions/range_distance.h"
#include "sql/types/time_zone.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

RangeEdge::RangeEdge(sql::ColumnPtr values, const planner::SortKey& key, bool preceding, bool is_end)
    : values_(std::move(values)),
      nulls_first_(key.nulls_first),
      is_end_(is_end),
      subtract_(preceding != key.descending),
      less_(is_end != key.descending) {}

RowNumber RangeEdge::find(RowNumber row, RowNumber partition_begin, RowNumber partition_end) {
  if (partition_ != partition_begin) {
    partition_ = partition_begin;
    found_ = partition_begin;
  }
  const bool null = values_->is_null(row);
  for (; found_ < partition_end; ++found_) {
    const bool found_null = values_->is_null(found_);
    if (null || found_null) {
      // Only the place of the NULLs decides.
      const bool stop = is_end_ ? (nulls_first_ ? !found_null : !null)
                                : (nulls_first_ ? !found_null || null : found_null || !null);
      if (stop) break;
    } else if (in_range(found_, row, subtract_, less_) != is_end_) {
      break;
    }
  }
  return found_;
}

namespace {

/// A type's values and what in_range says of two of them.
template <class Rule>
class Edge final : public RangeEdge {
 public:
  Edge(Rule rule, sql::ColumnPtr values, const planner::SortKey& key, bool preceding, bool is_end)
      : RangeEdge(std::move(values), key, preceding, is_end), rule_(std::move(rule)) {}

 private:
  bool in_range(RowNumber row, RowNumber base, bool subtract, bool less) const override {
    return rule_.in_range(rule_.read(*values_, row), rule_.read(*values_, base), subtract, less);
  }

  Rule rule_;
};

sql::Int128 integer_of(const sql::Datum& offset) {
  if (const auto* two = std::get_if<std::int16_t>(&offset)) return *two;
  if (const auto* four = std::get_if<std::int32_t>(&offset)) return *four;
  return std::get<std::int64_t>(offset);
}

}  // namespace

std::unique_ptr<RangeEdge> make_range_edge(sql::ColumnPtr values, const planner::SortKey& key, const sql::Datum& offset,
                                             bool preceding, bool is_end, const sql::EvaluationContext& context) {
  const auto make = [&]<class Rule>(Rule rule) -> std::unique_ptr<RangeEdge> {
    return std::make_unique<Edge<Rule>>(std::move(rule), std::move(values), key, preceding, is_end);
  };
  switch (key.expression->type.oid) {
    case sql::oid::kInt2:
      return make(sql::IntegerRule<std::int16_t>(integer_of(offset)));
    case sql::oid::kInt4:
      return make(sql::IntegerRule<std::int32_t>(integer_of(offset)));
    case sql::oid::kInt8:
      return make(sql::IntegerRule<std::int64_t>(integer_of(offset)));
    case sql::oid::kFloat4:
      return make(sql::FloatRule<float>(std::get<double>(offset)));
    case sql::oid::kFloat8:
      return make(sql::FloatRule<double>(std::get<double>(offset)));
    case sql::oid::kNumeric:
      return make(sql::NumericRule(std::get<sql::Numeric>(offset)));
    case sql::oid::kDate:
      return make(sql::DateRule(std::get<sql::Interval>(offset)));
    case sql::oid::kTimestamp:
      return make(sql::TimestampRule(std::get<sql::Interval>(offset), nullptr));
    case sql::oid::kTimestamptz:
      return make(sql::TimestampRule(std::get<sql::Interval>(offset), &sql::session_zone(*context.settings)));
    case sql::oid::kTime:
      return make(sql::TimeRule(std::get<sql::Interval>(offset)));
    case sql::oid::kTimetz:
      return make(sql::ZonedTimeRule(std::get<sql::Interval>(offset)));
    case sql::oid::kInterval:
      return make(sql::IntervalRule(std::get<sql::Interval>(offset)));
    default:
      throw sql::not_supported("RANGE offset of this type");
  }
}

}  // namespace redquel::executor
