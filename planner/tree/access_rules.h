#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace redquel::planner {

/// The ways to rows and answers that the planner tries before the general one. Each may be left out: then the next way gives the same rows.
enum class AccessRule : std::uint8_t {
  kKeyLookup, kUniqueLookup, kValueWalk, kWindowWalk, kFirstOfSets, kIndexSets, kKeyStart, kRange, kPartialIndex, kOrder, kScores, kIndexKeys, kIndexValues,
  kForeignStructure, kForeignScores,
  kFewLookups, kManyLookups, kSemiJoinReduction, kPartSets, kMemberSets, kJoinInOrder, kJoinOfParts,
  kEndOfOrder, kForeignCount, kIndexCount, kIndexGroups, kIndexEnds, kIndexDistinct, kAnswerOfLateral, kGroupsInOrder, kCountedSets, kAllValues,
  kIndexRanks, kRankLimit, kApplyInOrder, kDecorrelated, kKeptRows, kSortedOuter, kWalkBeside, kDirectRead,
};

struct AccessRuleText {
  AccessRule rule;
  std::string_view name;     // for redquel.left_out_rules
  std::string_view meaning;  // what it reads
};
/// Every rule, in the order of the enumerators.
std::span<const AccessRuleText> access_rules();

/// The rules that a session leaves out, in tests or because of a plan that it does not like.
struct LeftOutRules {
  std::uint64_t rules = 0;  // bits of enumerators
  std::uint32_t seed = 0;   // not 0: some rules at some places of a query, each time the same
  friend bool operator==(const LeftOutRules&, const LeftOutRules&) = default;
};
/// Reads names with commas between them, or `some:17`. nullopt: it is neither.
std::optional<LeftOutRules> parse_left_out_rules(std::string_view text);

/// Decides at each place of one query whether a rule may be tried.
class RuleChoices {
 public:
  explicit RuleChoices(const LeftOutRules& left_out = {}) : left_out_(left_out) {}
  bool allow(AccessRule rule);

 private:
  LeftOutRules left_out_;
  std::uint32_t places_ = 0;  // that were asked about
};

}  // namespace redquel::planner
