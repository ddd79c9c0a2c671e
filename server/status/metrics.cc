#include "server/status/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "executor/runtime/lease_keeper.h"
#include "server/status/readiness.h"
#include "server/version.h"

namespace redquel::server {

namespace {

using Labels = std::vector<prometheus::ClientMetric::Label>;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kNanosecondsPerSecond = 1e9;
/// Seconds from 1970 to 2000.
constexpr double kPostgresEpoch = 946'684'800;

/// Collects the families of one scrape.
class Families {
 public:
  /// Begins a family; `add` adds to the last one.
  void begin(std::string name, std::string help, MetricType type) { all_.push_back({std::move(name), std::move(help), type, {}}); }
  void add(Labels labels, double value) {
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    if (all_.back().type == MetricType::Counter) metric.counter.value = value;
    else metric.gauge.value = value;
    all_.back().metric.push_back(std::move(metric));
  }
  template <class Number>
  void counter(std::string name, std::string help, Number value) {
    begin(std::move(name), std::move(help), MetricType::Counter);
    add({}, static_cast<double>(value));
  }
  template <class Number>
  void gauge(std::string name, std::string help, Number value) {
    begin(std::move(name), std::move(help), MetricType::Gauge);
    add({}, static_cast<double>(value));
  }
  /// Adds the sum of histograms.
  void add(Labels labels, const std::vector<const DurationHistogram*>& parts) {
    prometheus::ClientMetric metric;
    metric.label = std::move(labels);
    std::uint64_t count = 0, sum = 0;
    for (std::size_t bucket = 0; bucket <= DurationHistogram::kBounds.size(); ++bucket) {
      for (const DurationHistogram* part : parts) count += part->bucket(bucket);
      if (bucket == DurationHistogram::kBounds.size()) break;
      metric.histogram.bucket.push_back({count, static_cast<double>(DurationHistogram::kBounds[bucket]) / kNanosecondsPerSecond});
    }
    for (const DurationHistogram* part : parts) sum += part->sum();
    metric.histogram.sample_count = count;
    metric.histogram.sample_sum = static_cast<double>(sum) / kNanosecondsPerSecond;
    all_.back().metric.push_back(std::move(metric));
  }

  std::string text() const {
    std::ostringstream out;
    prometheus::TextSerializer().Serialize(out, all_);
    return std::move(out).str();
  }

