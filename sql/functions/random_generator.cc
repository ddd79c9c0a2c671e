#include "sql/functions/random_generator.h"

#include <openssl/rand.h>

#include <bit>
#include <cmath>
#include <cstddef>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {

void fill_random(unsigned char* bytes, std::size_t size) {
  if (RAND_bytes(bytes, static_cast<int>(size)) != 1) throw SqlError(sqlstate::kInternalError, "could not generate random values");
}

RandomGenerator::RandomGenerator() {
  std::uint64_t seed = 0;
  fill_random(reinterpret_cast<unsigned char*>(&seed), sizeof seed);
  seed_words(seed);
}

void RandomGenerator::seed_words(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9E3779B97f4A7C15ULL;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
    word = mixed ^ (mixed >> 31);
  }
}

void RandomGenerator::seed(double value) {
  constexpr auto kMantissa = static_cast<double>((std::uint64_t{1} << 52) - 1);
  seed_words(static_cast<std::uint64_t>(static_cast<std::int64_t>(kMantissa * value)));
}

std::uint64_t RandomGenerator::next() {
  const std::uint64_t first = state_[0];
  const std::uint64_t mixed = state_[1] ^ first;
  const std::uint64_t value = std::rotl(first * 5, 7) * 9;
  state_[0] = std::rotl(first, 24) ^ mixed ^ (mixed << 16);
  state_[1] = std::rotl(mixed, 37);
  return value;
}

double RandomGenerator::next_double() { return std::ldexp(static_cast<double>(next() >> 12), -52); }

}  // namespace redquel::sql
