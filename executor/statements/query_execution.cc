#include "executor/statements/query_execution.h"

#include <algorithm>
#include <array>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <list>

#include "executor/copy/copy_source.h"
#include "executor/engine/function_execution.h"
#include "executor/operators/gather.h"
#include "executor/redis/wrong_type.h"
#include "executor/roles/hidden_values.h"
#include "executor/roles/role_access.h"
#include "executor/runtime/clock.h"
#include "executor/runtime/session_context.h"
#include "executor/statements/make_operator.h"
#include "executor/statements/plan_log.h"
#include "executor/statements/plan_reads.h"
#include "executor/statements/retry_rules.h"
#include "executor/statements/run_rights.h"
#include "executor/statements/statement_snapshot.h"
#include "executor/statements/written_tables.h"
#include "executor/storage/databases.h"
#include "executor/storage/seen_commits.h"
#include "executor/storage/size_samples.h"
#include "executor/storage/write_conflict.h"
#include "executor/storage/wrong_types.h"
#include "executor/tables/memory_run.h"
#include "executor/tables/scan_budget.h"
#include "executor/transaction/advisory_locks.h"
#include "executor/transaction/increments.h"
#include "executor/transaction/transaction.h"
#include "sql/functions/object_names.h"
#include "sql/privileges/row_security.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// One statement's runs: it is run again when the catalog moved under it, when a value it read was changed before its writes arrived,
/// and when its reads stem from different moments. Rows go out only when none of that can happen any more.
class QueryRun {
 public:
  QueryRun(RedisEngine& engine, PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session,
           CopyInput* copy = nullptr)
      : engine_(engine), prepared_(std::move(prepared)), parameters_(std::move(parameters)), session_(session),
        transaction_(session.transaction), copy_(copy) {
    timestamp_ = session_.function_depth > 0 ? session_.statement_time : now_microseconds();
  }

