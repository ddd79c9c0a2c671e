// Statements of SQL in PL/pgSQL: INTO, EXECUTE, loops over rows, cursors, COMMIT.

#include <fmt/format.h>

#include <algorithm>

#include "executor/routines/plpgsql_run.h"
#include "executor/runtime/clock.h"
#include "executor/runtime/computation.h"
#include "executor/runtime/session_context.h"
#include "executor/transaction/transaction.h"
#include "parser/parse.h"
#include "sql/interrupts.h"
#include "sql/routine_sqlstate.h"
#include "sql/sqlstate.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::Datum;
using sql::SqlError;

namespace {

std::vector<sql::ResultColumn> columns_of(const std::vector<OutputColumn>& columns) {
  std::vector<sql::ResultColumn> all;
  for (const OutputColumn& column : columns) all.push_back({column.name, column.type});
  return all;
}

/// Returns the rows with values that can be computed with: columns may hold texts as they came from Redis.
sql::Batch decoded(sql::Batch batch) {
  for (sql::ColumnPtr& column : batch.columns) {
    if (column->is_encoded()) column = std::make_shared<const sql::Column>(column->decode());
  }
  return batch;
}

sql::Batch first_of(const sql::Batch& batch) {
  const std::uint32_t first = 0;
  return batch.gather({&first, 1});
}

TypedRow row_at(const sql::Batch& batch, std::size_t row, const std::vector<sql::ResultColumn>& columns) {
  TypedRow values{columns, {}};
  for (const sql::ColumnPtr& column : batch.columns) values.values.push_back(column->datum(row));
  return values;
}

/// Returns the count at the end of a command tag.
std::uint64_t count_of(const std::string& tag) {
  const std::size_t blank = tag.rfind(' ');
  if (blank == std::string::npos || tag.find_first_not_of("0123456789", blank + 1) != std::string::npos) return 0;
  return std::stoull(tag.substr(blank + 1));
}

SqlError in_statement(const SqlError& error, const std::string& text) {
  const std::string line = fmt::format("SQL statement \"{}\"", text);
  return SqlError(error.without_position()).context(error.context().empty() ? line : error.context() + "\n" + line);
}

bool is_write(const ast::Statement& statement) {
  const auto& node = statement.node;
  return std::holds_alternative<ast::Insert>(node) || std::holds_alternative<ast::Update>(node) || std::holds_alternative<ast::Delete>(node) ||
         std::holds_alternative<ast::Merge>(node);
}

}  // namespace

void PlpgsqlRun::follow_catalog() {
  const sql::CatalogPtr now = engine_.catalog_at_hand(session_);
  const bool is_same = (!now || now == catalog_) && context_.catalog == catalog_.get() && context_.user == session_.user &&
                       context_.search_path == session_.search_path && context_.transaction_timestamp == session_.transaction_time;
  if (is_same) return;
  if (now) catalog_ = now;
  std::vector<Datum> values = std::move(context_.parameters);
  context_ = session_context(session_, catalog_.get());
  context_.transaction_timestamp = session_.transaction_time;
  context_.statement_timestamp = session_.statement_time;
  conversion_context_ = context_;
  context_.parameters = std::move(values);
}

// ---- statements ----

boost::asio::awaitable<PlpgsqlRun::Opened> PlpgsqlRun::start(PreparedPtr statement, std::vector<Datum> parameters) {
  const TriggerCall* const trigger = call_.invocation.trigger;
  if (trigger != nullptr && trigger->before_statement) co_await trigger->before_statement();
  Opened opened;
  opened.statement = statement;
  opened.columns = columns_of(statement->columns);
  opened.run = engine_.execute(std::move(statement), std::move(parameters), session_);
  co_return opened;
}

boost::asio::awaitable<PlpgsqlRun::Opened> PlpgsqlRun::start(const pl::SqlText& text) {
  const TextPlanPtr ready = co_await planned(text, false);
  if (routine_.function->volatility != sql::FunctionDef::Volatility::kVolatile && is_write(*ready->statement->statement)) {
    throw SqlError(sqlstate::kFeatureNotSupported,
                   fmt::format("{} is not allowed in a non-volatile function", parser::command_tag(*ready->statement->statement)));
  }
  co_return co_await start(ready->statement, parameters_of(*ready));
}

