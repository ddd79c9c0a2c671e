#include "executor/writes/referential_actions.h"

#include <algorithm>
#include <numeric>

#include "executor/runtime/event_loop_turn.h"
#include "executor/runtime/session_context.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/stored_row.h"
#include "executor/transaction/transaction.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "sql/catalog/spread_table.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

using Action = sql::ForeignKeyDef::Action;

namespace {

/// A larger set is read by cursor.
constexpr std::int64_t kMembersAtOnce = 5000;
/// Changed rows whose references are looked for together.
constexpr std::size_t kEventsAtOnce = 1000;
/// Rows that one round trip fetches.
constexpr std::size_t kRowsPerBatch = 1000;

bool is_action(Action action) { return action != Action::kNoAction && action != Action::kRestrict; }

}  // namespace

bool ReferentialActions::concern(const sql::CatalogSnapshot& catalog, const TablePtr& table) {
  if (table->referencing.empty()) return false;
  return std::ranges::any_of(foreign_keys_to(catalog, table, {}), [](const ForeignKeyPtr& key) { return key->acts(); });
}

const std::vector<ForeignKeyPtr>& ReferentialActions::keys_to(const TablePtr& table) {
  const auto [found, is_new] = keys_.try_emplace(table->oid);
  if (is_new) found->second = foreign_keys_to(*context_.catalog(), table, *context_.evaluation().settings);
  return found->second;
}

ReferentialActions::Changed& ReferentialActions::changed(const TablePtr& changed_table) {
  const TablePtr table = changed_table->part_of != 0 ? context_.catalog()->find_table(changed_table->part_of) : changed_table;
  const auto [found, is_new] = changed_.try_emplace(table->oid);
  if (is_new) {
    found->second.table = table;  // the statement's one pointer to it
    found->second.log = std::make_shared<ChangeLog>(table);
  }
  return found->second;
}

bool ReferentialActions::add(const TablePtr& table, std::span<const sql::Datum> old_row,
                             std::optional<std::span<const sql::Datum>> new_row) {
  Changed& of = changed(table);
  ChangeLog& log = *of.log;
  std::string member = member_of(*table, old_row);
  if (log.find(member, log.size())) return false;
  BufferedRow row{std::make_shared<const Row>(old_row.begin(), old_row.end()), nullptr};
  if (new_row) {
    row.current = std::make_shared<const Row>(new_row->begin(), new_row->end());
    only_gives_up_ = false;
  }
  const ChangeLog::Position position = log.append(std::move(member), std::move(row));
  const std::size_t order = next_order_++;
  const bool follows = !of.orders.empty() && of.orders.back().second + (position - of.orders.back().first) == order;
  if (!follows) of.orders.emplace_back(position, order);
  of.has_updates |= new_row.has_value();
  return true;
}

std::size_t ReferentialActions::order_of(const Changed& of, ChangeLog::Position position) {
  if (position >= of.by_statement) return of.orders_of_actions[position - of.by_statement];
  const auto next =
      std::ranges::upper_bound(of.orders, position, {}, &std::pair<ChangeLog::Position, std::size_t>::first);
  const auto& [first, order] = *std::prev(next);
  return order + (position - first);
}

void ReferentialActions::note_insert(const TablePtr& table, std::span<const sql::Datum> row) {
  const bool is_acted_on = std::ranges::any_of(table->foreign_keys, [](const sql::ForeignKeyDef& key) {
    return is_action(key.on_delete) || is_action(key.on_update);
  });
  if (!is_acted_on) return;
  const TablePtr stored = table->partition_key ? sql::part_of_row(*table, row) : table;
  inserted_[changed(stored).table->oid].insert_or_assign(member_of(*stored, row), next_order_++);
}

bool ReferentialActions::insert(const TablePtr& table, std::span<const sql::Datum> row, const InsertConflict& conflict) {
  auto values = std::make_shared<const Row>(row.begin(), row.end());
  if (!note_new_row(table, *values, new_rows_.size())) return false;
  new_rows_table_ = table;
  new_rows_.push_back({std::move(values), conflict});
  return true;
}

