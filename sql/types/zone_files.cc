#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include <fmt/format.h>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/number_text.h"
#include "sql/types/time_zone.h"

// Sources of zones: TZif files (RFC 8536) of the system, POSIX TZ strings, numbers; and the store that keeps them.
namespace redquel::sql {
namespace {

constexpr std::size_t kMaxNameLength = 255;
constexpr std::size_t kMaxFileSize = 1 << 20;
/// POSIX strings are made up by clients: this many are remembered.
constexpr std::size_t kMaxInventedZones = 4096;

// ---- TZif files
// -------------------------------------------------------------------------------------------------------

/// Reads big-endian integers; past the end it gives zeros and remembers.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t integer(std::size_t size) {
    if (bytes_.size() < size) return failed_ = true, 0;
    std::uint64_t value = size == 8 || (bytes_[0] & 0x80) == 0 ? 0 : ~std::uint64_t{0};
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[i]);
    bytes_.remove_prefix(size);
    return static_cast<std::int64_t>(value);
  }
  std::string_view bytes(std::size_t size) {
    if (bytes_.size() < size) return failed_ = true, std::string_view();
    const std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return result;
  }
  std::string_view rest() const { return bytes_; }
  bool failed() const { return failed_; }

 private:
  std::string_view bytes_;
  bool failed_ = false;
};

struct TzifCounts {
  std::size_t daylight_flags = 0, standard_flags = 0, leap_seconds = 0, transitions = 0, types = 0, letters = 0;
  char version = 0;

  bool read(ByteReader& reader) {
    if (reader.bytes(4) != "TZif") return false;
    const std::string_view version_bytes = reader.bytes(16);
    if (version_bytes.empty()) return false;
    version = version_bytes[0];
    for (std::size_t* count : {&daylight_flags, &standard_flags, &leap_seconds, &transitions, &types, &letters}) {
      const std::int64_t value = reader.integer(4);
      if (value < 0 || value > 65535) return false;
      *count = static_cast<std::size_t>(value);
    }
    return !reader.failed();
  }
  std::size_t body_size(std::size_t time_size) const {
    return transitions * (time_size + 1) + types * 6 + letters + leap_seconds * (time_size + 4) + standard_flags +
           daylight_flags;
  }
};

std::unique_ptr<TimeZone> decode_tzif(std::string name, std::string_view file) {
  ByteReader reader(file);
  TzifCounts counts;
  if (!counts.read(reader)) return nullptr;
  std::size_t time_size = 4;
  if (counts.version >= '2') {
    reader.bytes(counts.body_size(4));
    if (!counts.read(reader)) return nullptr;
    time_size = 8;
  }
  if (counts.types == 0 || counts.leap_seconds != 0) return nullptr;  // PostgreSQL knows no leap seconds
  std::vector<std::int64_t> times(counts.transitions);
  for (std::int64_t& time : times) time = reader.integer(time_size);
  const std::string_view type_of = reader.bytes(counts.transitions);
  std::vector<TimeZone::Period> types(counts.types);
  for (TimeZone::Period& type : types) {
    type.begin = std::numeric_limits<std::int64_t>::min();
    type.offset = static_cast<std::int32_t>(reader.integer(4));
    type.is_daylight = reader.integer(1) != 0;
    type.abbreviation = static_cast<std::uint16_t>(reader.integer(1) & 0xFF);
  }
  const std::string_view letters = reader.bytes(counts.letters);
  reader.bytes(counts.standard_flags + counts.daylight_flags);
  if (reader.failed()) return nullptr;

  std::vector<std::string> abbreviations;
  for (TimeZone::Period& type : types) {
    if (type.abbreviation >= letters.size()) return nullptr;
    const std::string_view from = letters.substr(type.abbreviation);
    abbreviations.emplace_back(from.substr(0, from.find('\0')));
    type.abbreviation = static_cast<std::uint16_t>(abbreviations.size() - 1);
  }
  std::vector<TimeZone::Period> periods{types[0]};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto type = static_cast<unsigned char>(type_of[i]);
    if (type >= types.size() || (i > 0 && times[i] <= times[i - 1])) return nullptr;
    TimeZone::Period period = types[type];
    period.begin = times[i];
    periods.push_back(period);
  }
  std::optional<ZoneTail> tail;
  if (time_size == 8) {
    std::string_view footer = reader.rest();
    if (footer.size() >= 2 && footer.front() == '\n') {
      footer.remove_prefix(1);
      footer = footer.substr(0, footer.find('\n'));
      if (!footer.empty()) tail = parse_posix_zone(footer);
    }
  }
  return std::make_unique<TimeZone>(std::move(name), std::move(periods), std::move(abbreviations), std::move(tail));
}

std::string zone_directory() {
  const char* configured = std::getenv("TZDIR");
  return configured != nullptr && *configured != '\0' ? configured : "/usr/share/zoneinfo";
}

/// The spelling of `wanted` among the entries of a directory, ignoring case.
std::optional<std::string> find_entry(const std::string& directory, std::string_view wanted) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(directory.c_str()), closedir);
  if (entries == nullptr) return std::nullopt;
  const std::string lower = lower_case(wanted);
  while (const dirent* entry = readdir(entries.get()))
    if (lower_case(entry->d_name) == lower) return std::string(entry->d_name);
  return std::nullopt;
}

