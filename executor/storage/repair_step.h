#pragma once

#include <string>
#include <vector>

namespace redquel::executor {

/// A step of repair_row.lua, which says what the words mean.
struct RepairStep {
  std::string what, key, first, second, third;
};

/// Appends the step to the keys and arguments of a call of repair_row.lua, after those of the rows.
inline void append_step(const RepairStep& step, std::vector<std::string>& keys, std::vector<std::string>& arguments) {
  keys.push_back(step.key);
  arguments.insert(arguments.end(), {step.what, step.first, step.second, step.third});
}

}  // namespace redquel::executor
