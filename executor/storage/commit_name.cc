#include "executor/storage/commit_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>

#include "executor/runtime/random_version.h"
#include "sql/catalog/buckets.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kIdSize = 16;

bool is_hex(char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'); }

/// Reads numbers with commas between, each less than `limit`. Returns nullopt for any other text.
template <typename Number>
std::optional<std::vector<Number>> parse_numbers(std::string_view text, Number limit) {
  std::vector<Number> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    Number number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number >= limit || *at == '-' || (*at == '0' && behind - at > 1)) return std::nullopt;
    numbers.push_back(number);
    if (behind == end) return numbers;
    if (*behind != ',' || behind + 1 == end) return std::nullopt;
    at = behind + 1;
  }
}

}  // namespace

CommitName make_commit_name(std::vector<int> buckets, std::span<const sql::Oid> tables) {
  std::ranges::sort(buckets);
  CommitName name{{}, std::move(buckets), {tables.begin(), tables.end()}};
  name.text = fmt::format("{}.{}.{}", random_version(), fmt::join(name.buckets, ","), fmt::join(name.tables, ","));
  return name;
}

std::optional<CommitName> parse_commit_name(std::string_view text) {
  if (text.size() <= kIdSize || text[kIdSize] != '.' || !std::ranges::all_of(text.substr(0, kIdSize), is_hex)) return std::nullopt;
  const std::string_view rest = text.substr(kIdSize + 1);
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  std::optional<std::vector<int>> buckets = parse_numbers<int>(rest.substr(0, dot), sql::kBucketLimit);
  // A bucket that comes twice, or out of order, is no name of ours.
  if (!buckets || std::ranges::adjacent_find(*buckets, std::greater_equal<>()) != buckets->end()) return std::nullopt;
  std::vector<sql::Oid> tables;
  if (const std::string_view words = rest.substr(dot + 1); !words.empty()) {
    std::optional<std::vector<sql::Oid>> numbers = parse_numbers<sql::Oid>(words, std::numeric_limits<sql::Oid>::max());
    if (!numbers) return std::nullopt;
    tables = std::move(*numbers);
  }
  return CommitName{std::string(text), std::move(*buckets), std::move(tables)};
}

}  // namespace redquel::executor
