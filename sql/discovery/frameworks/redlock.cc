#include <algorithm>
#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

/// Returns true if the value is a random token of Redlock: 32 or 40 hexadecimal digits.
bool is_token(std::string_view text) {
  return (text.size() == 32 || text.size() == 40) && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Returns the prefix of a lock's key: its first words, one of which is lock or locks; empty: the key has another form.
std::string lock_prefix(std::string_view key) {
  for (const std::string_view word : {"lock:", "locks:", "redlock:"}) {
    const bool at_start = key.starts_with(word);
    const std::size_t at = at_start ? 0 : key.find(":" + std::string(word));
    if (at == std::string_view::npos) continue;
    const std::size_t end = at + word.size() + (at_start ? 0 : 1);
    if (end < key.size()) return std::string(key.substr(0, end));
  }
  return "";
}

}  // namespace

/// Redlock keeps a lock as a string that expires, with a random token as value. The names of its keys are the application's.
std::vector<FoundFramework> recognise_redlock(std::span<const KeySample> keys) {
  std::set<std::string> prefixes;
  for (const KeySample& key : keys) {
    if (key.type == "string" && key.expires && is_token(first_part(key))) prefixes.insert(lock_prefix(key.key));
  }
  prefixes.erase("");
  std::vector<FoundFramework> all;
  for (const std::string& prefix : prefixes) {
    FoundFramework found = found_framework("Redlock", "redlock", "Redlock: locks under the prefix " + prefix);
    found.proposal.tables.push_back(proposed_table("lock", "string", template_literal(prefix) + "{resource:*}",
        {proposed_column("resource", "text"), proposed_column("token", "text", {{"role", "value"}})}));
    found.proposal.views.push_back({"locks", "SELECT resource, token, ttl FROM {lock}", "Redlock: locks that are held, with the seconds until they end"});
    found.owns = [prefix](const KeySample& key) { return key.type == "string" && key.expires && key.key.starts_with(prefix) && is_token(first_part(key)); };
    all.push_back(std::move(found));
  }
  return all;
}

}  // namespace redquel::sql
