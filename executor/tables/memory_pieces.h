#pragma once

#include <string>
#include <vector>

#include "executor/memory/table_memory.h"
#include "executor/runtime/event_loop_turn.h"

namespace redquel::executor {

/// Rows that one MULTI reads for a copy: a few milliseconds of Redis.
inline constexpr std::size_t kPieceRows = 1000;

inline constexpr const char* kSwappedDatabase = "Redis shows another logical database (SWAPDB)";

/// Ends a fill or a re-read of a copy for this reason.
struct NotKept {
  std::string reason;
};

/// Ends a re-read for this reason. The rows are kept, and their changes are still to be read.
struct NotNow {
  std::string reason;
};

/// Returns the rows of the packer, in turns of the event loop.
asio::awaitable<ChunkPtr> pack(ChunkPacker& packer, EventLoopTurn& turn);

/// Puts rows that were read again in the place of the older ones, in turns of the event loop.
asio::awaitable<void> apply_changes(TableCopyPtr copy, const std::vector<TableCopy::Changed>& changes, std::vector<ChunkPtr> chunks, EventLoopTurn& turn);

/// Packs small chunks together and chunks with many gone rows anew, in turns of the event loop.
asio::awaitable<void> tidy(TableCopyPtr copy, EventLoopTurn& turn);

/// Packs the rows of the packer and enters them, in turns of the event loop. `bytes`: of all chunks so far. Throws NotKept if they do not fit.
asio::awaitable<void> add_chunk(TableCopyPtr copy, ChunkPacker& packer, TableMemory& memory, std::size_t& bytes, EventLoopTurn& turn);

}  // namespace redquel::executor
