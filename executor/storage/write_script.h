#pragma once

#include "executor/redis/script.h"

namespace redquel::executor {

/// The one script of all row writes: first verifies, only reading, then applies with commands that cannot fail. Its arguments
/// are made by WriteEncoding, which documents nothing that the script's text does not.
///
/// Replies {"stale", oid}, {"failed", kind, index, detail, …}, {"verified"} (asked not to apply) or {"applied"}.
const Script& write_rows_script();

}  // namespace redquel::executor
