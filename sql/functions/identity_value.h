#pragma once

#include "sql/functions/function.h"
#include "sql/functions/sequence_calls.h"

namespace redquel::sql {

/// nextval() for an identity column: the right to insert into the table is all that it needs.
const ScalarFunction& identity_value();
/// Returns true for a row that identity_value() asks for.
bool is_identity_value(const SequenceCall::Row& row);

}  // namespace redquel::sql
