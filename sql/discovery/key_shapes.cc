#include "sql/discovery/key_shapes.h"

#include <algorithm>
#include <map>
#include <set>

#include "sql/ascii.h"
#include "sql/catalog/key_template.h"
#include "sql/discovery/keyspace_entry.h"

namespace redquel::sql {
namespace {

constexpr std::size_t kMaxPieces = 16;       // the rest of a longer key is its last piece
constexpr std::size_t kMaxShapes = 20'000;
constexpr std::size_t kLongKeyShown = 80;
constexpr std::size_t kManyWords = 200;      // this many words in one place are values

bool is_hex(char c) { return hex_value(c) >= 0; }

/// 2011-01-31 or 20110131; a number of eight digits alone is a number.
bool is_full_date(std::string_view text) {
  return text.size() == 10 && text[4] == '-' && text[7] == '-' && all_digits(text.substr(0, 4)) && all_digits(text.substr(5, 2)) &&
         all_digits(text.substr(8));
}

PieceKind kind_of(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (all_digits(digits) && digits.size() <= 19) return PieceKind::kInteger;
  if (is_uuid(text)) return PieceKind::kUuid;
  if (is_full_date(text)) return PieceKind::kDate;
  const bool is_hexadecimal = text.size() >= 16 && std::ranges::all_of(text, is_hex) && std::ranges::any_of(text, is_digit);
  return is_hexadecimal ? PieceKind::kHex : PieceKind::kWord;
}

/// The separator of a key: ":" wherever there is one; others only where a piece is no word then.
char separator_of(std::string_view key) {
  if (key.find(':') != std::string_view::npos) return ':';
  for (const char candidate : std::string_view("/|.#_-")) {
    if (key.find(candidate) == std::string_view::npos) continue;
    std::string_view rest = key;
    while (true) {
      const std::size_t end = rest.find(candidate);
      const std::string_view piece = rest.substr(0, end);
      const bool is_path = candidate == '/' || candidate == '|';
      if (is_path || kind_of(piece) != PieceKind::kWord) return candidate;
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  }
  return '\0';
}

std::uint64_t hash_of(const std::vector<std::string>& values) {
  std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a
  for (const std::string& value : values) {
    for (const char c : value) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    hash = (hash ^ 0xff) * 1099511628211ULL;
  }
  hash ^= hash >> 32;
  hash *= 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 29);
}

}  // namespace

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i])) return false;
  }
  return true;
}

KeyPieces split_key(std::string_view key, std::vector<std::string>& values) {
  KeyPieces pieces;
  if (const auto text = java_string(key)) {
    pieces.push_back({.kind = PieceKind::kJavaHead});
    key = *text;
  }
  const std::size_t head = pieces.size();
  const auto add = [&](std::string separator, std::string_view text, PieceKind kind) {
    KeyPiece piece{.separator = std::move(separator), .kind = kind, .is_slot = kind != PieceKind::kWord};
    if (piece.is_slot) values.emplace_back(text);
    else piece.text = text;
    pieces.push_back(std::move(piece));
  };
  const char separator = kind_of(key) == PieceKind::kWord ? separator_of(key) : '\0';
  std::string_view rest = key;
  while (true) {
    const std::size_t end = separator == '\0' || pieces.size() + 1 >= kMaxPieces + head ? std::string_view::npos : rest.find(separator);
    const std::string_view text = rest.substr(0, end);
    const PieceKind kind = kind_of(text);
    std::string before = pieces.size() == head ? std::string() : std::string(1, separator);
    // user7: letters, then a number
    std::size_t digits = text.size();
    while (digits > 0 && is_digit(text[digits - 1])) --digits;
    const bool is_numbered = kind == PieceKind::kWord && digits > 1 && digits < text.size() && text.size() - digits <= 18 && pieces.size() == head &&
                             std::ranges::all_of(text.substr(0, digits), [](char c) { return is_letter(c) || c == '_'; });
    if (is_numbered) {
      add(std::move(before), text.substr(0, digits), PieceKind::kWord);
      add("", text.substr(digits), PieceKind::kInteger);
    } else {
      add(std::move(before), text, kind);
    }
    if (end == std::string_view::npos) return pieces;
    rest.remove_prefix(end + 1);
  }
}

std::string shape_text(const KeyPieces& pieces) {
  std::string text;
  for (const KeyPiece& piece : pieces) {
    text += piece.separator;
    if (piece.kind == PieceKind::kJavaHead) text += "{java}";
    if (!piece.is_slot) {
      text += piece.text;
      continue;
    }
    static constexpr std::string_view kNames[] = {"{word}", "{integer}", "{uuid}", "{hex}", "{date}"};
    text += kNames[static_cast<std::size_t>(piece.kind)];
  }
  return text;
}

std::vector<std::string> slot_values(const KeyPieces& pieces, std::string_view key) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const KeyPiece& piece = pieces[i];
    if (piece.kind == PieceKind::kJavaHead) {
      const auto text = java_string(key);
      if (!text) return {};
      key = *text;
      continue;
    }
    if (!key.starts_with(piece.separator)) return {};
    key.remove_prefix(piece.separator.size());
    if (!piece.is_slot) {
      if (!key.starts_with(piece.text)) return {};
      key.remove_prefix(piece.text.size());
      continue;
    }
    std::size_t end = key.size();
    if (i + 1 < pieces.size()) end = std::min(key.find(pieces[i + 1].separator), key.size());
    values.emplace_back(key.substr(0, end));
    key.remove_prefix(end);
  }
  return key.empty() ? values : std::vector<std::string>();
}

