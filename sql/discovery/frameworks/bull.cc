#include <set>

#include "sql/discovery/frameworks/bull_jobs.h"
#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

/// Bull (npm bull) keeps jobs as BullMQ does, without the hash `<prefix>:<queue>:meta`. Each job has the field `delay` from the start.
std::vector<FoundFramework> recognise_bull(std::span<const KeySample> keys) {
  constexpr BullVariant kBull{"Bull", "bull", false};
  std::set<std::string> prefixes;
  for (const KeySample& key : keys) {
    const auto last = split_last(key.key, ':');
    const bool is_number = last && !last->second.empty() && last->second.find_first_not_of("0123456789") == std::string_view::npos;
    if (is_number && is_bull_job(key) && has_fields(key, {"delay"})) prefixes.insert(bull_prefix(key.key));
  }
  // A job of a repeated one has the key <prefix>:<queue>:repeat:<scheduler>:<time>.
  std::erase_if(prefixes, [](const std::string& prefix) { return prefix.empty() || prefix.ends_with(":repeat"); });
  std::vector<FoundFramework> found;
  for (const std::string& prefix : prefixes) found.push_back(bull_framework(kBull, prefix));
  return found;
}

}  // namespace redquel::sql
