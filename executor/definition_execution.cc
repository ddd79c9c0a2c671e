#include "executor/ddl/ddl.h"
#include "executor/query_execution.h"
#include "parser/parse.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

template <class Statement>
concept Definition = requires(DdlContext& context, const Statement& statement) { run(context, statement); };

class DefinitionExecution final : public Execution {
 public:
  DefinitionExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session)
      : engine_(engine), prepared_(std::move(prepared)), session_(session) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    std::vector<sql::Oid> any_table;
    co_await wait_while_exclusive(engine_.shared(), std::move(any_table));
    DdlContext context{engine_.shared(), engine_.bulk(), session_, engine_.home()};
    co_await std::visit([&](const auto& statement) { return run_one(context, statement); }, prepared_->statement->node);
    co_await engine_.reload_catalog();
    co_return std::nullopt;
  }

  std::string command_tag() const override { return std::string(parser::command_tag(*prepared_->statement)); }

 private:
  template <class Statement>
  static asio::awaitable<void> run_one(DdlContext& context, const Statement& statement) {
    if constexpr (Definition<Statement>) {
      return run(context, statement);
    } else {
      // VACUUM and ANALYZE: there are no statistics to gather, but half-done removals to finish.
      return finish_removals(context.redis);
    }
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
};

}  // namespace

bool is_definition(const ast::Statement& statement) {
  return std::visit(
      []<class Statement>(const Statement&) { return Definition<Statement> || std::is_same_v<Statement, ast::Vacuum>; },
      statement.node);
}

std::unique_ptr<Execution> make_definition_execution(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  return std::make_unique<DefinitionExecution>(engine, std::move(prepared), session);
}

}  // namespace redquel::executor
