#include "executor/create_table_as.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/temporary.h"
#include "executor/query_execution.h"
#include "executor/transaction/increments.h"
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
    refuse_in_transaction();
    std::vector<sql::Oid> any_table;
    const LockDeadline deadline = lock_deadline(session_.lock_timeout);
    co_await wait_while_exclusive(engine_.shared(), std::move(any_table), deadline);
    if (const std::shared_ptr<Transaction> transaction = session_.transaction) {
      std::set<sql::Oid> tables = transaction->changed_tables();
      if (!transaction->buffer().increments(tables).empty()) {
        co_await engine_.prepare_locks(*transaction);
        const LockWaitLimits limits{session_.lock_timeout, session_.deadlock_timeout};
        co_await settle_increments(engine_.shared(), *transaction, std::move(tables), limits, engine_.random());
      }
    }
    DdlContext context{engine_.shared(), engine_.bulk(), session_, engine_.home()};
    if (makes_temporary(*prepared_->statement)) co_await engine_.open_temporary(session_);
    co_await std::visit([&](const auto& statement) { return run_one(context, statement); }, prepared_->statement->node);
    co_await engine_.reload_catalog();
    co_return std::nullopt;
  }

  std::string command_tag() const override { return std::string(parser::command_tag(*prepared_->statement)); }

 private:
  void refuse_in_transaction() const {
    const ast::Statement& statement = *prepared_->statement;
    const auto* drop = std::get_if<ast::Drop>(&statement.node);
    const auto* rename = std::get_if<ast::Rename>(&statement.node);
    const bool stands_alone = std::holds_alternative<ast::Vacuum>(statement.node) ||
                              std::holds_alternative<ast::CreateDatabase>(statement.node) ||
                              (drop && drop->object == ast::ObjectType::kDatabase);
    if (session_.transaction && stands_alone) {
      throw sql::SqlError("25001", command_tag() + " cannot run inside a transaction block");
    }
    if (session_.transaction && rename && rename->object == ast::ObjectType::kDatabase) {
      throw sql::not_supported("ALTER DATABASE in a transaction block");
    }
    if (session_.modes.read_only) {
      throw sql::SqlError("25006", "cannot execute " + command_tag() + " in a read-only transaction");
    }
  }

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
  return is_create_table_as(statement) || std::visit(
      []<class Statement>(const Statement&) { return Definition<Statement> || std::is_same_v<Statement, ast::Vacuum>; },
      statement.node);
}

std::unique_ptr<Execution> make_definition_execution(RedisEngine& engine, PreparedPtr prepared, SessionState& session) {
  if (is_create_table_as(*prepared->statement)) return make_create_table_as(engine, std::move(prepared), session);
  return std::make_unique<DefinitionExecution>(engine, std::move(prepared), session);
}

}  // namespace redquel::executor
