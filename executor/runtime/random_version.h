#pragma once

#include <string>

namespace redquel::executor {

/// 64 random bits as 16 hex digits. Versions are no counts: after a failover a count could return to a value it had before, with
/// another meaning.
std::string random_version();

}  // namespace redquel::executor
