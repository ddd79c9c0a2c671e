#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/script.h"
#include "sql/column.h"
#include "sql/error.h"

namespace redquel::executor {

/// The steps that a program may have: those of scripts/steps/write_steps.lua.
enum class StepKind : std::uint8_t {
  kVersion,
  kFree,
  kRow,
  kAbsent,
  kCount,
  kSetAdd,
  kScoreAdd,
  kHset,
  kSetRemove,
  kScoreRemove,
  kClaim,
  kHincr,
  kDrop,
  kMemberAdd,
  kMemberRemove,
  kRelease,
  kHdel,
  kEmptied,
  kKind,
  kRun,
  kFields,
  kReply,
  kInherit,
  kLease,
  kHeld,
  kToken,
  kCommitted,
  kParent,
  kParentValue,
  kNoChildren,
  kTake,
  kSum,
  kMove,
  kRescore,
  kMark,
  kCatalog,
  kRespect,
  kNothing,
  kStream,
  kLookIn,
  kWriteIn,
  kAsUser,
  kForgetSets,
  kForgetFields,
  kUnprepared,
  kLasting,
  kCounter,
  kPledge,
  kAbsents,
  kSameRows,
  kHsets,
  kSetsAdd,
  kSetsRemove,
  kScoresAdd,
  kScoresRemove,
  kMembersAdd,
  kMembersRemove,
  kClaims,
  kOwners,
  kOwns,
  kReleases,
  kDrops,
  kChanges,
  kAdds,
  kEmptieds,
  kPass,
  kLock,
  kGive,
  kParents,
  kChildren,
  kAreSets,
  kAreZsets,
  kStill,
  kSince,
  kAsRead,
  kDepart,
  kArrive,
  kExpire,
  kRoom,
  kJournal,
  kUnjournal,
  kNoHash,
  kRetypes,
  kAdopt,
  kRaise,
  kRelocate,
  kDefinitions,
  kReading,
  kParts,
  kRecord,
};

/// A kind of step. Guards only read; effects may read first, too, but write once nothing has stopped the program.
struct StepInfo {
  enum class Phase : std::uint8_t { kGuard, kEffect };

  std::string_view name;
  Phase phase;
  std::string_view words;  // their names; the last one with a * is a list

  constexpr bool has_list() const { return words.ends_with('*'); }
  /// Returns the number of words, without those of the list.
  constexpr std::size_t fixed_words() const {
    std::size_t count = has_list() ? 0 : 1;
    for (const char c : words) count += c == ' ' ? 1 : 0;
    return count;
  }
};
const StepInfo& step_info(StepKind kind);

/// A step of a program: views into its words. The words of a list follow the others.
struct ProgramStep {
  StepKind kind;
  std::span<const std::string_view> words;
};

/// The guarded steps by which write.lua and write_many.lua change rows: all or nothing. Words are views that the caller keeps alive, or store() does.
class WriteProgram {
 public:
  /// Guards come before effects.
  void add(StepKind kind, std::span<const std::string_view> words, std::span<const std::string_view> list = {});
  void add(StepKind kind, std::initializer_list<std::string_view> words, std::span<const std::string_view> list = {}) {
    add(kind, std::span(words.begin(), words.size()), list);
  }
  /// Adds the steps of another program that are of a phase.
  void append(const WriteProgram& other, StepInfo::Phase phase);
  std::string_view store(std::string_view text) { return arena_.store(text); }
  void reserve(std::size_t words) { words_.reserve(words); }

  std::span<const std::string_view> words() const { return words_; }
  std::span<const std::string_view> effects() const;
  /// Returns the place of the next step, as answers name it.
  std::size_t next_place() const { return words_.size() + 1; }
  bool empty() const { return words_.empty(); }

 private:
  std::vector<std::string_view> words_;
  std::optional<std::size_t> first_effect_;
  sql::Arena arena_;
};

/// Adds a call of write.lua or write_many.lua that runs the program, in a cluster in the bucket of this tag. (Other scripts of programs have
/// words in front.)
void append_program(CommandBatch& batch, const Script& script, const WriteProgram& program, std::string_view tag);
/// Runs such a call. Returns the answer in the first reply.
asio::awaitable<RepliesPtr> run_program(RedisClient& client, const Script& script, const WriteProgram& program, std::string_view tag,
                                        ExecutionCounters* counters = nullptr);

/// Reads the words of a program. Throws std::invalid_argument for others.
std::vector<ProgramStep> steps_of(std::span<const std::string_view> words);
/// The step that has stopped a program, and what it has found.
struct ProgramStop {
  ProgramStep step;
  std::vector<std::string> found;
};
/// Decodes the answer of a program that was not applied. Throws XX000 for another answer than {"stop", position, …}. `words_before`: that were
/// sent in front of the program.
ProgramStop stop_of(const WriteProgram& program, std::span<const Reply> answer, std::size_t words_before = 0);
/// Takes a program that is about to run, for a developer to see. May be empty.
using ShowProgram = std::function<void(const WriteProgram&)>;
/// Returns a NOTICE with the program as its detail.
sql::SqlError program_notice(const WriteProgram& program);
/// Returns a program as text, a line for each step: "score+ emp:zset:dept 7 1". An empty word is '', a zero byte \0.
std::string program_text(std::span<const std::string_view> words);

}  // namespace redquel::executor
