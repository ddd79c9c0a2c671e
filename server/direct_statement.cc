// Statements that are one turn of commands (Engine::run_directly): no portal, no execution, one wait.

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include "executor/runtime/notifications.h"
#include "server/session.h"
#include "server/stored_row_encoder.h"

namespace redquel::server {

namespace {

/// The formats of n columns by what Bind said; false: they are wrong.
bool take_formats(const ColumnFormats& said, std::size_t columns, ColumnFormats& formats) {
  if (said.size() > 1 && said.size() != columns) return false;
  for (std::size_t i = 0; i < columns; ++i) formats.push_back(format_of(said, i));
  return std::ranges::all_of(formats, [](std::int16_t format) { return format == 0 || format == 1; });
}

bool names_unnamed_portal(const RawMessage& describe) { return describe.body == std::string_view("P\0", 2); }

/// The unnamed portal, all rows.
bool executes_all_rows(const RawMessage& execute) { return execute.body == std::string_view("\0\0\0\0\0", 5); }

bool is_control(const std::shared_ptr<const parser::ast::Statement>& statement) {
  return statement && std::holds_alternative<parser::ast::Transaction>(statement->node);
}

bool is_null(const sql::Datum& value) { return sql::is_null(value); }

}  // namespace

bool Session::may_run_directly() const {
  const TransactionBlock::State state = transactions_.block().state();
  const bool is_plain = state == TransactionBlock::State::kNone || state == TransactionBlock::State::kOpen;
  return is_plain && !message_.is_skipped_to_sync && !flush_.has_notice &&
         encoder_.has_utf8() && !log_.wants_statements() && !log_.wants_durations() && !state_.notifications->has_pending();
}

executor::DirectRunPtr Session::start_directly(const PreparedStatement& statement, std::span<const sql::Datum> parameters) {
  if (!statement.plan || !statement.plan->has_direct_run || std::ranges::any_of(parameters, is_null)) return nullptr;
  return engine_->run_directly(*statement.plan, parameters, state_);
}

bool Session::begin_directly() {
  const std::optional<RunMessages> run = decoder_.peek_run();
  if (!run || !executes_all_rows(run->execute) || (run->describe && !names_unnamed_portal(*run->describe)) || !may_run_directly()) return false;
  DirectStatement direct{.describes = run->describe.has_value(), .bytes = run->bytes};
  try {
    const FrontendMessage decoded = decode_message(run->bind);
    const auto& bind = std::get<BindMessage>(decoded);
    const auto found = statements_.find(std::string(bind.statement));
    if (found == statements_.end() || !bind.portal.empty()) return false;
    direct.statement = found->second;
    if (is_control(direct.statement->statement) && bind.parameters.empty() && bind.parameter_formats.empty() && bind.result_formats.size() <= 1) {
      direct.control = direct.statement->statement;
      direct_ = std::move(direct);
      return true;
    }
    if (!direct.statement->plan || !direct.statement->plan->has_direct_run) return false;
    if (!take_formats(bind.result_formats, direct.statement->columns.size(), direct.formats)) return false;
    direct.run = start_directly(*direct.statement, bind_parameters(bind, *direct.statement));
  } catch (const sql::SqlError&) {  // the messages one by one say which of them is wrong
    message_.error_context.clear();
    return false;
  }
  if (!direct.run) return false;
  direct_ = std::move(direct);
  return true;
}

void Session::describe_directly(const PreparedStatement& statement, std::span<const std::int16_t> formats) {
  const bool is_uniform = std::ranges::adjacent_find(formats, std::ranges::not_equal_to()) == formats.end();
  if (!is_uniform || formats.empty()) return encoder_.row_description(statement.columns, formats);
  std::string& known = statement.description[static_cast<std::size_t>(formats.front())];
  const std::size_t before = encoder_.size();
  if (!known.empty()) {
    encoder_.buffer() += known;
  } else {
    encoder_.row_description(statement.columns, formats);
    known = encoder_.buffer().substr(before);
  }
}

std::optional<std::size_t> Session::give_directly(executor::DirectRun& run, const PreparedStatement& statement, std::span<const std::int16_t> formats,
                                                  bool describes) {
  const std::size_t before = encoder_.size();
  if (describes) describe_directly(statement, formats);
  StoredRowEncoder rows(encoder_, statement.columns, formats, state_.settings);
  try {
    if (run.give(rows)) return rows.rows();
  } catch (...) {
    encoder_.cut(before);
    throw;
  }
  encoder_.cut(before);
  return std::nullopt;
}

void Session::end_directly(const PreparedStatement& statement, std::size_t rows) {
  std::string tag = "SELECT ";
  tag += std::to_string(rows);
  meter_.end_statement(statement.plan->text, statement.plan, state_.role, tag);
  encoder_.command_complete(tag);
}

bool Session::control_directly(const DirectStatement& direct) {
  const std::optional<std::string> tag = transactions_.run_at_once(std::get<parser::ast::Transaction>(direct.control->node));
  if (!tag) return false;
  if (!direct.text) encoder_.bind_complete();
  if (direct.describes && !direct.text) encoder_.no_data();
  meter_.end_statement(*message_.text, direct.control, state_.role, *tag);
  encoder_.command_complete(*tag);
  return true;
}

asio::awaitable<void> Session::answer_directly() {
  const DirectStatement direct = std::move(direct_);
  const bool is_query = direct.text != nullptr;
  message_.source = direct.statement ? direct.statement->source : SourceText{direct.text};
  message_.text = is_query ? direct.text : direct.statement->source.text;
  message_.error_context.clear();
  is_idle_ = false;
  state_.commits_since.reset();
  if (message_.text) meter_.begin_statement(message_.text);
  if (direct.control) {
    direct_is_refused_ = !control_directly(direct);
    if (direct_is_refused_) co_return;
    decoder_.take(direct.bytes);
    if (!end_answer()) co_await finish_flush();
    co_return;
  }
  const PreparedStatement& statement = *direct.statement;
  begin_cancellable();
  std::exception_ptr failure;
  std::optional<std::size_t> rows;
  const std::size_t before = encoder_.size();
  try {
    if (!direct.run->is_answered()) co_await direct.run->wait();
    if (!is_query) encoder_.bind_complete();
    rows = give_directly(*direct.run, statement, direct.formats, direct.describes);
    if (!rows) encoder_.cut(before);
  } catch (...) {
    failure = std::current_exception();
  }
  end_cancellable();
  co_await asio::this_coro::reset_cancellation_state();
  if (!failure && !rows) {
    direct_is_refused_ = true;  // the same messages one by one
    co_return;
  }
  decoder_.take(direct.bytes);
  if (failure) {
    encoder_.cut(before);
    if (!is_query) encoder_.bind_complete();
    if (!is_query && direct.describes) describe_directly(statement, direct.formats);
    failure = co_await engine_->named_failure(failure, state_);
    report(failure);
    co_await transactions_.fail();
  } else {
    end_directly(statement, *rows);
  }
  portals_.erase("");
  if (!is_in_transaction()) {
    portals_.clear();
  } else if (!failure && !is_query) {  // the portal lives until another one takes its name, and has no more rows
    auto spent = std::make_unique<Portal>();
    spent->statement = direct.statement;
    spent->result_formats.assign(direct.formats.begin(), direct.formats.end());
    spent->is_spent = true;
    portals_.emplace("", std::move(spent));
  }
  if (!end_answer()) co_await finish_flush();
}

}  // namespace redquel::server
