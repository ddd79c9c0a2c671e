#include "executor/writes/referential_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "executor/session_context.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/stored_row.h"
#include "executor/transaction/transaction.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

using sql::SqlError;
using Action = sql::ForeignKeyDef::Action;

namespace {

/// Rows that one statement changes; they wait in memory.
constexpr std::size_t kMaxChanges = 1'000'000;
/// A larger set is read by cursor.
constexpr std::int64_t kMembersAtOnce = 5000;
/// Rows that one round trip fetches.
constexpr std::size_t kRowsPerBatch = 1000;

bool is_action(Action action) { return action != Action::kNoAction && action != Action::kRestrict; }

}  // namespace

bool ReferentialActions::concern(const sql::CatalogSnapshot& catalog, const TablePtr& table) {
  if (table->referencing.empty()) return false;
  return std::ranges::any_of(foreign_keys_to(catalog, table), [](const ForeignKeyPtr& key) { return key->acts(); });
}

const std::vector<ForeignKeyPtr>& ReferentialActions::keys_to(const TablePtr& table) {
  const auto [found, is_new] = keys_.try_emplace(table->oid);
  if (is_new) found->second = foreign_keys_to(*context_.catalog(), table);
  return found->second;
}

bool ReferentialActions::add(const TablePtr& table, std::span<const sql::Datum> old_row,
                             std::optional<std::span<const sql::Datum>> new_row) {
  if (!by_member_.try_emplace({table->oid, member_of(*table, old_row)}, changes_.size()).second) return false;
  if (changes_.size() >= kMaxChanges) {
    throw SqlError("53200", "out of memory").detail(fmt::format("The statement changes more than {} rows.", kMaxChanges));
  }
  Change& change = changes_.emplace_back();
  change.table = known(table);
  change.old_row.assign(old_row.begin(), old_row.end());
  if (new_row) change.new_row.emplace(new_row->begin(), new_row->end());
  if (!table->referencing.empty()) events_.push_back({table, change.old_row, change.new_row});
  return true;
}

asio::awaitable<void> ReferentialActions::run(ExecutionCounters* counters) {
  while (!events_.empty()) {
    const std::vector<Event> events = std::exchange(events_, {});
    std::vector<Reach> reaches;
    for (std::size_t index = 0; index < events.size(); ++index) {
      const Event& event = events[index];
      for (const ForeignKeyPtr& key : keys_to(event.table)) {
        const auto before = key->own_place(event.before);
        if (!before) continue;
        if (event.after) {
          const auto after = key->own_place(*event.after);
          if (after && after->id() == before->id()) continue;
        }
        if (!is_action(event.after ? key->definition().on_update : key->definition().on_delete)) continue;
        if (auto set = key->set_of_references(event.before)) reaches.push_back({key, index, *std::move(set), {}});
      }
    }
    co_await read_members(reaches, counters);
    co_await read_rows(reaches, counters);
    for (const Reach& reach : reaches) {
      for (const std::string& member : reach.members) {
        const auto found = by_member_.find({reach.key->referencing()->oid, member});
        if (found == by_member_.end()) continue;  // the row is gone
        Change& change = changes_[found->second];
        if (!change.new_row || reach.key->own_set(*change.new_row) != reach.set) continue;
        act(*reach.key, events[reach.event], change);
      }
    }
  }
  // Rows that were read and are not changed after all.
  std::erase_if(changes_, [](const Change& change) { return change.is_read_only; });
  by_member_.clear();
  complete_rows();
}

asio::awaitable<void> ReferentialActions::read_members(std::vector<Reach>& reaches, ExecutionCounters* counters) {
  CommandBatch sizes;
  if (reaches.empty()) co_return;
  for (const Reach& reach : reaches) sizes.add("SCARD", reach.set);
  RepliesPtr counted = co_await context_.ask(std::move(sizes), counters);
  CommandBatch batch;
  std::vector<std::size_t> asked;
  for (std::size_t index = 0; index < reaches.size(); ++index) {
    Reach& reach = reaches[index];
    if (counted->integer(index) > kMembersAtOnce) {
      std::set<std::string> members;  // a cursor may give one twice
      std::string cursor = "0";
      do {
        CommandBatch scan;
        scan.add("SSCAN", reach.set, cursor, "COUNT", 1000);
        RepliesPtr page = co_await context_.ask(std::move(scan), counters);
        const std::span<const Reply> parts = page->array(0);
        for (const Reply& member : parts[1].children()) members.emplace(member.text);
        cursor = std::string(parts[0].text);
      } while (cursor != "0");
      reach.members.assign(members.begin(), members.end());
    } else if (counted->integer(index) > 0) {
      batch.add("SMEMBERS", reach.set);
      asked.push_back(index);
    }
  }
  if (!asked.empty()) {
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters);
    for (std::size_t index = 0; index < asked.size(); ++index) {
      for (const Reply& member : replies->array(index)) reaches[asked[index]].members.emplace_back(member.text);
    }
  }
  if (!context_.transaction()) co_return;
  for (Reach& reach : reaches) {
    if (const RowBuffer::References* changed = context_.transaction()->buffer().references(reach.set)) {
      reach.members.insert(reach.members.end(), changed->arrived.begin(), changed->arrived.end());
    }
  }
}

