#pragma once

#include <string>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

/// CREATE PUBLICATION: tables whose changes subscribers get, and the kinds of changes.
struct PublicationDef {
  /// A table or schema that is a member by its name. `oid`: of its row in pg_publication_rel or pg_publication_namespace.
  struct Member {
    Oid oid = 0;
    Oid object = 0;
  };

  Oid oid = 0;
  std::string name;
  std::string owner = "postgres";
  std::string comment;
  bool all_tables = false;
  bool inserts = true, updates = true, deletes = true, truncates = true;
  /// In the order in which they were added. A member that has been dropped since stays here and means nothing (publications.h).
  std::vector<Member> tables, schemas;
};

}  // namespace redquel::sql
