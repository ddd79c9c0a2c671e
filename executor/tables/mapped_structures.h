#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "executor/tables/mapped_reader.h"

namespace redquel::executor {

/// A structure's member for a row, and the columns that its key has.
struct StructureMember {
  std::string text;
  MappedKey beside;
};
/// Returns the members that lookups give for the scan's values.
asio::awaitable<std::vector<StructureMember>> look_up_members(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context,
                                                              ExecutionCounters* counters);
/// Returns the members that a declared lookup or set has for each of these values of its columns, parallel to them. One pipeline per some of them, and per
/// further page of large sets.
asio::awaitable<std::vector<std::vector<StructureMember>>> structure_members(sql::Oid index, const std::vector<MappedKey>& keys, const MappedReader& reader,
                                                                             ExecutionContext& context, ExecutionCounters* counters);
/// Members of the scan's combination of sets: declared ones, or the rows' own.
asio::awaitable<std::vector<std::string>> set_members(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context,
                                                      ExecutionCounters* counters);

/// Rows that redquel has written while a structure of the table was not maintained by it. Structures may lack them, so they are read, too.
asio::awaitable<std::vector<MappedKey>> unkept_rows(const sql::TableDef& table, ExecutionContext& context, ExecutionCounters* counters);

/// A zset or list from its first element, in the scan's direction, each member once: of a declared index, or the rows' own. Where the scan
/// has bounds, between two scores: at least the values between the bounds lie there.
class StructureWalk {
 public:
  struct Element {
    std::string member, score;  // the score of a zset that was read by it
  };

  /// `offset`: so many elements are left out, where the scan has no bounds.
  StructureWalk(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context, std::uint64_t offset = 0);

  /// The next members, about so many; none: it is over.
  asio::awaitable<std::vector<Element>> next(std::uint64_t count, ExecutionCounters* counters);
  bool has_bounds() const { return scan_.lower || scan_.upper; }
  /// Returns for each of these members whether the zset has it.
  asio::awaitable<std::vector<bool>> holds(const std::vector<std::string>& members, ExecutionCounters* counters) const;

 private:
  /// An end of the range as ZRANGE takes it; nullopt: nothing lies there.
  std::optional<std::string> end_of(const std::optional<planner::RangeBound>& bound, bool is_lower) const;
  CommandBatch page(std::uint64_t size) const;

  const planner::MappedScan& scan_;
  const MappedReader& reader_;
  ExecutionContext& context_;
  std::string key_;  // empty: nothing can be there
  std::string low_, high_;
  bool is_list_ = false, has_scores_ = false;
  std::uint64_t position_ = 0;  // in the list or zset; of a range behind the first element with `last_score_`
  std::string last_score_;      // where the next page of a range begins,
  std::uint64_t ties_ = 0;      // and how many elements with this score were seen
  std::unordered_set<std::string> seen_;  // members
};

}  // namespace redquel::executor
