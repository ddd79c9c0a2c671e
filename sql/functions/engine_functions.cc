#include "sql/functions/families.h"

namespace redquel::sql {

// Functions in FROM whose rows only the executor can get, by asking Redis: they have no `open` (executor/tables/engine_functions.h).
std::vector<TableFunction> engine_functions() {
  return {
      {"redquel.check_indexes",
       {oid::kText},
       {{"structure", oid::kText}, {"key", oid::kText}, {"id", oid::kText}, {"stored", oid::kText}, {"expected", oid::kText}},
       nullptr},
  };
}

}  // namespace redquel::sql
