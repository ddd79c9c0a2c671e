#include "sql/memory_account.h"

#include <gtest/gtest.h>

#include <vector>

namespace redquel::sql {
namespace {

constexpr MemoryLimits kLimits = {.process = 6400, .session = 6000, .clients = 400};

TEST(MemoryAccount, ClientsAreBoundedBySessionAndTogether) {
  ProcessMemory all(kLimits);
  SessionMemory first(all), second(all);
  {
    HeldBytes held(first, 60);
    EXPECT_THROW(HeldBytes(first, 41), SqlError);
    held.resize(100);
    EXPECT_THROW(held.resize(101), SqlError);
    EXPECT_EQ(held.bytes(), 100u);
    HeldBytes moved = std::move(held);
    EXPECT_EQ(all.used(MemoryPart::kClients), 100u);
    moved.resize(10);
    EXPECT_EQ(first.used(), 10u);
  }
  EXPECT_EQ(all.used(), 0u);
  ASSERT_TRUE(all.take(MemoryPart::kClients, 350));  // of other sessions
  EXPECT_THROW(HeldBytes(second, 60), SqlError);
  EXPECT_EQ(all.used(), 350u);
  EXPECT_NO_THROW(HeldBytes(second, 50));
}

TEST(MemoryAccount, OneSessionIsBounded) {
  ProcessMemory all(kLimits);
  SessionMemory session(all);
  HeldBytes held(session, 6000, MemoryPart::kStatements);
  EXPECT_FALSE(held.try_resize(6001));
  EXPECT_EQ(held.bytes(), 6000u);
  EXPECT_TRUE(held.try_resize(100));
  EXPECT_EQ(all.used(MemoryPart::kStatements), 100u);
  try {
    held.resize(7000);
    ADD_FAILURE();
  } catch (const SqlError& error) {
    EXPECT_EQ(error.sqlstate(), "53200");
    EXPECT_EQ(error.message(), "out of memory");
  }
}

TEST(MemoryAccount, SmallSessionsOverdrawWhenTheProcessIsFull) {
  ProcessMemory all(kLimits);
  SessionMemory large(all), small(all);
  HeldBytes held(large, 6000, MemoryPart::kStatements);
  ASSERT_TRUE(all.take(MemoryPart::kStatements, 400));
  EXPECT_TRUE(all.is_full());
  EXPECT_THROW(HeldBytes(large, 1, MemoryPart::kStatements), SqlError);
  EXPECT_NO_THROW(HeldBytes(small, 25, MemoryPart::kStatements));  // a 256th of the limit
  EXPECT_THROW(HeldBytes(small, 26, MemoryPart::kStatements), SqlError);
}

TEST(MemoryAccount, MemoryBeyondTheAccountCounts) {
  ProcessMemory all(kLimits);
  SessionMemory session(all);
  HeldBytes held(session, 1000, MemoryPart::kStatements);
  all.note_measured(5000);
  EXPECT_EQ(all.unaccounted(), 4000u);
  EXPECT_THROW(held.resize(2401), SqlError);
  EXPECT_NO_THROW(held.resize(2400));
  all.note_measured(2000);
  EXPECT_EQ(all.unaccounted(), 0u);
}

TEST(MemoryAccount, MeasurementsCountBlocksThatAreAboutToBeAllocated) {
  ProcessMemory all(kLimits);
  SessionMemory session(all);
  HeldBytes held(session, 1000, MemoryPart::kStatements);
  {
    const PendingBytes block(all, 1000);
    all.note_measured(3000);
    EXPECT_EQ(all.unaccounted(), 3000u);
  }
  all.note_measured(4000);
  EXPECT_EQ(all.unaccounted(), 3000u);
}

TEST(MemoryAccount, TheLargestSessionEnds) {
  ProcessMemory all(kLimits);
  SessionMemory large(all), small(all);
  HeldBytes some(small, 1000, MemoryPart::kStatements), more(large, 5000, MemoryPart::kStatements);
  all.end_largest();
  EXPECT_TRUE(large.must_end());
  EXPECT_FALSE(small.must_end());
  EXPECT_FALSE(more.try_resize(5001));
  large.clear_end();
  EXPECT_TRUE(more.try_resize(5001));
}

/// A cache that gives back what is asked of it, as far as it has it.
class Cache final : public MemoryReserve {
 public:
  explicit Cache(std::size_t bytes) : bytes_(bytes) {}
  void shrink(std::size_t bytes) override { bytes_ -= std::min(bytes, bytes_); }
  std::size_t bytes() const override { return bytes_; }
  void set_room(std::size_t bytes) override { room_ = bytes; }
  std::size_t room() const { return room_; }

 private:
  std::size_t bytes_, room_ = 0;
};

TEST(MemoryAccount, TheReserveShrinksBeforeSessionsFail) {
  ProcessMemory all(kLimits);
  SessionMemory session(all);
  Cache cache(6000);
  all.set_reserve(&cache);
  HeldBytes held(session, 4000, MemoryPart::kStatements);
  EXPECT_EQ(cache.bytes(), 2400u);
  EXPECT_EQ(all.used(MemoryPart::kCache), 2400u);
  held.resize(6000);
  EXPECT_EQ(cache.bytes(), 400u);
  held.resize(1000);
  all.note_measured(2000);  // 600 more than is accounted
  EXPECT_EQ(cache.room(), kLimits.process - 2000);
  all.note_measured(kLimits.process + 100);
  EXPECT_EQ(cache.bytes(), 300u);
  EXPECT_EQ(cache.room(), 0u);
  all.set_reserve(nullptr);
  EXPECT_EQ(all.used(), 1000u);
}

}  // namespace
}  // namespace redquel::sql
