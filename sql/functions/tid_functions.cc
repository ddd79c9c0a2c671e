// tid: comparison, min and max.

#include "sql/functions/more_families.h"
#include "sql/functions/ordered_numbers.h"
#include "sql/types/more_types.h"

namespace redquel::sql {

std::vector<ScalarFunction> tid_functions() {
  std::vector<ScalarFunction> table;
  add_number_order(table, kTid);
  return table;
}

std::vector<AggregateFunction> tid_aggregates() {
  std::vector<AggregateFunction> table;
  add_number_extremes(table, kTid);
  return table;
}

}  // namespace redquel::sql
