#include "sql/discovery/keyspace_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "sql/ascii.h"
#include "sql/catalog/key_pattern.h"
#include "sql/discovery/written_values.h"
#include "sql/types/shown_text.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kFewStructures = 16;  // words beside numbers are names of structures up to here
constexpr std::size_t kManyFields = 64;     // words behind a slot are names of fields up to here
constexpr std::size_t kMaxSamples = 64;
constexpr std::size_t kMaxFields = 200;     // of a hash that is a row

template <std::size_t N>
bool is_one_of(std::string_view word, const std::string_view (&words)[N]) {
  return std::ranges::find(words, word) != std::end(words);
}

bool split_is_value(const std::string& field) {
  return looks_like(PieceKind::kInteger, field) || looks_like(PieceKind::kUuid, field) || looks_like(PieceKind::kDate, field);
}

/// Returns true if so many words at this place may be values.
bool may_be_values(const std::vector<KeyspaceEntry>& entries, const KeyspaceEntry& entry, std::size_t place, std::size_t words) {
  if (place == 0 || words < 2) return false;
  const auto before = entry.pieces.begin() + static_cast<std::ptrdiff_t>(place);
  const auto is_slot = [](const KeyPiece& piece) { return piece.is_slot; };
  const bool behind_slot = std::any_of(entry.pieces.begin(), before, is_slot);
  if (behind_slot) return words > kManyFields;
  if (std::any_of(before + 1, entry.pieces.end(), is_slot)) return words > kManyFields;  // another table in another namespace
  if (place + 1 < entry.pieces.size()) return true;
  const bool beside_numbers = std::ranges::any_of(entries, [&](const KeyspaceEntry& other) {
    return other.pieces.size() > place && other.pieces[place].is_slot && std::equal(entry.pieces.begin(), before, other.pieces.begin());
  });
  return !beside_numbers || words > kFewStructures;
}

void make_slot(KeyspaceEntry& entry, std::size_t place) {
  entry.pieces[place].is_slot = true;
  entry.pieces[place].text.clear();
}

/// The values of indexes are values, however few: emp:indices:city:Paris.
void mark_index_values(KeyspaceEntry& entry) {
  for (std::size_t i = 0; i < entry.pieces.size(); ++i) {
    if (!is_index_word(entry.pieces[i].text) || entry.type != "set") continue;
    for (std::size_t value = i + 2; value < entry.pieces.size(); value += 2) {
      if (!entry.pieces[value].is_slot) make_slot(entry, value);
    }
    return;
  }
}

void add_samples(KeyspaceEntry& to, KeyspaceEntry& from) {
  to.count += from.count;
  for (KeySample& sample : from.samples) {
    if (to.samples.size() < kMaxSamples) to.samples.push_back(std::move(sample));
  }
  from.is_used = true;
}

void join_equal(std::vector<KeyspaceEntry>& entries) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].is_used) continue;
    const auto [found, is_new] = known.emplace(entries[i].type + " " + shape_text(entries[i].pieces), i);
    if (!is_new) add_samples(entries[found->second], entries[i]);
  }
  std::erase_if(entries, [](const KeyspaceEntry& entry) { return entry.is_used; });
}

/// Kinds that may be values of this one, from narrow to wide.
constexpr PieceKind kWiderKinds[] = {PieceKind::kHex, PieceKind::kToken, PieceKind::kWord};

/// Some hexadecimal numbers have digits alone, some names are numbers: values of the wider kind, where there are any at the same place.
void join_kinds(std::vector<KeyspaceEntry>& entries) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < entries.size(); ++i) known.emplace(entries[i].type + " " + shape_text(entries[i].pieces), i);
  for (KeyspaceEntry& entry : entries) {
    for (std::size_t place = 0; place < entry.pieces.size() && !entry.is_used; ++place) {
      const PieceKind kind = entry.pieces[place].kind;
      if (!entry.pieces[place].is_slot || kind == PieceKind::kWord || kind == PieceKind::kUuid) continue;
      for (const PieceKind wider : kWiderKinds) {
        if (wider == kind || (kind == PieceKind::kToken && wider == PieceKind::kHex)) continue;
        KeyPieces pieces = entry.pieces;
        pieces[place].kind = wider;
        const auto found = known.find(entry.type + " " + shape_text(pieces));
        if (found == known.end() || entry.is_used || entries[found->second].is_used) continue;
        add_samples(entries[found->second], entry);
      }
    }
  }
  std::erase_if(entries, [](const KeyspaceEntry& entry) { return entry.is_used; });
}

}  // namespace

