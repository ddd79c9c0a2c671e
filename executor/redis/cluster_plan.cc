#include "executor/redis/cluster_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "executor/redis/atomic_reads.h"
#include "executor/redis/command_keys.h"
#include "executor/redis/command_words.h"
#include "executor/redis/redis_error.h"
#include "executor/redis/write_admission.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// A key as a message shows it.
std::string shown_key(std::string_view key) {
  constexpr std::size_t kLongest = 100;
  std::string text(key.substr(0, kLongest));
  for (char& character : text) {
    if (static_cast<unsigned char>(character) < ' ' || static_cast<unsigned char>(character) >= 0x7F) character = '?';
  }
  return text;
}

bool is_any_of(std::string_view name, std::initializer_list<std::string_view> names) { return std::ranges::find(names, name) != names.end(); }

/// Returns the positions of the keys in `words`, slot by slot.
std::vector<std::vector<std::size_t>> by_slot(std::span<const std::string_view> words, const CommandKeys& keys) {
  std::vector<std::vector<std::size_t>> groups;
  std::map<Slot, std::size_t> group_of;
  for (std::size_t index = 0; index < keys.count; ++index) {
    const std::size_t at = keys.first + index * keys.step;
    const auto [group, is_new] = group_of.try_emplace(slot_of(words[at]), groups.size());
    if (is_new) groups.emplace_back();
    groups[group->second].push_back(at);
  }
  return groups;
}

/// Returns the slot of the only keys, or that of all; nullopt: they lie in several. `keys` has one at least.
std::optional<Slot> common_slot(std::span<const std::string_view> words, const CommandKeys& keys) {
  const Slot slot = slot_of(words[keys.first]);
  for (std::size_t index = 1; index < keys.count; ++index) {
    if (slot_of(words[keys.first + index * keys.step]) != slot) return std::nullopt;
  }
  return slot;
}

sql::SqlError several_slots(std::span<const std::string_view> words, const CommandKeys& keys) {
  const std::string_view first = words[keys.first];
  std::string_view other = first;
  for (std::size_t index = 1; index < keys.count && slot_of(other) == slot_of(first); ++index) other = words[keys.first + index * keys.step];
  return sql::SqlError(sqlstate::kFeatureNotSupported, fmt::format("keys \"{}\" and \"{}\" lie in different slots of the cluster", shown_key(first), shown_key(other)))
      .detail(fmt::format("{} takes keys of one slot.", shown_key(words[0])))
      .hint("Keys with the same text between { and } lie in one slot.");
}

}  // namespace

ClusterPlan::Unit& ClusterPlan::begin_unit(std::size_t count) {
  Unit& unit = units_.emplace_back();
  unit.first = parts_.size();
  unit.count = count;
  return unit;
}

void ClusterPlan::add_part(std::span<const std::string_view> words) {
  parts_.begin(words.size());
  for (const std::string_view word : words) parts_.arg(word);
}

bool ClusterPlan::only_reads(const Unit& unit) const {
  for (std::size_t part = unit.first; part < unit.first + unit.count; ++part) {
    if (!is_reading_command(parts_.names()[part])) return false;
  }
  return true;
}

void ClusterPlan::add_by_slots(std::span<const std::string_view> words, const CommandKeys& keys) {
  Answer& answer = answers_.emplace_back();
  answer.kind = keys.over == CommandKeys::Over::kSum ? Answer::Kind::kSum : Answer::Kind::kElements;
  for (const std::vector<std::size_t>& group : by_slot(words, keys)) {
    answer.several.push_back({.part = parts_.size()});
    begin_unit(1).slot = slot_of(words[group[0]]);
    parts_.begin(1 + group.size()).arg(words[0]);
    for (const std::size_t at : group) parts_.arg(words[at]);
    if (answer.kind != Answer::Kind::kElements) continue;
    std::vector<std::size_t>& elements = answer.elements.emplace_back(group);
    for (std::size_t& at : elements) at -= keys.first;
  }
}

void ClusterPlan::add(std::span<const std::string_view> words) {
  const std::string_view name = words[0];
  const CommandKeys keys = keys_of(words);
  const std::optional<Slot> slot = keys.count > 0 ? common_slot(words, keys) : std::nullopt;
  const bool is_spread = keys.count > 0 && !slot;
  const bool is_report = words.size() > 1 && ((name == "CLIENT" && words[1] == "LIST") || (name == "SLOWLOG" && words[1] == "GET") || (name == "LATENCY" && words[1] == "LATEST") ||
                                             (name == "PUBSUB" && words[1] == "NUMSUB"));
  const bool asks_all = is_report || is_any_of(name, {"SCAN", "DBSIZE", "RANDOMKEY"});
  if (asks_all || (is_spread && keys.over == CommandKeys::Over::kAlgebra)) {
    answers_.push_back({.kind = Answer::Kind::kSpecial, .only = {.part = specials_.size()}});
    specials_.push_back({answers_.size() - 1, {words.begin(), words.end()}});
    return;
  }
  if (is_spread && keys.over == CommandKeys::Over::kNothing) throw several_slots(words, keys);
  if (is_spread) return add_by_slots(words, keys);
  answers_.push_back({.only = {.part = parts_.size()}});
  Unit& unit = begin_unit(1);
  unit.slot = slot;
  unit.follows_ask = !keys.is_script;
  unit.is_beside = name == "SCRIPT";
  add_part(words);
}

ClusterPlan ClusterPlan::of(CommandBatch batch) {
  ClusterPlan plan;
  plan.names_ = batch.names();
  plan.parts_.reserve(batch.bytes().size());
  plan.units_.reserve(batch.size());
  plan.answers_.reserve(batch.size());
  BatchReader reader(batch.bytes());
  std::vector<std::string_view> words;
  while (!reader.at_end()) {
    reader.next(words);
    plan.add(words);
  }
  if (batch.awaits_replicas()) plan.parts_.await_replicas();
  return plan;
}

