#include <set>

#include "sql/discovery/frameworks/bull_jobs.h"
#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

/// BullMQ (npm bullmq) writes a hash `<prefix>:<queue>:meta` for each queue; its field `version` begins with "bullmq". Older versions write
/// only the field `opts.maxLenEvents`.
std::vector<FoundFramework> recognise_bullmq(std::span<const KeySample> keys) {
  constexpr BullVariant kBullMq{"BullMQ", "bullmq", true};
  std::set<std::string> prefixes;
  for (const KeySample& key : keys) {
    if (!key.key.ends_with(":meta")) continue;
    const std::string_view version = field_of(key, "version").value_or("");
    if (version.starts_with("bullmq") || field_of(key, "opts.maxLenEvents")) prefixes.insert(bull_prefix(key.key));
  }
  prefixes.erase("");
  std::vector<FoundFramework> found;
  for (const std::string& prefix : prefixes) found.push_back(bull_framework(kBullMq, prefix));
  return found;
}

}  // namespace redquel::sql
