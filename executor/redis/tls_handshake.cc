#include "executor/redis/tls_handshake.h"

#include <fmt/format.h>

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "executor/redis/redis_error.h"

namespace redquel::executor {

asio::awaitable<TlsHandshakeResult> shake_tls_hands(RedisSocket& socket, TlsSession& session, std::string address) {
  std::array<char, 4096> input;
  boost::system::error_code error;
  TlsHandshakeResult result;
  bool is_done = false;
  while (!error && !result.error && !is_done) {
    try {
      is_done = session.shake_hands();
    } catch (const TlsError& refusal) {
      const std::string reason = fmt::format("TLS: {}", refusal.what());
      result.is_lasting = refusal.is_distrust();
      result.error = result.is_lasting ? certificate_refused(address, reason) : connection_failed(address, reason);
    }
    const std::string output(session.output());  // after a failure, an alert
    session.clear_output();
    if (!output.empty()) co_await asio::async_write(socket, asio::buffer(output), asio::redirect_error(asio::use_awaitable, error));
    if (error || result.error || is_done) break;
    const std::size_t received = co_await socket.async_read_some(asio::buffer(input), asio::redirect_error(asio::use_awaitable, error));
    session.feed({input.data(), received});
  }
  const bool timed_out = error == asio::error::operation_aborted || error == asio::error::bad_descriptor;
  if (error && !result.error) result.error = connection_failed(address, timed_out ? std::string(kTlsTimeout) : "TLS: " + error.message());
  co_return result;
}

}  // namespace redquel::executor
