#pragma once

#include <string_view>

#include "sql/error.h"

namespace redquel::server {

/// Returns the function of PostgreSQL's source that raises the error, where drivers decide by it; else an empty text.
std::string_view error_routine(const sql::SqlError& error);

}  // namespace redquel::server