bool ReferentialActions::note_new_row(const TablePtr& table, const Row& row, std::size_t number) {
  bool is_noted = false;
  for (const ForeignKeyPtr& key : keys_to(table)) {
    if (!key->acts() || !key->refers_to_itself() || is_checked(*key)) continue;
    std::optional<std::string> set = key->own_set(row);
    if (!set) continue;
    new_rows_by_set_[*std::move(set)].push_back(number);
    is_noted = true;
  }
  return is_noted;
}

std::vector<TableChangesPtr> ReferentialActions::changes() const {
  std::vector<TableChangesPtr> all;
  for (const auto& [oid, of] : changed_) {
    if (of.log->size() > 0) all.push_back(changes_of(of));
  }
  return all;
}

TableChangesPtr ReferentialActions::changes_of(const Changed& of) {
  return std::make_shared<const TableChanges>(TableChanges{of.table, of.log, of.log->size(), of.log->rows()});
}

std::optional<std::vector<TableChangesPtr>> ReferentialActions::changes_in_parts() const {
  if (!only_gives_up_) return std::nullopt;
  std::map<sql::Oid, const Changed*> left;
  for (const auto& [oid, of] : changed_) {
    if (of.log->size() > 0) left.emplace(oid, &of);
  }
  std::vector<TableChangesPtr> ordered;
  while (!left.empty()) {
    const auto next = std::ranges::find_if(left, [&](const auto& candidate) {
      return std::ranges::none_of(left, [&](const auto& other) {
        return std::ranges::find(other.second->table->foreign_keys, candidate.first, &sql::ForeignKeyDef::referenced) !=
               other.second->table->foreign_keys.end();
      });
    });
    if (next == left.end()) return std::nullopt;
    ordered.push_back(changes_of(*next->second));
    left.erase(next);
  }
  return ordered;
}

bool ReferentialActions::only_gives_up(const TablePtr& table, const Row& before, const Row& after) {
  const auto is_taken = [&](const ForeignKeyPtr& key) {
    const std::optional<std::string> set = key->own_set(after);
    return set && set != key->own_set(before);
  };
  const auto [keys, is_new] = own_keys_.try_emplace(table->oid);
  if (is_new) keys->second = foreign_keys_of(*context_.catalog(), table, *context_.evaluation().settings);
  // A NULL may be a unique value, and a generated or computed one anything.
  return table->computed.empty() && std::ranges::none_of(table->indexes, &sql::IndexDef::nulls_not_distinct) &&
         std::ranges::all_of(table->columns, [](const sql::ColumnDef& column) { return column.generated_sql.empty(); }) &&
         std::ranges::none_of(keys->second, is_taken);
}

void ReferentialActions::for_each_action(const TakeAction& take) const {
  for (const auto& [oid, of] : changed_) {
    const ChangeLog::Position end = of.log->size();
    for (ChangeLog::Position position = of.by_statement; position < end; ++position) {
      const ChangeLog::VersionPtr version = of.log->at(position);
      if (!of.log->is_newest(position, *version, end)) continue;
      ChangeLog::Position before = version->before;
      while (before != ChangeLog::kNone && before >= of.by_statement) before = of.log->at(before)->before;
      const RowValues old_row = before == ChangeLog::kNone ? version->row.stored : of.log->at(before)->row.current;
      take(of.table, old_row, version->row.current);
    }
  }
}

asio::awaitable<void> ReferentialActions::run(ExecutionCounters* counters) {
  for (auto& [oid, of] : changed_) of.by_statement = of.log->size();
  while (true) {
    const auto waiting = std::ranges::find_if(changed_, [](const auto& entry) { return entry.second.handled < entry.second.log->size(); });
    if (waiting == changed_.end() && reaches_of_new_rows_.empty()) break;
    const std::vector<Reach> reaches = waiting == changed_.end() ? std::exchange(reaches_of_new_rows_, {}) : next_reaches(waiting->second);
    co_await follow(reaches, counters);
  }
  co_await complete_rows();
  complete_new_rows();
}

