#pragma once

#include <cstdint>
#include <vector>

#include "executor/redis/reply.h"
#include "executor/storage/commit_name.h"

namespace redquel::executor {

/// The answer of look_at_commits.lua for one bucket, at the moment of the rows that were read with it.
struct BucketLook {
  std::int64_t number = 0;   // of the last applied commit
  std::int64_t trimmed = 0;  // the highest number that is forgotten
  std::vector<CommitName> records, applied;
};

/// Decodes the reply of look_at_commits.lua. Throws XX001 where a name or number cannot be read.
BucketLook decode_bucket_look(const Reply& reply);

}  // namespace redquel::executor