boost::asio::awaitable<std::string> PlpgsqlRun::dynamic_text(const pl::Dynamic& dynamic) {
  const TypedValue text = co_await evaluate(dynamic.query);
  if (sql::is_null(text.value)) throw SqlError(sqlstate::kNullValueNotAllowed, "query string argument of EXECUTE is null");
  co_return text_of(text);
}

boost::asio::awaitable<PlpgsqlRun::Opened> PlpgsqlRun::start(const pl::Dynamic& dynamic) {
  std::string text = co_await dynamic_text(dynamic);
  std::vector<sql::Type> types;
  std::vector<Datum> values;
  for (const pl::SqlText& argument : dynamic.arguments) {
    TypedValue value = co_await evaluate(argument);
    if (value.type.oid == sql::oid::kUnknown) value.type = sql::kText;
    types.push_back(value.type);
    values.push_back(std::move(value.value));
  }
  co_return co_await start_text(std::move(text), std::move(types), std::move(values));
}

boost::asio::awaitable<PlpgsqlRun::Opened> PlpgsqlRun::start_text(std::string text, std::vector<sql::Type> types, std::vector<Datum> values) {
  Opened opened;
  std::optional<SqlError> failure;
  try {
    const std::vector<parser::ParsedStatement> statements = parser::parse(text);
    for (std::size_t i = 0; i < statements.size(); ++i) {
      std::string one = text.substr(statements[i].offset, statements[i].length);
      const std::shared_ptr<const ast::Statement> statement = parser::parse_statement(one);
      if (std::holds_alternative<ast::Transaction>(statement->node)) {
        throw SqlError(sqlstate::kFeatureNotSupported, "EXECUTE of transaction commands is not implemented");
      }
      if (const auto* select = std::get_if<ast::Select>(&statement->node); select != nullptr && select->into) {
        throw SqlError(sqlstate::kFeatureNotSupported, "EXECUTE of SELECT ... INTO is not implemented")
            .hint("You might want to use EXECUTE ... INTO or EXECUTE CREATE TABLE ... AS instead.");
      }
      if (std::holds_alternative<ast::SetVariable>(statement->node)) {
        co_await run_setting(*statement);
        continue;
      }
      PreparedPtr prepared;
      if (has_transition_tables()) {
        auto scope = std::make_shared<planner::VariableScope>();
        scope->numbers_are_variables = false;
        name_transition_tables(*scope);
        prepared = engine_.plan_in_routine(std::move(one), statement, types, *catalog_, session_, {nullptr, std::move(scope)});
      } else {
        prepared = co_await engine_.prepare(std::move(one), statement, types, session_);
      }
      opened = co_await start(std::move(prepared), values);
      if (i + 1 == statements.size()) break;
      while (co_await opened.run->next()) continue;
      opened = {};
      follow_catalog();
    }
  } catch (const SqlError& error) {
    failure = in_statement(error, text);
  }
  if (failure) throw *failure;
  co_return opened;
}

boost::asio::awaitable<PlpgsqlRun::Opened> PlpgsqlRun::start(const std::variant<pl::SqlText, pl::Dynamic>& query) {
  if (const auto* text = std::get_if<pl::SqlText>(&query)) co_return co_await start(*text);
  co_return co_await start(std::get<pl::Dynamic>(query));
}

boost::asio::awaitable<void> PlpgsqlRun::run_setting(const ast::Statement& statement) {
  const auto& set = std::get<ast::SetVariable>(statement.node);
  using Kind = ast::SetVariable::Kind;
  const bool is_plain = set.kind == Kind::kValue || set.kind == Kind::kDefault || set.kind == Kind::kReset;
  const bool has_interval = std::ranges::any_of(set.values, &ast::SettingValue::interval);
  if (!is_plain || has_interval || !session_.set) throw sql::not_supported("this form of SET in PL/pgSQL");
  std::optional<std::string> value;
  if (set.kind == Kind::kValue) {
    value.emplace();
    for (const ast::SettingValue& one : set.values) *value += (value->empty() ? "" : ", ") + one.text;
  }
  session_.set(set.name, value, set.local && session_.transaction != nullptr);
  follow_catalog();
  co_return;
}

