// The unique values that a write unit brings.

#include <algorithm>
#include <utility>

#include "executor/storage/write_encoding.h"

namespace redquel::executor {

/// Notes the unique values that a change brings. False: another change of the unit has one of them already (local_violation_).
bool WriteEncoding::claim_uniques(std::size_t number) {
  const WriteUnit::Change& change = unit_.changes_[number];
  const RowEncoder& encoder = unit_.tables_[change.table].encoder;
  std::vector<std::pair<std::size_t, UniqueValue>> values;
  std::optional<WriteUnit::Violation> first;
  for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
    const RowEncoder::StructureKeys& structure = encoder.structures()[index];
    if (!structure.kind->has_owners()) continue;
    const auto entry = RowEncoder::entry(unit_.words_, change.new_image, index);
    const Word field = entry.first;
    if (is_null(field) || !is_here(number, index, entry) || is_deferred(change.table, index)) continue;
    const bool is_update = change.kind == WriteUnit::Kind::kUpdate;
    const bool kept = is_update && !moves(change) && are_same(RowEncoder::entry(unit_.words_, change.old_image, index).first, field);
    const bool taken = unit_.is_taken_in_buffer(change, index);
    if (kept && !taken) continue;
    values.emplace_back(index, UniqueValue(RowEncoder::unique_key(structure, entry), field));
    if (!taken && !claimed_values_.contains(values.back().second)) continue;
    const WriteUnit::Violation violation = unit_.violation_of(number, index);
    const auto rank = [&](const WriteUnit::Violation& one) { return std::pair(!unit_.may_skip(change, one), one.constraint); };
    if (!first || rank(violation) < rank(*first)) first = violation;
  }
  if (first) {
    local_violation_ = first;
    return false;
  }
  for (const auto& [index, value] : values) {
    claimed_values_.emplace(value, number);
    // The constraint that ON CONFLICT names counts even if it belongs to the row with the same primary key.
    const bool is_arbiter = change.kind == WriteUnit::Kind::kInsert && change.skip_if_exists && unit_.conflicts_[change.conflict].columns &&
                            unit_.is_expected(change, unit_.violation_of(number, index));
    Word allowed = is_arbiter ? Word() : change.new_image.member;
    if (const auto released = released_values_.find(value); released != released_values_.end()) allowed = released->second;
    if (const RowBuffer* buffer = unit_.options_.buffer) {
      if (const std::optional<std::string> former = buffer->former_owner(value.first, value.second)) allowed = unit_.words_.store(*former);
    }
    const auto taken_over = unit_.allowed_owners_.find({change.table, index, std::string(value.second)});
    if (taken_over != unit_.allowed_owners_.end()) allowed = taken_over->second;
    pending_checks_.push_back({{uniques_.number(value.first), value.second, change.new_image.member},
                               {number, index, value.second, allowed}});
  }
  return true;
}

}  // namespace redquel::executor
