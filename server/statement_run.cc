// One run of a statement: cancellable, paced by the client.

#include <boost/asio/this_coro.hpp>

#include <fmt/format.h>

#include "executor/roles/background_thread.h"
#include "executor/runtime/notifications.h"
#include "executor/transaction/own_roles.h"
#include "parser/parse.h"
#include "server/row_encoder.h"
#include "server/session.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::server {

namespace {

/// The command tag of a part of a result counts the rows of that part.
std::string tag_with_count(const std::string& tag, std::size_t rows) {
  const std::size_t blank = tag.rfind(' ');
  if (blank == std::string::npos || tag.find_first_not_of("0123456789", blank + 1) != std::string::npos) return tag;
  return fmt::format("{}{}", tag.substr(0, blank + 1), rows);
}

/// Returns the part of the client's text that is a statement of the server itself.
std::string_view text_without_plan(const PreparedStatement& statement) {
  if (!statement.source.text) return {};
  return std::string_view(*statement.source.text).substr(std::min<std::size_t>(statement.source.base, statement.source.text->size()));
}

/// Ends the work of another thread when the caller does not wait for it any more.
struct EndOfWait {
  std::shared_ptr<sql::Interrupts> work;
  ~EndOfWait() { work->request_cancel(); }
};

bool is_select(const PreparedStatement& statement) {
  return statement.statement && std::holds_alternative<parser::ast::Select>(statement.statement->node);
}

}  // namespace

void Session::begin_cancellable() {
  running_.cancel_reason = CancelReason::kNone;
  running_.is_running = true;
  ++running_.number;
  const std::int64_t limit = parameters_.statement_timeout_ms();
  interrupts_->begin_statement(limit > 0 ? sql::Interrupts::Clock::now() + std::chrono::milliseconds(limit) : sql::Interrupts::Clock::time_point::max());
  if (limit > 0) {
    running_.has_timeout = true;
    running_.timeout.expires_after(std::chrono::milliseconds(limit));
    running_.timeout.async_wait(
        [weak = weak_from_this(), number = running_.number](const boost::system::error_code& failure) {
          const auto self = weak.lock();
          if (failure || !self || self->running_.number != number) return;
          self->cancel(CancelReason::kStatementTimeout);
        });
  }
}

void Session::end_cancellable() {
  running_.is_running = false;
  interrupts_->end_statement();
  if (std::exchange(running_.has_timeout, false)) running_.timeout.cancel();
}

asio::awaitable<void> Session::run_cancellable(asio::awaitable<void> statement) {
  begin_cancellable();
  std::exception_ptr failure;
  try {
    co_await executor::with_own_roles(state_, std::move(statement));
  } catch (...) {
    failure = std::current_exception();
  }
  end_cancellable();
  // A cancelled chain of coroutines throws at every wait until its cancellation state is reset.
  co_await asio::this_coro::reset_cancellation_state();
  if (failure) std::rethrow_exception(failure);
}

asio::awaitable<std::vector<parser::ParsedStatement>> Session::parse_text(std::shared_ptr<const std::string> text) {
  constexpr std::size_t kLongText = std::size_t{32} << 10;
  const parser::ParseLimits limits{.text_bytes = host_.limits().statement_bytes};
  if (text->size() < kLongText) co_return parser::parse(*text, limits);
  std::vector<parser::ParsedStatement> parsed;
  // The thread stops parsing once the session does not wait any more, which is no later than the deadline.
  const auto interrupts = std::make_shared<sql::Interrupts>();
  const auto parse_aside = [&]() -> asio::awaitable<void> {
    const sql::HeldBytes tree(*memory_, parser::parse_memory(*text), sql::MemoryPart::kStatements);
    const EndOfWait end{interrupts};
    auto work = [text, limits, interrupts] {
      const sql::InterruptScope scope(*interrupts);
      sql::check_interrupts();
      return parser::parse(*text, limits);
    };
    parsed = co_await executor::BackgroundThread::parser().run_cancellable(std::move(work));
  };
  auto run = parse_aside();
  co_await run_cancellable(std::move(run));
  co_return parsed;
}

asio::awaitable<PreparedStatementPtr> Session::prepare(SourceText source, std::string text,
                                                       std::shared_ptr<const parser::ast::Statement> statement,
                                                       executor::DeclaredParameters parameters, PreparedStatementPtr before) {
  if (SessionStatements::handles(*statement)) {
    return session_statements_.prepare(std::move(source), std::move(text), std::move(statement), std::move(parameters));
  }
  return plan_statement(*engine_, std::move(source), std::move(text), std::move(statement), std::move(parameters), state_, std::move(before));
}

void Session::take(Portal& portal, std::optional<sql::Batch> batch) {
  if (batch) {
    portal.pulled.push_back(*std::move(batch));
  } else {
    portal.ended = true;
    portal.command_tag = portal.execution->command_tag();
  }
}

/// A statement that writes is complete before the first of its rows leaves, also when they leave in pieces.
asio::awaitable<void> Session::hold_all_rows(Portal& portal) {
  std::size_t bytes = 0;
  while (!portal.ended) {
    std::optional<sql::Batch> batch = co_await portal.execution->next();
    if (batch) bytes += batch->memory();
    if (bytes > state_.work_mem) {
      throw sql::out_of_memory()
          .detail("The result of a row-limited statement that writes exceeds work_mem.");
    }
    take(portal, std::move(batch));
  }
}

