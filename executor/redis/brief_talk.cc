#include "executor/redis/brief_talk.h"

#include <array>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <string>

#include "executor/redis/resp_codec.h"
#include "executor/redis/tls_handshake.h"
#include "executor/tls/tls_session.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kTalkInput = 4096;

void feed(ReplyDecoder& decoder, std::optional<TlsSession>& tls, std::string_view bytes) {
  if (!tls) return decoder.feed(bytes);
  tls->feed(bytes);
  std::array<char, kTalkInput> plain;
  while (tls->has_input()) {
    const std::size_t count = tls->decrypt(plain);
    if (count == 0) break;
    decoder.feed(std::string_view(plain.data(), count));
  }
}

}  // namespace

asio::awaitable<std::shared_ptr<Replies>> talk_briefly(RedisSocket& socket, TcpPlace place, TlsContextPtr context, CommandBatch commands,
                                                       std::size_t most_bytes) {
  RedisUrl url;
  url.place = place;
  const boost::system::error_code failure = co_await connect_socket(socket, std::move(url));
  if (failure) throw std::runtime_error(failure.message());
  std::optional<TlsSession> tls;
  if (context) {
    tls.emplace(context, place.host);
    const TlsHandshakeResult handshake = co_await shake_tls_hands(socket, *tls, place.address());
    if (handshake.error) throw std::runtime_error(handshake.error->message());
  }
  const std::string bytes = tls ? tls->encrypted(commands.bytes()) : std::string(commands.bytes());
  co_await asio::async_write(socket, asio::buffer(bytes), asio::use_awaitable);
  ReplyDecoder decoder(most_bytes);
  auto replies = std::make_shared<Replies>();
  replies->set_names(commands.names());
  std::array<char, kTalkInput> input;
  std::size_t received = 0;
  while (replies->size() < commands.size() && received < 2 * most_bytes) {
    const std::size_t count = co_await socket.async_read_some(asio::buffer(input), asio::use_awaitable);
    received += count;
    feed(decoder, tls, std::string_view(input.data(), count));
    while (replies->size() < commands.size() && decoder.next(*replies)) continue;
  }
  co_return replies;
}

}  // namespace redquel::executor
