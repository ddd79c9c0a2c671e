#include "server/error_routine.h"

#include <algorithm>
#include <array>

namespace redquel::server {

namespace {

struct Routine {
  std::string_view sqlstate, begin, end;  // of the message
  std::string_view name;
};

// Drivers prepare a statement again after these errors.
constexpr std::array<Routine, 3> kRoutines = {{
    {"0A000", "cached plan must not", " change result type", "RevalidateCachedQuery"},
    {"26000", "prepared statement \"", "\" does not exist", "FetchPreparedStatement"},
    {"42804", "column \"", "", "transformAssignedExpr"},
}};

}  // namespace

std::string_view error_routine(const sql::SqlError& error) {
  const std::string_view message = error.what();
  const auto found = std::ranges::find_if(kRoutines, [&](const Routine& routine) {
    return error.sqlstate() == routine.sqlstate && message.starts_with(routine.begin) && message.ends_with(routine.end);
  });
  return found == kRoutines.end() ? std::string_view() : found->name;
}

}  // namespace redquel::server