namespace {

/// If definitions have changed since the statement was planned, takes its current columns.
void follow_replanning(Portal& portal) {
  const executor::PreparedPtr replanned = portal.execution->replanned();
  if (!replanned) return;
  auto as_run = std::make_shared<PreparedStatement>(*portal.statement);
  as_run->plan = replanned;
  as_run->columns = replanned->columns;
  portal.result_formats.resize(as_run->columns.size(), as_run->binary ? 1 : 0);
  portal.statement = std::move(as_run);
}

}  // namespace

asio::awaitable<void> Session::run_cursor(Cursor& cursor, std::vector<std::int16_t> formats, std::string tag, std::size_t max_rows) {
  const PreparedStatementPtr query = cursor.query;
  const std::size_t wanted = max_rows == 0 ? static_cast<std::size_t>(parser::ast::Fetch::kAll) : max_rows;
  parser::ast::Fetch forward;
  forward.count = static_cast<std::int64_t>(wanted);
  CursorMove move = cursor.move(forward);
  RowEncoder rows(encoder_, query->columns, formats, state_.settings, cursor.run());
  const auto sent = static_cast<std::size_t>(move.count);
  while (move.count > 0) {
    const sql::Batch batch = cursor.take(move);
    for (std::size_t next = 0; next < batch.rows;) {
      {
        const sql::InterruptScope interrupts(*interrupts_, sql::InterruptScope::Values::kHeld);
        next = rows.append_rows(batch, next, batch.rows, kFlushBytes);
      }
      if (encoder_.size() >= kFlushBytes) co_await flush();
    }
  }
  if (sent == wanted) {
    encoder_.portal_suspended();
  } else {
    encoder_.command_complete(tag_with_count(tag, sent));
  }
}

asio::awaitable<void> Session::run_portal(Portal& portal, std::size_t max_rows, bool describe, bool commits) {
  if (!portal.statement->statement) {
    encoder_.empty_query_response();
    co_return;
  }
  if (portal.cursor) {
    co_await run_cursor(*portal.cursor, portal.result_formats, portal.command_tag, max_rows);
    co_return;
  }
  if (portal.is_spent) {
    encoder_.command_complete("SELECT 0");
    co_return;
  }
  if (portal.finished) throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("portal \"{}\" cannot be run", portal.name));
  if (!portal.execution) {
    const PreparedStatement& statement = *portal.statement;
    state_.commits_since.reset();  // of a statement that failed
    // Rows of the simple protocol come all at once.
    if (executor::DirectRunPtr run = describe && may_run_directly() ? start_directly(statement, portal.parameters) : nullptr) {
      if (!run->is_answered()) co_await run->wait();
      if (const std::optional<std::size_t> count = give_directly(*run, statement, portal.result_formats, true)) {
        end_directly(statement, *count);
        co_return;
      }
    }
    portal.execution = session_statements_.start(portal);
    attach_copy_stream(portal);
    if (max_rows > 0 && statement.returns_rows && !is_select(statement)) co_await hold_all_rows(portal);
    if (describe) portal.execution->describe_later();
  }
  std::optional<RowEncoder> rows;
  const auto begin_rows = [&] { rows.emplace(encoder_, portal.statement->columns, portal.result_formats, state_.settings, *portal.execution); };
  if (!describe) begin_rows();
  std::size_t sent = 0;
  while (max_rows == 0 || sent < max_rows) {
    if (portal.pulled.empty() && !portal.ended) {
      std::optional<sql::Batch> batch = co_await portal.execution->next();
      take(portal, std::move(batch));
    }
    // Not before the first batch has come: what fails at once, fails without a description, as constants do in
    // PostgreSQL.
    if (describe) {
      follow_replanning(portal);
      begin_rows();
      encoder_.row_description(portal.statement->columns, portal.result_formats);
    }
    describe = false;
    if (portal.pulled.empty()) break;
    const sql::Batch& batch = portal.pulled.front();
    std::size_t end = batch.rows;
    if (max_rows > 0) end = std::min(end, portal.next_row + (max_rows - sent));
    const std::size_t first = portal.next_row;
    {
      const sql::InterruptScope interrupts(*interrupts_, sql::InterruptScope::Values::kHeld);
      portal.next_row = portal.statement->returns_rows ? rows->append_rows(batch, first, end, kFlushBytes) : end;
    }
    sent += portal.next_row - first;
    portal.sent += portal.next_row - first;
    if (portal.next_row == batch.rows) {
      portal.pulled.pop_front();
      portal.next_row = 0;
    }
    if (encoder_.size() >= kFlushBytes) {
      const sql::HeldBytes output(*memory_, encoder_.size(), sql::MemoryPart::kStatements);
      co_await flush();
    }
  }
  follow_client_encoding();
  if (max_rows > 0 && sent == max_rows) {
    portal.resumed = true;
    encoder_.portal_suspended();
    co_return;
  }
  if (commits && transactions_.block().is_implicit()) co_await transactions_.commit_implicit();
  if (!state_.transaction && (state_.commits_since || state_.notifications->has_pending())) co_await engine_->finish_statement(state_);
  portal.finished = !portal.statement->returns_rows;
  if (const executor::PreparedPtr& plan = portal.statement->plan) meter_.end_statement(plan->text, plan, state_.role, portal.command_tag);
  else meter_.end_statement(text_without_plan(*portal.statement), portal.statement, state_.role, portal.command_tag);
  encoder_.command_complete(portal.resumed ? tag_with_count(portal.command_tag, sent) : portal.command_tag);
  portal.resumed = true;  // another Execute finds no more rows
}

}  // namespace redquel::server
