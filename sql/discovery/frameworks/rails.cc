#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::string_view kPrivateId = "2::";  // Rack's mark of the hash of a session id
constexpr std::size_t kPrivateDigits = 64;
constexpr std::string_view kCacheSession = "_session_id:";

/// Returns true if the text begins as an entry of ActiveSupport's cache: of Rails to 6.1, of 7.0 (plain, compressed), of 7.1 and later.
bool is_rails_entry(std::string_view text) {
  constexpr std::string_view k61("\x04\x08o: ActiveSupport::Cache::Entry"), k70("\0\x04\x08[", 4), k70Compressed("\x01x\x9c"), k71("\0\x11", 2);
  return text.starts_with(k61) || text.starts_with(k70) || text.starts_with(k70Compressed) || text.starts_with(k71);
}

bool is_marshalled_hash(std::string_view text) { return text.starts_with("\x04\x08{"); }

/// Returns what stands before the id of a session; empty: the key has another form.
std::string rails_session_prefix(std::string_view key) {
  if (key.size() <= kPrivateDigits + kPrivateId.size()) return "";
  const std::string_view digits = key.substr(key.size() - kPrivateDigits), before = key.substr(0, key.size() - kPrivateDigits);
  if (!before.ends_with(kPrivateId) || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return "";
  return std::string(before.substr(0, before.size() - kPrivateId.size()));
}

FoundFramework rails_cache(const std::string& prefix, bool has_sessions) {
  FoundFramework found = found_framework("Rails", "rails", "Rails: cache" + std::string(has_sessions ? " and sessions" : "") + " under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
  proposal.tables.push_back(proposed_table("entry", "string", template_literal(prefix) + "{key:*}",
      {proposed_column("key", "text"), proposed_column("value", "bytea", {{"role", "value"}})}));
  proposal.views.push_back({"cache", "SELECT key, value, ttl FROM {entry}", "Rails: cached values as Ruby serialized them, with their seconds to live"});
  if (has_sessions) {
    const std::size_t start = kCacheSession.size() + kPrivateId.size();
    proposal.views.push_back({"sessions", fmt::format("SELECT substr(key, {}) AS private_id, value, ttl FROM {{entry}} WHERE substr(key, 1, {}) = '{}{}'", start + 1, start,
                                                      kCacheSession, kPrivateId),
                              "Rails: sessions as Ruby serialized them, with their seconds to live"});
  }
  found.owns = [prefix](const KeySample& key) { return key.type == "string" && key.key.starts_with(prefix) && is_rails_entry(first_part(key)); };
  return found;
}

FoundFramework rails_sessions(const std::string& prefix) {
  FoundFramework found = found_framework("Rails", "rails_session", "Rails: sessions under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
  proposal.tables.push_back(proposed_table("session", "string", template_literal(prefix) + std::string(kPrivateId) + "{private_id}",
      {proposed_column("private_id", "text"), proposed_column("value", "bytea", {{"role", "value"}})}));
  proposal.views.push_back({"sessions", "SELECT private_id, value, ttl FROM {session}", "Rails: sessions as Ruby serialized them, with their seconds to live"});
  found.owns = [prefix](const KeySample& key) { return key.type == "string" && !prefix.empty() && rails_session_prefix(key.key) == prefix; };
  return found;
}

}  // namespace

/// Rails keeps an entry of its cache as a string `<namespace>:<key>`, serialized by Ruby, and a session as a string `<prefix>2::<hash of the id>`:
/// in the cache or, by other session stores, apart from it. A cache without a namespace is not recognised.
std::vector<FoundFramework> recognise_rails(std::span<const KeySample> keys) {
  std::set<std::string> caches, sessions;
  for (const KeySample& key : keys) {
    if (key.type != "string") continue;
    const std::string_view text = first_part(key);
    const std::string session = rails_session_prefix(key.key);
    if (!session.empty() && (is_rails_entry(text) || is_marshalled_hash(text))) {
      sessions.insert(session);
      continue;
    }
    const std::size_t colon = key.key.find(':');
    if (is_rails_entry(text) && colon != std::string::npos && colon > 0 && colon + 1 < key.key.size()) caches.insert(key.key.substr(0, colon + 1));
  }
  std::vector<FoundFramework> found;
  for (const std::string& prefix : caches) found.push_back(rails_cache(prefix, sessions.contains(prefix + std::string(kCacheSession))));
  for (const std::string& prefix : sessions) {
    const bool is_cached = std::ranges::any_of(caches, [&](const std::string& cache) { return prefix.starts_with(cache); });
    if (!is_cached) found.push_back(rails_sessions(prefix));
  }
  return found;
}

}  // namespace redquel::sql
