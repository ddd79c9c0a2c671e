#include "sql/privileges/permission_errors.h"

#include <fmt/format.h>

#include "sql/sqlstate.h"

namespace redquel::sql {

SqlError permission_denied(std::string_view kind, std::string_view name) {
  return SqlError(sqlstate::kInsufficientPrivilege, fmt::format("permission denied for {} {}", kind, name));
}

}  // namespace redquel::sql
