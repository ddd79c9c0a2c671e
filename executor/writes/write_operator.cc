#include "executor/writes/write_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <limits>

#include "executor/context/show_program.h"
#include "executor/operators/gather.h"
#include "executor/runtime/row_store.h"
#include "executor/storage/row_error.h"
#include "executor/storage/write_conflict.h"
#include "executor/tables/mapped_access.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/mapped_changes.h"
#include "executor/transaction/row_locks.h"
#include "executor/transaction/transaction.h"
#include "executor/writes/mapped_children.h"
#include "executor/writes/mapped_ttl.h"
#include "executor/writes/mapped_versions.h"
#include "executor/writes/statement_keys.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace {

/// Changes of one statement that wait in memory because its source must be read first. Of more of them the rows wait in a file.
constexpr std::size_t kWaitingRows = 10'000;
/// The limit of rows if foreign keys must see all changes of a statement together.
constexpr std::size_t kMostWaitingRows = 1'000'000;

/// Returns true if the source may give a row of the table more than once. Joins may; a walk over one table does not.
bool may_repeat_rows(const planner::PhysicalPlan& source) {
  return planner::traits_of(planner::below_row_wise(*source)).reads != planner::Reads::kRows;
}

bool refers_to_itself(const sql::TableDef& table) {
  return std::ranges::find(table.foreign_keys, table.oid, &sql::ForeignKeyDef::referenced) != table.foreign_keys.end();
}

std::shared_ptr<ForeignKeyChecks> foreign_key_checks(const ExecutionContext& context) {
  const std::shared_ptr<Transaction>& transaction = context.transaction();
  ForeignKeyChecks::IsDeferred is_deferred;
  if (transaction) is_deferred = [transaction](const sql::ForeignKeyDef& key) { return transaction->constraint_times().is_deferred(key); };
  return std::make_shared<ForeignKeyChecks>(context.catalog(), *context.evaluation().settings, std::move(is_deferred));
}

WriteOptions write_options(ExecutionContext& context, const sql::TableDef& table, const planner::PhysicalPlan& source) {
  WriteOptions options;
  options.max_rows = SIZE_MAX;
  options.settings = *context.evaluation().settings;
  options.show_program = show_program(context);
  const std::shared_ptr<Transaction>& transaction = context.transaction();
  if (!context.statement_keys) options.foreign_keys = foreign_key_checks(context);
  if (transaction) {
    options.buffer = &transaction->buffer();
    options.locks = &transaction->locks();
    options.changed_rows = context.changed_rows(table.oid);
    const bool is_whole = !table.foreign_keys.empty() || !table.referencing.empty();
    if (!options.changed_rows && !is_whole && source && may_repeat_rows(source)) {
      options.changed_rows = std::make_shared<KnownKeys>();
    }
    options.defers_unique = [transaction](const sql::TableDef& of, std::span<const std::int16_t> columns) {
      return transaction->constraint_times().is_deferred(of, columns);
    };
  } else if (source && may_repeat_rows(source)) {
    options.changed_rows = std::make_shared<KnownKeys>();
  }
  return options;
}

}  // namespace

WriteOperator::WriteOperator(const planner::PhysicalNode& node, std::shared_ptr<const sql::TableDef> table,
                             const planner::PhysicalPlan& source, ExecutionContext& context, OperatorPtr rows)
    : context_(context),
      source_(rows ? nullptr : context.make_operator(*source)),
      unit_(write_options(context, *table, source)),
      counters_(node, context),
      table_(std::move(table)),
      streams_(rows != nullptr) {
  if (rows) {
    source_ = std::move(rows);
  } else {
    const std::vector<std::shared_ptr<const sql::TableDef>> tables = planner::tables_of(source);
    streams_ = tables.empty();
    // The stricter levels check all that they have read.
    if (context.allows_increments) {
      source_commits_ = SeenCommits(tables_of_run(source, context.evaluation(), context.parameters));
      reads_source_once_ = reads_in_one_place(*source);
      walks_source_ = walks_on_bulk_connection(*source);
    }
  }
  if (table_->is_mapped()) {
    mapped_ = std::make_shared<MappedUnit>(table_);
  }
  if (context.triggers) {
    triggers_ = context.triggers;
    events_ = planner::events_of(node);
  }
  if (!context.statement_keys && ReferentialActions::concern(*context.catalog(), table_)) actions_.emplace(context);
}

