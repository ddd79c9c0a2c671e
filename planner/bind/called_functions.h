#pragma once

#include <string>
#include <vector>

#include "planner/bind/bind.h"

namespace redquel::planner {

/// The functions in LANGUAGE sql that a stored DEFAULT, CHECK or generation expression of the table calls. None where the text means
/// nothing any more.
std::vector<sql::Oid> called_functions(const std::string& text, const sql::TableDef& table, const sql::CatalogSnapshot&, BindSettings);

}  // namespace redquel::planner
