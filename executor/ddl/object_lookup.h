#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"

namespace redquel::executor {

// Resolution of names in definition statements, with PostgreSQL's errors.

/// pg_catalog and information_schema: nothing may be made, changed or dropped in them.
bool is_system_schema(std::string_view schema);
/// Returns true for the name of an index of a system table. redquel has no such indexes, but no statement may change them.
bool is_system_index(std::string_view name);

/// The schema that a new relation goes to: the one that was written, or the first of the search path that exists. 3F000; 42501 for
/// system schemas; 0A000 for another database. A temporary one goes to the session's temporary schema, which is made if need be: 42P16
/// where another was written.
std::string creation_schema(CatalogDraft& draft, const parser::ast::RelationName& name,
                            parser::ast::Persistence persistence = parser::ast::Persistence::kPermanent);

/// The name is a relation's already: a notice with IF NOT EXISTS, else 42P07.
bool is_there_already(CatalogDraft& draft, const std::string& schema, const std::string& name, bool if_not_exists);

/// Checks catalog and schema of a name. 0A000 for another database; 3F000 if the schema does not exist.
void check_schema(const CatalogDraft& draft, const parser::ast::RelationName& name);

using TablePtr = sql::CatalogSnapshot::TablePtr;
/// The table; nullptr where there is no relation of that name. 42809 `"x" is not a table` for others, 42501 for system tables.
TablePtr find_table(const CatalogDraft& draft, const parser::ast::RelationName& name);
/// 42P01 `relation "x" does not exist`.
TablePtr require_table(const CatalogDraft& draft, const parser::ast::RelationName& name);

/// The kind of the relation with that name.
enum class RelationKind { kNone, kTable, kIndex, kSequence, kView, kSystemTable };
RelationKind relation_kind(const CatalogDraft& draft, const parser::ast::RelationName& name);

/// 42P01 `relation "s.x" does not exist`, the schema only where it was written.
sql::SqlError missing_relation(const CatalogDraft& draft, const parser::ast::RelationName& name);
/// An object's name parts as a relation's name: [[database.]schema.]name.
parser::ast::RelationName relation_name(const parser::ast::QualifiedName& parts);

/// `x`, or `s.x` where an unqualified x would not find it; quoted where need be: as messages about dependencies name objects.
std::string display_name(const CatalogDraft& draft, std::string_view schema, std::string_view name);

/// DROP (or COMMENT ON) triggers, casts, aggregates and the like, which do not exist here: 42704 or 42883, with IF EXISTS a notice.
/// False: of another kind of object, or of one that PostgreSQL brings along.
bool drop_missing(CatalogDraft& draft, parser::ast::ObjectType type, std::span<const parser::ast::ObjectName> names, bool if_exists);
/// With IF EXISTS, a schema or a type that the name has and that does not exist: says so in a notice. False: they are there.
bool skips_missing_place(CatalogDraft& draft, const parser::ast::ObjectName& object);

/// 42704 `role "x" does not exist`: the session's own and postgres do.
void require_role(const SessionState& session, const std::string& role);
/// CURRENT_ROLE and its like as the role that they mean; any other as it is.
std::string role_meant(const SessionState& session, const std::string& role);

/// ctid, xmin, oid …: 42701 `column name "ctid" conflicts with a system column name`.
bool is_system_column(std::string_view name);
void check_new_column_name(const sql::TableDef& table, std::string_view name);

}  // namespace redquel::executor
