#include "executor/writes/statement_keys.h"

#include <algorithm>

#include "executor/storage/write_conflict.h"
#include "executor/transaction/lock_wait.h"
#include "executor/transaction/transaction.h"
#include "executor/writes/statement_triggers.h"
#include "executor/writes/write_operator.h"
#include "sql/catalog/table_triggers.h"
#include "sql/catalog/spread_table.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

std::span<const sql::Datum> values_of(const RowValues& row) {
  return row ? std::span<const sql::Datum>(*row) : std::span<const sql::Datum>();
}

}  // namespace

void StatementKeys::note_change(const TablePtr& table, std::span<const sql::Datum> old_row,
                                std::optional<std::span<const sql::Datum>> new_row) {
  if (!table->has_foreign_keys()) return;
  if (table->partition_key) {
    const TablePtr from = sql::part_of_row(*table, old_row), to = new_row ? sql::part_of_row(*table, *new_row) : nullptr;
    if (from == to) return note_change(from, old_row, new_row);
    note_change(from, old_row, std::nullopt);
    if (to) note_insert(to, *new_row);
    return;
  }
  is_concerned_ = true;
  actions_.add(table, old_row, new_row);
}

void StatementKeys::note_insert(const TablePtr& table, std::span<const sql::Datum> row) {
  if (!table->has_foreign_keys()) return;
  is_concerned_ = true;
  actions_.note_insert(table, row);
}

WriteOptions StatementKeys::options() const {
  Transaction& transaction = *context_.transaction();
  WriteOptions options;
  options.max_rows = SIZE_MAX;
  options.settings = *context_.evaluation().settings;
  options.buffer = &transaction.buffer();
  options.locks = &transaction.locks();
  options.defers_unique = [&transaction](const sql::TableDef& table, std::span<const std::int16_t> columns) {
    return transaction.constraint_times().is_deferred(table, columns);
  };
  return options;
}

asio::awaitable<void> StatementKeys::execute(WriteUnit& unit) {
  const WriteStatus status = co_await unit.execute(context_.redis(), context_.session_counters);
  if (status == WriteStatus::kConflict) throw WriteConflict{};
  if (status == WriteStatus::kStale) throw StaleCatalog{};
  if (status == WriteStatus::kLostLock) throw lapsed_lock();
  if (status == WriteStatus::kLocked) throw LockedByOther{unit.blocker()};
}

asio::awaitable<void> StatementKeys::finish() {
  if (!is_concerned_) co_return;
  co_await actions_.run(context_.session_counters);
  if (context_.triggers) co_await fire_for_actions();
  WriteUnit acted(options());
  actions_.for_each_action([&](const TablePtr& table, const RowValues& old_row, const RowValues& new_row) {
    if (new_row) acted.update_row(table, *old_row, *new_row);
    else acted.delete_row(table, *old_row);
  });
  co_await execute(acted);
  acted.absorb_into(context_.transaction()->buffer());
  // The buffer has all changes now: the last unit has no rows, only what the keys demand.
  WriteOptions of_keys = options();
  of_keys.foreign_keys = checks();
  WriteUnit keys(std::move(of_keys));
  co_await execute(keys);
}

namespace {

bool fires_any(const sql::CatalogSnapshot& catalog, const std::shared_ptr<const sql::TableDef>& table) {
  return sql::any_trigger_of_writes(catalog, table, [](const sql::TriggerDef&) { return true; });
}

}  // namespace

