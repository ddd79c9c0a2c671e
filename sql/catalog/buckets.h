#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::sql {

// Buckets of a Redis Cluster. All keys of a bucket begin with its tag, "{29}", so they lie in one hash slot and on one node. One Redis has
// no buckets: tags are empty there, and every key is as docs/data-in-redis.md describes.

/// Buckets of a cluster. Bucket b lies in the b-th 1,024th of the slots, so nodes with equal ranges of slots have equally many buckets.
inline constexpr int kBucketLimit = 1024;
/// The bucket of definitions, roles and everything else that belongs to no table.
inline constexpr int kHomeBucket = 0;
inline constexpr int kSlotCount = 16384;

/// Returns the hash slot of a key, as CLUSTER KEYSLOT does.
int slot_of(std::string_view key);

/// Returns the tag of a bucket: the least decimal number, in braces, whose slot is in the bucket's part of the slots.
std::string_view bucket_tag(int bucket);
/// Returns the tag that a key or prefix of redquel begins with; empty: none. Braces of names and values are escaped in these keys.
std::string_view tag_of(std::string_view key);
std::string_view without_tag(std::string_view key);
/// Returns the bucket of a key that begins with a tag.
int bucket_of(std::string_view key);

/// Returns the number of the part, of so many, that has the rows with this text in the column of bucket_by. Never changes: keys lie by it.
std::size_t part_number(std::string_view canonical_text, std::size_t parts);

/// From now on the data is in a cluster. Called before the first connection, while there is one thread.
void use_cluster();
bool uses_cluster();

/// Returns the tag of kHomeBucket; empty on one Redis.
std::string_view home_tag();
/// Returns a key of stored_keys.h in kHomeBucket.
std::string home_key(std::string_view key);

}  // namespace redquel::sql
