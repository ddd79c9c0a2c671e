#pragma once

#include <fmt/format.h>

#include <string_view>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

/// A value that a writing statement had read was changed before its writes arrived; nothing was written. The engine runs it again.
struct WriteConflict {};

/// 40001: a statement or transaction cannot go on after what another has done. `what`: "update", "change of the table's definition" …
inline sql::SqlError serialization_failure(std::string_view what) {
  return sql::SqlError(sqlstate::kSerializationFailure, fmt::format("could not serialize access due to concurrent {}", what))
      .hint("The transaction might succeed if retried.");
}

}  // namespace redquel::executor
