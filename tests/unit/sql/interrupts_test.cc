#include "sql/interrupts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sql/allocator.h"
#include "sql/error.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::int32_t kSession = 7;

class Charges : public testing::Test {
 protected:
  Charges() {
    interrupts_.set_memory(&account_);
    set_interrupts(kSession, &interrupts_);
  }
  ~Charges() override { set_interrupts(kSession, nullptr); }

  ProcessMemory process_{{.process = 64 * kMegabyte, .session = 16 * kMegabyte, .clients = kMegabyte}};
  SessionMemory account_{process_};
  Interrupts interrupts_;
};

TEST_F(Charges, AnnouncedResultsAreChargedUntilTheNextEvaluation) {
  {
    const InterruptScope scope(kSession);
    check_allocation(10 * kMegabyte);
    EXPECT_EQ(account_.used(), 10 * kMegabyte);
    EXPECT_THROW(check_allocation(17 * kMegabyte), SqlError);
  }
  EXPECT_EQ(account_.used(), 10 * kMegabyte);
  const InterruptScope next(kSession);
  EXPECT_EQ(account_.used(), 0u);
}

TEST_F(Charges, ScopesOfOtherThreadsChargeTheAccountThatTheyName) {
  const InterruptScope scope(interrupts_);
  const InterruptScope inner(kSession + 1);  // unknown
  check_allocation(5 * kMegabyte);
  EXPECT_EQ(account_.used(), 5 * kMegabyte);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TEST_F(Charges, LargeBlocksAreChargedBeforeTheyAreAllocated) {
  const InterruptScope scope(kSession);
  EXPECT_THROW(std::string(17 * kMegabyte, 'x'), SqlError);
  std::vector<std::string> texts;
  EXPECT_THROW(texts.resize(kMegabyte), SqlError);
  EXPECT_TRUE(texts.empty());
  EXPECT_NO_THROW(std::string(8 * kMegabyte, 'x'));
}

TEST_F(Charges, WithoutAStatementNoBlockIsRefused) {
  EXPECT_NO_THROW(std::string(100 * kMegabyte, 'x'));
  const InterruptScope scope(kSession + 1);
  EXPECT_NO_THROW(std::string(100 * kMegabyte, 'x'));
}

#endif

}  // namespace
}  // namespace redquel::sql
