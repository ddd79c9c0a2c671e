#include "executor/memory/client_memory.h"

#include <charconv>
#include <string>

namespace redquel::executor {

std::optional<std::uint64_t> memory_limit(std::string_view info) {
  constexpr std::string_view kName = "\nmaxmemory:";
  const std::size_t at = info.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = info.substr(at + kName.size());
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() ? std::optional(value) : std::nullopt;
}

bool bounds_clients(const Resp3Value& reply, std::uint64_t maxmemory) {
  if (reply.children.size() != 2 || !reply.children[1].is_text()) return false;
  const std::string& text = reply.children[1].text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value == 0) return false;
  constexpr std::uint64_t kHalf = 50;
  return std::string_view(end) == "%" ? value <= kHalf : value <= maxmemory / 2;
}

}  // namespace redquel::executor
