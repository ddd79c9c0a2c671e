#include "sql/system_tables/relations.h"

#include <algorithm>

#include "sql/catalog/index_text.h"
#include "sql/catalog/role_set.h"
#include "sql/functions/quote.h"
#include "sql/system_tables/type_layout.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

Relation table_relation(const TableDef& table) {
  return {.oid = table.oid, .schema = table.schema, .name = table.name, .kind = table.is_mapped() ? 'f' : table.materialized ? 'm' : table.partition_key ? 'p' : 'r', .owner = owner_name(table.owner),
          .comment = table.comment, .table = &table};
}

Relation index_relation(const TableDef& table, IndexDef index) {
  return {.oid = index.oid, .schema = table.schema, .name = index.name, .kind = table.partition_key ? 'I' : 'i', .owner = owner_name(table.owner),
          .comment = index.comment, .table = &table, .index = std::move(index)};
}

Relation sequence_relation(const CatalogSnapshot& catalog, const SequenceDef& sequence) {
  return {.oid = sequence.oid, .schema = sequence.schema, .name = sequence.name, .kind = 'S', .owner = owner_name(owner_of(catalog, sequence)), .comment = sequence.comment,
          .sequence = &sequence};
}

Relation view_relation(const ViewDef& view) {
  return {.oid = view.oid, .schema = view.schema, .name = view.name, .kind = 'v', .owner = owner_name(view.owner), .comment = view.comment,
          .view = &view};
}

Relation type_relation(const UserType& type) {
  return {.oid = type.relation, .schema = type.schema, .name = type.name, .kind = 'c', .owner = owner_name(type.owner), .type = &type};
}

bool is_composite(const UserType& type) { return type.kind == UserType::Kind::kComposite; }

Relation system_relation(const SystemTable& table) {
  return {.oid = table.oid, .schema = table.schema, .name = table.name, .kind = table.kind, .system = &table};
}

Relation catalog_index_relation(const CatalogIndex& index) {
  return {.oid = index.oid, .schema = "pg_catalog", .name = std::string(index.name), .kind = 'i', .catalog_index = &index};
}

struct FixedSchema {
  std::string_view name;
  Oid oid;
};
constexpr FixedSchema kFixedSchemas[] = {{"pg_catalog", oid::kPgCatalogSchema},
                                         {"pg_toast", oid::kToastSchema},
                                         {"information_schema", oid::kInformationSchema},
                                         {"redis", oid::kRedisSchema},
                                         {"redquel", oid::kRedquelSchema}};

/// Relations of the snapshot by their exact schema and name.
std::optional<Relation> find_in_schema(const CatalogSnapshot& catalog, std::string_view schema, std::string_view name) {
  if (const SystemTable* system = find_system_table(schema, name)) return system_relation(*system);
  if (schema == "pg_catalog") {
    const std::span<const CatalogIndex> indexes = catalog_indexes();
    const auto index = std::ranges::find(indexes, name, &CatalogIndex::name);
    if (index != indexes.end() && find_system_table(index->catalog) != nullptr) return catalog_index_relation(*index);
  }
  for (const auto& [oid, table] : catalog.tables) {
    if (table->schema != schema) continue;
    if (table->name == name) return table_relation(*table);
    if (const IndexDef* index = table->find_index(name)) return index_relation(*table, *index);
    if (!table->primary_key.empty() && table->primary_key_index.name == name) {
      return index_relation(*table, primary_key_index(*table));
    }
  }
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (sequence.schema == schema && sequence.name == name) return sequence_relation(catalog, sequence);
  }
  for (const auto& [oid, view] : catalog.views) {
    if (view->schema == schema && view->name == name) return view_relation(*view);
  }
  for (const auto& [oid, type] : catalog.types) {
    if (is_composite(*type) && type->schema == schema && type->name == name) return type_relation(*type);
  }
  return std::nullopt;
}

}  // namespace

