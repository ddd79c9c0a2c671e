#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sql/types/text_encoding.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// The client's side of COPY FROM STDIN and COPY TO STDOUT: the server's session. Bytes are the client's; `converter`
/// converts texts.
class CopyChannel {
 public:
  virtual ~CopyChannel() = default;

  /// The encoding of the data from here on (manual, COPY: ENCODING); empty: client_encoding. False: there is no such encoding.
  virtual bool set_encoding(std::string_view name) = 0;
  /// Converts texts; null: they are UTF-8, which the reader checks.
  virtual sql::EncodingConverter* converter() = 0;

  /// Asks for data: `columns` columns in text or binary.
  virtual void begin_in(bool binary, std::size_t columns) = 0;
  /// The next piece of data, cut anywhere, valid until the next call; nullopt at the end. Throws 57014 when the client gives up.
  virtual asio::awaitable<std::optional<std::string_view>> read() = 0;

  /// Takes the number of bytes that are kept of a row that is not complete. Throws 53200 if the client may not make the process hold so much.
  virtual void hold(std::size_t bytes) = 0;

  virtual void begin_out(bool binary, std::size_t columns) = 0;
  /// One piece of data, in the client's encoding.
  virtual void write(std::string_view bytes) = 0;
  /// Much is written: `flush` waits until the client has read.
  virtual bool is_full() const = 0;
  virtual asio::awaitable<void> flush() = 0;
  virtual void end_out() = 0;

  /// "COPY t, line 3": where in the data the error lies that ends the statement.
  virtual void set_error_context(std::string context) = 0;
};

}  // namespace redquel::executor
