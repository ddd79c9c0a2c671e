// The extended protocol: Parse, Bind, Describe, Execute, Close, Flush, Sync.

#include <fmt/format.h>

#include "executor/runtime/computation.h"
#include "executor/runtime/transaction_moment.h"
#include "parser/parse.h"
#include "server/session.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/binary_io.h"
#include "sql/types/binary_reader.h"
#include "sql/types/domain_value.h"
#include "sql/types/text_io.h"
#include "sql/types/type.h"

namespace redquel::server {

namespace {

/// Parameters of more bytes are copied and checked in turns with other sessions.
constexpr std::size_t kLongParameters = std::size_t{256} << 10;

std::vector<sql::Type> types_of(const std::vector<sql::Oid>& oids) {
  std::vector<sql::Type> types;
  types.reserve(oids.size());
  for (const sql::Oid oid : oids) {
    if (oid != 0 && !sql::find_type(oid)) {
      throw sql::SqlError(sqlstate::kUndefinedObject, fmt::format("type with OID {} does not exist", oid));
    }
    types.push_back(oid == 0 ? sql::kUnknown : sql::Type{oid});
  }
  return types;
}

/// The statement with the declared parameters that it does not use. 42P18 where one has no type.
PreparedStatementPtr with_unused_parameters(const PreparedStatement& statement, std::vector<sql::Type> declared) {
  auto extended = std::make_shared<PreparedStatement>(statement);
  std::vector<sql::Type>& types = extended->parameter_types;
  for (std::size_t i = types.size(); i < declared.size(); ++i) {
    if (declared[i] == sql::kUnknown) {
      throw sql::SqlError(sqlstate::kIndeterminateDatatype, fmt::format("could not determine data type of parameter ${}", i + 1));
    }
    types.push_back(declared[i]);
  }
  return extended;
}

}  // namespace

const PreparedStatementPtr& Session::find_statement(const std::string& name) const {
  const auto found = statements_.find(name);
  if (found != statements_.end()) return found->second;
  if (name.empty()) throw sql::SqlError(sqlstate::kUndefinedPreparedStatement, "unnamed prepared statement does not exist");
  throw sql::undefined_prepared_statement(name);
}

Portal& Session::find_portal(const std::string& name) const {
  const auto found = portals_.find(name);
  if (found == portals_.end()) throw sql::SqlError(sqlstate::kUndefinedCursor, fmt::format("portal \"{}\" does not exist", name));
  return *found->second;
}

asio::awaitable<void> Session::on(const ParseMessage& message) {
  std::string name = from_client(message.statement);
  if (name.empty()) statements_.erase(name);
  const auto text = std::make_shared<const std::string>(from_client(message.text));
  SourceText source{text, 0};
  message_.source = source;
  message_.text = text;
  meter_.begin_statement(text);
  std::shared_ptr<const parser::ast::Statement> statement = known_statement(*text);
  if (!statement) {
    std::vector<parser::ParsedStatement> parsed = co_await parse_text(text);
    if (parsed.size() > 1) throw sql::SqlError(sqlstate::kSyntaxError, "cannot insert multiple commands into a prepared statement");
    if (!parsed.empty()) statement = std::move(parsed[0].statement);
    if (statement) host_.transaction_texts().remember(*text, statement);
  }
  std::vector<sql::Type> types = types_of(message.parameter_types);
  auto run = parse_statement(std::move(name), std::move(source), std::move(types), std::move(statement));
  co_await run_cancellable(std::move(run));
}

asio::awaitable<void> Session::parse_statement(std::string name, SourceText source,
                                               std::vector<sql::Type> parameter_types,
                                               std::shared_ptr<const parser::ast::Statement> statement) {
  PreparedStatementPtr prepared;
  auto memory = statement_memory(*memory_, source.text->size());
  if (statement) {
    transactions_.block().admit(*statement);
    std::string text = *source.text;
    const std::shared_ptr<const parser::ast::Statement> written = statement;
    const bool names_cursor = SessionStatements::names_cursor(*written);
    if (names_cursor) {  // which row is meant will be known when it is executed
      text = SessionStatements::text_at_place(text, "(0,0)");
      statement = parser::parse_statement(text);
    }
    const SourceText sent = source;
    executor::DeclaredParameters declared(parameter_types);
    prepared = co_await prepare(std::move(source), std::move(text), std::move(statement), std::move(declared));
    if (parameter_types.size() > prepared->parameter_types.size()) prepared = with_unused_parameters(*prepared, std::move(parameter_types));
    if (names_cursor) {
      auto positioned = std::make_shared<PreparedStatement>(*prepared);
      positioned->statement = written;
      positioned->source = sent;
      prepared = std::move(positioned);
    }
  } else {
    auto empty = std::make_shared<PreparedStatement>();
    empty->source = std::move(source);
    empty->parameter_types = std::move(parameter_types);
    prepared = std::move(empty);
  }
  if (!name.empty() && statements_.contains(name)) {
    throw sql::SqlError(sqlstate::kDuplicatePreparedStatement, fmt::format("prepared statement \"{}\" already exists", name));
  }
  prepared->memory = std::move(memory);
  statements_.insert_or_assign(std::move(name), std::move(prepared));
  encoder_.parse_complete();
}

sql::Datum Session::bind_parameter(std::string_view bytes, std::int16_t format, sql::Type type, std::size_t number) {
  if (format == 0) {
    const std::string text = from_client(bytes);
    try {
      return sql::parse_value(type, text, state_.settings, executor::transaction_moment(state_));
    } catch (const sql::SqlError&) {
      message_.error_context = " = '...'";  // a value is not repeated: it may be a secret
      throw;
    }
  }
  if (format != 1) throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("unsupported format code: {}", format));
  try {
    return sql::decode_binary(type, bytes, encoder_.converter());
  } catch (const sql::UnreadBytes&) {
    throw sql::SqlError(sqlstate::kInvalidBinaryRepresentation, fmt::format("incorrect binary data format in bind parameter {}", number));
  }
}

