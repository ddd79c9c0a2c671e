#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "sql/error.h"
#include "sql/value_errors.h"

namespace redquel::server {

/// Bytes that clients make the process hold between their statements: messages that have come in part, prepared statements, parameters of
/// portals. All sessions of all threads share one.
struct ClientMemory {
  explicit ClientMemory(std::size_t bytes) : limit(bytes) {}
  const std::size_t limit;
  std::atomic<std::size_t> used{0};
};

/// One session's part of it, a quarter at most. Belongs to the session's thread.
class SessionMemory {
 public:
  explicit SessionMemory(ClientMemory& all) : all_(all) {}
  SessionMemory(const SessionMemory&) = delete;
  SessionMemory& operator=(const SessionMemory&) = delete;

  /// Throws 53200 where the session or all of them would hold too much; then nothing is taken.
  void take(std::size_t bytes) {
    if (used_ + bytes > all_.limit / kShare) throw exceeded("this session", all_.limit / kShare);
    if (all_.used.fetch_add(bytes) + bytes > all_.limit) {
      all_.used.fetch_sub(bytes);
      throw exceeded("all sessions", all_.limit);
    }
    used_ += bytes;
  }
  void give_back(std::size_t bytes) {
    all_.used.fetch_sub(bytes);
    used_ -= bytes;
  }

 private:
  static constexpr std::size_t kShare = 4;

  static sql::SqlError exceeded(const char* who, std::size_t most) {
    return sql::out_of_memory()
        .detail(fmt::format("Messages, prepared statements and portals of {} need more than {} kB.", who, most >> 10))
        .hint("See limits.client_memory in the configuration.");
  }

  ClientMemory& all_;
  std::size_t used_ = 0;
};

/// A number of bytes of a session, given back with this object.
class HeldBytes {
 public:
  HeldBytes() = default;
  /// Throws 53200.
  HeldBytes(SessionMemory& memory, std::size_t bytes) : memory_(&memory) { resize(bytes); }
  HeldBytes(HeldBytes&& other) noexcept : memory_(other.memory_), bytes_(std::exchange(other.bytes_, 0)) {}
  HeldBytes& operator=(HeldBytes&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HeldBytes() {
    if (bytes_ > 0) memory_->give_back(bytes_);
  }

  /// Throws 53200; then it is as it was. Without effect on an object that belongs to no session.
  void resize(std::size_t bytes) {
    if (memory_ == nullptr) return;
    if (bytes > bytes_) memory_->take(bytes - bytes_);
    else memory_->give_back(bytes_ - bytes);
    bytes_ = bytes;
  }

 private:
  SessionMemory* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace redquel::server
