#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

/// The passwords of user mappings, which pg_user_mappings and its kin show while this object lives. They are in no snapshot: the executor
/// reads them where these tables are read.
class ShownMappingPasswords {
 public:
  explicit ShownMappingPasswords(const std::map<Oid, std::string>& passwords);
  ~ShownMappingPasswords();
  ShownMappingPasswords(const ShownMappingPasswords&) = delete;
  ShownMappingPasswords& operator=(const ShownMappingPasswords&) = delete;

  /// Returns true for the tables that show them.
  static bool are_wanted_by(std::string_view table);
};

}  // namespace redquel::sql
