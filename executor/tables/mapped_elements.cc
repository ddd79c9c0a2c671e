#include <algorithm>

#include "executor/tables/mapped_reader.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

// Rows of MappedReader that are elements of a set, zset, list, stream or hash.

namespace redquel::executor {

using sql::Mapping;
using Layout = Mapping::Layout;
using Role = Mapping::Role;

bool MappedReader::take_members(Waiting& waiting, const Reply& reply) {
  const std::span<const Reply> parts = reply.children();
  if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of a SCAN command");
  const bool is_last = parts[0].text == "0";
  const bool is_only = is_last && waiting.cursor == "0";
  if (!is_only && !waiting.seen) waiting.seen = std::make_shared<std::unordered_set<std::string>>();
  const std::span<const Reply> elements = parts[1].children();
  const std::size_t width = mapping_.layout == Layout::kSet ? 1 : 2;
  const auto name = position_of(mapping_.layout == Layout::kHashFields ? Role::kName : Role::kMember);
  const auto value = position_of(mapping_.layout == Layout::kHashFields ? Role::kValue : Role::kScore);
  for (std::size_t i = 0; i + width <= elements.size(); i += width) {
    if (waiting.seen && !waiting.seen->insert(std::string(elements[i].text)).second) continue;
    std::vector<std::optional<std::string_view>> texts = no_texts();
    if (name) texts[*name] = elements[i].text;
    if (value && width == 2) texts[*value] = elements[i + 1].text;
    add_row(waiting, texts, elements[i].text);
  }
  waiting.cursor = std::string(parts[0].text);
  return is_last;
}

bool MappedReader::take_names(Waiting& waiting, const Reply& reply) {
  constexpr std::int64_t kFewNames = 10'000;  // HKEYS of as many holds Redis for a millisecond
  if (waiting.names == Waiting::Names::kUncounted) {
    waiting.names = reply.integer > kFewNames ? Waiting::Names::kMany : Waiting::Names::kFew;
    return reply.integer == 0;
  }
  const auto position = position_of(Role::kName);
  for (const Reply& name : reply.children()) {
    std::vector<std::optional<std::string_view>> texts = no_texts();
    if (position) texts[*position] = name.text;
    add_row(waiting, texts, name.text);
  }
  return true;
}

bool MappedReader::take_list(Waiting& waiting, std::span<const Reply> replies) {
  const ListRange& range = waiting.target.range;
  const std::span<const Reply> elements = replies.back().children();
  const std::uint64_t first = range.from_end > 0 ? static_cast<std::uint64_t>(replies[0].integer) - elements.size() : std::stoull(waiting.cursor);
  const auto value = position_of(Role::kValue), position = position_of(Role::kPosition);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::vector<std::optional<std::string_view>> texts = no_texts();
    const std::string number = std::to_string(first + i);
    if (value) texts[*value] = elements[i].text;
    if (position) texts[*position] = number;
    add_row(waiting, texts);
  }
  const std::uint64_t next = first + elements.size();
  waiting.cursor = std::to_string(next);
  return range.from_end > 0 || elements.size() < page_ || next > range.last;
}

bool MappedReader::take_stream(Waiting& waiting, const Reply& reply) {
  const std::span<const Reply> entries = reply.children();
  const auto id = position_of(Role::kId), time = position_of(Role::kTime), sequence = position_of(Role::kSequence);
  for (const Reply& entry : entries) {
    const std::span<const Reply> parts = entry.children();
    if (parts.size() != 2) continue;
    std::vector<std::optional<std::string_view>> texts = no_texts();
    const std::size_t dash = std::min(parts[0].text.find('-'), parts[0].text.size() - 1);
    if (id) texts[*id] = parts[0].text;
    if (time) texts[*time] = parts[0].text.substr(0, dash);
    if (sequence) texts[*sequence] = parts[0].text.substr(dash + 1);
    const std::span<const Reply> pairs = parts[1].children();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == nullptr || columns_[i]->role != Role::kField) continue;
      for (std::size_t pair = 0; pair + 1 < pairs.size(); pair += 2) {
        if (pairs[pair].text == columns_[i]->field) texts[i] = pairs[pair + 1].text;
      }
    }
    add_row(waiting, texts);
    waiting.cursor = std::string(parts[0].text);
  }
  return entries.size() < page_;
}

}  // namespace redquel::executor
