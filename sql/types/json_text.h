#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace redquel::sql {

// JSON as text. A value of type json is its text, one of type jsonb the text that PostgreSQL prints for it; both are read
// where they lie, so that a part of a value is a view into the whole. (No JSON library: numbers must keep every digit,
// 1.10 and 1e400 included, and json even its blanks.)

/// In the order in which jsonb sorts them.
enum class JsonKind : std::uint8_t { kNull, kString, kNumber, kBoolean, kArray, kObject };

/// The functions from here on are given valid JSON; a value is a text without blanks around it.
std::string_view json_value(std::string_view text);
JsonKind json_kind(std::string_view value);
inline bool is_json_container(std::string_view value) { return value[0] == '[' || value[0] == '{'; }
/// json_typeof(): "null", "string", "number", "boolean", "array", "object".
std::string_view json_kind_name(JsonKind kind);

/// Goes through the elements of an array or the members of an object, not into them.
class JsonReader {
 public:
  explicit JsonReader(std::string_view container);

  /// False at the end.
  bool next();
  /// The quoted name of the member.
  std::string_view key() const { return key_; }
  std::string_view value() const { return value_; }

 private:
  void skip_blanks();
  std::string_view take();

  std::string_view text_, key_, value_;
  std::size_t at_ = 1;
};

/// Elements of an array, members of an object.
std::size_t json_count(std::string_view container);

/// Behind the value that begins at `at`.
std::size_t json_value_end(std::string_view text, std::size_t at);

/// Returns the value of a quoted string; uses `buffer` if it holds escapes. 22P05 for \u0000, 22P02 for half surrogates.
std::string_view json_string(std::string_view quoted, std::string& buffer);
inline std::string json_string(std::string_view quoted) {
  std::string buffer;
  return std::string(json_string(quoted, buffer));
}
/// Reads all strings of a value, for the errors of their escapes: those of type json are not looked at when it is read.
void check_json_escapes(std::string_view value);
/// Appends `text` in quotes, escaped as PostgreSQL does.
void append_json_string(std::string_view text, std::string& out);

}  // namespace redquel::sql