std::vector<ReferentialActions::Reach> ReferentialActions::next_reaches(Changed& of) {
  std::vector<Reach> reaches;
  const std::vector<ForeignKeyPtr>& keys = keys_to(of.table);
  if (keys.empty()) of.handled = of.log->size();
  for (; of.handled < of.log->size() && reaches.size() < kEventsAtOnce; ++of.handled) {
    const ChangeLog::VersionPtr version = of.log->at(of.handled);
    const Event event{version->before == ChangeLog::kNone ? version->row.stored : of.log->at(version->before)->row.current, version->row.current};
    add_reaches(keys, event, order_of(of, of.handled), reaches);
  }
  return reaches;
}

void ReferentialActions::add_reaches(const std::vector<ForeignKeyPtr>& keys, const Event& event, std::size_t order,
                                     std::vector<Reach>& reaches) {
  for (const ForeignKeyPtr& key : keys) {
    const auto before = key->own_place(*event.before);
    if (!before) continue;
    if (event.after) {
      const auto after = key->own_place(*event.after);
      if (after && after->id() == before->id()) continue;
    }
    const sql::ForeignKeyDef& definition = key->definition();
    const Action action = event.after ? definition.on_update : definition.on_delete;
    if (!is_action(action)) continue;
    Caused caused{key->declared_at(), !event.after && action == Action::kCascade};
    if (!caused.deletes) caused.columns = event.after || definition.set_columns.empty() ? definition.columns : definition.set_columns;
    if (std::ranges::find(caused_, caused) == caused_.end()) caused_.push_back(std::move(caused));
    if (auto set = key->set_of_references(*event.before)) reaches.push_back({key, event, order, *std::move(set)});
  }
}

asio::awaitable<void> ReferentialActions::follow(const std::vector<Reach>& reaches, ExecutionCounters* counters) {
  CommandBatch sizes;
  if (reaches.empty()) co_return;
  for (const Reach& reach : reaches) sizes.add("SCARD", reach.set);
  const RepliesPtr counted = co_await context_.ask(std::move(sizes), counters);
  for (std::size_t next = 0; next < reaches.size();) {
    std::vector<const Reach*> asked;
    CommandBatch batch;
    std::int64_t expected = 0;
    std::vector<Reached> reached;
    for (; next < reaches.size() && expected < kMembersAtOnce && counted->integer(next) <= kMembersAtOnce; ++next) {
      const Reach& reach = reaches[next];
      expected += counted->integer(next);
      if (counted->integer(next) > 0) {
        batch.add("SMEMBERS", reach.set);
        asked.push_back(&reach);
      }
      std::ranges::move(arrived(reach), std::back_inserter(reached));
      act_on_new_rows(reach);
    }
    if (!asked.empty()) {
      const RepliesPtr replies = co_await context_.ask(std::move(batch), counters);
      for (std::size_t index = 0; index < asked.size(); ++index) {
        const sql::MemberEnds ends = asked[index]->key->ends_of_references(*asked[index]->event.before);
        for (const Reply& member : replies->array(index)) reached.push_back({asked[index], ends.whole(member.text)});
      }
    }
    co_await act_on(std::move(reached), counters);
    if (next == reaches.size() || counted->integer(next) <= kMembersAtOnce) continue;
    co_await follow_large_set(reaches[next], counters);
    ++next;
  }
}

/// A cursor may give a member twice: it is not what it was then.
asio::awaitable<void> ReferentialActions::follow_large_set(const Reach& reach, ExecutionCounters* counters) {
  const sql::MemberEnds ends = reach.key->ends_of_references(*reach.event.before);
  std::string cursor = "0";
  do {
    CommandBatch scan;
    scan.add("SSCAN", reach.set, cursor, "COUNT", kRowsPerBatch);
    const RepliesPtr page = co_await context_.ask(std::move(scan), counters);
    const std::span<const Reply> parts = page->array(0);
    std::vector<Reached> reached;
    for (const Reply& member : parts[1].children()) reached.push_back({&reach, ends.whole(member.text)});
    cursor = std::string(parts[0].text);
    co_await act_on(std::move(reached), counters);
  } while (cursor != "0");
  co_await act_on(arrived(reach), counters);
  act_on_new_rows(reach);
}

