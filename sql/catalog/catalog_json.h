#pragma once

#include <string>
#include <string_view>

#include "sql/catalog/catalog.h"

namespace redquel::sql {

// Definitions as the JSON text that the catalog in Redis holds. False and empty members are left out. Unknown members are
// ignored, so that an older redquel reads what a newer one wrote. Decoding throws SqlError XX001 where the text is no definition.

std::string encode_table(const TableDef&);
TableDef decode_table(std::string_view json);
std::string encode_sequence(const SequenceDef&);
SequenceDef decode_sequence(std::string_view json);
std::string encode_view(const ViewDef&);
ViewDef decode_view(std::string_view json);
std::string encode_schema(const SchemaDef&);
SchemaDef decode_schema(std::string_view json);
std::string encode_user_type(const UserType&);
UserType decode_user_type(std::string_view json);
std::string encode_function(const FunctionDef&);
FunctionDef decode_function(std::string_view json);
std::string encode_publication(const PublicationDef&);
PublicationDef decode_publication(std::string_view json);
std::string encode_extension(const ExtensionDef&);
ExtensionDef decode_extension(std::string_view json);
std::string encode_default_acl(const DefaultAclDef&);
DefaultAclDef decode_default_acl(std::string_view json);
std::string encode_server(const ForeignServerDef&);
ForeignServerDef decode_server(std::string_view json);
std::string encode_acl(const Acl&);
Acl decode_acl(std::string_view json);

}  // namespace redquel::sql
