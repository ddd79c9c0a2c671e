#include "sql/catalog/catalog.h"

#include <algorithm>
#include <cassert>

#include "sql/ascii.h"
#include "sql/catalog/function_text.h"

namespace redquel::sql {

const ColumnDef* TableDef::find_column(std::string_view column_name) const {
  for (const ColumnDef& column : columns) {
    if (column.name == column_name && !column.hidden) return &column;
  }
  return nullptr;
}

/// Returns the place of a column's number; columns.size(): there is none. Numbers ascend, with gaps where columns were
/// dropped, unless another program has damaged the definition.
static std::size_t place_of(const std::vector<ColumnDef>& columns, std::int16_t number) {
  auto found = std::ranges::lower_bound(columns, number, {}, &ColumnDef::number);
  if (found == columns.end() || found->number != number) found = std::ranges::find(columns, number, &ColumnDef::number);
  return static_cast<std::size_t>(found - columns.begin());
}

const ColumnDef* TableDef::find_column(std::int16_t number) const {
  if (const std::size_t place = number < 0 ? columns.size() : place_of(columns, number); place < columns.size())
    return &columns[place];
  const auto found = std::ranges::find(computed, number, &ColumnDef::number);
  return found == computed.end() ? nullptr : &*found;
}

const IndexDef* TableDef::find_index(std::string_view index_name) const {
  for (const IndexDef& index : indexes) {
    if (!index.is_hidden() && index.name == index_name) return &index;
  }
  return nullptr;
}

std::size_t TableDef::position(std::int16_t number) const {
  if (number < 0) {
    const auto found = std::ranges::find(computed, number, &ColumnDef::number);
    assert(found != computed.end());
    return columns.size() + (has_hidden_key() ? 1 : 0) + static_cast<std::size_t>(found - computed.begin());
  }
  const std::size_t place = place_of(columns, number);
  assert(place < columns.size());
  return place;
}

bool TableDef::in_primary_key(std::int16_t number) const {
  return std::find(primary_key.begin(), primary_key.end(), number) != primary_key.end();
}

const IndexDef* TableDef::deferrable_primary_key() const {
  const auto found = std::ranges::find_if(indexes, &IndexDef::is_primary_key);
  return found == indexes.end() ? nullptr : &*found;
}

bool TableDef::is_nullable(const ColumnDef& column) const { return !column.not_null && !in_primary_key(column.number); }

bool ViewDef::is_updatable() const {
  return base != 0 && std::ranges::any_of(columns, &Column::updatable);
}

const ViewDef::Column* ViewDef::find_column(std::string_view column_name) const {
  const auto found = std::ranges::find(columns, column_name, &Column::name);
  return found == columns.end() ? nullptr : &*found;
}

namespace {

/// Calls `find` with the schema, or with each schema of the path until it gives something. pg_temp is the path's temporary schema.
template <typename Find>
auto search(std::string_view schema, const std::vector<std::string>& search_path, Find find) -> decltype(find(schema)) {
  if (schema == "pg_temp") {
    const auto own = std::ranges::find_if(search_path, [](const std::string& name) { return is_temporary_schema(name); });
    return own == search_path.end() ? decltype(find(schema)){} : find(std::string_view(*own));
  }
  if (!schema.empty()) return find(schema);
  for (const std::string& candidate : search_path) {
    if (auto found = find(std::string_view(candidate)); found) return found;
  }
  return {};
}

}  // namespace

CatalogSnapshot::TablePtr CatalogSnapshot::find_table(std::string_view schema, std::string_view name,
                                                      const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) -> TablePtr {
    for (const auto& [oid, table] : tables) {
      if (table->name == name && table->schema == in) return table;
    }
    return nullptr;
  });
}

std::string_view kind_name(const TableDef& table) {
  const Overloaded name_of{
      [&](const ManagedRows&) -> std::string_view { return table.materialized ? "materialized view" : "table"; },
      [](const MappedRows&) -> std::string_view { return "foreign table"; },
  };
  return std::visit(name_of, table.storage);
}

std::vector<CatalogSnapshot::TablePtr> CatalogSnapshot::managed_tables() const {
  std::vector<TablePtr> managed;
  for (const auto& [oid, table] : tables) {
    if (!table->is_mapped()) managed.push_back(table);
  }
  return managed;
}

