#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::server {

enum class ActivityState : std::uint8_t { kStarting, kActive, kIdle, kInTransaction, kInFailedTransaction };

/// The current activity of a session. Its thread writes without a lock; others read a consistent copy (a sequence lock, as PostgreSQL's
/// PgBackendStatus). Times: µs since 2000-01-01 UTC.
class ActivitySlot {
 public:
  /// Bytes of a statement's text that are kept (track_activity_query_size without the final zero).
  static constexpr std::size_t kTextBytes = 1023;

  struct Copy {
    ActivityState state = ActivityState::kStarting;
    std::int64_t transaction_started = 0, statement_started = 0, state_changed = 0, query_id = 0;
    std::string text;  // cut where it is longer than kTextBytes
  };

  /// A statement begins. `text` is UTF-8.
  void begin(std::string_view text, std::int64_t now);
  /// Like begin(), with the text of the last statement.
  void begin_again(std::int64_t now);
  /// The identity of the running statement is known; 0: it has none.
  void set_query_id(std::int64_t query_id) { query_id_.store(query_id, std::memory_order_relaxed); }
  /// The session waits for its client, or begins.
  void rest(ActivityState state, std::int64_t now);
  Copy read() const;

 private:
  template <class Write>
  void change(const Write& write);
  void start(std::int64_t now);  // within change()

  std::atomic<std::uint32_t> changes_ = 0;  // odd while the owner writes
  std::atomic<ActivityState> state_ = ActivityState::kStarting;
  std::atomic<std::int64_t> transaction_started_ = 0, statement_started_ = 0, state_changed_ = 0, query_id_ = 0;
  std::atomic<std::uint32_t> text_bytes_ = 0;
  std::array<std::atomic<std::uint64_t>, (kTextBytes + 8) / 8> text_ = {};
};

}  // namespace redquel::server