std::shared_ptr<ForeignKeyChecks> WriteOperator::checks_of(const ExecutionContext& context) {
  return foreign_key_checks(context);
}

void WriteOperator::write_ahead_if_possible() {
  const Transaction* transaction = context_.transaction().get();
  if (transaction == nullptr || actions_ || triggers_ || table_->is_divided() || !transaction->may_write_ahead(*table_)) return;
  WriteOptions options;
  options.max_rows = SIZE_MAX;
  options.settings = *context_.evaluation().settings;
  options.ahead_of_commit = true;
  unit_ = WriteUnit(std::move(options));
  is_ahead_ = true;
  if (UnseenRows::may_take(*table_)) unseen_.emplace(context_.redis(), counters());
}

bool WriteOperator::is_first_change(std::span<const sql::Datum> old_row) {
  const std::shared_ptr<KnownKeys> changed = context_.changed_rows(table_->oid);
  return !changed || table_->primary_key.empty() || changed->set(mapped_identity(*table_, old_row));
}

bool WriteOperator::update_row(std::span<const sql::Datum> old_row, std::span<const sql::Datum> new_row,
                               const std::vector<std::size_t>& increments) {
  if (mapped_) {
    if (!is_first_change(old_row)) return false;
    if (triggers_) triggers_->note(table_, sql::TriggerDef::Event::kUpdate, old_row, new_row);
    return mapped_->add({std::vector<sql::Datum>(old_row.begin(), old_row.end()), std::vector<sql::Datum>(new_row.begin(), new_row.end()), increments});
  }
  if (actions_) return actions_->add(table_, old_row, new_row);
  const bool is_first = unit_.update_row(table_, old_row, new_row, {}, increments);
  if (is_first && context_.statement_keys) context_.statement_keys->note_change(table_, old_row, new_row);
  if (is_first && triggers_) triggers_->note(table_, sql::TriggerDef::Event::kUpdate, old_row, new_row);
  return is_first;
}

bool WriteOperator::insert_mapped_row(std::span<const sql::Datum> new_row, const InsertConflict& conflict) {
  if (!mapped_) return false;
  mapped_->add({std::nullopt, std::vector<sql::Datum>(new_row.begin(), new_row.end()), {}, conflict});
  return true;
}

void WriteOperator::insert_row(std::span<const sql::Datum> new_row, const InsertConflict& conflict) {
  if (insert_mapped_row(new_row, conflict) || (actions_ && actions_->insert(table_, new_row, conflict))) return;
  add_to_unit(new_row, conflict);
}

void WriteOperator::add_to_unit(std::span<const sql::Datum> new_row, const InsertConflict& conflict) {
  unit_.insert_row(table_, new_row, conflict);
  if (context_.statement_keys) context_.statement_keys->note_insert(table_, new_row);
}

void WriteOperator::note_read_columns(const std::vector<std::size_t>& positions) {
  knows_ttl_ = std::ranges::find(positions, planner::kNotRead) == positions.end();
}

std::size_t WriteOperator::next_ordinal() const { return mapped_ ? mapped_->size() : unit_.size(); }

bool WriteOperator::was_skipped(const WriteUnit& unit, std::size_t ordinal) const {
  return mapped_ ? mapped_->was_skipped(ordinal) : unit.was_skipped(ordinal);
}

bool WriteOperator::delete_row(std::span<const sql::Datum> old_row) {
  if (mapped_) {
    if (!is_first_change(old_row)) return false;
    if (triggers_) triggers_->note(table_, sql::TriggerDef::Event::kDelete, old_row, {});
    return mapped_->add({std::vector<sql::Datum>(old_row.begin(), old_row.end()), std::nullopt, {}});
  }
  if (actions_) return actions_->add(table_, old_row, std::nullopt);
  const bool is_first = unit_.delete_row(table_, old_row);
  if (is_first && context_.statement_keys) context_.statement_keys->note_change(table_, old_row, std::nullopt);
  if (is_first && triggers_) triggers_->note(table_, sql::TriggerDef::Event::kDelete, old_row, {});
  return is_first;
}

