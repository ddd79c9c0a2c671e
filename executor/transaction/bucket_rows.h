#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/locks.h"
#include "executor/storage/write_unit.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The rows of a transaction in one bucket, the locks that it has there, and the reads that must still hold when it commits.
struct BucketUnit {
  LockSet locks;
  ReadChecks reads;
  std::unique_ptr<WriteUnit> unit;
};
using BucketUnits = std::map<int, BucketUnit>;  // by bucket

struct BucketRowsOutcome {
  WriteStatus status = WriteStatus::kApplied;
  LockConflict blocker = {};  // where the status is kLocked
};

/// Commits rows, and definitions by bucket (CatalogCommit::parts), in several buckets: all or nothing. `make` makes the units anew for each
/// attempt; `verify`: they only look why a bucket has refused. Throws what WriteUnit::execute does, and 08007.
asio::awaitable<BucketRowsOutcome> commit_bucket_rows(RedisClient& redis, std::function<BucketUnits(bool verify)> make,
                                                      std::map<int, std::vector<std::string>> definitions);

}  // namespace redquel::executor
