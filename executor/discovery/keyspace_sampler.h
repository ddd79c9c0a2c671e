#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "sql/discovery/proposal.h"

namespace redquel::executor {

namespace asio = boost::asio;

struct DiscoveryOptions {
  std::string pattern = "*";             // of SCAN MATCH; without a wildcard: what keys begin with
  std::size_t sample = 50;               // keys that are read of each form of key
  std::size_t max_keys = 20'000'000;     // that are listed
  std::function<std::size_t()> step = {};  // how many keys one command lists; empty: a thousand
  /// Called after each command that lists or reads keys, with about how many were listed so far, of how many, and whether all are. It may
  /// throw to end the discovery. Empty: not called.
  std::function<void(std::size_t walked, std::size_t all, bool is_reading)> report = {};
};

struct Discovery {
  sql::Proposal proposal;
  std::size_t keys = 0;  // that were listed
};

/// Lists the keys by SCAN, groups them, reads some of each form, and proposes tables. Every command is bounded, so that Redis is never
/// held for more than a few milliseconds. Keys of redquel's own tables are left out. Throws SqlError of Redis.
asio::awaitable<Discovery> discover(RedisClient& client, DiscoveryOptions options);

}  // namespace redquel::executor
