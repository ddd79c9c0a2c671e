#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/bucket_commit.h"

namespace redquel::executor {

/// Returns the program of a BucketWrite that changes definitions alone: `words` are those of shared/definitions.lua.
std::vector<std::string> definitions_program(const std::vector<std::string>& words);

/// Makes all writes or none, over the client's buckets. Returns the refusals; none of them: another process has aborted the commit. Nullopt:
/// it took place, and is forgotten some seconds later. Throws 08007 if the outcome is unknown.
asio::awaitable<std::optional<std::vector<BucketCommitResult::Refusal>>> commit_writes(RedisClient& client, CommitName name,
                                                                                     std::vector<BucketWrite> writes);

/// Brings a commit to its end whose record was seen in bucket `seen_in`, if all its buckets have prepared it. Returns false if it is not
/// decided. Throws 57P03 if a bucket cannot be reached.
asio::awaitable<bool> finish_if_decided(RedisClient& client, CommitName name, int seen_in);

}  // namespace redquel::executor