asio::awaitable<void> WriteOperator::take_actions(std::size_t limit) {
  co_await actions_->run(counters());
  for (const ReferentialActions::NewRow& added : actions_->new_rows()) {
    if (unit_.size() >= limit) co_await put_aside();
    if (added.row) add_to_unit(*added.row, added.conflict);
  }
  const std::vector<TableChangesPtr> all = actions_->changes();
  std::size_t rows = unit_.size() + written_rows_;
  for (const TableChangesPtr& changes : all) rows += changes->size;
  // Nothing waits to be written before.
  if (is_buffered() && unit_.empty() && rows > context_.max_written_rows) {
    if (const auto parts = actions_->changes_in_parts()) {
      streams_ = true;
      co_return co_await collect_actions(*parts, context_.max_written_rows);
    }
  }
  const bool is_large = rows > limit && written_rows_ == 0;
  if (is_large && exchanges_keys_ && !table_->rows_expire()) {
    const WriteOptions options = unit_.options();
    unit_ = WriteUnit(options_of_leaving(options));
    streams_ = true;
    step_ = Exchange::kLeave;
    co_await collect_actions(all, limit);
    co_await put_aside();
    co_await journaled_->flush();
    unit_ = WriteUnit(options);
    written_rows_ = 0;
    step_ = Exchange::kArrive;
  }
  streams_ = streams_ || is_large;
  co_await collect_actions(all, limit);
}

asio::awaitable<void> WriteOperator::collect_actions(const std::vector<TableChangesPtr>& all, std::size_t limit) {
  for (const TableChangesPtr& changes : all) {
    TableChanges::Walk walk(*changes);
    while (const ChangeLog::VersionPtr change = walk.next()) {
      if (unit_.size() >= limit) co_await put_aside();
      const BufferedRow& row = change->row;
      if (row.current) {
        unit_.update_row(changes->table, *row.stored, *row.current);
      } else {
        unit_.delete_row(changes->table, *row.stored);
      }
    }
  }
}

/// The demands of foreign keys, and the conflicting rows, are recorded when the rows come again.
WriteOptions WriteOperator::options_of_leaving(const WriteOptions& options) {
  WriteOptions leaving = options;
  leaving.foreign_keys.reset();
  if (options.changed_rows) leaving.changed_rows = std::make_shared<KnownKeys>(*options.changed_rows);
  return leaving;
}

asio::awaitable<void> WriteOperator::put_aside() {
  written_rows_ += unit_.size();
  Finish finish;
  if (!actions_ || step_ != Exchange::kLeave) finish = take_collected();  // rows of the source are collected twice, actions are not
  chunks_.push_back({std::make_shared<WriteUnit>(std::move(unit_)), std::move(finish)});
  WriteOptions options = chunks_.back().unit->options();
  if (!context_.transaction() && options.foreign_keys) options.foreign_keys->expect_written();
  if (is_buffered() && options.foreign_keys)
    options.foreign_keys = foreign_key_checks(context_);  // each chunk is looked at alone
  options.first_row = written_rows_;
  unit_ = WriteUnit(std::move(options));
  if (streams_) {
    co_await write_chunks_as(step_);
  } else if (written_rows_ > kMostWaitingRows && !is_buffered()) {
    throw sql::out_of_memory()
        .detail(fmt::format("The statement changes more than {} rows of tables whose foreign keys change others.", kMostWaitingRows));
  }
}

asio::awaitable<void> WriteOperator::begin_journal() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  journaled_ = std::make_unique<JournaledUnit>(executor, context_.redis(), context_.database);
  std::vector<std::shared_ptr<const sql::TableDef>> tables{table_};
  if (actions_) {
    for (const TableChangesPtr& changes : actions_->changes()) {
      if (changes->table->oid != table_->oid) tables.push_back(changes->table);
    }
  }
  if (!co_await journaled_->begin(std::move(tables))) throw StaleCatalog{};
}

asio::awaitable<void> WriteOperator::claim_place_ahead() {
  Transaction& transaction = *context_.transaction();
  std::string owner = transaction.locks().process();
  if (!co_await transaction.catalog()->claim(context_.redis(), table_, std::move(owner))) throw StaleCatalog{};
}

asio::awaitable<void> WriteOperator::write_ahead(WriteUnit unit, Finish finish) {
  if (unit.empty()) co_return;
  if (unseen_) {
    auto rows = std::make_unique<WriteUnit>(std::move(unit));
    co_await unseen_->write(std::move(rows), std::move(finish));
    co_return;
  }
  if (co_await unit.execute(context_.redis(), counters()) != WriteStatus::kApplied) {
    throw sql::SqlError(sqlstate::kInternalError, fmt::format("the place of table \"{}\" is not its transaction's", table_->name));
  }
  finish(unit);
}

