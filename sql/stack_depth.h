#pragma once

namespace redquel::sql {

/// For every recursion whose depth a statement decides. Throws SqlError 54001, PostgreSQL's "stack depth limit
/// exceeded", while the running thread still has stack to spare. A comparison of two addresses: call it at each level.
void check_stack_depth();

}  // namespace redquel::sql
