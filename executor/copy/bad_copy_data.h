#pragma once

#include <string>
#include <utility>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

/// 22P04: the data of a COPY is not of its format.
inline sql::SqlError bad_copy_data(std::string message) { return sql::SqlError(sqlstate::kBadCopyFileFormat, std::move(message)); }

}  // namespace redquel::executor