asio::awaitable<void> WriteOperator::write_chunks() {
  if (is_ahead_) {
    for (; !chunks_.empty(); chunks_.pop_front()) {
      Chunk& chunk = chunks_.front();
      co_await write_ahead(std::move(*chunk.unit), std::move(chunk.finish));
    }
    co_return;
  }
  if (is_buffered()) {
    co_await buffer_chunks();
    co_return;
  }
  if (!journaled_) co_await begin_journal();
  // A row that comes again would live from the beginning.
  if (exchanges_keys_ && !table_->rows_expire()) {
    co_await write_chunks_as(Exchange::kLeave);
    co_await journaled_->flush();
    co_await write_chunks_as(Exchange::kArrive);
  } else {
    co_await write_chunks_as(Exchange::kNone);
  }
}

asio::awaitable<void> WriteOperator::write_chunks_as(Exchange step) {
  if (is_ahead_ || is_buffered()) co_return co_await write_chunks();
  if (!journaled_) co_await begin_journal();
  for (Chunk& chunk : chunks_) {
    chunk.unit->set_journal(journaled_->step(table_->tag()));
    if (step != Exchange::kNone) chunk.unit->turn_updates_into_deletes();
    if (step == Exchange::kArrive) chunk.unit->turn_deletes_into_inserts();
    Finish finish;
    if (step != Exchange::kLeave) finish = std::move(chunk.finish);
    co_await journaled_->write(chunk.unit, std::move(finish));
  }
  // Those that are gone come again, unless they will be made anew.
  if (step != Exchange::kLeave || streams_) chunks_.clear();
}

asio::awaitable<void> WriteOperator::write_spilled(std::size_t limit) {
  const bool exchanges = exchanges_keys_ && !table_->rows_expire() && !is_ahead_;
  co_await put_aside();
  if (exchanges) {
    const WriteOptions options = unit_.options();
    co_await write_chunks_as(Exchange::kLeave);
    std::deque<Chunk> first = std::exchange(chunks_, {});
    streams_ = true;
    step_ = Exchange::kLeave;
    unit_ = WriteUnit(options_of_leaving(options));
    const std::size_t written = written_rows_;
    while (auto batch = spilled_->next()) co_await collect_in_chunks(*batch, limit);
    co_await put_aside();
    co_await journaled_->flush();
    spilled_->rewind();
    unit_ = WriteUnit(options);
    written_rows_ = written;
    chunks_ = std::move(first);
    step_ = Exchange::kArrive;
  }
  streams_ = true;
  co_await write_chunks_as(step_);
  while (auto batch = spilled_->next()) co_await collect_in_chunks(*batch, limit);
  co_await put_aside();
}

asio::awaitable<void> WriteOperator::buffer_chunks() {
  RowBuffer& buffer = context_.transaction()->buffer();
  if (!buffer_mark_) buffer_mark_ = buffer.mark();
  for (; !chunks_.empty(); chunks_.pop_front()) {
    WriteUnit& unit = *chunks_.front().unit;
    co_await execute(unit);
    unit.absorb_into(buffer);
    chunks_.front().finish(unit);
  }
}

asio::awaitable<void> WriteOperator::execute(WriteUnit& unit) {
  if (unit.empty()) co_return;
  const WriteStatus status = co_await unit.execute(context_.redis(), counters());
  if (status == WriteStatus::kConflict) throw WriteConflict{};
  if (status == WriteStatus::kStale) throw StaleCatalog{};
  if (status == WriteStatus::kLostLock) throw lapsed_lock();
  if (status == WriteStatus::kLocked) throw LockedByOther{unit.blocker()};
}

std::size_t WriteOperator::chunk_rows() const {
  // Exchanged keys, and references between rows of the statement, are only seen from all of them together. A journaled unit is checked
  // when it is complete, but here nothing is written.
  const bool needs_whole = exchanges_keys_ || actions_ || passes_on_references_ || refers_to_itself(*table_);
  return is_buffered() && needs_whole ? std::numeric_limits<std::size_t>::max() : context_.max_written_rows;
}

