#include "planner/tree/access_rules.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace redquel::planner {

namespace {

using enum AccessRule;

constexpr AccessRuleText kRules[] = {
    {kKeyLookup, "key_lookup", "rows whose primary keys a condition names"},
    {kUniqueLookup, "unique_lookup", "rows whose unique values a condition names"},
    {kValueWalk, "value_walk", "a walk along the ordered index of one value"},
    {kWindowWalk, "window_walk", "a walk in the wanted order, in windows, whatever else an index knows of the conditions"},
    {kFirstOfSets, "first_of_sets", "the first rows of sets in the order of another index"},
    {kIndexSets, "index_sets", "sets of equal values, combined"},
    {kKeyStart, "key_start", "rows with the same first columns of the primary key"},
    {kRange, "range", "a range of an ordered index"},
    {kPartialIndex, "partial_index", "all rows of a partial index"},
    {kOrder, "order", "all rows in the order of an index"},
    {kScores, "scores", "values out of the elements of an ordered index"},
    {kIndexKeys, "index_keys", "keys out of the members of sets"},
    {kIndexValues, "index_values", "values of an index, each as often as its set has members"},
    {kForeignStructure, "foreign_structure", "declared structures of a foreign table"},
    {kForeignScores, "foreign_scores", "members of a foreign zset by their scores, elements of a list by their positions"},
    {kFewLookups, "few_lookups", "a lookup for each of a few outer rows of a join"},
    {kManyLookups, "many_lookups", "lookups or a hash join, by the number of outer rows that there are"},
    {kSemiJoinReduction, "semi_join_reduction", "a semi-join turned round: its distinct keys are looked up"},
    {kPartSets, "part_sets", "joins and set operations between the sets of one index over a part of the key"},
    {kMemberSets, "member_sets", "joins and set operations between sets of an application"},
    {kJoinInOrder, "join_in_order", "a join that keeps the order of its outer rows"},
    {kJoinOfParts, "join_of_parts", "joins of the parts of tables in several buckets"},
    {kEndOfOrder, "end_of_order", "min and max as first rows of an order"},
    {kForeignCount, "foreign_count", "count(*) as the cardinality of a foreign zset"},
    {kIndexCount, "index_count", "counts as cardinalities"},
    {kIndexGroups, "index_groups", "counts of groups as cardinalities"},
    {kIndexEnds, "index_ends", "min and max as the ends of ordered indexes"},
    {kIndexDistinct, "index_distinct", "distinct values out of an index"},
    {kAnswerOfLateral, "answer_of_lateral", "an aggregate over a subquery that runs once, answered by an index"},
    {kGroupsInOrder, "groups_in_order", "groups in the order of their keys, one after another"},
    {kCountedSets, "counted_sets", "counts of members in place of rows"},
    {kAllValues, "all_values", "groups with all values of a list as an intersection"},
    {kIndexRanks, "index_ranks", "ranks of a few rows out of an ordered index"},
    {kRankLimit, "rank_limit", "only so many rows of a window as a condition on the rank allows"},
    {kApplyInOrder, "apply_in_order", "subqueries for the wanted rows only"},
    {kDecorrelated, "decorrelated", "a subquery of each row as a join with all its answers"},
    {kKeptRows, "kept_rows", "tables of a subquery, read once for all outer rows"},
    {kSortedOuter, "sorted_outer", "lookups for a few rows that were sorted before"},
    {kWalkBeside, "walk_beside", "a walk in the wanted order beside a range of another column"},
    {kDirectRead, "direct_read", "a statement that is one turn of commands, without operators"},
};
static_assert(std::ranges::is_sorted(kRules, {}, &AccessRuleText::rule) && std::size(kRules) == static_cast<std::size_t>(kDirectRead) + 1);

}  // namespace

std::span<const AccessRuleText> access_rules() { return kRules; }

std::optional<LeftOutRules> parse_left_out_rules(std::string_view text) {
  LeftOutRules left_out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view name = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (constexpr std::string_view kSome = "some:"; name.starts_with(kSome)) {
      const std::string_view number = name.substr(kSome.size());
      const auto [end, error] = std::from_chars(number.begin(), number.end(), left_out.seed);
      if (error != std::errc() || end != number.end()) return std::nullopt;
      continue;
    }
    const auto rule = std::ranges::find(kRules, name, &AccessRuleText::name);
    if (rule == std::end(kRules)) return std::nullopt;
    left_out.rules |= std::uint64_t{1} << static_cast<unsigned>(rule->rule);
  }
  return left_out;
}

bool RuleChoices::allow(AccessRule rule) {
  if ((left_out_.rules >> static_cast<unsigned>(rule) & 1) != 0) return false;
  if (left_out_.seed == 0) return true;
  std::uint64_t mixed = (std::uint64_t{left_out_.seed} << 32 | ++places_) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  return (mixed * 0xbf58476d1ce4e5b9 >> 32) % 3 != 0;
}

}  // namespace redquel::planner
