#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql {

/// Returns bytes of a key as a template has them: `{{` for a brace, `{\xff}` for bytes that a text cannot show.
std::string template_literal(std::string_view literal);
/// What Java's serialization writes before the length of a string.
inline constexpr std::string_view kJavaHead("\xac\xed\0\x05t", 5);  // magic number, version 5, TC_STRING
/// Returns the string that Java's serialization wrote as these bytes, whole and alone; nullopt if they are something else.
std::optional<std::string_view> java_string(std::string_view bytes);

/// The form of the keys of a mapped table or of a structure declared on it: `theme:{id}:product`. What stands in braces is a slot: a
/// column's value; `{id:3}` pads a number with zeros to three digits, `{id:*}` at the end takes the rest of the key,
/// `{*}` stands for a column's field name. `{{` and `}}` are braces that the key itself has. `{\xff00}` stands for bytes: those that are
/// no UTF-8 and control characters. `{\java}` at the beginning stands for what Java's serialization writes before a string: four bytes of
/// a header, `t`, and two bytes with the length of the rest of the key.
///
/// Values are put into keys as they are, because that is what applications did that wrote them. So that a key can be taken apart again in
/// one way only, the values of a slot are never empty and contain neither the character that follows the slot nor, where the template
/// has colons, a colon: no row of the table has such a value. Only a slot that takes the rest of the key holds any character.
class KeyTemplate {
 public:
  struct Part {
    std::string literal;      // of a part that is no slot
    std::int16_t column = 0;  // of a slot; kFieldSlot: `{*}`; 0: a literal
    int width = 0;            // digits, padded with zeros; 0: as they are
    bool takes_rest = false;  // of the last slot: everything up to the key's end
    bool is_length = false;   // two bytes: the length of the rest of the key, the greater byte first
  };
  static constexpr std::int16_t kFieldSlot = -1;

  /// Number of the column that a name means; 0: there is none.
  using ColumnOfName = std::function<std::int16_t(std::string_view)>;
  using NameOfColumn = std::function<std::string(std::int16_t)>;
  /// Text of a slot's column (kFieldSlot: the field's name); nullopt: not known.
  using TextOfColumn = std::function<std::optional<std::string>(std::int16_t)>;

  /// Throws SqlError 22023: no text, unbalanced braces, a slot that is no column, a column twice, two slots side by side, bytes that
  /// are not pairs of hexadecimal digits.
  static KeyTemplate parse(std::string_view text, const ColumnOfName& column);
  /// The form in a catalog: a slot is `#` and the column's number, so that a rename changes nothing.
  static KeyTemplate parse_stored(std::string_view text);
  std::string stored_text() const;
  /// The form in SQL, with the columns' names.
  std::string text(const NameOfColumn& name) const;

  const std::vector<Part>& parts() const { return parts_; }
  /// Columns of the slots in their order, kFieldSlot included.
  std::vector<std::int16_t> slots() const;
  bool has_slot(std::int16_t column) const;
  bool has_slots() const { return !slots().empty(); }

  /// The key; nullopt where a text is not known, or the key is too long for Java's length.
  std::optional<std::string> render(const TextOfColumn& text) const;
  /// Returns a value's text as the slot of its column holds it, filled up with zeros.
  std::string slot_text(std::int16_t column, std::string text) const;
  /// Returns true if a slot can hold this text so that `match` returns it. (`slot`: a part's index)
  bool may_hold(std::size_t slot, std::string_view text) const;
  /// The slots' texts; nullopt: the key is not of this form.
  std::optional<std::vector<std::string_view>> match(std::string_view key) const;
  /// A glob for SCAN MATCH: slots without a text are `*`.
  std::string pattern(const TextOfColumn& text) const;

  /// Returns true if a slot's column holds only numbers.
  using IsNumber = std::function<bool(std::int16_t)>;
  /// Returns true if a key may have both forms. Exact for literals and numbers; otherwise true if in doubt.
  static bool may_overlap(const KeyTemplate& a, const IsNumber& a_number, const KeyTemplate& b, const IsNumber& b_number);
  /// Returns true if a key of this form may begin with the prefix and a colon. Exact for literals and numbers; otherwise true if in doubt.
  bool may_reach(std::string_view prefix, const IsNumber& is_number) const;

  bool operator==(const KeyTemplate&) const;

 private:
  void finish();
  std::string padded(const Part& part, std::string text) const;
  bool has_length() const;
  bool takes_rest() const;
  bool stops(std::size_t part, char character) const;

  std::vector<Part> parts_;
  bool has_colons_ = false;
};

}  // namespace redquel::sql
