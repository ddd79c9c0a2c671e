#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

namespace redquel::server {

/// Recent misbehaviour of clients by address, for all threads. Any thread may call.
class AddressWatch {
 public:
  /// `wrong_cancels`: CancelRequests with a wrong key that an address may send in a second.
  explicit AddressWatch(std::size_t wrong_cancels) : wrong_cancels_(wrong_cancels) {}

  /// Returns false where the address has guessed too many keys in this second.
  bool may_cancel(const std::string& address);
  void note_wrong_cancel(const std::string& address);
  /// Returns true at most once a minute for an address: then its misbehaviour may be logged.
  bool may_log(const std::string& address);

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    Time second, logged;
    std::size_t wrong_cancels = 0;
  };
  /// Under the mutex. The counts of this second.
  Entry& entry(const std::string& address);

  const std::size_t wrong_cancels_;
  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace redquel::server
