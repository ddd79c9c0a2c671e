#include "executor/tables/index_answer.h"
#include "executor/tables/index_answers.h"
#include "executor/tables/key_values.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/mapped_reader.h"
#include "executor/tables/mapped_targets.h"
#include "sql/catalog/mapped_value.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

namespace {

/// count(*) of a zset of an application, or of a range of it.
class MappedCountOperator final : public IndexAnswer {
 public:
  MappedCountOperator(const planner::PhysicalNode& node, const planner::MappedCount& count, ExecutionContext& context)
      : IndexAnswer(node, count.fallback, context), count_(count) {}

 private:
  asio::awaitable<std::optional<sql::Batch>> answer() override {
    const sql::TableDef& table = *count_.table;
    std::string low = "-inf", high = "+inf";
    bool is_empty = false;
    for (const auto* bound : {&count_.lower, &count_.upper}) {
      if (!*bound) continue;
      const sql::Type type = (*bound)->value->type;
      const sql::Datum value = sql::evaluate_scalar(*(*bound)->value, context_.evaluation());
      if (sql::is_null(value)) {
        is_empty = true;
        continue;
      }
      const double score = sql::score_of(type, value);
      // Beyond these numbers scores do not distinguish all values.
      constexpr double kExactScore = 9007199254740992.0;
      if (!(score > -kExactScore && score < kExactScore)) co_return std::nullopt;
      (bound == &count_.lower ? low : high) = ((*bound)->inclusive ? "" : "(") + sql::ordered_score(type, value);
    }
    std::int64_t total = 0;
    const std::vector<MappedKey> keys = fixed_keys(count_.fixed, table, context_.evaluation());
    if (!keys.empty() && !is_empty) {
      const planner::TableRead read{count_.table, {}, {}, nullptr, {}, nullptr};
      const MappedReader reader(read, context_);
      if (const std::optional<std::string> key = reader.key_of(keys.front())) {
        CommandBatch commands;
        if (count_.lower || count_.upper) commands.add("ZCOUNT", *key, low, high);
        else commands.add("ZCARD", *key);
        const RepliesPtr replies = co_await ask_mapped(table, std::move(commands), false, context_, counters());
        if ((*replies)[0].is_error()) throw reader.wrong_kind(*key, "zset", (*replies)[0]);
        total = replies->integer(0);
      }
    }
    sql::Batch result{.rows = 1, .columns = {}};
    for (std::size_t i = 0; i < count_.outputs; ++i) {
      result.columns.push_back(std::make_shared<sql::Column>(sql::Column::constant(sql::kInt8, total, 1)));
    }
    co_return result;
  }

  const planner::MappedCount& count_;
};

}  // namespace

OperatorPtr make_mapped_count(const planner::PhysicalNode& node, const planner::MappedCount& count, ExecutionContext& context) {
  return std::make_unique<MappedCountOperator>(node, count, context);
}

}  // namespace redquel::executor
