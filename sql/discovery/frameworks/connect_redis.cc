#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

bool is_session(const KeySample& key) { return key.type == "string" && has_members(first_part(key), {"cookie"}) && contains(first_part(key), "\"originalMaxAge\":"); }

FoundFramework session_framework(const std::string& prefix) {
  FoundFramework found = found_framework("connect-redis", "connect_redis", "connect-redis: sessions of express-session under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
  proposal.tables.push_back(proposed_table("session", "string", template_literal(prefix) + "{sid}",
      {proposed_column("sid", "text"), proposed_column("session", "jsonb", {{"role", "value"}})}));
  proposal.views.push_back({"sessions", "SELECT sid, (session->'cookie'->>'expires')::timestamptz AS expires, ttl, session FROM {session}",
                            "connect-redis: sessions with their seconds to live"});
  found.owns = [prefix](const KeySample& key) { return key.key.starts_with(prefix) && is_session(key); };
  return found;
}

}  // namespace

/// connect-redis (npm) keeps a session of express-session as a string of JSON with the member `cookie`, under `sess:` by default.
std::vector<FoundFramework> recognise_connect_redis(std::span<const KeySample> keys) {
  std::set<std::string> prefixes;
  for (const KeySample& key : keys) {
    const auto parts = split_last(key.key, ':');
    if (is_session(key) && parts && !parts->second.empty()) prefixes.insert(std::string(parts->first) + ":");
  }
  std::vector<FoundFramework> found;
  for (const std::string& prefix : prefixes) found.push_back(session_framework(prefix));
  return found;
}

}  // namespace redquel::sql