std::vector<sql::Datum> Session::bind_parameters(const BindMessage& message, const PreparedStatement& statement) {
  const std::size_t given = message.parameters.size(), formats = message.parameter_formats.size();
  if (formats > 1 && formats != given) {
    throw sql::SqlError(sqlstate::kProtocolViolation, fmt::format("bind message has {} parameter formats but {} parameters", formats, given));
  }
  if (given != statement.parameter_types.size()) {
    throw sql::SqlError(sqlstate::kProtocolViolation, fmt::format("bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
                                                                  given, message.statement, statement.parameter_types.size()));
  }
  std::vector<sql::Datum> values;
  values.reserve(given);
  for (std::size_t i = 0; i < given; ++i) {
    const std::optional<std::string_view>& bytes = message.parameters[i];
    if (!bytes) {
      values.emplace_back();
      continue;
    }
    const std::int16_t format = format_of(message.parameter_formats, i);
    try {
      values.push_back(bind_parameter(*bytes, format, sql::value_type(statement.parameter_types[i]), i + 1));
    } catch (const sql::SqlError&) {
      message_.error_context = (message.portal.empty() ? fmt::format("unnamed portal parameter ${}", i + 1)
                                                        : fmt::format("portal \"{}\" parameter ${}", message.portal, i + 1)) + message_.error_context;
      throw;
    }
  }
  return values;
}

asio::awaitable<void> Session::on(const BindMessage& message) {
  auto portal = std::make_unique<Portal>();
  portal->name = from_client(message.portal);
  std::string statement_name = from_client(message.statement);
  const PreparedStatementPtr known = find_statement(statement_name);
  const PreparedStatement& statement = *known;
  portal->statement = known;
  if (!portal->name.empty() && (portals_.contains(portal->name) || cursors_.contains(portal->name))) {
    throw sql::SqlError(sqlstate::kDuplicateCursor, fmt::format("cursor \"{}\" already exists", portal->name));
  }
  if (statement.statement) transactions_.block().admit(*statement.statement);
  std::size_t bytes = message.parameters.size() * sizeof(sql::Datum);
  for (const auto& parameter : message.parameters) bytes += parameter ? parameter->size() : 0;
  portal->memory = sql::HeldBytes(*memory_, bytes);
  if (bytes > kLongParameters) {
    auto work = [&] { return bind_parameters(message, statement); };
    portal->parameters = co_await executor::compute_in_turns(std::move(work));
  } else {
    portal->parameters = bind_parameters(message, statement);
  }
  if (statement.plan) {  // definitions may have moved since Parse
    message_.source = statement.source;
    executor::PreparedPtr plan = co_await engine_->refresh(statement.plan, state_);
    if (plan != statement.plan) {
      auto renewed = std::make_shared<PreparedStatement>(statement);
      renewed->plan = std::move(plan);
      portal->statement = renewed;
      statements_.insert_or_assign(std::move(statement_name), std::move(renewed));
    }
  }
  if (statement.statement && std::holds_alternative<parser::ast::Fetch>(statement.statement->node)) {  // the cursor may be another by now
    portal->statement = co_await session_statements_.prepare(statement.source, {}, statement.statement, {});
  }
  const std::size_t columns = portal->statement->columns.size(), formats = message.result_formats.size();
  if (formats > 1 && formats != columns) {
    throw sql::SqlError(sqlstate::kProtocolViolation, fmt::format("bind message has {} result formats but query has {} columns", formats, columns));
  }
  for (std::size_t i = 0; i < columns; ++i) portal->result_formats.push_back(format_of(message.result_formats, i));
  std::string name = portal->name;
  portals_.insert_or_assign(std::move(name), std::move(portal));
  encoder_.bind_complete();
  co_return;
}