bool ReferentialActions::is_checked(const ForeignKey& key) const {
  const std::shared_ptr<Transaction> transaction = context_.transaction();
  return transaction ? !transaction->constraint_times().is_deferred(key.definition()) : !key.definition().initially_deferred;
}

void ReferentialActions::act_on_new_rows(const Reach& reach) {
  const auto found = new_rows_by_set_.find(reach.set);
  if (found == new_rows_by_set_.end()) return;
  const std::vector<std::size_t> numbers = found->second;  // an action may add to the set
  for (const std::size_t number : numbers) {
    NewRow& of = new_rows_[number];
    if (!of.row || reach.key->own_set(*of.row) != reach.set) continue;
    const bool goes = !reach.event.after && reach.key->definition().on_delete == Action::kCascade;
    const RowValues before = of.row;
    of.row = goes ? nullptr : std::make_shared<const Row>(acted_on(*reach.key, reach.event, *before));
    of.is_acted_on = true;
    if (of.row) note_new_row(reach.key->referencing(), *of.row, number);
    add_reaches(keys_to(reach.key->referencing()), {before, of.row}, reach.order, reaches_of_new_rows_);
  }
}

std::vector<ReferentialActions::Reached> ReferentialActions::arrived(const Reach& reach) {
  std::vector<Reached> reached;
  // A row that the statement changed before is refused, unless its check waits.
  const bool is_refused = is_checked(*reach.key);
  const std::shared_ptr<Transaction> transaction = context_.transaction();
  const RowBuffer::References* references = transaction ? transaction->buffer().references(reach.set) : nullptr;
  if (references != nullptr) {
    const Changed& of = changed(reach.key->referencing());
    const auto inserted = inserted_.find(of.table->oid);
    for (const std::string& member : references->arrived) {
      if (over_buffer_ && of.log->find(member, of.by_statement)) continue;  // put there by the statement
      const bool is_new =
          inserted != inserted_.end() && inserted->second.contains(member) && !was_there(*reach.key, member);
      if (!is_new || !is_refused || inserted->second.at(member) >= reach.order) reached.push_back({&reach, member});
    }
  }
  if (!put_) note_put_rows();
  const auto found = put_->find(reach.set);
  if (found == put_->end()) return reached;
  for (const Put& put : found->second) {
    if (!is_refused || put.order >= reach.order) reached.push_back({&reach, put.member});
  }
  return reached;
}

/// Returns true if the transaction has inserted the row.
bool ReferentialActions::is_own(const sql::TableDef& table, const ChangeLog::Version& version) const {
  if (!context_.transaction()) return false;
  const sql::TableDef& stored = table.parts.empty() ? table : *sql::part_of_row(table, *version.row.stored);
  const std::optional<BufferedRow> row = context_.transaction()->buffer().find(stored.oid, version.member);
  return row && !row->stored;
}

/// Returns true if the transaction had the row before the statement.
bool ReferentialActions::was_there(const ForeignKey& key, const std::string& member) const {
  const std::shared_ptr<const TableChanges> before = context_.changes(key.referencing()->oid);
  return before && before->contains(member);
}

void ReferentialActions::note_put_rows() {
  put_.emplace();
  for (const auto& [oid, of] : changed_) {
    if (!of.has_updates) continue;
    for (const ForeignKeyPtr& key : foreign_keys_of(*context_.catalog(), of.table, *context_.evaluation().settings)) {
      if (!key->acts()) continue;
      for (ChangeLog::Position position = 0; position < of.by_statement; ++position) {
        const ChangeLog::VersionPtr version = of.log->at(position);
        if (!version->row.current) continue;
        const std::optional<std::string> set = key->own_set(*version->row.current);
        // PostgreSQL checks any change of a row that the transaction has inserted.
        if (set && (set != key->own_set(*version->row.stored) || is_own(*of.table, *version)))
          (*put_)[*set].push_back({order_of(of, position), version->member});
      }
    }
  }
}

