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
constexpr std::size_t kMaxShapes = 20'000, kMaxNames = 8'000;
constexpr std::size_t kMaxBeyond = 5'000;    // further ones
constexpr std::size_t kMaxUnshaped = 1'000;  // beginnings that are counted
constexpr std::size_t kLongKeyShown = 80;
constexpr std::size_t kManyWords = 200;      // this many words in one place are values
constexpr std::size_t kFewKeys = 16;         // that a value has at most, so that its words need not be alike
constexpr std::size_t kKeysOfName = 8;       // a word with more keys is a name where the form has no other word

bool is_hex(char c) { return hex_value(c) >= 0; }

/// 2011-01-31 or 20110131; a number of eight digits alone is a number.
bool is_full_date(std::string_view text) {
  return text.size() == 10 && text[4] == '-' && text[7] == '-' && all_digits(text.substr(0, 4)) && all_digits(text.substr(5, 2)) &&
         all_digits(text.substr(8));
}

/// user@example.com
bool is_mail(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == 0 || at == std::string_view::npos || text.find('@', at + 1) != std::string_view::npos) return false;
  const std::size_t point = text.rfind('.');
  return point != std::string_view::npos && point > at + 1 && point + 1 < text.size() &&
         std::ranges::all_of(text, [](char c) { return is_alphanumeric(c) || std::string_view("@._%+-").find(c) != std::string_view::npos; });
}

/// Numbers with signs between them (10.0.0.1, 2026-11-29T10, +491701234567), a ULID, or a text with capitals, small letters and digits.
bool is_token(std::string_view text) {
  constexpr std::size_t kUlid = 26, kShortest = 16;
  const auto only = [&](std::string_view others, auto is_more) {
    return std::ranges::all_of(text, [&](char c) { return is_digit(c) || is_more(c) || others.find(c) != std::string_view::npos; });
  };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto digits = static_cast<std::size_t>(std::ranges::count_if(text, is_digit));
  if (digits == 0) return false;
  const bool begins_as_number = is_digit(text.front()) || (text.front() == '+' && digits + 1 == text.size());
  if (begins_as_number && digits < text.size() && only("-.,_+TZ", [](char) { return false; })) return true;
  if (text.size() == kUlid && text.front() <= '7' && only("", is_capital)) return true;
  const bool has_cases = std::ranges::any_of(text, is_capital) && std::ranges::any_of(text, is_small);
  return text.size() >= kShortest && has_cases && only("-_.=+~", is_letter);
}

/// 16 hexadecimal digits or more; 8 if two of them are digits.
bool is_hexadecimal(std::string_view text) {
  constexpr std::size_t kLong = 16, kShort = 8, kDigits = 2;
  if (text.size() < kShort || !std::ranges::all_of(text, is_hex)) return false;
  const auto digits = static_cast<std::size_t>(std::ranges::count_if(text, is_digit));
  return digits >= (text.size() >= kLong ? 1 : kDigits);
}

PieceKind kind_of(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (all_digits(digits) && digits.size() <= 19) return PieceKind::kInteger;
  if (is_uuid(text)) return PieceKind::kUuid;
  if (is_full_date(text)) return PieceKind::kDate;
  if (is_hexadecimal(text)) return PieceKind::kHex;
  if (is_mail(text)) return PieceKind::kMail;
  return is_token(text) ? PieceKind::kToken : PieceKind::kWord;
}

