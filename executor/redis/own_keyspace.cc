#include "executor/redis/own_keyspace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

constexpr std::string_view kNil = "$-1\r\n", kNothing = "*0\r\n";

std::string bulk(std::string_view text) { return fmt::format("${}\r\n{}\r\n", text.size(), text); }
std::string integer(std::size_t number) { return fmt::format(":{}\r\n", number); }

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) { return std::ranges::find(names, name) != names.end(); }

std::uint64_t number_of(const std::string& text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

void OwnKeyspace::put(std::string_view key, std::string_view field, std::string value) {
  const std::lock_guard lock(mutex_);
  hashes_[std::string(key)].insert_or_assign(std::string(field), std::move(value));
}

void OwnKeyspace::keep_changes(Keep keep) {
  const std::lock_guard lock(mutex_);
  keep_ = std::move(keep);
}

std::string OwnKeyspace::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

const OwnKeyspace::Hash* OwnKeyspace::find(std::string_view key) const {
  const auto found = hashes_.find(key);
  return found == hashes_.end() ? nullptr : &found->second;
}

std::string OwnKeyspace::answer(std::span<const std::string_view> words) const {
  const std::lock_guard lock(mutex_);
  const std::string_view name = words[0], key = words.size() > 1 ? words[1] : std::string_view();
  const Hash* hash = find(key);
  const bool is_version = key == sql::kVersionKey && !version_.empty();
  if (name == "GET") return is_version ? bulk(version_) : std::string(kNil);
  if (name == "EXISTS") return integer(static_cast<std::size_t>(std::ranges::count_if(words.subspan(1), [&](std::string_view word) {
    return find(word) != nullptr || (word == sql::kVersionKey && !version_.empty());
  })));
  if (name == "TYPE") return is_version ? "+string\r\n" : hash ? "+hash\r\n" : "+none\r\n";
  if (name == "HLEN") return integer(hash ? hash->size() : 0);
  if (name == "HGET" && words.size() == 3) {
    const auto field = hash ? hash->find(words[2]) : Hash::const_iterator();
    return hash && field != hash->end() ? bulk(field->second) : std::string(kNil);
  }
  if (is_one_of(name, {"HGETALL", "HKEYS", "HVALS"})) {
    if (!hash) return std::string(kNothing);
    std::string reply = fmt::format("*{}\r\n", hash->size() * (name == "HGETALL" ? 2 : 1));
    for (const auto& [field, value] : *hash) {
      if (name != "HVALS") reply += bulk(field);
      if (name != "HKEYS") reply += bulk(value);
    }
    return reply;
  }
  if (is_one_of(name, {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"})) return ":-2\r\n";
  if (is_one_of(name, {"STRLEN", "SCARD", "ZCARD", "LLEN", "XLEN", "ZCOUNT", "SISMEMBER", "HEXISTS", "SINTERCARD"})) return ":0\r\n";
  if (is_one_of(name, {"HMGET", "MGET"})) {
    const std::size_t count = words.size() - (name == "MGET" ? 1 : 2);
    std::string reply = fmt::format("*{}\r\n", count);
    for (std::size_t i = 0; i < count; ++i) reply += kNil;
    return reply;
  }
  if (is_one_of(name, {"SMEMBERS", "SINTER", "SUNION", "SDIFF", "ZRANGE", "LRANGE", "XRANGE", "XREVRANGE", "HRANDFIELD", "SRANDMEMBER"})) return std::string(kNothing);
  if (is_one_of(name, {"SSCAN", "HSCAN", "ZSCAN"})) return "*2\r\n$1\r\n0\r\n*0\r\n";
  if (is_one_of(name, {"GETRANGE", "OBJECT", "MEMORY", "ZSCORE", "ZRANK", "ZREVRANK", "LINDEX", "DUMP"})) return std::string(kNil);
  return fmt::format("-READONLY {} changes keys of redquel's own, which are not in Redis\r\n", name);
}

bool OwnKeyspace::commit(Commit commit) {
  const std::lock_guard lock(mutex_);
  if (version_ != commit.base) return false;
  Hash& hash = hashes_[commit.key];
  if (commit.still_free) {
    const auto taken = hash.find(commit.still_free->first);
    if (taken != hash.end() && number_of(taken->second) > commit.still_free->second) return false;
  }
  if (keep_ && !commit.statements.empty()) keep_(commit.statements);
  for (std::string& field : commit.deleted) hash.erase(field);
  for (auto& [field, value] : commit.set) hash.insert_or_assign(std::move(field), std::move(value));
  version_ = std::move(commit.version);
  return true;
}

std::uint64_t OwnKeyspace::reserve(std::string_view key, std::string_view field, std::uint64_t first, std::uint64_t count) {
  const std::lock_guard lock(mutex_);
  std::string& value = hashes_[std::string(key)].try_emplace(std::string(field)).first->second;
  const std::uint64_t before = std::max(first, number_of(value));
  value = std::to_string(before + count);
  return before;
}

}  // namespace redquel::executor
