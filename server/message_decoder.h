#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sql/memory_account.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/type.h"

namespace redquel::server {

// Frontend messages (PostgreSQL's manual, 55.7). Texts are views of the input buffer, in the client's encoding: they
// live until the decoder is asked for room again.

struct QueryMessage {
  std::string_view text;
};
struct ParseMessage {
  std::string_view statement, text;
  std::vector<sql::Oid> parameter_types;  // 0: not said
};
/// 0 text, 1 binary: none (all text), one for all, or one each.
using ColumnFormats = boost::container::small_vector<std::int16_t, 8>;
/// Returns the format of one of several things.
inline std::int16_t format_of(const ColumnFormats& formats, std::size_t index) {
  if (formats.empty()) return 0;
  return formats.size() == 1 ? formats[0] : formats[index];
}
struct BindMessage {
  std::string_view portal, statement;
  ColumnFormats parameter_formats;
  boost::container::small_vector<std::optional<std::string_view>, 8> parameters;  // nullopt: NULL
  ColumnFormats result_formats;
};
enum class DescribeTarget : std::uint8_t { kStatement, kPortal };
struct DescribeMessage {
  DescribeTarget target;
  std::string_view name;
};
struct ExecuteMessage {
  std::string_view portal;
  std::int32_t max_rows = 0;  // 0 or less: all
};
struct CloseMessage {
  DescribeTarget target;
  std::string_view name;
};
struct FlushMessage {};
struct SyncMessage {};
struct TerminateMessage {};
struct FunctionCallMessage {};
/// CopyData, CopyDone and CopyFail outside of a COPY: PostgreSQL reads over them.
struct StrayCopyMessage {};

using FrontendMessage =
    std::variant<QueryMessage, ParseMessage, BindMessage, DescribeMessage, ExecuteMessage, CloseMessage, FlushMessage,
                 SyncMessage, TerminateMessage, FunctionCallMessage, StrayCopyMessage>;

/// The stream cannot be trusted after it: the session ends with this FATAL error.
class ProtocolViolation : public sql::SqlError {
 public:
  explicit ProtocolViolation(std::string message) : SqlError(sqlstate::kProtocolViolation, std::move(message)) {}
};

/// A complete message whose body has not been parsed.
struct RawMessage {
  char type;
  std::string_view body;
  std::size_t dropped = 0;  // bytes of a body that was beyond the limit; it is gone
};

/// The messages of one run of a prepared statement: Bind, perhaps Describe of the portal, Execute, Sync.
struct RunMessages {
  RawMessage bind, execute;
  std::optional<RawMessage> describe;
  std::size_t bytes = 0;  // of all four
};

/// Cuts the bytes of a client into messages. Sans-I/O: the session reads into `room()` and says how much came.
class MessageDecoder {
 public:
  /// `message_limit`: bytes of the longest message body that is kept. Longer ones, up to PostgreSQL's own limit, are dropped as they come.
  /// `held`: where a grown buffer is counted.
  explicit MessageDecoder(std::size_t message_limit, sql::HeldBytes held = {});

  /// Returns the place for the next bytes; never empty. Invalidates all views handed out. Grows with the received bytes, never with an
  /// announced length. Throws 53200 if clients hold too much memory.
  std::span<char> room();
  void commit(std::size_t bytes);

  /// The next message if it is complete. Throws ProtocolViolation for an unknown type or a length out of bounds.
  std::optional<RawMessage> next();

  /// Returns the next messages, which stay unread, if they are complete and make one run.
  std::optional<RunMessages> peek_run() const;
  /// Returns the next message, which stays unread, if it is a whole Query.
  std::optional<RawMessage> peek_query() const;
  static constexpr std::size_t kHeaderBytes = 5;

  /// The first `bytes` unread bytes, taken out, or nullopt if fewer have come: for startup packets.
  std::optional<std::string_view> take(std::size_t bytes);
  std::optional<std::string_view> peek(std::size_t bytes) const;
  std::size_t unread() const { return end_ - begin_; }
  /// Returns true if a Sync is the next message.
  bool sync_is_next() const { return unread() > 0 && buffer_[begin_] == 'S'; }

 private:
  /// Takes a whole message of this type from the front.
  std::optional<RawMessage> take_one(std::string_view& bytes, char type) const;

  std::size_t message_limit_;
  sql::HeldBytes held_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
  std::size_t wanted_ = 0;  // bytes of the message that has come in part
  std::optional<RawMessage> dropped_;  // the message of which the next bytes are
  std::size_t to_drop_ = 0;
};

/// The message's fields. Every count is checked against the bytes that are there before room is made for it.
/// Throws SqlError 08P01 in PostgreSQL's words for a malformed body, 54000 for one that was dropped; the session survives it.
FrontendMessage decode_message(const RawMessage& raw);

}  // namespace redquel::server
