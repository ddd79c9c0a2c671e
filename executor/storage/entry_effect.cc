#include "executor/storage/entry_effect.h"

#include <algorithm>

#include "executor/storage/write_program.h"

namespace redquel::executor {

void append_effects(std::vector<EntryEffect>& effects, bool comes, const sql::StructureElements& elements, std::string_view values) {
  for (const sql::StructureElement& element : elements) {
    if (element.lists_value) {
      effects.back().values = values;
      effects.back().value = element.name;
    } else {
      effects.push_back({comes, element});
    }
  }
}

void append_changes(std::vector<EntryEffect>& effects, const sql::StructureElements& before, const sql::StructureElements& after, std::string_view values) {
  const auto is_same = [](const EntryEffect& a, const EntryEffect& b) { return a.element.key == b.element.key && a.element.name == b.element.name; };
  const auto is_before = [](const EntryEffect& a, const EntryEffect& b) { return a.value < b.value; };
  std::vector<EntryEffect> gone, come;
  append_effects(gone, false, before, values);
  append_effects(come, true, after, values);
  std::ranges::sort(gone, is_before);
  std::ranges::sort(come, is_before);
  const auto without = [&](const std::vector<EntryEffect>& all, const std::vector<EntryEffect>& others) {
    for (const EntryEffect& effect : all) {
      const auto found = std::ranges::lower_bound(others, effect, is_before);
      if (found == others.end() || !is_same(*found, effect)) effects.push_back(effect);
    }
  };
  without(gone, come);
  without(come, gone);
}

bool is_named_by_value(const EntryEffect& effect) {
  const std::string_view key = effect.element.key, values = effect.values, value = effect.value;
  if (effect.element.form != &sql::kSetForm || values.empty()) return false;
  return key.size() == values.size() + 1 + value.size() && key.starts_with(values) && key[values.size()] == ':' && key.ends_with(value);
}

void add_entry(WriteProgram& program, const EntryEffect& effect) {
  const sql::StructureElement& element = effect.element;
  const bool is_zset = element.form == &sql::kZsetForm, is_listed = !effect.values.empty();
  if (is_named_by_value(effect)) {
    program.add(effect.comes ? StepKind::kSetAdd : StepKind::kSetRemove, {effect.values, effect.value, element.name});
    return;
  }
  if (effect.comes) {
    if (is_zset) program.add(StepKind::kScoreAdd, {element.key, element.value, element.name});
    else program.add(StepKind::kMemberAdd, {element.key, element.name});
    if (is_listed) program.add(StepKind::kMemberAdd, {effect.values, effect.value});
  } else {
    program.add(is_zset ? StepKind::kScoreRemove : StepKind::kMemberRemove, {element.key, element.name});
    if (is_listed) program.add(StepKind::kEmptied, {element.key, effect.values, effect.value});
  }
}

}  // namespace redquel::executor
