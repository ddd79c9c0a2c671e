// Messages and diagnostics of PL/pgSQL: RAISE, ASSERT, GET DIAGNOSTICS, CONTEXT.

#include <fmt/format.h>

#include <algorithm>

#include "executor/routines/plpgsql_run.h"
#include "executor/routines/routine_result.h"
#include "parser/plpgsql_parse.h"
#include "sql/ascii.h"
#include "sql/routine_sqlstate.h"
#include "sql/sqlstate.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// The name of a statement in CONTEXT.
struct StatementName {
  std::string operator()(const pl::Block&) const { return "statement block"; }
  std::string operator()(const pl::Assign&) const { return "assignment"; }
  std::string operator()(const pl::If&) const { return "IF"; }
  std::string operator()(const pl::Case&) const { return "CASE"; }
  std::string operator()(const pl::Loop& loop) const { return loop.condition ? "WHILE" : "LOOP"; }
  std::string operator()(const pl::ForInteger&) const { return "FOR with integer loop variable"; }
  std::string operator()(const pl::ForQuery& loop) const {
    return std::holds_alternative<pl::Dynamic>(loop.query) ? "FOR over EXECUTE statement" : "FOR over SELECT rows";
  }
  std::string operator()(const pl::ForCursor&) const { return "FOR over cursor"; }
  std::string operator()(const pl::Foreach&) const { return "FOREACH over array"; }
  std::string operator()(const pl::Exit& exit) const { return exit.is_exit ? "EXIT" : "CONTINUE"; }
  std::string operator()(const pl::Return&) const { return "RETURN"; }
  std::string operator()(const pl::ReturnNext&) const { return "RETURN NEXT"; }
  std::string operator()(const pl::ReturnQuery&) const { return "RETURN QUERY"; }
  std::string operator()(const pl::Raise&) const { return "RAISE"; }
  std::string operator()(const pl::Assert&) const { return "ASSERT"; }
  std::string operator()(const pl::Sql& sql) const { return sql.perform ? "PERFORM" : sql.call ? "CALL" : "SQL statement"; }
  std::string operator()(const pl::Execute&) const { return "EXECUTE"; }
  std::string operator()(const pl::GetDiagnostics& get) const { return get.stacked ? "GET STACKED DIAGNOSTICS" : "GET DIAGNOSTICS"; }
  std::string operator()(const pl::Open&) const { return "OPEN"; }
  std::string operator()(const pl::Fetch& fetch) const { return fetch.moves ? "MOVE" : "FETCH"; }
  std::string operator()(const pl::Close&) const { return "CLOSE"; }
  std::string operator()(const pl::EndTransaction& end) const { return end.commit ? "COMMIT" : "ROLLBACK"; }
  std::string operator()(const pl::Null&) const { return "NULL"; }
};

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), sql::to_upper);
  return text;
}

}  // namespace

std::string PlpgsqlRun::context_line() const {
  if (phase_ != nullptr && phase_line_ > 0) return fmt::format("PL/pgSQL function {} line {} {}", routine_.signature, phase_line_, phase_);
  if (phase_ != nullptr) return fmt::format("PL/pgSQL function {} {}", routine_.signature, phase_);
  if (current_ == nullptr) return fmt::format("PL/pgSQL function {}", routine_.signature);
  return fmt::format("PL/pgSQL function {} line {} at {}", routine_.signature, current_->line, std::visit(StatementName{}, current_->node));
}

SqlError PlpgsqlRun::placed(const SqlError& error) const { return with_context(error, context_line()); }

