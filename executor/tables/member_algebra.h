#pragma once

#include <string>
#include <vector>

#include "executor/tables/mapped_reader.h"

namespace redquel::executor {

/// Members of sets of an application, and SINTER, SUNION, SDIFF of some, without holding Redis long: one command where the sets are small,
/// else SSCAN page by page, and SMISMEMBER for the others.
class MemberAlgebra {
 public:
  using Members = std::vector<std::string>;
  enum class Kind { kIntersection, kUnion, kDifference };

  MemberAlgebra(const MappedReader& reader, ExecutionContext& context, ExecutionCounters* counters)
      : reader_(reader), context_(context), counters_(counters) {}

  /// Throws XX001 for keys of another type.
  asio::awaitable<Members> members(std::string key);
  /// `keys`: two or more.
  asio::awaitable<Members> combine(Kind kind, std::vector<std::string> keys);

 private:
  asio::awaitable<RepliesPtr> ask(CommandBatch batch, const std::vector<std::string>& keys);
  asio::awaitable<Members> combine_without_script(Kind kind, std::string command, std::vector<std::string> keys);
  asio::awaitable<Members> combine_in_steps(Kind kind, std::vector<std::string> keys);
  /// The page's members that are in all of the others, or in none.
  asio::awaitable<Members> keep(Members page, const std::vector<std::string>& others, bool in_all);

  /// One SSCAN after the other.
  struct Walk {
    std::string key, cursor = "0";
    bool is_over = false;
  };
  asio::awaitable<Members> next_page(Walk& walk);

  const MappedReader& reader_;
  ExecutionContext& context_;
  ExecutionCounters* counters_;
};

}  // namespace redquel::executor
