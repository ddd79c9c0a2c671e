#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "executor/engine/engine.h"
#include "server/message_encoder.h"
#include "sql/column.h"

namespace redquel::server {

/// Turns batches into DataRow messages, straight from the columns. One per run of a portal.
class RowEncoder {
 public:
  /// `formats`: one per column, 0 text or 1 binary; any other throws 22023. Everything passed outlives the encoder.
  RowEncoder(MessageEncoder& encoder, std::span<const executor::OutputColumn> columns,
             std::span<const std::int16_t> formats, const sql::SessionSettings& settings,
             const executor::Execution& execution);

  /// Appends rows [first, end) of the batch until the buffer holds `full` bytes; gives the first row not appended.
  /// Throws what output functions and conversions throw; whole rows only are in the buffer then.
  std::size_t append_rows(const sql::Batch& batch, std::size_t first, std::size_t end, std::size_t full);

 private:
  /// The encoding of a column's values of one batch.
  enum class Way : std::uint8_t { kCopy, kText, kBinary };
  struct Source {
    const sql::Column* column;
    Way way;
    bool convert;  // to the client's encoding, as a whole
    /// The binary form of a value, looked up once for the batch; null: the column holds stored texts, or has no binary form (42883).
    void (*encode)(const sql::Column& column, std::size_t row, std::string& out, sql::EncodingConverter* client);
  };

  void append_value(const Source& source, std::size_t row);

  MessageEncoder& encoder_;
  std::span<const std::int16_t> formats_;
  const sql::SessionSettings& settings_;
  const executor::Execution& execution_;
  std::vector<sql::ColumnPtr> named_;  // columns of object names, while a batch is written
  std::vector<Source> sources_;
  std::string scratch_;
};

}  // namespace redquel::server
