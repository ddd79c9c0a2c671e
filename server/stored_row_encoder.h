#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>

#include "executor/direct/direct_run.h"
#include "executor/engine/engine.h"
#include "server/message_encoder.h"
#include "sql/session_settings.h"

namespace redquel::server {

/// Turns rows as Redis holds them into DataRow messages: most texts are copied.
class StoredRowEncoder final : public executor::RowSink {
 public:
  /// `formats`: one per column, 0 text or 1 binary. The client's encoding is UTF-8. Everything passed outlives the encoder.
  StoredRowEncoder(MessageEncoder& encoder, std::span<const executor::OutputColumn> columns, std::span<const std::int16_t> formats,
                   const sql::SessionSettings& settings);

  /// False: a value has no form for the client. The buffer has whole rows only.
  bool add(std::span<const std::optional<std::string_view>> row) override;
  std::size_t rows() const { return rows_; }

 private:
  enum class Way : std::uint8_t { kCopy, kText, kBinary };
  struct Column {
    sql::Type type;
    Way way;
  };

  void append(const Column& column, std::string_view text);

  MessageEncoder& encoder_;
  const sql::SessionSettings& settings_;
  boost::container::small_vector<Column, 16> columns_;
  std::size_t rows_ = 0;
};

}  // namespace redquel::server
