#include "server/statistics/session_meter.h"

#include "sql/ascii.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

StatementKind kind_of(std::string_view tag) {
  if (tag.starts_with("SELECT ")) return StatementKind::kSelect;
  if (tag.starts_with("INSERT ")) return StatementKind::kInsert;
  if (tag.starts_with("UPDATE ")) return StatementKind::kUpdate;
  if (tag.starts_with("DELETE ")) return StatementKind::kDelete;
  return StatementKind::kOther;
}

/// Returns the kind of a statement that has no command tag, by its first word.
StatementKind kind_of_text(std::string_view text) {
  const auto begins_with = [&](std::string_view word) { return sql::equals_ignoring_case(text.substr(0, word.size()), word); };
  if (begins_with("select")) return StatementKind::kSelect;
  if (begins_with("insert")) return StatementKind::kInsert;
  if (begins_with("update")) return StatementKind::kUpdate;
  return begins_with("delete") ? StatementKind::kDelete : StatementKind::kOther;
}

/// Returns the number at the end of a command tag; 0: there is none.
std::uint64_t rows_of(std::string_view tag) {
  std::uint64_t rows = 0, unit = 1;
  for (std::size_t i = tag.size(); i > 0 && tag[i - 1] >= '0' && tag[i - 1] <= '9'; --i, unit *= 10) rows += unit * static_cast<std::uint64_t>(tag[i - 1] - '0');
  return rows;
}

ActivityState state_of(TransactionStatus status) {
  if (status == TransactionStatus::kIdle) return ActivityState::kIdle;
  return status == TransactionStatus::kInBlock ? ActivityState::kInTransaction : ActivityState::kInFailedTransaction;
}

}  // namespace

SessionMeter::~SessionMeter() {
  if (listed_) server_.unlist(listed_->facts.process_id);
}

void SessionMeter::log_in(sql::SessionStatistics facts, const executor::ExecutionCounters& redis, bool counts) {
  redis_ = &redis;
  database_ = facts.database;
  if (!counts) unseen_ = std::make_unique<DatabaseCounts>();
  counts_ = unseen_ ? unseen_.get() : &thread_.database(database_);
  counts_->sessions.add();
  logged_in_ = rested_ = steady_nanoseconds();
  listed_ = server_.list(std::move(facts));
}

void SessionMeter::rename(const std::string& application_name) {
  if (listed_) server_.rename(*listed_, application_name);
}

void SessionMeter::begin_statement(const std::shared_ptr<const std::string>& text) {
  if (!listed_) return;
  measured_from_ = message_began_ = steady_nanoseconds();
  if (!is_running_) {
    began_ = measured_from_;
    if (was_in_transaction_) counts_->idle_in_transaction_nanoseconds.add(began_ - rested_);
  }
  is_running_ = true;
  query_id_ = 0;
  round_trips_ = redis_->round_trips;
  commands_ = redis_->commands;
  const std::int64_t now = thread_.microseconds_of(message_began_);
  if (shown_text_.is(text)) {
    listed_->activity.begin_again(now);
    return;
  }
  listed_->activity.begin(*text, now);
  shown_text_ = text;
}

StatementCounts::Run SessionMeter::note_end(std::string_view tag) {
  const std::uint64_t now = steady_nanoseconds(), rows = rows_of(tag);
  const StatementKind kind = kind_of(tag);
  const auto number = static_cast<std::size_t>(kind);
  last_duration_ = now - measured_from_;
  measured_from_ = now;
  if (!unseen_) thread_.durations[number].note(last_duration_);
  counts_->done[number].add();
  counts_->rows[number].add(rows);
  has_rolled_back_ = has_rolled_back_ || tag == "ROLLBACK";
  const StatementCounts::Run run = {last_duration_, rows, redis_->round_trips - round_trips_, redis_->commands - commands_};
  round_trips_ = redis_->round_trips;
  commands_ = redis_->commands;
  return run;
}

void SessionMeter::fail_statement(std::string_view sqlstate, std::string_view text) {
  if (!unseen_) thread_.note_error(sqlstate);
  if (sqlstate == sqlstate::kSerializationFailure) thread_.serialization_failures.add();
  if (sqlstate == sqlstate::kDeadlockDetected) {
    thread_.deadlocks.add();
    if (counts_ != nullptr) counts_->deadlocks.add();
  }
  has_failed_ = true;
  if (!is_running_) return;
  const std::uint64_t now = steady_nanoseconds();
  last_duration_ = now - measured_from_;
  measured_from_ = now;
  counts_->failed[static_cast<std::size_t>(kind_of_text(text))].add();
}

void SessionMeter::rest(TransactionStatus status) {
  if (!listed_) return;
  // The end of the last statement was a moment ago: the clock need not be read again.
  const bool has_ended = is_running_ && measured_from_ != message_began_;
  const std::uint64_t now = has_ended ? measured_from_ : steady_nanoseconds();
  const bool is_idle = status == TransactionStatus::kIdle;
  if (is_running_) {
    counts_->active_nanoseconds.add(now - began_);
    if (is_idle) (has_failed_ || has_rolled_back_ ? counts_->rollbacks : counts_->commits).add();
  }
  if (is_running_ || rested_ == logged_in_) listed_->activity.rest(state_of(status), thread_.microseconds_of(now));
  if (is_idle) has_failed_ = has_rolled_back_ = false;
  was_in_transaction_ = !is_idle;
  is_running_ = false;
  rested_ = now;
}

void SessionMeter::note_refusal(std::string_view sqlstate) {
  if (sqlstate == sqlstate::kTooManyConnections) ++server_.connections.full;
  else if (sqlstate == sqlstate::kInvalidPassword || sqlstate == sqlstate::kInvalidAuthorizationSpecification) ++server_.connections.failed_authentications;
}

void SessionMeter::end(End how) {
  if (counts_ == nullptr || has_ended_) return;
  has_ended_ = true;
  counts_->session_nanoseconds.add(steady_nanoseconds() - logged_in_);
  if (how == End::kAbandoned) counts_->abandoned.add();
  if (how == End::kFatal) counts_->fatal.add();
  if (how == End::kKilled) counts_->killed.add();
  if (listed_) server_.unlist(listed_->facts.process_id);
  listed_.reset();
  is_running_ = false;
}

}  // namespace redquel::server
