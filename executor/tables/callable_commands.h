#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "executor/redis/client.h"

namespace redquel::executor {

/// The commands that redis.call() runs: those that read or write keys of an application. Belongs to one engine and keeps what its Redis
/// said about commands and prefixes.
class CallableCommands {
 public:
  /// `is_unrestricted`: redis.unrestricted_call of the configuration. Then every command runs that leaves the shared connection as it is.
  explicit CallableCommands(bool is_unrestricted) : is_unrestricted_(is_unrestricted) {}

  /// Throws unless the command may run. 42501: it is not allowed, or one of its keys is redquel's own; 25006: it may write and `read_only`
  /// is set; otherwise the error of Redis for a command that does not exist or has wrong arguments. `is_trusted`: redis.unrestricted_call
  /// counts for the role.
  asio::awaitable<void> check(std::span<const std::string> words, bool read_only, bool is_trusted, RedisClient& redis);

 private:
  struct Command {
    bool only_reads = false;
    std::string_view refusal;  // the reason; empty: none
  };

  static Command described(const Reply& info, std::string_view name);
  /// Returns nullopt if Redis has not been asked about it.
  std::optional<Command> find(const std::string& name, const std::string& with_subcommand) const;
  void remember(const std::string& name, const std::string& with_subcommand, const Replies& about);
  static std::string_view refusal(const Command& command, std::span<const std::string> words, bool is_unrestricted);
  asio::awaitable<void> check_keys(const Reply& keys, std::string_view shown, const std::optional<std::string>& version, RedisClient& redis);
  bool is_own(std::string_view key) const;

  bool is_unrestricted_;
  std::uint64_t generation_ = 0;
  std::unordered_map<std::string, Command> commands_;  // by name, and "name|subcommand" where there is one
  /// The prefixes of redquel's tables and sequences, at this version of the definitions.
  std::set<std::string, std::less<>> prefixes_;
  std::optional<std::optional<std::string>> version_;
};

}  // namespace redquel::executor
