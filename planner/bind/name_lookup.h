#pragma once

#include <optional>
#include <string_view>

#include "planner/bind/query_level.h"

namespace redquel::planner {

struct FoundColumn {
  sql::ExpressionPtr value;
  QueryLevel* level;
  RelationPtr relation;
};
/// The column of that name in the innermost level that has one. 42702 where a level has two.
std::optional<FoundColumn> find_column(QueryLevel& level, std::string_view name, std::optional<std::uint32_t> offset);
/// Like find_column(), in this level alone.
std::optional<FoundColumn> find_local_column(QueryLevel& level, std::string_view name,
                                             std::optional<std::uint32_t> offset);

/// Returns the oid of a table, view, sequence or system table; 0: the relation is no part of the catalog.
sql::Oid catalog_oid(const Relation&);
/// Returns the oid of the relation that `schema.name` means in the catalog (schema may be empty); 0: there is none.
sql::Oid named_relation(const BindState&, std::string_view schema, std::string_view name);
/// Returns true if both have their own names, and are different relations of the catalog: FROM may have two of one
/// name.
bool are_different_relations(const Relation&, const Relation&);

struct FoundRelation {
  RelationPtr relation;
  QueryLevel* level;
  bool null_extended = false;  // NamespaceItem::null_extended
};
/// The relation that `schema.name` (schema may be empty) means in front of a column. 42P09 where a level has two.
std::optional<FoundRelation> find_relation(BindState&, QueryLevel& level, std::string_view schema,
                                           std::string_view name, std::optional<std::uint32_t> offset);
/// 42702 where the relation has two columns of that name; null: none.
sql::ExpressionPtr find_in_relation(const Relation&, std::string_view name, std::optional<std::uint32_t> offset);

/// The names of a column reference taken apart: [[schema.]relation.]column. 42601 with too many parts, 0A000 for
/// another database.
struct ColumnName {
  std::string_view schema, relation, column;
};
ColumnName split_column_name(const BindState&, const std::vector<std::string>& names, bool star,
                             std::optional<std::uint32_t> offset);

}  // namespace redquel::planner
