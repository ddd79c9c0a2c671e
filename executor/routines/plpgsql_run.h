#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "executor/context/trigger_call.h"
#include "executor/engine/redis_engine.h"
#include "executor/routines/plpgsql_program.h"
#include "executor/routines/routine_state.h"
#include "sql/error.h"

namespace redquel::executor {

/// A value with its type.
struct TypedValue {
  sql::Datum value;
  sql::Type type;
};

/// A row with the names and types of its columns.
struct TypedRow {
  std::vector<sql::ResultColumn> columns;
  std::vector<sql::Datum> values;
};

/// An error that has its CONTEXT already: RAISE alone throws what is being handled as it was.
class PlacedError : public sql::SqlError {
 public:
  explicit PlacedError(const sql::SqlError& error) : SqlError(error) {}
};

/// The value of a row variable.
struct RecordValue {
  bool assigned = false;
  std::vector<sql::ResultColumn> fields;
  std::vector<sql::Datum> values;
};

/// One call of a routine in PL/pgSQL: the values of its variables, and the interpreter.
class PlpgsqlRun {
 public:
  PlpgsqlRun(const PlpgsqlRoutine& routine, RoutineCall& call);

  boost::asio::awaitable<std::vector<sql::Batch>> run();

 private:
  enum class Flow : std::uint8_t { kNext, kExit, kContinue, kReturn };
  template <class T>
  using Async = boost::asio::awaitable<T>;

  // plpgsql_run.cc: control flow
  Async<Flow> run_list(const pl::Statements& list, std::size_t first = 0);
  Async<Flow> run_statement(const pl::Statement& statement);
  Async<Flow> run_block(const pl::Block& block);
  Async<void> declare(const pl::Block& block);
  Async<Flow> run_handled(const pl::Block& block);
  std::set<std::string> cursor_names() const;
  const pl::Handler* handler_of(const pl::Block& block, const std::exception_ptr& failure);
  /// Runs statements until one of them has to wait; `next` is that one, or the number of them.
  struct Ran {
    Flow flow = Flow::kNext;
    std::size_t next = 0;
  };
  Ran run_now(const pl::Statements& list);
  /// nullopt: the statement has to wait, and nothing of it was done.
  std::optional<Flow> run_now(const pl::Statement& statement);
  std::optional<Flow> run_now(const pl::ForInteger& loop);
  bool is_immediate(const pl::Statement& statement);
  bool is_immediate(const pl::Statements& list);
  bool is_immediate(const pl::SqlText& text);
  /// The loop goes on, or ends with a flow.
  std::optional<Flow> after_round(Flow flow, const std::string& label);
  Async<Flow> run_loop(const pl::Loop& loop);
  Async<Flow> run_integers(const pl::ForInteger& loop);
  Async<Flow> run_foreach(const pl::Foreach& loop);
  Async<Flow> run_case(const pl::Case& statement);
  void assign_integer(std::size_t variable, std::int32_t value);
  std::optional<std::int32_t> integer_of(const TypedValue& value);
  struct Range {
    std::int32_t from = 0, to = 0, step = 1;
  };
  static Range range_of(std::optional<std::int32_t> from, std::optional<std::int32_t> to, std::optional<std::int32_t> step);

  // plpgsql_values.cc
  TextPlanPtr plan(const pl::SqlText& text, bool is_expression);
  Async<TextPlanPtr> planned(const pl::SqlText& text, bool is_expression);
  std::vector<BoundUse> bind_uses(const pl::SqlText& text, planner::VariableScope& scope) const;
  std::vector<sql::Datum> parameters_of(const TextPlan& plan);
  sql::Datum value_of(const BoundUse& use) const;
  /// nullopt: it has to wait.
  std::optional<TypedValue> evaluate_now(const pl::SqlText& text);
  TypedValue evaluate(const TextPlan& plan);
  Async<TypedValue> evaluate(const pl::SqlText& text);
  Async<bool> is_true(const pl::SqlText& text);
  bool is_true(const TypedValue& value);
  sql::Datum convert(TypedValue value, sql::Type type, sql::Oid domain = 0);
  std::string text_of(const TypedValue& value) const;
  void assign(std::size_t variable, TypedValue value);
  Async<void> assign(const pl::Target& target, TypedValue value);
  void assign_row(std::size_t variable, const TypedRow& row);
  void assign_field(std::size_t variable, std::size_t field, TypedValue value);
  void set_null(std::size_t variable);
  RecordValue& record(std::size_t variable) { return records_[variable]; }
  std::size_t field_of(std::size_t variable, const std::string& name) const;
  TypedValue whole(std::size_t variable) const;
  TypedRow row_of(const TypedValue& value) const;
  TypedValue variable_value(std::size_t variable) const;
  void set_found(bool found) { values()[routine_.body.found] = found; }
  std::vector<sql::Datum>& values() { return context_.parameters; }
  const std::vector<sql::Datum>& values() const { return context_.parameters; }

