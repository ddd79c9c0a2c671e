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

const IndexDef* TableDef::primary_key_as_index() const {
  const auto found = std::ranges::find_if(indexes, &IndexDef::is_primary_key);
  return found == indexes.end() ? nullptr : &*found;
}

bool TableDef::is_nullable(const ColumnDef& column) const { return !column.not_null && !in_primary_key(column.number); }

bool ViewDef::is_updatable() const {
  return base != 0 && std::ranges::any_of(columns, &Column::updatable);
}

bool ViewDef::has_instead_of(TriggerDef::Event event) const {
  return std::ranges::any_of(triggers, [&](const TriggerDef& trigger) { return trigger.timing == TriggerDef::Timing::kInsteadOf && trigger.is_for(event); });
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

namespace {

/// No name: a schema has one.
constexpr std::string_view kMappedLabel("\0mapped", 7);

std::string constraint_label(std::string_view schema, std::string_view name) { return name_label(schema, std::string(1, '\0').append(name)); }
std::string part_label(Oid part) { return name_label("", "part " + std::to_string(part)); }
std::string child_label(Oid parent) { return name_label("", "child " + std::to_string(parent)); }
std::string owner_label(Oid table) { return name_label("", "owner " + std::to_string(table)); }

/// Returns the first definition with the name that fits; null: none.
template <typename Definition, typename Fits>
const Definition* first_named(const DefinitionMap<Definition>& definitions, std::string_view schema, std::string_view name, Fits fits) {
  for (const Oid oid : definitions.labelled(name_label(schema, name))) {
    const Definition* found = definitions.get(oid);
    if (fits(*found)) return found;
  }
  return nullptr;
}

/// Returns the definition behind a pointer of a map, or null.
template <typename Definition>
Definition value_or_null(const Definition* found) {
  return found == nullptr ? Definition() : *found;
}

constexpr auto kAny = [](const auto&) { return true; };

}  // namespace

std::vector<std::string> labels_of(const std::shared_ptr<const TableDef>& table) {
  std::vector<std::string> labels{name_label(table->schema, table->name)};
  for (const IndexDef& index : table->indexes) {
    if (!index.is_hidden()) labels.push_back(name_label(table->schema, index.name));
    if (index.constraint) labels.push_back(constraint_label(table->schema, index.name));
  }
  if (table->primary_key_index.oid != 0) labels.push_back(name_label(table->schema, table->primary_key_index.name));
  if (!table->primary_key_index.name.empty()) labels.push_back(constraint_label(table->schema, table->primary_key_index.name));
  for (const CheckDef& check : table->checks) labels.push_back(constraint_label(table->schema, check.name));
  for (const ForeignKeyDef& key : table->foreign_keys) labels.push_back(constraint_label(table->schema, key.name));
  if (table->is_mapped()) labels.emplace_back(kMappedLabel);
  for (const auto& part : table->parts) {
    if (part->part_of != 0) labels.push_back(part_label(part->oid));
  }
  if (table->partition) labels.push_back(child_label(table->partition->parent));
  return labels;
}

std::vector<std::string> labels_of(const SequenceDef& sequence) {
  std::vector<std::string> labels{name_label(sequence.schema, sequence.name)};
  if (sequence.owner_table != 0) labels.push_back(owner_label(sequence.owner_table));
  return labels;
}

std::vector<std::string> labels_of(const std::shared_ptr<const ViewDef>& view) { return {name_label(view->schema, view->name)}; }
std::vector<std::string> labels_of(const UserTypePtr& type) { return {name_label(type->schema, type->name)}; }
std::vector<std::string> labels_of(const std::shared_ptr<const FunctionDef>& function) { return {name_label(function->schema, function->name)}; }

CatalogSnapshot::TablePtr CatalogSnapshot::find_table(std::string_view schema, std::string_view name,
                                                      const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) {
    return value_or_null(first_named(tables, in, name, [&](const TablePtr& table) { return table->name == name; }));
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

std::vector<CatalogSnapshot::TablePtr> CatalogSnapshot::mapped_tables() const {
  std::vector<TablePtr> mapped;
  for (const Oid oid : tables.labelled(std::string(kMappedLabel))) mapped.push_back(tables.at(oid));
  return mapped;
}

std::vector<CatalogSnapshot::TablePtr> CatalogSnapshot::partitions_of(Oid table) const {
  std::vector<TablePtr> found;
  for (const Oid oid : tables.labelled(child_label(table))) found.push_back(tables.at(oid));
  std::ranges::sort(found, {}, [](const TablePtr& child) { return std::pair(child->name, child->oid); });
  return found;
}

std::vector<Oid> CatalogSnapshot::sequences_of(Oid table) const { return sequences.labelled(owner_label(table)); }

CatalogSnapshot::TablePtr CatalogSnapshot::find_table(Oid oid) const {
  if (const TablePtr* found = tables.get(oid)) return *found;
  if (!uses_cluster()) return nullptr;
  for (const Oid whole : tables.labelled(part_label(oid))) return *std::ranges::find(tables.at(whole)->parts, oid, &TableDef::oid);
  return nullptr;
}

std::pair<CatalogSnapshot::TablePtr, const IndexDef*> CatalogSnapshot::find_index(
    std::string_view schema, std::string_view name, const std::vector<std::string>& search_path) const {
  TablePtr owner = search(schema, search_path, [&](std::string_view in) {
    return value_or_null(first_named(tables, in, name, [&](const TablePtr& table) { return table->find_index(name) != nullptr; }));
  });
  const IndexDef* index = owner ? owner->find_index(name) : nullptr;
  return {std::move(owner), index};
}

CatalogSnapshot::TablePtr CatalogSnapshot::find_primary_key(std::string_view schema, std::string_view name,
                                                            const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) {
    return value_or_null(first_named(tables, in, name, [&](const TablePtr& table) {
      return table->primary_key_index.oid != 0 && table->primary_key_index.name == name;
    }));
  });
}