boost::asio::awaitable<void> PlpgsqlRun::run_sql(const pl::Sql& statement) {
  if (statement.call) co_return co_await run_call(statement);
  std::optional<SqlError> failure;
  try {
    if (is_setting(statement.statement)) {
      co_await run_setting(*parser::parse_statement(statement.statement.text));
    } else {
      Opened opened = co_await start(statement.statement);
      if (!statement.into && !statement.perform && opened.statement->returns_rows && !opened.statement->columns.empty()) {
        throw SqlError(sqlstate::kSyntaxError, "query has no destination for result data")
            .hint(std::holds_alternative<ast::Select>(opened.statement->statement->node)
                      ? "If you want to discard the results of a SELECT, use PERFORM instead."
                      : "");
      }
      if (statement.into && !opened.statement->returns_rows) throw SqlError(sqlstate::kSyntaxError, "INTO used with a command that cannot return data");
      co_await take_rows(std::move(opened), statement.into, false);
    }
  } catch (const SqlError& error) {
    const bool is_own = error.sqlstate() == sqlstate::kNoDataFound || error.sqlstate() == sqlstate::kTooManyRows ||
                        error.message().starts_with("query has no destination") || error.message().starts_with("INTO used with");
    failure = is_own ? error : in_statement(error, statement.statement.text);
  }
  if (failure) throw *failure;
}

bool PlpgsqlRun::is_setting(const pl::SqlText& text) const {
  const auto begins = [&](std::string_view word) {
    return text.text.size() > word.size() && std::ranges::equal(std::string_view(text.text).substr(0, word.size()), word, [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b;
           });
  };
  return begins("set ") || begins("reset ");
}

boost::asio::awaitable<void> PlpgsqlRun::take_rows(Opened opened, const std::optional<pl::Into>& into, bool is_dynamic) {
  std::optional<TypedRow> first;
  std::uint64_t rows = 0;
  // A query stops where its answer is known; what it writes is written in full.
  const bool is_query = opened.statement && std::holds_alternative<ast::Select>(opened.statement->statement->node) && !opened.statement->plan->writes &&
                        !opened.statement->plan->planned.is_compound_write;
  const std::uint64_t enough = !into || !is_query ? UINT64_MAX : into->strict ? 2 : 1;
  while (opened.run) {
    std::optional<sql::Batch> batch = co_await opened.run->next();
    if (!batch) break;
    if (!first && batch->rows > 0) first = row_at(decoded(batch->rows > 1 ? first_of(*batch) : *batch), 0, opened.columns);
    rows += batch->rows;
    if (rows >= enough) break;
  }
  const bool returns = opened.statement && opened.statement->returns_rows;
  row_count_ = rows;
  if (opened.run && !returns) row_count_ = count_of(opened.run->command_tag());
  if (into && row_count_ > 1 && is_query) row_count_ = into->strict ? 2 : 1;
  if (opened.run && returns && !into) row_count_ = rows;
  opened.run.reset();
  follow_catalog();
  if (!is_dynamic) set_found(row_count_ > 0);  // also where STRICT refuses
  if (!into) co_return;
  const bool is_strict_write = !is_query && !is_dynamic;
  if (rows == 0 && into->strict) throw SqlError(sqlstate::kNoDataFound, "query returned no rows");
  if (rows > 1 && (into->strict || is_strict_write)) {
    throw SqlError(sqlstate::kTooManyRows, "query returned more than one row").hint("Make sure the query returns a single row, or use LIMIT 1.");
  }
  co_await assign_into(*into, first ? &*first : nullptr, opened.columns);
}

