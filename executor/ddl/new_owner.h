#pragma once

#include <string>
#include <string_view>

#include "executor/catalog/catalog_draft.h"
#include "executor/runtime/session_state.h"
#include "parser/ast.h"

namespace redquel::executor {

/// The text that a definition names its new owner by. 42704 for a role that does not exist, 42501 unless the session's role is a member of it.
std::string new_owner(const SessionState& session, const std::string& name);

/// Throws 42501 if the role that gets an object may not make objects in the object's schema. A superuser gives objects without this check.
void require_creation_by(const CatalogDraft& draft, sql::Oid role, std::string_view schema);

/// OWNER TO of an object in a schema: returns the new owner. 42704; unless the object is the role's already, 42501 if the session's role is no
/// member of it, or if it may not make objects in the schema.
sql::Oid new_owner_in_schema(const CatalogDraft& draft, const std::string& name, const std::string& owner, std::string_view schema);

// The object belongs to the role from now on, with what is part of it, and its list follows. Owners are not checked.
void give_to(CatalogDraft& draft, sql::TableDef& table, sql::Oid role);  // its sequences, too
void give_to(sql::ViewDef& view, sql::Oid role);
void give_to(sql::SequenceDef& sequence, sql::Oid from, sql::Oid role);
void give_to(sql::FunctionDef& function, sql::Oid role);
void give_to(sql::UserType& type, sql::Oid role);
void give_to(sql::SchemaDef& schema, sql::Oid role);
void give_to(sql::ForeignServerDef& server, sql::Oid role);

/// ALTER SEQUENCE … OWNER TO. 0A000 for one that a table owns.
void change_sequence_owner(CatalogDraft& draft, const sql::SequenceDef& sequence, const std::string& role);

}  // namespace redquel::executor
