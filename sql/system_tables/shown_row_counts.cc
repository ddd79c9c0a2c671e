#include "sql/system_tables/shown_row_counts.h"

namespace redquel::sql {

namespace {

thread_local const ShownRowCounts::Counts* shown_row_counts = nullptr;

}  // namespace

ShownRowCounts::ShownRowCounts(const Counts& counts) { shown_row_counts = &counts; }
ShownRowCounts::~ShownRowCounts() { shown_row_counts = nullptr; }

std::optional<std::size_t> ShownRowCounts::column_of(std::string_view system_table) {
  constexpr std::size_t kRelTuples = 10, kLiveTuples = 11;
  if (system_table == "pg_class") return kRelTuples;
  if (system_table == "pg_stat_user_tables" || system_table == "pg_stat_all_tables") return kLiveTuples;
  return std::nullopt;
}

std::int64_t ShownRowCounts::of(Oid table) {
  if (shown_row_counts == nullptr) return -1;
  const auto found = shown_row_counts->find(table);
  return found == shown_row_counts->end() ? -1 : found->second;
}

}  // namespace redquel::sql
