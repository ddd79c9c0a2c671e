#include "sql/catalog/catalog_references.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "sql/catalog/mapping.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::sql {

namespace {

class ReferenceCheck {
 public:
  explicit ReferenceCheck(const CatalogSnapshot& catalog) : catalog_(catalog) {}

  void run() { run_since(CatalogSnapshot()); }
  /// Checks the definitions that the other snapshot has not.
  void run_since(const CatalogSnapshot& before) {
    std::vector<Oid> types;
    for_each_new(before.types, catalog_.types, [&](const UserTypePtr& type) { check(*type), types.push_back(type->oid); });
    for_each_new(before.tables, catalog_.tables, [&](const CatalogSnapshot::TablePtr& table) { check(*table), types.push_back(table->row_type); });
    for_each_new(before.sequences, catalog_.sequences, [&](const SequenceDef& sequence) { check(sequence); });
    for_each_new(before.views, catalog_.views, [&](const CatalogSnapshot::ViewPtr& view) { check(*view); });
    for_each_new(before.functions, catalog_.functions, [&](const std::shared_ptr<const FunctionDef>& function) { check(*function); });
    for (const Oid type : types) check_depth(type);
  }

 private:
  /// Names the definition that is being checked.
  void begin(std::string_view kind, Oid oid, const std::string& name) {
    kind_ = kind;
    oid_ = oid;
    name_ = &name;
  }
  void require(bool exists, std::string_view missing) const {
    if (exists) return;
    throw SqlError(sqlstate::kDataCorrupted,
                   fmt::format("the definition of {} \"{}\" in redquel:catalog names {} that does not exist", kind_, *name_, missing))
        .hint(fmt::format("Restore what is missing, or remove the field \"{}:{}\" of the Redis hash \"redquel:catalog\" and restart redquel.",
                          kind_, oid_));
  }

  template <typename Definition, typename Take>
  static void for_each_new(const DefinitionMap<Definition>& before, const DefinitionMap<Definition>& now, Take take) {
    DefinitionMap<Definition>::for_each_difference(before, now, [&](const auto*, const auto* is) {
      if (is != nullptr) take(is->second);
    });
  }

  void require_type(Type type) const { require(find_type(type.oid) != nullptr, "a type"); }
  void require_domain(Oid oid) const {
    if (oid == 0) return;
    const auto found = catalog_.types.find(oid);
    require(found != catalog_.types.end() && found->second->kind == UserType::Kind::kDomain, "a domain");
  }
  void require_column(const TableDef& table, std::int16_t number) const { require(table.find_column(number) != nullptr, "a column"); }

  bool is_primary_key(Oid oid) {
    if (!primary_keys_) {
      primary_keys_.emplace();
      for (const auto& [number, table] : catalog_.tables) primary_keys_->insert(table->primary_key_index.oid);
    }
    return oid != 0 && primary_keys_->contains(oid);
  }
  bool has_relation(Oid oid) const { return catalog_.tables.contains(oid) || catalog_.views.contains(oid); }

  void check(const UserType& type) {
    using enum UserType::Kind;
    begin("type", type.oid, type.name);
    if (type.kind == kDomain || type.kind == kRange) require_type(type.base), require_domain(type.base_domain);
    if (type.kind == kRange) require(type.range.multirange != 0 && type.range.multirange_array != 0, "a multirange type");
    require(type.array != 0, "an array type");
    for (const CompositeField& field : type.fields) require_type(field.type), require_domain(field.domain);
  }

  void check(const TableDef& table) {
    begin("table", table.oid, table.name);
    for (const ColumnDef& column : table.columns) {
      require_type(column.type), require_domain(column.domain);
      require(column.sequence == 0 || catalog_.sequences.contains(column.sequence), "a sequence");
    }
    for (const ColumnDef& column : table.computed) require_type(column.type);
    for (const IndexDef& index : table.indexes) {
      for (const IndexDef::Part& part : index.parts) {
        if (part.shown_column != 0) require_column(table, part.shown_column);
      }
    }
    if (const auto* rows = std::get_if<ManagedRows>(&table.storage); rows != nullptr && rows->expiry.column != 0) require_column(table, rows->expiry.column);
    for (const ForeignKeyDef& key : table.foreign_keys) check(table, key);
    for (const Oid referencing : table.referencing) {
      const auto from = catalog_.find_table(referencing);
      require(from && std::ranges::find(from->foreign_keys, table.oid, &ForeignKeyDef::referenced) != from->foreign_keys.end(), "a foreign key");
    }
    if (table.materialized) check_parts(*table.materialized);
  }

