// pg_settings_get_flags(): what is special about run-time parameters (manual 9.26.4).

#include "sql/ascii.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

struct FlaggedSettings {
  Text flags;  // the text of the array
  Text names;  // between blanks, one before the first and one behind the last; a star stands for any end
};
constexpr FlaggedSettings kFlaggedSettings[] = {
    {"{EXPLAIN}",
     " constraint_exclusion cpu_* cursor_tuple_fraction effective_cache_size effective_io_concurrency enable_* from_collapse_limit geqo "
     "geqo_* hash_mem_multiplier jit jit_above_cost jit_inline_above_cost jit_optimize_above_cost join_collapse_limit "
     "maintenance_io_concurrency max_parallel_workers max_parallel_workers_per_gather min_parallel_index_scan_size "
     "min_parallel_table_scan_size parallel_* plan_cache_mode random_page_cost recursive_worktable_factor search_path seq_page_cost "
     "temp_buffers work_mem "},
    {"{EXPLAIN,NOT_IN_SAMPLE}", " force_parallel_mode "},
    {"{NOT_IN_SAMPLE}",
     " allow_in_place_tablespaces allow_system_table_mods application_name backtrace_functions block_size debug_discard_caches "
     "ignore_checksum_failure in_hot_standby integer_datetimes jit_dump_bitcode jit_expressions jit_tuple_deforming lc_collate lc_ctype "
     "max_function_args max_identifier_length max_index_keys server_encoding server_version server_version_num trace_notify trace_sort "
     "wal_consistency_checking zero_damaged_pages "},
    {"{NO_RESET_ALL,NOT_IN_SAMPLE}", " transaction_deferrable transaction_isolation transaction_read_only "},
    {"{NO_RESET_ALL,NO_SHOW_ALL,NOT_IN_SAMPLE}", " is_superuser role seed session_authorization "},
};

bool lists(Text names, const std::string& name) {
  if (names.find(" " + name + " ") != Text::npos) return true;
  const std::size_t underscore = name.find('_');
  return underscore != std::string::npos && names.find(" " + name.substr(0, underscore + 1) + "* ") != Text::npos;
}

/// NULL for what is no parameter.
bool flags_of_setting(Context context, Text written, std::string& out) {
  std::string name;
  for (const char c : written) name += to_lower(c);
  if (context.show == nullptr || context.show(context.session, name) == nullptr) return false;
  out = "{}";
  for (const FlaggedSettings& group : kFlaggedSettings) {
    if (lists(group.names, name)) out = group.flags;
  }
  return true;
}

}  // namespace

std::vector<ScalarFunction> setting_flag_functions() {
  return {scalar<flags_of_setting>("pg_settings_get_flags", {kText}, Type{oid::kTextArray}, kStable)};
}

}  // namespace redquel::sql
