#include "sql/discovery/frameworks/bull_jobs.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

struct State {
  std::string_view key, table, state, type;
};

constexpr State kCommonStates[] = {{"wait", "waiting", "waiting", "list"},      {"active", "active", "active", "list"},
                                   {"paused", "paused", "paused", "list"},      {"delayed", "delayed", "delayed", "zset"},
                                   {"completed", "completed", "completed", "zset"}, {"failed", "failed", "failed", "zset"}};
constexpr State kLaterStates[] = {{"prioritized", "prioritized", "prioritized", "zset"},
                                  {"waiting-children", "waiting_children", "waiting-children", "zset"}};
/// The keys of a queue beside its jobs and states.
constexpr std::string_view kOtherKeys[] = {"id", "meta", "meta-paused", "events", "marker", "pc", "priority", "stalled", "stalled-check", "repeat", "limiter",
                                           "de", "added", "drained", "metrics"};

std::vector<ProposedColumn> job_columns(std::vector<ProposedColumn> slots, const BullVariant& variant) {
  std::vector<ProposedColumn> columns = std::move(slots);
  columns.push_back(proposed_column("name", "text"));
  columns.push_back(proposed_column("data", "jsonb"));
  columns.push_back(proposed_column("opts", "jsonb"));
  columns.push_back(field_column("attempts_made", "bigint", "attemptsMade"));
  if (variant.has_priority_zset) {
    columns.push_back(field_column("attempts_ended", "bigint", "atm"));
    columns.push_back(field_column("attempts_started", "bigint", "ats"));
    columns.push_back(field_column("parent_key", "text", "parentKey"));
  }
  columns.push_back(proposed_column("priority", "bigint"));
  columns.push_back(proposed_column("delay", "bigint"));
  columns.push_back(proposed_column("progress", "jsonb"));
  columns.push_back(field_column("created_at", "timestamptz", "timestamp", {{"format", "unix_ms"}}));
  columns.push_back(field_column("processed_on", "timestamptz", "processedOn", {{"format", "unix_ms"}}));
  columns.push_back(field_column("finished_on", "timestamptz", "finishedOn", {{"format", "unix_ms"}}));
  columns.push_back(field_column("failed_reason", "text", "failedReason"));
  columns.push_back(proposed_column("stacktrace", "jsonb"));
  columns.push_back(proposed_column("returnvalue", "jsonb"));
  return columns;
}

std::string jobs_query(const std::vector<State>& states, const BullVariant& variant) {
  const auto either = [](std::string_view column) { return fmt::format(",\n  coalesce(j.{0}, r.{0}) AS {0}", column); };
  std::string query = "SELECT s.queue, s.id" + either("name") + ", s.state" + either("data") + either("opts");
  query += variant.has_priority_zset ? ",\n  coalesce(j.attempts_ended, r.attempts_ended, j.attempts_made, r.attempts_made, 0) AS attempts_made"
                                     : ",\n  coalesce(j.attempts_made, r.attempts_made, 0) AS attempts_made";
  for (const std::string_view column : {"priority", "delay", "progress", "created_at", "processed_on", "finished_on", "failed_reason", "stacktrace",
                                        "returnvalue"}) {
    query += either(column);
  }
  query += "\nFROM (\n";
  for (std::size_t i = 0; i < states.size(); ++i) {
    query += fmt::format("  {}SELECT queue, id, '{}'{} FROM {{{}}}\n", i == 0 ? "" : "UNION ALL ", states[i].state, i == 0 ? "::text AS state" : "", states[i].table);
  }
  return query + ") s\nLEFT JOIN {job} j ON j.queue = s.queue AND j.id = s.id\n"
                 "LEFT JOIN {repeated_job} r ON r.queue = s.queue AND r.scheduler = nullif(split_part(s.id, ':', 2), '')"
                 " AND r.run_at = nullif(split_part(s.id, ':', 3), '')";
}

}  // namespace

bool is_bull_job(const KeySample& key) { return has_fields(key, {"name", "data", "opts", "timestamp"}); }

std::string bull_prefix(std::string_view key) {
  const auto last = split_last(key, ':');
  const auto queue = last ? split_last(last->first, ':') : std::nullopt;
  return queue && !queue->first.empty() && !queue->second.empty() && !last->second.empty() ? std::string(queue->first) : "";
}

FoundFramework bull_framework(const BullVariant& variant, const std::string& prefix) {
  std::vector<State> states(std::begin(kCommonStates), std::end(kCommonStates));
  if (variant.has_priority_zset) states.insert(states.end(), std::begin(kLaterStates), std::end(kLaterStates));
  FoundFramework found = found_framework(variant.framework, variant.schema, fmt::format("{}: queues of jobs under the prefix {}", variant.framework, prefix));
  ProposedFramework& proposal = found.proposal;
  const std::string queue = template_literal(prefix) + ":{queue}:";
  proposal.tables.push_back(proposed_table("job", "hash", queue + "{id}", job_columns({proposed_column("queue", "text"), proposed_column("id", "text")}, variant)));
  proposal.tables.push_back(proposed_table("repeated_job", "hash", queue + "repeat:{scheduler}:{run_at}",
      job_columns({proposed_column("queue", "text"), proposed_column("scheduler", "text"), proposed_column("run_at", "text")}, variant)));
  for (const State& state : states) {
    std::vector<ProposedColumn> columns = {proposed_column("queue", "text")};
    if (state.type == "list") columns.push_back(proposed_column("position", "bigint", {{"role", "position"}}));
    columns.push_back(proposed_column("id", "text", {{"role", state.type == "list" ? "value" : "member"}}));
    if (state.type == "zset") columns.push_back(proposed_column("score", "double precision", {{"role", "score"}}));
    proposal.tables.push_back(proposed_table(std::string(state.table), std::string(state.type), queue + std::string(state.key), std::move(columns)));
  }
  proposal.tables.push_back(proposed_table("queue", "string", queue + "id",
      {proposed_column("queue", "text"), proposed_column("last_id", "bigint", {{"role", "value"}})}));
  proposal.views.push_back({"jobs", jobs_query(states, variant), fmt::format("{}: jobs of all queues with their state", variant.framework)});
  found.owns = [prefix, states](const KeySample& key) {
    if (!key.key.starts_with(prefix + ":")) return false;
    const std::string_view rest = std::string_view(key.key).substr(prefix.size() + 1);
    const std::size_t colon = rest.find(':');
    if (colon == std::string_view::npos) return false;
    std::string_view part = rest.substr(colon + 1);
    part = part.substr(0, part.find(':'));
    const bool is_state = std::ranges::any_of(states, [&](const State& state) { return state.key == part && state.type == key.type; });
    const bool is_beside_job = rest.ends_with(":lock") || rest.ends_with(":logs") || rest.ends_with(":dependencies") || rest.ends_with(":processed") ||
                               rest.ends_with(":failed") || rest.ends_with(":unsuccessful");
    return is_state || is_beside_job || is_bull_job(key) || std::ranges::find(kOtherKeys, part) != std::end(kOtherKeys);
  };
  return found;
}

}  // namespace redquel::sql
