#include "executor/redis/unreplicated_commits.h"

#include "executor/redis/pending_batch.h"

namespace redquel::executor {

UnreplicatedCommits::Ticket UnreplicatedCommits::issue() {
  open_.insert(next_);
  return next_++;
}

bool UnreplicatedCommits::has_open(Ticket first, Ticket end) const {
  const auto oldest = open_.lower_bound(first);
  return oldest != open_.end() && *oldest < end;
}

bool UnreplicatedCommits::has_open(Ticket first) const {
  return has_open(first, next_) || (last_given_up_ && last_given_up_->first >= first);
}

asio::awaitable<void> UnreplicatedCommits::confirmed(Ticket first) {
  if (last_given_up_ && last_given_up_->first >= first) throw sql::SqlError(last_given_up_->second);
  if (!has_open(first, next_)) co_return;
  const auto latch = std::make_shared<PendingBatch>(CommandBatch());
  waiters_.push_back({first, next_, latch});
  co_await latch->wait();
  if (latch->error) throw sql::SqlError(*latch->error);
}

asio::awaitable<void> UnreplicatedCommits::all_confirmed() {
  if (!open_.empty()) co_await confirmed(*open_.begin());
}

void UnreplicatedCommits::close(Ticket ticket, const std::optional<sql::SqlError>& reason) {
  if (open_.erase(ticket) == 0) return;
  if (reason && (!last_given_up_ || last_given_up_->first < ticket)) last_given_up_.emplace(ticket, *reason);
  std::erase_if(waiters_, [&](const Waiter& waiter) {
    if (ticket < waiter.first || ticket >= waiter.end) return waiter.latch->is_abandoned();
    if (reason) {
      waiter.latch->fail(*reason);
      return true;
    }
    if (has_open(waiter.first, waiter.end)) return false;
    waiter.latch->finish();
    return true;
  });
}

}  // namespace redquel::executor
