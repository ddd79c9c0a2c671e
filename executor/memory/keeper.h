#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// A copy that must know which keys of its table change. Called from the keeper's thread; must not block.
class KeyObserver {
 public:
  virtual ~KeyObserver() = default;
  /// A key that begins with the observed prefix has changed.
  virtual void key_changed(std::string_view key) = 0;
  /// Anything may have changed, and nothing more is reported: FLUSHDB, SWAPDB, a lost connection. Not called after that.
  virtual void lost(std::string_view reason) = 0;
};

/// The keys of one table that a fence reads along, in one MULTI with the fence itself.
struct FencedTable {
  sql::Oid table = 0;    // field of redquel:versions
  std::string members;   // emp:zset; empty: a foreign table, which has neither it nor the counter
  std::string changes;   // redquel:changes:<oid>
};

/// The state of one table at the moment of a fence.
struct FencedState {
  std::string version;       // of redquel:versions; empty: the field is absent
  std::string changes;       // the counter; empty: none yet
  std::int64_t members = 0;  // ZCARD
};

/// A fence: a moment between the call and its return. Observers have been told of all changes before that moment.
struct Fence {
  bool passed = false;
  std::string reason;            // why it has not passed
  std::int64_t milliseconds = 0;  // Redis's TIME at that moment, since 1970
  std::vector<FencedState> tables;  // parallel to the tables asked for
};

/// The tracking connection of one process to one logical database. Thread-safe; awaitables resume on the caller's executor.
class Keeper {
 public:
  virtual ~Keeper() = default;

  /// Begins to report changes of keys with the prefix. Returns an empty text once every later change is reported, or the reason why
  /// there is no reporting. The observer lives until `unobserve` returns.
  virtual asio::awaitable<std::string> observe(std::string prefix, std::shared_ptr<KeyObserver> observer) = 0;
  virtual void unobserve(const KeyObserver& observer) = 0;

  /// Passes a fence. A fence that does not pass in time says so by `reason`.
  virtual asio::awaitable<Fence> fence(std::vector<FencedTable> tables) = 0;

  /// The key of the fence in this database, and its random value. A MULTI that fills or reads again includes `GET fence_key`; another
  /// value than this one means another database (SWAPDB), and the replies are not used.
  virtual std::string fence_key() const = 0;
  virtual std::string fence_value() const = 0;
};

}  // namespace redquel::executor
