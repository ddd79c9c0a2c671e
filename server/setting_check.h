#pragma once

#include <string>
#include <vector>

#include "executor/engine/engine.h"

namespace redquel::server {

/// Checks the values of a parameter as SET does and returns name=value, for ALTER ROLE … SET. `is_text`: the one value is as SHOW prints it.
std::string checked_setting(const executor::SessionState& session, const std::string& name, const std::vector<std::string>& values, bool is_text);

}  // namespace redquel::server
