#include "server/authentication/socket_owner.h"

#include <fmt/format.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "server/connection_security.h"

namespace redquel::server {

namespace {

namespace asio = boost::asio;

/// TCP_ESTABLISHED; the header that names it does not go with those above.
constexpr std::uint8_t kEstablished = 1;
constexpr std::uint32_t kAllUsers = 4294967295;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }

 private:
  int number_;
};

std::vector<unsigned char> bytes_of(const asio::ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return {bytes.begin(), bytes.end()};
  }
  const auto bytes = address.to_v6().to_bytes();
  return {bytes.begin(), bytes.end()};
}

void put_address(const asio::ip::address& address, void* place) {
  const std::vector<unsigned char> bytes = bytes_of(address);
  std::memcpy(place, bytes.data(), bytes.size());
}

enum class Answer { kOwned, kNone, kRefused };

/// Asks the kernel for one socket by both of its ends.
Answer ask_kernel(const ConnectionSecurity& connection, std::uint32_t& owner) {
  const Descriptor link(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (link.get() < 0) return Answer::kRefused;
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } question{};
  question.header = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST, .nlmsg_seq = 0, .nlmsg_pid = 0};
  question.request.sdiag_family = connection.client_address.is_v4() ? AF_INET : AF_INET6;
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_states = 1U << kEstablished;
  question.request.id.idiag_sport = htons(connection.client_port);
  question.request.id.idiag_dport = htons(connection.server_port);
  put_address(connection.client_address, question.request.id.idiag_src);
  put_address(connection.server_address, question.request.id.idiag_dst);
  std::fill_n(question.request.id.idiag_cookie, 2, INET_DIAG_NOCOOKIE);
  if (::send(link.get(), &question, sizeof question, 0) != static_cast<ssize_t>(sizeof question)) return Answer::kRefused;
  alignas(nlmsghdr) char buffer[8192];
  // The kernel has answered before send() returned.
  const ssize_t length = ::recv(link.get(), buffer, sizeof buffer, MSG_DONTWAIT);
  if (length < static_cast<ssize_t>(sizeof(nlmsghdr))) return Answer::kRefused;
  nlmsghdr header;
  std::memcpy(&header, buffer, sizeof header);
  if (header.nlmsg_type == NLMSG_ERROR && length >= static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) {
    nlmsgerr error;
    std::memcpy(&error, buffer + NLMSG_HDRLEN, sizeof error);
    return error.error == -ENOENT ? Answer::kNone : Answer::kRefused;
  }
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || length < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg)))) return Answer::kRefused;
  inet_diag_msg found;
  std::memcpy(&found, buffer + NLMSG_HDRLEN, sizeof found);
  // A socket that its process has closed has no inode, and root seems to own it.
  if (found.idiag_state != kEstablished || found.idiag_inode == 0) return Answer::kNone;
  owner = found.idiag_uid;
  return Answer::kOwned;
}

/// An end of a socket as /proc/net/tcp writes it: words of four bytes in the machine's order.
std::string end_in_table(const asio::ip::address& address, std::uint16_t port) {
  std::string text;
  const std::vector<unsigned char> bytes = bytes_of(address);
  for (std::size_t i = 0; i < bytes.size(); i += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    text += fmt::format("{:08X}", word);
  }
  return text + fmt::format(":{:04X}", port);
}

std::optional<std::uint32_t> find_in_table(const char* file, const std::string& local, const std::string& remote) {
  std::ifstream table(file);
  for (std::string line; std::getline(table, line);) {
    if (const auto owner = owner_in_line(line, local, remote)) return owner;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> find_in_tables(const ConnectionSecurity& connection) {
  const auto ends = [&](auto form) {
    return std::pair(end_in_table(form(connection.client_address), connection.client_port),
                     end_in_table(form(connection.server_address), connection.server_port));
  };
  const auto [local, remote] = ends([](const asio::ip::address& address) { return address; });
  if (!connection.client_address.is_v4()) return find_in_table("/proc/net/tcp6", local, remote);
  if (const auto owner = find_in_table("/proc/net/tcp", local, remote)) return owner;
  // A client that reaches an address of IPv4 by a socket of IPv6.
  const auto [mapped_local, mapped_remote] = ends([](const asio::ip::address& address) -> asio::ip::address {
    return asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4());
  });
  return find_in_table("/proc/net/tcp6", mapped_local, mapped_remote);
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

/// Reads the first number of a file of /proc; nullopt if there is none.
std::optional<std::uint32_t> number_in(const char* file, int column) {
  std::ifstream input(file);
  std::uint32_t number = 0;
  for (int i = 0; i <= column; ++i) {
    if (!(input >> number)) return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<std::uint32_t> owner_in_line(std::string_view line, std::string_view local, std::string_view remote) {
  std::vector<std::string_view> words;
  while (words.size() < 10) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return std::nullopt;
    const std::string_view word = line.substr(0, line.find(' '));
    words.push_back(word);
    line.remove_prefix(word.size());
  }
  // sl, local, remote, state, queues, timer, retransmissions, uid, timeout, inode
  std::uint32_t owner = 0;
  std::uint64_t inode = 0;
  if (words[1] != local || words[2] != remote || words[3] != "01") return std::nullopt;
  if (!read_number(words[7], owner) || !read_number(words[9], inode) || inode == 0) return std::nullopt;
  return owner;
}

std::optional<std::uint32_t> socket_owner(const ConnectionSecurity& connection) {
  if (connection.is_unix_socket) return connection.peer_user;
  std::uint32_t owner = 0;
  switch (ask_kernel(connection, owner)) {
    case Answer::kOwned:
      return owner;
    case Answer::kNone:
      return std::nullopt;
    case Answer::kRefused:
      return find_in_tables(connection);
  }
  return std::nullopt;
}

bool is_own_or_root(std::uint32_t user) {
  if (user == 0) return true;
  if (user != ::geteuid()) return false;
  // In a user namespace all users without a number there are shown as the same one.
  const bool has_all_users = number_in("/proc/self/uid_map", 2) == kAllUsers;
  return has_all_users || user != number_in("/proc/sys/kernel/overflowuid", 0).value_or(65534);
}

}  // namespace redquel::server
