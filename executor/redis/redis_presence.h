#pragma once

#include <string>
#include <string_view>

namespace redquel::executor {

// One line in the log when Redis goes away and one when it is back, however many connections of however many threads notice it.

/// A connection was lost, or could not be made.
void note_redis_gone(const std::string& address, std::string_view reason);
/// A connection was made.
void note_redis_there(const std::string& address);

}  // namespace redquel::executor
