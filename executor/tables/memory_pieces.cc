#include "executor/tables/memory_pieces.h"

namespace redquel::executor {

namespace {

asio::awaitable<void> enter(TableCopyPtr copy, ChunkPtr chunk, EventLoopTurn& turn) {
  constexpr std::size_t kPlacedRows = 4096;
  const std::size_t rows = chunk->rows;
  if (rows == 0) co_return;
  const std::size_t slot = copy->begin_chunk(std::move(chunk));
  for (std::size_t first = 0; first < rows; first += kPlacedRows) {
    copy->place(slot, first, first + kPlacedRows);
    if (turn.is_over()) co_await turn.yield();
  }
  copy->end_chunk(slot);
}

}  // namespace

asio::awaitable<ChunkPtr> pack(ChunkPacker& packer, EventLoopTurn& turn) {
  ChunkPtr chunk;
  while (!chunk) {
    chunk = packer.finish_next_column();
    if (turn.is_over()) co_await turn.yield();
  }
  co_return chunk;
}

asio::awaitable<void> add_chunk(TableCopyPtr copy, ChunkPacker& packer, TableMemory& memory, std::size_t& bytes, EventLoopTurn& turn) {
  ChunkPtr chunk = co_await pack(packer, turn);
  bytes += chunk->bytes();
  if (!memory.make_room(copy, bytes)) throw NotKept{"cache.memory has no room for it"};
  co_await enter(std::move(copy), std::move(chunk), turn);
}

asio::awaitable<void> apply_changes(TableCopyPtr copy, const std::vector<TableCopy::Changed>& changes, std::vector<ChunkPtr> chunks, EventLoopTurn& turn) {
  copy->begin_changes(changes);
  for (ChunkPtr& chunk : chunks) co_await enter(copy, std::move(chunk), turn);
  copy->end_changes(changes);
}

asio::awaitable<void> tidy(TableCopyPtr copy, EventLoopTurn& turn) {
  while (copy->is_filled() && copy->tidy()) {
    if (turn.is_over()) co_await turn.yield();
  }
}

}  // namespace redquel::executor
