#pragma once

#include <string_view>
#include <vector>

#include "parser/ast.h"
#include "sql/error.h"
#include "sql/privileges/acl.h"

namespace redquel::executor {

/// The rights that a GRANT, REVOKE or ALTER DEFAULT PRIVILEGES names.
struct WrittenRights {
  struct OfColumns {
    sql::Rights rights = 0;
    std::vector<std::string> columns;
  };

  bool is_all = false;  // ALL PRIVILEGES of the object
  sql::Rights rights = 0;
  std::vector<OfColumns> of_columns;
};

/// Throws 42601 for a privilege that does not exist, 0LP01 for one that objects of the statement's kind cannot have.
WrittenRights written_rights(const parser::ast::Grant& grant);

/// 0LP01 `invalid privilege type CREATE for column`. `right`: one; `kind`: as messages have it.
sql::SqlError invalid_privilege(sql::Rights right, std::string_view kind);

}  // namespace redquel::executor
