#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "executor/storage/mapped_row.h"
#include "sql/catalog/catalog.h"

namespace redquel::executor {

// The entry of a row in a declared structure: read, and compared with the expected one.

/// Returns "set", "lookup", "zset" or "list".
std::string_view method_name(sql::IndexMethod method);
/// Returns the type of a structure's keys, as TYPE names it.
std::string_view type_name(const sql::IndexDef& index);
/// Asks what stands in a structure for a row.
void append_question(CommandBatch& batch, const sql::IndexDef& index, const MappedEntry& entry);
/// Returns the answer as a difference shows it; nullopt: nothing stands there.
std::optional<std::string> stored_text(const sql::IndexDef& index, const Reply& reply);
/// Returns the answer that the row's entry gives.
std::string expected_text(const sql::IndexDef& index, const MappedEntry& entry);
/// Returns true if the answer is the row's entry. Scores compare as numbers.
bool holds(const sql::IndexDef& index, const MappedEntry& entry, const Reply& reply);

}  // namespace redquel::executor
