#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "executor/copy/copy_channel.h"
#include "sql/progress.h"
#include "planner/copy_options.h"
#include "sql/column.h"
#include "sql/session_settings.h"

namespace redquel::executor {

/// Turns rows into COPY data: text, CSV or binary, as PostgreSQL's CopyOneRowTo writes them.
class CopyWriter {
 public:
  CopyWriter(const planner::CopyOptions& options, std::vector<std::string> names, const sql::SessionSettings& settings,
             CopyChannel& channel, sql::ProgressReport& progress);

  /// Writes the text before the first row.
  void begin();
  /// `columns`: of the batch, object names in place of oids for text.
  void write_row(const std::vector<sql::ColumnPtr>& columns, std::size_t row);
  /// Writes the text after the last row.
  void end();

 private:
  void append_text(std::string_view value);
  void append_csv(std::string_view value, bool force_quote);
  void append_binary(const sql::Column& column, std::size_t row);
  void send();

  const planner::CopyOptions& options_;
  std::vector<std::string> names_;
  const sql::SessionSettings& settings_;
  CopyChannel& channel_;
  sql::ProgressReport& progress_;
  std::vector<bool> force_quote_;
  std::array<bool, 256> special_{};  // bytes that text format escapes, or that CSV quotes a value for
  std::string line_, value_, converted_;
};

}  // namespace redquel::executor
