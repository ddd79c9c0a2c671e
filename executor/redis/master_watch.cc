#include "executor/redis/master_watch.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "executor/redis/executor_counts.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRegularLook{10'000};
/// Between two looks that were asked for: a sentinel that reports all the time costs no more than this.
constexpr milliseconds kLeastPause{100};
constexpr std::size_t kMostMessageBytes = 64 * 1024;

}  // namespace

MasterWatch::MasterWatch(asio::any_io_executor executor, const ConnectionOptions& redis)
    : executor_(executor), url_(redis.url), login_(redis.login ? redis.login : std::make_shared<RedisLogin>(current_login(redis))), timer_(executor) {}

std::shared_ptr<MasterWatch> MasterWatch::start(asio::any_io_executor executor, const ConnectionOptions& redis) {
  const std::shared_ptr<MasterWatch> watch(new MasterWatch(executor, redis));
  watch->subscribe(redis);
  asio::co_spawn(executor, run(watch), asio::detached);
  return watch;
}

void MasterWatch::subscribe(const ConnectionOptions& redis) {
  for (const TcpPlace& place : url_.sentinels->places) {
    ConnectionOptions options;
    options.url.place = place;
    options.url.is_sentinel = true;
    options.only_looks = true;  // a sentinel knows HELLO
    options.login = std::make_shared<RedisLogin>(RedisLogin{.user = url_.sentinels->user, .password = url_.sentinels->password, .tls = login_->tls});
    options.client_name = redis.client_name;
    options.max_reply_bytes = kMostMessageBytes;
    const auto take = [weak = weak_from_this(), prefix = url_.sentinels->master + " "](std::string_view message) {
      const std::shared_ptr<MasterWatch> self = weak.lock();
      if (self && message.starts_with(prefix)) self->look();
    };
    subscriptions_.push_back(std::make_unique<Subscription>(executor_, std::move(options), "+switch-master", take));
  }
}

void MasterWatch::follow(std::weak_ptr<MasterFollower> follower) {
  std::erase_if(followers_, [&](const auto& other) { return other.expired() || (!other.owner_before(follower) && !follower.owner_before(other)); });
  followers_.push_back(std::move(follower));
}

void MasterWatch::look() {
  must_look_ = true;
  if (!is_asking_) timer_.cancel();
}

void MasterWatch::stop() {
  stopped_ = true;
  subscriptions_.clear();
  timer_.cancel();
}

asio::awaitable<void> MasterWatch::run(std::shared_ptr<MasterWatch> self) {
  boost::system::error_code cancelled;
  while (!self->stopped_) {
    if (!self->must_look_) {
      self->timer_.expires_after(kRegularLook);
      co_await self->timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
    if (self->stopped_) break;
    self->must_look_ = false;
    self->is_asking_ = true;
    const FoundMaster found = co_await find_master(self->url_, self->login_->tls);
    if (self->stopped_) break;
    if (found.place) self->report(*found.place);
    self->timer_.expires_after(kLeastPause);
    co_await self->timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    self->is_asking_ = false;
  }
}

void MasterWatch::report(const TcpPlace& place) {
  if (reported_ && *reported_ != place) counts_of_thread().master_changes.add();
  reported_ = place;
  const std::vector<std::weak_ptr<MasterFollower>> all = followers_;
  for (const auto& weak : all) {
    if (const std::shared_ptr<MasterFollower> follower = weak.lock()) follower->master_is_at(place);
  }
}

}  // namespace redquel::executor
