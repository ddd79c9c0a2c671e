#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::executor {

/// Cuts binary COPY data (manual, COPY: Binary Format) into rows. Sans-I/O: data are appended as they come.
class CopyBinaryReader {
 public:
  explicit CopyBinaryReader(std::size_t columns) : columns_(columns) {}

  /// Ends the life of the last row.
  void append(std::string_view bytes);
  /// No data follow.
  void end() { ended_ = true; }

  /// The next row's values, nullopt for NULL. False: more data are needed, or (`at_end`) there is no row. Throws 22P04.
  bool next(std::vector<std::optional<std::string_view>>& values);
  bool at_end() const { return at_end_; }
  /// The number of the row that `next` returned or was about to return, from 1; 0 in the header.
  std::uint64_t line_number() const { return line_number_; }
  /// The column at which the last error was found.
  std::optional<std::size_t> failed_column() const { return failed_column_; }

 private:
  bool read_header();

  std::size_t columns_;
  std::string data_;
  std::size_t position_ = 0;
  bool header_read_ = false, row_begun_ = false, ended_ = false, at_end_ = false;
  std::uint64_t line_number_ = 0;
  std::optional<std::size_t> failed_column_;
};

}  // namespace redquel::executor
