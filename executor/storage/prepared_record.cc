#include "executor/storage/prepared_record.h"

#include <array>
#include <cstddef>

namespace redquel::executor {

namespace {

// MessagePack: https://github.com/msgpack/msgpack/blob/master/spec.md

void append_big_endian(std::string& packed, std::size_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) packed += static_cast<char>(number >> shift & 0xff);
}

/// Appends the head of an array or text; `marks`: of the forms with 8, 16 and 32 bits of length (0: there is none).
void append_head(std::string& packed, std::size_t size, unsigned char fixed, std::size_t most_fixed, std::array<unsigned char, 3> marks) {
  if (size <= most_fixed) {
    packed += static_cast<char>(fixed | size);
  } else if (marks[0] != 0 && size <= 0xff) {
    packed += static_cast<char>(marks[0]);
    append_big_endian(packed, size, 1);
  } else if (size <= 0xffff) {
    packed += static_cast<char>(marks[1]);
    append_big_endian(packed, size, 2);
  } else {
    packed += static_cast<char>(marks[2]);
    append_big_endian(packed, size, 4);
  }
}

}  // namespace

std::string packed_words(std::span<const std::string_view> words) {
  std::string packed;
  std::size_t bytes = 5;
  for (const std::string_view word : words) bytes += word.size() + 5;
  packed.reserve(bytes);
  append_head(packed, words.size(), 0x90, 15, {0, 0xdc, 0xdd});
  for (const std::string_view word : words) {
    append_head(packed, word.size(), 0xa0, 31, {0xd9, 0xda, 0xdb});
    packed.append(word);
  }
  return packed;
}

}  // namespace redquel::executor
