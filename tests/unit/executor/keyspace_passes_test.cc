#include "executor/redis/keyspace_passes.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace redquel::executor {
namespace {

using Walk = KeyspacePasses::Walk;

/// Redis's hash table, and SCAN over it: bucket after bucket in the order of their reversed bits.
class Keyspace {
 public:
  explicit Keyspace(int keys) : keys_(keys) {}

  void grow() { ++bits_; }
  std::string name(int number) const { return (number % 2 == 0 ? "even:" : "odd:") + std::to_string(number); }

  /// Looks at some buckets; returns the next cursor.
  std::string scan(const KeyspacePasses::Step& step, int buckets, std::vector<std::string>& keys) {
    ++scans;
    std::uint64_t cursor = std::stoull(step.cursor);
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    const std::string beginning = step.pattern.substr(0, step.pattern.find('*'));
    do {
      for (int number = 0; number < keys_; ++number) {
        const bool is_here = (std::hash<int>()(number * 7919) & mask) == (cursor & mask);
        if (is_here && name(number).starts_with(beginning)) keys.push_back(name(number));
      }
      cursor = reversed(reversed(cursor | ~mask) + 1);
    } while (cursor != 0 && --buckets > 0);
    return std::to_string(cursor);
  }

  int scans = 0;

 private:
  static std::uint64_t reversed(std::uint64_t number) {
    std::uint64_t result = 0;
    for (int bit = 0; bit < 64; ++bit) result |= (number >> bit & 1) << (63 - bit);
    return result;
  }

  int keys_, bits_ = 6;
};

/// A statement with its walk and what it has found.
struct Statement {
  std::unique_ptr<Walk> walk;
  std::set<std::string> keys;