boost::asio::awaitable<void> PlpgsqlRun::raise(const pl::Raise& statement) {
  if (statement.again) {
    if (handled_.empty()) {
      throw SqlError(sqlstate::kStackedDiagnosticsWithoutHandler, "RAISE without parameters cannot be used outside an exception handler");
    }
    throw PlacedError(*handled_.back());
  }
  std::optional<std::string> message;
  std::string state = statement.sqlstate;
  if (statement.format) {
    message.emplace();
    const std::string& format = *statement.format;
    std::size_t next = 0;
    for (std::size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%') {
        *message += format[i];
      } else if (format.substr(i + 1, 1) == "%") {
        *message += '%';
        ++i;
      } else {
        const TypedValue value = co_await evaluate(statement.arguments.at(next++));
        *message += sql::is_null(value.value) ? "<NULL>" : text_of(value);
      }
    }
  }
  std::map<std::string, std::string> options;
  for (const pl::Raise::Option& option : statement.options) {
    const TypedValue value = co_await evaluate(option.value);
    if (sql::is_null(value.value)) throw SqlError(sqlstate::kNullValueNotAllowed, "RAISE statement option cannot be null");
    const std::string text = text_of(value);
    const bool is_repeated = options.contains(option.name) || (option.name == "message" && message) || (option.name == "errcode" && !state.empty());
    if (is_repeated) {
      const std::string name = option.name == "errcode" ? "ERRCODE" : upper_case(option.name);
      throw SqlError(sqlstate::kSyntaxError, fmt::format("RAISE option already specified: {}", name));
    }
    options[option.name] = text;
    if (option.name == "message") message = text;
    if (option.name != "errcode") continue;
    const bool is_state = text.size() == 5 && text.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == std::string::npos;
    if (is_state) {
      state = text;
    } else {
      const std::vector<std::string> states = pl::sqlstates_of(text);
      if (states.empty()) throw SqlError(sqlstate::kUndefinedObject, fmt::format("unrecognized exception condition \"{}\"", text));
      state = states.front();
    }
  }
  const bool is_error = statement.level == "error";
  if (!message) message = !statement.condition.empty() ? statement.condition : options.contains("errcode") ? options["errcode"] : "unhandled exception";
  if (state.empty()) state = is_error ? sqlstate::kRaiseException : statement.level == "warning" ? sqlstate::kWarning : sqlstate::kSuccessfulCompletion;
  SqlError error = SqlError(state, *message)
                       .detail(options["detail"])
                       .hint(options["hint"])
                       .column(options["column"])
                       .constraint(options["constraint"])
                       .data_type(options["datatype"])
                       .table(options["table"])
                       .schema(options["schema"]);
  if (is_error) throw error;
  if (session_.notice) session_.notice(upper_case(statement.level), placed(error));
}

boost::asio::awaitable<void> PlpgsqlRun::check(const pl::Assert& statement) {
  if (session_.show && session_.show("plpgsql.check_asserts").value_or("on") == "off") co_return;
  const bool holds = co_await is_true(statement.condition);
  if (holds) co_return;
  std::string message = "assertion failed";
  if (statement.message) {
    const TypedValue text = co_await evaluate(*statement.message);
    if (!sql::is_null(text.value)) message = text_of(text);
  }
  throw SqlError(sqlstate::kAssertFailure, message);
}

boost::asio::awaitable<void> PlpgsqlRun::get_diagnostics(const pl::GetDiagnostics& statement) {
  if (statement.stacked && handled_.empty()) {
    throw SqlError(sqlstate::kStackedDiagnosticsWithoutHandler, "GET STACKED DIAGNOSTICS cannot be used outside an exception handler");
  }
  for (const pl::GetDiagnostics::Item& item : statement.items) {
    TypedValue value{{}, sql::kText};
    if (item.name == "row_count") {
      value = {static_cast<std::int64_t>(row_count_), sql::kInt8};
    } else if (item.name == "pg_context") {
      value.value = context_line();
    } else {
      const SqlError& error = *handled_.back();
      if (item.name == "returned_sqlstate") value.value = error.sqlstate();
      if (item.name == "message_text") value.value = error.message();
      if (item.name == "pg_exception_detail") value.value = error.detail();
      if (item.name == "pg_exception_hint") value.value = error.hint();
      if (item.name == "pg_exception_context") value.value = error.context();
      if (item.name == "column_name") value.value = error.column();
      if (item.name == "constraint_name") value.value = error.constraint();
      if (item.name == "pg_datatype_name") value.value = error.data_type();
      if (item.name == "table_name") value.value = error.table();
      if (item.name == "schema_name") value.value = error.schema();
    }
    co_await assign(item.target, std::move(value));
  }
}

}  // namespace redquel::executor
