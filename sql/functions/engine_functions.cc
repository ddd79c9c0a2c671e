#include "sql/functions/families.h"

namespace redquel::sql {

// Functions in FROM whose rows only the executor can get, by asking Redis: they have no `open` (executor/tables/engine_functions.h).
std::vector<TableFunction> engine_functions() {
  const decltype(TableFunction::columns) memory_columns = {{"prefix", oid::kText}, {"keys", oid::kInt8}, {"bytes", oid::kInt8}, {"bytes_error", oid::kInt8},
                                                           {"without_ttl", oid::kInt8}, {"sampled", oid::kInt8}, {"keys_error", oid::kInt8}};
  return {
      {"redquel.check_indexes",
       {oid::kText},
       {{"structure", oid::kText}, {"key", oid::kText}, {"id", oid::kText}, {"stored", oid::kText}, {"expected", oid::kText}},
       nullptr},
      {"redquel.cached_tables",
       {},
       {{"schema", oid::kText}, {"table", oid::kText}, {"columns", oid::kText}, {"rows", oid::kInt8}, {"bytes", oid::kInt8}, {"changed_rows", oid::kInt8},
        {"hits", oid::kInt8}, {"misses", oid::kInt8}, {"rounds", oid::kInt8}, {"rows_read_again", oid::kInt8}, {"state", oid::kText}},
       nullptr},
      {"redis.memory_by_prefix", {oid::kInt4}, memory_columns, nullptr},
      {"redis.memory_by_prefix", {oid::kInt4, oid::kFloat8}, memory_columns, nullptr},
  };
}

}  // namespace redquel::sql
