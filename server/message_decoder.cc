#include "server/message_decoder.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "server/body_reader.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

/// Thousands of idle clients have one each; a client that sends more gets a larger one.
constexpr std::size_t kInitialCapacity = 2 * 1024;
/// A buffer beyond it is given back once it is empty.
constexpr std::size_t kKeptCapacity = 256 * 1024;
/// The limit of messages that carry names and numbers only (PostgreSQL's PQ_SMALL_MESSAGE_LIMIT).
constexpr std::size_t kSmallMessageLimit = 10000;
/// The limit of the others (PQ_LARGE_MESSAGE_LIMIT).
constexpr std::size_t kLargeMessageLimit = 0x3ffffffe;

/// Bytes that a body of this type may have; nullopt: there is no such message.
std::optional<std::size_t> body_limit(char type, std::size_t message_limit) {
  switch (type) {
    case 'Q':
    case 'P':
    case 'B':
    case 'F':
    case 'd':
      return message_limit;
    case 'D':
    case 'E':
    case 'C':
    case 'H':
    case 'S':
    case 'X':
    case 'c':
    case 'f':
      return std::min(kSmallMessageLimit, message_limit);
    default:
      return std::nullopt;
  }
}

ColumnFormats read_formats(BodyReader& reader) {
  const std::size_t count = reader.count(2);
  ColumnFormats formats(count);
  for (std::int16_t& format : formats) format = static_cast<std::int16_t>(reader.uint16());
  return formats;
}

DescribeTarget read_target(BodyReader& reader, std::string_view message) {
  const char kind = reader.byte();
  if (kind == 'S') return DescribeTarget::kStatement;
  if (kind == 'P') return DescribeTarget::kPortal;
  throw sql::SqlError(sqlstate::kProtocolViolation, fmt::format("invalid {} message subtype {}", message, static_cast<int>(kind)));
}

ParseMessage decode_parse(BodyReader& reader) {
  ParseMessage message;
  message.statement = reader.text();
  message.text = reader.text();
  const std::size_t count = reader.count(4);
  message.parameter_types.resize(count);
  for (sql::Oid& type : message.parameter_types) type = reader.uint32();
  reader.end();
  return message;
}

BindMessage decode_bind(BodyReader& reader) {
  BindMessage message;
  message.portal = reader.text();
  message.statement = reader.text();
  message.parameter_formats = read_formats(reader);
  const std::size_t count = reader.count(4);
  message.parameters.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto length = static_cast<std::int32_t>(reader.uint32());
    if (length == -1) {
      message.parameters.emplace_back();
    } else if (length < 0) {
      throw insufficient_data();
    } else {
      message.parameters.emplace_back(reader.bytes(static_cast<std::size_t>(length)));
    }
  }
  message.result_formats = read_formats(reader);
  reader.end();
  return message;
}

}  // namespace

MessageDecoder::MessageDecoder(std::size_t message_limit, sql::HeldBytes held) : message_limit_(message_limit), held_(std::move(held)) {}

std::span<char> MessageDecoder::room() {
  const std::size_t unread = end_ - begin_;
  if (unread == 0) {
    begin_ = end_ = 0;
    if (capacity_ > kKeptCapacity) {
      buffer_.reset();
      capacity_ = 0;
      held_.resize(0);
    }
  }
  if (capacity_ == 0) {
    buffer_ = std::make_unique_for_overwrite<char[]>(kInitialCapacity);
    capacity_ = kInitialCapacity;
  } else if (end_ == capacity_) {
    const bool message_fits = begin_ > 0 && wanted_ > 0 && wanted_ <= capacity_;
    if (begin_ >= capacity_ / 2 || message_fits) {
      std::memmove(buffer_.get(), buffer_.get() + begin_, unread);
    } else {
      const std::size_t larger = wanted_ > capacity_ ? std::min(2 * capacity_, wanted_) : 2 * capacity_;
      held_.resize(larger);
      auto grown = std::make_unique_for_overwrite<char[]>(larger);
      std::memcpy(grown.get(), buffer_.get() + begin_, unread);
      buffer_ = std::move(grown);
      capacity_ = larger;
    }
    begin_ = 0;
    end_ = unread;
  }
  return {buffer_.get() + end_, capacity_ - end_};
}

void MessageDecoder::commit(std::size_t bytes) {
  assert(bytes <= capacity_ - end_);
  end_ += bytes;
}

std::optional<std::string_view> MessageDecoder::peek(std::size_t bytes) const {
  if (end_ - begin_ < bytes) return std::nullopt;
  return std::string_view(buffer_.get() + begin_, bytes);
}

