#include <algorithm>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

/// rate-limiter-flexible (npm) counts in strings `<keyPrefix>:<key>` that expire, "rlflx" by default.
std::vector<FoundFramework> recognise_rate_limiter(std::span<const KeySample> keys) {
  const auto is_counter = [](const KeySample& key) {
    const std::string_view number = first_part(key);
    return key.type == "string" && key.key.starts_with("rlflx:") && key.key.size() > 6 && !number.empty() &&
           number.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (std::ranges::none_of(keys, is_counter)) return {};
  FoundFramework found = found_framework("rate-limiter-flexible", "rate_limiter", "rate-limiter-flexible: consumed points under the prefix rlflx");
  found.proposal.tables.push_back(proposed_table("counter", "string", "rlflx:{key:*}",
      {proposed_column("key", "text"), proposed_column("points", "bigint", {{"role", "value"}})}));
  found.proposal.views.push_back({"counters", "SELECT key, points, ttl FROM {counter}", "rate-limiter-flexible: consumed points with the seconds until they reset"});
  found.owns = is_counter;
  std::vector<FoundFramework> all;
  all.push_back(std::move(found));
  return all;
}

}  // namespace redquel::sql
