#include "executor/copy/copy_line_reader.h"
#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::executor {

namespace {

bool is_octal(char c) { return c >= '0' && c <= '7'; }

/// The byte that a backslash sequence means; `at` is behind the backslash and moves over the sequence.
char unescape(std::string_view line, std::size_t& at, bool& numeric) {
  const char c = line[at++];
  if (is_octal(c)) {
    int value = c - '0';
    for (int digits = 1; digits < 3 && at < line.size() && is_octal(line[at]); ++digits) value = value * 8 + (line[at++] - '0');
    numeric = true;
    return static_cast<char>(value & 0377);
  }
  switch (c) {
    case 'x': {
      if (at == line.size() || sql::hex_value(line[at]) < 0) return c;
      int value = sql::hex_value(line[at++]);
      if (at < line.size() && sql::hex_value(line[at]) >= 0) value = value * 16 + sql::hex_value(line[at++]);
      numeric = true;
      return static_cast<char>(value & 0xff);
    }
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'v':
      return '\v';
    default:
      return c;
  }
}

}  // namespace

void split_text_line(std::string_view line, const planner::CopyOptions& options, std::string& scratch,
                     std::vector<CopyField>& fields) {
  fields.clear();
  scratch.clear();
  scratch.reserve(line.size());  // views into it stay
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = at, first = scratch.size();
    std::size_t end = line.size(), copied = at;
    bool numeric = false, last = true;
    while (true) {
      std::size_t stop = at;
      while (stop < line.size() && line[stop] != options.delimiter && line[stop] != '\\') ++stop;
      if (stop == line.size()) break;
      if (line[stop] == options.delimiter) {
        end = stop;
        at = stop + 1;
        last = false;
        break;
      }
      scratch.append(line.substr(copied, stop - copied));
      at = stop + 1;
      if (at < line.size()) scratch.push_back(unescape(line, at, numeric));
      copied = at;
    }
    CopyField field;
    const std::string_view written = line.substr(begin, end - begin);
    if (copied == begin) {
      field.text = written;
    } else {
      scratch.append(line.substr(copied, end - copied));
      field.text = std::string_view(scratch).substr(first);
    }
    field.is_null = written == options.null_text;
    if (numeric && !field.is_null) sql::check_utf8(field.text);
    fields.push_back(field);
    if (last) return;
  }
}

void split_csv_line(std::string_view line, const planner::CopyOptions& options, std::string& scratch,
                    std::vector<CopyField>& fields) {
  fields.clear();
  scratch.clear();
  scratch.reserve(line.size());
  std::size_t at = 0;
  while (true) {
    const std::size_t begin = at, first = scratch.size();
    bool quoted = false, last = true;
    std::size_t end = line.size();
    while (at < line.size()) {
      const char c = line[at++];
      if (c == options.delimiter) {
        end = at - 1;
        last = false;
        break;
      }
      if (c != options.quote) {
        scratch.push_back(c);
        continue;
      }
      quoted = true;
      while (true) {
        if (at == line.size()) throw sql::SqlError(sqlstate::kBadCopyFileFormat, "unterminated CSV quoted field");
        const char inner = line[at++];
        if (inner == options.escape && at < line.size() && (line[at] == options.escape || line[at] == options.quote)) {
          scratch.push_back(line[at++]);
          continue;
        }
        if (inner == options.quote) break;
        scratch.push_back(inner);
      }
    }
    CopyField field{std::string_view(scratch).substr(first)};
    field.is_null = !quoted && line.substr(begin, end - begin) == options.null_text;
    fields.push_back(field);
    if (last) return;
  }
}

}  // namespace redquel::executor
