// The interpreter of PL/pgSQL: blocks, loops and exceptions.

#include "executor/routines/plpgsql_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <set>

#include "executor/routines/immediate.h"
#include "executor/routines/routine_result.h"
#include "executor/routines/run_routine.h"
#include "executor/runtime/failure.h"
#include "executor/runtime/session_context.h"
#include "executor/transaction/transaction.h"
#include "sql/interrupts.h"
#include "sql/routine_sqlstate.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/row_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

using sql::Datum;
using sql::SqlError;

PlpgsqlRun::PlpgsqlRun(const PlpgsqlRoutine& routine, RoutineCall& call)
    : routine_(routine),
      call_(call),
      engine_(call.engine),
      session_(call.session),
      records_(routine.shapes.size()),
      function_(with_columns_of(routine.function, call.invocation)) {
  for (const sql::FunctionDef::Column& column : function_->columns) set_columns_.push_back({column.name, column.type});
}

boost::asio::awaitable<std::vector<sql::Batch>> PlpgsqlRun::run() {
  std::optional<SqlError> failure;
  std::vector<sql::Batch> rows;
  try {
    catalog_ = co_await engine_.catalog(session_);
    follow_catalog();
    values().resize(routine_.shapes.size() + routine_.extra_slots.size());
    for (std::size_t i = 0; i < routine_.shapes.size(); ++i) set_null(i);
    if (call_.invocation.trigger != nullptr) set_trigger_variables(*call_.invocation.trigger);
    phase_ = "during function entry";
    for (std::size_t i = 0; i < routine_.body.variables.size(); ++i) {
      const pl::Variable& variable = routine_.body.variables[i];
      if (!variable.argument || *variable.argument >= call_.invocation.arguments.size()) continue;
      if (function_->parameters[*variable.argument].mode == sql::FunctionDef::Parameter::Mode::kOut) continue;
      assign(i, {call_.invocation.arguments[*variable.argument], call_.invocation.types[*variable.argument]});
    }
    set_found(false);
    phase_ = nullptr;
    current_ = &routine_.body.block;
    co_await run_statement(routine_.body.block);
    const bool needs_value = !function_->returns_set && function_->result.oid != sql::oid::kVoid && !function_->procedure && !routine_.has_outputs;
    if (!returned_ && needs_value) {
      current_ = nullptr;
      throw SqlError(sqlstate::kFunctionExecutedNoReturn,
                     fmt::format("control reached end of {} without RETURN", routine_.is_trigger ? "trigger procedure" : "function"));
    }
    current_ = nullptr;
    if (call_.invocation.trigger != nullptr) co_return rows;
    phase_ = "while casting return value to function's return type";
    rows = results();
  } catch (const PlacedError& error) {
    failure = error;
  } catch (const SqlError& error) {
    failure = placed(error);
  }
  if (failure) throw *failure;
  co_return rows;
}

// ---- statements that do not wait ----

bool PlpgsqlRun::is_immediate(const pl::SqlText& text) {
  const TextPlanPtr& known = routine_.plans[text.number];
  return known && known->value && known->catalog == catalog_;
}

bool PlpgsqlRun::is_immediate(const pl::Statements& list) {
  return std::ranges::all_of(list, [this](const auto& statement) { return is_immediate(*statement); });
}

bool PlpgsqlRun::is_immediate(const pl::Statement& statement) {
  if (const auto* assign = std::get_if<pl::Assign>(&statement.node)) return assign->target.steps.empty() && is_immediate(assign->value);
  if (const auto* exit = std::get_if<pl::Exit>(&statement.node)) return !exit->condition || is_immediate(*exit->condition);
  if (const auto* branch = std::get_if<pl::If>(&statement.node)) {
    return is_immediate(branch->otherwise) &&
           std::ranges::all_of(branch->branches, [this](const auto& one) { return is_immediate(one.condition) && is_immediate(one.body); });
  }
  if (const auto* loop = std::get_if<pl::ForInteger>(&statement.node)) {
    return is_immediate(loop->from) && is_immediate(loop->to) && (!loop->step || is_immediate(*loop->step)) && is_immediate(loop->body);
  }
  if (const auto* loop = std::get_if<pl::Loop>(&statement.node)) {
    return (!loop->condition || is_immediate(*loop->condition)) && is_immediate(loop->body);
  }
  return std::holds_alternative<pl::Null>(statement.node);
}

