#include "sql/discovery/relation_types.h"

#include <algorithm>
#include <utility>

namespace redquel::sql {

namespace {

/// Takes what names a width out of a column, and out of the templates that hold it. `type`: text, or bytea for bytes as they are.
void make_text(ProposedTable& table, ProposedColumn& made, const std::string& type) {
  made.type = type;
  std::erase_if(made.options, [](const auto& option) { return option.first == "width" || option.first == "format"; });
  const auto drop_width = [&](std::string& text) {
    const std::size_t slot = text.find("{" + made.name + ":");
    if (slot != std::string::npos) text.erase(slot + 1 + made.name.size(), text.find('}', slot) - slot - 1 - made.name.size());
  };
  drop_width(table.key);
  for (ProposedIndex& index : table.indexes) {
    drop_width(index.member);
    if (index.member == "{" + made.name + "}") index.member.clear();
  }
  if (type == "bytea") made.options.emplace_back("format", "raw");
}

}  // namespace

void agree_on_types(std::vector<ProposedTable>& tables, const std::vector<ProposedRelation>& relations) {
  for (const ProposedRelation& relation : relations) {
    ProposedTable& own = tables[relation.table];
    const auto key = std::ranges::find(own.columns, relation.slot, &ProposedColumn::name);
    if (key == own.columns.end()) continue;
    std::vector<std::pair<ProposedTable*, ProposedColumn*>> sides{{&own, &*key}};
    for (const ProposedRelation::Side& side : relation.references) sides.emplace_back(&tables[side.table], &tables[side.table].columns[side.column]);
    const std::string type = key->type;
    if (std::ranges::any_of(sides, [&](const auto& side) { return side.second->type != type; })) {
      const bool has_bytes = std::ranges::any_of(sides, [](const auto& side) { return side.second->type == "bytea"; });
      const std::string common = has_bytes ? "bytea" : "text";
      for (const auto& [table, made] : sides) {
        if (made->type != common) table->doubts.push_back("column " + made->name + " is " + common + ", as the other side of its relation");
        make_text(*table, *made, common);
      }
      if (type != common) own.counter.clear();
    }
    if (key->type != "text") continue;
    for (ProposedTable& table : tables) {
      for (ProposedColumn& made : table.columns) {
        if (made.name == relation.field && made.type == "bigint") make_text(table, made, "text");
      }
    }
  }
}

}  // namespace redquel::sql
