#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::executor {

/// A command of Redis's replication stream. The words live until the parser is fed again.
struct StreamCommand {
  std::uint64_t start = 0, end = 0;  // offsets before and behind it
  std::span<const std::string_view> words;
};

/// Splits the replication stream of Redis into commands with their exact offsets. Sans I/O.
class StreamParser {
 public:
  /// A stream with more than that is broken or hostile.
  struct Limits {
    std::size_t words = std::size_t{1} << 20;             // of a command
    std::size_t word_bytes = std::size_t{512} << 20;
    std::size_t command_bytes = std::size_t{1} << 30;
  };

  StreamParser() = default;
  /// `offset`: before the first byte.
  explicit StreamParser(std::uint64_t offset) : offset_(offset) {}
  StreamParser(std::uint64_t offset, Limits limits) : limits_(limits), offset_(offset) {}

  /// Takes bytes of the stream; ask `next` until it says no before more is fed.
  void feed(std::string_view bytes);
  /// Sets the next command. False: more bytes are needed. Throws ProtocolError; the parser is then of no further use.
  bool next(StreamCommand& command);
  /// The offset behind the last command.
  std::uint64_t offset() const { return offset_; }

 private:
  struct Piece {
    std::size_t begin, size;  // in the buffer
  };

  /// Reads a header line such as `*3` at the position. False: it is not complete.
  bool read_header(char type, std::size_t most, std::size_t& number);
  void skip_newlines();

  Limits limits_;
  std::string buffer_;
  std::size_t begin_ = 0;     // of the command that is being read
  std::size_t position_ = 0;  // of its next byte
  std::uint64_t offset_ = 0;  // of begin_
  bool has_count_ = false;
  std::size_t count_ = 0;  // words of the command
  bool has_size_ = false;
  std::size_t size_ = 0;  // bytes of the next word
  std::vector<Piece> pieces_;
  std::vector<std::string_view> words_;
};

}  // namespace redquel::executor
