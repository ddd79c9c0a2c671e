#include "executor/catalog/catalog_conflict.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "executor/catalog/dependencies.h"
#include "sql/catalog/catalog_json.h"
#include "sql/catalog/prefixes.h"

namespace redquel::executor {

namespace {

using Oids = std::set<sql::Oid>;

bool meet(const Oids& some, const Oids& others) {
  return std::ranges::any_of(some, [&](sql::Oid oid) { return others.contains(oid); });
}

bool is_same(const sql::CatalogSnapshot::TablePtr& a, const sql::CatalogSnapshot::TablePtr& b) { return a->version == b->version; }
bool is_same(const sql::SequenceDef& a, const sql::SequenceDef& b) { return sql::encode_sequence(a) == sql::encode_sequence(b); }
bool is_same(const sql::CatalogSnapshot::ViewPtr& a, const sql::CatalogSnapshot::ViewPtr& b) {
  return a == b || sql::encode_view(*a) == sql::encode_view(*b);
}
bool is_same(const sql::UserTypePtr& a, const sql::UserTypePtr& b) { return a == b || sql::encode_user_type(*a) == sql::encode_user_type(*b); }
bool is_same(const std::shared_ptr<const sql::FunctionDef>& a, const std::shared_ptr<const sql::FunctionDef>& b) {
  return a == b || sql::encode_function(*a) == sql::encode_function(*b);
}

/// Objects that are not the same in two states of the definitions.
struct Difference {
  Oids changed, made;  // changed or dropped; only in the later state

  template <typename Map>
  void add(const Map& before, const Map& now) {
    Map::for_each_difference(before, now, [&](const auto* was, const auto* is) {
      if (was == nullptr) made.insert(is->first);
      else if (is == nullptr || !is_same(was->second, is->second)) changed.insert(was->first);
    });
  }
};

Difference difference(const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& now) {
  Difference found;
  found.add(before.tables, now.tables);
  found.add(before.sequences, now.sequences);
  found.add(before.views, now.views);
  found.add(before.types, now.types);
  found.add(before.functions, now.functions);
  return found;
}

// Returns true if the object is unchanged for its dependents. A table may have got an index, a function another body.

bool looks_same(const sql::TableDef& a, const sql::TableDef& b) {
  return a.schema == b.schema && a.name == b.name && a.row_type == b.row_type && a.primary_key == b.primary_key &&
         std::ranges::equal(a.columns, b.columns, [](const sql::ColumnDef& left, const sql::ColumnDef& right) {
           return left.number == right.number && left.name == right.name && left.type == right.type && left.domain == right.domain;
         });
}

bool looks_same(const sql::FunctionDef& a, const sql::FunctionDef& b) {
  return a.schema == b.schema && a.name == b.name && a.result == b.result &&
         std::ranges::equal(a.parameters, b.parameters, {}, &sql::FunctionDef::Parameter::type, &sql::FunctionDef::Parameter::type);
}

/// An enum may have got labels.
bool looks_same(const sql::UserType& a, const sql::UserType& b) {
  return a.schema == b.schema && a.name == b.name && a.kind == sql::UserType::Kind::kEnum && b.kind == a.kind &&
         std::ranges::all_of(a.labels, [&](const sql::EnumLabel& label) {
           return std::ranges::find(b.labels, label.name, &sql::EnumLabel::name) != b.labels.end();
         });
}

bool looks_same(const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& now, sql::Oid oid) {
  const auto in_both = [oid](const auto& some, const auto& others) { return some.contains(oid) && others.contains(oid); };
  if (in_both(before.tables, now.tables)) return looks_same(*before.tables.at(oid), *now.tables.at(oid));
  if (in_both(before.functions, now.functions)) return looks_same(*before.functions.at(oid), *now.functions.at(oid));
  if (in_both(before.types, now.types)) return looks_same(*before.types.at(oid), *now.types.at(oid));
  if (in_both(before.sequences, now.sequences)) {
    const sql::SequenceDef &a = before.sequences.at(oid), &b = now.sequences.at(oid);
    return a.schema == b.schema && a.name == b.name;
  }
  return false;
}

/// Returns true if one of `dependents` depends, in the draft, on an object that differs in the other state.
bool needs_changed(const CatalogDraft& draft, const Oids& dependents, const Oids& changed, const sql::CatalogSnapshot& before,
                   const sql::CatalogSnapshot& after) {
  return std::ranges::any_of(changed, [&](sql::Oid oid) {
    return !looks_same(before, after, oid) && meet(dependents_of(draft, oid), dependents);
  });
}

/// Names that must be unique, each with its kind in front.
class Names {
 public:
  void add(const sql::CatalogSnapshot::TablePtr& table) {
    add('r', table->schema, table->name);
    add('t', table->schema, table->name);
    add('r', table->schema, table->primary_key_index.name);
    for (const sql::IndexDef& index : table->indexes) add('r', table->schema, index.name);
  }
  void add(const sql::CatalogSnapshot::ViewPtr& view) { add('r', view->schema, view->name), add('t', view->schema, view->name); }
  void add(const sql::SequenceDef& sequence) { add('r', sequence.schema, sequence.name); }
  void add(const sql::UserTypePtr& type) { add('t', type->schema, type->name); }
  void add(const std::shared_ptr<const sql::FunctionDef>& function) {
    std::string signature = function->name + '\0';
    for (const sql::FunctionDef::Parameter& parameter : function->parameters) signature += std::to_string(parameter.type.oid) + ' ';
    add('f', function->schema, signature);
  }
  void add_publication(const std::string& name) { add('p', "", name); }
  void add_extension(const std::string& name) { add('e', "", name); }
  void add_schema(const std::string& name) { add('s', "", name); }
  const std::set<std::string>& all() const { return names_; }

