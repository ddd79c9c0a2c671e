#include "sql/discovery/template_names.h"

#include <algorithm>

#include "sql/ascii.h"
#include "sql/catalog/key_template.h"
#include "sql/types/byte_text.h"
#include "sql/types/shown_text.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kMaxName = 63;  // bytes

std::size_t first_slot(const KeyPieces& pieces) {
  return static_cast<std::size_t>(std::ranges::find(pieces, true, &KeyPiece::is_slot) - pieces.begin());
}

/// Returns the word of a constant: job of job-12345.
std::string_view word_of(const KeyPiece& piece) {
  const std::size_t end = piece.text.find_last_not_of("-_");
  return end == std::string::npos ? std::string_view(piece.text) : std::string_view(piece.text).substr(0, end + 1);
}

/// The word before the first slot names the slot only: user:userid:{}.
bool has_slot_word(const KeyPieces& pieces) {
  const std::size_t slot = first_slot(pieces);
  return slot >= 2 && slot < pieces.size() && is_key_name(pieces[slot - 1].text);
}

/// Returns the name of a slot that no word names.
const char* slot_name(PieceKind kind) {
  if (kind == PieceKind::kDate) return "day";
  if (kind == PieceKind::kMail) return "email";
  return is_identifier(kind) ? "id" : "name";
}

/// Names of slots behind the first one: two numbers behind a column are its version and its time.
void add_later_names(const KeyPieces& pieces, std::size_t first, std::vector<std::string>& names) {
  std::set<std::string> taken(names.begin(), names.end());
  std::size_t closing = 0;  // slots at the end without a word between
  while (closing < pieces.size() && pieces[pieces.size() - 1 - closing].is_slot) ++closing;
  for (std::size_t i = first + 1; i < pieces.size(); ++i) {
    if (!pieces[i].is_slot) continue;
    const std::size_t from_end = pieces.size() - 1 - i;
    std::string name = "part";
    if (from_end < closing && closing == 2) name = from_end == 1 ? "version" : "timestamp";
    else if (from_end < closing && closing == 1 && pieces[i].kind == PieceKind::kInteger && first + 2 < i) name = "version";
    else if (!pieces[i - 1].is_slot && !pieces[i - 1].text.empty()) {
      name = column_name(word_of(pieces[i - 1]));
      if (is_identifier(pieces[i].kind) && !is_key_name(name)) name += "_id";
    }
    names.push_back(unique_name(std::move(name), taken));
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "_") + word;
  return text;
}

}  // namespace

bool is_key_name(std::string_view word) {
  if (word.size() < 3) return false;
  return word.ends_with("id") || word.ends_with("ID") || word.ends_with("Id") || word == "uuid" || word == "uid";
}

std::string column_name(std::string_view word) {
  if (word.empty()) return "empty";
  std::string name;
  while (!word.empty()) {
    const std::size_t size = shown_character(word);
    const char c = word.front();
    if (size > 1) name += word.substr(0, size);
    else if (size == 1) name += is_alphanumeric(c) || c == '_' ? to_lower(c) : '_';
    word.remove_prefix(std::max<std::size_t>(size, 1));
  }
  if (name.empty()) return "key_1";  // bytes that are no text
  if (is_digit(name[0])) name.insert(0, "_");
  return std::string(utf8_clip(name, kMaxName));
}

std::string unique_name(std::string name, std::set<std::string>& taken) {
  if (taken.insert(name).second) return name;
  for (int number = 2;; ++number) {
    const std::string suffix = "_" + std::to_string(number);
    std::string candidate = std::string(utf8_clip(name, kMaxName - suffix.size())) + suffix;
    if (taken.insert(candidate).second) return candidate;
  }
}

KeyPieces base_pieces(const KeyPieces& pieces) {
  const std::size_t end = first_slot(pieces) - (has_slot_word(pieces) ? 1 : 0);
  return {pieces.begin(), pieces.begin() + static_cast<std::ptrdiff_t>(end)};
}

std::vector<std::string> slot_names(const KeyPieces& pieces) {
  std::vector<std::string> names;
  const std::size_t slot = first_slot(pieces);
  if (slot == pieces.size()) return names;
  if (slot > 0 && is_key_name(pieces[slot - 1].text)) names.push_back(column_name(word_of(pieces[slot - 1])));
  else names.emplace_back(slot_name(pieces[slot].kind));
  add_later_names(pieces, slot, names);
  return names;
}

std::vector<std::string> relation_slot_names(const KeyPieces& pieces) {
  std::vector<std::string> names;
  const std::size_t slot = first_slot(pieces);
  if (slot == pieces.size()) return names;
  std::string name = slot == 0 || pieces[slot - 1].text.empty() ? "name" : column_name(word_of(pieces[slot - 1]));
  if (pieces[slot].kind == PieceKind::kDate || pieces[slot].kind == PieceKind::kMail) name = slot_name(pieces[slot].kind);
  else if (is_identifier(pieces[slot].kind) && !is_key_name(name)) name += "_id";
  names.push_back(std::move(name));
  add_later_names(pieces, slot, names);
  return names;
}

std::optional<std::size_t> field_piece(const KeyPieces& pieces) {
  std::optional<std::size_t> found;
  bool behind_slot = false;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    behind_slot = behind_slot || pieces[i].is_slot;
    if (behind_slot && !pieces[i].is_slot) found = i;
  }
  return found;
}

std::string template_text(const KeyPieces& pieces, const std::vector<std::string>& slots) {
  std::string text;
  std::size_t next = 0;
  for (const KeyPiece& piece : pieces) {
    text += piece.separator;
    if (piece.is_slot) {
      text += "{" + slots.at(next++) + "}";
    } else if (piece.text == kFieldSlot) {
      text += "{*}";
    } else if (piece.kind == PieceKind::kJavaHead) {
      text += "{\\java}";
    } else {
      text += template_literal(piece.text);
    }
  }
  return text;
}

std::vector<std::string> table_names(const KeyPieces& pieces, const std::string& layout) {
  const std::size_t slot = first_slot(pieces);
  const bool slot_word = has_slot_word(pieces);
  std::vector<std::string> all, late, every;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].is_slot || pieces[i].text.empty() || pieces[i].text == kFieldSlot) continue;
    const std::string word = column_name(word_of(pieces[i]));
    every.push_back(word);
    if (slot_word && i + 1 == slot) continue;
    all.push_back(word);
    const std::size_t entity = slot_word ? slot - 2 : slot - 1;
    const bool is_of_days = slot < pieces.size() && pieces[slot].kind == PieceKind::kDate;  // the word before says little: daily
    if (slot == pieces.size() || slot == 0 || i >= entity || is_of_days) late.push_back(word);
  }
  // online:userid: the word names the elements
  if (slot == pieces.size() && all.size() > 1 && is_key_name(all.back())) late.pop_back();
  std::vector<std::string> names;
  for (const std::vector<std::string>* words : {&late, &all, &every}) {
    std::string name = joined(*words);
    if (name.empty()) name = "keys_" + layout;
    if (name[0] >= '0' && name[0] <= '9') name.insert(0, "_");
    name = utf8_clip(name, kMaxName);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  names.push_back(std::string(utf8_clip(joined(late).empty() ? "keys" : joined(late), kMaxName - 1 - layout.size())) + "_" + layout);
  return names;
}

}  // namespace redquel::sql
