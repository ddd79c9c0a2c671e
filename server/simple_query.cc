// The simple protocol: Query.

#include "parser/parse.h"
#include "server/session.h"

namespace redquel::server {

asio::awaitable<void> Session::on(const QueryMessage& message) {
  // It replaces the unnamed statement and portal of the extended protocol.
  statements_.erase("");
  portals_.erase("");
  const auto text = std::make_shared<const std::string>(from_client(message.text));
  current_source_ = {text, 0};
  if (auto known = engine_->known_statement(*text)) {
    transactions_.block().admit(*known);
    if (is_strict()) transactions_.begin_implicit(TransactionBlock::State::kString);
    auto run = run_simple(current_source_, *text, std::move(known), true);
    co_await run_cancellable(std::move(run));
    co_return;
  }
  const parser::ParseLimits limits{.text_bytes = host_.limits().statement_bytes};
  std::vector<parser::ParsedStatement> parsed = parser::parse(*text, limits);
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
      std::vector<parser::ParsedStatement> alone = parser::parse(own, limits);
      if (alone.size() != 1) throw sql::SqlError("XX000", "a statement changed when it was parsed alone");
      one = std::move(alone.front());
    }
    current_source_ = source;
    auto statement = std::make_shared<const parser::ast::Statement>(std::move(one.statement));
    transactions_.block().admit(*statement);
    // The statements of one string are one transaction, unless they say otherwise.
    if (parsed.size() > 1 || is_strict()) transactions_.begin_implicit(TransactionBlock::State::kString);
    auto run = run_simple(std::move(source), std::move(own), std::move(statement), &one == &parsed.back());
    co_await run_cancellable(std::move(run));
    if (terminating_) co_return;
  }
}

/// Locks of rows last until the statement is complete: one that stands for itself is a transaction then.
bool Session::needs_transaction(const PreparedStatement& statement) const {
  const PreparedStatement* run = &statement;
  if (const auto* execute = statement.statement ? std::get_if<parser::ast::Execute>(&statement.statement->node) : nullptr) {
    const auto found = statements_.find(execute->name);
    if (found != statements_.end()) run = found->second.get();
  }
  return run->plan && run->plan->needs_transaction;
}

asio::awaitable<void> Session::run_simple(SourceText source, std::string text,
                                          std::shared_ptr<const parser::ast::Statement> statement, bool commits) {
  Portal portal;
  executor::DeclaredParameters no_parameters;
  portal.statement =
      co_await prepare(std::move(source), std::move(text), std::move(statement), std::move(no_parameters));
  if (needs_transaction(*portal.statement)) transactions_.begin_implicit(TransactionBlock::State::kString);
  portal.result_formats.assign(portal.statement->columns.size(), portal.statement->binary ? 1 : 0);
  co_await run_portal(portal, 0, portal.statement->returns_rows, commits);
}

}  // namespace redquel::server
