#pragma once

#include "executor/copy/copy_channel.h"
#include "planner/copy_options.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

/// Gives the channel the encoding of the ENCODING option. 22023 at the option.
inline void set_encoding(CopyChannel& channel, const planner::CopyOptions& options) {
  if (channel.set_encoding(options.encoding)) return;
  throw sql::SqlError(sqlstate::kInvalidParameterValue, "argument to option \"encoding\" must be a valid encoding name")
      .at(options.encoding_offset);
}

}  // namespace redquel::executor
