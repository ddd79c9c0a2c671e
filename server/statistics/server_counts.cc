#include "server/statistics/server_counts.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "executor/runtime/clock.h"
#include "parser/statement_shape.h"

namespace redquel::server {

namespace {

std::string_view name_of(ActivityState state) {
  switch (state) {
    case ActivityState::kStarting: return {};
    case ActivityState::kActive: return "active";
    case ActivityState::kIdle: return "idle";
    case ActivityState::kInTransaction: return "idle in transaction";
    case ActivityState::kInFailedTransaction: return "idle in transaction (aborted)";
  }
  return {};
}

double milliseconds(const Count& nanoseconds) { return static_cast<double>(nanoseconds.get()) / 1e6; }

/// Adds the runs of another thread.
void merge(sql::StatementStatistics& into, const sql::StatementStatistics& other) {
  const auto one = static_cast<double>(into.calls), two = static_cast<double>(other.calls);
  if (two == 0) return;
  if (one == 0) {
    into = other;
    return;
  }
  const double difference = other.mean_time - into.mean_time;
  into.squares += other.squares + difference * difference * one * two / (one + two);
  into.mean_time += difference * two / (one + two);
  into.total_time += other.total_time;
  into.least_time = std::min(into.least_time, other.least_time);
  into.most_time = std::max(into.most_time, other.most_time);
  into.calls += other.calls;
  into.rows += other.rows;
  into.round_trips += other.round_trips;
  into.commands += other.commands;
}

}  // namespace

ServerCounts::ServerCounts(std::size_t threads) : started_(executor::now_microseconds()), statements_since_(started_) {
  for (std::size_t i = 0; i < threads; ++i) threads_.push_back(std::make_unique<ThreadCounts>());
  for (const auto& thread : threads_) thread->last_turn.set(steady_nanoseconds());  // one that has not begun yet counts as alive
}

void ServerCounts::note_authentication(std::string_view method, bool is_good) {
  const std::lock_guard lock(mutex_);
  ++authentications_[std::string(method)][is_good ? 1 : 0];
}

std::map<std::string, std::array<std::uint64_t, 2>> ServerCounts::authentications() const {
  const std::lock_guard lock(mutex_);
  return authentications_;
}

std::shared_ptr<ListedSession> ServerCounts::list(sql::SessionStatistics facts) {
  auto session = std::make_shared<ListedSession>();
  const std::lock_guard lock(mutex_);
  session->facts = std::move(facts);
  sessions_[session->facts.process_id] = session;
  return session;
}

void ServerCounts::unlist(std::int32_t process_id) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(process_id);
}

void ServerCounts::rename(ListedSession& session, const std::string& application_name) {
  const std::lock_guard lock(mutex_);
  session.facts.application_name = application_name;
}

std::vector<sql::SessionStatistics> ServerCounts::sessions() const {
  std::vector<sql::SessionStatistics> all;
  const std::lock_guard lock(mutex_);
  all.reserve(sessions_.size());
  for (const auto& [process_id, session] : sessions_) {
    sql::SessionStatistics& one = all.emplace_back(session->facts);
    ActivitySlot::Copy copy = session->activity.read();
    one.transaction_started = copy.transaction_started;
    one.statement_started = copy.statement_started;
    one.state_changed = copy.state_changed;
    one.state = name_of(copy.state);
    one.waits_for_client = copy.state != ActivityState::kActive && copy.state != ActivityState::kStarting;
    if (const char* const lock = session->awaited_event; lock != nullptr) one.awaited_event = lock;
    one.progress = sql::figures_of(session->progress);
    one.query_id = copy.query_id;
    one.query = parser::hide_secrets(copy.text);
  }
  return all;
}

std::vector<sql::DatabaseStatistics> ServerCounts::databases() const {
  std::map<std::string, sql::DatabaseStatistics> all;
  for (const auto& thread : threads_) {
    thread->visit_databases([&](const std::string& name, const DatabaseCounts& counts) {
      sql::DatabaseStatistics& one = all[name];
      const auto rows = [&](StatementKind kind) { return counts.rows[static_cast<std::size_t>(kind)].get(); };
      one.commits += counts.commits.get();
      one.rollbacks += counts.rollbacks.get();
      one.returned += rows(StatementKind::kSelect);
      one.inserted += rows(StatementKind::kInsert);
      one.updated += rows(StatementKind::kUpdate);
      one.deleted += rows(StatementKind::kDelete);
      one.deadlocks += counts.deadlocks.get();
      one.sessions += counts.sessions.get();
      one.abandoned += counts.abandoned.get();
      one.fatal += counts.fatal.get();
      one.killed += counts.killed.get();
      one.session_time += milliseconds(counts.session_nanoseconds);
      one.active_time += milliseconds(counts.active_nanoseconds);
      one.idle_in_transaction_time += milliseconds(counts.idle_in_transaction_nanoseconds);
    });
  }
  std::vector<sql::DatabaseStatistics> list;
  for (auto& [name, one] : all) {
    one.database = name;
    list.push_back(std::move(one));
  }
  return list;
}

sql::RelationStatistics ServerCounts::relations(std::string_view database) const {
  sql::RelationStatistics all;
  for (const auto& thread : threads_) {
    thread->visit_databases([&](const std::string& name, const DatabaseCounts& counts) {
      if (name != database) return;
      counts.relations.visit_tables([&](sql::Oid oid, const sql::TableCounts& table) {
        sql::RelationStatistics::Table& one = all.tables[oid];
        one.whole_scans += table.whole_scans.get();
        one.rows_of_whole_scans += table.rows_of_whole_scans.get();
        one.index_scans += table.index_scans.get();
        one.rows_of_index_scans += table.rows_of_index_scans.get();
        one.inserted += table.inserted.get();
        one.updated += table.updated.get();
        one.deleted += table.deleted.get();
      });
      counts.relations.visit_indexes([&](sql::Oid oid, const sql::IndexCounts& index) {
        sql::RelationStatistics::Index& one = all.indexes[oid];
        one.scans += index.scans.get();
        one.rows += index.rows.get();
      });
    });
  }
  return all;
}

std::vector<sql::StatementStatistics> ServerCounts::statements() const {
  std::vector<sql::StatementStatistics> all;
  for (const auto& thread : threads_) thread->statements.append_to(all);
  const auto key = [](const sql::StatementStatistics& one) { return std::tie(one.role, one.database, one.query_id); };
  std::ranges::sort(all, {}, key);
  std::vector<sql::StatementStatistics> merged;
  for (sql::StatementStatistics& one : all) {
    if (!merged.empty() && key(merged.back()) == key(one)) merge(merged.back(), one);
    else merged.push_back(std::move(one));
  }
  std::erase_if(merged, [](const sql::StatementStatistics& one) { return one.calls == 0; });
  return merged;
}

void ServerCounts::forget_statements(sql::Oid role, sql::Oid database, std::int64_t query_id) {
  for (const auto& thread : threads_) thread->statements.forget(role, database, query_id);
  if (role == 0 && database == 0 && query_id == 0) statements_since_ = executor::now_microseconds();
}

std::uint64_t ServerCounts::forgotten_statements() const {
  std::uint64_t count = 0;
  for (const auto& thread : threads_) count += thread->statements.forgotten();
  return count;
}

}  // namespace redquel::server