PlpgsqlRun::Ran PlpgsqlRun::run_now(const pl::Statements& list) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::optional<Flow> flow = run_now(*list[i]);
    if (!flow) return {Flow::kNext, i};
    if (*flow != Flow::kNext) return {*flow, list.size()};
  }
  return {Flow::kNext, list.size()};
}

std::optional<PlpgsqlRun::Flow> PlpgsqlRun::run_now(const pl::Statement& statement) {
  if (const auto* one = std::get_if<pl::Assign>(&statement.node)) {
    if (!one->target.steps.empty()) return std::nullopt;
    current_ = &statement;
    std::optional<TypedValue> value = evaluate_now(one->value);
    if (!value) return std::nullopt;
    assign(one->target.variable, *std::move(value));
    return Flow::kNext;
  }
  if (const auto* exit = std::get_if<pl::Exit>(&statement.node)) {
    current_ = &statement;
    if (exit->condition) {
      const std::optional<TypedValue> value = evaluate_now(*exit->condition);
      if (!value) return std::nullopt;
      if (!is_true(*value)) return Flow::kNext;
    }
    label_ = exit->label;
    return exit->is_exit ? Flow::kExit : Flow::kContinue;
  }
  if (const auto* branch = std::get_if<pl::If>(&statement.node)) {
    if (immediate_depth_ == 0 && !is_immediate(statement)) return std::nullopt;
    const Immediate within(immediate_depth_);
    const auto run_all = [&](const pl::Statements& list) {
      const Ran ran = run_now(list);
      if (ran.next < list.size()) stopped_in_the_middle();
      return ran.flow;
    };
    for (const auto& one : branch->branches) {
      current_ = &statement;
      const std::optional<TypedValue> value = evaluate_now(one.condition);
      if (!value) return std::nullopt;
      if (is_true(*value)) return run_all(one.body);
    }
    return run_all(branch->otherwise);
  }
  if (const auto* loop = std::get_if<pl::ForInteger>(&statement.node)) {
    if (immediate_depth_ == 0 && !is_immediate(statement)) return std::nullopt;
    const Immediate within(immediate_depth_);
    current_ = &statement;
    return run_now(*loop);
  }
  if (const auto* loop = std::get_if<pl::Loop>(&statement.node)) {
    if (immediate_depth_ == 0 && !is_immediate(statement)) return std::nullopt;
    const Immediate within(immediate_depth_);
    while (true) {
      current_ = &statement;
      if (++rounds_ % 64 == 0) sql::check_interrupts();
      if (loop->condition) {
        const std::optional<TypedValue> value = evaluate_now(*loop->condition);
        if (!value) stopped_in_the_middle();
        if (!is_true(*value)) return Flow::kNext;
      }
      const Ran ran = run_now(loop->body);
      if (ran.next < loop->body.size()) stopped_in_the_middle();
      if (const auto flow = after_round(ran.flow, loop->label)) return flow;
    }
  }
  if (std::holds_alternative<pl::Null>(statement.node)) return Flow::kNext;
  return std::nullopt;
}

std::optional<PlpgsqlRun::Flow> PlpgsqlRun::after_round(Flow flow, const std::string& label) {
  const bool is_mine = label_.empty() || label_ == label;
  if (flow == Flow::kNext) return std::nullopt;
  if (flow == Flow::kReturn || !is_mine) return flow;
  label_.clear();
  return flow == Flow::kExit ? std::optional(Flow::kNext) : std::nullopt;
}

