#include "server/parameter_values.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "server/ascii.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

/// A spelling of a unit and how many base units it is.
struct UnitSpelling {
  std::string_view text;
  double factor;
};

struct Unit {
  std::string_view name;                    // of the base unit, in messages
  std::span<const UnitSpelling> spellings;  // largest first
  std::string_view hint;
};

constexpr std::string_view kMemoryHint = R"(Valid units for this parameter are "B", "kB", "MB", "GB", and "TB".)";
constexpr std::string_view kTimeHint = R"(Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".)";
constexpr double kKilo = 1024;

constexpr UnitSpelling kBytesSpellings[] = {
    {"TB", kKilo* kKilo* kKilo* kKilo}, {"GB", kKilo* kKilo* kKilo}, {"MB", kKilo* kKilo}, {"kB", kKilo}, {"B", 1}};
constexpr UnitSpelling kKilobyteSpellings[] = {
    {"TB", kKilo* kKilo* kKilo}, {"GB", kKilo* kKilo}, {"MB", kKilo}, {"kB", 1}, {"B", 1 / kKilo}};
constexpr UnitSpelling kPageSpellings[] = {{"TB", kKilo* kKilo* kKilo / 8},
                                           {"GB", kKilo* kKilo / 8},
                                           {"MB", kKilo / 8},
                                           {"kB", 1.0 / 8},
                                           {"B", 1 / (8 * kKilo)}};
constexpr UnitSpelling kMillisecondSpellings[] = {{"d", 86400000}, {"h", 3600000}, {"min", 60000},
                                                  {"s", 1000},     {"ms", 1},      {"us", 0.001}};
constexpr UnitSpelling kSecondSpellings[] = {{"d", 86400}, {"h", 3600},   {"min", 60},
                                             {"s", 1},     {"ms", 0.001}, {"us", 0.000001}};

Unit unit_of(const ParameterDefinition& definition) {
  switch (definition.traits.unit) {
    case ParameterUnit::kNone:
      return {};
    case ParameterUnit::kBytes:
      return {"B", kBytesSpellings, kMemoryHint};
    case ParameterUnit::kKilobytes:
      return {"kB", kKilobyteSpellings, kMemoryHint};
    case ParameterUnit::kPages:
      return {"8kB", kPageSpellings, kMemoryHint};
    case ParameterUnit::kMilliseconds:
      return {"ms", kMillisecondSpellings, kTimeHint};
    case ParameterUnit::kSeconds:
      return {"s", kSecondSpellings, kTimeHint};
  }
  return {};
}

/// Any unambiguous beginning of true, false, yes, no, on, off, or 1, 0.
std::optional<bool> parse_boolean(std::string_view text) {
  struct Word {
    std::string_view text;
    std::size_t shortest;
    bool value;
  };
  static constexpr Word kWords[] = {{"true", 1, true}, {"false", 1, false}, {"yes", 1, true}, {"no", 1, false},
                                    {"on", 2, true},   {"off", 2, false},   {"1", 1, true},   {"0", 1, false}};
  for (const Word& word : kWords) {
    if (text.size() >= word.shortest && text.size() <= word.text.size() &&
        equal_ignoring_case(word.text.substr(0, text.size()), text)) {
      return word.value;
    }
  }
  return std::nullopt;
}

/// A number with an optional unit, in base units; nullopt where it is none. `bad_unit` says that only the unit is
/// wrong.
std::optional<double> parse_number(const ParameterDefinition& definition, std::string_view text, bool& bad_unit) {
  const std::string copy(trimmed(text));
  if (copy.empty() || copy.size() > 100) return std::nullopt;
  // strtod takes hexadecimal too, as PostgreSQL does; what it takes beyond that is refused here.
  const char first = copy[copy.find_first_not_of("+-") == std::string::npos ? 0 : copy.find_first_not_of("+-")];
  if (!(first >= '0' && first <= '9') && first != '.') return std::nullopt;
  char* end = nullptr;
  double value = 0;
  const bool octal = definition.kind == ParameterKind::kInteger && first == '0' &&
                     copy.find_first_not_of("+-01234567") == std::string::npos;
  if (octal) {
    value = static_cast<double>(std::strtoll(copy.c_str(), &end, 8));
  } else {
    value = std::strtod(copy.c_str(), &end);
  }
  if (end == copy.c_str() || !std::isfinite(value)) return std::nullopt;
  const std::string_view unit_text = trimmed(std::string_view(end));
  if (unit_text.empty()) return value;
  const Unit unit = unit_of(definition);
  for (const UnitSpelling& spelling : unit.spellings) {
    if (spelling.text == unit_text) return value * spelling.factor;
  }
  bad_unit = !unit.spellings.empty();
  return std::nullopt;
}

std::string real_text(double value) { return fmt::format("{:g}", value); }

