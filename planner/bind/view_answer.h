#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/bind/bind.h"

namespace redquel::planner {

/// The bit of LeftOutRules::rules that leaves out the answers of maintained views (redquel.use_views = off).
inline constexpr std::uint64_t kViewsLeftOut = std::uint64_t{1} << 63;

/// Returns true if a maintained view may have the answer of the query: it reads one table that such a view follows.
bool may_have_view(const parser::ast::Select& query, const sql::CatalogSnapshot& catalog, const BindSettings& settings);
/// Returns the query over a maintained view with the same rows; nullopt: no view has them. `names`: the meaning of the query's names, as it was bound.
/// `columns`: the names of its columns.
std::optional<std::string> answer_from_view(const parser::ast::Select& query, const std::vector<std::string>& columns, const NameUses& names,
                                            const sql::CatalogSnapshot& catalog, const BindSettings& settings);

}  // namespace redquel::planner