std::optional<std::string_view> MessageDecoder::take(std::size_t bytes) {
  const std::optional<std::string_view> taken = peek(bytes);
  if (taken) begin_ += bytes;
  return taken;
}

std::optional<RawMessage> MessageDecoder::next() {
  if (dropped_) {
    const std::size_t gone = std::min(to_drop_, end_ - begin_);
    begin_ += gone;
    to_drop_ -= gone;
    if (to_drop_ > 0) return std::nullopt;
    return std::exchange(dropped_, std::nullopt);
  }
  if (begin_ == end_) return std::nullopt;
  const char type = buffer_[begin_];
  const std::optional<std::size_t> limit = body_limit(type, message_limit_);
  if (!limit) {
    throw ProtocolViolation(fmt::format("invalid frontend message type {}", static_cast<unsigned char>(type)));
  }
  const std::optional<std::string_view> header = peek(kHeaderBytes);
  if (!header) return std::nullopt;
  const std::uint32_t length = BodyReader(header->substr(1)).uint32();
  if (length < 4 || length - 4 > *limit) {
    const bool may_be_long = *limit == message_limit_ && length <= kLargeMessageLimit && length >= 4;
    if (!may_be_long) throw ProtocolViolation("invalid message length");
    take(kHeaderBytes);
    to_drop_ = length - 4;
    dropped_ = RawMessage{type, {}, to_drop_};
    return next();
  }
  wanted_ = kHeaderBytes + length - 4;
  const std::optional<std::string_view> whole = take(wanted_);
  if (!whole) return std::nullopt;
  wanted_ = 0;
  return RawMessage{type, whole->substr(kHeaderBytes)};
}

std::optional<RawMessage> MessageDecoder::take_one(std::string_view& bytes, char type) const {
  if (bytes.size() < kHeaderBytes || bytes[0] != type) return std::nullopt;
  const std::size_t length = BodyReader(bytes.substr(1, 4)).uint32();
  if (length < 4 || length - 4 > *body_limit(type, message_limit_) || bytes.size() < 1 + length) return std::nullopt;
  const RawMessage message{type, bytes.substr(kHeaderBytes, length - 4)};
  bytes.remove_prefix(1 + length);
  return message;
}

std::optional<RawMessage> MessageDecoder::peek_query() const {
  if (dropped_ || begin_ == end_) return std::nullopt;
  std::string_view bytes(buffer_.get() + begin_, end_ - begin_);
  return take_one(bytes, 'Q');
}

std::optional<RunMessages> MessageDecoder::peek_run() const {
  if (dropped_ || begin_ == end_ || buffer_[begin_] != 'B') return std::nullopt;
  std::string_view rest(buffer_.get() + begin_, end_ - begin_);
  RunMessages run;
  const std::optional<RawMessage> bind = take_one(rest, 'B');
  if (!bind) return std::nullopt;
  run.describe = take_one(rest, 'D');
  const std::optional<RawMessage> execute = take_one(rest, 'E');
  const std::optional<RawMessage> sync = execute ? take_one(rest, 'S') : std::nullopt;
  if (!sync) return std::nullopt;
  run.bind = *bind;
  run.execute = *execute;
  run.bytes = end_ - begin_ - rest.size();
  return run;
}

FrontendMessage decode_message(const RawMessage& raw) {
  if (raw.dropped > 0) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, fmt::format("a message of {} bytes is too long", raw.dropped))
        .hint("limits.max_statement_bytes says how long messages may be.");
  }
  BodyReader reader(raw.body);
  switch (raw.type) {
    case 'Q': {
      QueryMessage message{reader.text()};
      reader.end();
      return message;
    }
    case 'P':
      return decode_parse(reader);
    case 'B':
      return decode_bind(reader);
    case 'D':
    case 'C': {
      const DescribeTarget target = read_target(reader, raw.type == 'D' ? "DESCRIBE" : "CLOSE");
      const std::string_view name = reader.text();
      reader.end();
      if (raw.type == 'D') return DescribeMessage{target, name};
      return CloseMessage{target, name};
    }
    case 'E': {
      ExecuteMessage message;
      message.portal = reader.text();
      message.max_rows = static_cast<std::int32_t>(reader.uint32());
      reader.end();
      return message;
    }
    case 'H':
      reader.end();
      return FlushMessage{};
    case 'S':
      reader.end();
      return SyncMessage{};
    case 'X':
      return TerminateMessage{};
    case 'F':
      return FunctionCallMessage{};
    case 'd':
    case 'c':
    case 'f':
      return StrayCopyMessage{};
    default:
      throw ProtocolViolation(fmt::format("invalid frontend message type {}", static_cast<unsigned char>(raw.type)));
  }
}

}  // namespace redquel::server
