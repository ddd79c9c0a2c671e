#pragma once

#include <cstdint>

namespace redquel::sql {

/// PostgreSQL's generator (xoroshiro128**), so that setseed() gives the same sequence.
class RandomGenerator {
 public:
  /// Seeded from the system.
  RandomGenerator();
  /// setseed(): from -1 to 1.
  void seed(double value);
  /// At least 0, less than 1.
  double next_double();

 private:
  std::uint64_t next();
  void seed_words(std::uint64_t seed);

  std::uint64_t state_[2] = {};
};

/// Unpredictable bytes, for gen_random_uuid().
void fill_random(unsigned char* bytes, std::size_t size);

}  // namespace redquel::sql