asio::awaitable<void> WriteOperator::write_mapped() {
  const sql::EvaluationContext& evaluation = context_.evaluation();
  const std::string* policy = evaluation.show ? evaluation.show(evaluation.session, "redquel.on_bad_value") : nullptr;
  const bool bad_is_null = policy != nullptr && *policy == "null";
  co_await drop_old_versions(*mapped_, context_, counters());
  std::vector<std::shared_ptr<MappedUnit>> units = co_await delete_children(*mapped_, context_, counters());
  units.insert(units.begin(), mapped_);
  if (context_.transaction()) {
    for (const std::shared_ptr<MappedUnit>& unit : units) co_await buffer_mapped(*unit, bad_is_null);
  } else {
    MappedWriteCall call(context_.catalog()->version, context_.database);
    const RedisUserPtr writer = co_await redis_user_of(*table_, context_);
    for (const std::shared_ptr<MappedUnit>& unit : units) {
      const RedisUserPtr user = co_await redis_user_of(unit->table(), context_);
      if (user != writer) throw sql::not_supported("a statement that writes foreign tables as several Redis users");
      RedisClient* client = co_await client_of(unit->table(), context_);
      if (!co_await unit->read(*client, bad_is_null, counters())) throw WriteConflict{};
      unit->append_writes(call, database_of(unit->table().mapping(), context_));
    }
    MappedWriteResult result;
    if (unit_.options().show_program) unit_.options().show_program(call.program());
    if (writer) result = co_await write_mapped_as(writer, context_.database, std::move(call), counters());
    else result = co_await executor::write_mapped(context_.redis(), std::move(call), counters());
    if (result.status == WriteStatus::kConflict) throw WriteConflict{};
    if (result.status == WriteStatus::kStale) throw StaleCatalog{};
    if (result.status == WriteStatus::kLocked) throw LockedByOther{result.blocker};
  }
  take_collected()(unit_);
}

/// A transaction has the rows that it changes for itself: other statements wait for its end. An application does not know of locks.
asio::awaitable<void> WriteOperator::lock_mapped_rows(const MappedUnit& unit) {
  const sql::TableDef& table = unit.table();
  if (table.primary_key.empty()) co_return;
  const std::deque<MappedChange>& changes = unit.changes();
  for (std::size_t first = 0; first < changes.size();) {
    planner::RowLock lock{planner::RowLock::Strength::kUpdate};
    RowLockRequest request({{table, lock, {}}}, context_.transaction()->locks().token);
    std::size_t count = 0;
    for (; first < changes.size() && count < context_.limits.script_rows; ++first) {
      if (!changes[first].before || unit.was_skipped(first)) continue;
      request.add_row(mapped_identity(table, *changes[first].before), "", {});
      ++count;
    }
    if (count == 0) continue;
    const RowLockRequest::Answer answer = co_await request.execute(context_.redis(), std::nullopt, &context_.transaction()->locks(), counters());
    if (answer.conflict) throw LockedByOther{*answer.conflict};
  }
}

asio::awaitable<void> WriteOperator::buffer_mapped(MappedUnit& unit, bool bad_is_null) {
  const std::shared_ptr<const sql::TableDef>& table = unit.shared_table();
  RowBuffer& buffer = context_.transaction()->buffer();
  co_await lock_mapped_rows(unit);
  if (!knows_ttl_ || &unit != mapped_.get()) co_await add_times_to_live(unit, context_, counters());
  MappedUnit checked(table);  // against Redis
  std::vector<std::size_t> numbers;
  const std::deque<MappedChange>& changes = unit.changes();
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (unit.was_skipped(i)) continue;
    if (changes[i].conflict.skip && is_in_buffer(*table, changes[i], buffer)) {
      unit.skip(i);
      continue;
    }
    if (std::optional<MappedChange> change = over_buffer(*table, changes[i], buffer)) {
      checked.add(*std::move(change));
      numbers.push_back(i);
    }
  }
  const MappedLookups before = mapped_lookups(table, buffer);
  RedisUserPtr writer = co_await redis_user_of(*table, context_);
  context_.transaction()->write_as(table->oid, std::move(writer));
  RedisClient* client = co_await client_of(*table, context_);
  if (!co_await checked.read(*client, bad_is_null, counters(), before)) throw WriteConflict{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (checked.was_skipped(i)) unit.skip(numbers[i]);
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!unit.was_skipped(i)) absorb(buffer, table, changes[i], buffer.mark());
  }
}

asio::awaitable<void> WriteOperator::write_at_once() {
  if (is_ahead_) {
    Finish finish = take_collected();
    co_await write_ahead(std::move(unit_), std::move(finish));
    co_return;
  }
  if (!context_.commits_at_once || !unit_.may_wait_for_commit()) co_await execute(unit_);
  if (is_buffered()) unit_.absorb_into(context_.transaction()->buffer());
  take_collected()(unit_);
}

