#include "executor/roles/background_thread.h"

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

BackgroundThread& BackgroundThread::instance() {
  static BackgroundThread thread;
  return thread;
}

BackgroundThread& BackgroundThread::parser() {
  static BackgroundThread thread;
  return thread;
}

BackgroundThread::Ticket::Ticket(std::atomic<std::size_t>& waiting) : waiting_(waiting) {
  if (waiting_.fetch_add(1) <= kMostWaiting) return;
  --waiting_;
  throw sql::SqlError(sqlstate::kTooManyConnections, "too many logins or long statements wait for their turn");
}

}  // namespace redquel::executor
