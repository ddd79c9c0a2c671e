#include "executor/replication/stream_parser.h"

#include <charconv>

#include "executor/redis/resp_codec.h"

namespace redquel::executor {

namespace {

/// A header has a type, a number and a line's end.
constexpr std::size_t kMostHeaderBytes = 16;
constexpr std::size_t kMostUsedBytes = std::size_t{1} << 16;  // that stay in front of the buffer

}  // namespace

void StreamParser::feed(std::string_view bytes) {
  if (begin_ == buffer_.size() || begin_ > kMostUsedBytes) {
    buffer_.erase(0, begin_);
    position_ -= begin_;
    for (Piece& piece : pieces_) piece.begin -= begin_;
    begin_ = 0;
  }
  buffer_.append(bytes);
}

void StreamParser::skip_newlines() {
  // Signs of life between commands, which no offset counts.
  while (begin_ < buffer_.size() && buffer_[begin_] == '\n') ++begin_;
  position_ = begin_;
}

bool StreamParser::read_header(char type, std::size_t most, std::size_t& number) {
  if (position_ == buffer_.size()) return false;
  if (buffer_[position_] != type) throw ProtocolError("the replication stream of Redis has a byte that begins no command");
  const std::size_t end = buffer_.find("\r\n", position_);
  if (end == std::string::npos || end - position_ > kMostHeaderBytes) {
    if (buffer_.size() - position_ > kMostHeaderBytes) throw ProtocolError("the replication stream of Redis has a header that is too long");
    return false;
  }
  const char* const first = buffer_.data() + position_ + 1;
  const char* const last = buffer_.data() + end;
  const auto [stop, failure] = std::from_chars(first, last, number);
  if (failure != std::errc() || stop != last || number > most) throw ProtocolError("the replication stream of Redis has a length out of bounds");
  position_ = end + 2;
  return true;
}

bool StreamParser::next(StreamCommand& command) {
  if (!has_count_) {
    skip_newlines();
    if (!read_header('*', limits_.words, count_)) return false;
    if (count_ == 0) throw ProtocolError("the replication stream of Redis has an empty command");
    has_count_ = true;
    pieces_.clear();
  }
  while (pieces_.size() < count_) {
    if (!has_size_) {
      if (!read_header('$', limits_.word_bytes, size_)) return false;
      has_size_ = true;
    }
    if (position_ - begin_ + size_ > limits_.command_bytes) throw ProtocolError("the replication stream of Redis has a command that is too long");
    if (buffer_.size() - position_ < size_ + 2) return false;
    if (buffer_.compare(position_ + size_, 2, "\r\n") != 0) throw ProtocolError("the replication stream of Redis has a word without an end");
    pieces_.push_back({position_, size_});
    position_ += size_ + 2;
    has_size_ = false;
  }
  has_count_ = false;
  words_.clear();
  for (const Piece& piece : pieces_) words_.push_back(std::string_view(buffer_).substr(piece.begin, piece.size));
  command.start = offset_;
  offset_ += position_ - begin_;
  command.end = offset_;
  command.words = words_;
  begin_ = position_;
  pieces_.clear();
  return true;
}

}  // namespace redquel::executor
