#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/types/json_text.h"

namespace redquel::sql {

// jsonb: the text that PostgreSQL prints for it. Members are sorted by the length of their names, then by bytes; of equal
// names the last one stays; numbers are written as numeric prints them.

/// Reads JSON. Errors of check_json, 22P05 for \u0000, 22003 for numbers beyond numeric.
std::string parse_jsonb(std::string_view text);
/// Like parse_jsonb(), for JSON that is known to be valid.
void append_jsonb(std::string_view valid_json, std::string& out);

/// The order of <, ORDER BY and indexes: Object > Array > Boolean > Number > String > null; numbers by value.
int compare_jsonb(std::string_view a, std::string_view b);
/// Returns one text for equal values: numbers without trailing zeros.
std::string jsonb_key(std::string_view value);
std::uint64_t hash_jsonb(std::string_view value);

/// Returns true if `value` contains `part`: operator @>.
bool jsonb_contains(std::string_view value, std::string_view part);
/// The member of this name or nothing (a null view).
std::string_view jsonb_member(std::string_view object, std::string_view name);
/// Element number `index`, from the end where negative; or nothing.
std::string_view jsonb_element(std::string_view array, std::int64_t index);

/// Members of an object that is being made; values are jsonb texts.
class JsonbObject {
 public:
  /// A later member of the same name replaces an earlier one.
  void add(std::string name, std::string value) { members_.emplace_back(std::move(name), std::move(value)); }
  void add_all(std::string_view object);
  void append_to(std::string& out);

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

/// Elements of an array that is being made.
class JsonbArray {
 public:
  explicit JsonbArray(std::string& out) : out_(out) { out_.push_back('['); }
  void add(std::string_view value) {
    if (!first_) out_ += ", ";
    first_ = false;
    out_ += value;
  }
  void add_all(std::string_view array) {
    for (JsonReader reader(array); reader.next();) add(reader.value());
  }
  void finish() { out_.push_back(']'); }

 private:
  std::string& out_;
  bool first_ = true;
};

}  // namespace redquel::sql