std::string parse_numeric_value(const ParameterDefinition& definition, std::string_view text) {
  bool bad_unit = false;
  const std::optional<double> parsed = parse_number(definition, text, bad_unit);
  if (!parsed) {
    sql::SqlError error = invalid_parameter_value(definition.name, text);
    if (bad_unit) throw std::move(error).hint(std::string(unit_of(definition).hint));
    throw error;
  }
  double value = *parsed;
  if (definition.kind == ParameterKind::kInteger) {
    value = std::rint(value);
    if (value > std::numeric_limits<std::int32_t>::max() || value < std::numeric_limits<std::int32_t>::min()) {
      throw invalid_parameter_value(definition.name, text).hint("Value exceeds integer range.");
    }
  }
  std::string stored =
      definition.kind == ParameterKind::kInteger ? fmt::format("{:.0f}", value + 0.0) : real_text(value);
  if (value < definition.traits.minimum || value > definition.traits.maximum) throw parameter_out_of_range(definition, stored);
  return stored;
}

std::string parse_choice(const ParameterDefinition& definition, std::string_view text) {
  std::string_view rest = definition.traits.choices;
  std::string listed;
  bool has_on = false;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view choice = rest.substr(0, comma);
    if (equal_ignoring_case(choice, text)) return std::string(choice);
    has_on = has_on || choice == "on";
    listed.append(listed.empty() ? "" : ", ").append(choice);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  // Words that PostgreSQL takes but does not list.
  if (definition.name == "client_min_messages" && equal_ignoring_case(text, "info")) return "info";
  if (definition.name == "client_min_messages" && equal_ignoring_case(text, "debug")) return "debug2";
  if (has_on) {
    if (const std::optional<bool> boolean = parse_boolean(text)) return *boolean ? "on" : "off";
  }
  throw invalid_parameter_value(definition.name, text).hint(fmt::format("Available values: {}.", listed));
}

/// In the largest unit that makes it whole, else in the smallest.
std::string show_real_with_unit(const Unit& unit, const std::string& stored) {
  const double value = std::strtod(stored.c_str(), nullptr);
  if (value <= 0) return stored;
  for (const UnitSpelling& spelling : unit.spellings) {
    const double amount = value / spelling.factor;
    const bool is_whole = amount > 0 && std::fabs(std::rint(amount) / amount - 1) <= 1e-8;
    if (is_whole || &spelling == &unit.spellings.back()) return real_text(is_whole ? std::rint(amount) : amount) + std::string(spelling.text);
  }
  return stored;
}

}  // namespace

sql::SqlError parameter_out_of_range(const ParameterDefinition& definition, std::string_view value) {
  const Unit unit = unit_of(definition);
  const auto bound = [&](double number) {
    return definition.kind == ParameterKind::kInteger ? fmt::format("{:.0f}", number) : real_text(number);
  };
  return sql::SqlError(sqlstate::kInvalidParameterValue,
                       fmt::format("{}{}{} is outside the valid range for parameter \"{}\" ({} .. {})", value, unit.name.empty() ? "" : " ",
                                   unit.name, definition.name, bound(definition.traits.minimum), bound(definition.traits.maximum)));
}

sql::SqlError invalid_parameter_value(std::string_view name, std::string_view value) {
  return sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid value for parameter \"{}\": \"{}\"", name, value));
}

std::string parse_parameter_value(const ParameterDefinition& definition, std::string_view text) {
  switch (definition.kind) {
    case ParameterKind::kBoolean: {
      const std::optional<bool> value = parse_boolean(text);
      if (!value) {
        throw sql::SqlError(sqlstate::kInvalidParameterValue, fmt::format("parameter \"{}\" requires a Boolean value", definition.name));
      }
      return *value ? "on" : "off";
    }
    case ParameterKind::kInteger:
    case ParameterKind::kReal:
      return parse_numeric_value(definition, text);
    case ParameterKind::kEnumeration:
      return parse_choice(definition, text);
    case ParameterKind::kString:
      return std::string(text);
  }
  return std::string(text);
}

std::string show_parameter_value(const ParameterDefinition& definition, const std::string& stored) {
  const Unit unit = unit_of(definition);
  if (unit.spellings.empty()) return stored;
  if (definition.kind == ParameterKind::kReal) return show_real_with_unit(unit, stored);
  if (definition.kind != ParameterKind::kInteger) return stored;
  std::int64_t value = 0;
  std::from_chars(stored.data(), stored.data() + stored.size(), value);
  if (value <= 0) return stored;
  for (const UnitSpelling& spelling : unit.spellings) {
    if (spelling.factor >= 1) {
      const auto factor = static_cast<std::int64_t>(spelling.factor);
      if (value % factor == 0) return fmt::format("{}{}", value / factor, spelling.text);
    } else if (definition.traits.unit == ParameterUnit::kPages && spelling.text == "kB") {
      return fmt::format("{}{}", value * 8, spelling.text);
    }
  }
  return fmt::format("{}{}", stored, unit.name);
}

}  // namespace redquel::server
