#pragma once

#include <string_view>
#include <vector>

#include "executor/catalog/catalog_draft.h"
#include "parser/ast_table.h"

namespace redquel::executor {

/// Returns the tag of the bucket of a new table: that of the first table that it refers to, else that of the definitions (SET redquel.placement =
/// balanced: that of the bucket with the fewest tables). Empty on one Redis.
std::string_view tag_of_new_table(const CatalogDraft& draft, const std::vector<const parser::ast::RelationName*>& referenced);

}  // namespace redquel::executor
