#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "executor/redis/reply.h"

namespace redquel::executor {

/// The server sent what is not RESP, or more than the bounds allow: the connection cannot be used any further.
class ProtocolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Decodes RESP2 as it arrives in pieces: sans I/O. Nothing is reserved on the word of the server: memory grows with
/// the bytes that really came. Arrays nest at most 7 deep (hiredis's limit), a reply has at most `max_reply_bytes`.
class ReplyDecoder {
 public:
  explicit ReplyDecoder(std::size_t max_reply_bytes);
  ~ReplyDecoder();
  ReplyDecoder(const ReplyDecoder&) = delete;
  ReplyDecoder& operator=(const ReplyDecoder&) = delete;

  /// Takes bytes from the wire; ask `next` until it says no before feeding more.
  void feed(std::string_view bytes);
  /// Appends the next reply to `into` once it is complete. False: more bytes are needed, and the next call must name
  /// the same `into`, which holds the parts. Throws ProtocolError; the decoder is then of no further use.
  bool next(Replies& into);
  /// Bytes were fed that belong to no complete reply.
  bool has_pending() const;

  class Assembly;  // of the codec itself

 private:
  std::unique_ptr<Assembly> assembly_;
};

}  // namespace redquel::executor
