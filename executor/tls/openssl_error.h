#pragma once

#include <openssl/err.h>

#include <string>
#include <system_error>

namespace redquel::executor {

/// Returns the reason of the oldest error in OpenSSL's queue of this thread, and empties the queue.
inline std::string take_openssl_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  if (ERR_SYSTEM_ERROR(code)) return std::generic_category().message(ERR_GET_REASON(code));
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : "OpenSSL error " + std::to_string(code);
}

}  // namespace redquel::executor