boost::asio::awaitable<void> PlpgsqlRun::assign_into(const pl::Into& into, const TypedRow* row, const std::vector<sql::ResultColumn>& columns) {
  const pl::Target& target = into.targets[0];
  const bool is_record = into.targets.size() == 1 && target.steps.empty() && routine_.shapes[target.variable].is_row();
  if (is_record) {
    if (row == nullptr) {
      set_null(target.variable);
      if (routine_.shapes[target.variable].kind == VariableShape::Kind::kRecord) {
        records_[target.variable] = {true, columns, std::vector<Datum>(columns.size())};
      }
    } else {
      // One column that is a row of the record's type is the row itself.
      const bool is_whole = row->values.size() == 1 && sql::is_composite_type(row->columns[0].type.oid) &&
                            routine_.shapes[target.variable].type.oid == row->columns[0].type.oid;
      if (is_whole) {
        assign(target.variable, {row->values[0], row->columns[0].type});
      } else {
        assign_row(target.variable, *row);
      }
    }
    co_return;
  }
  for (std::size_t i = 0; i < into.targets.size(); ++i) {
    TypedValue value{{}, sql::kUnknown};
    if (i < columns.size()) value.type = columns[i].type;
    if (row != nullptr && i < row->values.size()) value.value = row->values[i];
    co_await assign(into.targets[i], std::move(value));
  }
}

boost::asio::awaitable<void> PlpgsqlRun::run_call(const pl::Sql& statement) {
  std::optional<SqlError> failure;
  try {
    Opened opened = co_await start(statement.statement);
    routine_state(session_).next_may_end_transaction = call_.may_end_transaction && exception_blocks_ == 0;
    const auto& call = std::get<ast::Call>(opened.statement->statement->node);
    std::optional<TypedRow> row;
    while (std::optional<sql::Batch> batch = co_await opened.run->next()) {
      if (!row && batch->rows > 0) row = row_at(decoded(*batch), 0, opened.columns);
    }
    opened.run.reset();
    follow_catalog();
    if (row && !row->values.empty()) {
      // Arguments that are variables, from the last one back: outputs follow inputs, or are both.
      const auto& query = std::get<ast::Select>(call.query->node);
      const auto& procedure = std::get<ast::FunctionRef>(query.from.at(0).node);
      const auto* written = std::get_if<ast::FunctionCall>(&procedure.functions.at(0).call->node);
      const std::vector<std::size_t> places = written == nullptr ? std::vector<std::size_t>{} : output_places(*written);
      for (std::size_t i = 0; i < places.size() && i < row->values.size(); ++i) {
        const auto* name = std::get_if<ast::ColumnRef>(&written->arguments.at(places[i]).value->node);
        std::optional<pl::Target> target = name == nullptr ? std::nullopt : target_of(statement.statement, name->names);
        if (!target) {
          throw SqlError(sqlstate::kSyntaxError, fmt::format("procedure parameter \"{}\" is an output parameter but corresponding argument is not writable",
                                                             row->columns[i].name));
        }
        TypedValue value{row->values[i], row->columns[i].type};
        co_await assign(*target, std::move(value));
      }
    }
  } catch (const SqlError& error) {
    failure = in_statement(error, statement.statement.text);
  }
  if (failure) throw *failure;
}

std::vector<std::size_t> PlpgsqlRun::output_places(const ast::FunctionCall& call) const {
  std::vector<std::size_t> places;
  for (const auto& [oid, procedure] : catalog_->functions) {
    if (!procedure->procedure || procedure->name != call.name.back() || procedure->parameters.size() != call.arguments.size() || procedure->columns.empty()) continue;
    for (std::size_t i = 0; i < procedure->parameters.size(); ++i) {
      using Mode = sql::FunctionDef::Parameter::Mode;
      const auto& parameter = procedure->parameters[i];
      const bool is_output = parameter.mode == Mode::kOut || parameter.mode == Mode::kInOut ||
                             std::ranges::find(procedure->columns, parameter.name, &sql::FunctionDef::Column::name) != procedure->columns.end();
      if (is_output) places.push_back(i);
    }
    break;
  }
  return places;
}

