#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/catalog.h"
#include "sql/system_tables.h"
#include "sql/system_tables/facts.h"

namespace redquel::sql {

// The catalog snapshot as PostgreSQL's catalogs look at it: relations of all kinds in one list, each with its attributes.

namespace oid {
inline constexpr Oid kPgCatalogSchema = 11, kToastSchema = 99, kInformationSchema = 13207, kRedisSchema = 15899, kRedquelSchema = 15898, kDefaultTablespace = 1663,
                     kGlobalTablespace = 1664, kHeapMethod = 2, kBtreeMethod = 403, kHashMethod = 405,
                     kGistMethod = 783, kGinMethod = 2742, kBrinMethod = 3580, kSpgistMethod = 4000,
                     kZsetMethod = 8100,  // redquel's own, as the next
                     kSetMethod = 8101, kLookupMethod = 8102, kListMethod = 8103;
}  // namespace oid

/// 0: there is no such schema.
Oid schema_oid(const CatalogSnapshot& catalog, std::string_view name);
/// Returns the owner as definitions name it: that of the table that owns the sequence, else its own, else postgres.
std::string owner_of(const CatalogSnapshot& catalog, const SequenceDef& sequence);
/// Empty: no schema has that oid.
std::string schema_name(const CatalogSnapshot& catalog, Oid schema);

/// A row of pg_class.
struct Relation {
  Oid oid = 0;
  std::string schema, name;
  char kind = 'r';
  std::string owner = "postgres";
  std::string comment;
  const TableDef* table = nullptr;  // of a table or of an index
  std::optional<IndexDef> index;
  const SequenceDef* sequence = nullptr;
  const ViewDef* view = nullptr;
  const UserType* type = nullptr;  // a composite one
  const SystemTable* system = nullptr;
  const CatalogIndex* catalog_index = nullptr;  // of a system table; `index` is of a table of a user
};

/// A row of pg_attribute (of the columns that a user sees).
struct Attribute {
  std::string name;
  std::int16_t number = 0;
  Type type;
  bool not_null = false;
  const ColumnDef* column = nullptr;  // of a table's column
  Oid domain = 0;                     // instead of `type`
};

/// The primary key as an index.
IndexDef primary_key_index(const TableDef& table);
/// pg_am.oid.
Oid method_oid(IndexMethod method);
/// The primary key first, then the others; without hidden ones.
std::vector<IndexDef> all_indexes(const TableDef& table);

/// Tables, indexes, sequences, views and composite types of the snapshot, then the system tables.
std::vector<Relation> all_relations(const CatalogSnapshot& catalog);
std::optional<Relation> find_relation(const CatalogSnapshot& catalog, Oid relation);
/// By its exact name; an empty schema stands for pg_catalog, then the path.
std::optional<Relation> find_relation(const CatalogSnapshot& catalog, std::string_view schema, std::string_view name,
                                      const std::vector<std::string>& search_path);
/// The path finds this relation under its bare name.
bool is_visible(const CatalogSnapshot& catalog, const Relation& relation, const std::vector<std::string>& search_path);

/// pg_get_viewdef(): relations with their schema where the path does not find them.
std::string view_definition(const CatalogSnapshot& catalog, const ViewDef& view, bool pretty,
                            const std::vector<std::string>& search_path);

/// A text with the marks that ViewDef::definition has around names of relations and functions.
std::string with_visible_names(const CatalogSnapshot& catalog, const std::string& text, const std::vector<std::string>& search_path);

std::vector<Attribute> attributes_of(const Relation& relation);
/// pg_attribute.attcollation: 0 for types without.
Oid attribute_collation(const Relation& relation, const Attribute& attribute);
/// Both quoted where needed: app."Mixed Case".
std::string qualified_name(const Relation& relation);

}  // namespace redquel::sql
