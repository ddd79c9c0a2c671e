#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::array<std::string_view, 3> kTimedSets = {"schedule", "retry", "dead"};

bool is_sidekiq_job(std::string_view text) { return has_members(text, {"jid", "class", "args"}); }

/// Times in jobs are Unix seconds with a fraction; from Sidekiq 8 on they are milliseconds.
std::string time_of_member(std::string_view member) {
  return fmt::format("to_timestamp(CASE WHEN (job->>'{0}')::float8 > 1e11 THEN (job->>'{0}')::float8 / 1000 ELSE (job->>'{0}')::float8 END) AS {0}", member);
}

FoundFramework sidekiq_framework(const std::string& prefix) {
  FoundFramework found;
  ProposedFramework& proposal = found.proposal;
  proposal.name = "Sidekiq";
  proposal.schema = "sidekiq";
  proposal.comment = prefix.empty() ? "Sidekiq: queues of jobs" : "Sidekiq: queues of jobs under the prefix " + prefix;
  const std::string start = template_literal(prefix);
  proposal.tables.push_back(proposed_table("queue", "set", start + "queues", {proposed_column("queue", "text", {{"role", "member"}})}));
  proposal.tables.push_back(list_table("enqueued", start + "queue:{queue}", {"queue"}, "job", "jsonb"));
  for (const std::string_view set : kTimedSets) proposal.tables.push_back(timed_table(std::string(set), start + std::string(set), {}, "job", "at"));
  proposal.tables.push_back(proposed_table("process", "set", start + "processes", {proposed_column("identity", "text", {{"role", "member"}})}));
  proposal.tables.push_back(proposed_table("stat", "string", start + "stat:{name}",
      {proposed_column("name", "text"), proposed_column("value", "bigint", {{"role", "value"}})}));
  proposal.tables.push_back(proposed_table("daily_stat", "string", start + "stat:{name}:{day}",
      {proposed_column("name", "text"), proposed_column("day", "date"), proposed_column("value", "bigint", {{"role", "value"}})}));
  std::string query = "SELECT state, queue, job->>'jid' AS jid, job->>'class' AS class, job->'args' AS args, at,\n  " + time_of_member("created_at") + ",\n  " +
                      time_of_member("enqueued_at") + ",\n  " + time_of_member("failed_at") +
                      ",\n  job->>'error_class' AS error_class, job->>'error_message' AS error_message,"
                      " (job->>'retry_count')::int AS retry_count, job\nFROM (\n"
                      "  SELECT 'enqueued'::text AS state, e.queue, NULL::timestamptz AS at, e.job FROM {queue} q JOIN {enqueued} e ON e.queue = q.queue\n";
  for (const std::string_view set : kTimedSets) {
    query += fmt::format("  UNION ALL SELECT '{}', t.job::jsonb->>'queue', t.at, t.job::jsonb FROM {{{}}} t\n", set == "schedule" ? "scheduled" : set, set);
  }
  proposal.views.push_back({"jobs", query + ") s", "Sidekiq: jobs that are enqueued, scheduled, to be tried again, or dead"});
  found.owns = [prefix](const KeySample& key) {
    if (!key.key.starts_with(prefix)) return false;
    const std::string_view rest = std::string_view(key.key).substr(prefix.size());
    if (rest == "queues" || rest == "processes") return key.type == "set";
    if (rest.starts_with("queue:")) return key.type == "list";
    if (std::ranges::find(kTimedSets, rest) != kTimedSets.end()) return key.type == "zset";
    if (rest.starts_with("stat:processed") || rest.starts_with("stat:failed")) return key.type == "string";
    const bool is_work = rest.ends_with(":workers") || rest.ends_with(":work");
    return has_fields(key, {"info", "busy", "beat"}) || (is_work && key.type == "hash" && std::ranges::count(rest, ':') == 3);
  };
  return found;
}

}  // namespace

/// Sidekiq keeps each queue as a list of JSON `[namespace:]queue:<name>`, and the sets schedule, retry and dead of the same JSON by time.
std::vector<FoundFramework> recognise_sidekiq(std::span<const KeySample> keys) {
  std::set<std::string> prefixes;
  for (const KeySample& key : keys) {
    if (!is_sidekiq_job(first_part(key))) continue;
    const std::size_t queue = key.key.find("queue:");
    if (key.type == "list" && queue != std::string::npos && (queue == 0 || key.key[queue - 1] == ':')) prefixes.insert(key.key.substr(0, queue));
    for (const std::string_view set : kTimedSets) {
      if (key.type == "zset" && key.key.ends_with(set)) prefixes.insert(key.key.substr(0, key.key.size() - set.size()));
    }
  }
  std::erase_if(prefixes, [](const std::string& prefix) { return !prefix.empty() && !prefix.ends_with(':'); });
  std::vector<FoundFramework> found;
  for (const std::string& prefix : prefixes) found.push_back(sidekiq_framework(prefix));
  return found;
}

}  // namespace redquel::sql
