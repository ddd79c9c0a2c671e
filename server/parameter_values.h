#pragma once

#include <string>
#include <string_view>

#include "server/parameter_definitions.h"

namespace redquel::server {

/// A value of SET, of a startup packet or of the configuration in its stored form: booleans as on and off, integers in
/// the base unit ("64MB" of a kB parameter is 65536), enumerations in their own spelling. Range included, `check` not.
/// Throws 22023 in PostgreSQL's words.
std::string parse_parameter_value(const ParameterDefinition& definition, std::string_view text);

/// A stored value as SHOW prints it: integers in the largest unit that divides them.
std::string show_parameter_value(const ParameterDefinition& definition, const std::string& stored);

/// 22023 `4 kB is outside the valid range for parameter "x" (64 .. 2147483647)`, the bounds being those of the definition.
sql::SqlError parameter_out_of_range(const ParameterDefinition& definition, std::string_view value);

/// 22023 `invalid value for parameter "x": "y"`.
sql::SqlError invalid_parameter_value(std::string_view name, std::string_view value);

}  // namespace redquel::server
