#include <algorithm>
#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::string_view kQueues = "queues:";

/// Returns true if the text is a value that PHP's serialize() writes, or a plain integer, which Laravel's cache keeps as it is.
bool is_php_value(std::string_view text) {
  if (text == "N;") return true;
  if (text.size() < 3 || text[1] != ':') return false;
  return contains("aOsibdCE", text.substr(0, 1)) && (text.ends_with(';') || text.ends_with('}'));
}

/// Returns the prefix of a key of Laravel's cache: everything up to `cache` and the separators behind it; empty: it is none.
std::string cache_prefix(std::string_view key) {
  const std::size_t word = key.find("cache");
  if (word == std::string_view::npos) return "";
  std::size_t end = word + 5;
  while (end < key.size() && contains("_:-", key.substr(end, 1))) ++end;
  return end > word + 5 && end < key.size() ? std::string(key.substr(0, end)) : "";
}

/// Returns true if the key's last part is the id of a session: 40 letters and digits.
bool is_session_id(std::string_view text) {
  return text.size() == 40 && std::ranges::all_of(text, [](unsigned char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

FoundFramework queue_framework(const std::string& prefix) {
  FoundFramework found = found_framework("Laravel", "laravel", prefix.empty() ? "Laravel: queues of jobs" : "Laravel: queues of jobs under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
  const std::string queue = template_literal(prefix) + "queues:{queue}";
  proposal.tables.push_back(list_table("pending", queue, {"queue"}, "payload", "jsonb"));
  proposal.tables.push_back(timed_table("delayed", queue + ":delayed", {"queue"}, "payload", "at"));
  proposal.tables.push_back(timed_table("reserved", queue + ":reserved", {"queue"}, "payload", "at"));
  proposal.views.push_back({"jobs",
      "SELECT s.queue, s.state, s.payload->>'id' AS id, s.payload->>'uuid' AS uuid, s.payload->>'displayName' AS name,\n"
      "  (s.payload->>'attempts')::int AS attempts, (s.payload->>'maxTries')::int AS max_tries, s.at, s.payload->'data' AS data, s.payload\n"
      "FROM (\n"
      "  SELECT queue, 'pending'::text AS state, NULL::timestamptz AS at, payload FROM {pending}\n"
      "  UNION ALL SELECT queue, 'delayed', at, payload::jsonb FROM {delayed}\n"
      "  UNION ALL SELECT queue, 'reserved', at, payload::jsonb FROM {reserved}\n"
      ") s",
      "Laravel: jobs of all queues; a reserved one is given back at the time in column at"});
  found.owns = [prefix](const KeySample& key) { return key.key.starts_with(prefix + std::string(kQueues)); };
  return found;
}

FoundFramework cache_framework(const std::string& prefix, bool has_sessions) {
  FoundFramework found = found_framework("Laravel", "laravel_cache", "Laravel: cache under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
  proposal.tables.push_back(proposed_table("entry", "string", template_literal(prefix) + "{key:*}",
      {proposed_column("key", "text"), proposed_column("value", "bytea", {{"role", "value"}})}));
  proposal.views.push_back({"entries", "SELECT key, value, ttl FROM {entry}", "Laravel: cached values as PHP serialized them, with their seconds to live"});
  if (has_sessions) {
    proposal.views.push_back({"sessions", "SELECT key AS id, value, ttl FROM {entry} WHERE length(key) = 40 AND key ~ '^[A-Za-z0-9]+$'",
                              "Laravel: sessions as PHP serialized them, with their seconds to live"});
  }
  found.owns = [prefix](const KeySample& key) { return key.type == "string" && key.key.starts_with(prefix); };
  return found;
}

}  // namespace

/// Laravel keeps a queue as a list of JSON `<prefix>queues:<name>` with the zsets `:delayed` and `:reserved`; its cache and its sessions are
/// strings that PHP serialized.
std::vector<FoundFramework> recognise_laravel(std::span<const KeySample> keys) {
  std::set<std::string> queues, caches, session_caches;
  for (const KeySample& key : keys) {
    const std::size_t word = key.key.find(kQueues);
    const bool is_queue = (key.type == "list" || key.type == "zset") && has_members(first_part(key), {"displayName", "job", "attempts", "data"});
    if (word != std::string::npos && is_queue) queues.insert(key.key.substr(0, word));
    if (key.type != "string" || !is_php_value(first_part(key))) continue;
    const std::string prefix = cache_prefix(key.key);
    if (prefix.empty()) continue;
    caches.insert(prefix);
    if (is_session_id(std::string_view(key.key).substr(prefix.size()))) session_caches.insert(prefix);
  }
  std::vector<FoundFramework> found;
  for (const std::string& prefix : queues) found.push_back(queue_framework(prefix));
  for (const std::string& prefix : caches) found.push_back(cache_framework(prefix, session_caches.contains(prefix)));
  return found;
}

}  // namespace redquel::sql
