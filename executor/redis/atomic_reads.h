#pragma once

#include "executor/redis/script.h"

namespace redquel::executor {

/// Reads as one atomic unit where MULTI is refused: atomic_reads.lua.
extern const Script kAtomicReadsScript;

}  // namespace redquel::executor
