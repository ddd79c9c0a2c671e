#pragma once

#include <span>
#include <string>
#include <string_view>

namespace redquel::executor {

/// Returns the effects of a program as apply_commit.lua reads them, packed: counters, commands, and the sets and zsets that may be empty
/// afterwards. Throws std::invalid_argument for steps that have no such form.
std::string prepared_record(std::span<const std::string_view> program);

}  // namespace redquel::executor