/// The rows of those members that are not known yet, as the statement sees them.
asio::awaitable<void> ReferentialActions::read_rows(const std::vector<Reach>& reaches, ExecutionCounters* counters) {
  std::map<TablePtr, std::vector<std::string>> wanted;
  std::set<std::pair<sql::Oid, std::string>> seen;
  const auto keep = [this](const TablePtr& table, const Row& row) {
    const std::size_t events = events_.size();
    add(table, row, row);
    changes_.back().is_read_only = true;
    events_.resize(events);  // nothing has happened to it yet
  };
  for (const Reach& reach : reaches) {
    const TablePtr& table = known(reach.key->referencing());
    for (const std::string& member : reach.members) {
      if (by_member_.contains({table->oid, member}) || !seen.insert({table->oid, member}).second) continue;
      std::optional<BufferedRow> buffered;
      if (context_.transaction()) buffered = context_.transaction()->buffer().find(table->oid, member);
      if (!buffered) {
        wanted[table].push_back(member);
      } else if (buffered->current) {
        keep(table, *buffered->current);
      }
    }
  }
  for (const auto& [table, members] : wanted) {
    const StoredRows rows(table);
    for (std::size_t first = 0; first < members.size(); first += kRowsPerBatch) {
      const std::size_t last = std::min(first + kRowsPerBatch, members.size());
      CommandBatch batch;
      for (std::size_t index = first; index < last; ++index) rows.append_fetch(batch, members[index]);
      RepliesPtr replies = co_await context_.ask(std::move(batch), counters);
      for (std::size_t index = first; index < last; ++index) {
        if (const auto row = rows.decode(members[index], replies->array(index - first))) keep(table, *row);
      }
    }
  }
}

void ReferentialActions::act(const ForeignKey& key, const Event& event, Change& change) {
  const sql::ForeignKeyDef& definition = key.definition();
  const Action action = event.after ? definition.on_update : definition.on_delete;
  const Row before = *change.new_row;
  change.by_action = true;
  change.is_read_only = false;
  if (action == Action::kCascade && !event.after) {
    change.new_row.reset();
  } else if (action == Action::kCascade) {
    const auto values = key.values_for_references(*event.after);
    for (std::size_t index = 0; index < definition.columns.size(); ++index) {
      (*change.new_row)[change.table->position(definition.columns[index])] = values ? (*values)[index] : sql::Datum();
    }
  } else {
    const bool is_chosen = !event.after && !definition.set_columns.empty();
    for (std::int16_t number : is_chosen ? definition.set_columns : definition.columns) {
      const std::size_t position = change.table->position(number);
      (*change.new_row)[position] = action == Action::kSetNull ? sql::Datum() : default_of(*change.table, position);
    }
  }
  if (!change.table->referencing.empty()) events_.push_back({change.table, before, change.new_row});
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
void ReferentialActions::complete_rows() {
  std::map<TablePtr, std::vector<Change*>> by_table;
  for (Change& change : changes_) {
    if (change.by_action && change.new_row) by_table[change.table].push_back(&change);
  }
  const sql::SessionSettings& settings = *context_.evaluation().settings;
  for (const auto& [table, changes] : by_table) {
    sql::Batch batch{.rows = changes.size(), .columns = {}};
    for (std::size_t position = 0; position < table->columns.size(); ++position) {
      auto column = std::make_shared<sql::Column>(table->columns[position].type);
      for (const Change* change : changes) column->append_datum((*change->new_row)[position]);
      batch.columns.push_back(std::move(column));
    }
    const std::vector<planner::ColumnId> ids = planner::positions_as_ids(*table);
    for (std::size_t position = 0; position < table->columns.size(); ++position) {
      const sql::ColumnDef& column = table->columns[position];
      if (column.generated_sql.empty()) continue;
      const parser::ast::ExpressionPtr parsed = parser::parse_expression(column.generated_sql);
      const sql::ExpressionPtr bound =
          planner::bind_generation(*parsed, *table, column, ids, *context_.catalog(), bind_settings(context_.evaluation()), true);
      batch.columns[position] = sql::evaluate(*bound, batch, context_.evaluation());
      for (std::size_t row = 0; row < changes.size(); ++row) (*changes[row]->new_row)[position] = batch.columns[position]->datum(row);
    }
    for (const Change* change : changes) require_not_null(*table, *change->new_row, settings);
    for (const sql::CheckDef& check : table->checks) {
      const parser::ast::ExpressionPtr parsed = parser::parse_expression(check.expression_sql);
      const sql::ExpressionPtr bound =
          planner::bind_check(*parsed, *table, ids, *context_.catalog(), bind_settings(context_.evaluation()), true);
      const sql::ColumnPtr result = sql::evaluate(*bound, batch, context_.evaluation());
      for (std::size_t row = 0; row < changes.size(); ++row) {
        if (result->is_null(row) || result->get<bool>(row)) continue;
        throw check_violation(*table, check.name, *changes[row]->new_row, settings);
      }
    }
  }
}

}  // namespace redquel::executor
