#include "executor/statements/truncate_foreign.h"

#include <algorithm>

#include "executor/engine/inner_statements.h"
#include "executor/statements/truncate_triggers.h"
#include "executor/transaction/transaction.h"
#include "sql/error.h"
#include "sql/functions/quote.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

std::shared_ptr<const sql::TableDef> find(const ast::TableRef& relation, const sql::CatalogSnapshot& catalog, const SessionState& session) {
  return catalog.find_table(relation.name.schema, relation.name.name, session.search_path);
}

class TruncateForeign final : public Execution {
 public:
  TruncateForeign(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (session_.modes.read_only) throw sql::in_read_only_transaction(command_tag());
    const auto& statement = std::get<ast::Truncate>(prepared_->statement->node);
    if (statement.restart_identity) throw sql::not_supported("TRUNCATE RESTART IDENTITY of a foreign table");
    const sql::CatalogPtr catalog = co_await engine_.catalog(session_);
    std::vector<std::string> deletes;
    for (const ast::TableRef& relation : statement.relations) {
      const auto table = find(relation, *catalog, session_);
      if (!table || !table->is_mapped()) throw sql::not_supported("TRUNCATE of foreign tables together with others");
      deletes.push_back("DELETE FROM " + sql::quote_identifier(table->schema) + "." + sql::quote_identifier(table->name));
    }
    const bool several = deletes.size() > 1;
    asio::awaitable<void> work = run_all(std::move(deletes));
    if (several) work = in_transaction(engine_, session_, std::move(work));
    co_await std::move(work);
    co_return std::nullopt;
  }

  std::string command_tag() const override { return std::string(parser::command_tag(*prepared_->statement)); }

 private:
  asio::awaitable<void> run_all(std::vector<std::string> texts) {
    for (std::string& text : texts) co_await run_inner_statement(engine_, session_, std::move(text));
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

/// Decides when it runs: a definition is not planned.
class Truncation final : public Execution {
 public:
  Truncation(RedisEngine& engine, PreparedPtr prepared, SessionState& session, std::unique_ptr<Execution> plain)
      : engine_(engine), prepared_(std::move(prepared)), session_(session), run_(std::move(plain)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    const sql::CatalogPtr catalog = co_await engine_.catalog(session_);
    const auto& statement = std::get<ast::Truncate>(prepared_->statement->node);
    const bool is_foreign = std::ranges::any_of(statement.relations, [&](const ast::TableRef& relation) {
      const auto table = find(relation, *catalog, session_);
      return table && table->is_mapped();
    });
    if (is_foreign) run_ = std::make_unique<TruncateForeign>(engine_, prepared_, session_);
    if (session_.transaction || !may_fire_triggers(statement, *catalog, session_)) co_return co_await run_->next();
    asio::awaitable<void> work = run_whole();
    work = in_transaction(engine_, session_, std::move(work));
    co_await std::move(work);
    co_return std::nullopt;
  }

  std::string command_tag() const override { return run_->command_tag(); }

 private:
  /// A definition gives no rows.
  asio::awaitable<void> run_whole() { co_await run_->next(); }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
  std::unique_ptr<Execution> run_;
};

}  // namespace

std::unique_ptr<Execution> make_truncate(RedisEngine& engine, PreparedPtr prepared, SessionState& session, std::unique_ptr<Execution> plain) {
  return std::make_unique<Truncation>(engine, std::move(prepared), session, std::move(plain));
}

}  // namespace redquel::executor
