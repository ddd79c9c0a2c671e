#include "executor/runtime/process_mark.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace redquel::executor {

namespace {

/// Returns the mark of a process of this machine with another id or start.
std::string mark_of(pid_t pid, const std::string& start) {
  const std::string& own = own_process_mark();
  const std::size_t start_at = own.rfind('/'), pid_at = own.rfind('/', start_at - 1);
  return own.substr(0, pid_at + 1) + std::to_string(pid) + "/" + start;
}

std::string own_start() { return own_process_mark().substr(own_process_mark().rfind('/') + 1); }

TEST(ProcessMarkTest, ALivingProcessHasNotEnded) {
  ASSERT_FALSE(own_process_mark().empty());
  EXPECT_FALSE(has_ended(own_process_mark()));
}

TEST(ProcessMarkTest, AnotherProcessWithTheNumberDoesNotCount) { EXPECT_TRUE(has_ended(mark_of(::getpid(), own_start() + "1"))); }

TEST(ProcessMarkTest, AKilledProcessHasEndedBeforeItsParentKnows) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(has_ended(mark_of(child, own_start())));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(has_ended(mark_of(child, own_start())));
}

TEST(ProcessMarkTest, AProcessOfAnotherMachineHasNotEnded) {
  EXPECT_FALSE(has_ended("another" + mark_of(1 << 22, "1")));
  EXPECT_FALSE(has_ended(""));
  EXPECT_FALSE(has_ended("1"));
  EXPECT_FALSE(has_ended(mark_of(0, "1")));
  EXPECT_FALSE(has_ended(own_process_mark().substr(0, own_process_mark().rfind('/'))));
}

}  // namespace

}  // namespace redquel::executor
