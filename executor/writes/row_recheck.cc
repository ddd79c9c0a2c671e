#include "executor/writes/row_recheck.h"

#include <algorithm>
#include <utility>

#include "executor/runtime/row_store.h"
#include "executor/storage/foreign_key.h"
#include "executor/storage/row_buffer.h"
#include "executor/storage/stored_row.h"
#include "executor/transaction/transaction.h"
#include "executor/writes/write_operator.h"
#include "sql/catalog/spread_table.h"

namespace redquel::executor {

RowRecheck::RowRecheck(const planner::RecheckSource& source, std::vector<Target> targets, ExecutionContext& context)
    : source_(source), targets_(std::move(targets)), context_(context) {}

std::optional<planner::Recheck> RowRecheck::planned(planner::SubqueryAnswers answers) {
  const std::shared_ptr<Transaction>& transaction = context_.transaction();
  const std::set<sql::Oid> changed = transaction ? transaction->changed_tables() : std::set<sql::Oid>();
  std::vector<sql::Datum>& slots = context_.evaluation().parameters;
  const auto first_slot = static_cast<std::uint32_t>(slots.size());
  auto recheck = planner::plan_recheck(source_, *context_.evaluation().settings, changed, first_slot, answers);
  if (recheck) slots.resize(recheck->slot_count);
  return recheck;
}

bool RowRecheck::is_possible() {
  if (std::exchange(is_planned_, true)) return kept_.has_value();
  for (const Target& target : targets_) {
    encoders_.push_back(
        std::make_shared<const RowEncoder>(sql::stored_tables(target.table).front(), std::vector<sql::Structure>{}));
  }
  kept_ = planned(planner::SubqueryAnswers::kKept);
  const auto looks = [](const planner::Recheck::Target& target) { return !target.looked_at.empty(); };
  if (!kept_ || std::ranges::none_of(kept_->targets, looks)) return kept_.has_value();
  new_ = planned(planner::SubqueryAnswers::kNew);
  if (!new_) kept_.reset();
  return kept_.has_value();
}

const planner::Recheck& RowRecheck::plan_for(const std::vector<Version>& versions) const {
  for (std::size_t target = 0; target < targets_.size(); ++target) {
    const std::set<std::int16_t>& looked_at = kept_->targets[target].looked_at;
    if (looked_at.empty() || versions[target].is_same) continue;
    if (!versions[target].now) return *new_;
    Words words;
    const RowEncoder& encoder = *encoders_[target];
    const RowImage a = encoder.encode(versions[target].before, words), b = encoder.encode(*versions[target].now, words);
    const sql::TableDef& table = *targets_[target].table;
    for (const std::int16_t number : looked_at) {
      const std::size_t place = number == 0 ? table.columns.size() : table.position(number);
      if (!are_same(words[a.texts + place], words[b.texts + place])) return *new_;
    }
  }
  return *kept_;
}

/// The places of the target's columns in a whole row.
std::vector<std::size_t> RowRecheck::places_of(const Target& target) const {
  std::vector<std::size_t> places;
  for (const std::int16_t number : target.numbers)
    places.push_back(number == 0 ? target.table->columns.size() : target.table->position(number));
  return places;
}

bool RowRecheck::is_same(std::size_t target, const Row& before, const Row& now) const {
  Words words;
  const RowImage a = encoders_[target]->encode(before, words), b = encoders_[target]->encode(now, words);
  const std::vector<std::size_t> places = places_of(targets_[target]);
  for (std::size_t index = 0; index < places.size(); ++index) {
    if (!counts(targets_[target], targets_[target].numbers[index])) continue;
    if (!are_same(words[a.texts + places[index]], words[b.texts + places[index]])) return false;
  }
  return true;
}

/// Returns true if a row with another value in the column is another row for the statement.
bool RowRecheck::counts(const Target& target, std::int16_t number) {
  if (!target.only_keys_count || number == 0 || target.table->in_primary_key(number)) return true;
  return std::ranges::any_of(target.table->indexes, [&](const sql::IndexDef& index) {
    return index.unique && std::ranges::find(index.parts, number, &sql::IndexDef::Part::column) != index.parts.end();
  });
}

asio::awaitable<std::vector<std::vector<RowRecheck::Version>>> RowRecheck::read(const sql::Batch& rows,
                                                                                ExecutionCounters* counters) {
  std::vector<std::vector<Version>> all(rows.rows);
  CommandBatch batch;
  struct Asked {
    std::size_t row, target;
    std::string member;
    std::shared_ptr<const StoredRows> rows;
  };
  std::vector<Asked> asked;
  for (std::size_t target = 0; target < targets_.size(); ++target) {
    const std::shared_ptr<const sql::TableDef>& table = targets_[target].table;
    const std::vector<std::size_t> places = places_of(targets_[target]);
    const std::vector<Row> values = rows_of(rows, targets_[target].positions);
    const std::size_t key = table->has_hidden_key() ? table->columns.size() : table->position(table->primary_key[0]);
    for (std::size_t row = 0; row < rows.rows; ++row) {
      Version& version = all[row].emplace_back();
      version.before.resize(encoders_[target]->width());
      for (std::size_t index = 0; index < places.size(); ++index) version.before[places[index]] = values[row][index];
      if (sql::is_null(version.before[key])) continue;  // MERGE has found no row
      const std::shared_ptr<const sql::TableDef> stored =
          table->parts.empty() ? table : sql::part_of_row(*table, version.before);
      std::string member = member_of(*stored, version.before);
      // The transaction's own rows are locked: they are as the statement has found them.
      if (context_.transaction() && context_.transaction()->buffer().find(stored->oid, member)) {
        version.now = version.before;
        continue;
      }
      const std::shared_ptr<const StoredRows> reader = stored_rows_of(stored);
      reader->append_fetch(batch, member);
      asked.push_back({row, target, std::move(member), reader});
    }
  }
  if (asked.empty()) co_return all;
  const RepliesPtr replies = co_await context_.ask(std::move(batch), counters);
  for (std::size_t index = 0; index < asked.size(); ++index) {
    Version& version = all[asked[index].row][asked[index].target];
    version.now = asked[index].rows->decode(asked[index].member, replies->array(index));
    version.is_same = version.now && is_same(asked[index].target, version.before, *version.now);
  }
  co_return all;
}

asio::awaitable<std::vector<sql::Batch>> RowRecheck::evaluated(const sql::Batch& rows, std::size_t row,
                                                               const std::vector<Version>& versions) {
  const planner::Recheck& recheck = plan_for(versions);
  std::vector<sql::Datum>& slots = context_.evaluation().parameters;
  for (const auto& [slot, position] : recheck.kept) {
    const sql::ColumnPtr& column = rows.columns[position];
    slots[slot] = column->is_encoded() ? column->decode().datum(row) : column->datum(row);
  }
  for (std::size_t target = 0; target < targets_.size(); ++target) {
    const planner::Recheck::Target& places = recheck.targets[target];
    const std::optional<Row>& now = versions[target].now;
    const sql::TableDef& table = *targets_[target].table;
    slots[places.is_there] = now.has_value();
    for (const auto& [slot, number] : places.values) {
      slots[slot] = now ? (*now)[number == 0 ? table.columns.size() : table.position(number)] : sql::Datum();
    }
  }
  std::vector<sql::Batch> made;
  const OperatorPtr run = context_.make_operator(*recheck.plan);
  while (auto batch = co_await run->next()) made.push_back(*std::move(batch));
  co_return made;
}

asio::awaitable<std::vector<sql::Batch>> RowRecheck::renewed(const sql::Batch& rows, ExecutionCounters* counters) {
  const std::vector<std::vector<Version>> versions = co_await read(rows, counters);
  std::vector<sql::Batch> all;
  std::vector<RowNumber> same;
  const auto put_same = [&] {
    if (!same.empty()) all.push_back(rows.gather(same));
    same.clear();
  };
  for (std::size_t row = 0; row < rows.rows; ++row) {
    if (std::ranges::all_of(versions[row], &Version::is_same)) {
      same.push_back(static_cast<RowNumber>(row));
      continue;
    }
    put_same();
    for (sql::Batch& batch : co_await evaluated(rows, row, versions[row])) all.push_back(std::move(batch));
  }
  put_same();
  co_return all;
}

}  // namespace redquel::executor