// ---- statements ----

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_list(const pl::Statements& list, std::size_t first) {
  for (std::size_t i = first; i < list.size(); ++i) {
    const bool is_loop = std::holds_alternative<pl::ForInteger>(list[i]->node) || std::holds_alternative<pl::Loop>(list[i]->node);
    std::optional<Flow> flow;
    if (!is_loop) {
      const sql::InterruptScope interrupts(session_.backend_pid);
      flow = run_now(*list[i]);
    }
    if (!flow) flow = co_await run_statement(*list[i]);
    if (*flow != Flow::kNext) co_return *flow;
  }
  co_return Flow::kNext;
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_statement(const pl::Statement& statement) {
  current_ = &statement;
  {
    const sql::InterruptScope interrupts(session_.backend_pid);
    sql::check_interrupts();
  }
  const auto& node = statement.node;
  if (const auto* block = std::get_if<pl::Block>(&node)) co_return co_await run_block(*block);
  if (const auto* assign_one = std::get_if<pl::Assign>(&node)) {
    TypedValue value = co_await evaluate(assign_one->value);
    co_await assign(assign_one->target, std::move(value));
  } else if (const auto* branch = std::get_if<pl::If>(&node)) {
    for (const auto& one : branch->branches) {
      current_ = &statement;
      const bool holds = co_await is_true(one.condition);
      if (holds) co_return co_await run_list(one.body);
    }
    co_return co_await run_list(branch->otherwise);
  } else if (const auto* choice = std::get_if<pl::Case>(&node)) {
    co_return co_await run_case(*choice);
  } else if (const auto* loop = std::get_if<pl::Loop>(&node)) {
    co_return co_await run_loop(*loop);
  } else if (const auto* integers = std::get_if<pl::ForInteger>(&node)) {
    co_return co_await run_integers(*integers);
  } else if (const auto* query = std::get_if<pl::ForQuery>(&node)) {
    co_return co_await run_query_loop(*query);
  } else if (const auto* cursor = std::get_if<pl::ForCursor>(&node)) {
    co_return co_await run_cursor_loop(*cursor);
  } else if (const auto* foreach = std::get_if<pl::Foreach>(&node)) {
    co_return co_await run_foreach(*foreach);
  } else if (const auto* exit = std::get_if<pl::Exit>(&node)) {
    bool leaves = true;
    if (exit->condition) leaves = co_await is_true(*exit->condition);
    if (!leaves) co_return Flow::kNext;
    label_ = exit->label;
    co_return exit->is_exit ? Flow::kExit : Flow::kContinue;
  } else if (const auto* result = std::get_if<pl::Return>(&node)) {
    if (result->value) co_await return_value(*result->value);
    returned_ = true;
    co_return Flow::kReturn;
  } else if (const auto* next = std::get_if<pl::ReturnNext>(&node)) {
    co_await return_next(*next);
  } else if (const auto* rows = std::get_if<pl::ReturnQuery>(&node)) {
    co_await return_query(*rows);
  } else if (const auto* message = std::get_if<pl::Raise>(&node)) {
    co_await raise(*message);
  } else if (const auto* assertion = std::get_if<pl::Assert>(&node)) {
    co_await check(*assertion);
  } else if (const auto* sql = std::get_if<pl::Sql>(&node)) {
    co_await run_sql(*sql);
  } else if (const auto* dynamic = std::get_if<pl::Execute>(&node)) {
    co_await run_dynamic(*dynamic);
  } else if (const auto* diagnostics = std::get_if<pl::GetDiagnostics>(&node)) {
    co_await get_diagnostics(*diagnostics);
  } else if (const auto* opened = std::get_if<pl::Open>(&node)) {
    co_await open(*opened);
  } else if (const auto* fetched = std::get_if<pl::Fetch>(&node)) {
    co_await fetch(*fetched);
  } else if (const auto* closed = std::get_if<pl::Close>(&node)) {
    routine_state(session_).cursors.erase(cursor_of(closed->cursor)->name);
  } else if (const auto* end = std::get_if<pl::EndTransaction>(&node)) {
    co_await end_transaction(*end);
  }
  co_return Flow::kNext;
}

boost::asio::awaitable<void> PlpgsqlRun::declare(const pl::Block& block) {
  for (const std::size_t variable : block.variables) {
    const pl::Variable& declared = routine_.body.variables[variable];
    const VariableShape& shape = routine_.shapes[variable];
    set_null(variable);
    phase_line_ = declared.line;
    if (!declared.value) {
      if (shape.domain != 0) values()[variable] = convert({{}, shape.type}, shape.type, shape.domain);
      continue;
    }
    TypedValue value = co_await evaluate(*declared.value);
    assign(variable, std::move(value));
  }
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_block(const pl::Block& block) {
  const pl::Statement* const statement = current_;
  phase_ = "during statement block local variable initialization";
  co_await declare(block);
  phase_ = nullptr;
  Flow flow = Flow::kNext;
  if (block.handlers.empty()) {
    flow = co_await run_list(block.body);
  } else {
    flow = co_await run_handled(block);
  }
  // EXIT with a block's label leaves it.
  if (flow == Flow::kExit && !label_.empty() && (label_ == block.label || (statement == &routine_.body.block && label_ == function_->name))) {
    label_.clear();
    flow = Flow::kNext;
  }
  co_return flow;
}

const pl::Handler* PlpgsqlRun::handler_of(const pl::Block& block, const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const SqlError& error) {
    const std::string& state = error.sqlstate();
    for (const pl::Handler& handler : block.handlers) {
      for (const std::string& wanted : handler.sqlstates) {
        const bool is_class = wanted.ends_with("000") && state.starts_with(std::string_view(wanted).substr(0, 2));
        const bool is_other = wanted.empty() && state != sqlstate::kQueryCanceled && state != sqlstate::kAssertFailure;
        if (wanted != state && !is_class && !is_other) continue;
        const bool is_placed = dynamic_cast<const PlacedError*>(&error) != nullptr;
        handled_.push_back(std::make_shared<const SqlError>(is_placed ? error : placed(error)));
        return &handler;
      }
    }
  } catch (...) {
  }
  return nullptr;
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_handled(const pl::Block& block) {
  // Rows of the calling statement shall stay when the block is undone.
  const TriggerCall* const trigger = call_.invocation.trigger;
  if (trigger != nullptr && trigger->before_statement) co_await trigger->before_statement();
  // A statement that only reads has no transaction, and nothing to undo.
  const bool has_transaction = session_.transaction != nullptr;
  std::size_t savepoint = 0;
  if (has_transaction) {
    session_.savepoints = session_.transaction->savepoint_count();
    savepoint = session_.savepoints;
    engine_.set_savepoint(session_);
  }
  const std::shared_ptr<Transaction> transaction = session_.transaction;
  const std::size_t depth = session_.function_depth;
  const std::set<std::string> cursors = cursor_names();
  ++exception_blocks_;
  Attempt<Flow> attempted = co_await attempt(run_list(block.body));
  --exception_blocks_;
  if (!attempted.failure) {
    if (has_transaction) engine_.release_savepoint(session_, savepoint);
    co_return *attempted.value;
  }
  session_.function_depth = depth;
  const pl::Handler* const handler = handler_of(block, attempted.failure);
  if (handler == nullptr || session_.transaction != transaction) std::rethrow_exception(attempted.failure);
  phase_ = nullptr;
  if (has_transaction) {
    co_await engine_.roll_back_to(session_, savepoint);
    engine_.release_savepoint(session_, savepoint);
  }
  std::erase_if(routine_state(session_).cursors, [&](const auto& cursor) { return !cursors.contains(cursor.first); });
  catalog_ = co_await engine_.catalog(session_);
  follow_catalog();
  const std::shared_ptr<const SqlError> error = handled_.back();
  values()[block.sqlstate] = error->sqlstate();
  values()[block.sqlerrm] = error->message();
  const Attempt<Flow> handling = co_await attempt(run_list(handler->body));
  handled_.pop_back();
  if (handling.failure) std::rethrow_exception(handling.failure);
  co_return *handling.value;
}

std::set<std::string> PlpgsqlRun::cursor_names() const {
  std::set<std::string> names;
  if (!session_.routines) return names;
  for (const auto& [name, cursor] : session_.routines->cursors) names.insert(name);
  return names;
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_case(const pl::Case& statement) {
  const pl::Statement* const current = current_;
  if (statement.value) {
    TypedValue value = co_await evaluate(*statement.value);
    if (value.type.oid == sql::oid::kUnknown) value = {convert(value, sql::kText), sql::kText};
    case_types_[statement.variable] = value.type;
    values()[statement.variable] = std::move(value.value);
  }
  for (const pl::If::Branch& branch : statement.branches) {
    current_ = current;
    const bool holds = co_await is_true(branch.condition);
    if (holds) co_return co_await run_list(branch.body);
  }
  if (statement.otherwise) co_return co_await run_list(*statement.otherwise);
  throw SqlError(sqlstate::kCaseNotFound, "case not found").hint("CASE statement is missing ELSE part.");
}

boost::asio::awaitable<std::vector<sql::Batch>> PlpgsqlRoutine::run(RoutineCall& call) const {
  if (is_trigger && call.invocation.trigger == nullptr) {
    throw SqlError(sqlstate::kFeatureNotSupported, "trigger functions can only be called as triggers");
  }
  PlpgsqlRun run(*this, call);
  co_return co_await run.run();
}

}  // namespace redquel::executor
