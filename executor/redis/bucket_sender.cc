#include "executor/redis/bucket_sender.h"

#include <time.h>

namespace redquel::executor {

std::chrono::milliseconds BucketSender::now() const {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::milliseconds(time.tv_sec * 1000 + time.tv_nsec / 1'000'000);
}

}  // namespace redquel::executor
