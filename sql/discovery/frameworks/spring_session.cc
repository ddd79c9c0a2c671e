#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::string_view kSessions = ":sessions:";

FoundFramework spring_framework(const std::string& prefix) {
  FoundFramework found = found_framework("Spring Session", "spring_session", "Spring Session: sessions under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
  const std::string start = template_literal(prefix);
  proposal.tables.push_back(proposed_table("session", "hash", start + ":sessions:{id}",
      {proposed_column("id", "text"), field_column("creation_time", "bytea", "creationTime"), field_column("last_accessed_time", "bytea", "lastAccessedTime"),
       field_column("max_inactive_interval", "bytea", "maxInactiveInterval")}));
  proposal.views.push_back({"sessions", "SELECT id, creation_time, last_accessed_time, max_inactive_interval, ttl FROM {session}",
                            "Spring Session: sessions with values as the application serialized them, and their seconds to live"});
  found.owns = [prefix](const KeySample& key) {
    return key.key.starts_with(prefix + std::string(kSessions)) || key.key.starts_with(prefix + ":expirations") || key.key.starts_with(prefix + ":index:");
  };
  return found;
}

}  // namespace

/// Spring Session keeps a hash `<namespace>:sessions:<id>` for each session, "spring:session" by default. Its values are serialized Java
/// objects by default.
std::vector<FoundFramework> recognise_spring_session(std::span<const KeySample> keys) {
  std::set<std::string> prefixes;
  for (const KeySample& key : keys) {
    const std::size_t at = key.key.rfind(kSessions);
    if (at != std::string::npos && has_fields(key, {"creationTime", "lastAccessedTime", "maxInactiveInterval"})) prefixes.insert(key.key.substr(0, at));
  }
  std::vector<FoundFramework> found;
  for (const std::string& prefix : prefixes) found.push_back(spring_framework(prefix));
  return found;
}

}  // namespace redquel::sql