/// `name` is a relative path of plain components: nothing outside of the zone directory can be reached.
std::unique_ptr<TimeZone> load_zone_file(std::string_view name) {
  std::string path = zone_directory(), canonical;
  while (!name.empty()) {
    const std::size_t slash = name.find('/');
    const std::string_view component = name.substr(0, slash);
    if (component.empty() || component.front() == '.' || component.find('\0') != std::string_view::npos) return nullptr;
    const std::optional<std::string> spelling = find_entry(path, component);
    if (!spelling) return nullptr;
    path += '/' + *spelling;
    canonical += (canonical.empty() ? "" : "/") + *spelling;
    if (slash == std::string_view::npos) break;
    name.remove_prefix(slash + 1);
    if (name.empty()) return nullptr;
  }
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::size_t>(status.st_size) > kMaxFileSize)
    return nullptr;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return nullptr;
  return decode_tzif(std::move(canonical), bytes);
}

std::unique_ptr<TimeZone> make_invented_zone(std::string name, ZoneTail tail) {
  std::vector<TimeZone::Period> periods{{std::numeric_limits<std::int64_t>::min(), tail.standard_offset, false, 0}};
  std::vector<std::string> abbreviations{tail.standard_name, tail.daylight_name};
  const bool has_daylight = tail.has_daylight;
  return std::make_unique<TimeZone>(std::move(name), std::move(periods), std::move(abbreviations),
                                    has_daylight ? std::optional(std::move(tail)) : std::nullopt);
}

/// Hours east of Greenwich as SET TIME ZONE takes them; the zone's POSIX name, or nullopt where it is no number in
/// range.
std::optional<std::string> posix_name_of_hours(std::string_view text) {
  const std::string_view trimmed = trim_blanks(text);
  std::string_view digits = trimmed;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  if (digits.empty() ||
      (digits.front() != '-' && digits.front() != '.' && (digits.front() < '0' || digits.front() > '9')))
    return std::nullopt;
  double hours = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), hours);
  if (error != std::errc() || end != digits.data() + digits.size() || !(std::fabs(hours) < 168)) return std::nullopt;
  const auto east = static_cast<long>(hours * 3600);
  const long size = std::labs(east);
  std::string offset = fmt::format("{:02}", size / 3600);
  if (size % 3600 != 0) offset += fmt::format(":{:02}", size % 3600 / 60);
  if (size % 60 != 0) offset += fmt::format(":{:02}", size % 60);
  return east < 0 ? fmt::format("<-{0}>+{0}", offset) : fmt::format("<+{0}>-{0}", offset);
}

/// Zones by lower-case name. Never freed: sessions and columns keep pointers.
class ZoneStore {
 public:
  const TimeZone* find(std::string_view name) {
    if (name.empty() || name.size() > kMaxNameLength) return nullptr;
    const std::string key = lower_case(name);
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = zones_.find(key); found != zones_.end()) return found->second.get();
    }
    std::unique_ptr<TimeZone> zone = load_zone_file(name);
    const bool invented = zone == nullptr;
    if (invented) {
      std::string upper(name);
      std::ranges::transform(upper, upper.begin(), to_upper);
      std::optional<ZoneTail> tail = parse_posix_zone(upper);
      if (!tail) return nullptr;
      zone = make_invented_zone(std::move(upper), *std::move(tail));
    }
    const std::unique_lock lock(mutex_);
    if (invented && ++invented_ > kMaxInventedZones) return nullptr;
    return zones_.try_emplace(key, std::move(zone)).first->second.get();
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<TimeZone>> zones_;
  std::size_t invented_ = 0;
};

ZoneStore& zone_store() {
  static auto* const store = new ZoneStore;  // outlives every static that might still print a timestamp
  return *store;
}

const TimeZone& utc() {
  static const TimeZone zone("UTC", {{std::numeric_limits<std::int64_t>::min(), 0, false, 0}}, {"UTC"}, std::nullopt);
  return zone;
}

}  // namespace

const TimeZone* find_time_zone(std::string_view name) {
  if (name == "UTC") return &utc();
  return zone_store().find(name);
}

const TimeZone& time_zone_named(std::string_view name) {
  const TimeZone* zone = find_time_zone(name);
  if (zone == nullptr) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("time zone \"{}\" not recognized", name));
  return *zone;
}

const TimeZone& session_zone(const SessionSettings& settings) {
  if (settings.time_zone == "UTC") return utc();
  if (settings.time_zone.empty()) throw SqlError(sqlstate::kInternalError, "the time zone of the session is not known");
  struct Remembered {
    std::string name = "UTC";
    const TimeZone* zone = &utc();
  };
  thread_local Remembered remembered;
  if (remembered.name != settings.time_zone) {
    const std::optional<std::string> name = normalize_time_zone(settings.time_zone);
    const TimeZone* zone = name ? find_time_zone(*name) : nullptr;
    remembered.zone = zone != nullptr ? zone : &utc();
    remembered.name = settings.time_zone;
  }
  return *remembered.zone;
}

std::optional<std::string> normalize_time_zone(std::string_view name) {
  if (const std::optional<std::string> hours = posix_name_of_hours(name)) return hours;
  const TimeZone* zone = find_time_zone(name);
  if (zone == nullptr) return std::nullopt;
  return zone->name();
}

}  // namespace redquel::sql
