// Startup packets of any bytes: a packet or a SqlError, nothing else.

#include "server/startup_packet.h"

#include <cstdlib>

#include "sql/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redquel;
  if (size < 4 || size > server::kStartupPacketLimit) return 0;
  try {
    const server::StartupPacket packet = server::decode_startup_packet({reinterpret_cast<const char*>(data), size});
    const auto* message = std::get_if<server::StartupMessage>(&packet);
    if (message != nullptr && (message->user.empty() || message->user.find('\0') != std::string::npos)) std::abort();
  } catch (const sql::SqlError& error) {
    if (error.sqlstate().size() != 5) std::abort();
  }
  return 0;
}