/// Returns where a value begins behind letters: 4 of user7, 4 of job-12345, and the size of the text if there is none. `is_first`: the
/// text is the first piece of a key; other pieces may be words with small numbers (top10).
std::size_t value_behind_letters(std::string_view text, bool is_first) {
  constexpr std::size_t kDigits = 3, kMost = 18;
  for (std::size_t at = 1; at < text.size(); ++at) {
    const char before = text[at - 1];
    if (!is_letter(before) && before != '_' && before != '-') break;
    const bool may_begin = is_digit(text[at]) || before == '_' || before == '-';
    if (!may_begin) continue;
    const std::string_view rest = text.substr(at);
    const PieceKind kind = kind_of(rest);
    if (kind == PieceKind::kWord || kind == PieceKind::kMail || rest.front() == '-') continue;
    if (kind != PieceKind::kInteger || (rest.size() >= (is_first ? 1 : kDigits) && rest.size() <= kMost)) return at;
  }
  return text.size();
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

/// Returns true for letters and one long value behind them, whose own signs separate nothing: celery-task-meta-<UUID>.
bool ends_with_long_value(std::string_view key) {
  const std::size_t value = value_behind_letters(key, true);
  const PieceKind kind = value < key.size() ? kind_of(key.substr(value)) : PieceKind::kWord;
  return kind == PieceKind::kUuid || kind == PieceKind::kDate || kind == PieceKind::kHex;
}

/// Returns true if the piece alone is the key: a name that tells nothing of others.
bool is_whole_key(const KeyPieces& pieces, std::size_t position) {
  return pieces.size() == position + 1 && (position == 0 || (position == 1 && pieces[0].kind == PieceKind::kJavaHead));
}

/// Returns true if no other piece is a word that names something.
bool is_only_word(const KeyPieces& pieces, std::size_t position) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i != position && !pieces[i].is_slot && !pieces[i].text.empty()) return false;
  }
  return true;
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
  const char separator = kind_of(key) == PieceKind::kWord && !ends_with_long_value(key) ? separator_of(key) : '\0';
  std::string_view rest = key;
  while (true) {
    const std::size_t end = separator == '\0' || pieces.size() + 1 >= kMaxPieces + head ? std::string_view::npos : rest.find(separator);
    const std::string_view text = rest.substr(0, end);
    const PieceKind kind = kind_of(text);
    std::string before = pieces.size() == head ? std::string() : std::string(1, separator);
    const std::size_t value = kind == PieceKind::kWord ? value_behind_letters(text, pieces.size() == head) : text.size();
    if (value < text.size()) {
      add(std::move(before), text.substr(0, value), PieceKind::kWord);
      add("", text.substr(value), kind_of(text.substr(value)));
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
    static constexpr std::string_view kNames[] = {"{word}", "{integer}", "{uuid}", "{hex}", "{date}", "{mail}", "{token}"};
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

bool KeyShapes::add(std::string_view key) {
  ++keys_;
  if (key.size() > kMaxKey) {
    if (++long_keys_ == 1) long_key_ = key.substr(0, kLongKeyShown);
    return true;
  }
  if (add(key, 0)) return true;
  return false;
}

void KeyShapes::add_beyond(std::string_view key, bool is_structure) {
  if (is_structure && add(key, kMaxBeyond)) return;
  const std::size_t separator = key.find(':');
  std::string beginning(key.substr(0, separator == std::string_view::npos ? 0 : separator + 1));
  if (unshaped_.size() >= kMaxUnshaped && !unshaped_.contains(beginning)) beginning.clear();
  Unshaped& unshaped = unshaped_[beginning];
  if (++unshaped.keys == 1) unshaped.example = key;
}

bool KeyShapes::add(std::string_view key, std::size_t further_shapes) {
  std::vector<std::string> values;
  KeyPieces pieces = split_key(key, values);
  std::string text = shape_text(pieces);
  bool is_new = !shapes_.contains(text);
  if (is_new && has_merged_) is_new = !take_as_value(pieces, text);
  if (is_new && shapes_.size() >= merge_at_) {
    merge_words(kManyWords, shapes_.size() < kMaxShapes);
    merge_at_ = shapes_.size() < kMaxShapes ? std::min(2 * std::max(shapes_.size(), merge_at_ / 2), kMaxShapes) : shapes_.max_size();  // looking again and again would find little
  }
  const bool is_name = is_new && is_whole_key(pieces, pieces.size() - 1);
  if (is_new && shapes_.size() >= kMaxShapes + further_shapes) return false;
  if (is_name && names_ >= kMaxNames + further_shapes) return false;
  names_ += is_name ? 1 : 0;
  Shape& shape = shapes_[std::move(text)];
  if (shape.pieces.empty()) shape.pieces = std::move(pieces);
  ++shape.count;
  const bool took_word = static_cast<std::size_t>(std::ranges::count(shape.pieces, true, &KeyPiece::is_slot)) > values.size();
  keep(shape, {hash_of(took_word ? slot_values(shape.pieces, key) : values), std::string(key)});
  return true;
}

/// One more word of a place whose words were found to be values.
bool KeyShapes::take_as_value(KeyPieces& pieces, std::string& text) const {
  if (is_whole_key(pieces, pieces.size() - 1)) return false;
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

/// Words before which the keys are alike, and behind which the same forms of keys come, are values of one slot where they are many. A form
/// without any word is no table: it takes no words with several keys, and none at all while more keys may come (`keeps_names`).
void KeyShapes::merge_words_at(std::size_t position, std::size_t least_words, bool keeps_names) {
  /// The forms behind the words of one place, by word, and the keys of these forms.
  struct Place {
    std::map<std::string, std::set<std::string>> tails;
    std::size_t keys = 0;
  };
  std::map<std::string, Place> places;  // by the pieces before the word
  for (const auto& [text, shape] : shapes_) {
    if (shape.pieces.size() <= position || shape.pieces[position].kind != PieceKind::kWord || is_whole_key(shape.pieces, position)) continue;
    const auto cut = shape.pieces.begin() + static_cast<std::ptrdiff_t>(position);
    const std::string before = shape_text({shape.pieces.begin(), cut}) + '\0' + cut->separator;
    if (!cut->is_slot && is_structure_word(cut->text)) continue;
    const std::string word = cut->is_slot ? std::string(1, '\0') : cut->text;
    Place& place = places[before];
    place.tails[word].insert(shape_text({cut + 1, shape.pieces.end()}));
    if (!cut->is_slot) place.keys += shape.count;
  }
  for (const auto& [before, place] : places) {
    std::map<std::set<std::string>, std::vector<std::string>> alike;
    std::set<std::string> known;
    for (const auto& [word, tails] : place.tails) {
      if (word == std::string_view("\0", 1)) known = tails;
      else alike[tails].push_back(word);
    }
    // Words with few keys each are values, however different what stands behind them.
    const bool are_values = position > 0 && place.tails.size() >= least_words && place.keys < place.tails.size() * kFewKeys;
    for (const auto& [tails, group] : alike) {
      const bool joins = !known.empty() && std::ranges::includes(known, tails);
      if (group.size() < least_words && !joins && !are_values) continue;
      has_merged_ = true;
      for (const std::string& word : group) {
        for (const std::string& tail : tails) {
          const std::size_t zero = before.find('\0');
          const std::string separator = before.substr(zero + 1);
          const auto old = shapes_.find(before.substr(0, zero) + separator + word + tail);
          if (old == shapes_.end()) continue;
          if (is_only_word(old->second.pieces, position) && (keeps_names || old->second.count > kKeysOfName)) continue;
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

void KeyShapes::merge_words(std::size_t least_words, bool keeps_names) {
  // From the last piece on: what stands behind a word must have been merged before words can be seen to be alike. Again, because words that
  // are values may have many others behind them all together.
  for (std::size_t before = 0; before != shapes_.size();) {
    before = shapes_.size();
    for (std::size_t position = kMaxPieces + 1; position-- > 0;) merge_words_at(position, least_words, keeps_names);
  }
}

std::vector<KeyShape> KeyShapes::finish() {
  merge_words(kManyWords, false);
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
