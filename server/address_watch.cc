#include "server/address_watch.h"

namespace redquel::server {

namespace {

using namespace std::chrono_literals;

/// Beyond it all are forgotten.
constexpr std::size_t kMostAddresses = 1000;

}  // namespace

AddressWatch::Entry& AddressWatch::entry(const std::string& address) {
  if (entries_.size() >= kMostAddresses && !entries_.contains(address)) entries_.clear();
  Entry& found = entries_[address];
  const Time now = std::chrono::steady_clock::now();
  if (now - found.second >= 1s) {
    found.second = now;
    found.wrong_cancels = 0;
  }
  return found;
}

bool AddressWatch::may_cancel(const std::string& address) {
  const std::lock_guard lock(mutex_);
  return entry(address).wrong_cancels < wrong_cancels_;
}

void AddressWatch::note_wrong_cancel(const std::string& address) {
  const std::lock_guard lock(mutex_);
  ++entry(address).wrong_cancels;
}

bool AddressWatch::may_log(const std::string& address) {
  const std::lock_guard lock(mutex_);
  Entry& found = entry(address);
  const Time now = std::chrono::steady_clock::now();
  if (found.logged != Time() && now - found.logged < 60s) return false;
  found.logged = now;
  return true;
}

}  // namespace redquel::server
