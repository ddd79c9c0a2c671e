#include "sql/system_tables/type_properties.h"

#include "sql/system_tables/type_layout.h"

namespace redquel::sql {

TypeProperties type_properties(Type type) {
  const TypeInfo* info = type.oid < kFirstUserOid ? find_type(type.oid) : nullptr;
  return info == nullptr || info->operations->properties == nullptr ? TypeProperties() : info->operations->properties(type);
}

std::optional<std::string_view> shown_collation(Oid collation) {
  switch (collation) {
    case oid::kCCollation: return "C";
    case oid::kPosixCollation: return "POSIX";
    case oid::kUcsBasicCollation: return "ucs_basic";
    default: return std::nullopt;
  }
}

}  // namespace redquel::sql
