// pg_timezone_names(): the zones that the system's files describe; pg_timezone_abbrevs(): PostgreSQL's abbreviations.

#include <filesystem>
#include <fstream>

#include "sql/functions/families.h"
#include "sql/types/datetime.h"
#include "sql/types/time_zone.h"

namespace redquel::sql {
namespace {

bool is_zone_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  file.read(magic, sizeof magic);
  return file && std::string_view(magic, sizeof magic) == "TZif";
}

/// Names under the zone directory; those that count leap seconds are not PostgreSQL's.
std::vector<std::string> zone_names() {
  const char* configured = std::getenv("TZDIR");
  const std::filesystem::path root = configured != nullptr && *configured != '\0' ? configured : "/usr/share/zoneinfo";
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->is_directory(error) && entry->path().filename() == "right") entry.disable_recursion_pending();
    if (!entry->is_regular_file(error) || !is_zone_file(entry->path())) continue;
    names.push_back(entry->path().lexically_relative(root).string());
  }
  return names;
}

class ZoneRows final : public RowSource {
 public:
  explicit ZoneRows(std::int64_t now) : names_(zone_names()), now_(now) {}

  Batch next(std::size_t limit) override {
    Column name(kText), abbreviation(kText), offset(kInterval), is_daylight(kBool);
    Batch batch;
    for (; next_ < names_.size() && batch.rows < limit; ++next_) {
      const TimeZone* zone = find_time_zone(names_[next_]);
      if (zone == nullptr) continue;
      const TimeZone::Local local = zone->at(now_);
      name.append(std::string_view(names_[next_]));
      abbreviation.append(local.abbreviation);
      offset.append(Interval{.microseconds = std::int64_t{local.offset} * 1'000'000});
      is_daylight.append(local.is_daylight);
      ++batch.rows;
    }
    for (Column* column : {&name, &abbreviation, &offset, &is_daylight}) {
      batch.columns.push_back(std::make_shared<const Column>(std::move(*column)));
    }
    return batch;
  }

 private:
  std::vector<std::string> names_;
  std::int64_t now_;
  std::size_t next_ = 0;
};

std::unique_ptr<RowSource> open_zones(std::span<const Datum>, const EvaluationContext& context) {
  return std::make_unique<ZoneRows>(context.transaction_timestamp);
}

/// Returns the current meaning of an abbreviation: some follow a zone's history.
TimeZone::Local meaning_of(const ZoneAbbreviation& abbreviation, const std::string& upper, std::int64_t now) {
  TimeZone::Local fixed;
  fixed.offset = abbreviation.offset;
  fixed.is_daylight = abbreviation.is_daylight;
  const TimeZone* zone = abbreviation.zone.empty() ? nullptr : find_time_zone(abbreviation.zone);
  return zone == nullptr ? fixed : zone->of_abbreviation(upper, now).value_or(zone->at(now));
}

class AbbreviationRows final : public RowSource {
 public:
  explicit AbbreviationRows(std::int64_t now) : now_(now) {}

  Batch next(std::size_t limit) override {
    Column name(kText), offset(kInterval), is_daylight(kBool);
    Batch batch;
    for (; next_ < zone_abbreviations().size() && batch.rows < limit; ++next_, ++batch.rows) {
      std::string upper(zone_abbreviations()[next_].name);
      for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      const TimeZone::Local local = meaning_of(zone_abbreviations()[next_], upper, now_);
      name.append(std::string_view(upper));
      offset.append(Interval{.microseconds = std::int64_t{local.offset} * 1'000'000});
      is_daylight.append(local.is_daylight);
    }
    for (Column* column : {&name, &offset, &is_daylight}) batch.columns.push_back(std::make_shared<const Column>(std::move(*column)));
    return batch;
  }

 private:
  std::int64_t now_;
  std::size_t next_ = 0;
};

std::unique_ptr<RowSource> open_abbreviations(std::span<const Datum>, const EvaluationContext& context) {
  return std::make_unique<AbbreviationRows>(context.transaction_timestamp);
}

}  // namespace

std::vector<TableFunction> zone_rows() {
  return {
      {"pg_timezone_names",
       {},
       {{"name", oid::kText}, {"abbrev", oid::kText}, {"utc_offset", oid::kInterval}, {"is_dst", oid::kBool}},
       open_zones},
      {"pg_timezone_abbrevs",
       {},
       {{"abbrev", oid::kText}, {"utc_offset", oid::kInterval}, {"is_dst", oid::kBool}},
       open_abbreviations},
  };
}

}  // namespace redquel::sql
