#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/evaluation_context.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// pg_class.oid of the catalogs whose rows are known.
namespace catalogs {
inline constexpr Oid kTypes = 1247, kFunctions = 1255, kRelations = 1259, kRoles = 1260, kDatabases = 1262, kMethods = 2601, kDefaults = 2604,
                     kConstraints = 2606, kLanguages = 2612, kSchemas = 2615, kRules = 2618, kExtensions = 3079, kPublications = 6104;
}

/// An object of the catalogs as pg_depend names it: the catalog that its row stands in, its oid, and which column of it.
struct ObjectAddress {
  Oid catalog = 0, object = 0;
  std::int32_t column = 0;
};

/// A row of pg_identify_object(); empty texts are NULL.
struct ObjectIdentity {
  std::string type, schema, name, identity;
};

/// pg_describe_object(): "column a of table t". nullopt: there is no such object, or none of a kind that redquel has.
std::optional<std::string> describe_object(const ObjectAddress& address, const EvaluationContext& context);
/// Returns the identity in words that do not depend on the search path.
std::optional<ObjectIdentity> identify_object(const ObjectAddress& address, const EvaluationContext& context);

/// pg_get_object_address(). 22023 for kinds that PostgreSQL does not know, 0A000 for others that redquel has none of; where there is no
/// such object, what statements about it answer.
ObjectAddress address_of_object(std::string_view kind, const std::vector<std::string>& names, const std::vector<std::string>& arguments,
                                const EvaluationContext& context);

}  // namespace redquel::sql