  asio::awaitable<std::optional<sql::Batch>> next() {
    if (!held_.empty()) co_return take_held();
    if (finished_) co_return std::nullopt;
    if (pending_) rows_sent_ = true;
    std::exception_ptr failure;
    bool is_duplicate = false;
    std::optional<sql::SqlError> wrong_type;
    try {
      co_return co_await run();
    } catch (const sql::SqlError& error) {
      is_duplicate = error.sqlstate() == sqlstate::kUniqueViolation;
      if (dynamic_cast<const WrongTypeError*>(&error) != nullptr) wrong_type = error;
      failure = shown_failure(error, catalog_.get(), plan_, session_.role, session_.database);
    } catch (...) {
      failure = std::current_exception();
    }
    if (transaction_) engine_.note_failure(*transaction_, failure);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());  // nothing could be awaited after a cancellation
    co_await abandon();
    co_await asio::this_coro::reset_cancellation_state();
    // A statement that looked before inserting, and was overtaken, shall be tried again, by the manual of SERIALIZABLE.
    if (is_duplicate && policy_.is_strict && transaction_->keeps_reads()) {
      ReadChecks none;
      const ReadChecks::Answer answer = co_await ReadChecks::hold(engine_.shared(), transaction_->reads(), none);
      if (!answer.first) throw serialization_failure("update");
    }
    if (wrong_type && catalog_) {
      std::vector<std::shared_ptr<const sql::TableDef>> tables = planner::tables_of(plan());
      // The name of a key is a part of a row that policies may hide.
      std::erase_if(tables, [&](const std::shared_ptr<const sql::TableDef>& table) {
        return sql::row_security(*table, session_.role, *sql::known_roles(), session_.database) == sql::RowSecurity::kEnabled;
      });
      const sql::SqlError named = co_await named_wrong_type(engine_.shared(), catalog_, std::move(tables), *wrong_type);
      throw named;
    }
    std::rethrow_exception(failure);
  }

  asio::awaitable<void> open() {
    prepared_ = co_await with_checked_rights(engine_, prepared_, session_);
    is_open_ = true;
  }

  const Prepared& prepared() const { return *prepared_; }
  PreparedPtr replanned() const { return is_replanned_ ? prepared_ : nullptr; }
  sql::ColumnPtr named(const sql::ColumnPtr& column) const {
    if (!sql::shows_object_names(column->type().oid)) return column;
    return sql::with_object_names(column, session_context(session_, catalog_.get()));
  }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t affected_rows() const { return affected_rows_; }
  planner::RunStatistics* statistics = nullptr;
  bool describes_later = false;
  /// Returns the plan of the last run; the original plan before the first.
  const planner::PhysicalPlan& plan() const { return plan_ ? plan_ : prepared_->plan->planned.plan; }

  /// Ends the run, so that all operators have told their statistics.
  void finish() {
    finished_ = true;
    if (context_) affected_rows_ = context_->affected_rows;
    drop_run();
  }

 private:
  /// Like next(), if no rows are held.
  asio::awaitable<std::optional<sql::Batch>> run() {
    while (true) {
      Outcome outcome = Outcome::kGood;
      std::optional<sql::Batch> batch;
      LockConflict blocker;
      try {
        if (!root_) co_await start();
        if (holds_ || pending_) {
          batch = co_await pull_held();
        } else {
          batch = co_await root_->next();
          if (context_->evaluation().sleep > 0) co_await sleep();
          if (policy_.is_strict) co_await keep_reads(!batch);
          if (batch) rows_ += batch->rows;
        }
      } catch (const sql::SqlError& error) {
        const bool lacks_databases = error.sqlstate() == sqlstate::kUndefinedDatabase && databases_.empty() && !rows_sent_ && !policy_.writes;
        if (!lacks_databases) throw;
        outcome = Outcome::kNoDatabases;
      } catch (const StaleCatalog&) {
        outcome = Outcome::kStale;
      } catch (const WriteConflict&) {
        outcome = Outcome::kConflict;
      } catch (const LockedByOther& locked) {
        outcome = Outcome::kLocked;
        blocker = locked.conflict;
      }
      if (outcome == Outcome::kGood) {
        // At the stricter isolation levels what was read is kept at the end.
        if (!batch || (!holds_ && !policy_.is_strict && root_->is_at_end())) finish();
        rows_sent_ = rows_sent_ || batch.has_value();
        co_return batch;
      }
      check_may_run_again(outcome);
      drop_run();
      co_await prepare_next_run(outcome, std::move(blocker));
    }
  }

  /// Throws 40001 if the retry rules end the statement. Counts the run otherwise.
  void check_may_run_again(Outcome outcome) {
    if (rows_sent_) throw serialization_failure("change of the table's definition");
    const RetryRule& rule = *std::ranges::find(kRetryRules, outcome, &RetryRule::outcome);
    if (policy_.is_strict && !rule.at_strict_levels) throw serialization_failure(rule.failure);
    int& times = bad_runs_[static_cast<std::size_t>(outcome)];
    if (rule.most != 0 && ++times >= rule.most) throw serialization_failure(rule.failure);
  }

  asio::awaitable<void> prepare_next_run(Outcome outcome, LockConflict blocker) {
    if (outcome == Outcome::kLocked) co_await wait(std::move(blocker));
    const int times = bad_runs_[static_cast<std::size_t>(outcome)];
    if (outcome == Outcome::kConflict || times > kQuickStaleRuns) co_await pause(times);
    if (outcome == Outcome::kStale) co_await replan();
    if (outcome != Outcome::kNoDatabases) co_return;
    databases_ = co_await list_databases(engine_.home());
    if (databases_.empty()) databases_ = {session_.database};
  }

  asio::awaitable<void> replan() {
    std::vector<PlacedTable> tables;
    for (const auto& table : planner::tables_of(prepared_->plan->planned.plan)) tables.emplace_back(*table);
    if (policy_.writes) add_tables_of_foreign_keys(*co_await engine_.catalog(session_), tables);
    const LockDeadline deadline = lock_deadline(session_.lock_timeout);
    // Definitions that others change all the time are seldom those of this statement's tables.
    bool was_exclusive = false;
    if (!tables.empty()) was_exclusive = co_await wait_while_exclusive(engine_.shared(), std::move(tables), deadline);
    if (was_exclusive) bad_runs_[static_cast<std::size_t>(Outcome::kStale)] = 0;
    prepared_ = co_await engine_.replan(*prepared_, session_, describes_later);
    is_replanned_ = true;
  }

  asio::awaitable<void> wait(LockConflict blocker) {
    const LockWaitLimits limits{session_.lock_timeout, session_.deadlock_timeout, session_.backend_pid};
    std::string token = transaction_ ? transaction_->locks().token : session_.advisory_locks ? session_.advisory_locks->token() : "";
    co_await wait_for_lock(engine_.shared(), std::move(blocker), std::move(token), limits, engine_.random());
  }

  /// The statement failed: locks of its own transaction go.
  asio::awaitable<void> abandon() {
    if (policy_.is_compound) drop_run();
    if (own_transaction_) co_await engine_.release(session_, *std::exchange(own_transaction_, nullptr));
  }

  RunPolicy policy_of(const PreparedPlan& plan, const sql::CatalogSnapshot& catalog) const {
    const bool may_empty = plan.writes && !session_.temporary_schema.empty();
    return {.writes = plan.writes,
            .is_compound = plan.planned.is_compound_write || (may_empty && empties_on_commit(plan.planned.plan)) ||
                           (plan.writes && has_keys_over_buckets(catalog, plan.planned.plan)),
            .is_strict = transaction_ && !own_transaction_ && session_.modes.isolation != IsolationLevel::kReadCommitted};
  }

  asio::awaitable<void> start() {
    const planner::PlannedStatement& planned = prepared_->plan->planned;
    if (session_.modes.read_only) refuse_writes(planned, copy_ != nullptr);
    sql::CatalogPtr catalog = engine_.catalog_at_hand(session_);
    if (!catalog) catalog = co_await engine_.catalog(session_);
    if (catalog->version != prepared_->plan->catalog_version) throw StaleCatalog{};
    policy_ = policy_of(*prepared_->plan, *catalog);
    if (!is_open_ && !has_checked_rights(*prepared_->plan, session_)) co_await check_rights(engine_, prepared_, session_, catalog);
    if (!engine_.exclusive_tables().empty()) {
      for (const auto& table : planner::tables_of(planned.plan)) {
        if (engine_.exclusive_tables().contains(table->oid)) throw StaleCatalog{};
      }
    }
    sql::EvaluationContext evaluation = session_context(session_, catalog.get());
    evaluation.parameters = parameters_;
    if (std::ranges::any_of(parameters_, [](const sql::Datum& value) { return sql::is_null(value); })) evaluation.known_parameters = parameters_.size();
    evaluation.parameters.resize(std::max<std::size_t>(prepared_->plan->planned.slot_count, parameters_.size()));
    evaluation.transaction_timestamp = evaluation.statement_timestamp = timestamp_;
    evaluation.databases = databases_;
    if (planned.sizes_asked != sql::SizesAsked::kNone && !sizes_) sizes_ = co_await sample_sizes(engine_.access(), engine_.home(), engine_.shared(), *catalog, planned.sizes_asked);
    if (sizes_) evaluation.sizes = &*sizes_;
    plan_ = prepared_->plan->planned.plan;
    if (policy_.is_compound && !transaction_) own_transaction_ = transaction_ = engine_.begin_transaction();  // several writes are a transaction
    if (transaction_) {
      if (policy_.is_compound && !buffer_mark_) buffer_mark_ = transaction_->buffer().mark();
      if (policy_.writes || prepared_->needs_transaction) co_await engine_.prepare_locks(*transaction_, session_);
      if (!own_transaction_ || session_.function_depth > 0) evaluation.transaction_timestamp = session_.transaction_time;
      check_definitions(*transaction_, *catalog);
      if (transaction_->buffer().has_increments()) co_await settle(*transaction_);
      if (!prepared_->plan->reads_plainly) {
        const std::set<sql::Oid> changed = transaction_->changed_tables();
        if (!changed.empty()) plan_ = engine_.plan_over_changes(*prepared_, *catalog, changed, session_);
      }
    }
    catalog_ = catalog;
    context_.emplace(engine_.shared(), engine_.bulk(), catalog, std::move(evaluation), make_operator);
    context_->set_transaction(transaction_);
    if (policy_.is_compound) context_->freeze_changes();
    context_->sequences = &session_.sequences;
    context_->advisory = [this](sql::AdvisoryRequest request, std::int64_t key) { return engine_.advisory_lock(session_, request, key); };
    context_->run_function = [this](FunctionInvocation invocation) { return call_function(std::move(invocation)); };
    context_->notice = [this](const sql::SqlError& notice) {
      if (session_.notice) session_.notice("NOTICE", notice);
    };
    context_->tables_hold = [this] { return tables_hold(); };
    context_->wait_for_lock = [this](LockConflict blocker) { return wait(std::move(blocker)); };
    context_->work_mem = session_.work_mem, context_->temporary_space = session_.temporary_space, context_->account = session_.account;
    context_->max_written_rows = engine_.limits().script_rows;
    context_->cheapness = &engine_.cheapness(), context_->callable_commands = &engine_.callable_commands();
    context_->home = &engine_.home();
    role_access_.emplace(engine_.access(), engine_.database(), catalog, session_.role).check_as(planned.rights.requirements);
    context_->access = &*role_access_, context_->database = engine_.database(), context_->parameters = parameters_.size();
    context_->relation_counts = session_.relation_counts, context_->session_counters = &session_.counters;
    context_->table_memory = engine_.memory();
    bound_steps(*context_);
    // Copies are of committed definitions.
    const bool may_scan_memory = engine_.memory() != nullptr && !(transaction_ && transaction_->catalog() != nullptr);
    if (may_scan_memory && (plan_ == planned.plan ? prepared_->plan->scans_memory : scans_memory(*plan_))) {
      auto memory = std::make_shared<MemoryRun>(*engine_.memory(), engine_.database());
      memory->note_scans(*plan_);
      context_->memory = std::move(memory);
    }
    context_->allows_increments = !transaction_ || session_.modes.isolation == IsolationLevel::kReadCommitted;
    context_->allows_unread_increments = bad_runs_[static_cast<std::size_t>(Outcome::kConflict)] == 0 && statistics == nullptr && (!transaction_ || adds_in_transaction());
    context_->commits_at_once = own_transaction_ && !copy_ && bad_runs_[static_cast<std::size_t>(Outcome::kConflict)] == 0 && writes_alone(*plan_);  // COPY cannot run again
    context_->statistics = statistics;
    if (policy_.is_strict) {
      reads_ = {};
      note_tables(*plan_, reads_);
      // A snapshot is all that REPEATABLE READ promises: what it has read may change before it commits what it has made of that.
      transaction_->set_keeps_reads(session_.modes.isolation == IsolationLevel::kSerializable);
      if (policy_.writes && transaction_->keeps_reads() && transaction_->read_moment().is_past()) throw serialization_failure("update");
      co_await reads_.take_counters(engine_.shared(), *catalog, transaction_->reads(), transaction_->read_moment());
      context_->set_reads(&reads_);
    }
    // A statement that writes changes its tables' counters, and must not run twice: the write unit checks the replaced rows.
    const bool is_pieced = plan_ == planned.plan ? prepared_->plan->needs_snapshot : planner::needs_snapshot(plan_);
    snapshot_.begin(tables_of_run(plan_, context_->evaluation(), parameters_.size()), is_pieced, reads_in_one_place(*plan_));
    const bool needs_snapshot = is_pieced || snapshot_.spans_buckets();
    compares_counters_ = !policy_.is_strict && !policy_.writes && needs_snapshot;
    // A query that has to wait for a row's lock may be run again.
    holds_ = policy_.is_strict || policy_.is_compound || needs_snapshot || prepared_->needs_transaction;
    if (compares_counters_) {
      // On the way before anything that the plan asks by the same connection.
      const asio::any_io_executor executor = co_await asio::this_coro::executor;
      snapshot_.send(engine_.shared(), executor, &session_.counters);
      if (snapshot_.spans_buckets()) context_->set_commits(&snapshot_.commits());
      if (walks_on_bulk_connection(*plan_)) co_await snapshot_.take(*context_);
    }
    root_ = copy_ ? make_copy_insert(*plan_, prepared_->plan->copy, *copy_, *context_) : context_->make_operator(*plan_);
  }

  /// Returns true if the run may continue although the catalog has moved. Before its rows go out, or a client's rows come in, it begins
  /// again instead.
  asio::awaitable<bool> tables_hold() {
    if (!rows_sent_ && !(copy_ && copy_->started)) co_return false;
    auto tables = planner::tables_of(plan_);
    const TransactionCatalog* own = transaction_ ? transaction_->catalog() : nullptr;
    if (own != nullptr) std::erase_if(tables, [&](const auto& table) { return !own->is_committed(*table); });
    co_return co_await engine_.still_defines(std::move(tables));
  }

  /// A function in LANGUAGE sql that the statement calls: what it does belongs to the statement's transaction.
  asio::awaitable<std::vector<sql::Batch>> call_function(FunctionInvocation invocation) {
    struct Restore {
      SessionState& session;
      std::shared_ptr<Transaction> transaction;
      ~Restore() { session.transaction = std::move(transaction); }
    };
    const Restore restore{session_, session_.transaction};
    if (own_transaction_) session_.transaction = own_transaction_;
    if (session_.function_depth == 0) {
      session_.transaction_time = context_->evaluation().transaction_timestamp;
      session_.statement_time = context_->evaluation().statement_timestamp;
    }
    co_return co_await run_sql_function(engine_, session_, std::move(invocation));
  }

  /// Returns true if the plan adds to one row, in a transaction that sees other commits.
  bool adds_in_transaction() const { return !policy_.is_compound && context_->allows_increments && adds_to_one_row(*plan_); }

  /// Makes increments of the plan's tables visible to it.
  asio::awaitable<void> settle(Transaction& transaction) {
    std::set<sql::Oid> tables;
    for (const auto& table : planner::tables_of(plan_)) tables.insert(table->oid);
    const auto looked_at = transaction.buffer().increments(tables);
    if (looked_at.empty()) co_return;
    if (!policy_.writes) {
      for (const auto& [table, member] : looked_at) IncrementHabits::of_this_thread().note_look(table->oid);
    }
    co_await engine_.prepare_locks(transaction, session_);
    const LockWaitLimits limits{session_.lock_timeout, session_.deadlock_timeout, session_.backend_pid};
    co_await settle_increments(engine_.shared(), transaction, std::move(tables), limits, engine_.random());
  }

  /// Throws 40001 if what was read has changed before its rows go out. Adds the reads to those of the transaction at the end.
  asio::awaitable<void> keep_reads(bool is_end) {
    if (!co_await reads_hold()) throw serialization_failure("update");
    if (is_end) transaction_->reads().merge(reads_);
  }

  /// Reads all rows, and holds them until they are known to belong together. Returns the first ones.
  asio::awaitable<std::optional<sql::Batch>> pull_held() {
    if (pending_) std::rethrow_exception(pending_);
    std::size_t memory = 0;
    while (auto batch = co_await next_held()) {
      if (context_->evaluation().sleep > 0) co_await sleep();
      memory += batch->memory();
      held_.push_back(std::move(*batch));
      if (memory > context_->work_mem && !policy_.is_compound) {  // too much to hold: rows of one moment each, as a plain scan gives them
        holds_ = false;
        if (policy_.is_strict && !co_await reads_hold()) throw serialization_failure("update");
        co_return take_held();
      }
    }
    if (policy_.is_strict && !co_await reads_hold()) {
      // No effect of this statement is visible yet; its writes belong to the transaction already.
      if (++snapshot_attempts_ >= kMaxAttempts || policy_.writes) throw serialization_failure("update");
      drop_run();
      co_await start();
      co_return co_await pull_held();
    }
    if (compares_counters_ && co_await has_moved()) {
      drop_run();
      co_await start();
      co_return co_await pull_held();
    }
    if (own_transaction_) co_await commit_own();
    if (!pending_) finish();
    if (held_.empty()) co_return std::nullopt;
    co_return take_held();
  }

  /// Commits the statement's own transaction. Throws WriteConflict if the commit, which was the first to verify the rows, has refused them: the next
  /// run verifies them by the statement, in the order of its rows.
  asio::awaitable<void> commit_own() {
    bool is_refused = false;
    try {
      co_await engine_.commit_transaction(std::exchange(own_transaction_, nullptr), session_);
    } catch (const sql::SqlError& error) {
      is_refused = context_->commits_at_once && (error.sqlstate() == sqlstate::kSerializationFailure || error.sqlstate().starts_with("23"));
      if (!is_refused) throw;
    }
    if (!is_refused) co_return;
    transaction_ = nullptr;
    buffer_mark_.reset();
    throw WriteConflict{};
  }

  /// Must the statement read again, because its commands have read several states? Throws 40001 if they do so for long.
  asio::awaitable<bool> has_moved() {
    if (co_await snapshot_.is_torn(*context_)) {
      if (now_microseconds() - timestamp_ > kTornPatience) throw serialization_failure("update");
      co_return true;
    }
    if (!context_->needs_snapshot_check()) co_return false;
    const bool may_read_again = ++snapshot_attempts_ < kMaxSnapshotAttempts || now_microseconds() - timestamp_ < kSnapshotPatience;
    if (!may_read_again) co_return false;
    co_return co_await snapshot_.has_changed(*context_);
  }

  /// The next rows of those that are held; nullopt also at an error, if rows come before it.
  asio::awaitable<std::optional<sql::Batch>> next_held() {
    try {
      co_return co_await root_->next();
    } catch (const sql::SqlError& error) {
      const bool may_send = !held_.empty() && !policy_.writes && !policy_.is_compound && !policy_.is_strict && error.sqlstate() != sqlstate::kQueryCanceled;
      if (!may_send) throw;
      pending_ = std::current_exception();
      co_return std::nullopt;
    }
  }

  /// Returns true if all that this statement and earlier ones have read held at one moment: now, or, at REPEATABLE READ and in a read-only
  /// transaction, at an earlier one. It then counts as read. Throws 40001 if the transaction is lost.
  asio::awaitable<bool> reads_hold() {
    ReadMoment& moment = transaction_->read_moment();
    ReadChecks none;
    const bool was_past = moment.is_past();
    co_await apply_seen_commits(engine_.shared(), *catalog_, transaction_->reads(), reads_);
    const ReadChecks::Answer answer = co_await ReadChecks::hold(engine_.shared(), was_past ? none : transaction_->reads(), reads_);
    if (was_past || !answer.first) {
      const bool may_be_past = !transaction_->keeps_reads() || (!policy_.writes && transaction_->buffer().empty());
      const bool is_then = answer.second && moment.covers(reads_) && may_be_past;
      if (!is_then) throw serialization_failure("update");
      moment.become_past();
    }
    const bool is_later = !moment.is_past() && answer.second && !reads_.empty() && !moment.covers(reads_);
    if (is_later) moment.forget();
    if (answer.second && !holds_) co_return true;
    if (answer.second) transaction_->reads().merge(reads_);
    if (is_later) co_await transaction_->reads().take_moment(engine_.shared(), *catalog_, moment);
    co_return answer.second;
  }

  /// Rows that called pg_sleep() come that much later.
  asio::awaitable<void> sleep() {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    timer.expires_after(std::chrono::microseconds(std::exchange(context_->evaluation().sleep, 0)));
    co_await timer.async_wait(asio::use_awaitable);
  }

  std::optional<sql::Batch> take_held() {
    sql::Batch batch = std::move(held_.front());
    held_.pop_front();
    rows_ += batch.rows;
    return batch;
  }

  void drop_run() {
    root_.reset();
    pending_ = nullptr;
    if (!finished_) held_.clear();
    if (statistics && !finished_) statistics->clear();
    snapshot_.drop();
    context_.reset();
    if (buffer_mark_ && !finished_) transaction_->buffer().roll_back(*buffer_mark_);
  }

  /// The more bad runs there were, the longer: up to 13 ms.
  asio::awaitable<void> pause(int times) {
    asio::steady_timer timer(co_await asio::this_coro::executor);
    std::uniform_int_distribution<int> microseconds(50, 200 << std::min(times, 6));
    timer.expires_after(std::chrono::microseconds(microseconds(engine_.random())));
    co_await timer.async_wait(asio::use_awaitable);
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  std::vector<sql::Datum> parameters_;
  SessionState& session_;
  std::shared_ptr<Transaction> transaction_;  // at the start
  std::shared_ptr<Transaction> own_transaction_;  // of this statement alone
  std::optional<std::size_t> buffer_mark_;        // of a compound write: where its changes begin
  CopyInput* copy_;
  std::int64_t timestamp_;
  planner::PhysicalPlan plan_;  // of the last run
  std::optional<RoleAccess> role_access_;
  std::optional<ExecutionContext> context_;
  OperatorPtr root_;
  std::list<sql::Batch> held_;
  StatementSnapshot snapshot_;
  sql::CatalogPtr catalog_;  // of the last run: rows are shown after it has ended, too
  ReadChecks reads_;         // of the last run
  RunPolicy policy_;         // of the last run
  bool compares_counters_ = false;  // of the tables, before and after
  std::exception_ptr pending_;  // of a row behind those that are held
  std::optional<sql::RelationSizes> sizes_;  // of the run's beginning, where the statement asks for sizes
  std::vector<std::string> databases_;  // asked for when an expression names one that is not known
  bool holds_ = false;  // the rows, until they are known to belong together or are too many
  bool finished_ = false, rows_sent_ = false, is_replanned_ = false, is_open_ = false;
  std::array<int, std::size(kRetryRules) + 1> bad_runs_{};  // by outcome
  int snapshot_attempts_ = 0;
  std::uint64_t rows_ = 0, affected_rows_ = 0;
};

