#include "executor/statements/query_execution.h"

#include <algorithm>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <list>

#include "executor/copy/copy_source.h"
#include "executor/operators/gather.h"
#include "executor/redis/bad_key.h"
#include "executor/roles/hidden_values.h"
#include "executor/routines/run_routine.h"
#include "executor/runtime/clock.h"
#include "executor/runtime/rest.h"
#include "executor/runtime/session_context.h"
#include "executor/statements/make_operator.h"
#include "executor/statements/plan_log.h"
#include "executor/statements/plan_reads.h"
#include "executor/statements/run_attempt.h"
#include "executor/statements/run_rights.h"
#include "executor/statements/written_tables.h"
#include "executor/storage/bad_keys.h"
#include "executor/storage/databases.h"
#include "executor/storage/seen_commits.h"
#include "executor/storage/size_samples.h"
#include "executor/storage/write_conflict.h"
#include "executor/tables/memory_run.h"
#include "executor/tables/scan_budget.h"
#include "executor/tables/shared_keys.h"
#include "executor/transaction/advisory_locks.h"
#include "executor/transaction/increments.h"
#include "executor/writes/statement_keys.h"
#include "executor/writes/statement_triggers.h"
#include "sql/functions/object_names.h"
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
    if (types_) session_.known_types->types = types_;  // another statement may have run since
    if (!held_.empty()) co_return take_held();
    if (finished_) co_return std::nullopt;
    if (attempt_ && attempt_->pending) rows_sent_ = true;
    std::exception_ptr failure;
    bool is_duplicate = false;
    bool has_bad_key = false;
    try {
      co_return co_await run();
    } catch (const sql::SqlError& error) {
      is_duplicate = error.sqlstate() == sqlstate::kUniqueViolation;
      has_bad_key = dynamic_cast<const BadKeyError*>(&error) != nullptr;
      failure = shown_failure(error, catalog_.get(), plan_, session_.role, session_.database);
    } catch (...) {
      failure = std::current_exception();
    }
    if (transaction_) engine_.note_failure(*transaction_, failure);
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());  // nothing could be awaited after a cancellation
    co_await abandon();
    co_await asio::this_coro::reset_cancellation_state();
    // A statement that looked before inserting, and was overtaken, shall be tried again, by the manual of SERIALIZABLE.
    if (is_duplicate && is_strict() && transaction_->keeps_reads()) {
      ReadChecks none;
      const ReadChecks::Answer answer = co_await ReadChecks::hold(engine_.shared(), transaction_->reads(), none);
      if (!answer.first) throw serialization_failure("update");
    }
    if (has_bad_key && catalog_) {
      const auto tables = tables_without_policies(plan(), session_.role, session_.database);
      if (const auto named = co_await named_bad_key(engine_.shared(), catalog_, tables)) throw *named;  // else the session looks further
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
  const sql::UserTypesPtr& user_types() const { return types_; }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t affected_rows() const { return affected_rows_; }
  planner::RunStatistics* statistics = nullptr;
  bool describes_later = false;
  /// Returns the plan of the last run, or the original one.
  const planner::PhysicalPlan& plan() const { return plan_ ? plan_ : prepared_->plan->planned.plan; }

  /// Ends the run, so that all operators have told their statistics.
  void finish() {
    finished_ = true;
    if (!attempt_) return;
    affected_rows_ = attempt_->context->affected_rows;
    if (attempt_->changes) attempt_->changes->keep();
    attempt_.reset();
  }

 private:
  /// Like next(), if no rows are held.
  asio::awaitable<std::optional<sql::Batch>> run() {
    while (true) {
      Outcome outcome = Outcome::kGood;
      std::optional<sql::Batch> batch;
      LockConflict blocker;
      std::exception_ptr violation;
      try {
        if (!attempt_) co_await start();
        if (attempt_->is_holding || attempt_->pending) {
          batch = co_await pull_held();
        } else {
          batch = co_await attempt_->root->next();
          if (attempt_->context->evaluation().sleep > 0) co_await sleep();
          if (attempt_->policy.is_strict) co_await keep_reads(!batch);
          if (batch) rows_ += batch->rows;
        }
      } catch (const sql::SqlError& error) {
        const bool lacks_databases = error.sqlstate() == sqlstate::kUndefinedDatabase && databases_.empty() && !rows_sent_ && !writes();
        if (lacks_databases) outcome = Outcome::kNoDatabases;
        else if (may_be_outdated(error)) violation = std::current_exception();
        else throw;
      } catch (const StaleCatalog&) {
        outcome = Outcome::kStale;
      } catch (const WriteConflict&) {
        outcome = Outcome::kConflict;
      } catch (const LockedByOther& locked) {
        outcome = Outcome::kLocked;
        blocker = locked.conflict;
      }
      if (violation) {
        const sql::CatalogPtr newest = co_await engine_.newest_catalog(session_);
        if (writes_by_definition_of(*newest, prepared_->plan->planned.plan)) std::rethrow_exception(violation);
        outcome = Outcome::kStale;
      }
      if (outcome == Outcome::kGood) {
        // At the stricter isolation levels what was read is kept at the end.
        if (!batch || (attempt_ && !attempt_->is_holding && !attempt_->policy.is_strict && attempt_->root->is_at_end())) finish();
        rows_sent_ = rows_sent_ || batch.has_value();
        co_return batch;
      }
      if (rows_sent_) throw serialization_failure("change of the table's definition");
      bad_runs_.note(outcome, is_strict());
      drop_attempt();
      co_await prepare_next_run(outcome, std::move(blocker));
    }
  }

  asio::awaitable<void> prepare_next_run(Outcome outcome, LockConflict blocker) {
    if (outcome == Outcome::kLocked) co_await wait(std::move(blocker));
    const int times = bad_runs_.of(outcome);
    if (outcome == Outcome::kConflict || times > kQuickStaleRuns) co_await pause(times);
    if (outcome == Outcome::kStale) co_await replan();
    if (outcome != Outcome::kNoDatabases) co_return;
    databases_ = co_await list_databases(engine_.home());
    if (databases_.empty()) databases_ = {session_.database};
  }

  asio::awaitable<void> replan() {
    std::vector<PlacedTable> tables;
    for (const auto& table : planner::tables_of(prepared_->plan->planned.plan)) tables.emplace_back(*table);
    if (writes()) add_tables_of_foreign_keys(*co_await engine_.catalog(session_), tables);
    const LockDeadline deadline = lock_deadline(session_.lock_timeout);
    // Definitions that others change all the time are seldom those of this statement's tables.
    bool was_exclusive = false;
    if (!tables.empty()) was_exclusive = co_await wait_while_exclusive(engine_.shared(), std::move(tables), deadline);
    if (was_exclusive) bad_runs_.forget(Outcome::kStale);
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
    if (attempt_ && attempt_->policy.is_compound) drop_attempt();
    if (own_transaction_) co_await engine_.release(session_, *std::exchange(own_transaction_, nullptr));
  }

  bool writes() const { return prepared_->plan->writes; }
  /// Returns true for an error of a new row against conditions, which other sessions may have taken back meanwhile: Redis was not asked.
  bool may_be_outdated(const sql::SqlError& error) const {
    const bool is_of_row = error.sqlstate() == sqlstate::kCheckViolation || error.sqlstate() == sqlstate::kNotNullViolation;
    return is_of_row && writes() && !rows_sent_ && !(copy_ && copy_->started) && !(session_.transaction && session_.transaction->catalog());
  }
  /// Returns true at REPEATABLE READ and SERIALIZABLE.
  bool is_strict() const { return transaction_ && !own_transaction_ && session_.modes.isolation != IsolationLevel::kReadCommitted; }
  /// Returns true if the statement's several writes are made in a transaction, of its own if need be.
  bool is_compound(const sql::CatalogSnapshot& catalog) const {
    const PreparedPlan& plan = *prepared_->plan;
    const bool may_empty = plan.writes && !session_.temporary_schema.empty();
    return plan.planned.is_compound_write || (may_empty && empties_on_commit(plan.planned.plan)) ||
           (plan.writes && has_keys_over_buckets(catalog, plan.planned.plan));
  }

  asio::awaitable<void> start() {
    const planner::PlannedStatement& planned = prepared_->plan->planned;
    if (session_.modes.read_only) refuse_writes(planned, copy_ != nullptr);
    sql::CatalogPtr catalog = engine_.catalog_at_hand(session_);
    if (!catalog) catalog = co_await engine_.catalog(session_);
    if (catalog->version != prepared_->plan->catalog_version) throw StaleCatalog{};
    RunPolicy policy{.writes = writes(), .is_compound = is_compound(*catalog), .is_strict = is_strict()};
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
    if (policy.is_compound && !transaction_) own_transaction_ = transaction_ = engine_.begin_transaction();  // several writes are a transaction
    if (transaction_) {
      if (policy.writes || prepared_->needs_transaction) co_await engine_.prepare_locks(*transaction_, session_);
      if (!own_transaction_ || session_.function_depth > 0) evaluation.transaction_timestamp = session_.transaction_time;
      check_definitions(*transaction_, *catalog);
      if (transaction_->buffer().has_increments()) co_await settle(*transaction_);
      if (!prepared_->plan->reads_plainly) {
        const std::set<sql::Oid> changed = transaction_->changed_tables();
        if (!changed.empty()) plan_ = engine_.plan_over_changes(*prepared_, *catalog, changed, session_);
      }
    }
    catalog_ = catalog;
    types_ = catalog->user_types;
    StatementSnapshot snapshot;
    const bool is_pieced = plan_ == planned.plan ? prepared_->plan->needs_snapshot : planner::needs_snapshot(plan_);
    snapshot.begin(tables_of_run(plan_, evaluation, parameters_.size()), is_pieced, reads_in_one_place(*plan_));
    const bool needs_snapshot = is_pieced || snapshot.spans_buckets();
    // A statement that writes changes its tables' counters, and must not run twice: the write unit checks the replaced rows.
    policy.compares_counters = !policy.is_strict && !policy.writes && needs_snapshot;
    // A query that has to wait for a row's lock may be run again.
    policy.holds_rows = policy.is_strict || policy.is_compound || needs_snapshot || prepared_->needs_transaction;
    begin_attempt(policy, std::move(snapshot), std::move(evaluation));
    co_await begin_reads();
    ExecutionContext& context = *attempt_->context;
    attempt_->root = copy_ ? make_copy_insert(*plan_, prepared_->plan->copy, *copy_, context) : context.make_operator(*plan_);
  }

  void begin_attempt(const RunPolicy& policy, StatementSnapshot snapshot, sql::EvaluationContext evaluation) {
    const planner::PlannedStatement& planned = prepared_->plan->planned;
    RunAttempt& attempt = attempt_.emplace(policy);
    if (policy.is_compound) attempt.changes.emplace(transaction_);
    attempt.snapshot = std::move(snapshot);
    ExecutionContext& context = attempt.context.emplace(engine_.shared(), engine_.bulk(), catalog_, std::move(evaluation), make_operator);
    context.set_transaction(transaction_);
    if (policy.is_compound) context.freeze_changes();
    if (planned.is_compound_write) context.statement_keys = std::make_shared<StatementKeys>(context);
    if (planned.fires_triggers) context.triggers = std::make_shared<StatementTriggers>(context);
    context.sequences = &session_.sequences, context.transition_tables = session_.transition_tables;
    context.advisory = [this](sql::AdvisoryRequest request, std::int64_t key) { return engine_.advisory_lock(session_, request, key); };
    context.run_function = [this](FunctionInvocation invocation) { return call_function(std::move(invocation)); };
    context.notice = [this](const sql::SqlError& notice) {
      if (session_.notice) session_.notice("NOTICE", notice);
    };
    context.tables_hold = [this] { return tables_hold(); };
    context.wait_for_lock = [this](LockConflict blocker) { return wait(std::move(blocker)); };
    context.pause = [this](int times) { return pause(times); };
    context.work_mem = session_.work_mem, context.temporary_space = session_.temporary_space, context.account = session_.account;
    context.max_written_rows = engine_.limits().script_rows;
    context.cheapness = &engine_.cheapness(), context.callable_commands = &engine_.callable_commands();
    context.home = &engine_.home();
    attempt.role_access.emplace(engine_.access(), engine_.database(), catalog_, session_.role).check_as(planned.rights.requirements);
    context.access = &*attempt.role_access, context.database = engine_.database(), context.parameters = parameters_.size();
    context.relation_counts = session_.relation_counts, context.session_counters = &session_.counters;
    context.table_memory = engine_.memory();
    bound_steps(context);
    if (context.redis().own_keyspace() != nullptr) context.shared_keys = SharedKeys::of_plan(*plan_);
    // Copies are of committed definitions.
    const bool may_scan_memory = engine_.memory() != nullptr && !(transaction_ && transaction_->catalog() != nullptr);
    if (may_scan_memory && (plan_ == planned.plan ? prepared_->plan->scans_memory : scans_memory(*plan_))) {
      auto memory = std::make_shared<MemoryRun>(*engine_.memory(), engine_.database());
      memory->note_scans(*plan_);
      context.memory = std::move(memory);
    }
    context.allows_increments = !transaction_ || session_.modes.isolation == IsolationLevel::kReadCommitted;
    const bool had_conflicts = bad_runs_.of(Outcome::kConflict) > 0;
    const bool adds_alone = !policy.is_compound && context.allows_increments && adds_to_one_row(*plan_);
    context.allows_unread_increments = !had_conflicts && statistics == nullptr && (!transaction_ || adds_alone);
    context.commits_at_once = own_transaction_ && !copy_ && !had_conflicts && !context.triggers && writes_alone(*plan_);  // COPY cannot run again
    context.statistics = statistics;
  }

  /// Notes the reads of a stricter isolation level, and sends the commands that look at the tables.
  asio::awaitable<void> begin_reads() {
    RunAttempt& attempt = *attempt_;
    if (attempt.policy.is_strict) {
      note_tables(*plan_, attempt.reads);
      // A snapshot is all that REPEATABLE READ promises: what it has read may change before it commits what it has made of that.
      transaction_->set_keeps_reads(session_.modes.isolation == IsolationLevel::kSerializable);
      if (attempt.policy.writes && transaction_->keeps_reads() && transaction_->read_moment().is_past()) throw serialization_failure("update");
      co_await attempt.reads.take_counters(engine_.shared(), *catalog_, transaction_->reads(), transaction_->read_moment());
      attempt.context->set_reads(&attempt.reads);
    }
    if (attempt.policy.compares_counters) {
      // On the way before anything that the plan asks by the same connection.
      const asio::any_io_executor executor = co_await asio::this_coro::executor;
      attempt.snapshot.send(engine_.shared(), executor, &session_.counters);
      if (attempt.snapshot.spans_buckets()) attempt.context->set_commits(&attempt.snapshot.commits());
      if (walks_on_bulk_connection(*plan_)) co_await attempt.snapshot.take(*attempt.context);
    }
  }

  /// Returns true if the run may continue although the catalog has moved. Before its rows go out, or a client's rows come in, it begins
  /// again instead.
  asio::awaitable<bool> tables_hold() {
    if (!rows_sent_ && !(copy_ && copy_->started)) co_return false;
    auto tables = planner::tables_of(plan_);
    const TransactionCatalog* own = transaction_ ? transaction_->catalog() : nullptr;
    if (own != nullptr) std::erase_if(tables, [&](const auto& table) { return !own->is_committed(*table); });
    if (!co_await engine_.still_defines(std::move(tables))) co_return false;
    // The tables' rows may have new labels of an enum by now. Types that have changed otherwise have brought new versions of the tables.
    if (engine_.catalog_at_hand(session_)) types_ = session_.known_types->types;
    co_return true;
  }

  /// A routine that the statement calls: what it does belongs to the statement's transaction.
  asio::awaitable<std::vector<sql::Batch>> call_function(FunctionInvocation invocation) {
    const CallerState caller(session_);
    if (own_transaction_) session_.transaction = own_transaction_;
    if (session_.function_depth == 0) {
      session_.transaction_time = attempt_->context->evaluation().transaction_timestamp;
      session_.statement_time = attempt_->context->evaluation().statement_timestamp;
    }
    co_return co_await run_routine(engine_, session_, std::move(invocation));
  }

  /// Makes increments of the plan's tables visible to it.
  asio::awaitable<void> settle(Transaction& transaction) {
    std::set<sql::Oid> tables;
    for (const auto& table : planner::tables_of(plan_)) tables.insert(table->oid);
    const auto looked_at = transaction.buffer().increments(tables);
    if (looked_at.empty()) co_return;
    if (!writes()) {
      for (const auto& [table, member] : looked_at) IncrementHabits::of_this_thread().note_look(table->oid);
    }
    co_await engine_.prepare_locks(transaction, session_);
    const LockWaitLimits limits{session_.lock_timeout, session_.deadlock_timeout, session_.backend_pid};
    co_await settle_increments(engine_.shared(), transaction, std::move(tables), limits, engine_.random());
  }

  /// Throws 40001 if what was read has changed before its rows go out. Adds the reads to those of the transaction at the end.
  asio::awaitable<void> keep_reads(bool is_end) {
    if (!co_await reads_hold()) throw serialization_failure("update");
    if (is_end) transaction_->reads().merge(attempt_->reads);
  }

  /// Reads all rows, and holds them until they are known to belong together. Returns the first ones.
  asio::awaitable<std::optional<sql::Batch>> pull_held() {
    if (attempt_->pending) std::rethrow_exception(attempt_->pending);
    std::size_t memory = 0;
    while (auto batch = co_await next_held()) {
      if (attempt_->context->evaluation().sleep > 0) co_await sleep();
      memory += batch->memory();
      held_.push_back(std::move(*batch));
      if (memory > attempt_->context->work_mem && !attempt_->policy.is_compound) {  // too much to hold: rows of one moment each, as a plain scan gives them
        attempt_->is_holding = false;
        if (attempt_->policy.is_strict && !co_await reads_hold()) throw serialization_failure("update");
        co_return take_held();
      }
    }
    if (attempt_->context->statement_keys) co_await attempt_->context->statement_keys->finish();
    if (attempt_->context->triggers) co_await attempt_->context->triggers->finish();
    bool reads_again = false;
    if (attempt_->policy.is_strict && !co_await reads_hold()) {
      // No effect of this statement is visible yet; its writes belong to the transaction already.
      if (++snapshot_attempts_ >= kMaxAttempts || attempt_->policy.writes) throw serialization_failure("update");
      reads_again = true;
    }
    if (reads_again || (attempt_->policy.compares_counters && co_await has_moved())) {
      drop_attempt();
      co_await start();
      co_return co_await pull_held();
    }
    if (own_transaction_) co_await commit_own();
    if (!attempt_->pending) finish();
    if (held_.empty()) co_return std::nullopt;
    co_return take_held();
  }

  /// Commits the statement's own transaction. Throws WriteConflict if the commit, which was the first to verify the rows, has refused them: the next
  /// run verifies them by the statement, in the order of its rows.
  asio::awaitable<void> commit_own() {
    bool is_refused = false;
    if (attempt_->changes) attempt_->changes->keep();  // the transaction ends with the commit
    try {
      co_await engine_.commit_transaction(std::exchange(own_transaction_, nullptr), session_);
    } catch (const sql::SqlError& error) {
      is_refused = attempt_->context->commits_at_once && (error.sqlstate() == sqlstate::kSerializationFailure || error.sqlstate().starts_with("23"));
      if (!is_refused) throw;
    }
    transaction_ = is_refused ? nullptr : transaction_;
    if (is_refused) throw WriteConflict{};
  }

  /// Must the statement read again, because its commands have read several states? Throws 40001 if they do so for long.
  asio::awaitable<bool> has_moved() {
    if (co_await attempt_->snapshot.is_torn(*attempt_->context)) {
      if (now_microseconds() - timestamp_ > kTornPatience) throw serialization_failure("update");
      co_return true;
    }
    if (!attempt_->context->needs_snapshot_check()) co_return false;
    const bool may_read_again = ++snapshot_attempts_ < kMaxSnapshotAttempts || now_microseconds() - timestamp_ < kSnapshotPatience;
    if (!may_read_again) co_return false;
    co_return co_await attempt_->snapshot.has_changed(*attempt_->context);
  }

  /// The next rows of those that are held; nullopt also at an error, if rows come before it.
  asio::awaitable<std::optional<sql::Batch>> next_held() {
    try {
      co_return co_await attempt_->root->next();
    } catch (const sql::SqlError& error) {
      const bool may_send = !held_.empty() && !attempt_->policy.writes && !attempt_->policy.is_compound && !attempt_->policy.is_strict && error.sqlstate() != sqlstate::kQueryCanceled;
      if (!may_send) throw;
      attempt_->pending = std::current_exception();
      co_return std::nullopt;
    }
  }

  /// Returns true if all that this statement and earlier ones have read held at one moment: now, or, at REPEATABLE READ and in a read-only
  /// transaction, at an earlier one. It then counts as read. Throws 40001 if the transaction is lost.
  asio::awaitable<bool> reads_hold() {
    ReadMoment& moment = transaction_->read_moment();
    ReadChecks none;
    const bool was_past = moment.is_past();
    co_await apply_seen_commits(engine_.shared(), *catalog_, transaction_->reads(), attempt_->reads);
    const ReadChecks::Answer answer = co_await ReadChecks::hold(engine_.shared(), was_past ? none : transaction_->reads(), attempt_->reads);
    if (was_past || !answer.first) {
      const bool may_be_past = !transaction_->keeps_reads() || (!attempt_->policy.writes && transaction_->buffer().empty());
      const bool is_then = answer.second && moment.covers(attempt_->reads) && may_be_past;
      if (!is_then) throw serialization_failure("update");
      moment.become_past();
    }
    const bool is_later = !moment.is_past() && answer.second && !attempt_->reads.empty() && !moment.covers(attempt_->reads);
    if (is_later) moment.forget();
    if (answer.second && !attempt_->is_holding) co_return true;
    if (answer.second) transaction_->reads().merge(attempt_->reads);
    if (is_later) co_await transaction_->reads().take_moment(engine_.shared(), *catalog_, moment);
    co_return answer.second;
  }

  /// Rows that called pg_sleep() come that much later.
  asio::awaitable<void> sleep() { return rest(std::exchange(attempt_->context->evaluation().sleep, 0)); }

  /// The more bad runs there were, the longer: up to 13 ms.
  asio::awaitable<void> pause(int times) { return rest(std::uniform_int_distribution<int>(50, 200 << std::min(times, 6))(engine_.random())); }

  std::optional<sql::Batch> take_held() {
    sql::Batch batch = std::move(held_.front());
    held_.pop_front();
    rows_ += batch.rows;
    return batch;
  }

  /// Ends an attempt that is not the statement's last one.
  void drop_attempt() {
    attempt_.reset();
    held_.clear();
    if (statistics) statistics->clear();
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  std::vector<sql::Datum> parameters_;
  SessionState& session_;
  std::shared_ptr<Transaction> transaction_;  // at the start
  std::shared_ptr<Transaction> own_transaction_;  // of this statement alone
  CopyInput* copy_;
  std::int64_t timestamp_;
  planner::PhysicalPlan plan_;  // of the last attempt
  std::optional<RunAttempt> attempt_;  // none: before the first one, between two, and after the last one
  std::list<sql::Batch> held_;      // of the last attempt
  sql::CatalogPtr catalog_;   // of the last attempt: rows are shown after it has ended, too
  sql::UserTypesPtr types_;   // of the catalog, or newer ones under which the attempt goes on
  std::optional<sql::RelationSizes> sizes_;  // of the run's beginning, where the statement asks for sizes
  std::vector<std::string> databases_;  // asked for when an expression names one that is not known
  bool finished_ = false, rows_sent_ = false, is_replanned_ = false, is_open_ = false;
  RetryCounts bad_runs_;
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

  sql::UserTypesPtr user_types() const override { return run_.user_types(); }
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
      : engine_(engine), run_(engine, std::move(prepared), std::move(parameters), session), only_looks_(session.only_looks) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (std::exchange(done_, true)) co_return std::nullopt;
    planner::ExplainOptions options = run_.prepared().plan->explain;
    options.only_looks = only_looks_, options.is_direct = run_.prepared().plan->planned.direct != nullptr;
    double milliseconds = 0;
    co_await run_.open();
    if (options.analyze) {
      run_.statistics = &statistics_;
      auto started = std::chrono::steady_clock::now();
      while (co_await run_.next()) continue;
      run_.finish();
      milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
    }
    planner::TableSizes sizes;
    if (options.costs) sizes = co_await engine_.sizes_of(planner::tables_of(run_.plan()));
    std::vector<std::string> lines = planner::explain(run_.plan(), options, options.analyze ? &statistics_ : nullptr,
                                                      run_.prepared().plan->planning_milliseconds, milliseconds, sizes);
    auto column = std::make_shared<sql::Column>(run_.prepared().columns[0].type);
    for (const std::string& line : lines) column->append<std::string_view>(line);
    sql::Batch batch{.rows = lines.size(), .columns = {}};
    batch.columns.push_back(std::move(column));
    co_return batch;
  }

  std::string command_tag() const override { return "EXPLAIN"; }

 private:
  RedisEngine& engine_;
  QueryRun run_;
  planner::RunStatistics statistics_;
  bool only_looks_, done_ = false;
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
