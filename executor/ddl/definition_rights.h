#pragma once

#include <span>
#include <string>
#include <string_view>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/dependencies.h"
#include "planner/bind/bind_type.h"

namespace redquel::executor {

// Rights that definitions need on objects that they use. Rights on the schema and ownership are checked by CatalogDraft.

/// 42501 "permission denied for type t" unless the session's role has USAGE on the type, or on that of an array's elements.
void require_type_usage(const CatalogDraft& draft, const planner::DeclaredType& type);
/// 42501 "permission denied for table t" unless the session's role has REFERENCES on the table or on each of the columns.
void require_references(const CatalogDraft& draft, const sql::TableDef& table, std::span<const std::int16_t> columns);
/// DROP of these objects: 42501 "must be owner of table t" unless the session's role has the privileges of the owner of each or of its schema.
void require_drop_rights(const CatalogDraft& draft, std::span<const DropObject> objects);
/// 42501 unless the session's role has TEMPORARY on the database.
void require_temporary_creation(const SessionState& session);
/// Returns true for the owner of the table and that of the database. `verb`: "vacuum" or "analyze", for the warning that others get.
bool may_maintain(const SessionState& session, const std::string& owner, std::string_view name, std::string_view verb);
/// Returns true for the owner of the database; others get the warning about a table of pg_catalog.
bool may_maintain_catalog(const SessionState& session, std::string_view name, std::string_view verb);

}  // namespace redquel::executor