CatalogSnapshot::TablePtr CatalogSnapshot::find_table(Oid oid) const {
  if (const auto found = tables.find(oid); found != tables.end()) return found->second;
  if (!uses_cluster()) return nullptr;
  for (const auto& [number, table] : tables) {
    const auto part = std::ranges::find(table->parts, oid, &TableDef::oid);
    if (part != table->parts.end()) return *part;
  }
  return nullptr;
}

std::pair<CatalogSnapshot::TablePtr, const IndexDef*> CatalogSnapshot::find_index(
    std::string_view schema, std::string_view name, const std::vector<std::string>& search_path) const {
  const IndexDef* index = nullptr;
  TablePtr owner = search(schema, search_path, [&](std::string_view in) -> TablePtr {
    for (const auto& [oid, table] : tables) {
      if (table->schema != in) continue;
      if ((index = table->find_index(name)) != nullptr) return table;
    }
    return nullptr;
  });
  return {std::move(owner), index};
}

CatalogSnapshot::TablePtr CatalogSnapshot::find_primary_key(std::string_view schema, std::string_view name,
                                                            const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) -> TablePtr {
    for (const auto& [oid, table] : tables) {
      if (table->schema == in && table->primary_key_index.oid != 0 && table->primary_key_index.name == name) return table;
    }
    return nullptr;
  });
}

const SequenceDef* CatalogSnapshot::find_sequence(std::string_view schema, std::string_view name,
                                                  const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) -> const SequenceDef* {
    for (const auto& [oid, sequence] : sequences) {
      if (sequence.schema == in && sequence.name == name) return &sequence;
    }
    return nullptr;
  });
}

CatalogSnapshot::ViewPtr CatalogSnapshot::find_view(std::string_view schema, std::string_view name,
                                                    const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) -> ViewPtr {
    for (const auto& [oid, view] : views) {
      if (view->name == name && view->schema == in) return view;
    }
    return nullptr;
  });
}

CatalogSnapshot::ViewPtr CatalogSnapshot::find_view(Oid oid) const {
  const auto found = views.find(oid);
  return found == views.end() ? nullptr : found->second;
}

UserTypePtr CatalogSnapshot::find_user_type(std::string_view schema, std::string_view name,
                                            const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) -> UserTypePtr {
    for (const auto& [oid, type] : types) {
      if (type->schema == in && type->name == name) return type;
    }
    return nullptr;
  });
}

bool CatalogSnapshot::relation_exists(std::string_view schema, std::string_view name) const {
  for (const auto& [oid, table] : tables) {
    if (table->schema != schema) continue;
    if (table->name == name || table->find_index(name) != nullptr) return true;
    if (table->primary_key_index.oid != 0 && table->primary_key_index.name == name) return true;
  }
  for (const auto& [oid, view] : views) {
    if (view->schema == schema && view->name == name) return true;
  }
  for (const auto& [oid, type] : types) {
    if (type->kind == UserType::Kind::kComposite && type->schema == schema && type->name == name) return true;
  }
  return std::any_of(sequences.begin(), sequences.end(), [&](const auto& entry) {
    return entry.second.schema == schema && entry.second.name == name;
  });
}

namespace {

/// Returns true if the flag is on in "name=value,name=value".
bool has_flag(std::string_view options, std::string_view name) {
  while (!options.empty()) {
    const std::string_view one = options.substr(0, options.find(','));
    options.remove_prefix(std::min(one.size() + 1, options.size()));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || one.substr(0, equals) != name) continue;
    const std::string value = lower_case(one.substr(equals + 1));
    return value == "true" || value == "on" || value == "yes" || value == "1";
  }
  return false;
}

}  // namespace

bool ViewDef::is_security_invoker() const { return has_flag(options, "security_invoker"); }
bool ViewDef::is_security_barrier() const { return has_flag(options, "security_barrier"); }

bool FunctionDef::is_security_definer() const { return FunctionWords(*this).security_definer; }
bool FunctionDef::is_leakproof() const { return FunctionWords(*this).leakproof; }

bool means_function_of(std::string_view written_schema, std::string_view schema, const std::vector<std::string>& search_path) {
  const bool in_path = std::ranges::find(search_path, schema) != search_path.end();
  if (written_schema.empty()) return in_path && !is_temporary_schema(schema);
  return written_schema == schema || (written_schema == "pg_temp" && in_path && is_temporary_schema(schema));
}

}  // namespace redquel::sql
