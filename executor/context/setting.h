#pragma once

#include <string>

#include "executor/context/execution_context.h"

namespace redquel::executor {

/// Returns true if the session's boolean parameter is on in SHOW.
inline bool is_on(const ExecutionContext& context, const char* parameter) {
  const sql::EvaluationContext& evaluation = context.evaluation();
  const std::string* value = evaluation.show == nullptr ? nullptr : evaluation.show(evaluation.session, parameter);
  return value != nullptr && *value == "on";
}

}  // namespace redquel::executor
