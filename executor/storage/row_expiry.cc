#include "executor/storage/row_expiry.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "executor/redis/redis_error.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/placed_table.h"
#include "executor/storage/stored_text.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

namespace {

/// Rows that one script looks at.
constexpr int kSweptRows = 200;
/// Later than this is never: some 30,000 years.
constexpr std::int64_t kForever = std::int64_t{1} << 50;

/// Milliseconds from now until a timestamptz, rounded up.
std::int64_t milliseconds_until(std::int64_t time) {
  if (time == kNeverExpires) return kForever;
  if (time == std::numeric_limits<std::int64_t>::min()) return 0;
  const std::int64_t left = time - sql::current_timestamp();
  return left <= 0 ? 0 : left / 1000 + (left % 1000 != 0 ? 1 : 0);
}

std::string_view expiry_word(std::int64_t left, Words& words) { return left >= kForever ? "never" : words.store(std::to_string(left)); }

void append_listed_entry(std::string& text, std::string_view kind, std::string_view key, std::string_view first, std::string_view second) {
  for (const std::string_view word : {kind, key, first, second}) sql::append_listed_word(text, word);
}

}  // namespace

std::string_view time_to_live(const RowEncoder& encoder, const RowImage& image, Words& words) {
  const sql::RowExpiry& expiry = encoder.table().managed().expiry;
  std::int64_t left = expiry.milliseconds;
  if (expiry.column != 0) {
    const std::string_view text = words[image.texts + encoder.table().position(expiry.column)];
    left = is_null(text) ? kForever : milliseconds_until(std::get<std::int64_t>(parse_stored_text(sql::kTimestamptz, text)));
  }
  return expiry_word(left, words);
}

std::string_view time_left(std::int64_t time, Words& words) { return expiry_word(milliseconds_until(time), words); }

bool changes_expiry(const RowEncoder& encoder, const RowImage& before, const RowImage& after, const Words& words) {
  const std::int16_t column = encoder.table().managed().expiry.column;
  if (column == 0) return false;
  const std::size_t position = encoder.table().position(column);
  return !are_same(words[before.texts + position], words[after.texts + position]);
}

std::string row_entries(const RowEncoder& encoder, const RowImage& image, const Words& words, bool with_row) {
  std::string text;
  if (with_row) {
    sql::append_listed_word(text, image.key);
    append_listed_entry(text, "zset", encoder.all_rows(), image.member, "");
  }
  for (std::size_t number = 0; number < encoder.structures().size(); ++number) {
    const auto& structure = encoder.structures()[number];
    const auto [first, second] = RowEncoder::entry(words, image, number);
    if (is_null(first)) continue;
    for (const std::string_view word : structure.kind->listed(structure, first, second)) sql::append_listed_word(text, word);
  }
  return text;
}

asio::awaitable<std::size_t> sweep_expired_rows(RedisClient& client, std::string tag) {
  std::size_t gone = 0;
  std::string cursor = "0";
  do {
    CommandBatch scan;
    scan.add("SSCAN", own_key(tag, sql::kExpiringKey), cursor, "COUNT", 100);
    const RepliesPtr scanned = co_await client.execute(std::move(scan));
    const std::span<const Reply> parts = scanned->array(0);
    if (parts.size() != 2) throw unexpected_reply("SSCAN", "a cursor and elements");
    for (const Reply& prefix : parts[1].children()) {
      const std::vector<std::string> keys{own_key(tag, sql::kExpiringKey)};
      const std::vector<std::string> arguments{std::string(prefix.text), std::to_string(kSweptRows)};
      std::int64_t looked_at = kSweptRows;
      while (looked_at == kSweptRows) {
        const RepliesPtr replies = co_await run_script(client, kSweepExpiredRowsScript, keys, arguments);
        const std::span<const Reply> counts = replies->array(0);
        looked_at = counts[0].integer;
        gone += static_cast<std::size_t>(counts[1].integer);
      }
    }
    cursor = std::string(parts[0].text);
  } while (cursor != "0");
  co_return gone;
}

}  // namespace redquel::executor
