#pragma once

#include <memory>

#include "executor/copy/copy_channel.h"
#include "executor/engine/engine.h"

namespace redquel::executor {

class RedisEngine;

/// COPY … FROM STDIN and COPY … TO STDOUT. 0A000 where it runs without `attach_copy_channel`.
std::unique_ptr<Execution> make_copy_execution(RedisEngine&, PreparedPtr, SessionState&);

/// Must be called before a COPY statement's execution is asked for rows. The channel outlives the execution.
void attach_copy_channel(Execution& execution, CopyChannel& channel);

}  // namespace redquel::executor