std::string owner_of(const CatalogSnapshot& catalog, const SequenceDef& sequence) {
  if (const auto table = catalog.find_table(sequence.owner_table)) return table->owner;
  return sequence.owner.empty() ? owner_reference(kPostgresRole) : sequence.owner;
}

Oid schema_oid(const CatalogSnapshot& catalog, std::string_view name) {
  for (const FixedSchema& schema : kFixedSchemas) {
    if (schema.name == name) return schema.oid;
  }
  const auto found = catalog.schemas.find(name);
  return found == catalog.schemas.end() ? 0 : found->second.oid;
}

std::string schema_name(const CatalogSnapshot& catalog, Oid schema) {
  for (const FixedSchema& fixed : kFixedSchemas) {
    if (fixed.oid == schema) return std::string(fixed.name);
  }
  for (const auto& [name, definition] : catalog.schemas) {
    if (definition.oid == schema) return name;
  }
  return {};
}

Oid method_oid(IndexMethod method) {
  switch (method) {
    case IndexMethod::kBtree: return oid::kBtreeMethod;
    case IndexMethod::kHash: return oid::kHashMethod;
    case IndexMethod::kZset: return oid::kZsetMethod;
    case IndexMethod::kSet: return oid::kSetMethod;
    case IndexMethod::kLookup: return oid::kLookupMethod;
    case IndexMethod::kList: return oid::kListMethod;
    case IndexMethod::kGin: return oid::kGinMethod;
    case IndexMethod::kGist: return oid::kGistMethod;
    case IndexMethod::kSpgist: return oid::kSpgistMethod;
    case IndexMethod::kBrin: return oid::kBrinMethod;
  }
  return 0;
}

IndexDef primary_key_index(const TableDef& table) {
  IndexDef index;
  index.oid = table.primary_key_index.oid;
  index.name = table.primary_key_index.name;
  index.unique = true;
  index.comment = table.primary_key_index.comment;
  index.constraint = IndexConstraint{.kind = IndexConstraint::Kind::kPrimaryKey, .comment = table.primary_key_index.constraint_comment};
  for (std::int16_t number : table.primary_key) index.parts.push_back({number, false, false});
  index.included = table.primary_key_index.included;
  return index;
}

std::vector<IndexDef> all_indexes(const TableDef& table) {
  std::vector<IndexDef> indexes;
  if (!table.primary_key.empty() && !table.is_mapped()) indexes.push_back(primary_key_index(table));
  std::ranges::copy_if(table.indexes, std::back_inserter(indexes), [](const IndexDef& index) { return !index.is_hidden(); });
  return indexes;
}

std::vector<Relation> all_relations(const CatalogSnapshot& catalog) {
  std::vector<Relation> relations;
  for (const auto& [oid, table] : catalog.tables) {
    relations.push_back(table_relation(*table));
    for (IndexDef& index : all_indexes(*table)) relations.push_back(index_relation(*table, std::move(index)));
  }
  for (const auto& [oid, sequence] : catalog.sequences) {
    if (!sequence.foreign) relations.push_back(sequence_relation(catalog, sequence));  // else the counter of a foreign table
  }
  for (const auto& [oid, view] : catalog.views) relations.push_back(view_relation(*view));
  for (const auto& [oid, type] : catalog.types) {
    if (is_composite(*type)) relations.push_back(type_relation(*type));
  }
  for (const SystemTable& table : all_system_tables()) relations.push_back(system_relation(table));
  for (const CatalogIndex& index : catalog_indexes()) {
    if (find_system_table(index.catalog) != nullptr) relations.push_back(catalog_index_relation(index));
  }
  return relations;
}

