#include "planner/physical/ranked_read.h"

#include <algorithm>

#include "planner/physical/index_only.h"
#include "sql/catalog/mapping.h"

namespace redquel::planner {

namespace {

bool is_one_place(const IndexRanks& ranks) { return ranks.ranks.size() == 1 && ranks.ranks.front() == IndexRanks::Rank::kRowNumber; }

RankedRead own_read(const IndexRanks& ranks, const TableRead& read, bool is_one_row, bool wants_score) {
  const bool tells = !ranks.may_be_null && tells_columns(*ranks.table, read.numbers, ranks.column);
  return {&read, tells, tells && is_one_row && !wants_score && is_one_place(ranks)};
}

}  // namespace

std::optional<RankedRead> ranked_read(const IndexRanks& ranks) {
  const bool wants_score = std::ranges::any_of(ranks.outputs, [&](std::size_t position) { return ranks.numbers[position] == ranks.column; });
  if (const auto* lookup = std::get_if<KeyLookup>(&ranks.input->node)) return own_read(ranks, lookup->read, lookup->keys.size() == 1, wants_score);
  if (const auto* lookup = std::get_if<UniqueLookup>(&ranks.input->node)) return own_read(ranks, lookup->read, false, wants_score);
  const auto* scan = std::get_if<MappedScan>(&ranks.input->node);
  if (scan == nullptr) return std::nullopt;
  const sql::Mapping::Column* ttl = scan->read.table->mapping().with_role(sql::Mapping::Role::kTtl);
  if (ttl != nullptr && std::ranges::find(scan->read.numbers, ttl->number) != scan->read.numbers.end()) return std::nullopt;
  const auto has_one_value = [](const MappedScan::Fixed& fixed) { return fixed.values.size() == 1; };
  const bool is_exact = scan->read.table->find_column(ranks.column)->type.oid == sql::oid::kFloat8;
  return RankedRead{&scan->read, true, is_exact && !wants_score && is_one_place(ranks) && std::ranges::all_of(scan->fixed, has_one_value)};
}

}  // namespace redquel::planner
