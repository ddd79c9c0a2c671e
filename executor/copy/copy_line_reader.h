#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "planner/copy_options.h"

namespace redquel::executor {

/// Cuts text and CSV data into lines, as PostgreSQL's CopyReadLineText does. Sans-I/O: data are appended as they come.
class CopyLineReader {
 public:
  explicit CopyLineReader(const planner::CopyOptions& options) : options_(options) {}

  /// Ends the life of the last line.
  void append(std::string_view utf8);
  /// No data follow.
  void end() { ended_ = true; }

  /// The next line without its end. nullopt: more data are needed, or (`at_end`) there is none. Throws 22P04 where ends of lines
  /// differ or the end marker is damaged.
  std::optional<std::string_view> next();
  bool at_end() const { return at_end_; }
  /// The number of the line that `next` returned or was about to return, from 1.
  std::uint64_t line_number() const { return line_number_; }

 private:
  enum class EndOfLine : std::uint8_t { kUnknown, kNewline, kReturn, kReturnNewline };
  enum class Step : std::uint8_t { kGoOn, kLine, kNeedMore, kMarker };
  Step scan_return();
  Step scan_newline();
  Step scan_backslash();
  std::string_view take(std::size_t end);

  const planner::CopyOptions& options_;
  std::string data_;
  std::size_t begin_ = 0, position_ = 0;  // of the line, of the next byte to look at
  std::size_t line_end_ = 0;
  bool in_quote_ = false, last_was_escape_ = false, line_begun_ = false;
  bool ended_ = false, at_end_ = false;
  EndOfLine end_of_line_ = EndOfLine::kUnknown;
  std::uint64_t line_number_ = 0;
};

/// One value of a line.
struct CopyField {
  std::string_view text;  // with escapes resolved
  bool is_null = false;   // written as the NULL text
};

/// The values of a line; they view into the line or into `scratch`. Throws 22P04 for a quote that does not end, 22021 for bytes
/// that escapes have made.
void split_text_line(std::string_view line, const planner::CopyOptions& options, std::string& scratch,
                     std::vector<CopyField>& fields);
void split_csv_line(std::string_view line, const planner::CopyOptions& options, std::string& scratch,
                    std::vector<CopyField>& fields);

}  // namespace redquel::executor