/// The rows as the statement sees them, and what becomes of those that refer to what has changed.
asio::awaitable<void> ReferentialActions::act_on(std::vector<Reached> all, ExecutionCounters* counters) {
  for (std::size_t first = 0; first < all.size(); first += kRowsPerBatch) {
    const std::span<const Reached> some = std::span(all).subspan(first, std::min(kRowsPerBatch, all.size() - first));
    std::map<std::pair<sql::Oid, std::string_view>, RowValues> read;  // no row: it is gone
    CommandBatch batch;
    std::map<sql::Oid, StoredRows> rows;
    std::vector<const Reached*> asked;
    for (const Reached& one : some) {
      const Changed& of = changed(one.reach->key->referencing());
      const auto [place, is_new] = read.try_emplace({of.table->oid, one.member});
      if (!is_new || of.log->find(one.member, of.log->size())) continue;
      std::optional<BufferedRow> buffered;
      if (context_.transaction()) buffered = context_.transaction()->buffer().find(one.reach->key->referencing()->oid, one.member);
      if (buffered) {
        place->second = buffered->current;
      } else {
        rows.try_emplace(of.table->oid, of.table).first->second.append_fetch(batch, one.member);
        asked.push_back(&one);
      }
    }
    RepliesPtr replies;
    if (!asked.empty()) replies = co_await context_.ask(std::move(batch), counters);
    for (std::size_t index = 0; index < asked.size(); ++index) {
      const std::string& member = asked[index]->member;
      const sql::Oid table = changed(asked[index]->reach->key->referencing()).table->oid;
      std::optional<Row> row = rows.at(table).decode(member, replies->array(index));
      if (row) read[{table, member}] = std::make_shared<const Row>(*std::move(row));
    }
    for (const auto& [reach, member] : some) {
      Changed& of = changed(reach->key->referencing());
      const std::optional<ChangeLog::Position> known = of.log->find(member, of.log->size());
      const RowValues fresh = known ? nullptr : read[{of.table->oid, member}];
      const BufferedRow before = known ? of.log->at(*known)->row : BufferedRow{fresh, fresh};
      if (!before.current || reach->key->own_set(*before.current) != reach->set) continue;
      const bool goes = !reach->event.after && reach->key->definition().on_delete == Action::kCascade;
      RowValues after = goes ? nullptr : std::make_shared<const Row>(acted_on(*reach->key, reach->event, *before.current));
      if (after && only_gives_up_) only_gives_up_ = only_gives_up(of.table, *before.current, *after);
      of.log->append(member, {before.stored, std::move(after)});
      of.orders_of_actions.push_back(reach->order);
    }
  }
}

ReferentialActions::Row ReferentialActions::acted_on(const ForeignKey& key, const Event& event, const Row& row) const {
  const sql::ForeignKeyDef& definition = key.definition();
  const sql::TableDef& table = *key.referencing();
  const Action action = event.after ? definition.on_update : definition.on_delete;
  Row after = row;
  if (action == Action::kCascade) {
    const std::vector<sql::Datum> values = key.cascaded_values(*event.after);
    for (std::size_t index = 0; index < definition.columns.size(); ++index)
      after[table.position(definition.columns[index])] = values[index];
    return after;
  }
  const bool is_chosen = !event.after && !definition.set_columns.empty();
  for (const std::int16_t number : is_chosen ? definition.set_columns : definition.columns) {
    const std::size_t position = table.position(number);
    after[position] = action == Action::kSetNull ? sql::Datum() : default_of(table, position);
  }
  return after;
}

sql::Datum ReferentialActions::default_of(const sql::TableDef& table, std::size_t position) const {
  const sql::ColumnDef& column = table.columns[position];
  if (column.sequence != 0) throw sql::not_supported("SET DEFAULT with a default that calls nextval()");
  if (column.default_sql.empty()) return {};
  const parser::ast::ExpressionPtr parsed = parser::parse_expression(column.default_sql);
  const sql::ExpressionPtr bound = planner::bind_default(*parsed, table, column, *context_.catalog(), bind_settings(context_.evaluation()), true);
  return sql::evaluate_scalar(*bound, context_.evaluation());
}

