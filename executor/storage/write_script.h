#pragma once

#include "executor/redis/script.h"

namespace redquel::executor {

/// The one script of all row writes: first verifies, only reading, then applies with commands that cannot fail. Its arguments
/// are made by WriteEncoding, which documents nothing that the script's text does not.
///
/// Replies {"stale", oid}, {"failed", kind, index, detail, …}, {"verified"} (asked not to apply) or {"applied"}.
const Script& write_rows_script();
/// The same for the few rows of most units, in half of the time, where nothing is in their way: replies {"applied"}, or {"unclear"} when it
/// has changed nothing and write_rows_script is to find out why. Takes no keys, only arguments (WriteEncoding::plain_command).
const Script& plain_write_script();
/// The same together with a change of the definitions (storage/catalog_store): both or neither. Arguments: how many keys and how many
/// arguments are the catalog's; the catalog's; the rows'.
const Script& write_rows_and_catalog_script();

}  // namespace redquel::executor
