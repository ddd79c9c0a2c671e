#include "executor/memory/tracking_keeper.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <list>
#include <optional>
#include <set>
#include <thread>

#include "executor/memory/client_memory.h"
#include "executor/memory/protocol_part.h"
#include "executor/memory/resp3_decoder.h"
#include "executor/memory/unwatched_socket.h"
#include "executor/redis/handshake.h"
#include "executor/redis/master_watch.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/resp_codec.h"
#include "executor/redis/socket_connect.h"
#include "executor/redis/tls_handshake.h"
#include "executor/runtime/random_version.h"
#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

using boost::system::error_code;
using std::chrono::milliseconds;

/// A statement waits so long for a fence, then reads Redis.
constexpr milliseconds kFencePatience{100};
constexpr milliseconds kMessagePause{10};
/// … and looks so often as long as there have been messages during this time.
constexpr milliseconds kQuietTime{100};
/// Each write to Redis is compared with every prefix.
constexpr std::size_t kMostPrefixes = 16;

/// Gives a value to a coroutine of another thread.
template <class Value>
class Promise {
 public:
  explicit Promise(asio::any_io_executor executor) : timer_(executor, asio::steady_timer::time_point::max()), executor_(std::move(executor)) {}
  /// Waits for the value. None: it did not come in time.
  static asio::awaitable<std::optional<Value>> wait(std::shared_ptr<Promise> promise, std::optional<milliseconds> patience) {
    if (patience) promise->timer_.expires_after(*patience);
    while (!promise->value_ && (!patience || promise->timer_.expiry() > std::chrono::steady_clock::now())) {
      co_await promise->timer_.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    co_return std::move(promise->value_);
  }
  static void give(const std::shared_ptr<Promise>& promise, Value value) {
    asio::post(promise->executor_, [promise, value = std::move(value)]() mutable {
      promise->value_ = std::move(value);
      promise->timer_.cancel();
    });
  }

 private:
  asio::steady_timer timer_;
  asio::any_io_executor executor_;
  std::optional<Value> value_;
};

std::int64_t integer_of(const Resp3Value& value) {
  if (value.kind == Resp3Value::Kind::kInteger) return value.integer;
  if (!value.is_text()) throw ProtocolError("an integer is expected");
  return std::stoll(value.text);
}

}  // namespace

// ---- KeeperThread ---------------------------------------------------------------------------------------------------------------

class KeeperThread::Core {
 public:
  Core() : guard_(asio::make_work_guard(context)), thread_([this] { context.run(); }) {}
  ~Core() {
    guard_.reset();
    context.stop();
    thread_.join();
  }
  asio::io_context context{1};

 private:
  asio::executor_work_guard<asio::io_context::executor_type> guard_;
  std::thread thread_;
};

KeeperThread::KeeperThread() : core_(std::make_unique<Core>()) {}
KeeperThread::~KeeperThread() = default;
asio::any_io_executor KeeperThread::executor() const { return core_->context.get_executor(); }

// ---- TrackingKeeper -------------------------------------------------------------------------------------------------------------

/// Everything but the key and the value of the fence belongs to the keeper's thread.
class TrackingKeeper::Core : public MasterFollower, public std::enable_shared_from_this<Core> {
 public:
  using Reason = Promise<std::string>;
  using Passed = Promise<Fence>;

  Core(asio::any_io_executor executor, ConnectionOptions options)
      : fence_key("\xff" + std::string(sql::kFencePrefix) + random_version() + ":" + std::to_string(options.url.database)),
        fence_value(random_version()),
        executor_(std::move(executor)),
        options_(std::move(options)),
        socket_(executor_),
        timer_(executor_),
        pause_(executor_) {
    options_.client_name += "-memory";
  }

  const std::string fence_key, fence_value;
  const asio::any_io_executor& executor() const { return executor_; }

