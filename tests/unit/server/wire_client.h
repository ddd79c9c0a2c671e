#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redquel::server {

// Frontend messages as bytes, written here once more and independently of the server's own code.

inline std::string int16(int value) { return {static_cast<char>(value >> 8), static_cast<char>(value)}; }
inline std::string int32(std::int64_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}
inline std::string text(std::string_view value) { return std::string(value) + '\0'; }
inline std::string message(char type, const std::string& body = "") {
  return std::string(1, type) + int32(static_cast<std::int64_t>(body.size()) + 4) + body;
}
inline std::string startup(const std::vector<std::pair<std::string, std::string>>& parameters,
                           std::int64_t version = 3 << 16) {
  std::string body = int32(version);
  for (const auto& [name, value] : parameters) body += text(name) + text(value);
  body += '\0';
  return int32(static_cast<std::int64_t>(body.size()) + 4) + body;
}

inline std::string query(std::string_view sql) { return message('Q', text(sql)); }
inline std::string parse(std::string_view name, std::string_view sql, const std::vector<int>& types = {}) {
  std::string body = text(name) + text(sql) + int16(static_cast<int>(types.size()));
  for (const int type : types) body += int32(type);
  return message('P', body);
}
inline std::string bind(std::string_view portal, std::string_view statement, const std::vector<int>& formats = {},
                        const std::vector<std::optional<std::string>>& values = {},
                        const std::vector<int>& result_formats = {}) {
  std::string body = text(portal) + text(statement) + int16(static_cast<int>(formats.size()));
  for (const int format : formats) body += int16(format);
  body += int16(static_cast<int>(values.size()));
  for (const auto& value : values) {
    body += value ? int32(static_cast<std::int64_t>(value->size())) + *value : int32(-1);
  }
  body += int16(static_cast<int>(result_formats.size()));
  for (const int format : result_formats) body += int16(format);
  return message('B', body);
}
inline std::string describe(char target, std::string_view name) { return message('D', target + text(name)); }
inline std::string execute(std::string_view portal, int max_rows = 0) {
  return message('E', text(portal) + int32(max_rows));
}
inline std::string close_object(char target, std::string_view name) { return message('C', target + text(name)); }
inline const std::string kSync = message('S');
inline const std::string kFlush = message('H');
inline const std::string kTerminate = message('X');

/// A backend message; type 0 is the end of the stream.
struct Answer {
  char type = 0;
  std::string body;

  std::string field(char name) const {  // of ErrorResponse and NoticeResponse
    for (std::size_t i = 0; i < body.size() && body[i] != '\0';) {
      const std::size_t end = body.find('\0', i);
      if (body[i] == name) return body.substr(i + 1, end - i - 1);
      i = end + 1;
    }
    return "";
  }
  /// Returns the message in short: "E 22012 division by zero", "C SELECT 1", "D 1|NULL", "Z I".
  std::string brief() const {
    switch (type) {
      case 0:
        return "end";
      case 'E':
        return "E " + field('C') + " " + field('M');
      case 'N':
        return "N " + field('C') + " " + field('M');
      case 'C':
        return "C " + body.substr(0, body.size() - 1);
      case 'Z':
        return "Z " + body;
      case 'S':
        return "S " + body.substr(0, body.find('\0')) + "=" +
               body.substr(body.find('\0') + 1, body.size() - body.find('\0') - 2);
      case 'D': {
        std::string row = "D ";
        std::size_t at = 2;
        for (int i = number16(0); i > 0; --i) {
          const int size = number32(at);
          at += 4;
          row += size < 0 ? "NULL" : body.substr(at, static_cast<std::size_t>(size));
          if (size > 0) at += static_cast<std::size_t>(size);
          if (i > 1) row += "|";
        }
        return row;
      }
      default:
        return std::string(1, type);
    }
  }
  int number16(std::size_t at) const {
    return static_cast<unsigned char>(body[at]) << 8 | static_cast<unsigned char>(body[at + 1]);
  }
  int number32(std::size_t at) const { return number16(at) << 16 | number16(at + 2); }
};

/// A blocking client that says bytes and hears messages. Every wait ends after a minute, with type '!'.
class WireClient {
 public:
  explicit WireClient(std::uint16_t port, int receive_buffer = 0) {
    socket_ = ::socket(AF_INET, SOCK_STREAM, 0);
    if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~WireClient() { close(); }
  WireClient(const WireClient&) = delete;
  WireClient& operator=(const WireClient&) = delete;

  /// Connects and starts a session.
  static std::unique_ptr<WireClient> ready(std::uint16_t port,
                                           std::vector<std::pair<std::string, std::string>> parameters = {}) {
    auto client = std::make_unique<WireClient>(port);
    parameters.insert(parameters.begin(), {{"user", "postgres"}, {"database", "postgres"}});
    client->send(startup(parameters));
    client->greeting_ = client->until('Z');
    return client;
  }

  void send(const std::string& bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t count = ::send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
  std::string raw(std::size_t count) {
    while (unread_.size() < count && fill()) {
    }
    std::string bytes = unread_.substr(0, count);
    unread_.erase(0, count);
    return bytes;
  }
  Answer next() {
    while (unread_.size() < 5) {
      if (!fill()) return {timed_out_ ? '!' : '\0', ""};
    }
    Answer head{unread_[0], unread_.substr(1, 4)};
    const auto size = static_cast<std::size_t>(head.number32(0)) - 4;
    while (unread_.size() < 5 + size) {
      if (!fill()) return {timed_out_ ? '!' : '\0', ""};
    }
    Answer answer{unread_[0], unread_.substr(5, size)};
    unread_.erase(0, 5 + size);
    return answer;
  }
  /// Messages up to one of this type (included), or the end.
  std::vector<Answer> until(char type) {
    std::vector<Answer> answers;
    do answers.push_back(next());
    while (answers.back().type != type && answers.back().type != 0 && answers.back().type != '!');
    return answers;
  }
  /// Sends and gives the answers up to ReadyForQuery, in brief.
  std::vector<std::string> ask(const std::string& bytes, char last = 'Z') {
    send(bytes);
    std::vector<std::string> briefs;
    for (const Answer& answer : until(last)) briefs.push_back(answer.brief());
    return briefs;
  }
  bool has_bytes(int milliseconds) {
    pollfd state{socket_, POLLIN, 0};
    return !unread_.empty() || ::poll(&state, 1, milliseconds) > 0;
  }
  void half_close() { ::shutdown(socket_, SHUT_WR); }
  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  const std::vector<Answer>& greeting() const { return greeting_; }
  std::string key() const {  // BackendKeyData's body
    for (const Answer& answer : greeting_) {
      if (answer.type == 'K') return answer.body;
    }
    return "";
  }

 private:
  bool fill() {
    pollfd state{socket_, POLLIN, 0};
    if (::poll(&state, 1, 60000) <= 0) {
      timed_out_ = true;
      return false;
    }
    char block[65536];
    const ssize_t count = ::recv(socket_, block, sizeof block, 0);
    if (count <= 0) return false;
    unread_.append(block, static_cast<std::size_t>(count));
    return true;
  }

  int socket_ = -1;
  std::string unread_;
  bool timed_out_ = false;
  std::vector<Answer> greeting_;
};

}  // namespace redquel::server
