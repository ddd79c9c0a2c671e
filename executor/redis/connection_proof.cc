#include <boost/asio/use_awaitable.hpp>

#include "executor/redis/connection_core.h"
#include "executor/redis/redis_error.h"

namespace redquel::executor {

// A master that stood still while a replica was promoted still answers when it goes on, until the sentinels make it a replica. So an answer
// counts only if the same connection answered a command that was sent shortly before. Otherwise the sentinels, or other nodes of the cluster, are
// asked after the answer came.

bool SharedConnection::Core::is_proven(const Turn& turn) const { return turn.answered - last_proof_ < proof_time_; }

asio::awaitable<std::optional<sql::SqlError>> SharedConnection::Core::confirm_master() {
  if (!master_) co_return std::nullopt;
  if (options_.topology) {
    const std::string objection = co_await options_.topology->objection(*master_);
    if (objection.empty()) co_return std::nullopt;
    co_return connection_failed(options_.url.address(), objection);
  }
  const FoundMaster found = co_await find_master(options_.url, current_login(options_).tls);
  if (found.place == master_) co_return std::nullopt;
  const std::string reason = found.place ? "the sentinels name another master, " + found.place->address() : found.reason;
  co_return connection_failed(options_.url.address(), reason);
}

asio::awaitable<void> SharedConnection::Core::prove(std::shared_ptr<Core> self, std::uint64_t connection) {
  while (!self->unproven_.empty()) {
    std::size_t proven = 1;
    if (!self->is_proven(self->unproven_.front())) {
      proven = self->unproven_.size();
      const std::optional<sql::SqlError> failure = co_await self->confirm_master();
      if (!self->is_connection(connection)) co_return;
      if (failure) {
        self->loss_ = failure->message();
        self->close_socket();  // the reader fails what waits
        co_return;
      }
    }
    for (; proven > 0 && self->is_connection(connection); --proven) {
      const Turn turn = std::move(self->unproven_.front());
      self->unproven_.pop_front();
      self->give_replies(turn);
    }
    if (!self->is_connection(connection)) co_return;
  }
  self->is_proving_ = false;
}

void SharedConnection::Core::master_is_at(const TcpPlace& place) {
  if (state_ == State::stopped || !master_ || *master_ == place) return;
  loss_ = "the sentinels name another master, " + place.address();
  close_socket();
}

}  // namespace redquel::executor
