#pragma once

#include <optional>
#include <string_view>

#include "planner/bind/query_level.h"

namespace redquel::planner {

/// 42703 "column t.a does not exist" (or `column "a"`), with PostgreSQL's guess at what was meant.
[[noreturn]] void throw_missing_column(const QueryLevel&, std::string_view relation, std::string_view column,
                                       std::optional<std::uint32_t> offset);
/// 42P01 "missing FROM-clause entry for table …", or "invalid reference to …" with a hint where the table is out of
/// sight.
[[noreturn]] void throw_missing_relation(BindState&, QueryLevel&, std::string_view schema, std::string_view name,
                                         std::optional<std::uint32_t> offset);

}  // namespace redquel::planner