  void master_is_at(const TcpPlace& place) override {
    if (master_ && *master_ != place) close_socket();
  }

  void stop() {
    if (options_.master_watch) options_.master_watch->stop();
    stopped_ = true;
    lose("redquel ends");
  }

  void observe(std::string prefix, std::shared_ptr<KeyObserver> observer, std::shared_ptr<Reason> reason) {
    // Redis refuses a prefix of a prefix that it has, and gives none back: a new connection begins with the shorter one.
    const bool is_shorter = std::ranges::any_of(prefixes_, [&](const std::string& known) { return known != prefix && known.starts_with(prefix); });
    if (is_shorter && is_connected_) {
      shorter_.insert(prefix);
      lose("the set of kept tables changes");
    }
    observers_.push_back({prefix, std::move(observer)});
    const bool is_covered = std::ranges::any_of(prefixes_, [&](const std::string& known) { return prefix.starts_with(known); });
    if (is_connected_ && is_covered) return Reason::give(reason, "");
    if (is_connected_ && prefixes_.size() >= kMostPrefixes) {
      // Prefixes cannot be taken back: a new connection has those of the copies that are left.
      observers_.pop_back();
      shorter_.clear();
      lose("the set of kept tables changes");
      return Reason::give(reason, "the set of kept tables changes");
    }
    waiting_.push_back({std::move(prefix), std::move(reason)});
    if (!is_connected_) return connect();
    track_waiting();
  }

  void unobserve(const KeyObserver* observer) {
    std::erase_if(observers_, [&](const Observed& observed) { return observed.observer.get() == observer; });
  }

  void fence(std::vector<FencedTable> tables, std::shared_ptr<Passed> passed) {
    if (!is_connected_) return Passed::give(passed, failed("there is no tracking connection"));
    if (is_left_out("fence") && last_) return Passed::give(passed, *last_);
    fences_.push_back({std::move(tables), std::move(passed)});
    if (!sent_) send_fence();
  }

 private:
  struct Observed {
    std::string prefix;
    std::shared_ptr<KeyObserver> observer;
  };
  struct Waiting {
    std::string prefix;
    std::shared_ptr<Reason> reason;
  };
  struct Asked {
    std::vector<FencedTable> tables;
    std::shared_ptr<Passed> passed;
  };
  /// The request that a reply answers.
  enum class Expected : std::uint8_t { kNothing, kTracking, kFence };
  struct Sent {
    Expected kind = Expected::kNothing;
    std::shared_ptr<Reason> reason = nullptr;  // of kTracking
  };

  static Fence failed(std::string reason) {
    Fence fence;
    fence.reason = std::move(reason);
    return fence;
  }

  void connect() {
    if (std::exchange(is_connecting_, true)) return;
    asio::co_spawn(executor_, run(shared_from_this()), asio::detached);
  }

  static asio::awaitable<void> run(std::shared_ptr<Core> self) {
    std::string reason;
    try {
      reason = co_await self->log_in();
      if (reason.empty()) {
        self->is_connected_ = true;
        self->begin_tracking();
        reason = co_await self->read();
      }
    } catch (const std::exception& error) {
      reason = error.what();
    }
    self->is_connecting_ = false;
    self->lose(reason);
  }

  /// Ends the connection: nothing is known of any key from now on.
  void lose(const std::string& reason) {
    close_socket();
    tls_.reset();
    const bool was_connected = std::exchange(is_connected_, false);
    if (was_connected && !stopped_) spdlog::info("tables in memory are dropped: {}", reason);
    for (const Observed& observed : std::exchange(observers_, {})) observed.observer->lost(reason);
    for (const Waiting& waiting : std::exchange(waiting_, {})) Reason::give(waiting.reason, reason);
    for (const Sent& sent : std::exchange(expected_, {})) {
      if (sent.reason) Reason::give(sent.reason, reason);
    }
    for (const Asked& asked : std::exchange(passing_, {})) Passed::give(asked.passed, failed(reason));
    for (const Asked& asked : std::exchange(fences_, {})) Passed::give(asked.passed, failed(reason));
    prefixes_.clear();
    output_.clear();
    sent_ = has_reply_ = false;
  }