class QueryExecution final : public Execution {
 public:
  QueryExecution(RedisEngine& engine, PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session, CopyInput* copy)
      : run_(engine, std::move(prepared), std::move(parameters), session, copy) {
    if (session.auto_explain.min_duration < 0) return;
    plan_log_.emplace(session.auto_explain);
    run_.statistics = plan_log_->statistics();
  }

  asio::awaitable<std::optional<sql::Batch>> next() override { return plan_log_ ? next_logged() : run_.next(); }
  asio::awaitable<void> open() override { return run_.open(); }

  void describe_later() override { run_.describes_later = true; }
  PreparedPtr replanned() const override { return run_.replanned(); }

  sql::ColumnPtr named(const sql::ColumnPtr& column) const override { return run_.named(column); }

  std::string command_tag() const override {
    const PreparedPlan& prepared = *run_.prepared().plan;
    std::string rows = std::to_string(run_.affected_rows());
    if (prepared.kind == PreparedPlan::Kind::kCopy) return "COPY " + rows;
    if (!prepared.command_tag.empty()) return prepared.command_tag;
    if (const char* command = command_of(*prepared.planned.plan)) {
      const std::string_view oid = std::string_view(command) == "INSERT" ? " 0 " : " ";
      return std::string(command).append(oid).append(rows);
    }
    return "SELECT " + std::to_string(run_.rows());
  }

