#include "executor/storage/write_program.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <stdexcept>

#include "executor/redis/redis_error.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Phase = StepInfo::Phase;

constexpr StepInfo kSteps[] = {
    {"version", Phase::kGuard, "oid version"},
    {"free", Phase::kGuard, "key fields*"},
    {"row", Phase::kGuard, "key names_and_values*"},
    {"absent", Phase::kGuard, "key"},
    {"count", Phase::kEffect, "key"},
    {"set+", Phase::kEffect, "values value member"},
    {"score+", Phase::kEffect, "zset score member"},
    {"hset", Phase::kEffect, "key names_and_values*"},
    {"set-", Phase::kEffect, "values value member"},
    {"score-", Phase::kEffect, "zset member"},
    {"claim", Phase::kEffect, "hash value member"},
    {"hincr", Phase::kEffect, "key field number bound"},
    {"drop", Phase::kEffect, "key"},
    {"member+", Phase::kEffect, "set member"},
    {"member-", Phase::kEffect, "set member"},
    {"release", Phase::kEffect, "hash value member"},
    {"hdel", Phase::kEffect, "key fields*"},
    {"emptied", Phase::kEffect, "key values value"},
    {"kind", Phase::kGuard, "key type"},
    {"run", Phase::kEffect, "command*"},
    {"fields", Phase::kGuard, "key packed names*"},
    {"reply", Phase::kGuard, "text command*"},
    {"inherit", Phase::kEffect, "hash value member from"},
    {"lease", Phase::kGuard, "key"},
    {"held", Phase::kGuard, "key owner fields*"},
    {"token", Phase::kGuard, "key slot number"},
    {"committed", Phase::kEffect, "key slot number"},
    {"parent", Phase::kGuard, "key"},
    {"parent_value", Phase::kGuard, "hash value"},
    {"no_children", Phase::kGuard, "set"},
    {"take", Phase::kGuard, "key fields*"},
    {"sum", Phase::kGuard, "place number"},
    {"move", Phase::kEffect, "values value member place"},
    {"rescore", Phase::kEffect, "zset score member place value"},
    {"mark", Phase::kEffect, "set member place value"},
    {"catalog", Phase::kGuard, "version"},
    {"respect", Phase::kGuard, "key token modes fields*"},
    {"nothing", Phase::kGuard, "command*"},
    {"stream", Phase::kGuard, "key id"},
    {"look_in", Phase::kGuard, "database"},
    {"write_in", Phase::kEffect, "database"},
    {"as_user", Phase::kGuard, "has_guard"},
    {"forget_sets", Phase::kEffect, "names member"},
    {"forget_fields", Phase::kEffect, "entries"},
    {"unprepared", Phase::kGuard, "name"},
    {"lasting", Phase::kGuard, "keys*"},
    {"counter", Phase::kGuard, "key"},
    {"pledge", Phase::kGuard, "key owner own modes fields*"},
    {"absents", Phase::kGuard, "keys*"},
    {"same_rows", Phase::kGuard, "width names_and_rows*"},
    {"hsets", Phase::kEffect, "width names_and_rows*"},
    {"sets+", Phase::kEffect, "values groups*"},
    {"sets-", Phase::kEffect, "values groups*"},
    {"scores+", Phase::kEffect, "zset scores_and_members*"},
    {"scores-", Phase::kEffect, "zset members*"},
    {"members+", Phase::kEffect, "set members*"},
    {"members-", Phase::kEffect, "set members*"},
    {"claims", Phase::kEffect, "hash values_and_members*"},
    {"owners", Phase::kGuard, "hash values_and_members*"},
    {"owns", Phase::kEffect, "hash values_and_members*"},
    {"releases", Phase::kEffect, "hash values_and_members*"},
    {"drops", Phase::kEffect, "keys*"},
    {"changes", Phase::kEffect, "rows*"},
    {"adds", Phase::kEffect, "increments*"},
    {"emptieds", Phase::kEffect, "values keys_and_values*"},
    {"pass", Phase::kGuard, "key owner modes fields*"},
    {"lock", Phase::kGuard, "key owner modes fields*"},
    {"give", Phase::kGuard, "key owner modes fields*"},
    {"parents", Phase::kGuard, "places*"},
    {"children", Phase::kGuard, "set goes_on members*"},
    {"are_sets", Phase::kGuard, "keys*"},
    {"are_zsets", Phase::kGuard, "keys*"},
    {"still", Phase::kGuard, "counter value"},
    {"since", Phase::kGuard, "counter value"},
    {"as_read", Phase::kGuard, "key names_and_values*"},
    {"depart", Phase::kEffect, "keys*"},
    {"arrive", Phase::kEffect, "keys*"},
    {"expire", Phase::kEffect, "due entries prefix records*"},
    {"room", Phase::kEffect, "key"},
    {"journal", Phase::kEffect, "key record"},
    {"unjournal", Phase::kEffect, "key"},
    {"no_hash", Phase::kGuard, "key"},
    {"retypes", Phase::kEffect, "type keys*"},
    {"adopt", Phase::kEffect, "hash value member from"},
    {"raise", Phase::kEffect, "counter least"},
    {"relocate", Phase::kEffect, "zset field prefix width names_and_rows*"},
    {"definitions", Phase::kEffect, "key_count words*"},
    {"reading", Phase::kGuard, "locks*"},
    {"parts", Phase::kGuard, "words*"},
    {"record", Phase::kEffect, "owner redo"},
};
static_assert(std::size(kSteps) == static_cast<std::size_t>(StepKind::kRecord) + 1);

