#include "executor/tables/callable_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/ascii.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

constexpr std::string_view kNoKey = "it names no key";
constexpr std::string_view kConnection = "it would change the state of a connection that sessions share";
constexpr std::string_view kBlocks = "it may block the connection that sessions share";
constexpr std::string_view kOtherDatabase = "it would reach another logical database";

/// Categories of commands (ACL CAT), and why redis.call() does not run them.
struct Category {
  std::string_view name, reason;
  bool is_for_unrestricted;  // redis.unrestricted_call runs them
};
constexpr Category kRefused[] = {
    {"@blocking", kBlocks, false},
    {"@connection", kConnection, false},
    {"@pubsub", kConnection, false},
    {"@transaction", kConnection, false},
    {"@admin", "it administers the server", true},
    {"@dangerous", "it may harm the server or its data", true},
    {"@scripting", "it runs a script, which may do anything", true},
};
/// Commands of no such category that turn the connection into a stream or a replica's.
constexpr std::string_view kTakeConnection[] = {"monitor", "psync", "replconf", "sync"};

/// Commands that are remembered; more names than Redis has come from a client that guesses.
constexpr std::size_t kMostCommands = 1000;
/// No command or subcommand is longer.
constexpr std::size_t kLongestName = 64;
/// No prefix is longer: two names of 63 bytes, each of them escaped, and a number.
constexpr std::size_t kLongestPrefix = 512;

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), sql::to_lower);
  return result;
}

sql::SqlError refused(std::string_view command, std::string_view reason) {
  const char first = static_cast<char>(reason.front() - 'a' + 'A');
  return sql::SqlError(sqlstate::kInsufficientPrivilege, fmt::format("redis.call() does not run {}", command))
      .detail(fmt::format("{}{}.", first, reason.substr(1)));
}

/// Part 2 of a COMMAND INFO reply has the flags, part 6 the categories.
bool has_word(const Reply& info, std::size_t part, std::string_view word) {
  const std::span<const Reply> parts = info.children();
  if (parts.size() <= part) return false;
  return std::ranges::any_of(parts[part].children(), [&](const Reply& found) { return found.text == word; });
}

/// Part 9 describes the subcommands; what the command itself has says nothing about them.
bool has_subcommands(const Reply& info) {
  const std::span<const Reply> parts = info.children();
  return parts.size() > 9 && !parts[9].children().empty();
}

/// Returns the first description of a COMMAND INFO reply; null if Redis does not know the command.
const Reply* description(const Reply& reply) {
  const std::span<const Reply> found = reply.children();
  return found.empty() || !found[0].is_array() ? nullptr : &found[0];
}

}  // namespace

CallableCommands::Command CallableCommands::described(const Reply& info, std::string_view name) {
  Command command;
  command.only_reads = has_word(info, 2, "readonly") && !has_word(info, 2, "write");
  for (const Category& category : kRefused) {
    if (command.refusal.empty() && has_word(info, 6, category.name)) command.refusal = category.reason;
  }
  if (std::ranges::find(kTakeConnection, name) != std::end(kTakeConnection)) command.refusal = kConnection;
  return command;
}

std::optional<CallableCommands::Command> CallableCommands::find(const std::string& name, const std::string& with_subcommand) const {
  auto found = commands_.find(with_subcommand);
  if (found == commands_.end()) found = commands_.find(name);
  return found == commands_.end() ? std::nullopt : std::optional(found->second);
}

void CallableCommands::remember(const std::string& name, const std::string& with_subcommand, const Replies& about) {
  if (commands_.size() >= kMostCommands) commands_.clear();
  const Reply* general = description(about.checked(0));
  const Reply* special = about[1].is_error() ? nullptr : description(about[1]);
  if (special != nullptr) {
    commands_.insert_or_assign(with_subcommand, described(*special, name));
  } else if (general != nullptr && !has_subcommands(*general)) {
    commands_.insert_or_assign(name, described(*general, name));
  }
}