 private:
  void add(char kind, const std::string& schema, const std::string& name) {
    if (!name.empty()) names_.insert(kind + schema + '\0' + name);
  }

  std::set<std::string> names_;
};

/// Returns the names that `now` uses and `before` does not.
std::set<std::string> new_names(const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& now) {
  Names was_used, is_used;
  const auto compare = [&]<typename Map>(const Map& then, const Map& later) {
    Map::for_each_difference(then, later, [&](const auto* was, const auto* is) {
      if (was != nullptr) was_used.add(was->second);
      if (is != nullptr) is_used.add(is->second);
    });
  };
  compare(before.tables, now.tables);
  compare(before.views, now.views);
  compare(before.sequences, now.sequences);
  compare(before.types, now.types);
  compare(before.functions, now.functions);
  for (const auto& [name, schema] : before.schemas) was_used.add_schema(name);
  for (const auto& [name, schema] : now.schemas) is_used.add_schema(name);
  for (const auto& [oid, extension] : before.extensions) was_used.add_extension(extension.name);
  for (const auto& [oid, extension] : now.extensions) is_used.add_extension(extension.name);
  for (const auto& [oid, publication] : before.publications) was_used.add_publication(publication.name);
  for (const auto& [oid, publication] : now.publications) is_used.add_publication(publication.name);
  std::set<std::string> made;
  std::ranges::set_difference(is_used.all(), was_used.all(), std::inserter(made, made.end()));
  return made;
}

/// Returns true if both states use a new name that the state before did not have.
bool share_new_name(const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& own, const sql::CatalogSnapshot& now) {
  const std::set<std::string> others = new_names(before, now);
  return std::ranges::any_of(new_names(before, own), [&](const std::string& name) { return others.contains(name); });
}

/// Returns true if an object is in a schema that has changed in the other state.
bool lies_in_changed_schema(const sql::CatalogSnapshot& catalog, const Oids& objects, const sql::CatalogSnapshot& before,
                            const sql::CatalogSnapshot& after) {
  const auto is_there = [&](const std::string& schema) {
    const auto was = before.schemas.find(schema), is = after.schemas.find(schema);
    return was == before.schemas.end() || (is != after.schemas.end() && is->second.oid == was->second.oid);
  };
  const auto is_lost = [&](const auto* found) {
    if (found == nullptr) return false;
    if constexpr (requires { (*found)->schema; }) return !is_there((*found)->schema);
    else return !is_there(found->schema);
  };
  return std::ranges::any_of(objects, [&](sql::Oid oid) {
    return is_lost(catalog.tables.get(oid)) || is_lost(catalog.sequences.get(oid)) || is_lost(catalog.views.get(oid)) ||
           is_lost(catalog.types.get(oid)) || is_lost(catalog.functions.get(oid));
  });
}

std::set<std::string> changed_schemas(const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& now) {
  std::set<std::string> changed;
  for (const auto& [name, schema] : before.schemas) {
    const auto found = now.schemas.find(name);
    if (found == now.schemas.end() || sql::encode_schema(found->second) != sql::encode_schema(schema)) changed.insert(name);
  }
  return changed;
}

/// Returns what differs beside objects: extensions, publications, entries of ALTER DEFAULT PRIVILEGES, privileges of the system's objects, the foreign server.
std::set<std::string> changed_beside_objects(const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& now) {
  const auto lists_of = [](const sql::CatalogSnapshot& catalog) {
    std::map<std::string, std::string> lists{{"server", sql::encode_server(catalog.server)}};
    for (const auto& [oid, entry] : catalog.default_acls) {
      lists[std::to_string(entry.role) + " " + std::to_string(entry.schema) + entry.kind] = sql::encode_acl(entry.acl);
    }
    for (const auto& [oid, extension] : catalog.extensions) lists["extension " + std::to_string(oid)] = sql::encode_extension(extension);
    for (const auto& [oid, publication] : catalog.publications) lists["publication " + std::to_string(oid)] = sql::encode_publication(publication);
    for (const auto& [object, acl] : catalog.system_acls) {
      lists["system " + std::to_string(object.first) + " " + std::to_string(object.second)] = sql::encode_acl(acl);
    }
    return lists;
  };
  const std::map<std::string, std::string> then = lists_of(before), later = lists_of(now);
  std::set<std::string> changed;
  for (const auto& [name, list] : then) {
    if (const auto found = later.find(name); found == later.end() || found->second != list) changed.insert(name);
  }
  for (const auto& [name, list] : later) {
    if (!then.contains(name)) changed.insert(name);
  }
  return changed;
}

bool share_changed_beside_objects(const sql::CatalogSnapshot& before, const sql::CatalogSnapshot& own, const sql::CatalogSnapshot& theirs) {
  const std::set<std::string> others = changed_beside_objects(before, theirs);
  return !others.empty() && std::ranges::any_of(changed_beside_objects(before, own), [&](const std::string& name) { return others.contains(name); });
}

Oids all_objects(const Difference& of) {
  Oids all = of.changed;
  all.insert(of.made.begin(), of.made.end());
  return all;
}

/// Returns true if another owner has one of the draft's reserved prefixes by now.
bool shares_prefix(const CatalogDraft& draft, const LoadedCatalog& now, const std::set<std::string>& claimed) {
  return std::ranges::any_of(draft.reserved_prefixes(), [&](const auto& reserved) {
    return !claimed.contains(reserved.first) && now.prefixes.collide(reserved.first);
  });
}

}  // namespace

bool conflicts(const CatalogDraft& draft, const sql::CatalogSnapshot& before, const LoadedCatalog& now, const std::set<sql::Oid>& relied_on,
               const std::set<std::string>& claimed) {
  const sql::CatalogSnapshot &own = draft.catalog(), &theirs = *now.snapshot;
  if (shares_prefix(draft, now, claimed) || share_changed_beside_objects(before, own, theirs)) return true;
  const Difference others = difference(before, theirs);
  const std::set<std::string> own_schemas = changed_schemas(before, own), other_schemas = changed_schemas(before, theirs);
  if (others.changed.empty() && others.made.empty() && other_schemas.empty() && before.schemas.size() == theirs.schemas.size() &&
      before.extensions.size() == theirs.extensions.size() && before.publications.size() == theirs.publications.size()) {
    return false;
  }
  Difference mine;  // an object that was changed and changed back has been touched, too
  for (const sql::Oid oid : draft.touched()) {
    const bool was_there = before.tables.contains(oid) || before.sequences.contains(oid) || before.views.contains(oid) ||
                           before.types.contains(oid) || before.functions.contains(oid);
    (was_there ? mine.changed : mine.made).insert(oid);
  }
  const Oids all_mine = all_objects(mine), all_others = all_objects(others);
  if (meet(all_mine, all_others) || meet(others.changed, relied_on)) return true;
  if (std::ranges::any_of(own_schemas, [&](const std::string& schema) { return other_schemas.contains(schema); })) return true;
  if (lies_in_changed_schema(own, all_mine, before, theirs) || lies_in_changed_schema(theirs, all_others, before, own)) return true;
  if (share_new_name(before, own, theirs)) return true;
  return needs_changed(draft, all_mine, others.changed, before, theirs) ||
         needs_changed(CatalogDraft(now, draft.session()), all_others, mine.changed, before, own);
}

}  // namespace redquel::executor