std::optional<pl::Target> PlpgsqlRun::target_of(const pl::SqlText& text, const std::vector<std::string>& names) const {
  for (const pl::VariableUse& use : text.uses) {
    std::vector<std::string> words;
    if (!use.block.empty()) words.push_back(use.block);
    words.push_back(use.name);
    if (!use.field.empty()) words.push_back(use.field);
    if (words != names || routine_.body.variables[use.variable].constant) continue;
    pl::Target target;
    target.variable = use.variable;
    target.text = use.name;
    if (!use.field.empty()) target.steps.push_back({.field = use.field, .lower = {}, .upper = {}});
    return target;
  }
  return std::nullopt;
}

boost::asio::awaitable<void> PlpgsqlRun::run_dynamic(const pl::Execute& statement) {
  Opened opened = co_await start(statement.query);
  if (!opened.run) co_return;
  const std::string text = opened.statement->text;
  if (statement.into && !opened.statement->returns_rows) throw SqlError(sqlstate::kSyntaxError, "INTO used with a command that cannot return data");
  std::optional<SqlError> failure;
  try {
    co_await take_rows(std::move(opened), statement.into, true);
  } catch (const SqlError& error) {
    const bool is_own = error.sqlstate() == sqlstate::kNoDataFound || error.sqlstate() == sqlstate::kTooManyRows;
    failure = is_own ? error : in_statement(error, text);
  }
  if (failure) throw *failure;
}

