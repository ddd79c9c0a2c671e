#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "parser/deparse.h"
#include "planner/bind/query_level.h"
#include "sql/catalog/catalog.h"

namespace redquel::planner {

/// The meaning of a query's names, collected while it is bound. Views are stored with it: their text holds no name whose meaning depends
/// on a search path or on later columns, and it follows renames. The keys are nodes of the syntax tree, which outlives this.
struct NameUses {
  struct Column {
    std::string relation;       // alias or name; empty: a merged column of a join, which has no relation's name
    bool aliased = false;
    std::string name;
    sql::Oid oid = 0;           // of the table or view; 0: a subquery, a function …
    std::int16_t number = 0;    // of its column; 0: the name is an alias
    bool is_parameter = false;  // of a function
    const parser::ast::FromItem* owner = nullptr;
  };
  /// An item of FROM.
  struct Source {
    RelationPtr relation;  // kept alive: its address identifies it
    Column name;
    std::vector<Column> columns;
    bool is_lateral = false;
  };
  std::map<const parser::ast::FromItem*, Source> sources;
  std::map<const Relation*, const parser::ast::FromItem*> owners;
  std::map<const parser::ast::Join*, std::vector<std::string>> natural_columns;
  std::map<const parser::ast::Expression*, std::string> array_casts;
  std::map<const parser::ast::Case*, std::string> case_types;
  std::map<const parser::ast::Expression*, std::size_t> sort_positions;
  std::map<const parser::ast::ColumnRef*, Column> columns;
  std::map<const parser::ast::ColumnRef*, std::vector<Column>> stars;
  std::map<const parser::ast::ColumnRef*, Column> rows;  // a relation's whole row as a value
  std::map<const parser::ast::RelationName*, sql::Oid> relations;
  std::map<const parser::ast::FunctionCall*, sql::Oid> functions;  // in LANGUAGE sql
  std::set<sql::Oid> operators;  // functions of extensions behind operators
  std::set<sql::Oid> keys;  // primary keys because of which GROUP BY lets other columns of their tables pass
  std::map<const parser::ast::Target*, std::string> targets;
  std::map<std::uint32_t, parser::QueryNames::Literal> literals;
  std::map<std::uint32_t, std::pair<sql::Type, sql::Oid>> objects;  // literals that name objects: 'emp'::regclass
  std::map<std::uint32_t, std::string> casts;
  std::map<const parser::ast::TypeCast*, parser::QueryNames::CastType> cast_types;
  std::map<const parser::ast::ParameterRef*, Column> parameters;  // of the function in whose body the query stands

  void note_source(const parser::ast::FromItem& item, const RelationPtr& relation, bool is_lateral);
  /// A column that a join has from one of its sides is that side's; `level` is the relation's.
  void note_column(const parser::ast::ColumnRef& reference, const Relation& relation, std::string_view name, const QueryLevel& level);
  void note_star(const parser::ast::ColumnRef& star, const Relation& relation, const QueryLevel& level);
  void note_row(const parser::ast::ColumnRef& row, const Relation& relation);
  /// A parameter of a function; with the function's name where tables' columns are in sight, too.
  static Column parameter_use(const sql::FunctionDef& function, std::string_view parameter, bool with_columns);

  /// Returns the names in the catalog.
  parser::QueryNames names_in(const sql::CatalogSnapshot& catalog) const;
  /// The tables and views that are read, and which of their columns; the functions that are called; keys that GROUP BY rests on.
  std::vector<sql::ViewDef::Reference> references() const;

 private:
  Column column_use(const Relation& relation, std::size_t position, const QueryLevel& level) const;
  Column own_column(const Relation& relation, std::size_t position) const;
};

/// A type as definitions name it: without a length, character and bit are called by their internal names.
std::string type_in_words(sql::Type type);

}  // namespace redquel::planner
