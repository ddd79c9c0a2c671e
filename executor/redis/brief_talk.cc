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

asio::awaitable<void> NodeTalk::open(TcpPlace place, TlsContextPtr tls) {
  RedisUrl url;
  url.place = place;
  const boost::system::error_code failure = co_await connect_socket(socket_, std::move(url));
  if (failure) throw std::runtime_error(failure.message());
  if (!tls) co_return;
  tls_.emplace(tls, place.host);
  const TlsHandshakeResult handshake = co_await shake_tls_hands(socket_, *tls_, place.address());
  if (handshake.error) throw std::runtime_error(handshake.error->message());
}

asio::awaitable<std::shared_ptr<Replies>> NodeTalk::ask(CommandBatch commands, std::size_t most_bytes) {
  const std::string bytes = tls_ ? tls_->encrypted(commands.bytes()) : std::string(commands.bytes());
  co_await asio::async_write(socket_, asio::buffer(bytes), asio::use_awaitable);
  ReplyDecoder decoder(most_bytes);
  auto replies = std::make_shared<Replies>();
  replies->set_names(commands.names());
  std::array<char, kTalkInput> input;
  std::size_t received = 0;
  while (replies->size() < commands.size() && received < 2 * most_bytes) {
    const std::size_t count = co_await socket_.async_read_some(asio::buffer(input), asio::use_awaitable);
    received += count;
    feed(decoder, tls_, std::string_view(input.data(), count));
    while (replies->size() < commands.size() && decoder.next(*replies)) continue;
  }
  co_return replies;
}

asio::awaitable<std::shared_ptr<Replies>> talk_briefly(RedisSocket& socket, TcpPlace place, TlsContextPtr tls, CommandBatch commands,
                                                       std::size_t most_bytes) {
  NodeTalk talk(socket);
  co_await talk.open(std::move(place), std::move(tls));
  co_return co_await talk.ask(std::move(commands), most_bytes);
}

}  // namespace redquel::executor
