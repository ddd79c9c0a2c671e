#pragma once

#include "executor/context/execution_context.h"
#include "executor/context/operator.h"
#include "executor/storage/row_reader.h"

namespace redquel::executor {

/// The common part of operators that read a table from Redis: the reader, and the counts of their commands.
class SourceOperator : public Operator {
 protected:
  SourceOperator(const planner::PhysicalNode& node, const planner::TableRead& read, ExecutionContext& context)
      : context_(context), reader_(read, context.changes(read.table->oid)), counters_(node, context) {}

  /// Fetches the rows of these members in bounded pipelines and gives the batch of those that exist and satisfy the condition.
  asio::awaitable<sql::Batch> fetch(std::vector<std::string> members);
  sql::Batch take() {
    counters_.add_rows(reader_.rows());
    return reader_.take(context_.evaluation());
  }
  void count_rows(std::size_t rows) { counters_.add_rows(rows); }
  ExecutionCounters* counters() { return counters_.get(); }

  ExecutionContext& context_;
  RowReader reader_;

 private:
  NodeCounters counters_;
};

/// The operator of a KeyLookup, UniqueLookup, SetScan, OrderedScan or FullScan.
OperatorPtr make_key_lookup(const planner::PhysicalNode&, const planner::KeyLookup&, ExecutionContext&);
OperatorPtr make_unique_lookup(const planner::PhysicalNode&, const planner::UniqueLookup&, ExecutionContext&);
OperatorPtr make_set_scan(const planner::PhysicalNode&, const planner::SetScan&, ExecutionContext&);
OperatorPtr make_ordered_scan(const planner::PhysicalNode&, const planner::OrderedScan&, ExecutionContext&);
OperatorPtr make_full_scan(const planner::PhysicalNode&, const planner::FullScan&, ExecutionContext&);

}  // namespace redquel::executor
