#pragma once

#include <boost/asio/awaitable.hpp>
#include <vector>

namespace redquel::executor {

/// Runs the steps side by side on the caller's event loop, and waits for all of them, also if one fails or the caller is cancelled. Commands
/// that they send before they wait leave in one write. Throws the failure of the first step that has failed, in the order of the steps.
boost::asio::awaitable<void> run_side_by_side(std::vector<boost::asio::awaitable<void>> steps);

}  // namespace redquel::executor
