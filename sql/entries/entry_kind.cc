#include "sql/entries/entry_kind.h"

#include <algorithm>

#include "sql/entries/families.h"

namespace redquel::sql {

std::span<const EntryKind* const> entry_kinds() {
  static const EntryKind* const kinds[] = {&element_entries(), &jsonb_key_entries(), &jsonb_path_entries(), &lexeme_entries(), &trigram_entries()};
  return kinds;
}

const EntryKind* find_entry_kind(Structure::Kind structure) {
  const auto found = std::ranges::find(entry_kinds(), structure, &EntryKind::structure);
  return found == entry_kinds().end() ? nullptr : *found;
}

const EntryKind* find_entry_kind(Type column, std::string_view operator_class) {
  const auto found = std::ranges::find_if(entry_kinds(), [&](const EntryKind* kind) { return kind->takes(column, operator_class); });
  return found == entry_kinds().end() ? nullptr : *found;
}

std::vector<std::string> in_order(std::vector<std::string> entries) {
  std::ranges::sort(entries);
  const auto repeated = std::ranges::unique(entries);
  entries.erase(repeated.begin(), repeated.end());
  return entries;
}

}  // namespace redquel::sql
