// The ideal commands of a workload, sent by many clients with nothing between them and Redis: what redquel is measured against.
//
//   raw_redis SOCKET CLIENTS SECONDS SCRIPT [SEED]
//
// SOCKET is a unix socket's path or HOST:PORT. SCRIPT is what one transaction sends: lines of commands, words separated by blanks,
// a double-quoted word may hold blanks; the commands between two "--" lines go out together, one round trip. In a word
//   {A:B}   a number drawn from A to B, once a transaction; {A:B:NAME} another one for each NAME
//   {*}     each member of the array that the last reply of the round before was: one command for each
// Prints transactions, errors, transactions per second, and median and 99th percentile latency in microseconds.
#include <arpa/inet.h>
#include <hiredis/hiredis.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;
using Round = std::vector<Words>;

std::mt19937_64 generator;

Words split(const std::string& line) {
  Words words;
  std::string word;
  bool quoted = false, any = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
      any = true;
    } else if (c == ' ' && !quoted) {
      if (any) words.push_back(word);
      word.clear();
      any = false;
    } else {
      word += c;
      any = true;
    }
  }
  if (any) words.push_back(word);
  return words;
}

std::vector<Round> read_script(const char* path) {
  std::vector<Round> rounds(1);
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line == "--") rounds.emplace_back();
    else if (!line.empty()) rounds.back().push_back(split(line));
  }
  return rounds;
}

int connect_to(const std::string& address) {
  if (const auto colon = address.rfind(':'); colon != std::string::npos && address[0] != '/') {
    const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_port = htons(static_cast<std::uint16_t>(std::atoi(address.c_str() + colon + 1)));
    inet_pton(AF_INET, address.substr(0, colon).c_str(), &where.sin_addr);
    const int yes = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return connect(descriptor, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0 ? descriptor : -1;
  }
  const int descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::snprintf(where.sun_path, sizeof where.sun_path, "%s", address.c_str());
  return connect(descriptor, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0 ? descriptor : -1;
}

class Client {
 public:
  Client(int descriptor, const std::vector<Round>& rounds) : descriptor_(descriptor), rounds_(rounds) {}

  int descriptor() const { return descriptor_; }

  void begin() {
    started_ = Clock::now();
    drawn_.clear();
    members_.clear();
    round_ = 0;
    send_round();
  }

  // Takes what has arrived. Returns the latency when the transaction is over, else a negative number.
  double receive(std::uint64_t& errors) {
    std::array<char, 262144> buffer;
    const ssize_t size = read(descriptor_, buffer.data(), buffer.size());
    if (size <= 0) std::exit((std::fputs("raw_redis: Redis closed the connection\n", stderr), 1));
    redisReaderFeed(reader_.get(), buffer.data(), static_cast<std::size_t>(size));
    for (void* got = nullptr; redisReaderGetReply(reader_.get(), &got) == REDIS_OK && got;) {
      const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(static_cast<redisReply*>(got), freeReplyObject);
      if (reply->type == REDIS_REPLY_ERROR && errors++ == 0) std::fprintf(stderr, "%s\n", reply->str);
      if (--outstanding_ > 0) continue;
      members_.clear();
      for (std::size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements; ++i)
        if (reply->element[i]->str) members_.emplace_back(reply->element[i]->str, reply->element[i]->len);
      ++round_;
      if (round_ < rounds_.size()) send_round();
      if (outstanding_ == 0) return std::chrono::duration<double, std::micro>(Clock::now() - started_).count();
    }
    return -1;
  }

 private:
  // Sends the next round that has commands; none is left when `outstanding_` stays 0.
  void send_round() {
    std::string output;
    for (; round_ < rounds_.size() && outstanding_ == 0; ++round_) {
      for (const Words& words : rounds_[round_]) {
        const bool each = std::any_of(words.begin(), words.end(), [](const std::string& w) { return w.find("{*}") != std::string::npos; });
        if (!each) append(output, words, "");
        else for (const std::string& member : members_) append(output, words, member);
      }
      if (outstanding_ > 0) break;
    }
    for (std::size_t sent = 0; sent < output.size();) {
      const ssize_t size = write(descriptor_, output.data() + sent, output.size() - sent);
      if (size <= 0) std::exit((std::perror("raw_redis"), 1));
      sent += static_cast<std::size_t>(size);
    }
  }

  void append(std::string& output, const Words& words, const std::string& member) {
    output += '*' + std::to_string(words.size()) + "\r\n";
    for (const std::string& word : words) {
      const std::string filled = fill(word, member);
      output += '$' + std::to_string(filled.size()) + "\r\n" + filled + "\r\n";
    }
    ++outstanding_;
  }

  std::string fill(const std::string& word, const std::string& member) {
    std::string out;
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t open = word.find('{', at), close = word.find('}', open);
      if (close == std::string::npos) return out + word.substr(at);
      out += word.substr(at, open - at);
      const std::string what = word.substr(open + 1, close - open - 1);
      out += what == "*" ? member : std::to_string(drawn(what));
      at = close + 1;
    }
    return out;
  }

  long drawn(const std::string& range) {
    if (const auto known = drawn_.find(range); known != drawn_.end()) return known->second;
    const std::size_t colon = range.find(':');
    std::uniform_int_distribution<long> uniform(std::stol(range), std::stol(range.substr(colon + 1)));
    return drawn_[range] = uniform(generator);
  }

  int descriptor_;
  const std::vector<Round>& rounds_;
  std::unique_ptr<redisReader, decltype(&redisReaderFree)> reader_{redisReaderCreate(), redisReaderFree};
  Clock::time_point started_;
  std::map<std::string, long> drawn_;
  std::vector<std::string> members_;
  std::size_t round_ = 0, outstanding_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return std::fputs("raw_redis SOCKET CLIENTS SECONDS SCRIPT [SEED]\n", stderr), 2;
  const std::vector<Round> rounds = read_script(argv[4]);
  generator.seed(argc > 5 ? static_cast<std::uint64_t>(std::atoll(argv[5])) : 1);
  const int poller = epoll_create1(0);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = std::atoi(argv[2]); i > 0; --i) {
    const int descriptor = connect_to(argv[1]);
    if (descriptor < 0) return std::perror("raw_redis"), 1;
    clients.push_back(std::make_unique<Client>(descriptor, rounds));
    epoll_event event{.events = EPOLLIN, .data = {.ptr = clients.back().get()}};
    epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
  }
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::atof(argv[3])));
  for (const auto& client : clients) client->begin();
  std::vector<double> latencies;
  std::uint64_t errors = 0;
  std::array<epoll_event, 256> events;
  while (Clock::now() < end) {
    const int count = epoll_wait(poller, events.data(), static_cast<int>(events.size()), 100);
    for (int i = 0; i < count; ++i) {
      auto* client = static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (const double latency = client->receive(errors); latency >= 0) {
        latencies.push_back(latency);
        client->begin();
      }
    }
  }
  if (latencies.empty()) return std::fputs("raw_redis: no transaction ended in time\n", stderr), 1;
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::sort(latencies.begin(), latencies.end());
  std::printf("transactions %zu errors %llu rate %.1f median_us %.1f p99_us %.1f\n", latencies.size(),
              static_cast<unsigned long long>(errors), static_cast<double>(latencies.size()) / seconds, latencies[latencies.size() / 2],
              latencies[latencies.size() * 99 / 100]);
}
