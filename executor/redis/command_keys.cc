#include "executor/redis/command_keys.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace redquel::executor {

namespace {

/// Where the keys of a command are; the names of the rules say it.
enum class KeyRule : std::uint8_t {
  kNone,
  kAll,            // every argument
  kPairs,          // every other argument
  kFirstTwo,       // the first two arguments
  kAllButFirst,    // BITOP operation destination key…
  kSecond,         // OBJECT ENCODING key
  kUsage,          // MEMORY USAGE key; none for the others
  kCounted,        // number of keys, keys
  kScript,         // script, number of keys, keys
  kCountedBehind,  // destination, number of keys, keys
  kStreams,        // behind STREAMS: keys, and as many numbers
};

struct KeyRow {
  std::string_view name;
  KeyRule rule;
  CommandKeys::Over over = CommandKeys::Over::kNothing;
};

using Over = CommandKeys::Over;
constexpr auto kKeyRows = std::to_array<KeyRow>({
    {"ACL", KeyRule::kNone},
    {"ASKING", KeyRule::kNone},
    {"AUTH", KeyRule::kNone},
    {"BGREWRITEAOF", KeyRule::kNone},
    {"BITOP", KeyRule::kAllButFirst},
    {"CLIENT", KeyRule::kNone},
    {"CLUSTER", KeyRule::kNone},
    {"COMMAND", KeyRule::kNone},
    {"CONFIG", KeyRule::kNone},
    {"COPY", KeyRule::kFirstTwo},
    {"DBSIZE", KeyRule::kNone},
    {"DEL", KeyRule::kAll, Over::kSum},
    {"DISCARD", KeyRule::kNone},
    {"ECHO", KeyRule::kNone},
    {"EVAL", KeyRule::kScript},
    {"EVALSHA", KeyRule::kScript},
    {"EVALSHA_RO", KeyRule::kScript},
    {"EVAL_RO", KeyRule::kScript},
    {"EXEC", KeyRule::kNone},
    {"EXISTS", KeyRule::kAll, Over::kSum},
    {"FCALL", KeyRule::kScript},
    {"FCALL_RO", KeyRule::kScript},
    {"FLUSHALL", KeyRule::kNone},
    {"FLUSHDB", KeyRule::kNone},
    {"GEOSEARCHSTORE", KeyRule::kFirstTwo},
    {"HELLO", KeyRule::kNone},
    {"INFO", KeyRule::kNone},
    {"KEYS", KeyRule::kNone},
    {"LATENCY", KeyRule::kNone},
    {"LCS", KeyRule::kFirstTwo},
    {"LMOVE", KeyRule::kFirstTwo},
    {"LMPOP", KeyRule::kCounted},
    {"MEMORY", KeyRule::kUsage},
    {"MGET", KeyRule::kAll, Over::kElements},
    {"MSET", KeyRule::kPairs},
    {"MULTI", KeyRule::kNone},
    {"OBJECT", KeyRule::kSecond},
    {"PFCOUNT", KeyRule::kAll},
    {"PFMERGE", KeyRule::kAll},
    {"PING", KeyRule::kNone},
    {"PUBLISH", KeyRule::kNone},
    {"PUBSUB", KeyRule::kNone},
    {"RANDOMKEY", KeyRule::kNone},
    {"READONLY", KeyRule::kNone},
    {"RENAME", KeyRule::kFirstTwo},
    {"RENAMENX", KeyRule::kFirstTwo},
    {"ROLE", KeyRule::kNone},
    {"RPOPLPUSH", KeyRule::kFirstTwo},
    {"SCAN", KeyRule::kNone},
    {"SCRIPT", KeyRule::kNone},
    {"SDIFF", KeyRule::kAll, Over::kAlgebra},
    {"SDIFFSTORE", KeyRule::kAll},
    {"SELECT", KeyRule::kNone},
    {"SINTER", KeyRule::kAll, Over::kAlgebra},
    {"SINTERCARD", KeyRule::kCounted, Over::kAlgebra},
    {"SINTERSTORE", KeyRule::kAll},
    {"SLOWLOG", KeyRule::kNone},
    {"SMOVE", KeyRule::kFirstTwo},
    {"SUNION", KeyRule::kAll, Over::kAlgebra},
    {"SUNIONSTORE", KeyRule::kAll},
    {"TIME", KeyRule::kNone},
    {"TOUCH", KeyRule::kAll, Over::kSum},
    {"UNLINK", KeyRule::kAll, Over::kSum},
    {"UNWATCH", KeyRule::kNone},
    {"WAIT", KeyRule::kNone},
    {"WATCH", KeyRule::kAll},
    {"XGROUP", KeyRule::kSecond},
    {"XINFO", KeyRule::kSecond},
    {"XREAD", KeyRule::kStreams},
    {"XREADGROUP", KeyRule::kStreams},
    {"ZDIFF", KeyRule::kCounted},
    {"ZDIFFSTORE", KeyRule::kCountedBehind},
    {"ZINTER", KeyRule::kCounted},
    {"ZINTERCARD", KeyRule::kCounted},
    {"ZINTERSTORE", KeyRule::kCountedBehind},
    {"ZMPOP", KeyRule::kCounted},
    {"ZRANGESTORE", KeyRule::kFirstTwo},
    {"ZUNION", KeyRule::kCounted},
    {"ZUNIONSTORE", KeyRule::kCountedBehind},
});
static_assert(std::ranges::is_sorted(kKeyRows, {}, &KeyRow::name));

constexpr std::size_t kLongestKnownName = 20;

constexpr char to_upper(char character) { return character >= 'a' && character <= 'z' ? static_cast<char>(character - 'a' + 'A') : character; }

const KeyRow* row_of(std::string_view name) {
  std::array<char, kLongestKnownName> buffer;
  if (name.size() > kLongestKnownName) return nullptr;
  std::ranges::transform(name, buffer.begin(), to_upper);
  const std::string_view known(buffer.data(), name.size());
  const auto found = std::ranges::lower_bound(kKeyRows, known, {}, &KeyRow::name);
  return found != kKeyRows.end() && found->name == known ? &*found : nullptr;
}

/// Returns so many words from `first` on, as far as they are there.
CommandKeys counted(std::span<const std::string_view> words, std::size_t number, std::size_t first) {
  std::size_t count = 0;
  if (number < words.size()) std::from_chars(words[number].data(), words[number].data() + words[number].size(), count);
  return {.first = first, .count = first < words.size() ? std::min(count, words.size() - first) : 0};
}

/// Returns the words from `first` to `last`, as far as they are there.
CommandKeys between(std::span<const std::string_view> words, std::size_t first, std::size_t last) {
  const std::size_t end = std::min(words.size(), last + 1);
  return {.first = first, .count = end > first ? end - first : 0};
}

CommandKeys keys_by(KeyRule rule, std::span<const std::string_view> words) {
  const std::size_t all = words.size();
  switch (rule) {
    case KeyRule::kNone: return {};
    case KeyRule::kAll: return between(words, 1, all);
    case KeyRule::kPairs: return {.first = 1, .count = all / 2, .step = 2};
    case KeyRule::kFirstTwo: return between(words, 1, 2);
    case KeyRule::kAllButFirst: return between(words, 2, all);
    case KeyRule::kSecond: return between(words, 2, 2);
    case KeyRule::kUsage: return all > 1 && to_upper(words[1].empty() ? ' ' : words[1][0]) == 'U' ? between(words, 2, 2) : CommandKeys{};
    case KeyRule::kCounted: return counted(words, 1, 2);
    case KeyRule::kScript: {
      CommandKeys keys = counted(words, 2, 3);
      keys.is_script = true;
      return keys;
    }
    case KeyRule::kCountedBehind: return between(words, 1, 1);
    case KeyRule::kStreams: {
      const auto found = std::ranges::find_if(words, [](std::string_view word) { return word == "STREAMS" || word == "streams"; });
      if (found == words.end()) return {};
      const auto first = static_cast<std::size_t>(found - words.begin()) + 1;
      return {.first = first, .count = (all - first) / 2};
    }
  }
  return {};
}

}  // namespace

CommandKeys keys_of(std::span<const std::string_view> words) {
  if (words.empty()) return {};
  const KeyRow* row = row_of(words[0]);
  if (row == nullptr) return between(words, 1, 1);
  CommandKeys keys = keys_by(row->rule, words);
  keys.over = row->over;
  return keys;
}

}  // namespace redquel::executor
