#pragma once

#include "sql/privileges/role_rights.h"
#include "sql/system_tables/relations.h"

namespace redquel::sql {

/// Decides which objects information_schema shows: those that the current role owns or has a right on, as PostgreSQL's views have it.
class ShownObjects {
 public:
  ShownObjects(const CatalogSnapshot& catalog, const EvaluationContext& context);

  const RoleRights& role() const { return role_; }
  bool owns(Oid object_class, Oid object) const;
  bool owns_relation(Oid relation) const { return owns(catalog_class::kRelations, relation); }
  // For a Relation or its definition. All are false for another session's temporary schema.

  /// With any right on it or one of its columns.
  bool shows(const auto& relation) const { return shows(relation.oid, relation.schema); }
  bool shows_column(const auto& relation, std::int16_t column) const { return shows_column(relation.oid, relation.schema, column); }
  /// Constraints of a table: SELECT is not enough.
  bool shows_constraints(const auto& relation) const { return shows_constraints(relation.oid, relation.schema); }
  bool shows_sequence(const SequenceDef& sequence) const;
  bool shows_schema(Oid schema) const;
  bool shows_type(Oid type) const;
  bool shows_function(Oid function) const;

 private:
  bool shows(Oid relation, const std::string& schema) const;
  bool shows_column(Oid relation, const std::string& schema, std::int16_t column) const;
  bool shows_constraints(Oid relation, const std::string& schema) const;
  bool owns_or_has(Oid object_class, Oid object, Rights rights) const;
  bool is_of_another_session(const std::string& schema) const;

  const CatalogSnapshot& catalog_;
  const EvaluationContext& context_;
  RoleRights role_;
};

}  // namespace redquel::sql
