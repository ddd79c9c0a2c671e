#include "server/status/inside_client.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "server/body_reader.h"

namespace redquel::server {

namespace {

constexpr std::uint32_t kProtocol = 3U << 16U, kCancelRequest = 80877102;
constexpr std::uint32_t kCleartextPassword = 3;
constexpr std::size_t kMessageHeaderBytes = 5, kMostMessageBytes = std::size_t{1} << 30;
/// Bytes of rows that are kept of one result.
constexpr std::size_t kMostKeptBytes = std::size_t{16} << 20;
constexpr std::string_view kSeveralStatements = "cannot insert multiple commands into a prepared statement";

void append_number(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((number >> static_cast<unsigned>(shift)) & 0xFFU);
}

void append_text(std::string& out, std::string_view text) { out.append(text).push_back('\0'); }

std::string with_length(std::string_view body) {
  std::string message;
  append_number(message, static_cast<std::uint32_t>(body.size() + 4));
  return message.append(body);
}

std::string message(char type, std::string_view body) { return type + with_length(body); }

std::string startup_message(const InsideClient::Login& login) {
  std::string body;
  append_number(body, kProtocol);
  std::vector<std::pair<std::string_view, std::string_view>> parameters = {
      {"user", login.role}, {"database", login.database}, {"application_name", login.application}, {"client_encoding", "UTF8"}};
  // Not "off" for others: a server that only looks at Redis refuses it.
  if (login.is_read_only) parameters.emplace_back("default_transaction_read_only", "on");
  for (const auto& [name, value] : parameters) {
    append_text(body, name);
    append_text(body, value);
  }
  body.push_back('\0');
  return with_length(body);
}

InsideClient::Fields fields_of(std::string_view body) {
  InsideClient::Fields fields;
  while (!body.empty() && body.front() != '\0') {
    const char letter = body.front();
    const std::size_t end = body.find('\0', 1);
    if (end == std::string_view::npos) break;
    fields[letter] = body.substr(1, end - 1);
    body.remove_prefix(end + 1);
  }
  return fields;
}

std::vector<InsideClient::Result::Column> columns_of(std::string_view body) {
  BodyReader reader(body);
  std::vector<InsideClient::Result::Column> columns(reader.uint16());
  for (InsideClient::Result::Column& column : columns) {
    column.name = reader.text();
    reader.uint32();  // table
    reader.uint16();  // column
    column.type = reader.uint32();
    reader.uint16();  // size
    reader.uint32();  // modifier
    reader.uint16();  // format
  }
  return columns;
}

std::vector<std::optional<std::string>> row_of(std::string_view body) {
  BodyReader reader(body);
  std::vector<std::optional<std::string>> row(reader.uint16());
  for (std::optional<std::string>& value : row) {
    const auto size = static_cast<std::int32_t>(reader.uint32());
    if (size >= 0) value = reader.bytes(static_cast<std::size_t>(size));
  }
  return row;
}

}  // namespace

InsideClient::InsideClient(asio::any_io_executor executor, int descriptor) : socket_(std::move(executor), asio::local::stream_protocol(), descriptor) {}

asio::awaitable<InsideClient::Message> InsideClient::read() {
  std::string header(kMessageHeaderBytes, '\0');
  auto [no_header, header_bytes] = co_await asio::async_read(socket_, asio::buffer(header), asio::as_tuple(asio::use_awaitable));
  if (no_header) throw Gone{};
  const std::uint32_t size = BodyReader(std::string_view(header).substr(1)).uint32();
  if (size < 4 || size > kMostMessageBytes) throw Gone{};
  Message message{header.front(), std::string(size - 4, '\0')};
  auto [no_body, body_bytes] = co_await asio::async_read(socket_, asio::buffer(message.body), asio::as_tuple(asio::use_awaitable));
  if (no_body) throw Gone{};
  co_return message;
}

asio::awaitable<void> InsideClient::write(const std::string& bytes) {
  auto [failure, count] = co_await asio::async_write(socket_, asio::buffer(bytes), asio::as_tuple(asio::use_awaitable));
  if (failure) throw Gone{};
}

asio::awaitable<InsideClient::Fields> InsideClient::log_in(const Login& login) {
  const std::string startup = startup_message(login);
  co_await write(startup);
  while (true) {
    const Message answer = co_await read();
    if (answer.type == 'E') co_return fields_of(answer.body);
    if (answer.type == 'K') key_ = answer.body;
    if (answer.type == 'Z') co_return Fields{};
    if (answer.type == 'R' && BodyReader(answer.body).uint32() == kCleartextPassword) {
      std::string password;
      append_text(password, login.password);
      const std::string answered = message('p', password);
      co_await write(answered);
    }
  }
}

asio::awaitable<std::vector<InsideClient::Result>> InsideClient::run(std::string_view text, std::uint32_t most_rows) {
  constexpr std::chrono::seconds kCounting{1};
  std::string parse(1, '\0'), execute(1, '\0');
  append_text(parse, text);
  parse.append(2, '\0');  // no types of parameters
  append_number(execute, most_rows);
  constexpr std::string_view kBind("\0\0\0\0\0\0\0\0", 8), kDescribe("P\0", 2);
  const std::string more = message('E', execute) + message('H', {});
  const std::string messages = message('P', parse) + message('B', kBind) + message('D', kDescribe) + more;
  co_await write(messages);
  std::optional<std::chrono::steady_clock::time_point> full;  // since when there are more rows than are kept
  std::function<std::string(bool)> next = [&full, &more, kCounting](bool is_suspended) {
    const auto now = std::chrono::steady_clock::now();
    if (!full) full = now;
    return is_suspended && now - *full < kCounting ? more : message('S', {});
  };
  std::vector<Result> results = co_await read_results(most_rows, std::move(next));
  const bool are_several = results.size() == 1 && !results.front().error.empty() && results.front().error['M'] == kSeveralStatements;
  if (!are_several) co_return results;
  std::string query;
  append_text(query, text);
  const std::string simple = message('Q', query);
  co_await write(simple);
  co_return co_await read_results(most_rows);
}

asio::awaitable<std::vector<InsideClient::Result>> InsideClient::read_results(std::uint32_t most_rows, std::function<std::string(bool is_suspended)> next) {
  std::vector<Result> results;
  Result result;
  std::size_t kept_bytes = 0;
  const std::string refused_copy = message('f', std::string_view("COPY FROM STDIN is not possible here\0", 37));
  while (true) {
    Message answer = co_await read();
    bool ends = false;  // an answer to Execute
    switch (answer.type) {
      case 'T':
        result.columns = columns_of(answer.body);
        break;
      case 'D':
        ++result.count;
        kept_bytes += answer.body.size();
        if (result.rows.size() < most_rows && kept_bytes <= kMostKeptBytes) result.rows.push_back(row_of(answer.body));
        else result.has_more = true;
        break;
      case 'N':
        result.notices.push_back(fields_of(answer.body));
        break;
      case 'C':
        result.tag = BodyReader(answer.body).text();
        if (result.tag.starts_with("SELECT ")) result.tag = fmt::format("SELECT {}", result.count);  // of all parts
        result.is_whole = ends = true;
        break;
      case 'I':
        ends = true;
        break;
      case 's':
        ends = true;
        break;
      case 'E':
        result.error = fields_of(answer.body);
        ends = true;
        break;
      case 'G':  // COPY FROM STDIN: there are no data
        co_await write(refused_copy);
        break;
      case 'Z':
        if (!result.notices.empty()) results.push_back(std::move(result));
        co_return results;
      default:
        break;
    }
    if (!ends) continue;
    const std::string asked = next ? next(answer.type == 's') : std::string();
    if (!asked.empty()) co_await write(asked);
    const bool goes_on = answer.type == 's' && !asked.empty() && asked.front() == 'E';
    if (goes_on) continue;
    if (answer.type == 's') result.has_more = true;
    results.push_back(std::exchange(result, {}));
    kept_bytes = 0;
  }
}

std::string InsideClient::cancel_request() const {
  std::string body;
  append_number(body, kCancelRequest);
  return with_length(body + key_);
}

void send_cancel_request(int descriptor, const std::string& message) {
  // A new connection's buffer takes sixteen bytes at once.
  [[maybe_unused]] const ssize_t sent = ::send(descriptor, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::close(descriptor);
}

}  // namespace redquel::server
