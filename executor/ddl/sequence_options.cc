#include "executor/ddl/sequence_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "planner/bind/bind_type.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

std::int64_t integer_of(const ast::Option& option) {
  if (const auto* integer = std::get_if<std::int64_t>(&option.value)) return *integer;
  std::int64_t value = 0;
  std::string_view text;
  if (const auto* number = std::get_if<ast::NumberText>(&option.value)) text = number->text;
  if (const auto* string = std::get_if<std::string>(&option.value)) text = *string;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid input syntax for type bigint: \"{}\"", text));
  }
  return value;
}

/// NO MINVALUE and the like come without a value.
bool is_none(const ast::Option& option) { return std::holds_alternative<std::monostate>(option.value); }

struct Bounds {
  std::int64_t low, high;
};

Bounds bounds_of(sql::Type type) {
  switch (type.oid) {
    case sql::oid::kInt2:
      return {std::numeric_limits<std::int16_t>::min(), std::numeric_limits<std::int16_t>::max()};
    case sql::oid::kInt4:
      return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    default:
      return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
  }
}

void check(const sql::SequenceDef& s, std::optional<std::int64_t> restart) {
  const Bounds bounds = bounds_of(s.type);
  const std::string type_name = sql::format_type(s.type);
  if (s.maximum > bounds.high || s.maximum < bounds.low) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("MAXVALUE ({}) is out of range for sequence data type {}", s.maximum, type_name));
  }
  if (s.minimum > bounds.high || s.minimum < bounds.low) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("MINVALUE ({}) is out of range for sequence data type {}", s.minimum, type_name));
  }
  if (s.minimum >= s.maximum) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("MINVALUE ({}) must be less than MAXVALUE ({})", s.minimum, s.maximum));
  }
  if (s.start < s.minimum) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("START value ({}) cannot be less than MINVALUE ({})", s.start, s.minimum));
  }
  if (s.start > s.maximum) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("START value ({}) cannot be greater than MAXVALUE ({})", s.start, s.maximum));
  }
  if (restart && *restart < s.minimum) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("RESTART value ({}) cannot be less than MINVALUE ({})", *restart, s.minimum));
  }
  if (restart && *restart > s.maximum) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("RESTART value ({}) cannot be greater than MAXVALUE ({})", *restart, s.maximum));
  }
}

/// Bounds that were the old type's become the new one's.
void follow_type(sql::SequenceDef& sequence, sql::Type type) {
  const Bounds before = bounds_of(sequence.type), now = bounds_of(type);
  if (sequence.maximum == before.high) sequence.maximum = now.high;
  if (sequence.minimum == before.low) sequence.minimum = now.low;
  sequence.type = type;
}

}  // namespace

void change_sequence_type(sql::SequenceDef& sequence, sql::Type type) {
  follow_type(sequence, type);
  check(sequence, std::nullopt);
}

SequenceOptions apply_sequence_options(const std::vector<ast::Option>& options, bool is_new, sql::SequenceDef& sequence) {
  SequenceOptions result;
  std::set<std::string> seen;
  const ast::Option* start = nullptr;
  const ast::Option* minimum = nullptr;
  const ast::Option* maximum = nullptr;
  for (const ast::Option& option : options) {
    if (!seen.insert(option.name).second) throw sql::conflicting_options().at(option.offset);
    if (option.name == "as") {
      const sql::Type type = planner::bind_type(std::get<ast::TypeName>(option.value), {}, {});  // built-in ones alone are possible
      if (type.oid != sql::oid::kInt2 && type.oid != sql::oid::kInt4 && type.oid != sql::oid::kInt8) {
        throw SqlError(sqlstate::kInvalidParameterValue, "sequence type must be smallint, integer, or bigint");
      }
      if (is_new) {
        sequence.type = type;
      } else {
        follow_type(sequence, type);
      }
    } else if (option.name == "increment") {
      sequence.increment = integer_of(option);
      if (sequence.increment == 0) throw SqlError(sqlstate::kInvalidParameterValue, "INCREMENT must not be zero");
    } else if (option.name == "start") {
      start = &option;
    } else if (option.name == "minvalue") {
      minimum = &option;
    } else if (option.name == "maxvalue") {
      maximum = &option;
    } else if (option.name == "cache") {
      sequence.cache = integer_of(option);
      if (sequence.cache <= 0) {
        throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("CACHE ({}) must be greater than zero", sequence.cache));
      }
    } else if (option.name == "cycle") {
      const auto* flag = std::get_if<bool>(&option.value);
      const auto* number = std::get_if<std::int64_t>(&option.value);
      sequence.cycle = flag != nullptr ? *flag : number == nullptr || *number != 0;
    } else if (option.name == "restart") {
      if (is_none(option)) {
        result.restart_at_start = true;
      } else {
        result.restart = integer_of(option);
      }
    } else if (option.name == "owned_by") {
      if (const auto* names = std::get_if<std::vector<std::string>>(&option.value)) result.owner = *names;
    } else if (option.name == "sequence_name") {
      if (const auto* names = std::get_if<std::vector<std::string>>(&option.value)) result.name = names->back();
    } else if (option.name != "generated") {
      throw sql::not_supported("sequence option " + option.name, option.offset);
    }
  }
  const Bounds bounds = bounds_of(sequence.type);
  const bool ascending = sequence.increment > 0;
  if (maximum != nullptr && !is_none(*maximum)) {
    sequence.maximum = integer_of(*maximum);
  } else if (is_new || maximum != nullptr) {
    sequence.maximum = ascending ? bounds.high : -1;
  }
  if (minimum != nullptr && !is_none(*minimum)) {
    sequence.minimum = integer_of(*minimum);
  } else if (is_new || minimum != nullptr) {
    sequence.minimum = ascending ? 1 : bounds.low;
  }
  if (start != nullptr) {
    sequence.start = integer_of(*start);
  } else if (is_new) {
    sequence.start = ascending ? sequence.minimum : sequence.maximum;
  }
  // The caller increments the restart counter after the restart.
  const auto is_change = [](const std::string& option) { return option != "restart" && option != "generated" && option != "owned_by"; };
  if (!is_new && std::ranges::any_of(seen, is_change)) ++sequence.changes;
  if (result.restart_at_start) result.restart = sequence.start;
  check(sequence, result.restart);
  return result;
}

}  // namespace redquel::executor
