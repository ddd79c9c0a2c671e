#include "executor/writes/increment.h"

#include "executor/storage/write_unit.h"
#include "executor/tables/key_values.h"
#include "executor/transaction/lock_wait.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

bool is_far_from_bounds(const sql::Datum& value) {
  if (const auto* number = std::get_if<std::int32_t>(&value)) return *number > -(1 << 30) && *number < (1 << 30);
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr && *number > -kIncrementBound / 4 && *number < kIncrementBound / 4;
}

namespace {

/// The row as it would be if it held nothing but its key and zeros; what is added is what becomes of them.
class UnreadIncrement final : public Operator {
 public:
  UnreadIncrement(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context)
      : update_(update), context_(context), counters_(node, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const auto& lookup = std::get<planner::KeyLookup>(update_.source->node);
    const sql::TableDef& table = *update_.table;
    const sql::EvaluationContext& evaluation = context_.evaluation();
    const auto key = evaluate_key(table, table.primary_key, lookup.keys[0], evaluation);
    if (!key) co_return std::nullopt;
    std::vector<sql::Datum> before(table.columns.size());
    for (std::size_t part = 0; part < key->size(); ++part) before[table.position(table.primary_key[part])] = (*key)[part];
    for (const std::size_t position : update_.added) {
      before[position] = table.columns[position].type.oid == sql::oid::kInt4 ? sql::Datum(std::int32_t{0}) : sql::Datum(std::int64_t{0});
    }
    sql::Batch source{.rows = 1, .columns = {}};
    for (const std::int16_t number : lookup.read.numbers) {
      const std::size_t position = table.position(number);
      source.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(table.columns[position].type, before[position], 1)));
    }
    if (lookup.read.condition && sql::select_rows(*lookup.read.condition, source, evaluation).empty()) co_return std::nullopt;
    std::vector<sql::Datum> after = before;
    try {
      for (const planner::Assignment& assignment : update_.assignments) {
        const sql::Datum sum = sql::evaluate(*assignment.value, source, evaluation)->datum(0);
        if (!is_far_from_bounds(sum)) throw WriteConflict{};
        after[table.position(assignment.number)] = sum;
      }
    } catch (const sql::SqlError&) {  // an error only if there is such a row
      throw WriteConflict{};
    }
    WriteOptions options;
    options.settings = *evaluation.settings;
    WriteUnit unit(std::move(options));
    unit.update_row(update_.table, before, after, {}, update_.added);
    const WriteStatus status = co_await unit.execute(context_.redis(), counters_.get());
    if (status == WriteStatus::kConflict) throw WriteConflict{};
    if (status == WriteStatus::kStale) throw StaleCatalog{};
    if (status == WriteStatus::kLocked) throw LockedByOther{unit.blocker()};
    context_.affected_rows += 1;
    co_return std::nullopt;
  }

 private:
  const planner::PhysicalUpdate& update_;
  ExecutionContext& context_;
  NodeCounters counters_;
};

}  // namespace

OperatorPtr make_unread_increment(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context) {
  if (!context.allows_unread_increments || !update.may_add_unread) return nullptr;
  return std::make_unique<UnreadIncrement>(node, update, context);
}

}  // namespace redquel::executor
