#pragma once

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

/// 42P10: no unique index has the columns of ON CONFLICT. PostgreSQL looks for it when the statement runs, so a function whose body has the
/// statement may be created before the index.
class MissingArbiter final : public sql::SqlError {
 public:
  MissingArbiter()
      : SqlError(sqlstate::kInvalidColumnReference, "there is no unique or exclusion constraint matching the ON CONFLICT specification") {}
};

}  // namespace redquel::planner
