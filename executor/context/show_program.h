#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/setting.h"
#include "executor/storage/write_program.h"

namespace redquel::executor {

/// Returns what sends the programs of a statement's writes to its client as notices (redquel.show_program); empty: they are not shown.
inline ShowProgram show_program(const ExecutionContext& context) {
  if (!context.notice || !is_on(context, "redquel.show_program")) return {};
  return [notice = context.notice](const WriteProgram& program) { notice(program_notice(program)); };
}

}  // namespace redquel::executor
