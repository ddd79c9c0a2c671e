#pragma once

#include <map>
#include <string>

#include "sql/types/type.h"

namespace redquel::sql {

/// The verifiers of passwords by role, which pg_authid and pg_shadow show while this object lives. They are in no snapshot: the executor reads
/// them where these tables are read.
class ShownVerifiers {
 public:
  explicit ShownVerifiers(const std::map<Oid, std::string>& verifiers);
  ~ShownVerifiers();
  ShownVerifiers(const ShownVerifiers&) = delete;
  ShownVerifiers& operator=(const ShownVerifiers&) = delete;

  /// Those of this thread; nullptr: none are shown.
  static const std::map<Oid, std::string>* current();
};

}  // namespace redquel::sql
