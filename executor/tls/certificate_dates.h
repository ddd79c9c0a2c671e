#pragma once

#include <chrono>

#include "executor/tls/tls_context.h"

namespace redquel::executor {

/// Returns the end of the validity of a server's own certificate.
std::chrono::system_clock::time_point certificate_end(const TlsContext& server);

}  // namespace redquel::executor
