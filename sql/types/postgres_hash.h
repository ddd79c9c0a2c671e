#pragma once

#include <cstdint>
#include <string_view>

namespace redquel::sql {

// Bob Jenkins' lookup3 over the bytes that PostgreSQL has in memory. The lower half is the hash of 32 bits where the seed is 0.

/// `extended`: the caller is a function with a seed, as errors say.
struct HashSeed {
  std::uint64_t value = 0;
  bool extended = false;
};

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed);
std::uint64_t hash_word(std::uint32_t word, std::uint64_t seed);
/// Equal numbers of int8 and int4 have equal hashes.
std::uint64_t hash_long(std::int64_t value, std::uint64_t seed);
std::uint64_t hash_double(double value, std::uint64_t seed);

/// Returns the hash of the parts before, combined with the hash of the next part.
inline std::uint64_t mixed_hash(std::uint64_t before, std::uint64_t part) { return before * 31 + part; }
/// Rotates each half by one bit to the left: the lower half is the hash of 32 bits.
std::uint64_t rotated_hash(std::uint64_t hash);

}  // namespace redquel::sql
