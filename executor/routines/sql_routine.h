#pragma once

#include <memory>
#include <vector>

#include "executor/engine/engine.h"
#include "executor/engine/routine.h"

namespace redquel::executor {

/// A function or procedure in LANGUAGE sql whose body is run: its statements, planned.
class SqlRoutine final : public Routine {
 public:
  /// Runs the statements one after the other; each sees what the ones before it did. Errors get PostgreSQL's CONTEXT.
  boost::asio::awaitable<std::vector<sql::Batch>> run(RoutineCall& call) const override;

  /// Plans the body of `definition`, which has the call's types. 0A000 for statements that no such function may have.
  static std::shared_ptr<Routine> compile(RedisEngine& engine, std::shared_ptr<const sql::FunctionDef> definition, const sql::CatalogSnapshot& catalog,
                            const SessionState& session);

 private:
  SqlRoutine() = default;

  std::vector<PreparedPtr> statements_;
};

}  // namespace redquel::executor
