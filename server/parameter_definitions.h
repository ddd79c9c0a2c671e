#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "executor/engine/engine.h"

namespace redquel::server {

enum class ParameterKind : std::uint8_t { kBoolean, kInteger, kReal, kString, kEnumeration };
/// The means that may change it: none, the start of the server, a reload of its configuration, sessions of superusers, or any session.
enum class ParameterContext : std::uint8_t { kInternal, kStart, kReload, kSuperuser, kUser };
enum class ParameterUnit : std::uint8_t { kNone, kBytes, kKilobytes, kPages, kMilliseconds, kSeconds };

/// The special traits of a parameter; most have few.
struct ParameterTraits {
  ParameterUnit unit = ParameterUnit::kNone;
  double minimum = 0, maximum = 0;  // of kInteger and kReal
  std::string_view choices;         // of kEnumeration, comma-separated
  bool reported = false;            // the client hears of changes (ParameterStatus)
  bool list = false;                // SET takes several values
  bool quoted_list = false;         // whose elements are identifiers
  bool hidden = false;              // not in SHOW ALL
  /// Canonical form of a value; throws SqlError where PostgreSQL would, or 0A000 for what redquel cannot honour.
  std::string (*check)(const struct ParameterDefinition& definition, std::string value,
                       const executor::SessionState& session) = nullptr;
  /// Lets the session behave by the (checked) value.
  void (*apply)(const std::string& value, executor::SessionState& session) = nullptr;
};

/// One row of the table of run-time parameters (PostgreSQL's manual, chapter 20).
struct ParameterDefinition {
  std::string_view name;  // as SHOW ALL spells it; looked up in any letter case
  ParameterKind kind;
  ParameterContext context;
  std::string_view initial;  // in the base unit
  std::string_view description;
  ParameterTraits traits = {};
};

/// All of them, in PostgreSQL's order (by lower-case name).
std::span<const ParameterDefinition> parameter_definitions();
/// In any letter case, old spellings included; nullptr if there is none.
const ParameterDefinition* find_parameter(std::string_view name);

}  // namespace redquel::server