  /// Connects and logs in. Returns the reason why this Redis cannot be tracked; empty: it can.
  asio::awaitable<std::string> log_in() {
    const std::shared_ptr<Core> self = shared_from_this();
    socket_ = RedisSocket(executor_);
    timer_.expires_after(options_.connect_timeout);
    timer_.async_wait([weak = weak_from_this()](error_code cancelled) {
      const auto core = weak.lock();
      if (!cancelled && core && !core->is_connected_) core->close_socket();
    });
    const RedisLogin login = current_login(options_);
    RedisUrl url = options_.url;
    if (url.sentinels) {
      if (!options_.master_watch) options_.master_watch = MasterWatch::start(executor_, options_);
      options_.master_watch->follow(weak_from_this());
      const FoundMaster found = co_await find_master(url, login.tls);
      if (!found.place) co_return found.reason;
      url.place = *found.place;
      master_ = found.place;
    }
    const error_code failure = co_await connect_socket(socket_, url);
    if (failure) co_return failure.message();
    if (login.tls) {
      tls_.emplace(login.tls, master_ ? master_->host : std::string());
      TlsHandshakeResult handshake = co_await shake_tls_hands(socket_, *tls_, options_.url.address());
      if (handshake.error) co_return handshake.error->message();
    }
    ReplyDecoder decoder(options_.max_reply_bytes);
    const CommandBatch commands = handshake_commands(options_.url, login, options_.client_name);
    Replies replies;
    replies.set_names(commands.names());
    co_await write(std::string(commands.bytes()));
    while (replies.size() < commands.size()) {
      decoder.feed(co_await receive());
      while (replies.size() < commands.size() && decoder.next(replies)) {
      }
    }
    const HandshakeResult result = read_handshake(options_.url, replies);
    if (result.error) co_return result.error->message();
    if (result.server.cluster_enabled) co_return "the Redis is a cluster";
    if (result.server.role != "master") co_return "the Redis is a replica";
    decoder3_.emplace();
    CommandBatch batch;
    batch.add("HELLO", "3");
    batch.add("INFO", "memory");
    co_await write(std::string(batch.bytes()));
    const Resp3Value hello = co_await reply();
    if (hello.kind == Resp3Value::Kind::kError) co_return hello.text;
    const Resp3Value memory = co_await reply();
    const std::optional<std::uint64_t> limit = memory_limit(memory.text);
    if (limit != std::uint64_t{0}) {
      CommandBatch question;
      question.add("CONFIG", "GET", "maxmemory-clients");
      co_await write(std::string(question.bytes()));
      const Resp3Value bound = co_await reply();
      if (!limit || !bounds_clients(bound, *limit)) co_return "the Redis has maxmemory set, and no maxmemory-clients of at most a half of it";
    }
    has_field_expiry_ = result.server.version.starts_with("7.4") || !result.server.version.starts_with("7.");
    timer_.cancel();
    co_return "";
  }

  asio::awaitable<Resp3Value> reply() {
    for (;;) {
      if (std::optional<Resp3Value> value = decoder3_->next()) co_return std::move(*value);
      decoder3_->feed(co_await receive());
    }
  }

  asio::awaitable<void> write(std::string bytes) {
    if (tls_) bytes = tls_->encrypted(bytes);
    co_await asio::async_write(socket_, asio::buffer(bytes), asio::use_awaitable);
  }

  /// Returns the next bytes.
  asio::awaitable<std::string> receive() {
    co_await wait_quietly();
    const std::size_t received = co_await socket_.async_read_some(asio::buffer(input_), asio::use_awaitable);
    has_more_ = received == input_.size();
    if (!tls_) co_return std::string(input_.data(), received);
    tls_->feed({input_.data(), received});
    std::string plain;
    std::array<char, 16384> room;
    while (const std::size_t count = tls_->decrypt(room)) plain.append(room.data(), count);
    co_return plain;
  }

