#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sql/evaluation_context.h"
#include "sql/types/type.h"

namespace redquel::sql {

// What regclass and regtype read and print.

/// A relation by name ("emp", `sys."User"`), oid digits or "-" (0). nullopt: none. 42602 "invalid name syntax".
std::optional<Oid> find_relation(std::string_view text, const EvaluationContext& context);
/// The same; 42P01 `relation "x" does not exist`.
Oid relation_named(std::string_view text, const EvaluationContext& context);
/// Quoted where needed, with its schema where the search path does not find it; the digits of an unknown oid; "-" for 0.
std::string relation_name(Oid relation, const EvaluationContext& context);

}  // namespace redquel::sql
