#pragma once

#include <string>
#include <string_view>

#include "sql/evaluation_context.h"
#include "sql/types/type.h"

namespace redquel::sql {

// Input and output of regoper, regoperator and regcollation: operators of pg_operator, and the collations, all in pg_catalog.

/// regoper's input: `+`, pg_catalog.`+`. 42883, 42725 where several have the name.
Oid operator_named(std::string_view text);
/// regoperator's: +(integer,integer), -(NONE,integer). 22P02, 42883.
Oid operator_with_types_named(std::string_view text, const EvaluationContext& context);
/// Empty: no operator has that oid.
std::string operator_name(Oid op);
std::string operator_name_with_types(Oid op);

/// 42704.
Oid collation_named(std::string_view text);
/// Empty: no collation has that oid.
std::string collation_name(Oid collation);

}  // namespace redquel::sql