// ---- loops over rows ----

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_query_loop(const pl::ForQuery& loop) {
  std::optional<SqlError> failure;
  Opened opened;
  try {
    opened = co_await start(loop.query);
    if (!opened.run || !opened.statement->returns_rows) throw SqlError(sqlstate::kInvalidCursorDefinition, "cannot open query as cursor");
  } catch (const SqlError& error) {
    failure = error;
  }
  if (failure) throw *failure;
  co_return co_await loop_over(std::move(opened), loop.into, loop.body, loop.label);
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::loop_over(Opened opened, const pl::Into& into, const pl::Statements& body,
                                                               const std::string& label) {
  const pl::Statement* const statement = current_;
  bool found = false;
  // All rows are read before the first round, as a cursor reads them: the body may change the tables, and end the transaction.
  const std::vector<sql::Batch> rows = co_await all_rows(opened);
  for (const sql::Batch& batch : rows) {
    for (std::size_t i = 0; i < batch.rows; ++i) {
      current_ = statement;
      const TypedRow row = row_at(batch, i, opened.columns);
      co_await assign_into(into, &row, opened.columns);
      found = true;
      if (++rounds_ % 64 == 0) co_await TurnQueue::wait();
      const Flow flow = co_await run_list(body);
      if (const auto ends = after_round(flow, label)) {
        current_ = statement;
        set_found(found);
        co_return *ends;
      }
    }
  }
  current_ = statement;
  if (!found) co_await assign_into(into, nullptr, opened.columns);
  set_found(found);
  co_return Flow::kNext;
}

boost::asio::awaitable<std::vector<sql::Batch>> PlpgsqlRun::all_rows(Opened& opened) {
  std::vector<sql::Batch> rows;
  std::size_t memory = 0;
  std::optional<SqlError> failure;
  const std::string text = opened.statement->text;
  try {
    while (std::optional<sql::Batch> batch = co_await opened.run->next()) {
      memory += batch->memory();
      if (memory > session_.work_mem) throw sql::out_of_memory().detail("The rows of a query in PL/pgSQL exceed work_mem.");
      rows.push_back(decoded(*std::move(batch)));
    }
  } catch (const SqlError& error) {
    failure = in_statement(error, text);
  }
  if (failure) throw *failure;
  opened.run.reset();
  follow_catalog();
  co_return rows;
}

// ---- cursors ----

std::shared_ptr<RoutineCursor> PlpgsqlRun::cursor_of(std::size_t variable) {
  const pl::Variable& declared = routine_.body.variables[variable];
  if (sql::is_null(values()[variable])) {
    throw SqlError(sqlstate::kNullValueNotAllowed, fmt::format("cursor variable \"{}\" is null", declared.name));
  }
  const std::string name = text_of({values()[variable], routine_.shapes[variable].type});
  auto& cursors = routine_state(session_).cursors;
  const auto found = cursors.find(name);
  if (found == cursors.end()) throw SqlError(sqlstate::kUndefinedCursor, fmt::format("cursor \"{}\" does not exist", name));
  return found->second;
}

boost::asio::awaitable<std::shared_ptr<RoutineCursor>> PlpgsqlRun::open_cursor(std::size_t variable, Opened opened, std::optional<bool> scroll) {
  RoutineState& state = routine_state(session_);
  auto cursor = std::make_shared<RoutineCursor>();
  if (!opened.run || !opened.statement->returns_rows) throw SqlError(sqlstate::kInvalidCursorDefinition, "cannot open query as cursor");
  cursor->columns = opened.statement->columns;
  cursor->scrolls = scroll.value_or(true);
  cursor->rows = co_await all_rows(opened);
  for (const sql::Batch& batch : cursor->rows) cursor->count += batch.rows;
  if (sql::is_null(values()[variable])) {
    const pl::Variable& declared = routine_.body.variables[variable];
    cursor->name = declared.cursor ? declared.name : fmt::format("<unnamed portal {}>", ++state.unnamed_cursors);
    values()[variable] = cursor->name;
  } else {
    cursor->name = text_of({values()[variable], routine_.shapes[variable].type});
  }
  if (state.cursors.contains(cursor->name)) throw SqlError(sqlstate::kDuplicateCursor, fmt::format("cursor \"{}\" already in use", cursor->name));
  state.cursors[cursor->name] = cursor;
  co_return cursor;
}

boost::asio::awaitable<PlpgsqlRun::Opened> PlpgsqlRun::start_bound(std::size_t cursor, const std::vector<pl::SqlText>& arguments) {
  const pl::Variable::Cursor& bound = *routine_.body.variables[cursor].cursor;
  std::vector<TypedValue> given;
  for (const pl::SqlText& argument : arguments) given.push_back(co_await evaluate(argument));
  for (std::size_t i = 0; i < given.size(); ++i) assign(bound.arguments.at(i), std::move(given[i]));
  co_return co_await start(bound.query);
}

boost::asio::awaitable<void> PlpgsqlRun::open(const pl::Open& statement) {
  const pl::Variable& variable = routine_.body.variables[statement.cursor];
  if (variable.cursor) {
    Opened opened = co_await start_bound(statement.cursor, statement.arguments);
    co_await open_cursor(statement.cursor, std::move(opened), variable.cursor->scroll);
  } else {
    Opened opened = co_await start(*statement.query);
    co_await open_cursor(statement.cursor, std::move(opened), statement.scroll);
  }
}

boost::asio::awaitable<PlpgsqlRun::Flow> PlpgsqlRun::run_cursor_loop(const pl::ForCursor& loop) {
  const pl::Variable& variable = routine_.body.variables[loop.cursor];
  Opened opened = co_await start_bound(loop.cursor, loop.arguments);
  Opened shape;
  shape.columns = opened.columns;
  const bool was_null = sql::is_null(values()[loop.cursor]);
  const std::shared_ptr<RoutineCursor> cursor = co_await open_cursor(loop.cursor, std::move(opened), variable.cursor->scroll);
  pl::Into into;
  into.targets.push_back({.variable = loop.row, .steps = {}, .text = {}});
  const pl::Statement* const statement = current_;
  bool found = false;
  Flow result = Flow::kNext;
  bool is_left = false;
  for (const sql::Batch& batch : cursor->rows) {
    for (std::size_t i = 0; i < batch.rows && !is_left; ++i) {
      current_ = statement;
      ++cursor->position;
      const TypedRow row = row_at(batch, i, shape.columns);
      co_await assign_into(into, &row, shape.columns);
      found = true;
      const Flow flow = co_await run_list(loop.body);
      const auto ends = after_round(flow, loop.label);
      if (!ends) continue;
      result = *ends;
      is_left = true;
    }
  }
  current_ = statement;
  routine_state(session_).cursors.erase(cursor->name);
  if (was_null) values()[loop.cursor] = {};
  set_found(found);
  co_return result;
}

boost::asio::awaitable<void> PlpgsqlRun::fetch(const pl::Fetch& statement) {
  using Direction = pl::Fetch::Direction;
  const std::shared_ptr<RoutineCursor> cursor = cursor_of(statement.cursor);
  std::int64_t count = statement.rows;
  if (statement.count) {
    const TypedValue value = co_await evaluate(*statement.count);
    const Datum number = convert(value, sql::kInt8);
    if (sql::is_null(number)) throw SqlError(sqlstate::kNullValueNotAllowed, "relative or absolute cursor position is null");
    count = std::get<std::int64_t>(number);
  }
  const auto rows = static_cast<std::int64_t>(cursor->count);
  const auto from = static_cast<std::int64_t>(cursor->position);
  std::int64_t to = from;
  switch (statement.direction) {
    case Direction::kForward:
      to = statement.all ? rows + 1 : from + count;
      break;
    case Direction::kBackward:
      to = statement.all ? 0 : from - count;
      break;
    case Direction::kRelative:
      to = from + count;
      break;
    case Direction::kAbsolute:
      to = count < 0 ? rows + 1 + count : count;
      break;
  }
  to = std::clamp<std::int64_t>(to, 0, rows + 1);
  if (!cursor->scrolls && to < from) {
    throw SqlError(sqlstate::kObjectNotInPrerequisiteState, "cursor can only scan forward").hint("Declare it with SCROLL option to enable backward scan.");
  }
  cursor->position = static_cast<std::size_t>(to);
  const bool has_row = to >= 1 && to <= rows;
  if (statement.moves) {
    const bool is_step = statement.direction == Direction::kForward || statement.direction == Direction::kBackward;
    const std::int64_t first = std::min(from, to), last = std::max(from, to);
    // The rows that were passed, without those on which the cursor stood before.
    std::int64_t passed = has_row ? 1 : 0;
    if (is_step) passed = to > from ? std::min(last, rows) - first : std::min(last - 1, rows) - std::max<std::int64_t>(first - 1, 0);
    row_count_ = static_cast<std::uint64_t>(std::max<std::int64_t>(passed, 0));
    set_found(row_count_ > 0);
    co_return;
  }
  std::vector<sql::ResultColumn> columns = columns_of(cursor->columns);
  std::optional<TypedRow> row;
  std::size_t place = cursor->position - (has_row ? 1 : 0);
  for (const sql::Batch& batch : cursor->rows) {
    if (!has_row) break;
    if (place < batch.rows) {
      row = row_at(batch, place, columns);
      break;
    }
    place -= batch.rows;
  }
  co_await assign_into(*statement.into, row ? &*row : nullptr, columns);
  row_count_ = row ? 1 : 0;
  set_found(row.has_value());
}

boost::asio::awaitable<void> PlpgsqlRun::end_transaction(const pl::EndTransaction& statement) {
  if (!call_.may_end_transaction) throw SqlError(sqlstate::kInvalidTransactionTermination, "invalid transaction termination");
  if (exception_blocks_ > 0) {
    throw SqlError(sqlstate::kInvalidTransactionTermination,
                   statement.commit ? "cannot commit while a subtransaction is active" : "cannot roll back while a subtransaction is active");
  }
  const TransactionModes modes = session_.modes;
  routine_state(session_).cursors.clear();
  ++routine_state(session_).ended_transactions;
  if (statement.commit) {
    co_await engine_.commit(session_);
  } else {
    co_await engine_.roll_back(session_);
  }
  engine_.begin(session_);
  if (statement.chain) session_.modes = modes;
  follow_catalog();
}

}  // namespace redquel::executor
