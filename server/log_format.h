#pragma once

#include <memory>

#include <spdlog/formatter.h>

namespace redquel::server {

/// Returns the form of redquel's log lines. Control characters of a message are written \xHH: what a client sends makes no second line and
/// moves no cursor.
std::unique_ptr<spdlog::formatter> log_format();

}  // namespace redquel::server
