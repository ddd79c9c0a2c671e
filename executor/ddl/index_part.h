#pragma once

#include <string>
#include <string_view>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

/// A column or expression of an index, how the index calls it, and its type.
struct IndexPart {
  sql::IndexDef::Part part;
  std::string name;
  sql::Type type;
};

/// `method` as it is written: "btree". 42703, 42704 for operator classes and collations, 42804, 0A000.
IndexPart read_index_part(const CatalogDraft& draft, const parser::ast::IndexElement& element, const sql::TableDef& table,
                          std::string_view method);

}  // namespace redquel::executor
