#include "executor/redis/replica_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

namespace redquel::executor {

namespace {

/// A host with this end cannot exist (RFC 2606): who announces it does not want to be taken for a replica.
constexpr std::string_view kNoHost = ".invalid";
constexpr std::string_view kSilent = "it acknowledges nothing";
constexpr std::string_view kBeingSynchronized = "it is being synchronized";
/// Seconds within which a replica that follows sends an acknowledgement, once a second.
constexpr std::uint64_t kFreshLag = 2;

std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Takes the part before the separator off the text.
std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

ReplicaLine read_line(std::string_view fields) {
  ReplicaLine line;
  std::string host, port;
  while (!fields.empty()) {
    std::string_view value = take_part(fields, ',');
    const std::string_view name = take_part(value, '=');
    if (name == "ip") host = value;
    if (name == "port") port = value;
    if (name == "state") line.is_online = value == "online";
    if (name == "offset") line.offset = number_of(value);
    if (name == "lag") line.lag = number_of(value);
  }
  line.place = host + ":" + port;
  return line;
}

}  // namespace

std::string_view ReplicaLine::objection() const {
  const std::string_view host = std::string_view(place).substr(0, place.rfind(':'));
  if (host.ends_with(kNoHost)) return "its name says that it is no replica";
  if (place.ends_with(":0")) return "it has no port, so that it cannot become the master";
  if (!is_online) return kBeingSynchronized;
  return offset == 0 ? kSilent : std::string_view();
}

bool ReplicaLine::is_new() const { return objection() == kSilent; }

ReplicationInfo read_replication(std::string_view text) {
  ReplicationInfo info;
  while (!text.empty()) {
    std::string_view line = take_part(text, '\n');
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view name = take_part(line, ':');
    if (name == "master_repl_offset") info.offset = number_of(line);
    if (name == "sync_full" || name == "sync_partial_ok") info.synchronizations = info.synchronizations.value_or(0) + number_of(line);
    constexpr std::string_view kName = "slave";
    if (!name.starts_with(kName)) continue;
    const std::string_view number = name.substr(kName.size());
    const bool is_replica = !number.empty() && std::ranges::all_of(number, [](char digit) { return digit >= '0' && digit <= '9'; });
    if (is_replica) info.replicas.push_back(read_line(line));  // slave_repl_offset and others are of a replica itself
  }
  return info;
}

void ReplicaSet::note_strangers(const ReplicationInfo& info, Clock::time_point now) {
  std::set<std::string> places;
  for (const ReplicaLine& line : info.replicas) {
    places.insert(line.place);
    if (!places_of_count_.contains(line.place)) newcomers_.insert(line.place);
  }
  // One that was seen while it was being synchronized may have been promoted right behind.
  const auto has_left = [&](const auto& other) { return other.second == kBeingSynchronized && !places.contains(other.first); };
  if (std::ranges::any_of(others_, has_left)) stranger_ = now;
  if (!info.synchronizations) return;
  if (synchronizations_ && *info.synchronizations > *synchronizations_ + newcomers_.size()) stranger_ = now;
  synchronizations_ = info.synchronizations;
  places_of_count_ = std::move(places);
  newcomers_.clear();
  counted_ = now;
}

bool ReplicaSet::take(const ReplicationInfo& info, Clock::time_point now, bool may_be_promoted) {
  const std::string before = description();
  if (may_be_promoted) note_strangers(info, now);
  others_.clear();
  offsets_.clear();
  for (auto& [place, replica] : replicas_) replica.is_connected = false;
  for (const ReplicaLine& line : info.replicas) {
    if (line.is_online && line.offset > 0) offsets_.push_back(line.offset);
  }
  std::ranges::sort(offsets_, std::greater<>());
  std::erase_if(silent_, [&](const std::string& place) { return std::ranges::find(info.replicas, place, &ReplicaLine::place) == info.replicas.end(); });
  for (const ReplicaLine& line : info.replicas) {
    if (const std::string_view objection = line.objection(); !objection.empty()) {
      const bool is_new = may_be_promoted && line.is_new() && !silent_.contains(line.place);
      if (is_new) replicas_.try_emplace(line.place, Replica{.progressed = now, .seen = now, .is_connected = false});
      if (!replicas_.contains(line.place)) others_.emplace(line.place, objection);
      continue;
    }
    const auto [found, is_new] = replicas_.try_emplace(line.place);
    Replica& replica = found->second;
    replica.is_connected = true;
    replica.seen = now;
    const bool progresses = is_new || line.offset > replica.offset || line.offset >= info.offset;
    replica.offset = line.offset;
    if (progresses) replica.progressed = now;
    // A replica that stands still does not acknowledge either: Redis disconnects it after repl-timeout.
    const bool is_stuck = line.lag <= kFreshLag && now - replica.progressed >= kPatience;
    replica.counts = progresses || (replica.counts && !is_stuck);
    if (!replica.counts) others_.emplace(line.place, "the offset that it acknowledges does not move");
  }
  std::erase_if(replicas_, [](const auto& entry) { return !entry.second.counts && !entry.second.is_connected; });
  return description() != before;
}

std::size_t ReplicaSet::size() const {
  return static_cast<std::size_t>(std::ranges::count_if(replicas_, [](const auto& entry) { return entry.second.counts; }));
}

bool ReplicaSet::have_confirmed(std::size_t confirmed) {
  if (stranger_) return false;
  if (size() == 0) return true;
  const std::size_t asked = std::exchange(others_that_confirm_, 0) + size();
  if (confirmed == 0 || confirmed > offsets_.size()) return false;
  // As many as have confirmed have at least this offset, so each one that has it has confirmed.
  const std::uint64_t least = offsets_[confirmed - 1];
  const bool have_all = std::ranges::all_of(replicas_, [&](const auto& entry) {
    return !entry.second.counts || (entry.second.is_connected && entry.second.offset >= least);
  });
  // Enough have confirmed, but not the right ones.
  if (!have_all && confirmed >= asked) others_that_confirm_ = confirmed + 1 - size();
  return have_all;
}

bool ReplicaSet::has_overdue(Clock::time_point now) const {
  return stranger_ || std::ranges::any_of(replicas_, [&](const auto& entry) { return is_overdue(entry.second, now, kAbsence); });
}

void ReplicaSet::drop_overdue(Clock::time_point now, std::chrono::seconds absence) {
  for (const auto& [place, replica] : replicas_) {
    if (is_overdue(replica, now, absence) && replica.offset == 0) silent_.insert(place);
  }
  std::erase_if(replicas_, [&](const auto& entry) { return is_overdue(entry.second, now, absence); });
  if (stranger_ && (absence <= kAbsence || now - *stranger_ >= absence)) stranger_.reset();
}

std::string ReplicaSet::description() const {
  std::string counted, text;
  for (const auto& [place, replica] : replicas_) {
    if (!replica.counts) continue;
    counted += (counted.empty() ? "" : ", ") + place;
    if (!replica.is_connected) counted += " (not connected)";
  }
  text = counted.empty() ? "commits wait for no replica" : fmt::format("commits wait for {} replicas: {}", size(), counted);
  if (stranger_) text += "; they wait for the sentinels, too, because a replica came and went";
  for (const auto& [place, objection] : others_) text += fmt::format("; {} does not count: {}", place, objection);
  return text;
}

}  // namespace redquel::executor
