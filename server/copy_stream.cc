#include "server/copy_stream.h"

#include <fmt/format.h>

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include "executor/statements/copy_execution.h"
#include "sql/sqlstate.h"

namespace redquel::server {

bool Session::CopyStream::set_encoding(std::string_view name) {
  const sql::EncodingInfo* encoding = sql::find_client_encoding(name.empty() ? std::string_view(session_.encoding_name_) : name);
  if (encoding == nullptr) return false;
  converter_ = sql::EncodingConverter::make(*encoding);
  return true;
}

void Session::CopyStream::begin(char type, bool binary, std::size_t columns) {
  MessageEncoder& encoder = session_.encoder_;
  encoder.begin_message(type);
  encoder.put_uint8(binary ? 1 : 0);
  encoder.put_uint16(static_cast<std::uint16_t>(columns));
  for (std::size_t i = 0; i < columns; ++i) encoder.put_uint16(binary ? 1 : 0);
  encoder.end_message();
}

void Session::CopyStream::begin_in(bool binary, std::size_t columns) {
  held_.resize(0);
  begin('G', binary, columns);
  session_.message_.has_unsent_error = true;  // as an error, it must leave before the session waits
}

asio::awaitable<std::optional<std::string_view>> Session::CopyStream::read() {
  sql::HeldBytes held(std::move(held_));  // given back unless more data come
  while (true) {
    const std::optional<RawMessage> message = session_.decoder_.next();
    if (!message) {
      co_await read_more();
      continue;
    }
    switch (message->type) {
      case 'd':
        if (message->dropped > 0) {
          throw sql::SqlError(sqlstate::kProgramLimitExceeded, fmt::format("a message of {} bytes is too long", message->dropped));
        }
        if (message->body.empty()) continue;
        held_ = std::move(held);
        co_return message->body;
      case 'c':
        co_return std::nullopt;
      case 'f': {
        const std::string_view reason = message->body.substr(0, message->body.find('\0'));
        throw sql::SqlError(sqlstate::kQueryCanceled, fmt::format("COPY from stdin failed: {}", session_.from_client(reason)));
      }
      case 'H':
      case 'S':
        continue;  // clients that always send them need not know that this is a COPY
      default:
        refuse(message->type);
    }
  }
}

asio::awaitable<void> Session::CopyStream::read_more() {
  // A cancellation ends the wait: the client may never send another byte.
  session_.running_.waits_for_data = true;
  co_await session_.read_more();
  session_.running_.waits_for_data = false;
  if (session_.running_.cancel_reason != CancelReason::kNone) throw boost::system::system_error(asio::error::operation_aborted);
  if (session_.end_.is_terminating) session_.cancel(CancelReason::kShutdown);
}

/// Refuses another message between the data: the client's state is unknown.
void Session::CopyStream::refuse(char type) {
  const sql::SqlError error(sqlstate::kProtocolViolation, fmt::format("unexpected message type 0x{:02X} during COPY from stdin",
                                                                      static_cast<unsigned>(static_cast<unsigned char>(type))));
  session_.encoder_.error_response({"ERROR", &error, 0, session_.message_.error_context});
  throw ProtocolViolation("terminating connection because protocol synchronization was lost");
}

void Session::CopyStream::write(std::string_view bytes) {
  session_.encoder_.begin_message('d');
  session_.encoder_.buffer().append(bytes);
  session_.encoder_.end_message();
}

bool Session::CopyStream::is_full() const { return session_.encoder_.size() >= kFlushBytes; }

void Session::CopyStream::end_out() {
  session_.encoder_.begin_message('c');
  session_.encoder_.end_message();
}

void Session::attach_copy_stream(Portal& portal) {
  if (!std::holds_alternative<parser::ast::Copy>(portal.statement->statement->node)) return;
  executor::attach_copy_channel(*portal.execution, *copy_stream_);
}

}  // namespace redquel::server
