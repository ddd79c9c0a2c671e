#include "executor/redis/cluster_members.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

namespace redquel::executor {

namespace {

/// Redis Cluster is made for at most 1,000 nodes.
constexpr std::size_t kMostMembers = 2'000, kLongestHostOfNode = 255, kLongestIdOfNode = 64;

template <typename Integer>
std::optional<Integer> number_in_word(std::string_view text) {
  Integer number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.empty() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::vector<std::string_view> split_words(std::string_view text, char separator) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(separator));
    if (!word.empty()) words.push_back(word);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

/// Takes "10.0.0.1:6379@16379,name"; an empty host is that of the node that was asked.
std::optional<TcpPlace> place_in(std::string_view word, const TcpPlace& asked) {
  const std::string_view address = word.substr(0, word.find_first_of("@,"));
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto port = number_in_word<std::uint16_t>(address.substr(colon + 1));
  const std::string_view host = colon == 0 ? std::string_view(asked.host) : address.substr(0, colon);
  if (!port || *port == 0 || !is_host_of_node(host)) return std::nullopt;
  return TcpPlace{std::string(host), *port};
}

/// Takes "17", "0-5460" or "[17->-id]".
void add_slots(std::string_view word, ClusterMember& member) {
  if (word.starts_with('[')) {
    const std::size_t arrow = word.find("->-");
    if (arrow == std::string_view::npos || !word.ends_with(']')) return;
    const auto slot = number_in_word<Slot>(word.substr(1, arrow - 1));
    if (slot && *slot < kSlotCount) member.leaving.emplace_back(*slot, word.substr(arrow + 3, word.size() - arrow - 4));
    return;
  }
  const std::size_t dash = word.find('-');
  const auto first = number_in_word<Slot>(word.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_in_word<Slot>(word.substr(dash + 1));
  if (!first || !last || *first > *last || *last >= kSlotCount) return;
  for (std::size_t slot = *first; slot <= *last; ++slot) member.slots.set(slot);
}

}  // namespace

bool is_host_of_node(std::string_view host) {
  const auto is_unusable = [](unsigned char byte) { return byte <= ' ' || byte >= 0x7F; };
  return !host.empty() && host.size() <= kLongestHostOfNode && !std::ranges::any_of(host, is_unusable);
}

std::vector<ClusterMember> read_members(std::string_view text, const TcpPlace& asked) {
  std::vector<ClusterMember> members;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    // id, address, flags, master, ping, pong, epoch, link, slots…
    const std::vector<std::string_view> words = split_words(line, ' ');
    if (words.size() < 8 || words[0].size() > kLongestIdOfNode || members.size() >= kMostMembers) continue;
    const std::optional<TcpPlace> place = place_in(words[1], asked);
    if (!place) continue;
    const std::vector<std::string_view> flags = split_words(words[2], ',');
    const auto has_flag = [&](std::string_view flag) { return std::ranges::find(flags, flag) != flags.end(); };
    ClusterMember member{.id = std::string(words[0]), .place = *place, .master = {}, .slots = {}, .leaving = {}};
    member.is_asked = has_flag("myself");
    member.is_reachable = !has_flag("fail") && !has_flag("fail?") && !has_flag("handshake") && !has_flag("noaddr");
    if (words[3] != "-") member.master = words[3];
    member.epoch = number_in_word<std::uint64_t>(words[6]).value_or(0);
    for (const std::string_view word : std::span(words).subspan(8)) add_slots(word, member);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace redquel::executor