asio::awaitable<void> StatementKeys::fire_for_actions() {
  // An action writes the table that has the foreign key, and the row may be of one of its partitions.
  const auto written = [this](const TablePtr& stored) {
    for (const ReferentialActions::Caused& caused : actions_.caused()) {
      const auto& parts = caused.table->parts;
      const bool is_part = caused.table->partition_key && std::ranges::find(parts, stored->oid, &sql::TableDef::oid) != parts.end();
      if (is_part || caused.table->oid == stored->oid) return caused.table;
    }
    return stored;
  };
  struct Action {
    TablePtr table;
    RowValues old_row, new_row;
  };
  std::vector<Action> actions;
  actions_.for_each_action([&](const TablePtr& table, const RowValues& old_row, const RowValues& new_row) {
    if (fires_any(*context_.catalog(), written(table))) actions.push_back({table, old_row, new_row});
  });
  StatementTriggers& triggers = *context_.triggers;
  triggers.enter_action();
  for (const ReferentialActions::Caused& caused : actions_.caused()) {
    if (!fires_any(*context_.catalog(), caused.table)) continue;
    std::vector<planner::WriteEvent> events{{caused.deletes ? sql::TriggerDef::Event::kDelete : sql::TriggerDef::Event::kUpdate, caused.columns}};
    co_await triggers.begin(caused.table, std::move(events));
  }
  for (const Action& action : actions) {
    const TablePtr table = written(action.table);
    const std::size_t width = action.table->columns.size();
    const auto visible = [&](const RowValues& row) { return std::vector<sql::Datum>(row->begin(), row->begin() + static_cast<std::ptrdiff_t>(width)); };
    const auto kind = action.new_row ? sql::TriggerDef::Event::kUpdate : sql::TriggerDef::Event::kDelete;
    if (triggers.has_before(table, kind)) {
      RowChange change{.event = kind};
      change.old_row = visible(action.old_row);
      if (action.new_row) change.new_row = visible(action.new_row);
      const std::optional<std::vector<sql::Datum>> wanted = change.new_row;
      const bool goes = co_await triggers.before(table, change, nullptr);
      if (!goes || change.new_row != wanted) throw sql::not_supported("a BEFORE trigger that changes or keeps a row which a foreign key's action changes");
    }
    triggers.note(table, kind, *action.old_row, action.new_row ? std::span<const sql::Datum>(*action.new_row) : std::span<const sql::Datum>());
  }
}

std::shared_ptr<ForeignKeyChecks> StatementKeys::checks() const {
  const std::shared_ptr<Transaction> transaction = context_.transaction();
  std::shared_ptr<ForeignKeyChecks> checks = WriteOperator::checks_of(context_);
  std::map<sql::Oid, TableChangesPtr> changed;
  std::size_t number = 0;
  for (const TableChangesPtr& changes : actions_.changes()) changed.emplace(changes->table->oid, changes);
  for (const TableChangesPtr& changes : transaction->buffer().all_changes()) {
    if (changes->table->is_mapped() || !changes->table->has_foreign_keys()) continue;
    const auto found = changed.find(changes->table->part_of != 0 ? changes->table->part_of : changes->table->oid);
    add_inserted(*changes, found == changed.end() ? nullptr : found->second.get(), *checks, number);
  }
  for (const auto& [oid, changes] : changed) {
    TableChanges::Walk walk(*changes);
    while (const ChangeLog::VersionPtr row = walk.next())
      checks->add(changes->table, number++, values_of(row->row.stored), values_of(row->row.current));
  }
  return checks;
}

void StatementKeys::add_inserted(const TableChanges& changes, const TableChanges* changed, ForeignKeyChecks& checks,
                                 std::size_t& number) const {
  const std::shared_ptr<const TableChanges> before = context_.changes(changes.table->oid);
  for (ChangeLog::Position position = before ? before->length : 0; position < changes.length; ++position) {
    const ChangeLog::VersionPtr version = changes.log->at(position);
    if (!version->row.current || !changes.log->is_newest(position, *version, changes.length)) continue;
    const ChangeLog::VersionPtr former = before ? before->find(version->member) : nullptr;
    const bool was_there = former ? former->row.current != nullptr : version->row.stored != nullptr;
    // A row that the statement has deleted may have come again.
    const ChangeLog::VersionPtr known = changed != nullptr ? changed->find(version->member) : nullptr;
    if (!was_there || (known && !known->row.current)) checks.add(changes.table, number++, {}, *version->row.current);
  }
}

}  // namespace redquel::executor
