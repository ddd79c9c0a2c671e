#include "executor/redis/cluster_specials.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <limits>
#include <random>
#include <unordered_set>
#include <utility>

#include "executor/redis/cluster_plan.h"
#include "executor/redis/cluster_request.h"
#include "executor/redis/redis_error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMembersPerCommand = 1000;
/// Scans that were begun and not ended: cursors of statements that were given up are forgotten in their order.
constexpr std::size_t kMostScans = 1000;
constexpr milliseconds kFirstPause{5}, kLastPause{100};

/// A reply to one command, with what it points into.
class OneReply {
 public:
  explicit OneReply(std::string_view command) {
    CommandNames names;
    names.append(command);
    whole_->replies.set_names(std::move(names));
  }
  /// Notes the version of the catalog that was read behind these replies.
  void note_version(const Replies& other) {
    const bool differs = version_ && *version_ != other.catalog_version();
    version_ = differs ? std::optional<std::string>(kMixedVersion) : other.catalog_version();
  }
  void keep_alive(RepliesPtr other) {
    note_version(*other);
    whole_->sources.push_back(std::move(other));
  }
  RepliesPtr error(const Reply& reply) { return give(reply); }
  RepliesPtr integer(std::int64_t number) {
    Reply reply;
    reply.kind = Reply::Kind::integer;
    reply.integer = number;
    return give(reply);
  }
  RepliesPtr array(std::span<const Reply> elements) { return give(stored_array(elements)); }
  Reply stored_array(std::span<const Reply> elements) {
    Reply reply;
    reply.kind = Reply::Kind::array;
    reply.child_count = static_cast<std::uint32_t>(elements.size());
    reply.first_child = whole_->replies.store(elements).data();
    return reply;
  }
  Reply stored_text(std::string_view text) {
    Reply reply;
    reply.kind = Reply::Kind::string;
    reply.text = whole_->replies.store(text);
    return reply;
  }
  RepliesPtr give(const Reply& reply) {
    whole_->replies.append(reply);
    if (version_) whole_->replies.set_catalog_version(*std::move(version_));
    return RepliesPtr(whole_, &whole_->replies);
  }

 private:
  std::optional<std::optional<std::string>> version_;
  struct Whole {
    Replies replies;
    std::vector<RepliesPtr> sources;  // what they point into
  };
  std::shared_ptr<Whole> whole_ = std::make_shared<Whole>();
};

/// The keys of a command of set algebra, and its limit.
struct Algebra {
  std::span<const std::string> keys;
  std::size_t limit = std::numeric_limits<std::size_t>::max();  // of SINTERCARD
};

Algebra algebra_of(std::span<const std::string> words) {
  const std::string& name = words[0];
  if (name != "SINTERCARD") return {.keys = words.subspan(1)};
  std::size_t count = 0;
  std::from_chars(words[1].data(), words[1].data() + words[1].size(), count);
  Algebra algebra{.keys = words.subspan(2, std::min(count, words.size() - 2))};
  const std::size_t option = 2 + algebra.keys.size();
  std::size_t limit = 0;
  if (words.size() > option + 1) std::from_chars(words[option + 1].data(), words[option + 1].data() + words[option + 1].size(), limit);
  if (limit > 0) algebra.limit = limit;
  return algebra;
}

const Reply* first_error(const Replies& replies) {
  const auto found = std::ranges::find_if(replies.all(), &Reply::is_error);
  return found == replies.all().end() ? nullptr : &*found;
}

CommandBatch one_command_for_each(std::string_view command, std::span<const std::string> keys) {
  CommandBatch batch;
  for (const std::string& key : keys) batch.add(command, key);
  return batch;
}

/// Returns those members that are in all other sets, or in none of them.
asio::awaitable<RepliesPtr> filter_members(RedisClient& client, std::vector<Reply>& members, std::span<const std::string> others, bool must_be_in,
                                           OneReply& reply, ExecutionCounters* counters) {
  std::vector<Reply> kept;
  for (std::size_t first = 0; first < members.size(); first += kMembersPerCommand) {
    const auto some = std::span(members).subspan(first, std::min(kMembersPerCommand, members.size() - first));
    CommandBatch batch;
    for (const std::string& other : others) {
      batch.begin(2 + some.size()).arg("SMISMEMBER").arg(other);
      for (const Reply& member : some) batch.arg(member.text);
    }
    RepliesPtr found = co_await client.execute(std::move(batch), counters);
    reply.note_version(*found);
    if (first_error(*found) != nullptr) co_return found;
    for (std::size_t index = 0; index < some.size(); ++index) {
      const auto is_in = [&](std::size_t other) {
        const auto answers = found->array(other);
        return answers.size() == some.size() && answers[index].integer == 1;
      };
      bool is_kept = true;
      for (std::size_t other = 0; other < others.size() && is_kept; ++other) is_kept = is_in(other) == must_be_in;
      if (is_kept) kept.push_back(some[index]);
    }
  }
  members = std::move(kept);
  co_return nullptr;
}

}  // namespace

