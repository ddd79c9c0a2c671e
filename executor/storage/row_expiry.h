#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "executor/redis/client.h"
#include "executor/storage/row_image.h"

namespace redquel::executor {

namespace asio = boost::asio;

// Rows of tables with a time to live. Redis itself lets the row's hash expire (PEXPIRE), without a message. So every such row has a member
// in the table's `expiries`, by the time when it is due, and a field in its `entries` that lists the places of its index entries. redquel
// looks up due rows and removes the entries of expired ones. The list is also used when the key of an expired row is used again.

/// PEXPIRE's argument for a row that is written: milliseconds from now on (of this process's clock: only the distance counts for
/// Redis), "never". "": as it is.
std::string_view time_to_live(const RowEncoder& encoder, const RowImage& image, Words& words);
/// PEXPIRE's argument for a row that expires at that time, a timestamptz; kNeverExpires: "never".
std::string_view time_left(std::int64_t time, Words& words);
inline constexpr std::int64_t kNeverExpires = std::numeric_limits<std::int64_t>::max();
/// Returns true if the update changes the row's expiry.
bool changes_expiry(const RowEncoder& encoder, const RowImage& before, const RowImage& after, const Words& words);

/// The row's field in `entries`: words with their lengths, first the row's key, then four for each entry. `with_row`: else only
/// entries, to be appended to others.
std::string row_entries(const RowEncoder& encoder, const RowImage& image, const Words& words, bool with_row);

/// Removes the index entries of expired rows of all tables in one logical database, in steps of about a millisecond; each is complete
/// in itself. Gives how many rows were gone. `tag`: of the bucket.
asio::awaitable<std::size_t> sweep_expired_rows(RedisClient& client, std::string tag);

}  // namespace redquel::executor
