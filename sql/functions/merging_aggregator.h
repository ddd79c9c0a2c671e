#pragma once

#include <cstdint>
#include <span>

namespace redquel::sql {

class Aggregator;

/// The interface of an Aggregator that may take rows in any order and in parts.
class MergingAggregator {
 public:
  virtual ~MergingAggregator() = default;
  /// Adds the states of an aggregator of the same function and types: its group i is groups[i] here.
  virtual void merge(const Aggregator& other, std::span<const std::uint32_t> groups, std::size_t group_count) = 0;
};

}  // namespace redquel::sql