  // plpgsql_queries.cc
  struct Opened {
    std::unique_ptr<Execution> run;
    PreparedPtr statement;
    std::vector<sql::ResultColumn> columns;
  };
  Async<Opened> start(const pl::SqlText& text);
  Async<Opened> start(PreparedPtr statement, std::vector<sql::Datum> parameters);
  Async<Opened> start(const pl::Dynamic& dynamic);
  Async<std::string> dynamic_text(const pl::Dynamic& dynamic);
  Async<Opened> start_text(std::string text, std::vector<sql::Type> types, std::vector<sql::Datum> values);
  Async<Opened> start(const std::variant<pl::SqlText, pl::Dynamic>& query);
  void follow_catalog();
  Async<void> run_sql(const pl::Sql& statement);
  Async<void> run_call(const pl::Sql& statement);
  Async<void> run_dynamic(const pl::Execute& statement);
  Async<void> run_setting(const parser::ast::Statement& statement);
  bool is_setting(const pl::SqlText& text) const;
  std::vector<std::size_t> output_places(const parser::ast::FunctionCall& call) const;
  std::optional<pl::Target> target_of(const pl::SqlText& text, const std::vector<std::string>& names) const;
  Async<std::vector<sql::Batch>> all_rows(Opened& opened);
  /// Runs to the end; the first row goes to `into`.
  Async<void> take_rows(Opened opened, const std::optional<pl::Into>& into, bool is_dynamic);
  Async<void> assign_into(const pl::Into& into, const TypedRow* row, const std::vector<sql::ResultColumn>& columns);
  Async<Flow> run_query_loop(const pl::ForQuery& loop);
  Async<Flow> loop_over(Opened opened, const pl::Into& into, const pl::Statements& body, const std::string& label);
  Async<Flow> run_cursor_loop(const pl::ForCursor& loop);
  Async<void> open(const pl::Open& statement);
  Async<void> fetch(const pl::Fetch& statement);
  std::shared_ptr<RoutineCursor> cursor_of(std::size_t variable);
  Async<std::shared_ptr<RoutineCursor>> open_cursor(std::size_t variable, Opened opened, std::optional<bool> scroll);
  Async<Opened> start_bound(std::size_t cursor, const std::vector<pl::SqlText>& arguments);
  Async<void> end_transaction(const pl::EndTransaction& statement);

  // plpgsql_trigger.cc
  void set_trigger_variables(const TriggerCall& call);
  bool has_transition_tables() const;
  void name_transition_tables(planner::VariableScope& scope) const;
  std::optional<std::size_t> returned_variable(const pl::SqlText& text) const;
  Async<void> return_row(const pl::SqlText& text, TriggerCall& call);

  // plpgsql_results.cc
  Async<void> return_value(const pl::SqlText& text);
  Async<void> return_next(const pl::ReturnNext& statement);
  Async<void> return_query(const pl::ReturnQuery& statement);
  void add_result(TypedRow row);
  std::vector<sql::Batch> results();
  TypedRow outputs();

  // plpgsql_messages.cc
  Async<void> raise(const pl::Raise& statement);
  Async<void> check(const pl::Assert& statement);
  Async<void> get_diagnostics(const pl::GetDiagnostics& statement);
  std::string context_line() const;
  sql::SqlError placed(const sql::SqlError& error) const;

  const PlpgsqlRoutine& routine_;
  RoutineCall& call_;
  RedisEngine& engine_;
  SessionState& session_;
  sql::CatalogPtr catalog_;
  sql::EvaluationContext context_;  // its parameters are the values of the variables, and of uses of their fields
  sql::EvaluationContext conversion_context_;
  std::vector<RecordValue> records_;  // by variable
  const pl::Statement* current_ = nullptr;  // that is running, for CONTEXT
  const char* phase_ = nullptr;             // what else is done, for CONTEXT
  std::uint32_t phase_line_ = 0;
  std::string label_;                       // of EXIT and CONTINUE; empty: the innermost loop
  std::uint64_t row_count_ = 0;
  std::size_t immediate_depth_ = 0;   // of statements that are known not to wait
  std::size_t exception_blocks_ = 0;  // that are running
  std::size_t rounds_ = 0;            // of loops that may wait
  std::vector<std::shared_ptr<const sql::SqlError>> handled_;  // the exceptions that are being handled, the innermost last
  bool returned_ = false;
  std::map<std::size_t, sql::Type> case_types_;  // of the values of CASE statements, by their variables
  std::optional<TypedValue> result_;     // of RETURN
  std::shared_ptr<const sql::FunctionDef> function_;  // with the columns that the call names
  std::vector<std::shared_ptr<sql::Column>> set_;  // the rows of a set so far
  std::vector<sql::ResultColumn> set_columns_;
  std::size_t set_rows_ = 0;
};

}  // namespace redquel::executor
