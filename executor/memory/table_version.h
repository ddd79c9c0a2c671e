#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "executor/memory/packed_column.h"

namespace redquel::executor {

/// Rows of a chunk at most; a row's position is the chunk's slot and the row in it.
inline constexpr std::size_t kChunkRows = 65'536;

/// Some rows of a table, column by column, immutable.
struct Chunk {
  std::size_t rows = 0;
  PackedColumnPtr members;                          // the rows' names in the zset of all rows
  std::map<std::int16_t, PackedColumnPtr> columns;  // by number
  std::vector<std::int64_t> expiries;               // milliseconds since 1970, 0: none; empty: no row expires

  std::size_t bytes() const {
    std::size_t bytes = sizeof *this + expiries.capacity() * 8 + members->bytes();
    for (const auto& [number, column] : columns) bytes += column == members ? 0 : column->bytes();
    return bytes;
  }
};
using ChunkPtr = std::shared_ptr<const Chunk>;

/// A bit per row of a chunk that is not the table's any more.
using GoneRows = std::vector<std::uint64_t>;

/// One state of a table. Statements hold it while they read.
struct TableVersion {
  struct Slice {
    ChunkPtr chunk;                       // null: the slot is free
    std::shared_ptr<const GoneRows> gone;  // null: none
    bool is_gone(std::size_t row) const { return gone && ((*gone)[row / 64] >> (row % 64) & 1) != 0; }
  };
  std::vector<Slice> slices;  // by slot
  std::size_t rows = 0;       // that are not gone
  std::size_t members = 0;    // elements of the zset: also those without a row
  std::size_t halves = 0;     // members without a row, and rows that are no members
};
using TableVersionPtr = std::shared_ptr<const TableVersion>;

}  // namespace redquel::executor
