#include "executor/copy/copy_writer.h"

#include <algorithm>

#include "sql/types/binary_io.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

void append_big_endian(std::string& out, std::uint32_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out.push_back(static_cast<char>(value >> shift));
}

/// The letter behind the backslash; 0: the byte itself.
char escape_letter(char c) {
  switch (c) {
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    default:
      return 0;
  }
}

}  // namespace

CopyWriter::CopyWriter(const planner::CopyOptions& options, std::vector<std::string> names,
                       const sql::SessionSettings& settings, CopyChannel& channel, sql::ProgressReport& progress)
    : options_(options), names_(std::move(names)), settings_(settings), channel_(channel), progress_(progress) {
  for (const std::string& name : names_) {
    const auto& list = options_.force_quote;
    force_quote_.push_back(list && (list->all || std::ranges::find(list->names, name) != list->names.end()));
  }
  const auto mark = [&](char c) { special_[static_cast<unsigned char>(c)] = true; };
  for (const char c : options_.is_csv() ? std::string_view("\n\r") : std::string_view("\b\f\n\r\t\v\\")) mark(c);
  mark(options_.delimiter);
  if (options_.is_csv()) mark(options_.quote);
}

void CopyWriter::send() {
  sql::EncodingConverter* client = channel_.converter();
  if (client == nullptr || options_.is_binary()) {
    channel_.write(line_);
    progress_.add_bytes(line_.size());
  } else {
    converted_.clear();
    client->append_for_client(line_, converted_);
    channel_.write(converted_);
    progress_.add_bytes(converted_.size());
  }
  line_.clear();
}

void CopyWriter::begin() {
  if (options_.is_binary()) {
    // Leaves together with the first row, as PostgreSQL sends it.
    line_.append("PGCOPY\n\377\r\n\0", 11);
    line_.append(8, '\0');
    return;
  }
  if (options_.header == planner::CopyOptions::Header::kNone) return;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (i > 0) line_.push_back(options_.delimiter);
    options_.is_csv() ? append_csv(names_[i], false) : append_text(names_[i]);
  }
  line_.push_back('\n');
  send();
}

void CopyWriter::write_row(const std::vector<sql::ColumnPtr>& columns, std::size_t row) {
  if (options_.is_binary()) append_big_endian(line_, static_cast<std::uint32_t>(columns.size()), 2);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const sql::Column& column = *columns[i];
    if (options_.is_binary()) {
      append_binary(column, row);
      continue;
    }
    if (i > 0) line_.push_back(options_.delimiter);
    if (column.is_null(row)) {
      line_.append(options_.null_text);
      continue;
    }
    value_.clear();
    sql::format_value(column, row, settings_, value_);
    options_.is_csv() ? append_csv(value_, force_quote_[i]) : append_text(value_);
  }
  if (!options_.is_binary()) line_.push_back('\n');
  send();
}

void CopyWriter::end() {
  if (!options_.is_binary()) return;
  append_big_endian(line_, 0xffff, 2);
  send();
}

void CopyWriter::append_text(std::string_view value) {
  std::size_t copied = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!special_[static_cast<unsigned char>(value[i])]) continue;
    line_.append(value.substr(copied, i - copied));
    line_.push_back('\\');
    const char letter = escape_letter(value[i]);
    line_.push_back(letter != 0 ? letter : value[i]);
    copied = i + 1;
  }
  line_.append(value.substr(copied));
}

void CopyWriter::append_csv(std::string_view value, bool force_quote) {
  bool quote = force_quote || value == options_.null_text;
  if (names_.size() == 1 && value == "\\.") quote = true;  // would be read as the end of the data
  quote = quote || std::ranges::any_of(value, [&](char c) { return special_[static_cast<unsigned char>(c)]; });
  if (!quote) {
    line_.append(value);
    return;
  }
  line_.push_back(options_.quote);
  for (const char c : value) {
    if (c == options_.quote || c == options_.escape) line_.push_back(options_.escape);
    line_.push_back(c);
  }
  line_.push_back(options_.quote);
}

void CopyWriter::append_binary(const sql::Column& column, std::size_t row) {
  if (column.is_null(row)) return append_big_endian(line_, 0xffffffff, 4);
  value_.clear();
  sql::encode_binary(column, row, value_, channel_.converter());
  append_big_endian(line_, static_cast<std::uint32_t>(value_.size()), 4);
  line_.append(value_);
}

}  // namespace redquel::executor
