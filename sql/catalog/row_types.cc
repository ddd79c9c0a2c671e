#include "sql/catalog/row_types.h"

#include <algorithm>

namespace redquel::sql {

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

void register_types(const CatalogSnapshot& catalog) {
  std::map<Oid, UserTypePtr> types = catalog.types;  // together: a domain may be over an array of a row type
  for (const auto& [oid, table] : catalog.tables) {
    if (UserTypePtr type = row_type_of(*table)) types.emplace(table->row_type, std::move(type));
  }
  register_user_types(types);
}

bool is_row_type_current(const TableDef& table) {
  const UserType* known = table.row_array == 0 ? nullptr : find_user_type(table.row_type);
  return known != nullptr && std::ranges::equal(known->fields, table.columns, [](const CompositeField& field, const ColumnDef& column) {
           return field.name == column.name && field.type == column.type;
         });
}

}  // namespace redquel::sql
