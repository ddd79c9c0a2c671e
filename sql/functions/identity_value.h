#pragma once

#include "sql/functions/function.h"

namespace redquel::sql {

/// nextval() for an identity column: the right to insert into the table is all that it needs.
const ScalarFunction& identity_value();

}  // namespace redquel::sql
