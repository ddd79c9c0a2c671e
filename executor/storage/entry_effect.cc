#include "executor/storage/entry_effect.h"

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
