#include "executor/make_engine.h"

#include "executor/statements/copy_execution.h"
#include "executor/statements/definition_execution.h"
#include "executor/statements/do_statement.h"
#include "executor/statements/query_execution.h"

namespace redquel::executor {

namespace {

class StatementEngine final : public RedisEngine {
 public:
  using RedisEngine::RedisEngine;

  std::unique_ptr<Execution> execute(PreparedPtr prepared, std::vector<sql::Datum> parameters, SessionState& session) override {
    if (session.transaction) session.has_queried = true;
    note_start(*prepared->plan, session);
    switch (prepared->plan->kind) {
      case PreparedPlan::Kind::kQuery:
        if (prepared->plan->command_tag == "CALL") return make_call(*this, std::move(prepared), std::move(parameters), session);
        return make_query_execution(*this, std::move(prepared), std::move(parameters), session);
      case PreparedPlan::Kind::kExplain:
        return make_explain_execution(*this, std::move(prepared), std::move(parameters), session);
      case PreparedPlan::Kind::kCopy:
        return make_copy_execution(*this, std::move(prepared), session);
      case PreparedPlan::Kind::kDefinition:
        return make_definition_execution(*this, std::move(prepared), session, std::move(parameters));
    }
    return nullptr;
  }
};

}  // namespace

std::unique_ptr<RedisEngine> make_engine(RedisAccess& access, int database, RedisClient& home, EngineLimits limits, std::shared_ptr<TableMemory> memory) {
  return std::make_unique<StatementEngine>(access, database, home, limits, std::move(memory));
}

}  // namespace redquel::executor
