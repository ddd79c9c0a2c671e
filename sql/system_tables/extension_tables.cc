// pg_extension, and the views of the extensions that can be created.

#include "sql/extensions/extension.h"
#include "sql/system_tables/families.h"
#include "sql/system_tables/relations.h"
#include "sql/system_tables/roles.h"
#include "sql/system_tables/row_writer.h"

namespace redquel::sql {
namespace {

void extensions(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const auto& [oid, extension] : catalog.extensions) {
    const Extension* known = find_extension(extension.name);
    const bool is_relocatable = known == nullptr || !known->built_in;
    out.add(oid, extension.name, owner_oid(extension.owner), schema_oid(catalog, extension.schema), is_relocatable, extension.version, kNull, kNull);
  }
}

/// Returns the version of the extension in the database; nullopt: it has not been created.
std::optional<std::string> installed_version(const CatalogSnapshot& catalog, const Extension& extension) {
  const ExtensionDef* definition = catalog.find_extension(extension.name);
  return definition == nullptr ? std::nullopt : std::optional(definition->version);
}

void available_extensions(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const Extension& extension : all_extensions()) {
    out.add(extension.name, extension.version, installed_version(catalog, extension), extension.comment);
  }
}

void available_versions(RowWriter& out, const CatalogSnapshot& catalog, const EvaluationContext&) {
  for (const Extension& extension : all_extensions()) {
    const bool is_installed = installed_version(catalog, extension) == extension.version;
    std::optional<std::string> schema;
    if (extension.built_in) schema = extension.built_in->schema;
    out.add(extension.name, extension.version, is_installed, true, extension.trusted, !extension.built_in, schema, kNull, extension.comment);
  }
}

const SystemTableDefinition kExtensionTables[] = {
    {"pg_catalog", "pg_extension", 3079, 'r',
     "oid oid!, extname name!, extowner oid!, extnamespace oid!, extrelocatable bool!, extversion text!, "
     "extconfig _oid, extcondition _text", extensions},
    {"pg_catalog", "pg_available_extensions", 12081, 'v',
     "name name, default_version text, installed_version text, comment text", available_extensions},
    {"pg_catalog", "pg_available_extension_versions", 12085, 'v',
     "name name, version text, installed bool, superuser bool, trusted bool, relocatable bool, schema name, "
     "requires _name, comment text", available_versions},
};

}  // namespace

SystemTableFamily extension_tables() { return kExtensionTables; }

}  // namespace redquel::sql
