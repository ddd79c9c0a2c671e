#include "sql/functions/json_path_steps.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/stack_depth.h"
#include "sql/types/jsonb.h"

namespace redquel::sql {
namespace {

constexpr std::int32_t kFront = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kLongestFill = 10'000'000;

/// The member of this name in JSON that need not be in order: the last one counts.
std::string_view member_of(std::string_view object, std::string_view name) {
  std::string_view found;
  std::string buffer;
  for (JsonReader reader(object); reader.next();) {
    if (json_string(reader.key(), buffer) == name) found = reader.value();
  }
  return found;
}

class Changer {
 public:
  Changer(JsonSteps path, std::string_view value, JsonbChange change) : path_(path), value_(value), change_(change) {}

  void apply(std::string_view target, std::size_t level, std::string& out) {
    check_stack_depth();
    if (level < path_.size() && !path_[level]) {
      throw SqlError(sqlstate::kNullValueNotAllowed, fmt::format("path element at position {} is null", level + 1));
    }
    if (target[0] == '[') {
      change_array(target, level, out);
    } else if (target[0] == '{') {
      change_object(target, level, out);
    } else {
      if (change_ == JsonbChange::kAssign && level < path_.size()) refuse_scalar();
      out += target;
    }
  }

  [[noreturn]] static void refuse_scalar() {
    throw SqlError(sqlstate::kInvalidParameterValue, "cannot replace existing key")
        .detail("The path assumes key is a composite object, but it is a scalar value.");
  }

 private:
  bool is_last(std::size_t level) const { return level + 1 == path_.size(); }
  bool creates() const { return change_ != JsonbChange::kReplace && change_ != JsonbChange::kDelete; }
  bool inserts() const { return change_ == JsonbChange::kInsertBefore || change_ == JsonbChange::kInsertAfter; }

  void change_object(std::string_view target, std::size_t level, std::string& out) {
    JsonbObject object;
    bool found = level >= path_.size();
    for (JsonReader reader(target); reader.next();) {
      std::string name = json_string(reader.key());
      if (found || name != *path_[level]) {
        object.add(std::move(name), std::string(reader.value()));
        continue;
      }
      found = true;
      if (!is_last(level)) {
        std::string changed;
        apply(reader.value(), level + 1, changed);
        object.add(std::move(name), std::move(changed));
      } else if (inserts()) {
        throw SqlError(sqlstate::kInvalidParameterValue, "cannot replace existing key")
            .hint("Try using the function jsonb_set to replace key value.");
      } else if (change_ != JsonbChange::kDelete) {
        object.add(std::move(name), std::string(value_));
      }
    }
    if (!found && creates() && (is_last(level) || change_ == JsonbChange::kAssign)) {
      object.add(std::string(*path_[level]), missing_rest(level + 1));
    }
    object.append_to(out);
  }

  void change_array(std::string_view target, std::size_t level, std::string& out) {
    const auto count = static_cast<std::int32_t>(json_count(target));
    const std::int32_t wanted = wanted_index(level, count);
    JsonbArray array(out);
    bool done = level >= path_.size();
    if (!done && is_last(level) && creates() && (wanted == kFront || count == 0)) {
      if (change_ == JsonbChange::kAssign) fill(array, wanted);
      array.add(value_);
      done = true;
    }
    std::int32_t index = 0;
    for (JsonReader reader(target); reader.next(); ++index) {
      if (done || index != wanted) {
        array.add(reader.value());
        continue;
      }
      done = true;
      if (!is_last(level)) {
        std::string changed;
        apply(reader.value(), level + 1, changed);
        array.add(changed);
        continue;
      }
      if (change_ == JsonbChange::kInsertAfter) array.add(reader.value());
      if (change_ != JsonbChange::kDelete) array.add(value_);
      if (change_ == JsonbChange::kInsertBefore) array.add(reader.value());
    }
    if (!done && creates() && (is_last(level) || change_ == JsonbChange::kAssign)) {
      if (change_ == JsonbChange::kAssign) fill(array, wanted - count);
      array.add(missing_rest(level + 1));
    }
    array.finish();
  }

  std::int32_t wanted_index(std::size_t level, std::int32_t count) const {
    if (level >= path_.size()) return count;
    const std::optional<std::int32_t> step = json_index(*path_[level]);
    if (!step) {
      throw SqlError(sqlstate::kInvalidTextRepresentation,
                     fmt::format("path element at position {} is not an integer: \"{}\"", level + 1, *path_[level]));
    }
    if (*step < 0 && *step < -count) {
      if (change_ != JsonbChange::kAssign) return kFront;
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("path element at position {} is out of range: {}", level + 1, *step));
    }
    const std::int32_t index = *step < 0 ? count + *step : *step;
    return change_ == JsonbChange::kAssign ? index : std::min(index, count);
  }

  static void fill(JsonbArray& array, std::int32_t nulls) {
    if (nulls > kLongestFill) {
      throw SqlError(sqlstate::kProgramLimitExceeded, "total size of jsonb array elements exceeds the maximum of 268435455 bytes");
    }
    for (std::int32_t i = 0; i < nulls; ++i) array.add("null");
  }

  /// The new value inside of the objects and arrays that the rest of the path asks for.
  std::string missing_rest(std::size_t level) const {
    check_stack_depth();
    if (level >= path_.size()) return std::string(value_);
    if (!path_[level]) throw SqlError(sqlstate::kNullValueNotAllowed, fmt::format("path element at position {} is null", level + 1));
    std::string out;
    if (const std::optional<std::int32_t> index = json_index(*path_[level])) {
      JsonbArray array(out);
      fill(array, *index);
      array.add(missing_rest(level + 1));
      array.finish();
    } else {
      JsonbObject object;
      object.add(std::string(*path_[level]), missing_rest(level + 1));
      object.append_to(out);
    }
    return out;
  }

  JsonSteps path_;
  std::string_view value_;
  JsonbChange change_;
};

std::string_view operation(JsonbChange change) { return change == JsonbChange::kDelete ? "delete" : "set"; }

}  // namespace

std::optional<std::int32_t> json_index(std::string_view step) {
  while (!step.empty() && (step[0] == ' ' || (step[0] >= '\t' && step[0] <= '\r'))) step.remove_prefix(1);
  if (step.starts_with('+') && !step.starts_with("+-")) step.remove_prefix(1);
  std::int32_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size()) return std::nullopt;
  return index;
}

std::optional<std::string_view> json_at(std::string_view value, JsonSteps path) {
  for (const auto& step : path) {
    if (!step) return std::nullopt;
    if (!is_json_container(value)) return std::nullopt;
    if (value[0] == '{') {
      value = member_of(value, *step);
    } else {
      const std::optional<std::int32_t> index = json_index(*step);
      if (!index) return std::nullopt;
      value = jsonb_element(value, *index);
    }
    if (value.empty()) return std::nullopt;
  }
  return value;
}

std::string change_jsonb(std::string_view target, JsonSteps path, std::string_view value, JsonbChange change) {
  if (!is_json_container(target) && change == JsonbChange::kAssign) {
    if (!path.empty()) Changer::refuse_scalar();
  } else if (!is_json_container(target)) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("cannot {} path in scalar", operation(change)));
  }
  if (path.empty()) return std::string(target);
  const bool only_changes = change == JsonbChange::kReplace || change == JsonbChange::kDelete;
  if (only_changes && json_count(target) == 0) return std::string(target);
  std::string out;
  Changer(path, value, change).apply(target, 0, out);
  return out;
}

}  // namespace redquel::sql