  /// While other programs write and nothing waits for an answer, the messages of some milliseconds are read together. A watched socket would
  /// wake this thread for each of them.
  asio::awaitable<void> wait_quietly() {
    if (std::exchange(has_messages_, false)) last_message_ = std::chrono::steady_clock::now();
    const auto may_wait = [&] { return is_connected_ && expected_.empty() && !sent_ && last_message_ + kQuietTime > std::chrono::steady_clock::now(); };
    if (has_more_) co_return;
    while (may_wait()) {
      if (!is_writing_) unwatched_.unwatch();
      pause_.expires_after(kMessagePause);
      co_await pause_.async_wait(asio::as_tuple(asio::use_awaitable));
      if (unwatched_.has_bytes()) break;
    }
    unwatched_.watch();
  }

  void close_socket() {
    unwatched_.watch();
    error_code ignored;
    socket_.close(ignored);
  }

  void send(const CommandBatch& batch) {
    unwatched_.watch();
    pause_.cancel();
    output_ += tls_ ? tls_->encrypted(batch.bytes()) : std::string(batch.bytes());
    if (!std::exchange(is_writing_, true)) asio::co_spawn(executor_, write_output(shared_from_this()), asio::detached);
  }

  static asio::awaitable<void> write_output(std::shared_ptr<Core> self) {
    error_code failure;
    while (!self->output_.empty() && !failure) {
      const std::string bytes = std::exchange(self->output_, {});
      co_await asio::async_write(self->socket_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, failure));
    }
    self->is_writing_ = false;
    if (failure) self->close_socket();  // the reader notices
  }

  /// The fence's own key first: its messages come behind those of all other prefixes, since its first byte is the largest.
  void begin_tracking() {
    CommandBatch batch;
    batch.add("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", fence_key);
    batch.add("SET", fence_key, fence_value, "PX", "86400000");
    send(batch);
    expected_.push_back({Expected::kTracking});
    expected_.push_back({Expected::kTracking});
    prefixes_.insert(fence_key);
    for (const std::string& prefix : shorter_) {
      const bool is_covered = std::ranges::any_of(prefixes_, [&](const std::string& known) { return prefix.starts_with(known); });
      if (!is_covered) waiting_.insert(waiting_.begin(), {prefix, std::make_shared<Reason>(executor_)});
    }
    track_waiting();
  }

  void track_waiting() {
    for (Waiting& waiting : std::exchange(waiting_, {})) {
      const bool is_covered = std::ranges::any_of(prefixes_, [&](const std::string& known) { return waiting.prefix.starts_with(known); });
      if (is_covered) {
        // An earlier command is on its way: this one's turn is behind it.
        CommandBatch batch;
        batch.add("PING");
        send(batch);
      } else {
        CommandBatch batch;
        batch.add("CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", waiting.prefix);
        send(batch);
        prefixes_.insert(waiting.prefix);
      }
      expected_.push_back({Expected::kTracking, std::move(waiting.reason)});
    }
  }

  void send_fence() {
    passing_ = std::exchange(fences_, {});
    CommandBatch batch;
    batch.add("MULTI");
    batch.add("GET", fence_key);
    batch.add("TIME");
    if (has_field_expiry_) batch.add("INFO", "keyspace");
    for (const Asked& asked : passing_) {
      for (const FencedTable& table : asked.tables) {
        batch.add("HGET", sql::kVersionsKey, table.table);
        if (table.members.empty()) continue;
        batch.add("GET", table.changes);
        batch.add("ZCARD", table.members);
      }
    }
    batch.add("PEXPIRE", fence_key, "86400000");
    batch.add("EXEC");
    queued_ = batch.size() - 1;
    send(batch);
    sent_ = true;
    has_reply_ = false;
    expected_.push_back({Expected::kFence});
  }

  asio::awaitable<std::string> read() {
    for (;;) {
      take_invalidations();
      const std::optional<Resp3Value> value = decoder3_->next();
      if (!value) {
        decoder3_->feed(co_await receive());
        continue;
      }
      std::string reason = value->kind == Resp3Value::Kind::kPush ? take_push(*value) : take_reply(*value);
      if (!reason.empty()) co_return reason;
    }
  }

  void take_invalidations() {
    bool names_fence = false;
    while (decoder3_->take_invalidation([&](std::string_view key) { names_fence = note_key(key) || names_fence; })) {
      if (std::exchange(names_fence, false) && has_reply_) pass();
    }
  }

  /// Passes a changed key on to the copies. Returns true if it is the fence's.
  bool note_key(std::string_view key) {
    if (key == fence_key) return true;
    has_messages_ = true;
    for (const Observed& observed : observers_) {
      if (key.starts_with(observed.prefix)) observed.observer->key_changed(key);
    }
    return false;
  }

  /// Returns the reason why nothing is known of any key any more; empty: the keys that the message names have changed.
  std::string take_push(const Resp3Value& push) {
    if (push.children.size() != 2 || push.children[0].text != "invalidate") return "";
    // FLUSHDB, which may have been of another database, or DEBUG RELOAD, which may have brought older data with the fence's key.
    if (push.children[1].kind != Resp3Value::Kind::kArray) return "Redis says that any key may have changed";
    bool names_fence = false;
    for (const Resp3Value& key : push.children[1].children) names_fence = note_key(key.text) || names_fence;
    // A message before the reply may be of a change of the key by another program.
    if (names_fence && has_reply_) pass();
    return "";
  }

  std::string take_reply(const Resp3Value& value) {
    if (expected_.empty()) return "an unexpected reply";
    if (expected_.front().kind == Expected::kTracking) {
      const std::shared_ptr<Reason> reason = expected_.front().reason;
      const bool is_error = value.kind == Resp3Value::Kind::kError;
      expected_.pop_front();
      if (reason) Reason::give(reason, is_error ? value.text : "");
      return is_error ? value.text : "";
    }
    if (queued_ > 0) {
      --queued_;
      return value.kind == Resp3Value::Kind::kError ? value.text : "";
    }
    expected_.pop_front();
    return take_fence(value);
  }

  std::string take_fence(const Resp3Value& value) {
    if (value.kind != Resp3Value::Kind::kArray || value.children.size() < 3) return value.text.empty() ? "an unexpected reply" : value.text;
    std::size_t next = 0;
    const auto take = [&]() -> const Resp3Value& {
      const Resp3Value& element = value.children.at(next++);
      if (element.kind == Resp3Value::Kind::kError) throw ProtocolError(element.text);
      return element;
    };
    const bool is_same = take().text == fence_value || is_left_out("database");
    if (!is_same) return "Redis shows another logical database, or has been emptied";
    const Resp3Value& time = take();
    const std::int64_t milliseconds = integer_of(time.children.at(0)) * 1000 + integer_of(time.children.at(1)) / 1000;
    const bool expires_fields = has_field_expiry_ && has_fields_that_expire(take().text);
    results_.clear();
    for (const Asked& asked : passing_) {
      Fence fence;
      fence.passed = !expires_fields;
      if (expires_fields) fence.reason = "fields of hashes expire";
      fence.milliseconds = milliseconds;
      for (std::size_t i = 0; i < asked.tables.size(); ++i) {
        FencedState& state = fence.tables.emplace_back();
        state.version = take().text;
        if (asked.tables[i].members.empty()) continue;
        state.changes = take().text;
        state.members = integer_of(take());
      }
      results_.push_back(std::move(fence));
    }
    if (integer_of(take()) != 1) return "the fence's key is gone";
    has_reply_ = true;
    return "";
  }

  static bool has_fields_that_expire(const std::string& keyspace) {
    constexpr std::string_view kName = "subexpiry=";
    for (std::size_t at = keyspace.find(kName); at != std::string::npos; at = keyspace.find(kName, at + 1)) {
      if (keyspace[at + kName.size()] != '0') return true;
    }
    return false;
  }

  void pass() {
    has_reply_ = sent_ = false;
    if (is_left_out("fence")) last_ = results_.front();
    for (std::size_t i = 0; i < passing_.size(); ++i) Passed::give(passing_[i].passed, std::move(results_[i]));
    passing_.clear();
    if (!fences_.empty()) send_fence();
  }

  const asio::any_io_executor executor_;
  ConnectionOptions options_;
  std::optional<TcpPlace> master_;  // the place that the sentinels named
  RedisSocket socket_;
  UnwatchedSocket unwatched_{socket_};
  asio::steady_timer timer_;
  asio::steady_timer pause_;  // between reads of messages
  bool has_more_ = false;     // the last read has filled its buffer
  bool has_messages_ = false;  // of changed keys, since it was noted when
  std::chrono::steady_clock::time_point last_message_{};
  std::optional<TlsSession> tls_;
  std::optional<Resp3Decoder> decoder3_;
  std::array<char, 65536> input_;
  std::string output_;
  bool is_connecting_ = false, is_connected_ = false, is_writing_ = false, stopped_ = false;
  bool has_field_expiry_ = false;
  std::list<Observed> observers_;
  std::set<std::string> prefixes_;
  std::set<std::string> shorter_;  // that came after longer ones: the next connection begins with them
  std::vector<Waiting> waiting_;
  std::deque<Sent> expected_;
  std::vector<Asked> fences_;   // that come next
  std::vector<Asked> passing_;  // that are on their way
  std::vector<Fence> results_;  // parallel to `passing_`, once there is a reply
  std::optional<Fence> last_;   // for tests that leave the fence out
  bool sent_ = false, has_reply_ = false;
  std::size_t queued_ = 0;      // replies of MULTI and of the commands in it that are still to come
};