asio::awaitable<RepliesPtr> run_set_algebra(RedisClient& client, std::span<const std::string> words, ExecutionCounters* counters) {
  const std::string& name = words[0];
  const Algebra algebra = algebra_of(words);
  OneReply reply(name);
  std::vector<std::string> keys(algebra.keys.begin(), algebra.keys.end());
  const bool intersects = name == "SINTER" || name == "SINTERCARD";
  if (intersects) {
    const RepliesPtr sizes = co_await client.execute(one_command_for_each("SCARD", keys), counters);
    reply.note_version(*sizes);
    if (const Reply* error = first_error(*sizes)) {
      reply.keep_alive(sizes);
      co_return reply.error(*error);
    }
    std::vector<std::pair<std::int64_t, std::string>> by_size;
    for (std::size_t index = 0; index < keys.size(); ++index) by_size.emplace_back(sizes->integer(index), std::move(keys[index]));
    std::ranges::sort(by_size);
    keys.clear();
    for (auto& [size, key] : by_size) keys.push_back(std::move(key));
    if (by_size.front().first == 0) co_return name == "SINTER" ? reply.array({}) : reply.integer(0);
  }
  const std::size_t read = name == "SUNION" ? keys.size() : 1;
  const RepliesPtr sets = co_await client.execute(one_command_for_each("SMEMBERS", std::span(keys).first(read)), counters);
  reply.keep_alive(sets);
  if (const Reply* error = first_error(*sets)) co_return reply.error(*error);
  std::vector<Reply> members;
  if (name == "SUNION") {
    std::unordered_set<std::string_view> seen;
    for (std::size_t index = 0; index < keys.size(); ++index) {
      for (const Reply& member : sets->array(index)) {
        if (seen.insert(member.text).second) members.push_back(member);
      }
    }
    co_return reply.array(members);
  }
  const auto first = sets->array(0);
  members.assign(first.begin(), first.end());
  if (const RepliesPtr failed = co_await filter_members(client, members, std::span(keys).subspan(1), intersects, reply, counters)) {
    reply.keep_alive(failed);
    co_return reply.error(*first_error(*failed));
  }
  if (name == "SINTERCARD") co_return reply.integer(static_cast<std::int64_t>(std::min(members.size(), algebra.limit)));
  co_return reply.array(members);
}

/// How long a command has waited for nodes that do not answer.
struct ClusterScans::Patience {
  Patience(asio::any_io_executor executor, milliseconds limit) : timer(std::move(executor)), limit(limit) {}

  asio::awaitable<void> wait(std::string reason) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw sql::SqlError(sqlstate::kCannotConnectNow, fmt::format("a master of the cluster does not answer for {} ms: {}", limit.count(), reason))
          .hint("The statement waited as long as redis.move_timeout says.");
    }
    timer.expires_after(pause);
    pause = std::min(pause * 2, kLastPause);
    co_await timer.async_wait(asio::use_awaitable);
  }

  asio::steady_timer timer;
  milliseconds limit, pause = kFirstPause;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::now() + limit;
};

asio::awaitable<std::vector<NodeSlots>> ClusterScans::placement() {
  co_await nodes_->known();
  Patience patience(executor_, move_timeout_);
  for (;;) {
    std::string reason;
    try {
      co_return co_await nodes_->placement();
    } catch (const sql::SqlError& error) {
      if (error.sqlstate() != sqlstate::kConnectionFailure && error.sqlstate() != sqlstate::kCannotConnectNow) throw;
      reason = error.message();
    }
    nodes_->look();
    co_await patience.wait(std::move(reason));
  }
}

asio::awaitable<RepliesPtr> ClusterScans::ask(TcpPlace place, CommandBatch command, Patience& patience, ExecutionCounters* counters) {
  for (;;) {
    const std::shared_ptr<const SlotMap> map = nodes_->map();
    if (!map->find(place)) co_return nullptr;
    if (counters != nullptr) {
      ++counters->round_trips;
      ++counters->commands;
      counters->bytes_sent += command.bytes().size();
    }
    const std::unique_ptr<NodeRequest> request = nodes_->send(place, command);
    NodeOutcome outcome = co_await request->outcome();
    if (!outcome.error && verdict_of((*outcome.replies)[0]) == NodeVerdict::kAnswer) {
      if (counters != nullptr) counters->bytes_received += outcome.replies->bytes();
      co_return std::move(outcome.replies);
    }
    const bool may_pass = !outcome.error || outcome.error->sqlstate() == sqlstate::kConnectionFailure || outcome.error->sqlstate() == sqlstate::kCannotConnectNow;
    if (!may_pass) throw sql::SqlError(*outcome.error);
    nodes_->look();
    std::string reason;
    if (outcome.error) reason = outcome.error->message();
    else reason = (*outcome.replies)[0].text;
    co_await patience.wait(std::move(reason));
  }
}

