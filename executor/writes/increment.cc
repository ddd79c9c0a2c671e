#include "executor/writes/increment.h"

#include <algorithm>

#include "executor/operators/sequence_evaluation.h"
#include "executor/storage/write_unit.h"
#include "executor/tables/key_values.h"
#include "executor/transaction/lock_wait.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

/// Positions of the columns that one expression reads.
std::vector<std::uint32_t> columns_of(const sql::ExpressionPtr& expression) {
  std::vector<std::uint32_t> columns;
  if (expression) sql::collect_columns(*expression, columns);
  return columns;
}

}  // namespace

bool adds_to(const sql::Expression& value, std::uint32_t position) {
  const auto* call = std::get_if<sql::FunctionCall>(&value.node);
  if (call == nullptr || call->arguments.size() != 2 || (call->function->name != "+" && call->function->name != "-")) return false;
  const auto is_column = [&](const sql::ExpressionPtr& argument) {
    const auto* column = std::get_if<sql::ColumnRef>(&argument->node);
    return column != nullptr && column->column == position && argument->type.oid == value.type.oid;
  };
  if (is_column(call->arguments[0])) return columns_of(call->arguments[1]).empty();
  return call->function->name == "+" && is_column(call->arguments[1]) && columns_of(call->arguments[0]).empty();
}

std::vector<std::size_t> added_columns(const planner::PhysicalUpdate& update) {
  const sql::TableDef& table = *update.table;
  const auto* lookup = std::get_if<planner::KeyLookup>(&update.source->node);
  if (lookup == nullptr || !update.generated.empty() || table.has_hidden_key()) return {};
  for (const std::uint32_t column : columns_of(lookup->read.condition)) {
    if (!table.in_primary_key(lookup->read.numbers[column])) return {};
  }
  std::vector<bool> is_used(table.columns.size());
  const auto use = [&](const sql::ExpressionPtr& expression) {
    for (const std::uint32_t column : columns_of(expression)) {
      if (column < is_used.size()) is_used[column] = true;
      for (std::size_t i = 0; i < is_used.size(); ++i) is_used[i] = is_used[i] || column == is_used.size() + update.old_row[i];
    }
  };
  for (const planner::BoundCheck& check : update.checks) use(check.condition);
  for (const sql::ExpressionPtr& expression : update.returning) use(expression);
  const std::shared_ptr<const RowEncoder> encoder = encoder_of(update.table);
  for (const RowEncoder::StructureKeys& structure : encoder->structures()) {
    for (const std::size_t position : structure.sources) is_used[position] = true;
  }
  std::vector<std::size_t> added;
  for (const planner::Assignment& assignment : update.assignments) {
    const std::size_t position = table.position(assignment.number);
    const sql::ColumnDef& column = table.columns[position];
    const bool is_integer = column.type.oid == sql::oid::kInt4 || column.type.oid == sql::oid::kInt8;
    if (!is_integer || is_used[position] || column.missing || table.in_primary_key(column.number) || assignment.value->type.oid != column.type.oid ||
        !adds_to(*assignment.value, static_cast<std::uint32_t>(update.old_row[position]))) {
      return {};
    }
    added.push_back(position);
  }
  return added;
}

bool is_far_from_bounds(const sql::Datum& value) {
  if (const auto* number = std::get_if<std::int32_t>(&value)) return *number > -(1 << 30) && *number < (1 << 30);
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr && *number > -kIncrementBound / 4 && *number < kIncrementBound / 4;
}

namespace {

/// The row as it would be if it held nothing but its key and zeros; what is added is what becomes of them.
class UnreadIncrement final : public Operator {
 public:
  UnreadIncrement(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, std::vector<std::size_t> added,
                  ExecutionContext& context)
      : update_(update), added_(std::move(added)), context_(context), counters_(node, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const auto& lookup = std::get<planner::KeyLookup>(update_.source->node);
    const sql::TableDef& table = *update_.table;
    const sql::EvaluationContext& evaluation = context_.evaluation();
    const auto key = evaluate_key(table, table.primary_key, lookup.keys[0], evaluation);
    if (!key) co_return std::nullopt;
    std::vector<sql::Datum> before(table.columns.size());
    for (std::size_t part = 0; part < key->size(); ++part) before[table.position(table.primary_key[part])] = (*key)[part];
    for (const std::size_t position : added_) {
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
    unit.update_row(update_.table, before, after, {}, added_);
    const WriteStatus status = co_await unit.execute(context_.redis(), counters_.get());
    if (status == WriteStatus::kConflict) throw WriteConflict{};
    if (status == WriteStatus::kStale) throw StaleCatalog{};
    if (status == WriteStatus::kLocked) throw LockedByOther{unit.blocker()};
    context_.affected_rows += 1;
    co_return std::nullopt;
  }

 private:
  const planner::PhysicalUpdate& update_;
  const std::vector<std::size_t> added_;
  ExecutionContext& context_;
  NodeCounters counters_;
};

}  // namespace

OperatorPtr make_unread_increment(const planner::PhysicalNode& node, const planner::PhysicalUpdate& update, ExecutionContext& context) {
  const sql::TableDef& table = *update.table;
  const auto* lookup = std::get_if<planner::KeyLookup>(&update.source->node);
  if (!context.allows_unread_increments || lookup == nullptr || lookup->keys.size() != 1) return nullptr;
  if (table.mapping || !table.computed.empty() || table.rows_expire() || table.has_foreign_keys() || update.has_returning || !update.checks.empty()) return nullptr;
  const bool calls = std::ranges::any_of(update.assignments, [](const planner::Assignment& assignment) {
    return calls_sequences({&assignment.value, 1});
  });
  if (calls) return nullptr;
  std::vector<std::size_t> added = added_columns(update);
  if (added.empty()) return nullptr;
  return std::make_unique<UnreadIncrement>(node, update, std::move(added), context);
}

}  // namespace redquel::executor
