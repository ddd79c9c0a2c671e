#include "sql/discovery/finish_proposal.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "sql/ascii.h"
#include "sql/catalog/key_template.h"
#include "sql/discovery/template_names.h"
#include "sql/functions/quote.h"

namespace redquel::sql {
namespace {

/// Returns true if a name of these characters needs quotes only if it is a word of SQL.
bool is_name_without_quotes(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || is_digit(c); }) && !is_digit(name.front());
}

/// Returns true if each member of a sampled set has a set of the other table that holds the first set's value.
bool is_inverse(const KnownOfTables::Relation& one, const KnownOfTables::Relation& other) {
  std::map<std::string, const KeySample*> sets;
  for (const KeySample& sample : other.entry->samples) sets.emplace(slot_values(other.entry->pieces, sample.key)[0], &sample);
  std::size_t pairs = 0, found = 0;
  for (const KeySample& sample : one.entry->samples) {
    const std::string value = slot_values(one.entry->pieces, sample.key)[0];
    for (const auto& part : sample.parts) {
      ++pairs;
      const auto set = sets.find(part.first);
      if (set == sets.end() || !set->second->is_whole) continue;
      if (std::ranges::find(set->second->parts, value, &std::pair<std::string, std::string>::first) == set->second->parts.end()) return false;
      ++found;
    }
  }
  constexpr std::size_t kEnough = 3;  // where not all keys were read
  return found > 0 && (found == pairs || found >= kEnough);
}

/// The other table's sets become an index of this one's members.
void add_inverse(Proposal& proposal, const KnownOfTables::Relation& one, const KnownOfTables::Relation& other) {
  ProposedTable& table = proposal.tables[one.table];
  const ProposedTable& sets = proposal.tables[other.table];
  const ProposedColumn &slot = table.columns[0], &member = table.columns[1];
  if (slot.type != sets.columns[1].type || member.type != sets.columns[0].type) return;
  const std::string named = "{" + sets.columns[0].name + "}";
  const std::size_t at = sets.key.find(named);
  if (at == std::string::npos) return;  // digits filled up with zeros
  std::string key = sets.key;
  table.indexes.push_back({"set", {member.name}, key.replace(at, named.size(), "{" + member.name + "}"), {}});
}

/// Columns get the names of their parents where both sides have one type.
void name_parents(Proposal& proposal, const std::vector<KnownOfTables::Parent>& parents) {
  for (const KnownOfTables::Parent& found : parents) {
    const ProposedTable& parent = proposal.tables[found.parent];
    ProposedColumn& column = proposal.tables[found.table].columns[found.column];
    const bool is_key = parent.layout == "hash" || parent.layout == "strings";
    if (is_key && column.type == parent.columns.front().type) column.parent = parent.name;
  }
}

/// Gives tables whose names are words of SQL (user, order) a second name that needs no quotes.
void name_views(Proposal& proposal, std::set<std::string>& taken) {
  for (ProposedTable& table : proposal.tables) {
    if (!is_name_without_quotes(table.name) || quote_identifier(table.name) == table.name) continue;
    const auto is_plain = [&](const std::string& name) { return quote_identifier(name) == name && !taken.contains(name); };
    for (const std::string& name : {table.name + "s", table.name + "_table", table.name + "_rows"}) {
      if (!is_plain(name)) continue;
      table.plain_name = name;
      taken.insert(name);
      table.doubts.push_back("the name needs quotes in SQL; the view " + name + " has the same rows");
      break;
    }
  }
}

/// Short names where they are free: a table of rows before one of elements, many keys before few, a short key before a long one. The number of
/// keys counts no more than that, so that names stay while keys come and go.
void name_tables(Proposal& proposal, const std::vector<std::vector<std::string>>& names) {
  std::vector<std::size_t> order(proposal.tables.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  constexpr std::size_t kFewKeys = 10;
  const auto rank = [&](std::size_t i) {
    const ProposedTable& table = proposal.tables[i];
    const int kind = table.layout == "hash" ? 0 : table.layout == "strings" ? 1 : 2;
    return std::tuple(kind, table.keys < kFewKeys, table.key.size(), i);
  };
  std::ranges::sort(order, {}, rank);
  std::set<std::string> taken;
  for (const std::size_t i : order) {
    std::string chosen;
    for (const std::string& name : names[i]) {
      if (!taken.contains(name) && chosen.empty()) chosen = name;
    }
    if (chosen.empty()) chosen = unique_name(names[i].back(), taken);
    taken.insert(chosen);
    proposal.tables[i].name = chosen;
  }
  name_views(proposal, taken);
}

/// The key templates of a framework's tables.
std::vector<KeyTemplate> templates_of(const ProposedFramework& framework) {
  std::vector<KeyTemplate> templates;
  for (const ProposedTable& table : framework.tables) {
    std::int16_t column = 0;
    templates.push_back(KeyTemplate::parse(table.key, [&](std::string_view name) { return name == "*" ? KeyTemplate::kFieldSlot : ++column; }));
  }
  return templates;
}

/// Leaves out single keys that a framework's table has: no key is in two tables.
void leave_out_keys_of_frameworks(Proposal& proposal) {
  for (const ProposedFramework& framework : proposal.frameworks) {
    const std::vector<KeyTemplate> templates = templates_of(framework);
    std::erase_if(proposal.tables, [&](const ProposedTable& table) {
      const bool is_single = table.key.find('{') == std::string::npos && !table.examples.empty();
      const auto has_key = [&](const KeyTemplate& of) { return of.match(table.examples.front()).has_value(); };
      if (!is_single || std::ranges::none_of(templates, has_key)) return false;
      proposal.left_out.push_back({table.pattern, table.type, table.keys, table.examples.front(), "its name is one of " + framework.name + "'s keys"});
      return true;
    });
  }
}

}  // namespace

void finish_proposal(Proposal& proposal, const KnownOfTables& known) {
  for (const KnownOfTables::Relation& one : known.relations) {
    for (const KnownOfTables::Relation& other : known.relations) {
      if (&one != &other && is_inverse(one, other)) add_inverse(proposal, one, other);
    }
  }
  name_tables(proposal, known.names);
  name_parents(proposal, known.parents);
  // A table is made before the tables whose rows belong to its rows.
  std::ranges::sort(proposal.tables, {}, [](const ProposedTable& table) {
    const auto child = std::ranges::find_if(table.columns, [&](const ProposedColumn& column) { return column.parent > table.name; });
    const bool waits = child != table.columns.end();
    return std::tuple(waits ? child->parent : table.name, waits, table.name);
  });
  for (ProposedTable& table : proposal.tables) std::ranges::sort(table.indexes, {}, &ProposedIndex::key);
  leave_out_keys_of_frameworks(proposal);
}

}  // namespace redquel::sql
