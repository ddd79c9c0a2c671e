#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

struct Registry {
  std::string_view key, state;
};
constexpr std::array<Registry, 6> kRegistries = {{{"wip", "started"}, {"finished", "finished"}, {"failed", "failed"}, {"deferred", "deferred"},
                                                  {"scheduled", "scheduled"}, {"canceled", "canceled"}}};

ProposedColumn time_column(std::string name) { return proposed_column(std::move(name), "timestamptz", {{"absent", "empty"}}); }

std::string jobs_query() {
  std::string query =
      "SELECT s.queue, s.id, s.state, j.description, j.created_at, j.enqueued_at, j.started_at, j.ended_at, j.worker_name, j.timeout,\n"
      "  j.status, j.data, j.exc_info, j.meta\nFROM (\n"
      "  SELECT substr(q.key, 10) AS queue, e.id, 'queued'::text AS state FROM {queue} q JOIN {queued} e ON e.queue = substr(q.key, 10)\n";
  for (const Registry& registry : kRegistries) {
    query += fmt::format("  UNION ALL SELECT r.queue, split_part(r.id, ':', 1), '{0}' FROM {{queue}} q JOIN {{{0}}} r ON r.queue = substr(q.key, 10)\n",
                         registry.state);
  }
  return query + ") s LEFT JOIN {job} j ON j.id = s.id";
}

FoundFramework rq_framework() {
  FoundFramework found = found_framework("RQ", "rq", "RQ: queues of jobs");
  ProposedFramework& proposal = found.proposal;
  proposal.tables.push_back(proposed_table("queue", "set", "rq:queues", {proposed_column("key", "text", {{"role", "member"}})}));
  proposal.tables.push_back(proposed_table("job", "hash", "rq:job:{id}",
      {proposed_column("id", "text"), proposed_column("origin", "text"), proposed_column("status", "text"), proposed_column("description", "text"),
       time_column("created_at"), time_column("enqueued_at"), time_column("started_at"), time_column("ended_at"), time_column("last_heartbeat"),
       proposed_column("worker_name", "text"), proposed_column("timeout", "text"), proposed_column("result_ttl", "text"),
       proposed_column("failure_ttl", "text"), proposed_column("data", "bytea"), proposed_column("exc_info", "bytea"), proposed_column("meta", "bytea")}));
  proposal.tables.push_back(list_table("queued", "rq:queue:{queue}", {"queue"}, "id", "text"));
  for (const Registry& registry : kRegistries) {
    // Scores are Unix time; -1 is a job that never expires.
    proposal.tables.push_back(proposed_table(std::string(registry.state), "zset", fmt::format("rq:{}:{{queue}}", registry.key),
        {proposed_column("queue", "text"), proposed_column("id", "text", {{"role", "member"}}), proposed_column("score", "double precision", {{"role", "score"}})}));
  }
  proposal.tables.push_back(proposed_table("result", "stream", "rq:results:{job_id}",
      {proposed_column("job_id", "text"), proposed_column("entry_id", "text", {{"role", "id"}}), proposed_column("type", "int"),
       proposed_column("return_value", "text"), proposed_column("exc_string", "text")}));
  proposal.tables.push_back(proposed_table("worker", "hash", "rq:worker:{name}",
      {proposed_column("name", "text"), proposed_column("state", "text"), proposed_column("queues", "text"), proposed_column("current_job", "text"),
       proposed_column("hostname", "text"), proposed_column("pid", "bigint"), time_column("birth"), time_column("last_heartbeat"), time_column("death"),
       proposed_column("successful_job_count", "bigint"), proposed_column("failed_job_count", "bigint"), proposed_column("version", "text")}));
  proposal.views.push_back({"jobs", jobs_query(), "RQ: jobs of all queues and registries with their state"});
  found.owns = [](const KeySample& key) { return key.key.starts_with("rq:"); };
  return found;
}

}  // namespace

/// RQ (Python) keeps a hash `rq:job:<id>` for each job with the pickled call in `data`, a list of ids for each queue, and a zset of ids for
/// each registry. Its prefix is fixed.
std::vector<FoundFramework> recognise_rq(std::span<const KeySample> keys) {
  const auto is_job = [](const KeySample& key) { return key.key.starts_with("rq:job:") && has_fields(key, {"data", "origin", "created_at"}); };
  std::vector<FoundFramework> found;
  if (std::ranges::any_of(keys, is_job)) found.push_back(rq_framework());
  return found;
}

}  // namespace redquel::sql
