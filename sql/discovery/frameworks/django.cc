#include <fmt/format.h>

#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::string_view kSession = "django.contrib.sessions.cache";

/// Returns the start `<prefix>:<version>:` of a key of Django's cache; empty: the key has another form. The default prefix is empty.
std::string cache_start(std::string_view key) {
  const std::size_t first = key.find(':');
  const std::size_t second = first == std::string_view::npos ? first : key.find(':', first + 1);
  if (second == std::string_view::npos || second + 1 == key.size()) return "";
  const std::string_view version = key.substr(first + 1, second - first - 1);
  return !version.empty() && version.find_first_not_of("0123456789") == std::string_view::npos ? std::string(key.substr(0, second + 1)) : "";
}

/// Returns true if the text begins and ends as Python's pickle does in protocol 2 to 5.
bool is_pickle(std::string_view text) { return text.size() > 3 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5 && text.back() == '.'; }

FoundFramework cache_framework_of_django(const std::string& start, bool has_sessions) {
  FoundFramework found = found_framework("Django", "django", "Django: cache" + std::string(has_sessions ? " and sessions" : "") + " under the prefix " + start);
  ProposedFramework& proposal = found.proposal;
  proposal.tables.push_back(proposed_table("entry", "string", template_literal(start) + "{key:*}",
      {proposed_column("key", "text"), proposed_column("value", "bytea", {{"role", "value"}})}));
  proposal.views.push_back({"cache", "SELECT key, value, ttl FROM {entry}", "Django: cached values, pickled, with their seconds to live"});
  if (has_sessions) {
    proposal.views.push_back({"sessions", fmt::format("SELECT substr(key, {}) AS session_key, value, ttl FROM {{entry}} WHERE key LIKE '{}%'", kSession.size() + 1, kSession),
                              "Django: sessions, pickled, with their seconds to live"});
  }
  found.owns = [start](const KeySample& key) { return key.type == "string" && key.key.starts_with(start); };
  return found;
}

}  // namespace

/// Django's cache keeps a pickled value or a plain integer under `<KEY_PREFIX>:<version>:<key>`; its sessions are values of the cache.
std::vector<FoundFramework> recognise_django(std::span<const KeySample> keys) {
  std::set<std::string> starts, session_starts;
  for (const KeySample& key : keys) {
    if (key.type != "string" || first_part(key).empty()) continue;
    const bool is_whole_pickle = key.is_whole ? is_pickle(first_part(key)) : first_part(key)[0] == '\x80';
    const std::string start = is_whole_pickle ? cache_start(key.key) : "";
    if (start.empty()) continue;
    starts.insert(start);
    if (std::string_view(key.key).substr(start.size()).starts_with(kSession)) session_starts.insert(start);
  }
  std::vector<FoundFramework> found;
  for (const std::string& start : starts) found.push_back(cache_framework_of_django(start, session_starts.contains(start)));
  return found;
}

}  // namespace redquel::sql
