#pragma once

#include <string_view>
#include <vector>

#include "sql/catalog/structure_kind.h"

namespace redquel::executor {

class WriteProgram;

/// An element that comes into a key of a structure, or goes out of it. Views into the images of rows and their encoder.
struct EntryEffect {
  bool comes;
  sql::StructureElement element;
  std::string_view values = {};  // key of the set that lists the value which the element's key is of; empty: none does
  std::string_view value = {};
};

/// Returns true if the key of the effect is that of a value: the key of all values with the value behind it.
bool is_named_by_value(const EntryEffect& effect);

/// Appends the effects of one entry. `values`: the key of its structure.
void append_effects(std::vector<EntryEffect>& effects, bool comes, const sql::StructureElements& elements, std::string_view values);

/// Appends the effects of an entry of many elements that becomes another one: elements that both have stay.
void append_changes(std::vector<EntryEffect>& effects, const sql::StructureElements& before, const sql::StructureElements& after, std::string_view values);

/// Adds the steps of an effect on a set or zset. (Unique values are claimed after a look at their owner.)
void add_entry(WriteProgram& program, const EntryEffect& effect);

}  // namespace redquel::executor
