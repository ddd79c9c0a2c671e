#include "executor/operators/user_function.h"

#include <algorithm>
#include <deque>
#include <numeric>

#include "executor/context/operator.h"
#include "sql/error.h"
#include "sql/functions/user_function_call.h"

namespace redquel::executor {

namespace {

/// Rows that are there already.
class ResultRows final : public sql::RowSource {
 public:
  explicit ResultRows(std::vector<sql::Batch> batches) : batches_(batches.begin(), batches.end()) {}

  sql::Batch next(std::size_t limit) override {
    while (!batches_.empty() && first_ == batches_.front().rows) {
      batches_.pop_front();
      first_ = 0;
    }
    if (batches_.empty()) return {};
    const sql::Batch& batch = batches_.front();
    std::vector<std::uint32_t> rows(std::min(limit, batch.rows - first_));
    std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(first_));
    first_ += rows.size();
    return rows.size() == batch.rows ? batch : batch.gather(rows);
  }

 private:
  std::deque<sql::Batch> batches_;
  std::size_t first_ = 0;
};

const sql::FunctionDef& function_of(sql::Oid function, const ExecutionContext& context) {
  const auto found = context.catalog()->functions.find(function);
  if (found == context.catalog()->functions.end()) throw StaleCatalog{};
  return *found->second;
}

void check_can_run(const ExecutionContext& context) {
  if (!context.run_function) throw sql::not_supported("a function in LANGUAGE sql whose body is run, in this place");
}

}  // namespace

asio::awaitable<std::unique_ptr<sql::RowSource>> run_user_function(const planner::TableFunctionCall& call, const std::vector<sql::Type>& types,
                                                                   std::vector<sql::Datum> arguments, ExecutionContext& context) {
  check_can_run(context);
  const sql::UserFunctionHead head = sql::read_user_function_head(arguments.at(0), arguments.at(1));
  FunctionInvocation invocation;
  invocation.function = head.function;
  for (std::size_t i = 0; i < head.columns.size(); ++i) invocation.columns.push_back({head.columns[i], types.at(i)});
  for (std::size_t i = head.size(); i < arguments.size(); ++i) {
    invocation.types.push_back(call.arguments[i]->type);
    invocation.arguments.push_back(std::move(arguments[i]));
  }
  std::vector<sql::Batch> rows;
  const sql::FunctionDef& function = function_of(head.function, context);
  const bool has_null = std::ranges::any_of(invocation.arguments, [](const sql::Datum& value) { return sql::is_null(value); });
  const bool returns_set = function.returns_set;
  if (!has_null || !function.strict) rows = co_await context.run_function(std::move(invocation));
  // No rows of a set; one of NULLs where the function gives one.
  if (rows.empty() && !returns_set) {
    sql::Batch batch{.rows = 1, .columns = {}};
    for (const sql::Type type : types) batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(type, {}, 1)));
    rows.push_back(std::move(batch));
  }
  std::unique_ptr<sql::RowSource> source = std::make_unique<ResultRows>(std::move(rows));
  co_return source;
}

asio::awaitable<sql::UserFunctionCalls::Answer> run_user_function(const sql::UserFunctionCalls& call, ExecutionContext& context) {
  check_can_run(context);
  sql::UserFunctionCalls::Answer values;
  for (const std::vector<sql::Datum>& arguments : call.arguments) {
    FunctionInvocation invocation;
    invocation.function = call.function;
    invocation.types = call.types;
    invocation.arguments = arguments;
    const std::vector<sql::Batch> rows = co_await context.run_function(std::move(invocation));
    sql::Datum value;
    if (!rows.empty() && rows.front().rows > 0) value = rows.front().columns.at(0)->datum(0);
    values.push_back(std::move(value));
  }
  co_return values;
}

}  // namespace redquel::executor
