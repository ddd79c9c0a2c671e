#pragma once

#include <memory>

#include "planner/bind/bind_type.h"
#include "planner/bind/query_level.h"

namespace redquel::sql {
struct SystemTable;
}

namespace redquel::planner {

/// The meaning of a table's name: exactly one of the three is set.
struct FoundTable {
  std::shared_ptr<const sql::TableDef> table;
  std::shared_ptr<const sql::ViewDef> view;  // also a sequence: a view of its one row
  const sql::SystemTable* system = nullptr;

  sql::Oid oid() const;
};
/// Throws 42501 "permission denied for schema s" unless the role that binds the statement has USAGE on the schema, as it is written; nothing
/// in stored texts, and where there is no such schema.
void check_schema_usage(BindState&, std::string_view schema, std::optional<std::uint32_t> offset);
/// Returns the type that a name in a query means (bind_declared_type). 42501 without USAGE on the schema that it is written with.
DeclaredType declared_type(BindState&, const parser::ast::TypeName&);

/// pg_catalog is looked through first, then the search path. 42P01 "relation "t" does not exist"; 42809 for an index;
/// 0A000 for another database.
FoundTable find_table(BindState&, const parser::ast::RelationName&);
/// Returns the transition table that the statement may name so; null: there is none.
const VariableScope::TransitionTable* find_transition_table(const BindState&, const std::string& name);
/// Finds a table or view that a statement writes to: 42501 for system tables, 42809 for sequences, 0A000 for transition tables.
FoundTable find_target_relation(BindState&, const parser::ast::RelationName&);

/// The names of a plan's columns as one FROM item offers them; `alias` may rename the relation and its columns.
/// `collations`: those of a subquery's columns; may be empty.
/// 42P10 "table "t" has 2 columns available but 3 columns specified".
RelationPtr make_relation(QueryLevel&, const Logical& plan, std::size_t column_count, std::string name,
                          std::shared_ptr<const sql::TableDef> table, const std::optional<parser::ast::Alias>& alias,
                          const std::vector<sql::Collation>& collations = {});
/// The names of the relation's columns are those of the object that the requirement is for: reading them is marked in it.
void set_requirement(Relation& relation, Requirement* requirement);
/// Gives `relation` the alias's names.
void apply_alias(Relation& relation, const std::optional<parser::ast::Alias>& alias);

}  // namespace redquel::planner
