// The way of commands to Redis: what was gathered in one turn of the event loop leaves in one write.

#include <sys/socket.h>

#include <spdlog/spdlog.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>

#include "executor/redis/connection_core.h"
#include "executor/redis/write_admission.h"

namespace redquel::executor {

using boost::system::error_code;

namespace {

constexpr std::size_t kKeptOutputBytes = 1 << 20;

/// Returns the names of a batch's commands, for the log: values may be secrets.
std::string command_list(const CommandBatch& batch) {
  constexpr std::size_t kMostNames = 50;
  std::string list;
  for (std::size_t i = 0; i < std::min(batch.size(), kMostNames); ++i) list += (list.empty() ? "" : ", ") + std::string(batch.names()[i]);
  return batch.size() > kMostNames ? list + ", …" : list;
}

}  // namespace

void SharedConnection::Core::post_flush() {
  if (flush_posted_ || writing_) return;  // the end of a write flushes what has come meanwhile
  flush_posted_ = true;
  // Behind everything that is ready to run now: those handlers' batches still leave in this write.
  asio::post(socket_.get_executor(), [self = shared_from_this()] {
    self->flush_posted_ = false;
    self->flush();
  });
}

void SharedConnection::Core::flush() {
  if (state_ != State::ready || writing_ || is_silent_ || waiting_.empty()) return;
  Turn turn;
  turn.batches.reserve(waiting_.size());
  std::vector<std::shared_ptr<PendingBatch>> held;
  for (std::shared_ptr<PendingBatch>& pending : waiting_) {
    if (pending->is_abandoned()) continue;  // cancelled before it was sent
    if (writes_ != Writes::pass && !only_reads(pending->batch)) {
      if (writes_ == Writes::refused) {
        pending->fail(eviction_refused(options_.url.address(), server_.maxmemory_policy));
      } else {
        held.push_back(std::move(pending));
      }
      continue;
    }
    if (spdlog::should_log(spdlog::level::trace)) spdlog::trace("redis: {}", command_list(pending->batch));
    output_ += pending->batch.bytes();
    pending->expected_replies = pending->batch.size();
    pending->connection = statistics_.connects;
    pending->replies = std::make_shared<Replies>();
    pending->replies->reserve(pending->expected_replies);
    pending->replies->set_names(pending->batch.names());
    pending->batch = CommandBatch();
    turn.batches.push_back(std::move(pending));
  }
  waiting_.assign(std::make_move_iterator(held.begin()), std::make_move_iterator(held.end()));
  if (!waiting_.empty()) arm_deadline();
  if (turn.batches.empty()) return;
  send_turn(std::move(turn));
  poll_replies();
}

void SharedConnection::Core::poll_replies() {
  using Clock = ReplyPolling::Clock;
  if (tls_ || writing_ || turns_.size() != 1) return;
  const Clock::time_point begin = turns_.front().written;
  const ReplyPolling::Microseconds patience = polling_.patience(begin, idle_since_);
  if (patience.count() == 0) return;
  do {
    // Into a buffer of its own: the reader's may hold bytes that it has not looked at.
    const ssize_t received = ::recv(socket_.native_handle(), polled_input_.data(), polled_input_.size(), MSG_DONTWAIT);
    if (received == 0 || (received < 0 && errno != EAGAIN && errno != EINTR)) return;  // the reader meets it, too
    if (received < 0) continue;
    statistics_.bytes_received += static_cast<std::size_t>(received);
    note_progress();
    polling_.note(true);
    try {
      take_replies({polled_input_.data(), static_cast<std::size_t>(received)});
    } catch (const std::exception& failure) {  // ProtocolError, out of memory
      loss_ = std::string("protocol error: ") + failure.what();
      close_socket();  // the reader notices
      return;
    }
    if (turns_.size() != 1 || turns_.front().written != begin) return;
  } while (Clock::now() - begin < patience);
  polling_.note(false);
}

void SharedConnection::Core::send_turn(Turn turn) {
  output_ += version_command_;
  if (!version_command_.empty()) turn.version = std::make_unique<Replies>();
  turn.written = std::chrono::steady_clock::now();
  if (turns_.empty()) last_progress_ = turn.written;
  turns_.push_back(std::move(turn));
  ++statistics_.turns;
  if (awaits_replicas_ && !needs_no_replicas()) append_wait(needed_replicas(), options_.unreplicated->issue());
  write_output();
}

void SharedConnection::Core::write_output() {
  if (tls_) encrypt_output();
  statistics_.bytes_sent += output_.size();
  watch_silence();
  if (send_at_once()) return;
  writing_ = true;
  // A large write takes several steps while Redis reads; a small one only shows that there is room in a buffer.
  const auto rest = [self = shared_from_this()](error_code error, std::size_t sent) {
    if (sent > 0 && sent < self->output_.size()) self->note_progress();
    return asio::transfer_all()(error, sent);
  };
  asio::async_write(socket_, asio::buffer(output_), rest,
                    [self = shared_from_this(), connection = statistics_.connects](error_code error, std::size_t) {
                      self->written(error, connection);
                    });
}

bool SharedConnection::Core::send_at_once() {
  const ssize_t sent = ::send(socket_.native_handle(), output_.data(), output_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) return false;  // the asynchronous write meets the same error, or waits
  const bool is_all = static_cast<std::size_t>(sent) == output_.size();
  if (is_all) forget_output();
  else output_.erase(0, static_cast<std::size_t>(sent));
  return is_all;
}

void SharedConnection::Core::forget_output() {
  output_.clear();
  if (output_.capacity() > kKeptOutputBytes) output_.shrink_to_fit();
}

void SharedConnection::Core::encrypt_output() {
  try {
    output_ = tls_->encrypted(output_);
  } catch (const TlsError&) {
    close_socket();  // the reader notices
  }
}

void SharedConnection::Core::written(error_code error, std::uint64_t connection) {
  writing_ = false;
  forget_output();
  // After an error the reader ends too (its socket is closed) and says what was lost.
  if (error && state_ == State::ready && connection == statistics_.connects) {
    close_socket();
    return;
  }
  flush();
}

void SharedConnection::Core::flush_if_idle() {
  if (turns_.empty() && !writing_ && ReplyPolling::is_idle(ReplyPolling::Clock::now(), idle_since_)) flush();
}

}  // namespace redquel::executor