std::string_view CallableCommands::refusal(const Command& command, std::span<const std::string> words, bool is_unrestricted) {
  if (!command.refusal.empty()) {
    const auto category = std::ranges::find(kRefused, command.refusal, &Category::reason);
    if (!is_unrestricted || !category->is_for_unrestricted) return command.refusal;
  }
  if (is_unrestricted) return {};
  const std::string name = lower(words[0]);
  if (name == "move") return kOtherDatabase;
  const bool names_database = std::ranges::any_of(words.subspan(std::min<std::size_t>(words.size(), 3)),
                                                  [](const std::string& word) { return word.size() == 2 && lower(word) == "db"; });
  return name == "copy" && names_database ? kOtherDatabase : std::string_view();
}

bool CallableCommands::is_own(std::string_view key) const {
  std::size_t end = 0;
  while (end != std::string_view::npos && end <= kLongestPrefix) {
    end = key.find(':', end);
    if (prefixes_.contains(key.substr(0, end))) return true;
    if (end != std::string_view::npos) ++end;
  }
  return false;
}

asio::awaitable<void> CallableCommands::check_keys(const Reply& keys, std::string_view shown, const std::optional<std::string>& version,
                                                   RedisClient& redis) {
  if (version_ != version) {
    CommandBatch batch;
    batch.add("HKEYS", sql::home_key(sql::kPrefixesKey));
    const RepliesPtr taken = co_await redis.execute(std::move(batch));
    prefixes_ = {"redquel"};
    for (const Reply& prefix : taken->array(0)) prefixes_.emplace(prefix.text);
    version_ = version;
  }
  for (const Reply& key : keys.children()) {
    if (!is_own(key.text) && !is_own(sql::without_tag(key.text))) continue;
    throw sql::SqlError(sqlstate::kInsufficientPrivilege, fmt::format("redis.call() does not run {} on keys of redquel's own", shown))
        .detail("The keys of tables and sequences, and those that begin with \"redquel:\", are changed by SQL alone.");
  }
}

asio::awaitable<void> CallableCommands::check(std::span<const std::string> words, bool read_only, bool is_trusted, RedisClient& redis) {
  const bool is_unrestricted = is_unrestricted_ && is_trusted;
  if (generation_ != redis.generation()) {  // another Redis may know other commands
    commands_.clear();
    version_.reset();
    generation_ = redis.generation();
  }
  const std::string name = lower(words[0].substr(0, kLongestName));
  const std::string second = words.size() > 1 && words[1].size() <= kLongestName ? lower(words[1]) : std::string();
  const std::string with_subcommand = name + "|" + second;
  std::string shown = words[0].substr(0, kLongestName);
  std::ranges::transform(shown, shown.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });

  // Redis knows best what its commands do, and which of their arguments are keys.
  CommandBatch question;
  std::optional<Command> command = find(name, with_subcommand);
  if (!command) {
    question.add("COMMAND", "INFO", name);
    question.add("COMMAND", "INFO", with_subcommand);
  }
  const std::size_t keys_at = command ? 0 : 2;
  question.begin(words.size() + 2);
  question.arg("COMMAND");
  question.arg("GETKEYS");
  for (const std::string& word : words) question.arg(word);
  const RepliesPtr about = co_await redis.execute(std::move(question));
  if (!command) {
    remember(name, with_subcommand, *about);
    command = find(name, with_subcommand);
  }
  const Reply& keys = (*about)[keys_at];
  if (!command) {  // Redis does not know it and says so
    about->checked(keys_at);
    throw refused(shown, kNoKey);
  }
  if (const std::string_view reason = refusal(*command, words, is_unrestricted); !reason.empty()) throw refused(shown, reason);
  if (!is_unrestricted) {
    const bool has_no_key = words.size() == 1 || (keys.is_error() && keys.text.find("no key arguments") != std::string_view::npos);
    if (has_no_key || (!keys.is_error() && keys.children().empty())) throw refused(shown, kNoKey);
    about->checked(keys_at);
    co_await check_keys(keys, shown, about->catalog_version(), redis);
  }
  if (read_only && !command->only_reads) throw sql::in_read_only_transaction(shown);
}

}  // namespace redquel::executor