asio::awaitable<void> WriteOperator::collect_in_chunks(const sql::Batch& batch, std::size_t limit) {
  const std::size_t step = row_by_row_ ? 1 : limit;
  for (std::size_t first = 0; first < batch.rows; first += std::min(step, batch.rows)) {
    const std::size_t count = std::min(step, batch.rows - first);
    if (unit_.size() + count > limit) co_await put_aside();
    if (count == batch.rows) {
      co_await collect(batch);
    } else {
      const sql::Batch part = batch.gather(row_range(first, count));
      co_await collect(part);
    }
  }
}

asio::awaitable<void> WriteOperator::collect_all() {
  const std::size_t limit = chunk_rows();
  while (auto batch = co_await source_->next()) {
    keep(*batch);
    if (written_rows_ < kWaitingRows || !may_spill()) {
      co_await collect_in_chunks(*batch, limit);
      continue;
    }
    if (!spilled_) {
      std::vector<sql::Type> types;
      for (const sql::ColumnPtr& column : batch->columns) types.push_back(column->type());
      spilled_.emplace(std::make_shared<SpillFile>(context_.temporary_space), types);
    }
    spilled_->append_all(*batch);
  }
  if (spilled_) spilled_->finish();
}

asio::awaitable<void> WriteOperator::collect_whole_commits() {
  /// The commits that the reads of another write, whose source this one is, may meet.
  struct Restore {
    ExecutionContext& context;
    SeenCommits* outer;
    ~Restore() { context.set_commits(outer); }
  };
  {
    const Restore restore{context_, context_.commits()};
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    source_commits_.begin(context_.redis(), executor, reads_source_once_);
    context_.set_commits(&source_commits_);
    if (walks_source_) co_await source_commits_.take_numbers();
    co_await collect_all();
  }
  // Nothing is written yet: rows of a source over tables wait.
  if (co_await source_commits_.are_torn(context_.redis())) throw WriteConflict{};
}

asio::awaitable<void> WriteOperator::run() {
  const std::size_t limit = chunk_rows();
  // Before there are rows: where it has to follow definitions of others first, the run begins again, and a client's data come only once.
  if (is_ahead_) co_await claim_place_ahead();
  if (triggers_) {
    co_await triggers_->begin(table_, events_);
    row_by_row_ = std::ranges::any_of(events_, [&](const planner::WriteEvent& event) { return has_before(event.event); });
  }
  if (source_commits_.are_possible()) co_await collect_whole_commits();
  else co_await collect_all();
  if (actions_) co_await take_actions(limit);
  source_.reset();
  if (mapped_) {
    co_await write_mapped();
  } else if (spilled_) {
    co_await write_spilled(limit);
  } else if (written_rows_ > 0) {
    co_await put_aside();
    co_await write_chunks();
  }
  if (journaled_) {
    co_await journaled_->flush();
    if (!co_await unit_.options().foreign_keys->verify_written(context_.redis(), unit_.options().settings, counters())) {
      throw StaleCatalog{};
    }
    co_await journaled_->commit();
  } else if (written_rows_ == 0) {
    co_await write_newest_rows();
  }
  if (unseen_) co_await unseen_->flush();
}

asio::awaitable<std::optional<sql::Batch>> WriteOperator::next() {
  if (!applied_) {
    applied_ = true;
    try {
      co_await run();
    } catch (...) {
      if (buffer_mark_) context_.transaction()->buffer().roll_back(*buffer_mark_);
      throw;
    }
  }
  co_return returned_.next();
}

sql::ColumnPtr old_column(const sql::Batch& source, std::size_t position, sql::Type type) {
  if (position != planner::kNotRead) return source.columns[position];
  auto column = std::make_shared<sql::Column>(type);
  for (std::size_t i = 0; i < source.rows; ++i) column->append_null();
  return column;
}

std::vector<std::vector<sql::Datum>> rows_of(const sql::Batch& batch, const std::vector<std::size_t>& positions) {
  std::vector<std::vector<sql::Datum>> rows(batch.rows);
  for (auto& row : rows) row.reserve(positions.size());
  for (std::size_t position : positions) {
    if (position == planner::kNotRead) {
      for (auto& row : rows) row.emplace_back();
      continue;
    }
    const sql::ColumnPtr& column = batch.columns[position];
    const sql::ColumnPtr decoded = column->is_encoded() ? std::make_shared<const sql::Column>(column->decode()) : column;
    for (std::size_t i = 0; i < batch.rows; ++i) rows[i].push_back(decoded->datum(i));
  }
  return rows;
}

}  // namespace redquel::executor
