#include "executor/copy/copy_line_reader.h"

#include "executor/copy/bad_copy_data.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Beyond it a line is not believed.
constexpr std::size_t kLineBytes = std::size_t{256} << 20;

SqlError stray_return(bool csv) {
  if (csv) return bad_copy_data("unquoted carriage return found in data").hint("Use quoted CSV field to represent carriage return.");
  return bad_copy_data("literal carriage return found in data").hint("Use \"\\r\" to represent carriage return.");
}

SqlError stray_newline(bool csv) {
  if (csv) return bad_copy_data("unquoted newline found in data").hint("Use quoted CSV field to represent newline.");
  return bad_copy_data("literal newline found in data").hint("Use \"\\n\" to represent newline.");
}

}  // namespace

void CopyLineReader::append(std::string_view utf8) {
  if (begin_ > 0) {
    data_.erase(0, begin_);
    position_ -= begin_;
    begin_ = 0;
  }
  data_.append(utf8);
  if (data_.size() > kLineBytes) throw SqlError(sqlstate::kProgramLimitExceeded, "a line of COPY data is too long");
}

std::string_view CopyLineReader::take(std::size_t end) {
  const std::string_view line = std::string_view(data_).substr(begin_, end - begin_);
  begin_ = position_;
  line_begun_ = in_quote_ = last_was_escape_ = false;
  return line;
}

std::optional<std::string_view> CopyLineReader::next() {
  if (at_end_) return std::nullopt;
  if (!line_begun_) {
    line_begun_ = true;
    ++line_number_;
  }
  const bool csv = options_.is_csv();
  while (position_ < data_.size()) {
    const char c = data_[position_];
    Step step = Step::kGoOn;
    if (csv) {
      const bool may_look_ahead = c == '\\' || c == '\r';
      if (may_look_ahead && position_ + 1 == data_.size() && !ended_) return std::nullopt;
      // If quote and escape differ, an escape counts only inside quotes and before a quote; otherwise a quote just toggles.
      const bool is_escape = c == options_.escape && options_.escape != options_.quote;
      if (in_quote_ && is_escape) last_was_escape_ = !last_was_escape_;
      if (c == options_.quote && !last_was_escape_) in_quote_ = !in_quote_;
      if (!is_escape) last_was_escape_ = false;
      if (in_quote_ && c == (end_of_line_ == EndOfLine::kNewline ? '\n' : '\r')) ++line_number_;
    }
    if (c == '\r' && !in_quote_) {
      step = scan_return();
    } else if (c == '\n' && !in_quote_) {
      step = scan_newline();
    } else if (c == '\\' && (!csv || position_ == begin_)) {
      step = scan_backslash();
    } else {
      ++position_;
    }
    switch (step) {
      case Step::kGoOn:
        break;
      case Step::kNeedMore:
        return std::nullopt;
      case Step::kLine:
        return take(line_end_);
      case Step::kMarker:
        at_end_ = true;
        if (line_end_ == begin_) return std::nullopt;
        return take(line_end_);
    }
  }
  if (!ended_) return std::nullopt;
  at_end_ = true;
  if (begin_ == position_) return std::nullopt;
  return take(position_);
}

CopyLineReader::Step CopyLineReader::scan_return() {
  if (end_of_line_ == EndOfLine::kNewline) throw stray_return(options_.is_csv());
  line_end_ = position_;
  if (end_of_line_ == EndOfLine::kReturn) {
    ++position_;
    return Step::kLine;
  }
  if (position_ + 1 == data_.size() && !ended_) return Step::kNeedMore;
  if (position_ + 1 < data_.size() && data_[position_ + 1] == '\n') {
    end_of_line_ = EndOfLine::kReturnNewline;
    position_ += 2;
    return Step::kLine;
  }
  if (end_of_line_ == EndOfLine::kReturnNewline) throw stray_return(options_.is_csv());
  end_of_line_ = EndOfLine::kReturn;
  ++position_;
  return Step::kLine;
}

CopyLineReader::Step CopyLineReader::scan_newline() {
  if (end_of_line_ == EndOfLine::kReturn || end_of_line_ == EndOfLine::kReturnNewline) throw stray_newline(options_.is_csv());
  end_of_line_ = EndOfLine::kNewline;
  line_end_ = position_;
  ++position_;
  return Step::kLine;
}

/// An escaped byte, which ends no line; or `\.`, which ends the data.
CopyLineReader::Step CopyLineReader::scan_backslash() {
  const bool csv = options_.is_csv();
  const auto wait_for = [&](std::size_t bytes) { return position_ + bytes > data_.size() && !ended_; };
  if (wait_for(2)) return Step::kNeedMore;
  if (position_ + 1 == data_.size()) {
    ++position_;
    return Step::kGoOn;
  }
  if (data_[position_ + 1] != '.') {
    // In text format the next byte is always data.
    position_ += csv ? 1 : 2;
    return Step::kGoOn;
  }
  const auto byte_at = [&](std::size_t offset) { return position_ + offset < data_.size() ? data_[position_ + offset] : '\0'; };
  const bool two_bytes = end_of_line_ == EndOfLine::kReturnNewline;
  if (wait_for(two_bytes ? 4 : 3)) return Step::kNeedMore;
  if (two_bytes && byte_at(2) != '\r') {
    if (csv) {
      ++position_;
      return Step::kGoOn;
    }
    throw bad_copy_data(byte_at(2) == '\n' ? "end-of-copy marker does not match previous newline style" : "end-of-copy marker corrupt");
  }
  const char last = byte_at(two_bytes ? 3 : 2);
  if (last != '\r' && last != '\n') {
    if (csv) {
      ++position_;
      return Step::kGoOn;
    }
    throw bad_copy_data("end-of-copy marker corrupt");
  }
  const char wanted = end_of_line_ == EndOfLine::kReturn ? '\r' : '\n';
  if (end_of_line_ != EndOfLine::kUnknown && last != wanted) {
    throw bad_copy_data("end-of-copy marker does not match previous newline style");
  }
  line_end_ = position_;
  position_ = data_.size();
  return Step::kMarker;
}

}  // namespace redquel::executor
