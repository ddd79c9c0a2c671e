#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/catalog/dependencies.h"
#include "sql/error.h"

namespace redquel::executor {

/// Thrown by DROP … CASCADE if a column of a table's key is dropped with the target: DROP COLUMN writes the table's rows anew first.
class KeyColumnGoes : public sql::SqlError {
 public:
  KeyColumnGoes(sql::Oid table_oid, std::int16_t column_number)
      : SqlError(sql::not_supported("DROP … CASCADE over a column of a table's key, or by which rows are recognised, here")),
        table(table_oid),
        column(column_number) {}
  sql::Oid table;
  std::int16_t column;
};

/// "view v", "column b of table t": as messages about dependencies call it.
std::string describe(const CatalogDraft& draft, const DropObject& object);

/// Drops the dependents of the targets, which the caller drops itself, and lists them in one NOTICE. Without `cascade`: 2BP01 with their
/// list. Throws KeyColumnGoes. The caller also drops generated columns beside a dropped column: their numbers are returned.
std::vector<std::int16_t> drop_dependents(CatalogDraft& draft, const std::vector<DropObject>& targets, bool cascade);

/// Returns "rule _RETURN on view v" for a view that shows values of the type; empty: there is none.
std::string view_of_type(const CatalogDraft& draft, sql::Oid type);

/// 0A000 "cannot alter type of a column used by a view or rule".
void check_no_view_uses(const CatalogDraft& draft, sql::Oid table, std::int16_t column);

}  // namespace redquel::executor
