#include "executor/copy/copy_input.h"

#include <fmt/format.h>

#include "sql/types/byte_text.h"

namespace redquel::executor {

namespace {

/// More rows than can be on their way to Redis when one of them turns out to be wrong.
constexpr std::size_t kKnownLines = 65536;
constexpr std::size_t kShownBytes = 100;

std::string shown(std::string_view text) {
  if (text.size() <= kShownBytes) return std::string(text);
  std::size_t end = kShownBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

}  // namespace

void CopyInput::add_row(std::uint64_t line, std::optional<std::string_view> text) {
  lines_.push_back(line);
  if (lines_.size() > kKnownLines) {
    lines_.pop_front();
    ++first_;
  }
  texts_.push_back(text ? std::optional(shown(*text)) : std::nullopt);
}

void CopyInput::keep_rows_of_batch(const std::vector<std::uint32_t>& kept) {
  const std::size_t count = texts_.size();
  std::vector<std::uint64_t> lines(lines_.end() - static_cast<std::ptrdiff_t>(count), lines_.end());
  std::vector<std::optional<std::string>> texts = std::move(texts_);
  texts_.clear();
  lines_.resize(lines_.size() - count);
  for (const std::uint32_t row : kept) {
    lines_.push_back(lines[row]);
    texts_.push_back(std::move(texts[row]));
  }
}

std::string CopyInput::context_of_row(std::size_t row) const {
  if (row < first_ || row - first_ >= lines_.size()) return fmt::format("COPY {}", relation);
  const std::size_t index = row - first_, batch_begin = lines_.size() - texts_.size();
  if (index < batch_begin || !texts_[index - batch_begin]) return context_of_line(lines_[index]);
  return fmt::format("COPY {}, line {}: \"{}\"", relation, lines_[index], *texts_[index - batch_begin]);
}

std::string CopyInput::context_of_stored_row(std::size_t row) const {
  if (row < first_ || row - first_ >= lines_.size()) return fmt::format("COPY {}", relation);
  return context_of_line(lines_[row - first_]);
}

std::string CopyInput::context_of_line(std::uint64_t line, std::string_view text) const {
  return fmt::format("COPY {}, line {}: \"{}\"", relation, line, shown(text));
}

std::string CopyInput::context_of_line(std::uint64_t line) const { return fmt::format("COPY {}, line {}", relation, line); }

std::string CopyInput::context_of_value(std::uint64_t line, std::string_view column, std::string_view value) const {
  return fmt::format("COPY {}, line {}, column {}: \"{}\"", relation, line, column, shown(value));
}

std::string CopyInput::context_of_column(std::uint64_t line, std::string_view column) const {
  return fmt::format("COPY {}, line {}, column {}", relation, line, column);
}

}  // namespace redquel::executor