ClusterPlan ClusterPlan::of_snapshots(CommandBatch batch, Snapshots snapshots) {
  ClusterPlan plain = of(std::move(batch));
  std::map<Slot, std::vector<std::size_t>> by_slot;  // parts
  for (const Unit& unit : plain.units_) {
    if (unit.slot) by_slot[*unit.slot].push_back(unit.first);
  }
  ClusterPlan plan;
  std::vector<Source> sources(plain.parts_.size());
  std::vector<std::vector<std::string_view>> commands(plain.parts_.size());
  BatchReader reader(plain.parts_.bytes());
  for (std::vector<std::string_view>& words : commands) reader.next(words);
  const auto take_alone = [&](const Unit& unit) {
    sources[unit.first] = {.part = plan.parts_.size()};
    Unit& own = plan.units_.emplace_back(unit);
    own.first = plan.parts_.size();
    plan.add_part(commands[unit.first]);
  };
  for (const Unit& unit : plain.units_) {
    if (!unit.slot || by_slot[*unit.slot].size() == 1) take_alone(unit);
  }
  for (const auto& [slot, parts] : by_slot) {
    if (parts.size() == 1) continue;
    if (snapshots == Snapshots::kScripts) {
      CommandBatch run;
      run.append_commands(plain.parts_, parts);
      Unit& unit = plan.begin_unit(1);
      unit.slot = slot;
      unit.follows_ask = false;
      for (std::size_t index = 0; index < parts.size(); ++index) sources[parts[index]] = {.part = unit.first, .queued = index, .multi = unit.first};
      const std::vector<std::string_view>& words = commands[parts[0]];
      plan.parts_.add("EVAL_RO", kAtomicReadsScript.text(), 1, words[keys_of(words).first], run.bytes());
      continue;
    }
    Unit& unit = plan.begin_unit(parts.size() + 2);
    unit.slot = slot;
    unit.follows_ask = false;
    const std::size_t exec = unit.first + parts.size() + 1;
    plan.parts_.add("MULTI");
    for (std::size_t index = 0; index < parts.size(); ++index) {
      sources[parts[index]] = {.part = exec, .queued = index, .multi = unit.first};
      plan.add_part(commands[parts[index]]);
    }
    plan.parts_.add("EXEC");
  }
  for (Answer& answer : plain.answers_) {
    if (answer.kind == Answer::Kind::kOnly) answer.only = sources[answer.only.part];
    for (Source& source : answer.several) source = sources[source.part];
  }
  plan.answers_ = std::move(plain.answers_);
  plan.specials_ = std::move(plain.specials_);
  plan.names_ = std::move(plain.names_);
  return plan;
}

Reply ClusterPlan::reply_at(std::span<const Reply> parts, const Source& source) const {
  const Reply& reply = parts[source.part];
  if (!source.queued) return reply;
  // A command that could not be queued says more than EXECABORT.
  for (std::size_t part = source.multi; reply.is_error() && part <= source.part; ++part) {
    if (parts[part].is_error()) throw redis_error(parts[part].text, parts_.names()[part]);
  }
  if (reply.children().size() <= *source.queued) throw unexpected_reply("EXEC", "one reply per command");
  return reply.children()[*source.queued];
}

Reply ClusterPlan::sum_of(std::span<const Reply> parts, std::span<const Source> sources) const {
  Reply sum;
  sum.kind = Reply::Kind::integer;
  for (const Source& source : sources) {
    const Reply one = reply_at(parts, source);
    if (one.kind != Reply::Kind::integer) return one;  // an error
    sum.integer += one.integer;
  }
  return sum;
}

Reply ClusterPlan::elements_of(std::span<const Reply> parts, const Answer& answer, Replies& into) const {
  std::size_t count = 0;
  for (const std::vector<std::size_t>& elements : answer.elements) count += elements.size();
  std::vector<Reply> all(count);
  for (std::size_t index = 0; index < answer.several.size(); ++index) {
    const Reply one = reply_at(parts, answer.several[index]);
    if (one.is_error()) return one;
    if (one.children().size() != answer.elements[index].size()) throw unexpected_reply("MGET", "one element per key");
    for (std::size_t element = 0; element < answer.elements[index].size(); ++element) all[answer.elements[index][element]] = one.children()[element];
  }
  Reply reply;
  reply.kind = Reply::Kind::array;
  reply.child_count = static_cast<std::uint32_t>(count);
  reply.first_child = into.store(std::span<const Reply>(all)).data();
  return reply;
}

void ClusterPlan::merge(std::span<const Reply> parts, std::span<const Reply> specials, Replies& into) const {
  into.reserve(answers_.size());
  for (const Answer& answer : answers_) {
    switch (answer.kind) {
      case Answer::Kind::kOnly: into.append(reply_at(parts, answer.only)); break;
      case Answer::Kind::kSum: into.append(sum_of(parts, answer.several)); break;
      case Answer::Kind::kElements: into.append(elements_of(parts, answer, into)); break;
      case Answer::Kind::kSpecial: into.append(specials[answer.only.part]); break;
    }
  }
}

NodeVerdict verdict_of(const Reply& reply) {
  if (!reply.is_error()) return NodeVerdict::kAnswer;
  if (reply.text.starts_with("MOVED ")) return NodeVerdict::kMoved;
  if (reply.text.starts_with("ASK ")) return NodeVerdict::kAsk;
  const std::string_view code = reply.text.substr(0, reply.text.find(' '));
  return is_any_of(code, {"TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY"}) ? NodeVerdict::kLater : NodeVerdict::kAnswer;
}

}  // namespace redquel::executor
