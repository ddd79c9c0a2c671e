#include "executor/redis/sentinel.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "executor/redis/inquiry.h"
#include "executor/redis/redis_error.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A sentinel that takes longer is not waited for; the rest gets less time once most agree.
constexpr milliseconds kSentinelPatience{1000}, kRestPatience{200};
/// Sentinels hear of a failover from each other within two seconds.
constexpr milliseconds kDisputePatience{3000}, kDisputePause{100};
constexpr milliseconds kShortestDownAfter{500}, kLongestDownAfter{60'000};
constexpr std::size_t kMostAnswerBytes = 64 * 1024, kLongestHost = 255;

template <typename Integer>
std::optional<Integer> number_of(std::string_view text) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<TcpPlace> place_of(const Reply& reply) {
  if (!reply.is_array() || reply.children().size() != 2) return std::nullopt;
  const std::string_view host = reply.children()[0].text;
  const auto port = number_of<std::uint16_t>(reply.children()[1].text);
  const auto is_unusable = [](unsigned char byte) { return byte <= ' ' || byte >= 0x7F; };
  if (host.empty() || host.size() > kLongestHost || std::ranges::any_of(host, is_unusable) || !port || *port == 0) return std::nullopt;
  return TcpPlace{std::string(host), *port};
}

std::vector<SentinelAnswer> answers_of(const Inquiry& inquiry) {
  std::vector<SentinelAnswer> answers;
  for (const Inquiry::Asked& asked : inquiry.asked()) {
    SentinelAnswer& answer = answers.emplace_back();
    if (asked.replies) answer = read_sentinel(*asked.replies);
    else answer.refusal = asked.failure;
    if (!answer.refusal.empty()) answer.refusal = asked.place.address() + ": " + answer.refusal;
  }
  return answers;
}

bool most_agree(std::span<const SentinelAnswer> answers) {
  for (const SentinelAnswer& answer : answers) {
    if (!answer.master) continue;
    const auto names_it = [&](const SentinelAnswer& other) { return other.master == answer.master; };
    if (2 * static_cast<std::size_t>(std::ranges::count_if(answers, names_it)) > answers.size()) return true;
  }
  return false;
}

}  // namespace

CommandBatch sentinel_questions(const SentinelGroup& group) {
  CommandBatch batch;
  if (!group.user.empty()) {
    batch.add("AUTH", group.user, group.password);
  } else if (!group.password.empty()) {
    batch.add("AUTH", group.password);
  }
  batch.add("SENTINEL", "GET-MASTER-ADDR-BY-NAME", group.master);
  batch.add("SENTINEL", "MASTER", group.master);
  return batch;
}

SentinelAnswer read_sentinel(const Replies& replies) {
  SentinelAnswer answer;
  if (replies.size() < 2) {
    answer.refusal = "no answer";
    return answer;
  }
  for (std::size_t index = 0; index < replies.size(); ++index) {
    if (replies[index].is_error() && answer.refusal.empty()) answer.refusal = redis_error(replies[index].text, replies.command(index)).message();
  }
  const Reply& address = replies[replies.size() - 2];
  const Reply& facts = replies[replies.size() - 1];
  answer.master = place_of(address);
  if (!answer.master) {
    if (answer.refusal.empty()) answer.refusal = "it names no address";
    return answer;
  }
  answer.refusal.clear();
  if (!facts.is_array()) return answer;
  const std::span<const Reply> fields = facts.children();
  for (std::size_t index = 0; index + 1 < fields.size(); index += 2) {
    const std::string_view value = fields[index + 1].text;
    if (fields[index].text == "config-epoch") answer.epoch = number_of<std::uint64_t>(value).value_or(0);
    if (fields[index].text == "flags") answer.is_failing_over = value.find("failover_in_progress") != std::string_view::npos;
    if (fields[index].text == "down-after-milliseconds") answer.down_after = milliseconds(number_of<std::uint32_t>(value).value_or(0));
  }
  return answer;
}

FoundMaster weigh_answers(std::span<const SentinelAnswer> answers) {
  FoundMaster found;
  std::pair<std::ptrdiff_t, std::uint64_t> best{0, 0};  // votes, epoch
  std::optional<MasterDispute> newest;
  for (const SentinelAnswer& answer : answers) {
    if (!answer.master) {
      found.reason += (found.reason.empty() ? "" : "; ") + answer.refusal;
      ++found.silent;
      continue;
    }
    std::pair<std::ptrdiff_t, std::uint64_t> weight{0, 0};
    milliseconds down_after = kLongestDownAfter;
    for (const SentinelAnswer& other : answers) {
      if (other.master != answer.master) continue;
      ++weight.first;
      weight.second = std::max(weight.second, other.epoch);
      if (other.down_after > milliseconds::zero()) down_after = std::min(down_after, other.down_after);
    }
    if (!newest || answer.epoch > newest->epoch) newest = MasterDispute{*answer.master, answer.epoch};
    if (weight <= best) continue;
    best = weight;
    found.place = answer.master;
    found.down_after = std::max(down_after, kShortestDownAfter);
  }
  if (newest && newest->epoch > best.second) found.disputed = newest;
  for (const SentinelAnswer& answer : answers) {
    if (answer.is_failing_over && answer.master && answer.master == found.place && !found.disputed) {
      found.disputed = MasterDispute{*answer.master, answer.epoch, true};
    }
  }
  return found;
}

asio::awaitable<FoundMaster> find_master(RedisUrl url, TlsContextPtr tls) {
  thread_local std::optional<MasterDispute> refuted;
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const steady_clock::time_point deadline = steady_clock::now() + kDisputePatience;
  for (;;) {
    const auto inquiry = std::make_shared<Inquiry>(executor, tls, sentinel_questions(*url.sentinels), url.sentinels->places, kMostAnswerBytes);
    bool is_majority = false;  // the others get less time from then on
    co_await inquiry->run(kSentinelPatience, [&]() -> std::optional<milliseconds> {
      if (is_majority || !most_agree(answers_of(*inquiry))) return std::nullopt;
      is_majority = true;
      return kRestPatience;
    });
    FoundMaster found = weigh_answers(answers_of(*inquiry));
    if (!found.disputed || found.disputed == refuted) co_return found;
    if (steady_clock::now() >= deadline) {
      refuted = found.disputed;
      co_return found;
    }
    asio::steady_timer pause(executor, kDisputePause);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

}  // namespace redquel::executor
