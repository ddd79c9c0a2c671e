#include "executor/redis/inquiry.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "executor/redis/brief_talk.h"

namespace redquel::executor {

using boost::system::error_code;
using std::chrono::steady_clock;

Inquiry::Inquiry(asio::any_io_executor executor, TlsContextPtr tls, CommandBatch question, std::span<const TcpPlace> places, std::size_t most_bytes)
    : executor_(executor), tls_(std::move(tls)), question_(std::move(question)), timer_(executor), most_bytes_(most_bytes) {
  for (const TcpPlace& place : places) asked_.push_back({place, RedisSocket(executor), nullptr, "timeout"});
}

asio::awaitable<void> Inquiry::run(std::chrono::milliseconds patience, std::function<std::optional<std::chrono::milliseconds>()> rest) {
  open_ = asked_.size();
  for (std::size_t index = 0; index < asked_.size(); ++index) asio::co_spawn(executor_, ask(shared_from_this(), index), asio::detached);
  steady_clock::time_point deadline = steady_clock::now() + patience;
  while (open_ > 0 && steady_clock::now() < deadline) {
    if (const auto left = rest()) deadline = std::min(deadline, steady_clock::now() + *left);
    if (steady_clock::now() >= deadline) break;
    timer_.expires_at(deadline);
    error_code cancelled;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
  }
  for (Asked& asked : asked_) {
    error_code ignored;
    asked.socket.close(ignored);
  }
  is_over_ = true;
}

asio::awaitable<void> Inquiry::ask(std::shared_ptr<Inquiry> self, std::size_t index) {
  std::shared_ptr<Replies> replies;
  std::string failure;
  try {
    replies = co_await talk_briefly(self->asked_[index].socket, self->asked_[index].place, self->tls_, self->question_, self->most_bytes_);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (self->is_over_) co_return;
  self->asked_[index].replies = std::move(replies);
  self->asked_[index].failure = std::move(failure);
  --self->open_;
  self->timer_.cancel();
}

}  // namespace redquel::executor
