#include "sql/types/postgres_hash.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace redquel::sql {
namespace {

/// lookup3's three words.
class HashMixer {
 public:
  HashMixer(std::size_t length, std::uint64_t seed) {
    a_ = b_ = c_ = 0x9e3779b9U + static_cast<std::uint32_t>(length) + 3923095U;
    if (seed == 0) return;
    a_ += static_cast<std::uint32_t>(seed >> 32);
    b_ += static_cast<std::uint32_t>(seed);
    mix();
  }

  void add_word(std::uint32_t word) { a_ += word; }
  void add_bytes(std::string_view bytes) {
    for (; bytes.size() >= 12; bytes.remove_prefix(12), mix()) {
      a_ += word_at(bytes, 0);
      b_ += word_at(bytes, 4);
      c_ += word_at(bytes, 8);
    }
    // The lowest byte of c is left out: the length is there.
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::uint32_t byte = static_cast<unsigned char>(bytes[i]);
      if (i < 4) a_ += byte << (8 * i);
      else if (i < 8) b_ += byte << (8 * (i - 4));
      else c_ += byte << (8 * (i - 7));
    }
  }

  std::uint64_t finish() {
    const auto step = [](std::uint32_t& x, std::uint32_t y, int bits) { x = (x ^ y) - std::rotl(y, bits); };
    step(c_, b_, 14);
    step(a_, c_, 11);
    step(b_, a_, 25);
    step(c_, b_, 16);
    step(a_, c_, 4);
    step(b_, a_, 14);
    step(c_, b_, 24);
    return std::uint64_t{b_} << 32 | c_;
  }

 private:
  static std::uint32_t word_at(std::string_view bytes, std::size_t at) {
    std::uint32_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
  }
  void mix() {
    const auto step = [](std::uint32_t& x, std::uint32_t& y, std::uint32_t z, int bits) {
      x = (x - y) ^ std::rotl(y, bits);
      y += z;
    };
    step(a_, c_, b_, 4);
    step(b_, a_, c_, 6);
    step(c_, b_, a_, 8);
    step(a_, c_, b_, 16);
    step(b_, a_, c_, 19);
    step(c_, b_, a_, 4);
  }

  std::uint32_t a_, b_, c_;
};

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  HashMixer mixer(bytes.size(), seed);
  mixer.add_bytes(bytes);
  return mixer.finish();
}
std::uint64_t hash_word(std::uint32_t word, std::uint64_t seed) {
  HashMixer mixer(sizeof word, seed);
  mixer.add_word(word);
  return mixer.finish();
}
std::uint64_t hash_long(std::int64_t value, std::uint64_t seed) {
  const auto low = static_cast<std::uint32_t>(value), high = static_cast<std::uint32_t>(static_cast<std::uint64_t>(value) >> 32);
  return hash_word(low ^ (value >= 0 ? high : ~high), seed);
}
std::uint64_t hash_double(double value, std::uint64_t seed) {
  if (value == 0) return seed;
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  return hash_bytes({reinterpret_cast<const char*>(&value), sizeof value}, seed);
}

std::uint64_t rotated_hash(std::uint64_t hash) {
  const auto high = static_cast<std::uint32_t>(hash >> 32), low = static_cast<std::uint32_t>(hash);
  return std::uint64_t{std::rotl(high, 1)} << 32 | std::rotl(low, 1);
}

}  // namespace redquel::sql
