#include "executor/statements/do_statement.h"

#include <fmt/format.h>

#include <deque>

#include "executor/engine/inner_statements.h"
#include "executor/routines/plpgsql_routine.h"
#include "executor/routines/routine_state.h"
#include "executor/routines/run_routine.h"
#include "executor/runtime/body_error.h"
#include "executor/runtime/clock.h"
#include "executor/statements/query_execution.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

class DoStatement final : public Execution {
 public:
  DoStatement(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const auto& statement = std::get<ast::Do>(prepared_->statement->node);
    const std::string language = statement.language.empty() ? "plpgsql" : statement.language;
    if (language == "sql" || language == "c" || language == "internal") {
      throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("language \"{}\" does not support inline code execution", language));
    }
    if (language != "plpgsql") throw SqlError(sqlstate::kUndefinedObject, fmt::format("language \"{}\" does not exist", language));
    RoutineState& state = routine_state(session_);
    const bool is_alone = session_.transaction == nullptr;
    const bool may_end = std::exchange(state.next_may_end_transaction, false) || (is_alone && session_.function_depth == 0);
    if (session_.function_depth == 0) session_.statement_time = now_microseconds();
    asio::awaitable<void> work = run(statement.code, may_end);
    work = in_transaction(engine_, session_, std::move(work));
    co_await std::move(work);
    co_return std::nullopt;
  }

  std::string command_tag() const override { return "DO"; }

 private:
  asio::awaitable<void> run(std::string code, bool may_end) {
    const RoutineDepth depth(session_);
    RoutinePtr routine;
    const auto compile = [&](const sql::CatalogPtr& catalog) {
      try {
        routine = compile_plpgsql_code(code, catalog, session_);
      } catch (const SqlError& error) {
        throw BodyError(error, code).in_statement(prepared_->text);
      }
    };
    co_await engine_.with_definitions(session_, compile);
    const FunctionInvocation invocation;
    RoutineCall call{engine_, session_, invocation, may_end};
    co_await routine->run(call);
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

/// The query over the procedure begins once the transaction is there.
class Call final : public Execution {
 public:
  Call(RedisEngine& engine, PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), parameters_(std::move(parameters)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!query_) {
      asio::awaitable<void> work = run();
      const bool is_alone = session_.transaction == nullptr && session_.function_depth == 0;
      if (is_alone) {
        routine_state(session_).next_may_end_transaction = true;
        work = in_transaction(engine_, session_, std::move(work));
      }
      co_await std::move(work);
    }
    if (rows_.empty()) co_return std::nullopt;
    sql::Batch batch = std::move(rows_.front());
    rows_.pop_front();
    co_return batch;
  }

  void describe_later() override { describes_later_ = true; }
  PreparedPtr replanned() const override { return query_ ? query_->replanned() : nullptr; }
  sql::ColumnPtr named(const sql::ColumnPtr& column) const override { return query_ ? query_->named(column) : column; }
  sql::UserTypesPtr user_types() const override { return query_ ? query_->user_types() : nullptr; }
  std::string command_tag() const override { return "CALL"; }

 private:
  asio::awaitable<void> run() {
    query_ = make_query_execution(engine_, prepared_, std::move(parameters_), session_);
    if (describes_later_) query_->describe_later();
    while (std::optional<sql::Batch> batch = co_await query_->next()) rows_.push_back(*std::move(batch));
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  std::vector<sql::Datum> parameters_;
  SessionState& session_;
  std::unique_ptr<Execution> query_;
  std::deque<sql::Batch> rows_;
  bool describes_later_ = false;
};

}  // namespace

std::unique_ptr<Execution> make_do_statement(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  return std::make_unique<DoStatement>(engine, std::move(prepared), session);
}

std::unique_ptr<Execution> make_call(RedisEngine& engine, PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session) {
  return std::make_unique<Call>(engine, std::move(prepared), std::move(parameters), session);
}

}  // namespace redquel::executor