std::size_t KeyspaceEntry::first_slot() const {
  return static_cast<std::size_t>(std::ranges::find(pieces, true, &KeyPiece::is_slot) - pieces.begin());
}

std::size_t KeyspaceEntry::bytes() const {
  std::size_t sampled = 0;
  for (const KeySample& sample : samples) sampled += sample.bytes;
  return samples.empty() ? 0 : sampled * count / samples.size();
}

std::size_t KeyspaceEntry::slot_count() const { return static_cast<std::size_t>(std::ranges::count(pieces, true, &KeyPiece::is_slot)); }

bool is_counter_word(std::string_view word) {
  static constexpr std::string_view kWords[] = {"id", "key", "seq", "sequence", "counter", "next", "next_id", "nextid", "last_id", "ids", "pk"};
  return is_one_of(word, kWords);
}

bool is_index_word(std::string_view word) {
  static constexpr std::string_view kWords[] = {"indices", "indexes", "index", "idx"};
  return is_one_of(word, kWords);
}

bool is_structure_word(std::string_view word) {
  static constexpr std::string_view kWords[] = {"zset", "set", "list", "all", "hash", "uniques", "unique", "_indices", "_uniques", "count", "total"};
  return word.empty() || is_counter_word(word) || is_index_word(word) || is_one_of(word, kWords);
}

bool has_row_fields(const KeyspaceEntry& entry) {
  std::map<std::string, std::size_t> fields;
  std::size_t all = 0, numbers = 0;
  for (const KeySample& sample : entry.samples) {
    for (const auto& [field, value] : sample.parts) {
      if (++fields[field] == 1 && !looks_like(PieceKind::kWord, field) && split_is_value(field)) ++numbers;
      ++all;
    }
  }
  if (fields.empty() || fields.size() > kMaxFields) return false;
  if (numbers * 2 > fields.size()) return false;
  return entry.samples.size() < 3 || fields.size() <= 20 || all * 5 >= fields.size() * entry.samples.size();
}

