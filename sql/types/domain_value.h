#pragma once

#include "sql/types/user_types.h"

namespace redquel::sql {

/// Returns the type that values of `type` have: of a domain, the type under it.
inline Type value_type(Type type) {
  const UserType* domain = find_user_type(type.oid);
  return domain != nullptr && domain->kind == UserType::Kind::kDomain ? Type{domain->base.oid} : type;
}

}  // namespace redquel::sql