asio::awaitable<void> Session::on(const DescribeMessage& message) {
  const std::string name = from_client(message.name);
  const PreparedStatement* statement = nullptr;
  std::vector<std::int16_t> formats;
  if (message.target == DescribeTarget::kStatement) {
    statement = find_statement(name).get();
    formats.assign(statement->columns.size(), 0);
    if (statement->returns_rows && statement->statement) transactions_.block().admit(*statement->statement);
    encoder_.parameter_description(statement->parameter_types);
  } else if (const auto cursor = cursors_.find(name); cursor != cursors_.end()) {
    statement = cursor->second->query.get();
    formats.assign(statement->columns.size(), 0);  // BINARY is for FETCH alone
  } else {
    const Portal& portal = find_portal(name);
    statement = portal.statement.get();
    if (statement->returns_rows && statement->statement) transactions_.block().admit(*statement->statement);
    formats = portal.result_formats;
  }
  if (statement->returns_rows) {
    encoder_.row_description(statement->columns, formats);
  } else {
    encoder_.no_data();
  }
  co_return;
}

asio::awaitable<void> Session::on(const ExecuteMessage& message) {
  const std::string name = from_client(message.portal);
  const std::size_t rows = message.max_rows > 0 ? static_cast<std::size_t>(message.max_rows) : 0;
  if (const auto cursor = cursors_.find(name); cursor != cursors_.end()) {
    const PreparedStatement& query = *cursor->second->query;
    transactions_.block().admit(*query.statement);
    std::vector<std::int16_t> formats(query.columns.size(), 0);
    co_await run_cancellable(run_cursor(*cursor->second, std::move(formats), "SELECT 0", rows));
    co_return;
  }
  Portal& portal = find_portal(name);
  message_.source = portal.statement->source;
  message_.text = message_.source.text;
  if (message_.text) meter_.begin_statement(message_.text);
  if (message_.text && log_.wants_statements()) log_.note_statement("execute", portal.statement->statement.get(), *message_.text);
  if (const auto& statement = portal.statement->statement) {
    transactions_.block().admit(*statement);
    // The statements up to Sync are one transaction. If Sync follows at once, as with most clients, the statement is a transaction of its
    // own.
    const bool is_control = std::holds_alternative<parser::ast::Transaction>(statement->node);
    if (!is_control && (is_strict(*statement) || !decoder_.sync_is_next() || needs_transaction(*portal.statement))) transactions_.begin_implicit(TransactionBlock::State::kPipeline);
  }
  const bool names_cursor = portal.statement->statement && !portal.execution && !portal.finished && SessionStatements::names_cursor(*portal.statement->statement);
  auto run = names_cursor ? run_at_cursor(portal, rows) : run_portal(portal, rows, false);
  co_await run_cancellable(std::move(run));
}

asio::awaitable<void> Session::run_at_cursor(Portal& portal, std::size_t rows) {
  const PreparedStatement& written = *portal.statement;
  std::string text = *session_statements_.text_for_current(*written.source.text, *written.statement);
  auto statement = parser::parse_statement(text);
  executor::DeclaredParameters types(written.parameter_types);
  SourceText no_source;
  const PreparedStatementPtr planned =
      co_await plan_statement(*engine_, std::move(no_source), std::move(text), std::move(statement), std::move(types), state_);
  auto placed = std::make_shared<PreparedStatement>(written);
  placed->plan = planned->plan;
  portal.statement = std::move(placed);
  co_await run_portal(portal, rows, false);
}

asio::awaitable<void> Session::on(const CloseMessage& message) {
  const std::string name = from_client(message.name);
  if (message.target == DescribeTarget::kStatement) {
    statements_.erase(name);
  } else {
    portals_.erase(name);
    cursors_.erase(name);
  }
  encoder_.close_complete();
  co_return;
}

asio::awaitable<void> Session::on(const FlushMessage&) { co_await flush(); }

asio::awaitable<void> Session::on(const SyncMessage&) {
  if (transactions_.block().status() == TransactionStatus::kInBlock) co_return;  // portals live as long as the block
  portals_.clear();
  co_await transactions_.commit_implicit();
}

asio::awaitable<void> Session::on(const TerminateMessage&) { co_return; }

asio::awaitable<void> Session::on(const FunctionCallMessage&) {
  throw sql::not_supported("the function call protocol (fastpath)");
  co_return;
}

asio::awaitable<void> Session::on(const StrayCopyMessage&) { co_return; }

}  // namespace redquel::server