std::optional<Relation> find_relation(const CatalogSnapshot& catalog, Oid relation) {
  if (const SystemTable* system = find_system_table(relation)) return system_relation(*system);
  if (const CatalogIndex* index = relation < kFirstUserOid ? find_catalog_index(relation) : nullptr) {
    if (find_system_table(index->catalog) != nullptr) return catalog_index_relation(*index);
  }
  if (const CatalogSnapshot::TablePtr table = catalog.find_table(relation)) return table_relation(*table);
  if (const auto found = catalog.sequences.find(relation); found != catalog.sequences.end()) {
    return sequence_relation(catalog, found->second);
  }
  if (const CatalogSnapshot::ViewPtr view = catalog.find_view(relation)) return view_relation(*view);
  for (const auto& [oid, type] : catalog.types) {
    if (is_composite(*type) && type->relation == relation) return type_relation(*type);
  }
  for (const auto& [oid, table] : catalog.tables) {
    if (table->primary_key_index.oid == relation && !table->primary_key.empty()) {
      return index_relation(*table, primary_key_index(*table));
    }
    const auto index = std::ranges::find(table->indexes, relation, &IndexDef::oid);
    if (index != table->indexes.end() && !index->is_hidden()) return index_relation(*table, *index);
  }
  return std::nullopt;
}

std::optional<Relation> find_relation(const CatalogSnapshot& catalog, std::string_view schema, std::string_view name,
                                      const std::vector<std::string>& search_path) {
  if (schema == "pg_temp") {
    const auto own = std::ranges::find_if(search_path, [](const std::string& candidate) { return is_temporary_schema(candidate); });
    return own == search_path.end() ? std::nullopt : find_in_schema(catalog, *own, name);
  }
  if (!schema.empty()) return find_in_schema(catalog, schema, name);
  // pg_catalog is looked through first unless the path says where.
  if (std::ranges::find(search_path, "pg_catalog") == search_path.end()) {
    if (auto found = find_in_schema(catalog, "pg_catalog", name)) return found;
  }
  for (const std::string& candidate : search_path) {
    if (auto found = find_in_schema(catalog, candidate, name)) return found;
  }
  return std::nullopt;
}

bool is_visible(const CatalogSnapshot& catalog, const Relation& relation, const std::vector<std::string>& search_path) {
  const bool in_path = relation.schema == "pg_catalog" || std::ranges::find(search_path, relation.schema) != search_path.end();
  if (!in_path) return false;
  const std::optional<Relation> found = find_relation(catalog, "", relation.name, search_path);
  return found && found->oid == relation.oid;
}

std::string view_definition(const CatalogSnapshot& catalog, const ViewDef& view, bool pretty,
                            const std::vector<std::string>& search_path) {
  return with_visible_names(catalog, pretty ? view.pretty_definition : view.definition, search_path);
}

std::string with_visible_names(const CatalogSnapshot& catalog, const std::string& text, const std::vector<std::string>& search_path) {
  std::string shown;
  std::size_t from = 0;
  while (true) {
    const std::size_t schema = text.find('\1', from);
    shown.append(text, from, schema - from);
    if (schema == std::string::npos) return shown;
    const std::size_t name = text.find('\2', schema), end = text.find('\3', schema);
    if (name == std::string::npos || end == std::string::npos) return shown;
    const std::string written(text, schema + 1, name - schema - 1), relation(text, name + 1, end - name - 1);
    const auto unquoted = [](std::string quoted) { return quoted.starts_with('"') ? quoted.substr(1, quoted.size() - 2) : quoted; };
    const std::optional<Relation> found = find_in_schema(catalog, unquoted(written.substr(0, written.size() - 1)), unquoted(relation));
    const bool is_function = !found && std::ranges::any_of(catalog.functions, [&](const auto& entry) {
      return entry.second->name == unquoted(relation) && std::ranges::find(search_path, entry.second->schema) != search_path.end();
    });
    const UserTypePtr type = found ? nullptr : catalog.find_user_type("", unquoted(relation), search_path);
    const bool is_type = type && quote_identifier(type->schema) + "." == written;
    if (!is_function && !is_type && (!found || !is_visible(catalog, *found, search_path))) shown += written;
    shown += relation;
    from = end + 1;
  }
}

