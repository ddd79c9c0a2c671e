#include "sql/statistics.h"

namespace redquel::sql {

namespace {

StatisticsHooks known_statistics;

}  // namespace

const StatisticsHooks& statistics_hooks() { return known_statistics; }
void set_statistics_hooks(const StatisticsHooks& hooks) { known_statistics = hooks; }

}  // namespace redquel::sql