 private:
  std::vector<MetricFamily> all_;
};

/// Returns the sum of a figure over the threads.
template <auto member>
double total(const ServerCounts& counts) {
  double sum = 0;
  for (const auto& thread : counts.threads()) sum += static_cast<double>(((*thread).*member).get());
  return sum;
}

void add_sessions(Families& out, const ServerCounts& counts, std::size_t max_sessions) {
  std::map<std::pair<std::string, std::string>, std::size_t> sessions;
  for (const sql::SessionStatistics& one : counts.sessions()) ++sessions[{one.database, std::string(one.state)}];
  out.begin("redquel_sessions", "Sessions that are logged in.", MetricType::Gauge);
  for (const auto& [key, count] : sessions) out.add({{"database", key.first}, {"state", key.second}}, static_cast<double>(count));
  out.gauge("redquel_sessions_max", "The most sessions at a time (limits.max_connections).", max_sessions);
  const ConnectionCounts& connections = counts.connections;
  out.begin("redquel_connections_total", "Connections by how they began.", MetricType::Counter);
  const auto add = [&](const char* result, const std::atomic<std::uint64_t>& count) { out.add({{"result", result}}, static_cast<double>(count.load())); };
  add("accepted", connections.accepted);
  add("full", connections.full);
  add("auth_failed", connections.failed_authentications);
  add("tls_failed", connections.failed_tls);
  add("timeout", connections.timed_out);
}

/// Returns the numbers of sessions that wait, by wait_event.
std::map<std::string, std::size_t> waits_of(const ServerCounts& counts) {
  std::map<std::string, std::size_t> waits{{"transactionid", 0}, {"relation", 0}, {"advisory", 0}, {std::string(sql::kReplicationWait), 0}};
  for (const sql::SessionStatistics& one : counts.sessions()) {
    if (!one.awaited_event.empty()) ++waits[std::string(one.awaited_event)];
  }
  return waits;
}

void add_authentications(Families& out, const ServerCounts& counts) {
  out.begin("redquel_authentications_total", "Logins by the method of their rule; none: no rule allows the connection.", MetricType::Counter);
  for (const auto& [method, results] : counts.authentications()) {
    out.add({{"method", method}, {"result", "ok"}}, static_cast<double>(results[1]));
    out.add({{"method", method}, {"result", "failed"}}, static_cast<double>(results[0]));
  }
}

/// Collects one histogram of each thread's engines.
template <auto member>
std::vector<const DurationHistogram*> parts_of(const ServerCounts& counts) {
  std::vector<const DurationHistogram*> parts;
  for (const auto& thread : counts.threads()) parts.push_back(&(thread->executor.*member));
  return parts;
}

template <auto member>
double executor_total(const ServerCounts& counts) {
  double sum = 0;
  for (const auto& thread : counts.threads()) sum += static_cast<double>((thread->executor.*member).get());
  return sum;
}

void add_engines(Families& out, const ServerCounts& counts) {
  using executor::ExecutorCounts;
  out.begin("redquel_planning_duration_seconds", "Time to bind and plan a statement that was not in the cache of plans.", MetricType::Histogram);
  out.add({}, parts_of<&ExecutorCounts::planning>(counts));
  out.counter("redquel_direct_runs_total", "Statements that ran as one turn of commands, without operators.", executor_total<&ExecutorCounts::direct_runs>(counts));
  out.counter("redquel_plan_cache_hits_total", "Statements whose plan was in the cache.", executor_total<&ExecutorCounts::plan_cache_hits>(counts));
  out.counter("redquel_plan_cache_misses_total", "Statements that had to be planned.", executor_total<&ExecutorCounts::plan_cache_misses>(counts));
  out.begin("redquel_lock_wait_seconds", "Time that statements waited for a lock.", MetricType::Histogram);
  out.add({}, parts_of<&ExecutorCounts::lock_waits>(counts));
  out.begin("redquel_lease_renewal_delay_seconds", "Time from the moment in which the renewal of a lease was due to its answer from Redis.", MetricType::Histogram);
  out.add({}, {&executor::lease_renewal_delays()});
  out.begin("redquel_sessions_waiting", "Sessions that wait for a lock, or for replicas (SyncRep), by wait_event.", MetricType::Gauge);
  for (const auto& [event, count] : waits_of(counts)) out.add({{"event", event}}, static_cast<double>(count));
  out.begin("redquel_replica_wait_seconds", "Time that commits waited for replicas (redis.synchronous_replicas).", MetricType::Histogram);
  out.add({}, parts_of<&ExecutorCounts::replica_waits>(counts));
  out.counter("redquel_replica_failures_total", "Commits that replicas have not confirmed in time.", executor_total<&ExecutorCounts::replica_failures>(counts));
  // Each thread notes the same changes.
  const auto& first = counts.threads().front()->executor;
  out.counter("redquel_redis_master_changes_total", "Masters that sentinels have reported after the first.", static_cast<double>(first.master_changes.get()));
  out.counter("redquel_temporary_bytes_total", "Bytes written to temporary files.", executor_total<&ExecutorCounts::temporary_bytes>(counts));
  out.counter("redquel_swept_rows_total", "Expired rows whose entries were removed.", executor_total<&ExecutorCounts::swept_rows>(counts));
  out.counter("redquel_undone_units_total", "Unfinished statements of many rows that were undone.", executor_total<&ExecutorCounts::undone_units>(counts));
}

/// Adds what connections to Redis have measured: round trips, scripts, errors.
void add_redis_times(Families& out, const ServerCounts& counts) {
  using executor::ExecutorCounts;
  out.begin("redquel_redis_round_trip_seconds", "Time from the write of commands to the last of their replies.", MetricType::Histogram);
  out.add({{"purpose", "statements"}}, parts_of<&ExecutorCounts::round_trips>(counts));
  out.add({{"purpose", "bulk"}}, parts_of<&ExecutorCounts::bulk_round_trips>(counts));
  std::map<std::string_view, std::vector<const DurationHistogram*>> scripts;
  std::map<std::string, std::uint64_t> errors;
  for (const auto& thread : counts.threads()) {
    thread->executor.visit_scripts([&](std::string_view name, const DurationHistogram& durations) { scripts[name].push_back(&durations); });
    for (const auto& [code, count] : thread->executor.errors()) errors[code] += count;
  }
  out.begin("redquel_redis_script_seconds", "Time of round trips that ran a script.", MetricType::Histogram);
  for (const auto& [name, parts] : scripts) out.add({{"script", std::string(name)}}, parts);
  out.begin("redquel_redis_errors_total", "Error replies of Redis by their first word.", MetricType::Counter);
  for (const auto& [code, count] : errors) out.add({{"code", code}}, static_cast<double>(count));
}

void add_statements(Families& out, const ServerCounts& counts) {
  struct Totals {
    std::array<std::uint64_t, kStatementKinds> done{}, failed{}, rows{};
    std::uint64_t commits = 0, rollbacks = 0;
  };
  std::map<std::string, Totals> databases;
  std::map<std::string, std::uint64_t> errors;
  for (const auto& thread : counts.threads()) {
    thread->visit_databases([&](const std::string& name, const DatabaseCounts& one) {
      Totals& totals = databases[name];
      for (std::size_t kind = 0; kind < kStatementKinds; ++kind) {
        totals.done[kind] += one.done[kind].get();
        totals.failed[kind] += one.failed[kind].get();
        totals.rows[kind] += one.rows[kind].get();
      }
      totals.commits += one.commits.get();
      totals.rollbacks += one.rollbacks.get();
    });
    for (const auto& [name, count] : thread->errors()) errors[name] += count;
  }
  const auto kind_name = [](std::size_t kind) { return std::string(name_of(static_cast<StatementKind>(kind))); };
  out.begin("redquel_statements_total", "Statements that ended.", MetricType::Counter);
  for (const auto& [name, totals] : databases) {
    for (std::size_t kind = 0; kind < kStatementKinds; ++kind) {
      out.add({{"database", name}, {"kind", kind_name(kind)}, {"result", "ok"}}, static_cast<double>(totals.done[kind]));
      out.add({{"database", name}, {"kind", kind_name(kind)}, {"result", "error"}}, static_cast<double>(totals.failed[kind]));
    }
  }
  out.begin("redquel_errors_total", "Errors by the class of their SQLSTATE.", MetricType::Counter);
  for (const auto& [name, count] : errors) out.add({{"class", name}}, static_cast<double>(count));
  out.begin("redquel_statement_duration_seconds", "Time from a statement's arrival to its end.", MetricType::Histogram);
  for (std::size_t kind = 0; kind < kStatementKinds; ++kind) {
    std::vector<const DurationHistogram*> parts;
    for (const auto& thread : counts.threads()) parts.push_back(&thread->durations[kind]);
    out.add({{"kind", kind_name(kind)}}, parts);
  }
  out.begin("redquel_transactions_total", "Transactions, those of single statements included.", MetricType::Counter);
  for (const auto& [name, totals] : databases) {
    out.add({{"database", name}, {"result", "commit"}}, static_cast<double>(totals.commits));
    out.add({{"database", name}, {"result", "rollback"}}, static_cast<double>(totals.rollbacks));
  }
  out.begin("redquel_rows_total", "Rows by what happened to them.", MetricType::Counter);
  for (const auto& [name, totals] : databases) {
    constexpr std::array<const char*, 4> kOperations = {"returned", "inserted", "updated", "deleted"};
    for (std::size_t kind = 0; kind < kOperations.size(); ++kind) {
      out.add({{"database", name}, {"operation", kOperations[kind]}}, static_cast<double>(totals.rows[kind]));
    }
  }
  out.counter("redquel_serialization_failures_total", "Errors 40001: transactions that conflicted with others.", total<&ThreadCounts::serialization_failures>(counts));
  out.counter("redquel_deadlocks_total", "Errors 40P01.", total<&ThreadCounts::deadlocks>(counts));
}

void add_redis(Families& out, const ServerCounts& counts, const Readiness& readiness) {
  out.gauge("redquel_redis_up", "1 if Redis has answered within a second.", readiness.redis_answers ? 1 : 0);
  out.counter("redquel_redis_connects_total", "Connections made to Redis.", total<&ThreadCounts::redis_connects>(counts));
  out.counter("redquel_redis_round_trips_total", "Writes handed to the sockets of Redis; each is answered as a whole.", total<&ThreadCounts::redis_round_trips>(counts));
  out.counter("redquel_redis_commands_total", "Commands sent to Redis.", total<&ThreadCounts::redis_commands>(counts));
  out.begin("redquel_redis_bytes_total", "Bytes exchanged with Redis.", MetricType::Counter);
  out.add({{"direction", "sent"}}, total<&ThreadCounts::redis_bytes_sent>(counts));
  out.add({{"direction", "received"}}, total<&ThreadCounts::redis_bytes_received>(counts));
  out.gauge("redquel_redis_writes_held", "Batches of writes that wait until Redis may be written.", total<&ThreadCounts::redis_writes_held>(counts));
  if (counts.redis_replicas >= 0) out.gauge("redquel_redis_replicas", "Replicas that are connected to Redis.", static_cast<double>(counts.redis_replicas));
  if (counts.redis_memory_used == 0) return;
  out.gauge("redquel_redis_memory_used_bytes", "Memory that Redis uses.", counts.redis_memory_used.load());
  out.gauge("redquel_redis_memory_max_bytes", "Memory that Redis may use (maxmemory); 0: no limit.", counts.redis_memory_most.load());
}

}  // namespace

std::string metrics_text(const ServerCounts& counts, std::size_t max_sessions) {
  const Readiness readiness = readiness_of(counts);
  Families out;
  out.begin("redquel_build_info", "The version and the commit; the value is 1.", MetricType::Gauge);
  out.add({{"version", std::string(kVersion)}, {"commit", std::string(commit())}}, 1);
  out.gauge("redquel_start_time_seconds", "The start of the process in Unix time.", static_cast<double>(counts.started()) / 1e6 + kPostgresEpoch);
  out.gauge("redquel_ready", "1 if /health/ready answers 200.", readiness.reasons.empty() ? 1 : 0);
  out.gauge("redquel_draining", "1 while the server waits for running statements to end.", counts.is_draining ? 1 : 0);
  add_sessions(out, counts, max_sessions);
  add_authentications(out, counts);
  add_statements(out, counts);
  add_engines(out, counts);
  out.begin("redquel_client_bytes_total", "Bytes of messages exchanged with clients.", MetricType::Counter);
  out.add({{"direction", "received"}}, total<&ThreadCounts::bytes_received>(counts));
  out.add({{"direction", "sent"}}, total<&ThreadCounts::bytes_sent>(counts));
  out.begin("redquel_event_loop_delay_seconds", "How late a timer of an event loop was.", MetricType::Histogram);
  for (std::size_t i = 0; i < counts.threads().size(); ++i) {
    out.add({{"thread", std::to_string(i)}}, std::vector<const DurationHistogram*>{&counts.threads()[i]->event_loop_delay});
  }
  out.begin("redquel_memory_bytes", "Memory of the process by what it is held for.", MetricType::Gauge);
  constexpr std::array<const char*, sql::kMemoryParts> kParts = {"clients", "statements", "cache"};
  for (std::size_t part = 0; part < kParts.size(); ++part) out.add({{"part", kParts[part]}}, static_cast<double>(counts.memory_parts[part]));
  out.add({{"part", "other"}}, static_cast<double>(counts.memory_unaccounted));
  out.gauge("redquel_memory_limit_bytes", "limits.memory of the configuration.", counts.memory_limit.load());
  add_redis(out, counts, readiness);
  add_redis_times(out, counts);
  return out.text();
}

}  // namespace redquel::server