  void check(const TableDef& table, const ForeignKeyDef& key) const {
    const auto referenced = catalog_.find_table(key.referenced);
    require(referenced != nullptr, "a table");
    for (const std::int16_t number : key.referenced_columns) require_column(*referenced, number);
    if (key.referenced_index != referenced->primary_key_index.oid) {
      const auto index = std::ranges::find(referenced->indexes, key.referenced_index, &IndexDef::oid);
      require(index != referenced->indexes.end(), "an index");
      for (const IndexDef::Part& part : index->parts) require_key_column(key, part.column);
    } else {
      require(!referenced->primary_key.empty(), "a primary key");
      for (const std::int16_t number : referenced->primary_key) require_key_column(key, number);
    }
    const auto own = std::ranges::find(table.indexes, key.index, &IndexDef::oid);
    require(own != table.indexes.end(), "an index");
    // A computed column stands for one whose values are compared as those of another type.
    const auto stands_for = [](const IndexDef::Part& part, std::int16_t number) { return part.column == number || part.column < 0; };
    require(std::ranges::equal(own->parts, key.columns, stands_for), "an index over its columns");
    require(std::ranges::find(referenced->referencing, table.oid) != referenced->referencing.end(), "a foreign key");
  }
  void require_key_column(const ForeignKeyDef& key, std::int16_t number) const {
    require(std::ranges::find(key.referenced_columns, number) != key.referenced_columns.end(), "a column");
  }

  void check(const SequenceDef& sequence) {
    begin("sequence", sequence.oid, sequence.name);
    require_type(sequence.type);
    if (sequence.owner_table == 0) return;
    const auto owner = catalog_.find_table(sequence.owner_table);
    require(owner != nullptr, "a table");
    require_column(*owner, sequence.owner_column);
  }

  void check(const ViewDef& view) {
    begin("view", view.oid, view.name);
    require(view.base == 0 || has_relation(view.base), "a relation");
    check_parts(view);
  }
  void check_parts(const ViewDef& view) {
    for (const ViewDef::Column& column : view.columns) require_type(column.type);
    for (const ViewDef::Reference& reference : view.references) {
      // A view that is grouped by a primary key refers to the constraint.
      const bool exists = has_relation(reference.relation) || catalog_.functions.contains(reference.relation) ||
                          catalog_.sequences.contains(reference.relation) || is_primary_key(reference.relation);
      require(exists, "a relation, function or primary key");
      const auto table = catalog_.find_table(reference.relation);
      for (const std::int16_t number : reference.columns) {
        if (table) require_column(*table, number);
      }
    }
  }

  void check(const FunctionDef& function) {
    begin("function", function.oid, function.name);
    for (const FunctionDef::Parameter& parameter : function.parameters) require_type(parameter.type);
    for (const FunctionDef::Column& column : function.columns) require_type(column.type);
    if (!function.procedure) require_type(function.result);
    require(function.result_relation == 0 || has_relation(function.result_relation), "a relation");
  }

  /// Visits the types that a type is made of. A type that is found again while it is being visited contains itself.
  void check_depth(Oid oid) {
    if (oid < kFirstUserOid) return;
    const auto [state, is_new] = visited_.try_emplace(oid, false);
    if (!is_new) {
      if (!state->second) throw SqlError(sqlstate::kDataCorrupted, fmt::format("the type with the oid {} in redquel:catalog contains itself", oid));
      return;
    }
    const UserType* type = find_user_type(oid);
    if (type == nullptr) {
      const UserType* range = find_user_range(oid);
      if (const TypeInfo* info = find_type(oid); info != nullptr && info->element != 0) check_depth(declared_element(oid));
      if (range != nullptr) check_depth(range->oid);
    } else {
      check_depth(type->base.oid);
      check_depth(type->base_domain);
      for (const CompositeField& field : type->fields) check_depth(field.type.oid), check_depth(field.domain);
    }
    visited_[oid] = true;
  }