const SequenceDef* CatalogSnapshot::find_sequence(std::string_view schema, std::string_view name,
                                                  const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) { return first_named(sequences, in, name, kAny); });
}

CatalogSnapshot::ViewPtr CatalogSnapshot::find_view(std::string_view schema, std::string_view name,
                                                    const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) { return value_or_null(first_named(views, in, name, kAny)); });
}

CatalogSnapshot::ViewPtr CatalogSnapshot::find_view(Oid oid) const { return value_or_null(views.get(oid)); }

UserTypePtr CatalogSnapshot::find_user_type(std::string_view schema, std::string_view name,
                                            const std::vector<std::string>& search_path) const {
  return search(schema, search_path, [&](std::string_view in) { return value_or_null(first_named(types, in, name, kAny)); });
}

const ExtensionDef* CatalogSnapshot::find_extension(std::string_view name) const {
  const auto found = std::ranges::find(extensions, name, [](const auto& entry) -> std::string_view { return entry.second.name; });
  return found == extensions.end() ? nullptr : &found->second;
}

const PublicationDef* CatalogSnapshot::find_publication(std::string_view name) const {
  const auto found = std::ranges::find(publications, name, [](const auto& entry) -> std::string_view { return entry.second.name; });
  return found == publications.end() ? nullptr : &found->second;
}

bool CatalogSnapshot::constraint_exists(std::string_view schema, std::string_view name) const {
  return !tables.labelled(constraint_label(schema, name)).empty();
}

bool CatalogSnapshot::relation_exists(std::string_view schema, std::string_view name) const {
  const auto is_composite = [](const UserTypePtr& type) { return type->kind == UserType::Kind::kComposite; };
  return first_named(tables, schema, name, kAny) != nullptr || first_named(views, schema, name, kAny) != nullptr ||
         first_named(sequences, schema, name, kAny) != nullptr || first_named(types, schema, name, is_composite) != nullptr;
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
