#pragma once

#include <string_view>

#include "sql/error.h"

namespace redquel::sql {

/// Returns 42501 "permission denied for <kind> <name>".
SqlError permission_denied(std::string_view kind, std::string_view name);

}  // namespace redquel::sql