void KeyShapes::keep(Shape& shape, Sample sample) const {
  const auto later = [](const Sample& a, const Sample& b) { return a.order < b.order; };
  if (shape.samples.size() >= samples_) {
    if (sample.order >= shape.samples.front().order) return;
    std::ranges::pop_heap(shape.samples, later);
    shape.samples.pop_back();
  }
  shape.samples.push_back(std::move(sample));
  std::ranges::push_heap(shape.samples, later);
}

void KeyShapes::add(std::string_view key) {
  ++keys_;
  if (key.size() > kMaxKey) {
    if (++long_keys_ == 1) long_key_ = key.substr(0, kLongKeyShown);
    return;
  }
  std::vector<std::string> values;
  KeyPieces pieces = split_key(key, values);
  std::string text = shape_text(pieces);
  bool is_new = !shapes_.contains(text);
  if (is_new && has_merged_) is_new = !take_as_value(pieces, text);
  if (is_new && shapes_.size() >= merge_at_) {
    merge_words(kManyWords);
    merge_at_ = 2 * std::max(shapes_.size(), merge_at_ / 2);  // looking again and again would find little
  }
  if (is_new && shapes_.size() >= kMaxShapes) {
    ++unshaped_;
    return;
  }
  Shape& shape = shapes_[std::move(text)];
  if (shape.pieces.empty()) shape.pieces = std::move(pieces);
  ++shape.count;
  const bool took_word = static_cast<std::size_t>(std::ranges::count(shape.pieces, true, &KeyPiece::is_slot)) > values.size();
  keep(shape, {hash_of(took_word ? slot_values(shape.pieces, key) : values), std::string(key)});
}

/// One more word of a place whose words were found to be values.
bool KeyShapes::take_as_value(KeyPieces& pieces, std::string& text) const {
  for (KeyPiece& piece : pieces) {
    if (piece.is_slot || piece.kind == PieceKind::kJavaHead || is_structure_word(piece.text)) continue;
    piece.is_slot = true;
    std::string candidate = shape_text(pieces);
    if (shapes_.contains(candidate)) {
      piece.text.clear();
      text = std::move(candidate);
      return true;
    }
    piece.is_slot = false;
  }
  return false;
}

/// Words before which the keys are alike, and behind which the same forms of keys come, are values of one slot where they are many.
void KeyShapes::merge_words_at(std::size_t position, std::size_t least_words) {
  // Keyed by the pieces before the word, then by the word; the values are the pieces behind it.
  std::map<std::string, std::map<std::string, std::set<std::string>>> places;
  for (const auto& [text, shape] : shapes_) {
    if (shape.pieces.size() <= position || shape.pieces[position].kind != PieceKind::kWord) continue;
    const auto cut = shape.pieces.begin() + static_cast<std::ptrdiff_t>(position);
    const std::string before = shape_text({shape.pieces.begin(), cut}) + '\0' + cut->separator;
    if (!cut->is_slot && is_structure_word(cut->text)) continue;
    const std::string word = cut->is_slot ? std::string(1, '\0') : cut->text;
    places[before][word].insert(shape_text({cut + 1, shape.pieces.end()}));
  }
  for (const auto& [before, words] : places) {
    std::map<std::set<std::string>, std::vector<std::string>> alike;
    std::set<std::string> known;
    for (const auto& [word, tails] : words) {
      if (word == std::string_view("\0", 1)) known = tails;
      else alike[tails].push_back(word);
    }
    for (const auto& [tails, group] : alike) {
      const bool joins = !known.empty() && std::ranges::includes(known, tails);
      if (group.size() < least_words && !joins) continue;
      has_merged_ = true;
      for (const std::string& word : group) {
        for (const std::string& tail : tails) {
          const std::size_t zero = before.find('\0');
          const std::string separator = before.substr(zero + 1);
          const auto old = shapes_.find(before.substr(0, zero) + separator + word + tail);
          if (old == shapes_.end()) continue;
          Shape shape = std::move(old->second);
          shapes_.erase(old);
          KeyPiece& piece = shape.pieces[position];
          piece.is_slot = true;
          piece.text.clear();
          Shape& target = shapes_[shape_text(shape.pieces)];
          if (target.pieces.empty()) target.pieces = shape.pieces;
          target.count += shape.count;
          for (Sample& sample : shape.samples) {
            keep(target, {hash_of(slot_values(target.pieces, sample.key)), std::move(sample.key)});
          }
        }
      }
    }
  }
}

void KeyShapes::merge_words(std::size_t least_words) {
  // From the last piece on: what stands behind a word must have been merged before words can be seen to be alike.
  for (std::size_t position = kMaxPieces + 1; position-- > 0;) merge_words_at(position, least_words);
}

std::vector<KeyShape> KeyShapes::finish() {
  merge_words(kManyWords);
  std::vector<KeyShape> shapes;
  for (auto& [text, shape] : shapes_) {
    KeyShape made{std::move(shape.pieces), shape.count, {}};
    std::ranges::sort(shape.samples, {}, &Sample::order);
    for (Sample& sample : shape.samples) made.keys.push_back(std::move(sample.key));
    shapes.push_back(std::move(made));
  }
  std::ranges::sort(shapes, {}, [](const KeyShape& shape) { return shape_text(shape.pieces); });
  return shapes;
}

}  // namespace redquel::sql