std::vector<KeyspaceEntry> entries_of(std::vector<SampledShape> shapes, std::vector<std::string>& notes) {
  std::vector<KeyspaceEntry> entries;
  for (SampledShape& sampled : shapes) {
    const std::string text = shape_text(sampled.shape.pieces);
    if (sampled.keys.empty()) continue;
    std::map<std::string, KeyspaceEntry> by_type;
    const std::size_t seen = sampled.keys.size();
    for (KeySample& sample : sampled.keys) {
      KeyspaceEntry& entry = by_type[sample.type];
      entry.samples.push_back(std::move(sample));
    }
    if (by_type.size() > 1) {
      std::string types;
      for (const auto& [type, entry] : by_type) types += (types.empty() ? "" : ", ") + type;
      notes.push_back(shown_text(text, 100) + ": keys of several types (" + types + "), each taken for itself");
    }
    for (auto& [type, entry] : by_type) {
      entry.pieces = sampled.shape.pieces;
      entry.type = type;
      entry.count = std::max(entry.samples.size(), sampled.shape.count * entry.samples.size() / seen);
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

void note_keys(ProposedTable& table, const KeyspaceEntry& entry) {
  constexpr std::size_t kExamples = 3;
  table.keys += entry.count;
  if (table.pattern.empty()) table.pattern = left_out_of(entry, "").pattern;
  table.type = entry.type;
  for (const KeySample& sample : entry.samples) {
    table.expires = table.expires || sample.expires;
    if (table.examples.size() < kExamples) table.examples.push_back(sample.key);
  }
}

LeftOut left_out_of(const KeyspaceEntry& entry, std::string reason) {
  std::string pattern;
  for (const KeyPiece& piece : entry.pieces) {
    if (piece.kind == PieceKind::kJavaHead) pattern += "*";
    else pattern += glob_of_text(piece.separator) + (piece.is_slot ? "*" : glob_of_text(piece.text));
  }
  return {std::move(pattern), entry.type, entry.count, entry.samples.empty() ? "" : entry.samples.front().key, std::move(reason)};
}

std::vector<KeyspaceEntry*> unused_entries(std::vector<KeyspaceEntry>& entries, bool with_slots) {
  std::vector<KeyspaceEntry*> unused;
  for (KeyspaceEntry& entry : entries) {
    if (!entry.is_used && (!with_slots || entry.has_slot())) unused.push_back(&entry);
  }
  return unused;
}

void leave_out_single_strings(std::vector<KeyspaceEntry>& entries, std::vector<LeftOut>& left_out) {
  constexpr std::size_t kMost = 100;
  std::vector<KeyspaceEntry*> strings = unused_entries(entries, false);
  std::erase_if(strings, [](const KeyspaceEntry* entry) { return entry->type != "string" || entry->has_slot(); });
  if (strings.size() > kMost) leave_out_smallest(std::move(strings), 0, left_out);
}

void leave_out_smallest(std::vector<KeyspaceEntry*> entries, std::size_t most, std::vector<LeftOut>& left_out) {
  if (entries.size() <= most) return;
  const auto middle = entries.begin() + static_cast<std::ptrdiff_t>(most / 2), end = entries.begin() + static_cast<std::ptrdiff_t>(most);
  const auto rank = [](const KeyspaceEntry* entry) {
    const bool is_plain = std::ranges::all_of(entry->pieces, [](const KeyPiece& piece) {
      return std::ranges::all_of(piece.text, [](char c) { return is_alphanumeric(c) || c == '_' || c == '-' || c == '.'; });
    });
    return std::tuple(is_plain, entry->type != "string", entry->bytes());
  };
  std::ranges::nth_element(entries, middle, std::ranges::greater{}, [&](const KeyspaceEntry* entry) { return std::pair(entry->count, rank(entry)); });
  std::nth_element(middle, end, entries.end(), [&](const KeyspaceEntry* a, const KeyspaceEntry* b) { return rank(a) > rank(b); });
  for (auto entry = end; entry != entries.end(); ++entry) {
    (*entry)->is_used = true;
    left_out.push_back(left_out_of(**entry, "one of very many forms"));
  }
}

void merge_few_words(std::vector<KeyspaceEntry>& entries) {
  std::size_t longest = 0;
  for (KeyspaceEntry& entry : entries) {
    mark_index_values(entry);
    longest = std::max(longest, entry.pieces.size());
  }
  join_equal(entries);
  for (std::size_t place = longest; place-- > 1;) {
    // Entries that differ in this piece alone.
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const KeyPieces& pieces = entries[i].pieces;
      if (pieces.size() <= place || pieces[place].is_slot || is_structure_word(pieces[place].text)) continue;
      const bool in_index = is_index_word(pieces[place - 1].text) || pieces[place - 1].text == "uniques" || pieces[place - 1].text == "unique";
      if (in_index || (place > 1 && pieces[place - 1].text == "zset")) continue;  // the name of a column
      KeyPieces wild = pieces;
      wild[place].text = "\1";
      groups[entries[i].type + " " + shape_text(wild)].push_back(i);
    }
    std::vector<std::size_t> values;
    for (const auto& [wild, members] : groups) {
      if (may_be_values(entries, entries[members[0]], place, members.size())) values.insert(values.end(), members.begin(), members.end());
    }
    for (const std::size_t i : values) make_slot(entries[i], place);
    join_equal(entries);
  }
  join_kinds(entries);
}

}  // namespace redquel::sql
