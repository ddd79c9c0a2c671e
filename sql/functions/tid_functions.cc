// tid: comparison, min and max.

#include "sql/functions/families.h"
#include "sql/functions/ordered_numbers.h"
#include "sql/types/type_oids.h"

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
