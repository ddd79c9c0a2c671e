#include "executor/helper_thread.h"

#include "sql/error.h"

namespace redquel::executor {

HelperThread& HelperThread::instance() {
  static HelperThread thread;
  return thread;
}

HelperThread::Ticket::Ticket(std::atomic<std::size_t>& waiting) : waiting_(waiting) {
  if (waiting_.fetch_add(1) <= kMostWaiting) return;
  --waiting_;
  throw sql::SqlError("53300", "too many passwords wait to be checked");
}

}  // namespace redquel::executor
