#include "executor/storage/write_answer.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string_view>
#include <utility>

#include "executor/redis/redis_error.h"
#include "executor/storage/mapped_unit.h"
#include "executor/storage/write_encoding.h"

namespace redquel::executor {

namespace {

/// By the first word of the script's reply.
constexpr std::pair<std::string_view, WriteStatus> kStatuses[] = {
    {"applied", WriteStatus::kApplied}, {"verified", WriteStatus::kApplied}, {"failed", WriteStatus::kApplied},
    {"stale", WriteStatus::kStale},     {"changed", WriteStatus::kConflict}, {"lost", WriteStatus::kLostLock},
    {"fenced", WriteStatus::kFenced},   {"locked", WriteStatus::kLocked}};

/// Lua's numbers come as integers, those in strings as texts.
std::size_t number_of(const Reply& reply) {
  if (!reply.is_text()) return static_cast<std::size_t>(reply.integer);
  std::size_t value = 0;
  std::from_chars(reply.text.data(), reply.text.data() + reply.text.size(), value);
  return value;
}

}  // namespace

WriteAnswer WriteEncoding::decode(std::size_t call, std::span<const Reply> reply) const {
  if (reply.empty() || !reply[0].is_text()) throw unexpected_reply("EVALSHA", "a result of the write script");
  const std::string_view word = reply[0].text;
  if (word == "mapped") {
    MappedWriteResult refused = stopped_mapped_write(unit_.options_.mapped->program(), reply.subspan(1));
    return {refused.status, std::move(refused.blocker)};
  }
  const auto status = std::ranges::find(kStatuses, word, &std::pair<std::string_view, WriteStatus>::first);
  if (status == std::end(kStatuses)) throw unexpected_reply("EVALSHA", "a result of the write script");
  WriteAnswer answer{status->second};
  if (word == "locked") {
    if (reply.size() < 4) throw unexpected_reply("EVALSHA", "the holder of a lock");
    answer.blocker = {std::string(reply[1].text), std::string(reply[2].text), std::string(reply[3].text)};
  }
  if (word != "failed") return answer;
  for (std::size_t index = 1; index + 2 < reply.size(); index += 3) {
    answer.findings.push_back(finding(calls_[call], reply[index].text, number_of(reply[index + 1]), reply[index + 2]));
  }
  return answer;
}

/// The script's `fail(kind, index, detail)`: the index is that of the section's entry within this call.
WriteFinding WriteEncoding::finding(const Call& call, std::string_view kind, std::size_t index, const Reply& detail) const {
  if (kind == "row") return TakenKey{new_rows_.at(call.new_rows.first + index)};
  if (kind == "unique") {
    const UniqueCheck& check = pending_checks_.at(call.uniques.first + index).second;
    return TakenValue{check.change, check.structure, std::string(detail.text)};
  }
  if (kind == "old") {
    index += call.old_rows.first;  // guards follow the rows
    if (index < old_rows_.size()) return ChangedRow{old_rows_[index]};
    return ChangedGuard{};
  }
  if (kind == "increment") return FailedIncrement{};
  if (kind == "parent") return MissingParent{call.parents.first + index};
  if (kind == "child") return RemainingChildren{children_parts_.at(call.children.first + index).children, number_of(detail)};
  if (kind == "some") return LeavingChildren{children_parts_.at(call.children.first + index).children, number_of(detail)};
  throw unexpected_reply("EVALSHA", "a finding of the write script");
}

}  // namespace redquel::executor
