#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>
#include <vector>

namespace redquel::executor {

/// The commands of an encoded batch (CommandBatch::bytes), one after the other.
class BatchReader {
 public:
  explicit BatchReader(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }
  /// Fills `words` with those of the next command.
  void next(std::vector<std::string_view>& words) {
    words.clear();
    for (std::size_t count = number(); count > 0; --count) {
      const std::size_t size = number();
      words.push_back(rest_.substr(0, size));
      rest_.remove_prefix(size + 2);
    }
  }

 private:
  /// Reads a type, a number and the end of the line.
  std::size_t number() {
    std::size_t value = 0;
    const char* const end = std::from_chars(rest_.data() + 1, rest_.data() + rest_.size(), value).ptr;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()) + 2);
    return value;
  }

  std::string_view rest_;
};

}  // namespace redquel::executor