TrackingKeeper::TrackingKeeper(asio::any_io_executor executor, ConnectionOptions options)
    : core_(std::make_shared<Core>(std::move(executor), std::move(options))) {}

TrackingKeeper::~TrackingKeeper() {
  asio::post(core_->executor(), [core = core_] { core->stop(); });
}

asio::awaitable<std::string> TrackingKeeper::observe(std::string prefix, std::shared_ptr<KeyObserver> observer) {
  const auto reason = std::make_shared<Core::Reason>(co_await asio::this_coro::executor);
  asio::post(core_->executor(), [core = core_, prefix = std::move(prefix), observer = std::move(observer), reason] { core->observe(prefix, observer, reason); });
  co_return *co_await Core::Reason::wait(reason, std::nullopt);
}

void TrackingKeeper::unobserve(const KeyObserver& observer) {
  asio::post(core_->executor(), [core = core_, observer = &observer] { core->unobserve(observer); });
}

asio::awaitable<Fence> TrackingKeeper::fence(std::vector<FencedTable> tables) {
  const auto passed = std::make_shared<Core::Passed>(co_await asio::this_coro::executor);
  asio::post(core_->executor(), [core = core_, tables = std::move(tables), passed] { core->fence(tables, passed); });
  std::optional<Fence> fence = co_await Core::Passed::wait(passed, kFencePatience);
  if (fence) co_return std::move(*fence);
  Fence late;
  late.reason = "Redis has not answered in time";
  co_return late;
}

std::string TrackingKeeper::fence_key() const { return core_->fence_key; }
std::string TrackingKeeper::fence_value() const { return core_->fence_value; }

}  // namespace redquel::executor
