#pragma once

#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/column_definition.h"

namespace redquel::executor {

/// The parts that LIKE copies from a table (or view): columns at once; the rest once the new table has its columns.
struct LikeParts {
  std::vector<ColumnDraft> columns;
  std::vector<sql::CheckDef> checks;
  std::vector<KeyDraft> keys;
  std::vector<sql::IndexDef> indexes;  // plain ones; their parts name columns of `source`
  bool comments = false;  // of the indexes, too
  sql::CatalogSnapshot::TablePtr source;  // null: a view
};

/// 42P01, 42809.
LikeParts read_like(const CatalogDraft& draft, const parser::ast::LikeClause& like);
/// The checks and plain indexes of LIKE, over the new table's columns of the same names.
void add_like_parts(CatalogDraft& draft, const LikeParts& parts, sql::TableDef& table);

}  // namespace redquel::executor
