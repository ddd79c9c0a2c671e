// The simple protocol: Query.

#include "executor/runtime/transaction_moment.h"
#include "parser/literals.h"
#include "parser/parse.h"
#include "server/replication/replication_session.h"
#include "server/session.h"
#include "sql/sqlstate.h"
#include "sql/types/domain_value.h"
#include "sql/types/text_io.h"

namespace redquel::server {

namespace {

/// Texts of one session that do not stand for others; forgotten all at once.
constexpr std::size_t kMostIndividualTexts = 100;

std::vector<sql::Type> types_of(const std::vector<parser::Literal>& literals) {
  std::vector<sql::Type> types;
  types.reserve(literals.size());
  for (const parser::Literal& literal : literals) {
    const bool is_short = literal.number == static_cast<std::int32_t>(literal.number);
    types.push_back(literal.is_string ? sql::kUnknown : is_short ? sql::kInt4 : sql::kInt8);
  }
  return types;
}

}  // namespace

std::shared_ptr<const parser::ast::Statement> Session::known_statement(const std::string& text) const {
  auto statement = engine_->known_statement(text);
  return statement ? statement : host_.transaction_texts().find(text);
}

asio::awaitable<void> Session::on(const QueryMessage& message) {
  // It replaces the unnamed statement and portal of the extended protocol.
  statements_.erase("");
  portals_.erase("");
  const auto text = std::make_shared<const std::string>(from_client(message.text));
  message_.source = {text, 0};
  message_.text = text;
  meter_.begin_statement(text);
  if (log_.wants_statements()) co_await log_texts(text);
  if (!replication_) co_return co_await run_query(text);
  const bool is_done = co_await replication_->run(*text);
  if (is_done) co_return;
  co_await run_query(text);
  co_await replication_->note_statement(*text);
}

asio::awaitable<void> Session::run_query(std::shared_ptr<const std::string> text) {
  if (auto known = known_statement(*text)) {
    transactions_.block().admit(*known);
    if (is_strict(*known)) transactions_.begin_implicit(TransactionBlock::State::kPipeline);
    auto run = run_simple(message_.source, *text, std::move(known), true);
    co_await run_cancellable(std::move(run));
    co_return;
  }
  if (auto shared = parser::take_literals(*text); shared && !individual_texts_.contains(shared->text)) {
    bool is_done = false;
    auto run = run_with_literals(*std::move(shared), is_done);
    co_await run_cancellable(std::move(run));
    if (is_done) co_return;
  }
  std::vector<parser::ParsedStatement> parsed = co_await parse_text(text);
  if (parsed.empty()) {
    encoder_.empty_query_response();
    co_return;
  }
  for (parser::ParsedStatement& one : parsed) {
    SourceText source{text, 0};
    std::string own;
    if (parsed.size() == 1) {
      own = *text;
    } else {
      // Each of several statements stands for itself: parsed alone, its plan and its offsets do not depend on its
      // neighbours.
      own = text->substr(one.offset, one.length);
      source.base = one.offset;
      std::vector<parser::ParsedStatement> alone = co_await parse_text(std::make_shared<const std::string>(own));
      if (alone.size() != 1) throw sql::SqlError(sqlstate::kInternalError, "a statement changed when it was parsed alone");
      one = std::move(alone.front());
    }
    message_.source = source;
    std::shared_ptr<const parser::ast::Statement> statement = std::move(one.statement);
    if (parsed.size() == 1) host_.transaction_texts().remember(*text, statement);
    transactions_.block().admit(*statement);
    // The statements of one string are one transaction, unless they say otherwise.
    if (parsed.size() > 1) transactions_.begin_implicit(TransactionBlock::State::kString);
    if (is_strict(*statement)) transactions_.begin_implicit(TransactionBlock::State::kPipeline);
    auto run = run_simple(std::move(source), std::move(own), std::move(statement), &one == &parsed.back());
    co_await run_cancellable(std::move(run));
    if (end_.is_terminating) co_return;
  }
}

asio::awaitable<void> Session::log_texts(std::shared_ptr<const std::string> text) {
  std::vector<parser::ParsedStatement> parsed;
  try {
    parsed = co_await parse_text(text);
  } catch (const sql::SqlError& error) {
    if (error.sqlstate() == sqlstate::kQueryCanceled) throw;
    // Another one is reported when it is run.
  }
  // The text is logged once, as the statement of it that most parameters admit.
  const parser::ast::Statement* noted = nullptr;
  for (const parser::ParsedStatement& one : parsed) {
    if (noted == nullptr || SessionLog::kind(*one.statement) < SessionLog::kind(*noted)) noted = one.statement.get();
  }
  log_.note_statement("statement", noted, *text);
}

asio::awaitable<void> Session::run_with_literals(parser::TextWithoutLiterals shared, bool& is_done) {
  std::shared_ptr<const parser::ast::Statement> statement = engine_->known_statement(shared.text);
  Portal portal;
  bool is_individual = false;
  try {
    if (!statement) {
      std::vector<parser::ParsedStatement> parsed = parser::parse(shared.text, {.text_bytes = host_.limits().statement_bytes});
      statement = std::move(parsed.at(0).statement);
    }
  } catch (const sql::SqlError&) {
    is_individual = true;
  }
  if (!is_individual) {
    transactions_.block().admit(*statement);
    if (is_strict(*statement)) transactions_.begin_implicit(TransactionBlock::State::kPipeline);
    try {
      SourceText no_source;  // positions would be those of a text that the client has not sent
      std::vector<sql::Type> types = types_of(shared.literals);
      executor::DeclaredParameters declared(types);
      PreparedStatementPtr before = last_with_literals_.statement;
      portal.statement = co_await prepare(std::move(no_source), shared.text, std::move(statement), std::move(declared), std::move(before));
      last_with_literals_ = {portal.statement, std::move(types)};
      // A definition (SELECT INTO) keeps its text and takes no parameters.
      is_individual = portal.statement->parameter_types.size() != shared.literals.size();
      if (const executor::PreparedPtr& plan = portal.statement->plan) is_individual = is_individual || plan->depends_on_constants;
      if (!is_individual) portal.parameters = values_of(shared.literals, portal.statement->parameter_types);
    } catch (const sql::SqlError& error) {
      if (error.sqlstate() == sqlstate::kQueryCanceled) throw;
      is_individual = true;
    }
  }
  if (is_individual) {
    if (individual_texts_.size() >= kMostIndividualTexts) individual_texts_.clear();
    individual_texts_.insert(std::move(shared.text));
    co_return;
  }
  is_done = true;
  message_.source = {};
  if (needs_transaction(*portal.statement)) transactions_.begin_implicit(TransactionBlock::State::kPipeline);
  portal.result_formats.assign(portal.statement->columns.size(), 0);
  co_await run_portal(portal, 0, portal.statement->returns_rows, true);
}

std::vector<sql::Datum> Session::values_of(const std::vector<parser::Literal>& literals, const std::vector<sql::Type>& types) const {
  std::vector<sql::Datum> values;
  values.reserve(literals.size());
  const sql::Now moment = executor::transaction_moment(state_);
  for (std::size_t i = 0; i < literals.size(); ++i) {
    const sql::Type type = sql::value_type(types[i]);
    if (literals[i].is_string) values.push_back(sql::parse_value(type, literals[i].text, state_.settings, moment));
    else if (type == sql::kInt4) values.emplace_back(static_cast<std::int32_t>(literals[i].number));
    else values.emplace_back(literals[i].number);
  }
  return values;
}

bool Session::begin_query_directly() {
  const std::optional<RawMessage> raw = decoder_.peek_query();
  if (!raw || raw->body.empty() || raw->body.find('\0') != raw->body.size() - 1 || !may_run_directly()) return false;
  const std::string_view text = raw->body.substr(0, raw->body.size() - 1);
  const std::size_t bytes = raw->body.size() + MessageDecoder::kHeaderBytes;
  if (auto control = host_.transaction_texts().find(text)) {
    direct_ = DirectStatement{.text = std::make_shared<const std::string>(text), .bytes = bytes, .control = std::move(control)};
    statements_.erase("");
    portals_.erase("");
    return true;
  }
  const PreparedStatementPtr& statement = last_with_literals_.statement;
  if (!statement || !statement->plan || !statement->plan->has_direct_run) return false;
  const std::optional<parser::TextWithoutLiterals> shared = parser::take_literals(text);
  if (!shared || shared->text != statement->plan->text || types_of(shared->literals) != last_with_literals_.types) return false;
  try {
    DirectStatement direct{.statement = statement, .text = std::make_shared<const std::string>(from_client(text)), .describes = true};
    direct.formats.assign(statement->columns.size(), 0);
    direct.bytes = bytes;
    direct.run = start_directly(*statement, values_of(shared->literals, statement->parameter_types));
    if (!direct.run) return false;
    direct_ = std::move(direct);
  } catch (const sql::SqlError&) {  // the statement as it is written says so
    return false;
  }
  statements_.erase("");  // as any query does
  return true;
}

/// Locks of rows last until the statement is complete: one that stands for itself is a transaction then.
bool Session::needs_transaction(const PreparedStatement& statement) const {
  const PreparedStatement* run = &statement;
  if (const auto* execute = statement.statement ? std::get_if<parser::ast::Execute>(&statement.statement->node) : nullptr) {
    const auto found = statements_.find(execute->name);
    if (found != statements_.end()) run = found->second.get();
  }
  if (const auto* fetch = statement.statement ? std::get_if<parser::ast::Fetch>(&statement.statement->node) : nullptr) {
    const auto found = portals_.find(fetch->cursor);
    if (found != portals_.end()) run = found->second->statement.get();
  }
  return run->plan && run->plan->needs_transaction;
}

asio::awaitable<void> Session::run_simple(SourceText source, std::string text,
                                          std::shared_ptr<const parser::ast::Statement> statement, bool commits) {
  if (auto current = session_statements_.text_for_current(text, *statement)) {
    text = *std::move(current);
    statement = parser::parse_statement(text);
    source = {};  // positions would be those of another text
  }
  Portal portal;
  executor::DeclaredParameters no_parameters;
  portal.statement =
      co_await prepare(std::move(source), std::move(text), std::move(statement), std::move(no_parameters));
  if (needs_transaction(*portal.statement)) transactions_.begin_implicit(TransactionBlock::State::kPipeline);
  portal.result_formats.assign(portal.statement->columns.size(), portal.statement->binary ? 1 : 0);
  co_await run_portal(portal, 0, portal.statement->returns_rows, commits);
}

}  // namespace redquel::server
