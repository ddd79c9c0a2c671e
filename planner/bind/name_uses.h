#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parser/deparse.h"
#include "planner/bind/query_level.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

/// What the names of a query turned out to mean while it was bound. Views are stored by it: their text holds no name whose meaning
/// depends on a search path or on later columns, and it follows renames. Trees of the parser are the keys; they outlive this.
struct NameUses {
  struct Column {
    std::string relation;       // alias or name; empty: a merged column of a join, which has no relation's name
    bool aliased = false;
    std::string name;
    sql::Oid oid = 0;           // of the table or view; 0: a subquery, a function …
    std::int16_t number = 0;    // of its column; 0: the name is an alias
  };
  std::map<const parser::ast::ColumnRef*, Column> columns;
  std::map<const parser::ast::ColumnRef*, std::vector<Column>> stars;
  std::map<const parser::ast::RelationName*, sql::Oid> relations;
  std::map<const parser::ast::FunctionCall*, sql::Oid> functions;  // in LANGUAGE sql
  std::map<const parser::ast::Target*, std::string> targets;
  std::map<std::uint32_t, std::string> literal_types, casts;

  void note_column(const parser::ast::ColumnRef& reference, const Relation& relation, std::string_view name);
  void note_star(const parser::ast::ColumnRef& star, const Relation& relation);

  /// As they are called in the catalog.
  parser::QueryNames names_in(const sql::CatalogSnapshot& catalog) const;
  /// The tables and views that are read, and which of their columns; the functions that are called.
  std::vector<sql::ViewDef::Reference> references() const;
};

}  // namespace redquel::planner
