#include "sql/system_tables/shown_objects.h"

#include <algorithm>

namespace redquel::sql {

namespace {

constexpr Rights kColumnChanges = right::kInsert | right::kUpdate | right::kReferences;
constexpr Rights kTableChanges = kColumnChanges | right::kDelete | right::kTruncate | right::kTrigger;

}  // namespace

ShownObjects::ShownObjects(const CatalogSnapshot& catalog, const EvaluationContext& context)
    : catalog_(catalog), context_(context), role_(catalog, context) {}

bool ShownObjects::owns(Oid object_class, Oid object) const {
  if (role_.is_superuser()) return true;
  const std::optional<ObjectAcl> acl = acl_of(catalog_, object_class, object);
  return acl && role_.has_role(acl->owner);
}

bool ShownObjects::owns_or_has(Oid object_class, Oid object, Rights rights) const {
  if (role_.is_superuser()) return true;
  const std::optional<ObjectAcl> acl = acl_of(catalog_, object_class, object);
  return acl && (role_.has_role(acl->owner) || role_.has_any(*acl, {rights}));
}

bool ShownObjects::is_of_another_session(const std::string& schema) const {
  return is_temporary_schema(schema) && std::ranges::find(context_.search_path, schema) == context_.search_path.end();
}

bool ShownObjects::shows(Oid relation, const std::string& schema) const {
  if (is_of_another_session(schema)) return false;
  return owns_or_has(catalog_class::kRelations, relation, kTableChanges | right::kSelect) ||
         role_.has_any_on_some_column(relation, {kColumnChanges | right::kSelect});
}

bool ShownObjects::shows_column(Oid relation, const std::string& schema, std::int16_t column) const {
  if (is_of_another_session(schema)) return false;
  return owns_or_has(catalog_class::kRelations, relation, kColumnChanges | right::kSelect) ||
         role_.has_any_on_column(relation, column, {kColumnChanges | right::kSelect});
}

bool ShownObjects::shows_constraints(Oid relation, const std::string& schema) const {
  if (is_of_another_session(schema)) return false;
  return owns_or_has(catalog_class::kRelations, relation, kTableChanges) || role_.has_any_on_some_column(relation, {kColumnChanges});
}

bool ShownObjects::shows_sequence(const SequenceDef& sequence) const {
  return !is_of_another_session(sequence.schema) &&
         owns_or_has(catalog_class::kRelations, sequence.oid, right::kSelect | right::kUpdate | right::kUsage);
}

bool ShownObjects::shows_schema(Oid schema) const { return owns_or_has(catalog_class::kSchemas, schema, right::kCreate | right::kUsage); }

bool ShownObjects::shows_type(Oid type) const { return owns_or_has(catalog_class::kTypes, type, right::kUsage); }

bool ShownObjects::shows_function(Oid function) const { return owns_or_has(catalog_class::kFunctions, function, right::kExecute); }

}  // namespace redquel::sql
