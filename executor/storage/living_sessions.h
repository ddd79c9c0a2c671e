#pragma once

#include <string_view>

namespace redquel::executor {

/// Begins scripts that look at locks: `call`, and `is_alive(token)`, which asks once for each process whether it still renews its lease.
inline constexpr std::string_view kLivingSessions = R"lua(
local call = redis.call
local living = {}
local function is_alive(of)
  local process = string.sub(of, 1, 16)
  if living[process] == nil then living[process] = call('EXISTS', 'redquel:process:' .. process) == 1 end
  return living[process]
end
)lua";

}  // namespace redquel::executor