asio::awaitable<RepliesPtr> ClusterScans::scan(std::span<const std::string> words, ExecutionCounters* counters) {
  const std::shared_ptr<ClusterScans> self = shared_from_this();
  if (words.size() < 2) throw sql::SqlError(sqlstate::kSyntaxError, "SCAN needs a cursor");
  std::uint64_t number = 0;
  std::shared_ptr<ClusterScan> scan;
  if (words[1] == "0") {
    number = next_scan_++;
    scan = std::make_shared<ClusterScan>(co_await placement());
    scans_.emplace(number, scan);
    if (scans_.size() > kMostScans) scans_.erase(scans_.begin());
  } else {
    std::from_chars(words[1].data(), words[1].data() + words[1].size(), number);
    const auto found = scans_.find(number);
    if (found == scans_.end()) throw sql::SqlError(sqlstate::kProgramLimitExceeded, "too many scans of the cluster at the same time");
    scan = found->second;
  }
  Patience patience(executor_, move_timeout_);
  OneReply reply("SCAN");
  std::vector<Reply> keys;
  while (true) {
    const std::optional<ClusterScan::Page> page = scan->next();
    if (!page) {
      const std::vector<NodeSlots> now = co_await placement();
      if (scan->finish(now)) {
        scans_.erase(number);
        break;
      }
      std::string reason = "slots are between two masters";
      if (!scan->next()) co_await patience.wait(std::move(reason));
      continue;
    }
    CommandBatch command;
    command.begin(words.size()).arg("SCAN").arg(page->cursor);
    for (const std::string& word : words.subspan(2)) command.arg(word);
    const RepliesPtr replies = co_await ask(page->place, std::move(command), patience, counters);
    if (!replies) {
      scan->replace(*nodes_->map());
      continue;
    }
    reply.keep_alive(replies);
    const Reply& answer = (*replies)[0];
    if (answer.is_error()) co_return reply.error(answer);
    if (answer.children().size() != 2 || !answer.children()[0].is_text()) throw unexpected_reply("SCAN", "a cursor and keys");
    for (const Reply& key : answer.children()[1].children()) {
      if (scan->wants(key.text)) keys.push_back(key);
    }
    scan->advance(answer.children()[0].text);
    if (scan->next()) break;
  }
  const bool is_over = !scans_.contains(number);
  const Reply parts[] = {reply.stored_text(is_over ? "0" : std::to_string(number)), reply.stored_array(keys)};
  co_return reply.array(parts);
}

asio::awaitable<RepliesPtr> ClusterScans::gather(std::span<const std::string> words, ExecutionCounters* counters) {
  const std::shared_ptr<ClusterScans> self = shared_from_this();
  Patience patience(executor_, move_timeout_);
  for (;;) {
    co_await nodes_->known();
    const std::shared_ptr<const SlotMap> map = nodes_->map();
    OneReply reply(words[0]);
    std::int64_t sum = 0;
    std::string text;
    std::vector<Reply> elements;
    bool is_complete = true, is_text = false, is_array = false;
    for (const ClusterMaster& master : map->masters()) {
      CommandBatch command;
      command.begin(words.size());
      for (const std::string& word : words) command.arg(word);
      const RepliesPtr replies = co_await ask(master.place, std::move(command), patience, counters);
      is_complete = is_complete && replies != nullptr;
      if (!replies) break;
      reply.keep_alive(replies);
      const Reply& one = (*replies)[0];
      if (one.is_error()) co_return reply.error(one);
      is_text = is_text || one.is_text();
      is_array = is_array || one.is_array();
      if (one.kind == Reply::Kind::integer) sum += one.integer;
      text += one.text;
      elements.insert(elements.end(), one.children().begin(), one.children().end());
    }
    if (is_complete && is_text) co_return reply.give(reply.stored_text(text));
    if (is_complete) co_return is_array ? reply.array(elements) : reply.integer(sum);
    std::string reason = "a master was replaced";
    co_await patience.wait(std::move(reason));
  }
}

asio::awaitable<RepliesPtr> ClusterScans::random_key(ExecutionCounters* counters) {
  const std::shared_ptr<ClusterScans> self = shared_from_this();
  thread_local std::minstd_rand random{std::random_device{}()};
  co_await nodes_->known();
  Patience patience(executor_, move_timeout_);
  OneReply reply("RANDOMKEY");
  std::vector<TcpPlace> places;
  for (const ClusterMaster& master : nodes_->map()->masters()) places.push_back(master.place);
  std::ranges::shuffle(places, random);
  for (const TcpPlace& place : places) {
    CommandBatch command;
    command.add("RANDOMKEY");
    const RepliesPtr replies = co_await ask(place, std::move(command), patience, counters);
    if (!replies) continue;
    reply.keep_alive(replies);
    if ((*replies)[0].is_nil()) continue;
    co_return reply.give((*replies)[0]);
  }
  co_return reply.give(Reply());
}

}  // namespace redquel::executor
