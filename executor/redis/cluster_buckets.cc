#include "executor/redis/cluster_buckets.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <map>
#include <utility>

#include "executor/redis/cluster_plan.h"
#include "executor/redis/slot.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kShortestBucketPause{5}, kLongestBucketPause{100};
/// A WAIT holds its connection for so long at most, and is sent again then.
constexpr int kReplicaMilliseconds = 500;

/// An answer that says that the script has not run, and may later.
bool has_not_run(const Reply& reply) {
  return verdict_of(reply) != NodeVerdict::kAnswer || (reply.is_error() && (reply.text.starts_with("NOREPLICAS") || reply.text.starts_with("MISCONF")));
}

bool knows_no_script(const Reply& reply) { return reply.is_error() && reply.text.starts_with("NOSCRIPT"); }

/// One run of several calls. Kept by its coroutine.
class BucketRun {
 public:
  BucketRun(asio::any_io_executor executor, std::shared_ptr<ClusterNodes> nodes, const std::function<std::string(int bucket)>& key_of,
            milliseconds limit, std::vector<BucketCall> calls)
      : nodes_(std::move(nodes)), timer_(std::move(executor)), limit_(limit), calls_(std::move(calls)), answers_(calls_.size()) {
    for (const BucketCall& call : calls_) keys_.push_back(key_of(call.bucket));
    for (std::size_t index = 0; index < calls_.size(); ++index) open_.push_back(index);
  }

  asio::awaitable<std::vector<BucketAnswer>> run() {
    co_await nodes_->known();
    const auto deadline = std::chrono::steady_clock::now() + limit_;
    milliseconds pause = kShortestBucketPause;
    for (;;) {
      send();
      std::vector<Sent> all = std::exchange(sent_, {});
      for (Sent& sent : all) take(sent, co_await sent.request->outcome());
      if (refusal_ && !was_sent_) throw sql::SqlError(*refusal_);
      if (open_.empty() && unconfirmed_.empty()) break;
      const bool must_pause = std::exchange(must_pause_, false);
      if (std::chrono::steady_clock::now() >= deadline) break;
      if (!must_pause) continue;
      timer_.expires_after(pause);
      pause = std::min(pause * 2, kLongestBucketPause);
      co_await timer_.async_wait(asio::use_awaitable);
    }
    co_return std::move(answers_);
  }

 private:
  /// Calls of one node in one write.
  struct Sent {
    TcpPlace place;
    std::vector<std::size_t> calls;
    std::size_t loads = 0;         // SCRIPT LOAD, before the calls
    std::size_t replicas = 0;      // for which WAIT asks; 0: there is none
    bool only_waits = false;       // the calls have run before
    std::uint64_t connection = 0;  // the number of the connection that ran them
    std::unique_ptr<NodeRequest> request;
  };

  void send() {
    const std::shared_ptr<const SlotMap> map = nodes_->map();
    std::map<std::size_t, std::vector<std::size_t>> by_master;
    std::vector<std::size_t> without_node;
    for (const std::size_t index : open_) {
      const std::optional<std::size_t> master = map->owner(slot_of(keys_[index]));
      if (master) by_master[*master].push_back(index);
      else without_node.push_back(index);
    }
    open_ = std::move(without_node);
    if (!open_.empty()) {
      must_pause_ = true;
      nodes_->look();
    }
    for (auto& [master, calls] : by_master) send_calls(map->masters()[master], std::move(calls));
    for (Sent& waiting : std::exchange(unconfirmed_, {})) {
      CommandBatch batch;
      batch.add("WAIT", waiting.replicas, kReplicaMilliseconds);
      waiting.only_waits = true;
      waiting.request = nodes_->send(waiting.place, std::move(batch));
      sent_.push_back(std::move(waiting));
    }
  }

  void send_calls(const ClusterMaster& master, std::vector<std::size_t> calls) {
    Sent sent{.place = master.place, .calls = std::move(calls), .request = nullptr};
    CommandBatch batch;
    for (const std::size_t index : sent.calls) {
      const Script* script = calls_[index].script;
      if (std::ranges::find(unknown_, std::pair(master.place, script)) == unknown_.end()) continue;
      batch.add("SCRIPT", "LOAD", script->text());
      ++sent.loads;
      std::erase(unknown_, std::pair(master.place, script));
    }
    for (const std::size_t index : sent.calls) {
      const BucketCall& call = calls_[index];
      call.script->begin_call(batch, 1 + call.keys.size(), call.arguments.size()).arg(keys_[index]);
      for (const std::string& key : call.keys) batch.arg(key);
      for (const std::string& argument : call.arguments) batch.arg(argument);
      if (call.waits) sent.replicas = master.replicas.size();
    }
    if (sent.replicas > 0) batch.add("WAIT", sent.replicas, kReplicaMilliseconds);
    sent.request = nodes_->send(sent.place, std::move(batch));
    sent_.push_back(std::move(sent));
  }

