#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redquel::sql {

/// The form of a piece of a key. A word may be a constant of a template or a value in one of its slots. kToken: a text that is no word
/// (10.0.0.1, 2026-11-29T10, a random text). kJavaHead is what Java's serialization writes before a string: the first piece, without text
/// and no slot.
enum class PieceKind : std::uint8_t { kWord, kInteger, kUuid, kHex, kDate, kMail, kToken, kJavaHead };

/// Returns true if the values of this kind identify something: numbers, UUIDs, hexadecimal numbers.
inline bool is_identifier(PieceKind kind) { return kind == PieceKind::kInteger || kind == PieceKind::kUuid || kind == PieceKind::kHex; }

/// One piece of a key template, behind its separator.
struct KeyPiece {
  std::string separator;  // ":" or another, empty before the first one and where a value follows letters (user7)
  PieceKind kind = PieceKind::kWord;
  bool is_slot = false;
  std::string text;  // of a constant
  bool operator==(const KeyPiece&) const = default;
};
using KeyPieces = std::vector<KeyPiece>;

/// A key cut into pieces; those that are no words are slots. Separators: ":", else "/", "|", ".", "#", "_" or "-" beside a value.
KeyPieces split_key(std::string_view key, std::vector<std::string>& values);
/// 36 characters: hexadecimal digits in groups of 8, 4, 4, 4 and 12.
bool is_uuid(std::string_view text);
/// "login:{}:name"
std::string shape_text(const KeyPieces& pieces);
/// The values that a key has in the slots of a template; empty where it is not one of its keys.
std::vector<std::string> slot_values(const KeyPieces& pieces, std::string_view key);

/// Keys of one form.
struct KeyShape {
  KeyPieces pieces;
  std::size_t count = 0;
  /// Some of its keys. Shapes with the same slot values have samples with the same slot values as far as they can, so that the
  /// parts of one row come together.
  std::vector<std::string> keys;
};

/// Groups the keys of a keyspace as they come, in memory that does not grow with their number.
class KeyShapes {
 public:
  static constexpr std::size_t kMaxKey = 2048;
  /// `samples`: keys that are kept of each shape.
  explicit KeyShapes(std::size_t samples) : samples_(samples) {}

  /// Returns false if the key is of one more form than there may be.
  bool add(std::string_view key);
  /// Takes a key for which `add` has returned false. Structures get some more forms. Of other keys the beginnings are counted.
  void add_beyond(std::string_view key, bool is_structure);
  std::size_t keys() const { return keys_; }
  /// Keys whose form was one too many, by what they begin with.
  struct Unshaped {
    std::size_t keys = 0;
    std::string example;
  };
  const std::map<std::string, Unshaped>& unshaped() const { return unshaped_; }
  /// Keys of more than kMaxKey bytes, which are not looked at, and the first bytes of one.
  std::size_t long_keys() const { return long_keys_; }
  const std::string& long_key() const { return long_key_; }
  /// By shape text. Words that take many values where the rest of the key is alike have become slots.
  std::vector<KeyShape> finish();

 private:
  struct Sample {
    std::uint64_t order;
    std::string key;
  };
  struct Shape {
    KeyPieces pieces;
    std::size_t count = 0;
    std::vector<Sample> samples;  // a heap, the greatest order first
  };

  bool add(std::string_view key, std::size_t further_shapes);
  void keep(Shape& shape, Sample sample) const;
  bool take_as_value(KeyPieces& pieces, std::string& text) const;
  void merge_words(std::size_t least_words, bool keeps_names);
  void merge_words_at(std::size_t position, std::size_t least_words, bool keeps_names);

  std::size_t samples_, keys_ = 0, long_keys_ = 0;
  std::string long_key_;
  std::size_t merge_at_ = 2000;  // shapes at which words are looked at again
  bool has_merged_ = false;
  std::size_t names_ = 0;  // shapes of one word: keys that say nothing of others
  std::unordered_map<std::string, Shape> shapes_;
  std::map<std::string, Unshaped> unshaped_;
};

}  // namespace redquel::sql
