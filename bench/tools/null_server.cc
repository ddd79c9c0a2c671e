// A PostgreSQL server that knows no data: it answers every statement at once with one row. What a client reaches against it is
// the ceiling that pgbench, the kernel and the machine set for any server.
//
//   null_server PORT [THREADS]      prints "ready" once it accepts connections
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

std::string big_endian(std::uint32_t value, int bytes) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

std::uint32_t read_length(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string message(char type, std::string_view body) {
  return type + big_endian(static_cast<std::uint32_t>(body.size()) + 4, 4) + std::string(body);
}

constexpr std::uint32_t kInt4Oid = 23;
constexpr std::uint32_t kSslRequest = 80877103;
constexpr std::uint32_t kGssRequest = 80877104;

const std::string kReady = message('Z', "I");
// One column "n" of type integer, in text.
const std::string kRowDescription = message('T', big_endian(1, 2) + std::string("n\0", 2) + big_endian(0, 4) + big_endian(0, 2) +
                                                     big_endian(kInt4Oid, 4) + big_endian(4, 2) + big_endian(0xffffffff, 4) + big_endian(0, 2));
const std::string kRow = message('D', big_endian(1, 2) + big_endian(1, 4) + "1");
const std::string kComplete = message('C', std::string("SELECT 1\0", 9));

struct Client {
  int socket;
  bool started = false;
  std::string input;

  // Answers every whole message of the input. False at the end of the session.
  bool answer() {
    std::string output;
    std::string_view rest = input;
    bool open = true;
    while (open) {
      const std::size_t header = started ? 5 : 4;
      if (rest.size() < header) break;
      const std::size_t size = read_length(rest.substr(header - 4)) + (header - 4);
      if (size < header) return false;
      if (rest.size() < size) break;
      open = started ? statement(rest[0], output) : startup(rest.substr(4, size - 4), output);
      rest.remove_prefix(size);
    }
    input.erase(0, input.size() - rest.size());
    return open && (output.empty() || write(socket, output.data(), output.size()) == static_cast<ssize_t>(output.size()));
  }

  bool startup(std::string_view body, std::string& output) {
    if (body.size() < 4) return false;
    if (const std::uint32_t code = read_length(body); code == kSslRequest || code == kGssRequest) {
      output += 'N';
      return true;
    }
    started = true;
    output += message('R', big_endian(0, 4)) + message('S', std::string("server_version\0" "15.0\0", 20)) + kReady;
    return true;
  }

  static bool statement(char type, std::string& output) {
    switch (type) {
      case 'Q': output += kRowDescription + kRow + kComplete + kReady; return true;
      case 'P': output += message('1', ""); return true;
      case 'B': output += message('2', ""); return true;
      case 'D': output += kRowDescription; return true;
      case 'E': output += kRow + kComplete; return true;
      case 'S': output += kReady; return true;
      case 'X': return false;
      default: return true;
    }
  }
};

void serve(std::uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  setsockopt(listener, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener, 1024) != 0) {
    std::perror("null_server");
    std::exit(1);
  }
  const int poller = epoll_create1(0);
  epoll_event of_listener{.events = EPOLLIN, .data = {.ptr = nullptr}};
  epoll_ctl(poller, EPOLL_CTL_ADD, listener, &of_listener);
  std::puts("ready");
  std::fflush(stdout);

  std::array<epoll_event, 256> events;
  std::array<char, 65536> buffer;
  while (true) {
    const int count = epoll_wait(poller, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      auto* client = static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (!client) {
        const int accepted = accept(listener, nullptr, nullptr);
        if (accepted < 0) continue;
        setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        epoll_event of_client{.events = EPOLLIN, .data = {.ptr = new Client{accepted}}};
        epoll_ctl(poller, EPOLL_CTL_ADD, accepted, &of_client);
        continue;
      }
      const ssize_t size = read(client->socket, buffer.data(), buffer.size());
      if (size > 0) client->input.append(buffer.data(), static_cast<std::size_t>(size));
      if (size > 0 && client->answer()) continue;
      close(client->socket);
      delete client;
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fputs("null_server PORT [THREADS]\n", stderr), 2;
  const auto port = static_cast<std::uint16_t>(std::atoi(argv[1]));
  std::vector<std::jthread> threads;
  for (int i = argc > 2 ? std::atoi(argv[2]) : 1; i > 0; --i) threads.emplace_back(serve, port);
}
