#include <algorithm>
#include <array>
#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::array<std::string_view, 3> kHorizonStates = {"pending", "completed", "failed"};
/// The starts of Horizon's keys beside its jobs.
constexpr std::string_view kHorizonKeys[] = {"pending_jobs", "completed_jobs", "failed_jobs", "recent_jobs", "recent_failed_jobs", "silenced_jobs", "monitored_jobs",
                                           "monitoring", "measured_jobs", "measured_queues", "masters", "master:", "supervisors", "supervisor:", "commands:",
                                           "job:", "queue:", "snapshot:", "metrics:", "monitor:", "failed:", "last_snapshot_at"};

bool is_horizon_job(const KeySample& key) { return has_fields(key, {"id", "connection", "queue", "name", "status", "payload"}); }

FoundFramework horizon_framework(const std::string& prefix) {
  FoundFramework found = found_framework("Horizon", "horizon", "Horizon: jobs under the prefix " + prefix);
  ProposedFramework& proposal = found.proposal;
  const std::string start = template_literal(prefix);
  std::vector<ProposedColumn> columns;
  for (const char* text : {"id", "connection", "queue", "name", "status"}) columns.push_back(proposed_column(text, "text"));
  columns.push_back(proposed_column("payload", "jsonb"));
  columns.push_back(proposed_column("exception", "text"));
  for (const char* time : {"created_at", "updated_at", "reserved_at", "completed_at", "failed_at"}) {
    columns.push_back(proposed_column(time, "double precision", {{"absent", "empty"}}));
  }
  proposal.tables.push_back(proposed_table("job", "hash", start + "{id}", std::move(columns)));
  std::string query =
      "SELECT s.id, s.state, j.queue, j.connection, j.name, j.status, (j.payload->>'attempts')::int AS attempts,\n"
      "  to_timestamp(j.created_at) AS created_at, to_timestamp(j.reserved_at) AS reserved_at, to_timestamp(j.completed_at) AS completed_at,\n"
      "  to_timestamp(j.failed_at) AS failed_at, j.exception, j.payload\nFROM (\n";
  for (const std::string_view state : kHorizonStates) {
    const std::string name(state);
    proposal.tables.push_back(proposed_table(name, "zset", start + name + "_jobs",
        {proposed_column("id", "text", {{"role", "member"}}), proposed_column("score", "double precision", {{"role", "score"}})}));
    query += (state == kHorizonStates.front() ? "  SELECT id, '" : "  UNION ALL SELECT id, '") + name + "'::text AS state FROM {" + name + "}\n";
  }
  proposal.views.push_back({"jobs", query + ") s JOIN {job} j ON j.id = s.id", "Horizon: jobs that are pending, completed or failed; a reserved one is pending"});
  found.owns = [prefix](const KeySample& key) {
    if (!key.key.starts_with(prefix)) return false;
    const std::string_view rest = std::string_view(key.key).substr(prefix.size());
    return is_horizon_job(key) || std::ranges::any_of(kHorizonKeys, [&](std::string_view other) { return rest.starts_with(other); });
  };
  return found;
}

}  // namespace

/// Laravel's Horizon keeps a job as a hash `<prefix><id>`, and the ids of the jobs of one state in a zset `<prefix><state>_jobs`.
std::vector<FoundFramework> recognise_horizon(std::span<const KeySample> keys) {
  std::set<std::string> prefixes;
  for (const KeySample& key : keys) {
    const std::string_view id = field_of(key, "id").value_or("");
    if (!id.empty() && is_horizon_job(key) && key.key.ends_with(id)) prefixes.insert(key.key.substr(0, key.key.size() - id.size()));
  }
  prefixes.erase("");
  std::vector<FoundFramework> found;
  for (const std::string& prefix : prefixes) found.push_back(horizon_framework(prefix));
  return found;
}

}  // namespace redquel::sql
