#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

FoundFramework resque_framework(const std::string& prefix) {
  FoundFramework found = found_framework("Resque", "resque", "Resque: queues of jobs under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
  const std::string start = template_literal(prefix);
  proposal.tables.push_back(proposed_table("queue", "set", start + "queues", {proposed_column("queue", "text", {{"role", "member"}})}));
  proposal.tables.push_back(proposed_table("worker", "set", start + "workers", {proposed_column("worker", "text", {{"role", "member"}})}));
  proposal.tables.push_back(list_table("enqueued", start + "queue:{queue}", {"queue"}, "job", "jsonb"));
  proposal.tables.push_back(list_table("failure", start + "failed", {}, "failure", "jsonb"));
  proposal.tables.push_back(list_table("delayed", start + "delayed:{run_at}", {"run_at"}, "job", "jsonb"));
  proposal.tables.push_back(timed_table("delayed_time", start + "delayed_queue_schedule", {}, "run_at", "at"));
  proposal.tables.push_back(proposed_table("stat", "string", start + "stat:{name}",
      {proposed_column("name", "text"), proposed_column("value", "bigint", {{"role", "value"}})}));
  proposal.views.push_back({"jobs",
      "SELECT s.state, s.queue, s.job->>'class' AS class, s.job->'args' AS args, s.at, s.failure->>'failed_at' AS failed_at,\n"
      "  s.failure->>'exception' AS exception, s.failure->>'error' AS failed_reason, s.failure->>'worker' AS worker, s.failure->'backtrace' AS backtrace\n"
      "FROM (\n"
      "  SELECT 'enqueued'::text AS state, e.queue, NULL::timestamptz AS at, e.job, NULL::jsonb AS failure\n"
      "    FROM {queue} q JOIN {enqueued} e ON e.queue = q.queue\n"
      "  UNION ALL SELECT 'delayed', d.job->>'queue', t.at, d.job, NULL FROM {delayed_time} t JOIN {delayed} d ON d.run_at = t.run_at\n"
      "  UNION ALL SELECT 'failed', f.failure->>'queue', NULL, f.failure->'payload', f.failure FROM {failure} f\n"
      ") s",
      "Resque: jobs that are enqueued, delayed (resque-scheduler), or failed"});
  found.owns = [prefix](const KeySample& key) {
    if (!key.key.starts_with(prefix)) return false;
    const std::string_view rest = std::string_view(key.key).substr(prefix.size());
    for (const std::string_view word : {"queues", "workers", "failed", "delayed_queue_schedule", "schedules"}) {
      if (rest == word) return true;
    }
    for (const std::string_view word : {"queue:", "worker:", "stat:", "delayed:", "timestamps:", "workers:", "resque_scheduler", "loner:"}) {
      if (rest.starts_with(word)) return true;
    }
    return false;
  };
  return found;
}

}  // namespace

/// Resque keeps each queue as a list of JSON `<namespace>:queue:<name>` with the members class and args, and their names in
/// `<namespace>:queues`. The namespace is "resque" by default. node-resque writes the same keys.
std::vector<FoundFramework> recognise_resque(std::span<const KeySample> keys) {
  std::set<std::string> prefixes;
  for (const KeySample& key : keys) {
    const std::string_view first = first_part(key);
    const bool is_job = has_members(first, {"class", "args"}) && !has_members(first, {"jid"});
    const std::size_t queue = key.key.find(":queue:");
    if (key.type == "list" && is_job && queue != std::string::npos) prefixes.insert(key.key.substr(0, queue + 1));
    const bool is_failure = has_members(first, {"payload", "exception", "error", "queue", "failed_at"});
    if (key.type == "list" && is_failure && key.key.ends_with(":failed")) prefixes.insert(key.key.substr(0, key.key.rfind(':') + 1));
  }
  std::vector<FoundFramework> found;
  for (const std::string& prefix : prefixes) found.push_back(resque_framework(prefix));
  return found;
}

}  // namespace redquel::sql
