#include "sql/catalog/row_types.h"

#include <algorithm>

namespace redquel::sql {
namespace {

bool has_fields(const UserType& row, const TableDef& table) {
  return std::ranges::equal(row.fields, table.columns, [](const CompositeField& field, const ColumnDef& column) {
    return field.name == column.name && field.type == column.type;
  });
}

/// Returns true if row_type_of() would make the same type.
bool is_row_type(const UserType& row, const TableDef& table) {
  return row.array == table.row_array && row.schema == table.schema && row.name == table.name && row.owner == table.owner &&
         row.relation == table.oid && has_fields(row, table) &&
         std::ranges::equal(row.fields, table.columns, {}, &CompositeField::domain, &ColumnDef::domain);
}

}  // namespace

void choose_row_type(TableDef& table) {
  table.row_type = new_type_oid();
  table.row_array = new_type_oid();
}

UserTypePtr row_type_of(const TableDef& table) {
  if (table.row_array == 0) return nullptr;
  auto type = std::make_shared<UserType>();
  type->oid = table.row_type;
  type->array = table.row_array;
  type->schema = table.schema;
  type->name = table.name;
  type->owner = table.owner;
  type->kind = UserType::Kind::kComposite;
  type->relation = table.oid;
  for (const ColumnDef& column : table.columns) type->fields.push_back({column.name, column.type, column.domain});
  return type;
}

UserTypesPtr user_types_of(const CatalogSnapshot& catalog) {
  const auto all = std::make_shared<UserTypes>();
  std::vector<UserTypePtr> types;  // together: a domain may be over an array of a row type
  for (const auto& [oid, type] : catalog.types) types.push_back(type);
  for (const auto& [oid, table] : catalog.tables) {
    if (UserTypePtr type = row_type_of(*table)) types.push_back(std::move(type));
  }
  all->add(std::move(types));
  return all;
}

UserTypesPtr user_types_of(const CatalogSnapshot& now, const CatalogSnapshot& before) {
  if (!before.user_types) return user_types_of(now);
  auto all = std::make_shared<UserTypes>(*before.user_types);
  std::vector<UserTypePtr> made;
  bool is_changed = false;
  const auto replace = [&](Oid known, UserTypePtr type) {
    is_changed = true;
    all->remove(known);
    if (type) made.push_back(std::move(type));
  };
  DefinitionMap<UserTypePtr>::for_each_difference(before.types, now.types, [&](const auto* was, const auto* is) {
    const bool is_same = was != nullptr && is != nullptr && all->share(*before.user_types, *is->second);
    if (!is_same) replace(was != nullptr ? was->first : 0, is != nullptr ? is->second : nullptr);
  });
  using TablePtr = CatalogSnapshot::TablePtr;
  DefinitionMap<TablePtr>::for_each_difference(before.tables, now.tables, [&](const auto* was, const auto* is) {
    const UserType* known = was != nullptr ? before.user_types->find_type(was->second->row_type) : nullptr;
    const bool is_same = known != nullptr && is != nullptr && is->second->row_type == known->oid && is_row_type(*known, *is->second);
    if (!is_same) replace(known != nullptr ? known->oid : 0, is != nullptr ? row_type_of(*is->second) : nullptr);
  });
  if (!is_changed) return before.user_types;
  all->add(std::move(made));
  return all;
}

bool is_row_type_current(const TableDef& table) {
  const UserType* known = table.row_array == 0 ? nullptr : find_user_type(table.row_type);
  return known != nullptr && has_fields(*known, table);
}

}  // namespace redquel::sql
