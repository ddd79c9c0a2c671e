#include "server/statistics/activity_slot.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace redquel::server {

namespace {

/// Returns how many bytes of the text are kept: no character is cut.
std::size_t kept_bytes(std::string_view text) {
  if (text.size() <= ActivitySlot::kTextBytes) return text.size();
  std::size_t bytes = ActivitySlot::kTextBytes;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  return bytes;
}

}  // namespace

template <class Write>
void ActivitySlot::change(const Write& write) {
  const std::uint32_t before = changes_.load(std::memory_order_relaxed);
  changes_.store(before + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  write();
  changes_.store(before + 2, std::memory_order_release);
}

void ActivitySlot::start(std::int64_t now) {
  state_.store(ActivityState::kActive, std::memory_order_relaxed);
  statement_started_.store(now, std::memory_order_relaxed);
  state_changed_.store(now, std::memory_order_relaxed);
  query_id_.store(0, std::memory_order_relaxed);
  if (transaction_started_.load(std::memory_order_relaxed) == 0) transaction_started_.store(now, std::memory_order_relaxed);
}

void ActivitySlot::begin_again(std::int64_t now) {
  change([&] { start(now); });
}

void ActivitySlot::begin(std::string_view text, std::int64_t now) {
  change([&] {
    start(now);
    const std::size_t bytes = kept_bytes(text);
    // Sessions often run one statement again and again. The owner alone writes, so it may read its text as plain bytes.
    static_assert(sizeof(text_) == sizeof(std::uint64_t) * std::tuple_size_v<decltype(text_)>);
    if (bytes == text_bytes_.load(std::memory_order_relaxed) && std::memcmp(static_cast<const void*>(text_.data()), text.data(), bytes) == 0) return;
    text_bytes_.store(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
    std::uint64_t word = 0;
    std::size_t i = 0;
    for (; i + sizeof word <= bytes; i += sizeof word) {
      std::memcpy(&word, text.data() + i, sizeof word);
      text_[i / sizeof word].store(word, std::memory_order_relaxed);
    }
    if (i == bytes) return;
    word = 0;
    std::memcpy(&word, text.data() + i, bytes - i);
    text_[i / sizeof word].store(word, std::memory_order_relaxed);
  });
}

void ActivitySlot::rest(ActivityState state, std::int64_t now) {
  change([&] {
    state_.store(state, std::memory_order_relaxed);
    state_changed_.store(now, std::memory_order_relaxed);
    if (state == ActivityState::kIdle || state == ActivityState::kInFailedTransaction) transaction_started_.store(0, std::memory_order_relaxed);
  });
}

ActivitySlot::Copy ActivitySlot::read() const {
  Copy copy;
  while (true) {
    const std::uint32_t before = changes_.load(std::memory_order_acquire);
    if (before % 2 == 0) {
      copy.state = state_.load(std::memory_order_relaxed);
      copy.transaction_started = transaction_started_.load(std::memory_order_relaxed);
      copy.statement_started = statement_started_.load(std::memory_order_relaxed);
      copy.state_changed = state_changed_.load(std::memory_order_relaxed);
      copy.query_id = query_id_.load(std::memory_order_relaxed);
      copy.text.resize(std::min<std::size_t>(text_bytes_.load(std::memory_order_relaxed), kTextBytes));
      for (std::size_t i = 0; i < copy.text.size(); i += sizeof(std::uint64_t)) {
        const std::uint64_t word = text_[i / sizeof(std::uint64_t)].load(std::memory_order_relaxed);
        std::memcpy(copy.text.data() + i, &word, std::min(sizeof word, copy.text.size() - i));
      }
      std::atomic_thread_fence(std::memory_order_acquire);
      if (changes_.load(std::memory_order_relaxed) == before) return copy;
    }
    std::this_thread::yield();
  }
}

}  // namespace redquel::server