/// Generated columns, NOT NULL and CHECK of the rows that actions have changed.
asio::awaitable<void> ReferentialActions::complete_rows() {
  EventLoopTurn turn;
  for (auto& [oid, of] : changed_) {
    const bool has_generated = std::ranges::any_of(of.table->columns, [](const sql::ColumnDef& column) { return !column.generated_sql.empty(); });
    std::vector<ChangeLog::VersionPtr> versions;
    const auto complete = [&] {
      std::vector<RowValues> rows;
      for (const ChangeLog::VersionPtr& version : versions) rows.push_back(version->row.current);
      rows = completed(*of.table, rows);
      for (std::size_t number = 0; has_generated && number < rows.size(); ++number) {
        of.log->append(versions[number]->member, {versions[number]->row.stored, rows[number]});
      }
      versions.clear();
    };
    const ChangeLog::Position end = of.log->size();
    for (ChangeLog::Position position = 0; position < end; ++position) {
      const ChangeLog::VersionPtr version = of.log->at(position);
      const bool by_action = position >= of.by_statement;
      if (by_action && version->row.current && of.log->is_newest(position, *version, end)) versions.push_back(version);
      if (versions.size() < kRowsPerBatch) continue;
      complete();
      if (turn.is_over()) co_await turn.yield();
    }
    if (!versions.empty()) complete();
  }
}

void ReferentialActions::complete_new_rows() {
  std::vector<RowValues> rows;
  for (const NewRow& of : new_rows_) {
    if (of.row && of.is_acted_on) rows.push_back(of.row);
  }
  if (rows.empty()) return;
  rows = completed(*new_rows_table_, rows);
  auto next = rows.begin();
  for (NewRow& of : new_rows_) {
    if (of.row && of.is_acted_on) of.row = *next++;
  }
}

std::vector<RowValues> ReferentialActions::completed(const sql::TableDef& table, const std::vector<RowValues>& incomplete) {
  sql::Batch batch{.rows = incomplete.size(), .columns = {}};
  for (std::size_t position = 0; position < table.columns.size(); ++position) {
    auto column = std::make_shared<sql::Column>(table.columns[position].type);
    for (const RowValues& row : incomplete) column->append_datum((*row)[position]);
    batch.columns.push_back(std::move(column));
  }
  const std::vector<planner::ColumnId> ids = planner::positions_as_ids(table);
  std::vector<std::size_t> generated;
  for (std::size_t position = 0; position < table.columns.size(); ++position) {
    const sql::ColumnDef& column = table.columns[position];
    if (column.generated_sql.empty()) continue;
    const parser::ast::ExpressionPtr parsed = parser::parse_expression(column.generated_sql);
    const sql::ExpressionPtr bound = planner::bind_generation(*parsed, table, column, ids, *context_.catalog(), bind_settings(context_.evaluation()), true);
    batch.columns[position] = sql::evaluate(*bound, batch, context_.evaluation());
    generated.push_back(position);
  }
  const sql::SessionSettings& settings = *context_.evaluation().settings;
  std::vector<RowValues> rows;
  for (std::size_t number = 0; number < incomplete.size(); ++number) {
    Row row = *incomplete[number];
    for (const std::size_t position : generated) row[position] = batch.columns[position]->datum(number);
    rows.push_back(std::make_shared<const Row>(std::move(row)));
    require_not_null(table, *rows.back(), settings);
  }
  for (const sql::CheckDef& check : table.checks) {
    const parser::ast::ExpressionPtr parsed = parser::parse_expression(check.expression_sql);
    const sql::ExpressionPtr bound = planner::bind_check(*parsed, table, ids, *context_.catalog(), bind_settings(context_.evaluation()), true);
    const sql::ColumnPtr result = sql::evaluate(*bound, batch, context_.evaluation());
    for (std::size_t number = 0; number < rows.size(); ++number) {
      if (result->is_null(number) || result->get<bool>(number)) continue;
      throw check_violation(table, check.name, *rows[number], settings);
    }
  }
  return rows;
}

}  // namespace redquel::executor
