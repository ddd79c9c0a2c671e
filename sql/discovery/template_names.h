#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sql/discovery/key_shapes.h"

namespace redquel::sql {

// Names for what keys hold, and keys with names in their slots.

/// The text of the piece that is the name of a column: login:{id}:{*}.
inline constexpr std::string_view kFieldSlot = "\1";

/// "userid", "user_id", "uid": a word that names a key column rather than what has one.
bool is_key_name(std::string_view word);
/// A word as the name of a column: itself where that is a name without quotes, else the nearest one.
std::string column_name(std::string_view word);
/// `name`, or with a number behind it that makes it new; it is taken then.
std::string unique_name(std::string name, std::set<std::string>& taken);

/// Returns the pieces before a template's first slot, without the word that only names the slot: sys:user of sys:user:userid:{userid}.
KeyPieces base_pieces(const KeyPieces& pieces);
/// Names of the slots of a table of rows: id, or what the word before says.
std::vector<std::string> slot_names(const KeyPieces& pieces);
/// Returns the slot names of a table of elements: theme_id of theme:{}:product, tag of tag:{}.
std::vector<std::string> relation_slot_names(const KeyPieces& pieces);
/// The piece that names a column: the last constant behind the first slot.
std::optional<std::size_t> field_piece(const KeyPieces& pieces);
/// login:{id}:name
std::string template_text(const KeyPieces& pieces, const std::vector<std::string>& slots);
/// Names for the table of these keys, the best first.
std::vector<std::string> table_names(const KeyPieces& pieces, const std::string& layout);

}  // namespace redquel::sql