std::vector<Attribute> attributes_of(const Relation& relation) {
  std::vector<Attribute> attributes;
  if (relation.system != nullptr) {
    for (const SystemTable::SystemColumn& column : relation.system->columns) {
      attributes.push_back({column.name, static_cast<std::int16_t>(attributes.size() + 1), column.type, column.not_null});
    }
  } else if (relation.catalog_index != nullptr) {
    const SystemTable& table = *find_system_table(relation.catalog_index->catalog);
    for (const std::int16_t number : relation.catalog_index->columns) {
      const SystemTable::SystemColumn& column = table.columns[static_cast<std::size_t>(number) - 1];
      const Type type = column.type == kName ? kCstring : column.type;
      attributes.push_back({column.name, static_cast<std::int16_t>(attributes.size() + 1), type});
    }
  } else if (relation.index) {
    for (const IndexDef::Part& part : relation.index->parts) {
      const ColumnDef* column = relation.table->find_column(part.shown_column != 0 ? part.shown_column : part.column);
      if (column == nullptr) continue;
      // Hash indexes hold hash values; names lie in others as C strings.
      const bool hashed = relation.index->method == IndexMethod::kHash;
      const Type type = hashed ? kInt4 : column->type == kName ? kCstring : column->type;
      attributes.push_back({column->name, static_cast<std::int16_t>(attributes.size() + 1), type, false, nullptr, hashed ? 0 : column->domain});
    }
    for (const std::int16_t number : relation.index->included) {
      const ColumnDef& column = *relation.table->find_column(number);
      attributes.push_back({column.name, static_cast<std::int16_t>(attributes.size() + 1), column.type, false, nullptr, column.domain});
    }
    std::vector<std::string> names;
    for (const Attribute& attribute : attributes) names.push_back(attribute.name);
    names = distinct_column_names(names);
    for (std::size_t i = 0; i < names.size(); ++i) attributes[i].name = std::move(names[i]);
  } else if (relation.sequence != nullptr) {
    attributes = {{"last_value", 1, kInt8, true}, {"log_cnt", 2, kInt8, true}, {"is_called", 3, kBool, true}};
  } else if (relation.view != nullptr) {
    for (const ViewDef::Column& column : relation.view->columns) {
      attributes.push_back({column.name, static_cast<std::int16_t>(attributes.size() + 1), column.type});
    }
  } else if (relation.type != nullptr) {
    for (const CompositeField& field : relation.type->fields) {
      attributes.push_back({field.name, static_cast<std::int16_t>(attributes.size() + 1), field.type});
    }
  } else if (relation.table != nullptr) {
    for (const ColumnDef& column : relation.table->columns) {
      if (column.hidden) continue;
      attributes.push_back({column.name, column.number, column.type, !relation.table->is_nullable(column), &column, column.domain});
    }
  }
  return attributes;
}

Oid attribute_collation(const Relation& relation, const Attribute& attribute) {
  if (attribute.type == kCstring) return oid::kCCollation;  // a name in an index
  if (relation.index) {  // a hash index's are those of what it hashes
    const std::size_t place = static_cast<std::size_t>(attribute.number) - 1, keys = relation.index->parts.size();
    const std::int16_t number = place < keys ? relation.index->parts[place].column : relation.index->included[place - keys];
    const ColumnDef* column = relation.table->find_column(number);
    if (column != nullptr) return collation_of(column->type, column->collation);
  }
  const Oid own = collation_of(attribute.type, attribute.column == nullptr ? std::string_view() : attribute.column->collation);
  // The catalogs compare texts byte by byte, regardless of the database's collation.
  const bool is_catalog = relation.catalog_index != nullptr || (relation.kind == 'r' && relation.system != nullptr);
  return own != 0 && is_catalog ? oid::kCCollation : own;
}

std::string qualified_name(const Relation& relation) {
  return quote_identifier(relation.schema) + "." + quote_identifier(relation.name);
}

}  // namespace redquel::sql