 private:
  asio::awaitable<std::optional<sql::Batch>> next_logged() {
    const auto started = std::chrono::steady_clock::now();
    std::optional<sql::Batch> batch = co_await run_.next();
    plan_log_->add(std::chrono::steady_clock::now() - started);
    if (!batch) plan_log_->write(run_.plan(), run_.prepared().text);
    co_return batch;
  }

  QueryRun run_;
  std::optional<PlanLog> plan_log_;
};

class ExplainExecution final : public Execution {
 public:
  ExplainExecution(RedisEngine& engine, PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session)
      : run_(engine, std::move(prepared), std::move(parameters), session), only_looks_(session.only_looks) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (done_) co_return std::nullopt;
    done_ = true;
    planner::ExplainOptions options = run_.prepared().plan->explain;
    options.only_looks = only_looks_;
    double milliseconds = 0;
    co_await run_.open();
    if (options.analyze) {
      run_.statistics = &statistics_;
      auto started = std::chrono::steady_clock::now();
      while (co_await run_.next()) continue;
      run_.finish();
      milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    }
    std::vector<std::string> lines = planner::explain(run_.plan(), options, options.analyze ? &statistics_ : nullptr,
                                                      run_.prepared().plan->planning_milliseconds, milliseconds);
    sql::Batch batch;
    batch.rows = lines.size();
    auto column = std::make_shared<sql::Column>(run_.prepared().columns[0].type);
    for (const std::string& line : lines) column->append<std::string_view>(line);
    batch.columns.push_back(std::move(column));
    co_return batch;
  }

  std::string command_tag() const override { return "EXPLAIN"; }

 private:
  QueryRun run_;
  planner::RunStatistics statistics_;
  bool only_looks_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<Execution> make_query_execution(RedisEngine& engine, PreparedPtr prepared, std::vector<sql::Datum> parameters,
                                                SessionState& session, CopyInput* copy) {
  return std::make_unique<QueryExecution>(engine, std::move(prepared), std::move(parameters), session, copy);
}

std::unique_ptr<Execution> make_explain_execution(RedisEngine& engine, PreparedPtr prepared, std::vector<sql::Datum> parameters,
                                                  SessionState& session) {
  return std::make_unique<ExplainExecution>(engine, std::move(prepared), std::move(parameters), session);
}

}  // namespace redquel::executor
