#include "executor/ddl/vacuum_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

constexpr std::array<std::string_view, 2> kOfBoth{"verbose", "skip_locked"};
constexpr std::array<std::string_view, 7> kOfVacuum{"analyze", "freeze", "full", "disable_page_skipping", "process_toast", "truncate", "index_cleanup"};

bool is_on(const ast::Option& option) {
  const auto refuse = [&] { return SqlError(sqlstate::kSyntaxError, fmt::format("{} requires a Boolean value", option.name)); };
  if (std::holds_alternative<std::monostate>(option.value)) return true;
  if (const auto* flag = std::get_if<bool>(&option.value)) return *flag;
  if (const auto* number = std::get_if<std::int64_t>(&option.value); number != nullptr && (*number == 0 || *number == 1)) return *number == 1;
  const auto* word = std::get_if<std::string>(&option.value);
  if (word == nullptr) throw refuse();
  if (*word == "true" || *word == "on") return true;
  if (*word == "false" || *word == "off") return false;
  throw refuse();
}

std::int64_t workers(const ast::Option& option) {
  if (std::holds_alternative<std::monostate>(option.value)) {
    throw SqlError(sqlstate::kSyntaxError, "parallel option requires a value between 0 and 1024").at(option.offset);
  }
  const auto* count = std::get_if<std::int64_t>(&option.value);
  if (count == nullptr) throw SqlError(sqlstate::kSyntaxError, "parallel requires an integer value");
  if (*count < 0 || *count > 1024) {
    throw SqlError(sqlstate::kSyntaxError, "parallel workers for vacuum must be between 0 and 1024").at(option.offset);
  }
  return *count;
}

}  // namespace

void check_vacuum_options(const ast::Vacuum& statement) {
  bool full = false, analyze = statement.analyze_only, skips_pages = true, processes_toast = true;
  std::int64_t parallel = 0;
  for (const ast::Option& option : statement.options) {
    if (std::ranges::find(kOfBoth, option.name) != kOfBoth.end()) {
      is_on(option);
      continue;
    }
    if (statement.analyze_only) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized ANALYZE option \"{}\"", option.name)).at(option.offset);
    }
    if (option.name == "parallel") {
      parallel = workers(option);
      continue;
    }
    if (std::ranges::find(kOfVacuum, option.name) == kOfVacuum.end()) {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("unrecognized VACUUM option \"{}\"", option.name)).at(option.offset);
    }
    const auto* word = std::get_if<std::string>(&option.value);
    const bool is_auto = option.name == "index_cleanup" && word != nullptr && *word == "auto";
    const bool on = is_auto || is_on(option);
    if (option.name == "full") full = on;
    if (option.name == "analyze") analyze = on;
    if (option.name == "disable_page_skipping") skips_pages = !on;
    if (option.name == "process_toast") processes_toast = on;
  }
  if (full && parallel > 0) throw SqlError(sqlstate::kFeatureNotSupported, "VACUUM FULL cannot be performed in parallel");
  const bool names_columns = std::ranges::any_of(statement.relations, [](const ast::VacuumRelation& listed) { return !listed.columns.empty(); });
  if (names_columns && !analyze) throw SqlError(sqlstate::kFeatureNotSupported, "ANALYZE option must be specified when a column list is provided");
  if (full && !skips_pages) throw SqlError(sqlstate::kFeatureNotSupported, "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL");
  if (full && !processes_toast) throw SqlError(sqlstate::kFeatureNotSupported, "PROCESS_TOAST required with VACUUM FULL");
}

}  // namespace redquel::executor
