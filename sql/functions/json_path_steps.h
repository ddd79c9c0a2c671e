#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace redquel::sql {

// Paths of keys and indexes into JSON values: the text[] of #>, jsonb_set and their like.

/// An ArrayValue's elements; nullopt: NULL.
using JsonSteps = std::span<const std::optional<std::string_view>>;

/// A step as the index of an array element; nullopt where it is none.
std::optional<std::int32_t> json_index(std::string_view step);

/// Returns the value at the path as a view into `value`; nullopt if there is none or a step is NULL.
std::optional<std::string_view> json_at(std::string_view value, JsonSteps path);

/// The change that jsonb_set and its relatives make at the end of the path.
enum class JsonbChange : std::uint8_t {
  kReplace,        // what is there
  kCreate,         // that, or put it where nothing is
  kDelete,
  kInsertBefore,   // an element; a member only where none of that name is (22023)
  kInsertAfter,
  kAssign,         // subscripts: what is missing on the way is made, too
};
/// `target` changed at the path by the jsonb text `value`. 22004 for a NULL step, 22P02 for a step that is no index, 22023
/// where the change cannot be.
std::string change_jsonb(std::string_view target, JsonSteps path, std::string_view value, JsonbChange change);

}  // namespace redquel::sql
