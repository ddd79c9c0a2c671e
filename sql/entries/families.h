#pragma once

#include <string>
#include <vector>

#include "sql/types/type_oids.h"

namespace redquel::sql {

class EntryKind;

const EntryKind& element_entries();
const EntryKind& jsonb_key_entries();
const EntryKind& jsonb_path_entries();
const EntryKind& lexeme_entries();
const EntryKind& trigram_entries();

inline bool is_text(Oid type) { return type == oid::kText || type == oid::kVarchar; }
/// The entries in order, each once.
std::vector<std::string> in_order(std::vector<std::string> entries);

}  // namespace redquel::sql
