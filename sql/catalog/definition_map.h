#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sql/catalog/shared_map.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

/// Returns the label by which a definition of the schema is found under a name.
inline std::string name_label(std::string_view schema, std::string_view name) { return std::string(schema).append(1, '\0').append(name); }

/// Definitions by oid, which are found by their labels, too: names, and what `labels_of(definition)` adds. Copies share what they have in
/// common (SharedMap).
template <typename Definition>
class DefinitionMap {
  using Map = SharedMap<Oid, Definition>;
  /// What `map[oid] = definition` assigns to.
  struct Slot {
    DefinitionMap& map;
    Oid oid;
    void operator=(Definition definition) && { map.insert_or_assign(oid, std::move(definition)); }
  };

 public:
  using value_type = typename Map::value_type;
  using const_iterator = typename Map::const_iterator;
  using iterator = const_iterator;

  DefinitionMap() = default;
  DefinitionMap(std::initializer_list<std::pair<Oid, Definition>> definitions) {
    for (const auto& [oid, definition] : definitions) insert_or_assign(oid, definition);
  }

  const_iterator begin() const { return map_.begin(); }
  const_iterator end() const { return map_.end(); }
  std::size_t size() const { return map_.size(); }
  bool empty() const { return map_.empty(); }
  const_iterator find(Oid oid) const { return map_.find(oid); }
  bool contains(Oid oid) const { return map_.contains(oid); }
  const Definition* get(Oid oid) const { return map_.get(oid); }
  const Definition& at(Oid oid) const { return map_.at(oid); }
  /// Returns the entry with the highest oid; null: there is none.
  const value_type* rbegin() const { return map_.last(); }
  /// Returns the oids of the definitions with the label.
  std::vector<Oid> labelled(const std::string& label) const {
    std::vector<Oid> oids;
    for (auto entry = labels_.lower_bound(Label(label, 0)); entry != labels_.end() && entry->first.first == label; ++entry) {
      oids.push_back(entry->first.second);
    }
    return oids;
  }

  Slot operator[](Oid oid) { return {*this, oid}; }
  void insert_or_assign(Oid oid, Definition definition) {
    std::vector<std::string> after = labels_of(definition);
    if (const Definition* known = map_.get(oid)) {
      const std::vector<std::string> before = labels_of(*known);
      if (before != after) erase_labels(before, oid);
      else after.clear();
    }
    for (std::string& label : after) labels_.insert_or_assign(Label(std::move(label), oid), {});
    map_.insert_or_assign(oid, std::move(definition));
  }
  template <typename Made>
  bool emplace(Oid oid, Made&& definition) {
    if (contains(oid)) return false;
    insert_or_assign(oid, std::forward<Made>(definition));
    return true;
  }
  bool erase(Oid oid) {
    const Definition* known = map_.get(oid);
    if (known == nullptr) return false;
    erase_labels(labels_of(*known), oid);
    return map_.erase(oid);
  }

  /// Calls `take(before, after)` with the entries (oid, definition) that differ; null: there is none.
  template <typename Take>
  static void for_each_difference(const DefinitionMap& before, const DefinitionMap& after, Take take) {
    Map::for_each_difference(before.map_, after.map_, take);
  }

 private:
  using Label = std::pair<std::string, Oid>;

  void erase_labels(const std::vector<std::string>& labels, Oid oid) {
    for (const std::string& label : labels) labels_.erase(Label(label, oid));
  }

  Map map_;
  SharedMap<Label, std::monostate> labels_;
};

}  // namespace redquel::sql
