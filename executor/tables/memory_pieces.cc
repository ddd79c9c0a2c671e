#include "executor/tables/memory_pieces.h"

namespace redquel::executor {

asio::awaitable<void> add_chunk(TableCopyPtr copy, ChunkPacker& packer, TableMemory& memory, std::size_t& bytes, EventLoopTurn& turn) {
  constexpr std::size_t kPlacedRows = 4096;
  ChunkPtr chunk;
  while (!chunk) {
    chunk = packer.finish_next_column();
    if (turn.is_over()) co_await turn.yield();
  }
  bytes += chunk->bytes();
  if (!memory.make_room(copy, bytes)) throw NotKept{"cache.memory has no room for it"};
  const std::size_t rows = chunk->rows;
  if (rows == 0) co_return;
  const std::size_t slot = copy->begin_chunk(std::move(chunk));
  for (std::size_t first = 0; first < rows; first += kPlacedRows) {
    copy->place(slot, first, first + kPlacedRows);
    if (turn.is_over()) co_await turn.yield();
  }
  copy->end_chunk(slot);
}

}  // namespace redquel::executor