  void take(Sent& sent, const NodeOutcome& outcome) {
    if (sent.only_waits) return take_confirmation(sent, outcome);
    if (outcome.error) {
      nodes_->look();
      // A call that was sent may have run: its owner finds out.
      was_sent_ = was_sent_ || outcome.was_sent;
      if (outcome.was_sent) return;
      const bool may_pass = outcome.error->sqlstate() == sqlstate::kConnectionFailure || outcome.error->sqlstate() == sqlstate::kCannotConnectNow;
      if (!may_pass) {
        refusal_ = outcome.error;
        return;
      }
      must_pause_ = true;
      open_.insert(open_.end(), sent.calls.begin(), sent.calls.end());
      return;
    }
    was_sent_ = true;
    const Replies& replies = *outcome.replies;
    std::vector<std::size_t> have_run;
    for (std::size_t position = 0; position < sent.calls.size(); ++position) {
      const std::size_t index = sent.calls[position];
      const Reply& reply = replies[sent.loads + position];
      if (judge(sent.place, index, reply)) continue;
      const std::size_t element = sent.loads + position;
      answers_[index].replies = Replies::merge(one_reply(calls_[index]), std::span(&kOnly, 1), outcome.replies, element);
      answers_[index].is_confirmed = calls_[index].waits && sent.replicas == 0;
      have_run.push_back(index);
    }
    sent.calls = std::move(have_run);
    sent.connection = outcome.connection;
    if (sent.replicas > 0 && !sent.calls.empty()) confirm(sent, replies[replies.size() - 1]);
  }

  /// Returns true if the call is sent again.
  bool judge(const TcpPlace& place, std::size_t index, const Reply& reply) {
    if (knows_no_script(reply)) {
      unknown_.emplace_back(place, calls_[index].script);
      open_.push_back(index);
      return true;
    }
    if (!has_not_run(reply)) return false;
    const std::optional<Redirect> redirect = read_redirect(reply.text, place);
    if (verdict_of(reply) == NodeVerdict::kMoved && redirect) {
      nodes_->moved(*redirect);
      must_pause_ = must_pause_ || ++moves_ > 5 * calls_.size();
    } else {
      if (verdict_of(reply) == NodeVerdict::kLater) nodes_->look();
      must_pause_ = true;
    }
    open_.push_back(index);
    return true;
  }

  void take_confirmation(Sent& sent, const NodeOutcome& outcome) {
    // WAIT counts from the last write of its own connection.
    if (outcome.error || outcome.connection != sent.connection) return;
    confirm(sent, (*outcome.replies)[0]);
  }

  void confirm(Sent& sent, const Reply& wait) {
    if (wait.is_error()) return;
    if (wait.integer < static_cast<std::int64_t>(sent.replicas)) {
      unconfirmed_.push_back(std::move(sent));
      return;
    }
    for (const std::size_t index : sent.calls) answers_[index].is_confirmed = calls_[index].waits;
  }

  /// Returns one nil under the name of the call's command.
  static RepliesPtr one_reply(const BucketCall& call) {
    auto replies = std::make_shared<Replies>();
    CommandNames names;
    names.append(call.script->command());
    replies->set_names(std::move(names));
    replies->append(Reply());
    return replies;
  }

  static constexpr std::size_t kOnly = 0;
  std::shared_ptr<ClusterNodes> nodes_;
  asio::steady_timer timer_;
  milliseconds limit_;
  std::vector<BucketCall> calls_;
  std::vector<std::string> keys_;
  std::vector<BucketAnswer> answers_;
  std::vector<std::size_t> open_;  // calls to be sent
  std::vector<Sent> sent_, unconfirmed_;
  std::vector<std::pair<TcpPlace, const Script*>> unknown_;  // scripts that a node does not have
  std::size_t moves_ = 0;
  bool must_pause_ = false;
  bool was_sent_ = false;                // calls that may have run
  std::optional<sql::SqlError> refusal_;  // of calls that cannot be sent
};

}  // namespace

asio::awaitable<std::vector<BucketAnswer>> ClusterBuckets::run(std::vector<BucketCall> calls) {
  BucketRun run(executor_, nodes_, key_of_, move_timeout_, std::move(calls));
  co_return co_await run.run();
}

}  // namespace redquel::executor
