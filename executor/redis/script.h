#pragma once

#include <boost/asio/awaitable.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/client.h"
#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "sql/catalog/buckets.h"

namespace redquel::executor {

/// One of the small, fixed set of Lua scripts (the schema is an argument, never text: Redis 7.0 never forgets a script). A constant of
/// the program: cmake/embed_scripts.cmake makes `kLockRowsScript` of lock_rows.lua.
class Script {
 public:
  enum class Access { write, read_only };

  /// A text, and its SHA-1 as 40 lower-case hex digits.
  struct Text {
    std::string_view text, sha1;
  };

  constexpr Script(std::string_view name, std::string_view text, std::string_view sha1, Access access = Access::write)
      : Script(name, {text, sha1}, {text, sha1}, access) {}
  /// `in_bucket`: the script as it runs in a bucket of a cluster (scripts/shared/bucket.lua).
  constexpr Script(std::string_view name, Text alone, Text in_bucket, Access access)
      : name_(name), alone_(alone), in_bucket_(in_bucket), access_(access) {}

  constexpr std::string_view name() const { return name_; }
  std::string_view text() const { return sql::uses_cluster() ? in_bucket_.text : alone_.text; }
  std::string_view sha1() const { return sql::uses_cluster() ? in_bucket_.sha1 : alone_.sha1; }
  /// EVALSHA, or EVALSHA_RO: allowed to read-only users and on replicas, refused by Redis when it would write.
  std::string_view command() const { return access_ == Access::write ? "EVALSHA" : "EVALSHA_RO"; }

  /// EVALSHA sha1 numkeys key… arg… Without the care for NOSCRIPT that run_script takes.
  template <typename Keys, typename Arguments>
  void append_call(CommandBatch& batch, const Keys& keys, const Arguments& arguments) const {
    batch.add(command(), sha1(), std::ranges::size(keys), keys, arguments);
  }
  /// Streaming form: `key_count` keys, then `argument_count` arguments must follow by `batch.arg`.
  CommandBatch& begin_call(CommandBatch& batch, std::size_t key_count, std::size_t argument_count) const;

 private:
  std::string_view name_;
  Text alone_, in_bucket_;
  Access access_;
};

/// Runs a batch that calls `scripts` (made with append_call, other commands may stand between them). Where Redis
/// answers NOSCRIPT, that call did nothing: the scripts are loaded and those calls, only they, run again in a second
/// round trip (so calls of one batch must not depend on each other's order). Replies as of RedisClient::execute.
asio::awaitable<RepliesPtr> run_scripts(RedisClient& client, std::vector<const Script*> scripts, CommandBatch batch,
                                        ExecutionCounters* counters = nullptr);

/// One call of one script; gives its reply as `(*replies)[0]`.
template <typename Keys, typename Arguments>
asio::awaitable<RepliesPtr> run_script(RedisClient& client, const Script& script, const Keys& keys,
                                       const Arguments& arguments, ExecutionCounters* counters = nullptr) {
  CommandBatch batch;
  script.append_call(batch, keys, arguments);
  return run_scripts(client, std::vector<const Script*>{&script}, std::move(batch), counters);
}

}  // namespace redquel::executor
