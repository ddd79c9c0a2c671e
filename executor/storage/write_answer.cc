#include "executor/storage/write_answer.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "executor/redis/redis_error.h"
#include "executor/storage/mapped_unit.h"
#include "executor/storage/write_encoding.h"

namespace redquel::executor {

namespace {

/// Lua's numbers come as integers, those in strings as texts.
std::size_t number_of(const Reply& reply) {
  if (!reply.is_text()) return static_cast<std::size_t>(reply.integer);
  std::size_t value = 0;
  std::from_chars(reply.text.data(), reply.text.data() + reply.text.size(), value);
  return value;
}

sql::SqlError not_a_counter(std::string_view key) {
  return redis_error("WRONGTYPE " + std::string(key) + " is not a counter", "EVALSHA");
}

}  // namespace

WriteAnswer WriteEncoding::decode(std::size_t number, std::span<const Reply> reply) const {
  const Call& call = calls_[number];
  if (reply.empty() || !reply[0].is_text()) throw unexpected_reply("EVALSHA", "an answer of the program");
  const std::string_view word = reply[0].text;
  if (word == "applied") return {};
  if (word != "found") return stopped(call, reply);
  WriteAnswer answer;
  for (std::size_t index = 1; index + 2 < reply.size(); index += 3) {
    answer.findings.push_back(finding(call, number_of(reply[index]), number_of(reply[index + 1]), reply[index + 2]));
  }
  return answer;
}

/// Returns the meaning of the step that has stopped the program. Rows that are not as expected, which a commit over buckets has found, are
/// kApplied: the caller looks at them.
WriteAnswer WriteEncoding::stopped(const Call& call, std::span<const Reply> reply) const {
  const ProgramStop stop = stop_of(call.program, reply, call.words_before);
  const auto locked = [&](std::string_view key) { return WriteAnswer{WriteStatus::kLocked, {stop.found.at(0), std::string(key), stop.found.at(1)}}; };
  switch (stop.step.kind) {
    case StepKind::kVersion:
    case StepKind::kDefinitions:
    case StepKind::kParts: return {WriteStatus::kStale};
    case StepKind::kToken: {
      const bool is_made = stop.found.at(0) == std::string(stop.step.words[2]) + " committed";  // the answer was lost
      return {is_made ? WriteStatus::kApplied : WriteStatus::kFenced};
    }
    case StepKind::kLease: return {WriteStatus::kLostLock};
    case StepKind::kLock:
    case StepKind::kPass:
    case StepKind::kGive:
    case StepKind::kPledge: return stop.found.empty() ? WriteAnswer{WriteStatus::kLostLock} : locked(stop.step.words[0]);
    case StepKind::kReading: return locked(stop.found.at(2));
    case StepKind::kStill:
    case StepKind::kAsRead:
    case StepKind::kHincr:
    case StepKind::kAdds: return {WriteStatus::kConflict};
    case StepKind::kRow:
    case StepKind::kAbsent:
    case StepKind::kClaim:
    case StepKind::kInherit:
    case StepKind::kParent:
    case StepKind::kParentValue:
    case StepKind::kNoChildren: return {};
    case StepKind::kCounter: throw not_a_counter(stop.step.words[0]);
    case StepKind::kCount: {
      const std::string& error = stop.found.at(0);
      if (error.starts_with("WRONGTYPE") || error.starts_with("ERR")) throw not_a_counter(stop.step.words[0]);
      throw redis_error(error, "EVALSHA");  // no memory, …
    }
    default: break;
  }
  MappedWriteResult refused = stopped_mapped_write(call.program, reply);
  return {refused.status, std::move(refused.blocker)};
}

/// `index`: of the thing among those that the step at the place looks at.
WriteFinding WriteEncoding::finding(const Call& call, std::size_t place, std::size_t index, const Reply& detail) const {
  const auto origin = std::ranges::find(call.origins, place - call.words_before, &Origin::place);
  if (origin == call.origins.end()) throw unexpected_reply("EVALSHA", "a finding of the program");
  const std::size_t number = origin->first + index;
  switch (origin->kind) {
    case Origin::Kind::kNewRow: return TakenKey{new_rows_.at(number)};
    case Origin::Kind::kOldRow: return ChangedRow{old_rows_.at(number)};
    case Origin::Kind::kGuard: return ChangedGuard{};
    case Origin::Kind::kUnique: {
      const UniqueCheck& check = pending_checks_.at(number).second;
      return TakenValue{check.change, check.structure, std::string(detail.text)};
    }
    case Origin::Kind::kParent: return MissingParent{number};
    case Origin::Kind::kChildren: break;
  }
  if (index == 0) return RemainingChildren{origin->first, number_of(detail)};
  return LeavingChildren{origin->first, number_of(detail)};
}

}  // namespace redquel::executor