  const CatalogSnapshot& catalog_;
  std::optional<std::set<Oid>> primary_keys_;  // once they are asked for
  std::unordered_map<Oid, bool> visited_;  // true: with all its parts
  std::string_view kind_;
  Oid oid_ = 0;
  const std::string* name_ = nullptr;
};

}  // namespace

void check_type_oids(const CatalogSnapshot& catalog) {
  std::set<Oid> seen;
  const auto add = [&](std::string_view kind, const std::string& name, std::initializer_list<Oid> oids) {
    for (const Oid oid : oids) {
      if (oid == 0) continue;
      const bool is_new = oid >= kFirstUserOid && oid <= INT32_MAX && seen.insert(oid).second;
      if (!is_new) {
        throw SqlError(sqlstate::kDataCorrupted,
                       fmt::format("the definition of {} \"{}\" in redquel:catalog has the oid of another type", kind, name));
      }
    }
  };
  for (const auto& [oid, type] : catalog.types) {
    if (oid == 0) throw SqlError(sqlstate::kDataCorrupted, fmt::format("the definition of type \"{}\" in redquel:catalog has no oid", type->name));
    add("type", type->name, {type->oid, type->array, type->range.multirange, type->range.multirange_array});
  }
  for (const auto& [oid, table] : catalog.tables) add("table", table->name, {table->row_type, table->row_array});
  for (const auto& [oid, view] : catalog.views) add("view", view->name, {view->row_type});
}

void check_references(const TableDef& table) {
  const auto require = [&](bool holds) {
    if (!holds) throw SqlError(sqlstate::kDataCorrupted, "the definition of table \"" + table.name + "\" in redquel:catalog is inconsistent");
  };
  require(!table.prefix.empty());
  for (const ColumnDef& column : table.columns) {
    // User-made types are known once the whole catalog is read.
    const bool may_be_user_made = column.type.oid >= kFirstUserOid && column.type.oid <= INT32_MAX;
    require(column.number > 0 && (may_be_user_made || find_type(column.type.oid) != nullptr));
    require(table.find_column(column.number) == &column);
  }
  for (std::int16_t number : table.primary_key) require(table.find_column(number) != nullptr);
  for (std::int16_t number : table.primary_key_index.included) require(table.find_column(number) != nullptr);
  for (const IndexDef& index : table.indexes) {
    require(!index.parts.empty());
    for (const IndexDef::Part& part : index.parts) {
      require(table.find_column(part.column) != nullptr);
      // A computed column stands for an expression, or for a column of a partial index.
      require(part.column > 0 || !part.expression_sql.empty() || part.shown_column != 0);
    }
    for (const std::int16_t number : index.included) require(table.find_column(number) != nullptr);
  }
  const Overloaded check_storage{
      [&](const ManagedRows& rows) {
        require(std::ranges::none_of(table.columns, [](const ColumnDef& column) { return column.field.empty(); }));
        if (rows.presence && *rows.presence != 0) require(table.find_column(*rows.presence) != nullptr);
      },
      [&](const MappedRows& rows) {
        const Mapping& mapping = *rows.mapping;
        require(mapping.columns.size() == table.columns.size() && !mapping.key.parts().empty());
        for (const ColumnDef& column : table.columns) {
          require(std::ranges::find(mapping.columns, column.number, &Mapping::Column::number) != mapping.columns.end());
        }
        for (std::int16_t slot : mapping.key.slots()) require(slot == KeyTemplate::kFieldSlot || table.find_column(slot) != nullptr);
        for (const IndexDef& index : table.indexes) require(std::holds_alternative<MappedIndex>(index.storage));
      },
  };
  std::visit(check_storage, table.storage);
  for (const ForeignKeyDef& key : table.foreign_keys) {
    require(!key.columns.empty() && key.columns.size() == key.referenced_columns.size());
    for (std::int16_t number : key.columns) require(table.find_column(number) != nullptr);
    for (std::int16_t number : key.set_columns) require(table.find_column(number) != nullptr);
  }
}

void check_references(const CatalogSnapshot& catalog) { ReferenceCheck(catalog).run(); }
void check_new_references(const CatalogSnapshot& catalog, const CatalogSnapshot& before) { ReferenceCheck(catalog).run_since(before); }

}  // namespace redquel::sql
