#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redquel::server {

namespace asio = boost::asio;

/// A client of the server within its own process: it speaks PostgreSQL's protocol over a pair of sockets, so that the status page sees what any
/// client sees.
class InsideClient {
 public:
  /// Fields of ErrorResponse and NoticeResponse by their letters: 'S' severity, 'C' SQLSTATE, 'M' message, …
  using Fields = std::map<char, std::string>;
  struct Login {
    std::string role, database, password, application;
    bool is_read_only = false;
  };
  struct Result {
    struct Column {
      std::string name;
      std::uint32_t type = 0;  // oid
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::optional<std::string>>> rows;  // texts
    bool has_more = false;    // rows were left out
    std::uint64_t count = 0;  // rows that came; those that are kept are the first of them
    bool is_whole = false;    // no more than these
    std::string tag;        // of CommandComplete
    Fields error;           // empty: none
    std::vector<Fields> notices;
  };
  /// The server has closed the connection.
  struct Gone {};

  /// Owns the descriptor, a unix stream socket that a session answers at.
  InsideClient(asio::any_io_executor executor, int descriptor);

  /// Logs in. Returns the error that refuses it; empty: none. Throws Gone.
  asio::awaitable<Fields> log_in(const Login& login);
  /// Runs the statements of a text, one by one up to the first that fails. Keeps `most_rows` rows and a bounded number of bytes of each. Further
  /// rows of a single statement are counted for a second. Throws Gone.
  asio::awaitable<std::vector<Result>> run(std::string_view text, std::uint32_t most_rows);
  /// Returns the message that cancels what runs, for another connection.
  std::string cancel_request() const;

 private:
  struct Message {
    char type = 0;
    std::string body;
  };
  asio::awaitable<Message> read();
  asio::awaitable<void> write(const std::string& bytes);
  /// Reads answers up to ReadyForQuery. `next` returns what is sent after each answer to Execute: more of a suspended portal, or the end.
  asio::awaitable<std::vector<Result>> read_results(std::uint32_t most_rows, std::function<std::string(bool is_suspended)> next = {});

  asio::local::stream_protocol::socket socket_;
  std::string key_;  // process id and secret, as BackendKeyData has them
};

/// Sends a cancel request over the descriptor of a new connection, which it owns.
void send_cancel_request(int descriptor, const std::string& message);

}  // namespace redquel::server
