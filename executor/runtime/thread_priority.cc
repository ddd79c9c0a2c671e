#include "executor/runtime/thread_priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace redquel::executor {

namespace {

constexpr int kLowPriority = 19;

/// The first version of the kernel's struct sched_attr (sched_setattr(2)), which Debian's C library does not declare.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // nanoseconds
};
static_assert(sizeof(SchedulingAttributes) == 48);

}  // namespace

void lower_priority() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kLowPriority); }  // Linux: of this thread alone

void request_slice(std::chrono::microseconds length) {
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
  constexpr std::uint32_t kOther = 0, kBatch = 3;
  if (attributes.policy != kOther && attributes.policy != kBatch) return;  // an administrator's choice stays
  attributes.runtime = static_cast<std::uint64_t>(std::chrono::nanoseconds(length).count());
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace redquel::executor
