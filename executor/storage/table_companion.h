#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// Returns the companion of a table's definition: computed once for many statements, of this thread. It keeps the definition alive.
template <class Companion>
std::shared_ptr<const Companion> companion_of(const std::shared_ptr<const sql::TableDef>& table) {
  // They keep their definitions alive: an address means the same one for as long as it is here.
  constexpr std::size_t kMost = 200;
  thread_local std::unordered_map<const sql::TableDef*, std::shared_ptr<const Companion>> companions;
  const auto found = companions.find(table.get());
  if (found != companions.end()) return found->second;
  if (companions.size() >= kMost) companions.clear();
  auto made = std::make_shared<const Companion>(table);
  companions.emplace(table.get(), made);
  return made;
}

}  // namespace redquel::executor
