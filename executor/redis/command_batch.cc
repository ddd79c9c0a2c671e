#include "executor/redis/command_batch.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
/// Room for one command that reads a row: most batches of short statements are no longer.
constexpr std::size_t kShortBatch = 256;

/// Quotes a word the way redis-cli reads it back, if it has to be.
void append_quoted(std::string& out, std::string_view word) {
  const auto plain = [](unsigned char byte) {
    return byte > ' ' && byte < 0x7F && byte != '"' && byte != '\'' && byte != '\\';
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) {
    out += word;
    return;
  }
  out += '"';
  for (const char character : word) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      out += '\\';
      out += character;
    } else if (character == '\n') {
      out += "\\n";
    } else if (character == '\r') {
      out += "\\r";
    } else if (character == '\t') {
      out += "\\t";
    } else if (byte < ' ' || byte == 0x7F) {
      out += "\\x";
      sql::append_hex_byte(out, byte);
    } else {
      out += character;  // UTF-8 stays readable
    }
  }
  out += '"';
}

/// Reads "<type><number>\r\n" of an encoded batch: our own bytes, known to be well-formed.
std::size_t take_header(std::string_view& bytes) {
  const std::size_t end = bytes.find(kLineEnd);
  std::size_t number = 0;
  std::from_chars(bytes.data() + 1, bytes.data() + end, number);
  bytes.remove_prefix(end + kLineEnd.size());
  return number;
}

void skip_command(std::string_view& bytes) {
  for (std::size_t words = take_header(bytes); words > 0; --words) {
    const std::size_t length = take_header(bytes);
    bytes.remove_prefix(length + kLineEnd.size());
  }
}

/// Redis closes the connection beyond its limits (proto-max-bulk-len, client-query-buffer-limit): 54000 before anything is sent.
void check_limits(std::size_t word_bytes, std::size_t batch_bytes) {
  constexpr std::size_t kMostWordBytes = std::size_t{512} << 20, kMostBatchBytes = (std::size_t{1} << 30) - (std::size_t{1} << 20);
  if (word_bytes > kMostWordBytes) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, fmt::format("a value of {} bytes is too large", word_bytes))
        .detail("Redis holds at most 512 MB in one value.");
  }
  if (word_bytes + batch_bytes > kMostBatchBytes) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, "the values of one Redis command are too large")
        .detail("Redis takes at most 1 GB in one command.");
  }
}

}  // namespace

void CommandNames::append(std::string_view name) {
  Run run{};
  name = name.substr(0, run.name.size());
  if (!runs_.empty() && std::string_view(runs_.back().name.data(), runs_.back().length) == name) {
    ++runs_.back().count;
    return;
  }
  std::copy(name.begin(), name.end(), run.name.begin());
  run.length = static_cast<std::uint8_t>(name.size());
  run.count = 1;
  runs_.push_back(run);
}

void CommandNames::append_all(const CommandNames& others) {
  runs_.insert(runs_.end(), others.runs_.begin(), others.runs_.end());
}

std::string_view CommandNames::operator[](std::size_t index) const {
  for (const Run& run : runs_) {
    if (index < run.count) return {run.name.data(), run.length};
    index -= run.count;
  }
  return "?";
}

void CommandBatch::append_header(char type, std::size_t number) {
  char line[24];
  line[0] = type;
  char* end = std::to_chars(line + 1, line + sizeof line - kLineEnd.size(), number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  bytes_.append(line, static_cast<std::size_t>(end - line));
}

CommandBatch::Encoded CommandBatch::encoded(std::initializer_list<std::string_view> before, const std::vector<std::string>& after) {
  CommandBatch batch;
  batch.begin(before.size() + 1 + after.size());
  for (const std::string_view word : before) batch.arg(word);
  const std::size_t first = batch.bytes_.size();
  for (const std::string& word : after) batch.arg(word);
  return {std::string(*before.begin()), batch.bytes_.substr(0, first), batch.bytes_.substr(first)};
}

CommandBatch& CommandBatch::add(const Encoded& command, std::string_view word) {
  constexpr std::size_t kLengthBytes = 24;
  bytes_.reserve(bytes_.size() + command.bytes() + word.size() + kLengthBytes);
  bytes_ += command.before;
  append_header('$', word.size());
  bytes_.append(word).append("\r\n").append(command.after);
  names_.append(command.name);
  ++count_;
  return *this;
}

CommandBatch& CommandBatch::begin(std::size_t word_count) {
  assert(missing_words_ == 0 && "the command before lacks arguments");
  assert(word_count > 0);
  if (bytes_.empty()) bytes_.reserve(kShortBatch);
  append_header('*', word_count);
  missing_words_ = word_count;
  name_is_next_ = true;
  ++count_;
  return *this;
}

CommandBatch& CommandBatch::arg(std::string_view word) {
  assert(missing_words_ > 0 && "more arguments than begin() announced");
  --missing_words_;
  if (name_is_next_) {
    names_.append(word);
    name_is_next_ = false;
  }
  if (word.size() >= 100) {
    check_limits(word.size(), bytes_.size());
    append_header('$', word.size());
    bytes_ += word;
    bytes_ += kLineEnd;
    return *this;
  }
  // Most are short: in one piece.
  const std::size_t before = bytes_.size(), digits = word.size() < 10 ? 1 : 2;
  bytes_.resize(before + 1 + digits + kLineEnd.size() + word.size() + kLineEnd.size());
  char* out = bytes_.data() + before;
  *out++ = '$';
  if (digits == 2) *out++ = static_cast<char>('0' + word.size() / 10);
  *out++ = static_cast<char>('0' + word.size() % 10);
  out += kLineEnd.copy(out, kLineEnd.size());
  out += word.copy(out, word.size());
  kLineEnd.copy(out, kLineEnd.size());
  return *this;
}

CommandBatch& CommandBatch::append(std::initializer_list<std::string_view> words) {
  begin(words.size());
  for (const std::string_view word : words) arg(word);
  return *this;
}

CommandBatch& CommandBatch::append_batch(const CommandBatch& other) {
  assert(missing_words_ == 0 && other.missing_words_ == 0);
  bytes_ += other.bytes_;
  count_ += other.count_;
  names_.append_all(other.names_);
  return *this;
}

CommandBatch& CommandBatch::append_commands(const CommandBatch& other, std::span<const std::size_t> indexes) {
  assert(missing_words_ == 0 && other.missing_words_ == 0);
  std::string_view rest = other.bytes_;
  std::size_t current = 0;
  for (const std::size_t index : indexes) {
    for (; current < index; ++current) skip_command(rest);
    const std::string_view start = rest;
    skip_command(rest);
    ++current;
    bytes_ += start.substr(0, start.size() - rest.size());
    names_.append(other.names_[index]);
    ++count_;
  }
  return *this;
}

std::vector<std::string> CommandBatch::texts() const {
  std::vector<std::string> commands;
  commands.reserve(count_);
  std::string_view rest = bytes_;
  while (!rest.empty()) {
    std::string& command = commands.emplace_back();
    for (std::size_t words = take_header(rest); words > 0; --words) {
      const std::size_t length = take_header(rest);
      if (!command.empty()) command += ' ';
      append_quoted(command, rest.substr(0, length));
      rest.remove_prefix(length + kLineEnd.size());
    }
  }
  return commands;
}

}  // namespace redquel::executor