  void take() {
    while (auto found = walk->take()) keys.insert(found->keys.begin(), found->keys.end());
  }
  void step(Keyspace& keyspace, int buckets = 4) {
    if (const auto step = walk->begin_step()) {
      std::vector<std::string> keys;
      const std::string cursor = keyspace.scan(*step, buckets, keys);
      walk->end_step(cursor, keys);
    }
    take();
  }
};

TEST(KeyspacePasses, a_walk_that_joins_finds_all_keys) {
  for (int joined_after = 0; joined_after < 16; ++joined_after) {
    Keyspace keyspace(500);
    KeyspacePasses passes;
    Statement first{passes.join({}, {"even:*"}), {}};
    for (int i = 0; i < joined_after; ++i) first.step(keyspace);
    Statement second{passes.join({}, {"*"}), {}};
    while (!first.walk->is_over()) {
      first.step(keyspace);
      second.take();
    }
    EXPECT_EQ(keyspace.scans, 16);
    while (!second.walk->is_over()) second.step(keyspace, 3);
    EXPECT_LE(keyspace.scans, 16 + (4 * joined_after + 2) / 3);
    EXPECT_EQ(first.keys.size(), 250u);
    EXPECT_EQ(second.keys.size(), 500u);
  }
}

TEST(KeyspacePasses, a_table_that_grows_meanwhile_loses_no_key) {
  for (int joined_after = 1; joined_after < 16; ++joined_after) {
    Keyspace keyspace(500);
    KeyspacePasses passes;
    Statement first{passes.join({}, {"*"}), {}};
    for (int i = 0; i < joined_after; ++i) first.step(keyspace);
    Statement second{passes.join({}, {"odd:*"}), {}};
    for (int i = 0; i < 3; ++i) second.step(keyspace);
    keyspace.grow();
    while (!second.walk->is_over()) second.step(keyspace, 5);
    while (!first.walk->is_over()) first.step(keyspace);
    EXPECT_EQ(first.keys.size(), 500u);
    EXPECT_EQ(second.keys.size(), 250u);
  }
}

TEST(KeyspacePasses, a_step_looks_for_the_keys_of_all_walks) {
  KeyspacePasses passes;
  const auto one = passes.join({}, {"bull:a:*", "hash"});
  EXPECT_EQ(one->begin_step()->pattern, "bull:a:*");
  const auto other = passes.join({}, {"bull:b:*", "hash"});  // while the step is on its way
  one->end_step("4", {"bull:a:1"});
  EXPECT_FALSE(other->take());
  EXPECT_TRUE(one->take()->is_typed);
  const auto step = other->begin_step();
  EXPECT_EQ(step->pattern, "bull:*");
  EXPECT_EQ(step->type, "hash");
  EXPECT_FALSE(one->begin_step());
  other->end_step("12", {"bull:a:2", "bull:b:2"});
  EXPECT_EQ(one->take()->keys, std::vector<std::string>{"bull:a:2"});
  EXPECT_EQ(other->take()->keys, std::vector<std::string>{"bull:b:2"});
  const auto strings = passes.join({}, {"*", "string"});
  const auto of_all = one->begin_step();
  EXPECT_EQ(of_all->pattern, "");
  EXPECT_EQ(of_all->type, "");
  one->end_step("2", {"bull:a:3"});
  EXPECT_FALSE(one->take()->is_typed);
}

TEST(KeyspacePasses, the_end_of_a_statement_gives_its_step_to_another_one) {
  KeyspacePasses passes;
  auto cancelled = passes.join({}, {});
  EXPECT_TRUE(cancelled->begin_step());
  const auto other = passes.join({}, {});
  EXPECT_FALSE(other->begin_step());
  cancelled.reset();
  EXPECT_EQ(other->begin_step()->cursor, "0");
  other->end_step("0", {"a"});
  EXPECT_EQ(other->take()->keys, std::vector<std::string>{"a"});
  EXPECT_TRUE(other->is_over());
}

TEST(KeyspacePasses, a_walk_that_lags_goes_on_alone) {
  KeyspacePasses passes;
  const auto slow = passes.join({}, {}), quick = passes.join({}, {});
  const std::vector<std::string> keys(5000, std::string(1000, 'k'));
  for (const char* cursor : {"8", "4", "12"}) {
    EXPECT_TRUE(quick->begin_step());
    quick->end_step(cursor, keys);
    quick->take();
  }
  EXPECT_TRUE(quick->begin_step());
  const auto own = slow->begin_step();
  ASSERT_TRUE(own);
  EXPECT_EQ(own->cursor, "4");
  slow->end_step("0", {});
  while (const auto found = slow->take()) EXPECT_EQ(found->keys.size(), 5000u);
  EXPECT_TRUE(slow->is_over());
}

TEST(KeyspacePasses, cursors_of_another_order_are_not_shared) {
  KeyspacePasses passes;
  const auto first = passes.join({}, {});
  EXPECT_TRUE(first->begin_step());
  first->end_step("8", {"a"});
  const auto second = passes.join({}, {});
  EXPECT_TRUE(first->begin_step());
  first->end_step("16", {"b"});  // before 8 in the order of reversed bits
  const auto again = second->begin_step();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->cursor, "0");
  EXPECT_TRUE(first->begin_step());
  first->end_step("0", {});
  second->end_step("8", {"a"});
  EXPECT_TRUE(second->begin_step());
  second->end_step("16", {"b"});
  EXPECT_FALSE(second->is_over());
  const auto third = passes.join({}, {});
  EXPECT_EQ(third->begin_step()->cursor, "0");
}

TEST(KeyspacePasses, walks_of_other_databases_and_users_are_their_own) {
  KeyspacePasses passes;
  const auto one = passes.join({0, ""}, {}), two = passes.join({1, ""}, {}), three = passes.join({0, "reader"}, {});
  EXPECT_TRUE(one->begin_step());
  EXPECT_TRUE(two->begin_step());
  EXPECT_TRUE(three->begin_step());
}

}  // namespace
}  // namespace redquel::executor
