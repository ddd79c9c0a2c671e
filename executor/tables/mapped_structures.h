#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "executor/tables/mapped_reader.h"

namespace redquel::executor {

/// What lookups give for the scan's values: members that stand for rows.
asio::awaitable<std::vector<std::string>> look_up_members(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context,
                                                          ExecutionCounters* counters);
/// Members of the scan's combination of declared sets.
asio::awaitable<std::vector<std::string>> set_members(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context,
                                                      ExecutionCounters* counters);

/// A zset or list from its first element, in the scan's direction, each member once.
class StructureWalk {
 public:
  StructureWalk(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context);

  /// The next members, about so many; none: it is over.
  asio::awaitable<std::vector<std::string>> next(std::uint64_t count, ExecutionCounters* counters);
  /// The column that it orders by.
  std::int16_t column() const { return index_->parts.front().column; }

 private:
  const planner::MappedScan& scan_;
  const MappedReader& reader_;
  ExecutionContext& context_;
  const sql::IndexDef* index_;
  std::string key_;
  std::uint64_t position_ = 0;
  std::unordered_set<std::string> seen_;
};

}  // namespace redquel::executor
