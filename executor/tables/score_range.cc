#include "executor/tables/score_range.h"

#include <cstdlib>

#include "sql/expressions/evaluate.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

using Encoding = planner::OrderedSource::Encoding;

std::optional<ZsetRange> evaluate_range(const sql::TableDef& table, const planner::OrderedSource& source, std::int16_t column,
                                        const std::optional<planner::RangeBound>& lower, const std::optional<planner::RangeBound>& upper,
                                        const sql::EvaluationContext& context) {
  ZsetRange range;
  const bool by_score = source.encoding == Encoding::kScore;
  range.by = by_score ? ZsetRange::By::kScore : ZsetRange::By::kLex;
  range.low = by_score ? "-inf" : "-";
  range.high = by_score ? "+inf" : "+";
  const sql::Type column_type = table.find_column(column)->type;
  for (const auto* bound : {&lower, &upper}) {
    if (!*bound) continue;
    const bool is_lower = bound == &lower;
    const sql::Type type = (*bound)->value->type;
    const sql::Datum value = sql::evaluate_scalar(*(*bound)->value, context);
    if (sql::is_null(value)) return {};
    std::string& end = is_lower ? range.low : range.high;
    if (by_score) {
      // A double may stand for several values: the bound itself is checked again on the rows.
      const bool exclusive = !(*bound)->inclusive && source.exact && type.oid == column_type.oid;
      end = (exclusive ? "(" : "") + sql::ordered_score(type, value);
    } else if (source.encoding == Encoding::kRowKey) {
      end = ((*bound)->inclusive ? "[" : "(") + sql::canonical_text(column_type, value);
    } else {
      // Members of the value itself, or of one that is cut as it is, are checked again.
      const std::string bytes = sql::ordered_member_prefix(column_type, value);
      end = is_lower ? "[" + bytes : "(" + sql::end_of_ordered_members(bytes);
    }
  }
  return range;
}

bool is_between(std::string_view score, const std::string& low, const std::string& high) {
  const auto value_of = [](const std::string& end) { return std::strtod(end.c_str() + (end[0] == '(' ? 1 : 0), nullptr); };
  const double value = std::strtod(std::string(score).c_str(), nullptr), from = value_of(low), to = value_of(high);
  return (low[0] == '(' ? value > from : value >= from) && (high[0] == '(' ? value < to : value <= to);
}

}  // namespace redquel::executor