[[noreturn]] void refuse(std::string_view what) { throw std::invalid_argument("no program of writes: " + std::string(what)); }

}  // namespace

const StepInfo& step_info(StepKind kind) { return kSteps[static_cast<std::size_t>(kind)]; }

void WriteProgram::add(StepKind kind, std::span<const std::string_view> words, std::span<const std::string_view> list) {
  const StepInfo& info = step_info(kind);
  if (words.size() != info.fixed_words() || (!list.empty() && !info.has_list())) refuse(info.name);
  if (info.phase == Phase::kGuard && first_effect_) refuse(info.name);
  if (info.phase == Phase::kEffect && !first_effect_) first_effect_ = words_.size();
  words_.push_back(info.name);
  if (info.has_list()) words_.push_back(arena_.store(std::to_string(words.size() + list.size())));
  words_.insert(words_.end(), words.begin(), words.end());
  words_.insert(words_.end(), list.begin(), list.end());
}

void WriteProgram::append(const WriteProgram& other, Phase phase) {
  const std::size_t guards = other.first_effect_.value_or(other.words_.size());
  const std::span<const std::string_view> words = other.words();
  if (phase == Phase::kGuard && first_effect_ && guards > 0) refuse(words[0]);
  if (phase == Phase::kEffect && !first_effect_ && guards < words.size()) first_effect_ = words_.size();
  for (const std::string_view word : phase == Phase::kGuard ? words.first(guards) : words.subspan(guards)) words_.push_back(store(word));
}

std::span<const std::string_view> WriteProgram::effects() const { return words().subspan(first_effect_.value_or(words_.size())); }

void append_program(CommandBatch& batch, const Script& script, const WriteProgram& program, std::string_view tag) {
  if (spdlog::should_log(spdlog::level::trace)) {
    std::string text = program_text(program.words());
    std::ranges::replace(text, '\n', ';');
    spdlog::trace("program of {}: {}", script.name(), text);
  }
  std::size_t bytes = batch.bytes().size() + 128;
  for (const std::string_view word : program.words()) bytes += word.size() + 8;
  batch.reserve(bytes);
  std::vector<std::string> keys;  // in a cluster one, for the way to the bucket
  if (sql::uses_cluster()) keys.push_back(std::string(tag).append(sql::kVersionsKey));
  script.append_call(batch, keys, program.words());
}

asio::awaitable<RepliesPtr> run_program(RedisClient& client, const Script& script, const WriteProgram& program, std::string_view tag,
                                        ExecutionCounters* counters) {
  CommandBatch batch;
  append_program(batch, script, program, tag);
  return run_scripts(client, {&script}, std::move(batch), counters);
}

std::vector<ProgramStep> steps_of(std::span<const std::string_view> words) {
  std::vector<ProgramStep> steps;
  while (!words.empty()) {
    std::size_t kind = 0;
    while (kind < std::size(kSteps) && kSteps[kind].name != words.front()) ++kind;
    if (kind == std::size(kSteps)) refuse(words.front());
    std::size_t first = 1, count = kSteps[kind].fixed_words();
    if (kSteps[kind].has_list()) {
      if (words.size() < 2) refuse(words.front());
      const std::string_view number = words[1];
      if (std::from_chars(number.data(), number.data() + number.size(), count).ec != std::errc()) refuse(words.front());
      first = 2;
    }
    if (count < kSteps[kind].fixed_words() || words.size() - first < count) refuse(words.front());
    steps.push_back({static_cast<StepKind>(kind), words.subspan(first, count)});
    words = words.subspan(first + count);
  }
  return steps;
}

ProgramStop stop_of(const WriteProgram& program, std::span<const Reply> answer, std::size_t words_before) {
  if (answer.size() > 1 && answer[0].text == "stop") {
    for (const ProgramStep& step : steps_of(program.words())) {
      const std::size_t head = step_info(step.kind).has_list() ? 2 : 1;
      const std::ptrdiff_t position = step.words.data() - program.words().data() - static_cast<std::ptrdiff_t>(head) + 1;
      if (position + static_cast<std::ptrdiff_t>(words_before) != answer[1].integer) continue;
      ProgramStop stop{step, {}};
      for (const Reply& found : answer.subspan(2)) stop.found.emplace_back(found.text);
      return stop;
    }
  }
  throw unexpected_reply("EVALSHA", "an answer of the program");
}

sql::SqlError program_notice(const WriteProgram& program) {
  std::string text = program_text(program.words());
  if (!text.empty()) text.pop_back();
  return sql::SqlError(sqlstate::kSuccessfulCompletion, "program of a write").detail(std::move(text));
}

std::string program_text(std::span<const std::string_view> words) {
  std::string text;
  for (const ProgramStep& step : steps_of(words)) {
    text += step_info(step.kind).name;
    for (const std::string_view word : step.words) {
      const bool is_quoted = word.empty() || word.find_first_of(" \n'") != std::string_view::npos;
      text += is_quoted ? " '" : " ";
      for (const char c : word) {
        if (c == '\0') text += "\\0";
        else if (c == '\n') text += "\\n";
        else text += c == '\'' ? std::string("''") : std::string(1, c);
      }
      if (is_quoted) text += '\'';
    }
    text += '\n';
  }
  return text;
}

}  // namespace redquel::executor
