#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/copy/copy_channel.h"
#include "sql/progress.h"

namespace redquel::executor {

/// One COPY FROM while it runs: the client's data, and which line of them each row came from.
class CopyInput {
 public:
  CopyInput(CopyChannel& channel, sql::ProgressReport& progress) : channel(channel), progress(progress) {}

  CopyChannel& channel;
  sql::ProgressReport& progress;
  /// Data were asked for: they cannot be had a second time.
  bool started = false;
  std::string relation;

  /// Rows count from 0. Their lines' texts are kept until the next batch begins.
  void begin_batch() { texts_.clear(); }
  void add_row(std::uint64_t line, std::optional<std::string_view> text);
  /// The batch's rows that WHERE keeps, by their place in it.
  void keep_rows_of_batch(const std::vector<std::uint32_t>& kept);

  /// "COPY t, line 3: "1,x"", as PostgreSQL's CopyFromErrorCallback says it.
  std::string context_of_row(std::size_t row) const;
  /// Like context_of_row(), without the line's text.
  std::string context_of_stored_row(std::size_t row) const;
  /// Like context_of_row(), for a row by its place in the batch.
  std::string context_in_batch(std::size_t row) const { return context_of_row(first_ + lines_.size() - texts_.size() + row); }
  std::string context_of_line(std::uint64_t line, std::string_view text) const;
  std::string context_of_line(std::uint64_t line) const;
  std::string context_of_value(std::uint64_t line, std::string_view column, std::string_view value) const;
  std::string context_of_column(std::uint64_t line, std::string_view column) const;

 private:
  std::deque<std::uint64_t> lines_;  // of the last rows
  std::size_t first_ = 0;            // number of the row that lines_ begins with
  std::vector<std::optional<std::string>> texts_;  // of the batch's rows, cut as they are shown; none in binary data
};

}  // namespace redquel::executor
