#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "sql/discovery/frameworks/framework_parts.h"
#include "sql/discovery/template_names.h"

namespace redquel::sql {

namespace {

constexpr std::array<std::string_view, 3> kTimedSets = {"schedule", "retry", "dead"};

bool is_sidekiq_job(std::string_view text) { return has_members(text, {"jid", "class", "args"}); }

/// Times in jobs are Unix seconds with a fraction; from Sidekiq 8 on they are milliseconds.
std::string time_of_member(std::string_view member) {
  return fmt::format("to_timestamp(CASE WHEN (job->>'{0}')::float8 > 1e11 THEN (job->>'{0}')::float8 / 1000 ELSE (job->>'{0}')::float8 END) AS {0}", member);
}

/// Hashes `<host>:<pid>:<nonce>:work` (Sidekiq 7; `:workers` before) of running jobs.
struct WorkKeys {
  std::string host, suffix;
  auto operator<=>(const WorkKeys&) const = default;
};

/// Returns the host and the suffix of a hash of running jobs; nullopt: it is none.
std::optional<WorkKeys> work_keys(const KeySample& key, const std::string& prefix) {
  if (key.type != "hash" || !key.key.starts_with(prefix) || key.parts.empty()) return std::nullopt;
  const std::string_view rest = std::string_view(key.key).substr(prefix.size());
  const auto last = split_last(rest, ':');
  if (!last || (last->second != "work" && last->second != "workers") || std::ranges::count(rest, ':') != 3) return std::nullopt;
  if (!has_members(key.parts[0].second, {"queue", "payload", "run_at"})) return std::nullopt;
  const std::string_view host = rest.substr(0, rest.find(':'));
  const bool is_plain = !host.empty() && std::ranges::all_of(host, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_';
  });
  if (!is_plain) return std::nullopt;
  return WorkKeys{std::string(host), std::string(last->second)};
}

/// Adds the running jobs of the hosts. The processes in the set `processes` lead to their hashes.
void add_running(ProposedFramework& proposal, const std::string& start, const std::set<WorkKeys>& works) {
  std::set<std::string> taken;
  std::string query;
  for (const WorkKeys& work : works) {
    const std::string name = unique_name("running_" + column_name(work.host), taken);
    proposal.tables.push_back(proposed_table(name, "hash_fields", start + work.host + ":{pid}:{nonce}:" + work.suffix,
        {proposed_column("pid", "text"), proposed_column("nonce", "text"), proposed_column("tid", "text", {{"role", "field"}}),
         proposed_column("work", "jsonb", {{"role", "value"}})}));
    query += fmt::format(
        "  {}SELECT p.identity AS process, r.tid, r.work FROM {{process}} p JOIN {{{}}} r\n"
        "    ON r.pid = split_part(p.identity, ':', 2) AND r.nonce = split_part(p.identity, ':', 3) WHERE split_part(p.identity, ':', 1) = '{}'\n",
        query.empty() ? "" : "UNION ALL ", name, work.host);
  }
  if (works.empty()) return;
  proposal.views.push_back({"running",
      "SELECT s.process, s.tid, regexp_replace(s.work->>'queue', '^queue:', '') AS queue, s.job->>'jid' AS jid, s.job->>'class' AS class,\n"
      "  s.job->'args' AS args, to_timestamp((s.work->>'run_at')::float8) AS run_at, s.job\n"
      "FROM (SELECT w.process, w.tid, w.work,\n"
      "  CASE jsonb_typeof(w.work->'payload') WHEN 'string' THEN (w.work->>'payload')::jsonb ELSE w.work->'payload' END AS job FROM (\n" +
          query + ") w) s",
      "Sidekiq: jobs that the processes run"});
}

FoundFramework sidekiq_framework(const std::string& prefix, const std::set<WorkKeys>& works) {
  FoundFramework found = found_framework("Sidekiq", "sidekiq", prefix.empty() ? "Sidekiq: queues of jobs" : "Sidekiq: queues of jobs under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
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
  add_running(proposal, start, works);
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
  for (const std::string& prefix : prefixes) {
    std::set<WorkKeys> works;
    for (const KeySample& key : keys) {
      if (auto work = work_keys(key, prefix)) works.insert(*std::move(work));
    }
    found.push_back(sidekiq_framework(prefix, works));
  }
  return found;
}

}  // namespace redquel::sql
