#include "executor/context/scan_counts.h"

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <span>
#include <type_traits>

namespace redquel::executor {

namespace {

using Columns = std::span<const std::int16_t>;
using Indexes = boost::container::small_vector<sql::Oid, 4>;

/// The reads of one table by a node.
struct Scan {
  const sql::TableDef* table = nullptr;
  bool is_whole = false;            // else by indexes
  Indexes indexes = {};
};

void add(Indexes& indexes, sql::Oid oid) {
  if (oid != 0 && std::ranges::find(indexes, oid) == indexes.end()) indexes.push_back(oid);
}

/// Adds the first index over exactly these columns: indexes over the same columns share their structures.
void add_index_over(Scan& scan, Columns columns) {
  for (const sql::IndexDef& index : scan.table->indexes) {
    if (index.state != sql::IndexState::kReady || !std::ranges::equal(index.parts, columns, {}, &sql::IndexDef::Part::column)) continue;
    add(scan.indexes, index.oid);
    return;
  }
}
void add_index_over(Scan& scan, std::int16_t column) {
  if (scan.table->primary_key.size() == 1 && scan.table->primary_key[0] == column) add(scan.indexes, scan.table->primary_key_index.oid);
  else add_index_over(scan, Columns(&column, 1));
}

void add_indexes_of(Scan& scan, const planner::SetExpression& sets) {
  if (!sets.columns.empty()) add_index_over(scan, Columns(sets.columns));
  for (const planner::SetExpression& operand : sets.operands) add_indexes_of(scan, operand);
}

Scan by_primary_key(const sql::TableDef& table) { return {&table, false, {table.primary_key_index.oid}}; }

/// Nodes that read no table.
template <class Node>
Scan scan_of(const Node&) {
  return {};
}
Scan scan_of(const planner::KeyLookup& node) { return by_primary_key(*node.read.table); }
Scan scan_of(const planner::UniqueLookup& node) {
  Scan scan{node.read.table.get()};
  add_index_over(scan, Columns(node.columns));
  return scan;
}
Scan scan_of(const planner::SetScan& node) {
  Scan scan{node.read.table.get()};
  add_indexes_of(scan, node.sets);
  if (node.first) add_index_over(scan, node.first->column);
  return scan;
}
Scan scan_of(const planner::OrderedScan& node) {
  Scan scan{node.read.table.get()};
  std::vector<std::int16_t> columns = node.leading.columns;
  columns.push_back(node.column);
  if (node.leading.empty()) add_index_over(scan, node.column);
  else add_index_over(scan, Columns(columns));
  return scan;
}
Scan scan_of(const planner::FullScan& node) {
  if (!node.key_start.empty()) return by_primary_key(*node.read.table);
  return {node.read.table.get(), true};
}
/// For a scan that the copy in memory serves; otherwise the scan of Redis counts.
Scan scan_of(const planner::MemoryScan& node) { return {node.read.table.get(), true}; }
Scan scan_of(const planner::MappedScan& node) {
  using Path = planner::MappedScan::Path;
  Scan scan{node.read.table.get(), node.path == Path::kScan};
  add(scan.indexes, node.index);
  if (node.sets) add_indexes_of(scan, *node.sets);
  return scan;
}
Scan scan_of(const planner::IndexCount& node) {
  Scan scan{node.table.get()};
  for (const planner::CountTerm& term : node.terms) {
    add_indexes_of(scan, term.sets);
    if (term.column != 0) add_index_over(scan, term.column);
    if (term.kind == planner::CountTerm::Kind::kAllRows) add(scan.indexes, node.table->primary_key_index.oid);
  }
  return scan;
}
Scan scan_of(const planner::IndexMinMax& node) {
  Scan scan{node.table.get()};
  for (const planner::IndexMinMax::End& end : node.ends) add_index_over(scan, end.column);
  return scan;
}
Scan scan_of(const planner::IndexGroups& node) {
  Scan scan{node.table.get()};
  add_index_over(scan, node.column);
  for (const planner::SetExpression& sets : node.among) add_indexes_of(scan, sets);
  return scan;
}
Scan scan_of(const planner::IndexKeys& node) {
  Scan scan{node.table.get()};
  add_indexes_of(scan, node.sets);
  return scan;
}
Scan scan_of(const planner::IndexValues& node) {
  Scan scan{node.table.get()};
  add_index_over(scan, node.column);
  return scan;
}
Scan scan_of(const planner::IndexRanks& node) {
  Scan scan{node.table.get()};
  add_index_over(scan, node.column);
  return scan;
}
Scan scan_of(const planner::MappedCount& node) { return {node.table.get()}; }
Scan scan_of(const planner::LookupJoin& node) {
  using By = planner::LookupJoin::By;
  if (node.by == By::kPrimaryKey || node.by == By::kKeyStart) return by_primary_key(*node.read.table);
  Scan scan{node.read.table.get()};
  add_index_over(scan, Columns(node.columns));
  return scan;
}
Scan scan_of(const planner::MappedJoin& node) { return scan_of(node.inner); }

}  // namespace

ScanCounts::ScanCounts(const planner::PhysicalNode& node, sql::RelationCounts* counts) {
  if (counts == nullptr) return;
  const auto table_of = [&](const sql::TableDef& table) -> sql::TableCounts& { return counts->table(table.part_of != 0 ? table.part_of : table.oid); };
  // The most frequent scan needs no list of indexes.
  if (const auto* const lookup = std::get_if<planner::KeyLookup>(&node.node)) {
    sql::TableCounts& table = table_of(*lookup->read.table);
    table.index_scans.add();
    rows_ = &table.rows_of_index_scans;
    sql::IndexCounts& index = counts->index(lookup->read.table->primary_key_index.oid);
    index.scans.add();
    index_rows_ = &index.rows;
    return;
  }
  const Scan scan = std::visit([](const auto& n) { return scan_of(n); }, node.node);
  if (scan.table == nullptr) return;
  sql::TableCounts& table = table_of(*scan.table);
  (scan.is_whole ? table.whole_scans : table.index_scans).add();
  rows_ = &(scan.is_whole ? table.rows_of_whole_scans : table.rows_of_index_scans);
  for (const sql::Oid index : scan.indexes) {
    sql::IndexCounts& one = counts->index(index);
    one.scans.add();
    index_rows_ = scan.indexes.size() == 1 ? &one.rows : nullptr;
  }
}

}  // namespace redquel::executor
