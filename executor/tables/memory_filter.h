#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/memory/table_version.h"
#include "planner/tree/physical_plan.h"
#include "sql/evaluation_context.h"

namespace redquel::executor {

/// The condition of a scan of a copy. Bounds of integers and dates are compared with packed values, conditions on one text column with the
/// texts of a dictionary; patterns of LIKE are searched in all texts of a chunk at a time. What is left is evaluated over rows.
class MemoryFilter {
 public:
  /// `read` and `evaluation` outlive the filter. Evaluates the bounds.
  MemoryFilter(const planner::TableRead& read, const sql::EvaluationContext& evaluation);

  /// Returns false if no row of the chunk can satisfy the condition.
  bool may_match(const Chunk& chunk) const;
  /// Returns a guess of the share of the chunk's rows that satisfy the condition, from the smallest and largest values: 0 to 1.
  double share(const Chunk& chunk) const;
  /// Leaves the rows of the chunk that satisfy the condition as far as packed values show it. Returns true if they all satisfy it.
  bool filter(const ChunkPtr& chunk, std::vector<std::uint32_t>& rows);
  /// Leaves the rows that satisfy the whole condition, by batches of their values.
  std::vector<std::uint32_t> evaluate(const ChunkPtr& chunk, std::span<const std::uint32_t> rows) const;

 private:
  /// Values between two bounds, both included; none if `lower` is above `upper`.
  struct Range {
    std::int64_t lower = std::numeric_limits<std::int64_t>::min(), upper = std::numeric_limits<std::int64_t>::max();
  };
  /// A condition on one text column.
  struct TextCondition {
    std::int16_t number;
    std::uint32_t position;
    sql::ExpressionPtr condition;
    std::string literal;        // of a pattern (LIKE): every text that matches it contains this; empty: another condition
    bool is_negated = false;    // NOT LIKE
    bool is_contained = false;  // every text that contains the literal matches the pattern
  };

  /// Takes a conjunct as bounds. False: it is another condition.
  bool take_bounds(const sql::ExpressionPtr& conjunct);
  bool take_text(const sql::ExpressionPtr& conjunct);
  /// Looks for a pattern of LIKE in the condition.
  void take_pattern(TextCondition& text) const;
  /// Leaves the rows whose texts satisfy the condition. False: the column has no dictionary, or the condition fails on one of its texts.
  bool filter_texts(const TextCondition& text, const ChunkPtr& chunk, std::vector<std::uint32_t>& rows) const;
  /// Like filter_texts(), of a pattern over a column without a dictionary.
  bool filter_pattern(const TextCondition& text, const ChunkPtr& chunk, std::vector<std::uint32_t>& rows) const;
  /// Returns the rows that satisfy a condition over some of the scan's columns, given by their positions in `read_.numbers`.
  std::vector<std::uint32_t> select(const sql::Expression& condition, std::span<const std::uint32_t> positions, const ChunkPtr& chunk,
                                    std::span<const std::uint32_t> rows) const;

  const planner::TableRead& read_;
  const sql::EvaluationContext& evaluation_;
  std::map<std::int16_t, Range> ranges_;  // by column
  std::vector<TextCondition> texts_;
  bool is_complete_ = true;                      // `ranges_` and `texts_` are the whole condition
  std::vector<std::uint32_t> columns_;           // of the condition: positions in `read_.numbers`
};

}  // namespace redquel::executor
