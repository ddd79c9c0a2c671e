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

UserTypesPtr user_types_of(const CatalogSnapshot& catalog, const UserTypes* before) {
  const auto all = std::make_shared<UserTypes>();
  std::vector<UserTypePtr> others;  // together: a domain may be over an array of a row type
  const auto is_shared = [&](const UserType& type) { return before != nullptr && all->share(*before, type); };
  for (const auto& [oid, type] : catalog.types) {
    if (!is_shared(*type)) others.push_back(type);
  }
  for (const auto& [oid, table] : catalog.tables) {
    const UserType* known = before == nullptr || table->row_array == 0 ? nullptr : before->find_type(table->row_type);
    if (known != nullptr && is_row_type(*known, *table) && is_shared(*known)) continue;
    if (UserTypePtr type = row_type_of(*table)) others.push_back(std::move(type));
  }
  all->add(std::move(others));
  return all;
}

bool is_row_type_current(const TableDef& table) {
  const UserType* known = table.row_array == 0 ? nullptr : find_user_type(table.row_type);
  return known != nullptr && has_fields(*known, table);
}

}  // namespace redquel::sql
