#include "sql/catalog/structure_kind.h"

#include <algorithm>

#include "sql/ascii.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/key_segments.h"
#include "sql/entries/entry_kind.h"
#include "sql/entries/families.h"
#include "sql/types/index_value.h"

namespace redquel::sql {
namespace {

bool has_null(std::span<const Datum> values) { return std::ranges::any_of(values, is_null); }

/// Takes joined names of columns apart: "dept,job".
std::vector<std::string_view> split_names(std::string_view names) {
  std::vector<std::string_view> found;
  while (true) {
    const std::size_t comma = names.find(',');
    found.push_back(names.substr(0, comma));
    if (comma == std::string_view::npos) return found;
    names.remove_prefix(comma + 1);
  }
}

bool names_entries(std::string_view segment) {
  return std::ranges::find(entry_kinds(), segment, &EntryKind::segment) != entry_kinds().end();
}

/// A set of members for each value, and the set of the values.
class SetsKind final : public StructureKind {
 public:
  Structure::Kind kind() const override { return Structure::Kind::kSets; }
  std::string_view name() const override { return "set"; }
  const ElementForm& form() const override { return kSetForm; }
  std::string key(const TableKeys& keys, std::span<const std::int16_t> columns) const override { return keys.values(columns); }
  /// "indices:dept,job", and "indices:dept:7:job:clerk" of a value.
  std::optional<StructureKeyName> read_key(std::span<const std::string_view> segments) const override {
    if (segments.size() < 2 || segments[0] != "indices" || names_entries(segments[1])) return std::nullopt;
    StructureKeyName name;
    if (segments.size() == 2) {
      name.columns = split_names(segments[1]);
      return name;
    }
    if (segments.size() % 2 == 0) return std::nullopt;
    for (std::size_t index = 1; index < segments.size(); index += 2) {
      name.columns.push_back(segments[index]);
      name.values.push_back(segments[index + 1]);
    }
    const bool is_null_set = name.values.size() == 1 && name.values[0] == kNullSegment;
    return is_null_set ? std::nullopt : std::optional(std::move(name));
  }
  bool lists_values() const override { return true; }
  std::string value_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view entry) const override {
    return keys.value_set_of_entry(columns, entry);
  }

  /// The key of the set, and the value as the set of values has it.
  std::optional<StructureEntry> entry(const StructurePlace& place, const EntryValues& row) const override {
    if (has_null(row.values)) return std::nullopt;
    if (row.values.size() > 1) {
      const std::vector<std::int16_t>& columns = place.structure.columns;
      return StructureEntry{row.keys.value_set(columns, row.values), row.keys.values_entry(columns, row.values)};
    }
    std::string text = row.first_text.data() != nullptr ? std::string(row.first_text) : canonical_text(row.type, row.values[0]);
    return StructureEntry{place.value_prefix + escape_segment(text), std::move(text)};
  }
  StructureElements elements(const StructurePlace& place, std::string_view first, std::string_view second,
                             std::string_view member) const override {
    return {{&kSetForm, first, member, {}}, {&kSetForm, place.key, second, {}, true}};
  }
  std::array<std::string_view, 4> listed(const StructurePlace& place, std::string_view first, std::string_view second) const override {
    return {"value", first, place.key, second};
  }

  /// The text of an integer stands in keys as it is.
  bool is_moved_by_script(Type column) const override { return is_integer_type(column.oid); }
  std::string shown_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view names) const override {
    return keys.values(columns).append(":").append(names);
  }
};

/// A set of the members of rows whose value is NULL.
class NullsKind final : public StructureKind {
 public:
  Structure::Kind kind() const override { return Structure::Kind::kNulls; }
  std::string_view name() const override { return "nulls"; }
  const ElementForm& form() const override { return kSetForm; }
  std::string key(const TableKeys& keys, std::span<const std::int16_t> columns) const override { return keys.null_set(columns[0]); }
  /// "indices:dept:%N".
  std::optional<StructureKeyName> read_key(std::span<const std::string_view> segments) const override {
    if (segments.size() != 3 || segments[0] != "indices" || segments[2] != kNullSegment) return std::nullopt;
    return StructureKeyName{{segments[1]}, {}};
  }

  std::optional<StructureEntry> entry(const StructurePlace&, const EntryValues& row) const override {
    return has_null(row.values) ? std::optional(StructureEntry{}) : std::nullopt;
  }
  StructureElements elements(const StructurePlace& place, std::string_view, std::string_view, std::string_view member) const override {
    return {{&kSetForm, place.key, member, {}}};
  }
  std::array<std::string_view, 4> listed(const StructurePlace& place, std::string_view, std::string_view) const override {
    return {"null", place.key, "", ""};
  }

  bool is_moved_by_script(Type) const override { return true; }
  std::string shown_suffix(std::string_view) const override { return " if it is NULL"; }
};

/// A zset in the order of a column.
class ZsetKind final : public StructureKind {
 public:
  Structure::Kind kind() const override { return Structure::Kind::kZset; }
  std::string_view name() const override { return "ordered"; }
  const ElementForm& form() const override { return kZsetForm; }
  std::string key(const TableKeys& keys, std::span<const std::int16_t> columns) const override { return keys.ordered(columns[0]); }
  /// "zset:salary".
  std::optional<StructureKeyName> read_key(std::span<const std::string_view> segments) const override {
    if (segments.size() != 2 || segments[0] != "zset" || segments[1].find(',') != std::string_view::npos) return std::nullopt;
    return StructureKeyName{{segments[1]}, {}};
  }

  /// The member and the score.
  std::optional<StructureEntry> entry(const StructurePlace& place, const EntryValues& row) const override {
    if (has_null(row.values)) return std::nullopt;
    if (has_score(row.type)) return StructureEntry{{}, ordered_score(row.type, row.values[0]), true};
    return StructureEntry{row.keys.ordered_member(place.structure.columns[0], row.values[0], row.member), "0"};
  }
  StructureElements elements(const StructurePlace& place, std::string_view first, std::string_view second, std::string_view) const override {
    return {{&kZsetForm, place.key, first, second}};
  }
  std::array<std::string_view, 4> listed(const StructurePlace& place, std::string_view first, std::string_view) const override {
    return {"zset", place.key, first, ""};
  }

  bool is_moved_by_script(Type column) const override { return has_score(column); }
};

/// A zset for each value of all columns but the last one, in the order of the last one, and the set of the values. Rows whose last column
/// is NULL have a zset of their own for each value: Infinity has the highest score, so NULL can have none.
class ValueZsetsKind final : public StructureKind {
 public:
  Structure::Kind kind() const override { return Structure::Kind::kValueZsets; }
  std::string_view name() const override { return "ordered value"; }
  const ElementForm& form() const override { return kSetForm; }
  const ElementForm& entry_form() const override { return kZsetForm; }
  std::string key(const TableKeys& keys, std::span<const std::int16_t> columns) const override { return keys.value_zsets(columns); }
  /// "zset:dept,salary", and "zset:dept:7:salary" or "zset:dept:7:salary:%N" of a value.
  std::optional<StructureKeyName> read_key(std::span<const std::string_view> segments) const override {
    if (segments.size() < 2 || segments[0] != "zset") return std::nullopt;
    StructureKeyName name;
    if (segments.size() == 2) {
      name.columns = split_names(segments[1]);
      return name.columns.size() > 1 ? std::optional(std::move(name)) : std::nullopt;
    }
    const bool of_nulls = segments.size() % 2 == 1;
    if (segments.size() < 4 || (of_nulls && segments.back() != kNullSegment)) return std::nullopt;
    for (std::size_t index = 1; index < segments.size(); index += 2) {
      name.columns.push_back(segments[index]);
      if (index + 1 < segments.size()) name.values.push_back(segments[index + 1]);
    }
    return name;
  }
  bool lists_values() const override { return true; }
  std::string value_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view entry) const override {
    return keys.value_zset_of_entry(columns, entry);
  }

  /// The key of the zset and the value as the set of values has it; the score and the member. A zero byte is between them.
  std::optional<StructureEntry> entry(const StructurePlace& place, const EntryValues& row) const override {
    const std::vector<std::int16_t>& columns = place.structure.columns;
    const std::span<const Datum> leading = row.values.first(columns.size() - 1);
    if (has_null(leading)) return std::nullopt;
    const Datum& last = row.values.back();
    StructureEntry entry{row.keys.value_zset(columns, leading, is_null(last)), is_null(last) ? "0" : row.keys.score_in_order(columns.back(), last)};
    entry.first.append(1, '\0').append(row.keys.value_zset_entry(columns, leading, is_null(last)));
    entry.second.append(1, '\0').append(is_null(last) ? std::string(row.member) : row.keys.ordered_member(columns.back(), last, row.member));
    return entry;
  }
  StructureElements elements(const StructurePlace& place, std::string_view first, std::string_view second, std::string_view) const override {
    const std::size_t end_of_key = first.find('\0'), end_of_score = second.find('\0');
    return {{&kZsetForm, first.substr(0, end_of_key), second.substr(end_of_score + 1), second.substr(0, end_of_score)},
            {&kSetForm, place.key, first.substr(end_of_key + 1), {}, true}};
  }
  std::array<std::string_view, 4> listed(const StructurePlace& place, std::string_view first, std::string_view second) const override {
    return {"ordered value", first, second, place.key};
  }

  bool is_moved_by_script(Type) const override { return false; }  // its key depends on several columns
  std::string shown_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view) const override {
    return keys.value_zsets(columns);
  }
};

/// A hash from values to the members of the rows that own them.
class UniquesKind final : public StructureKind {
 public:
  Structure::Kind kind() const override { return Structure::Kind::kUnique; }
  std::string_view name() const override { return "unique"; }
  const ElementForm& form() const override { return kHashForm; }
  std::string key(const TableKeys& keys, std::span<const std::int16_t> columns) const override { return keys.uniques(columns); }
  /// "uniques:email:name".
  std::optional<StructureKeyName> read_key(std::span<const std::string_view> segments) const override {
    if (segments.size() < 2 || segments[0] != "uniques") return std::nullopt;
    return StructureKeyName{{segments.begin() + 1, segments.end()}, {}};
  }
  bool has_owners() const override { return true; }

  /// The field; the key of the hash where it is another than key() (spread_table.h).
  std::optional<StructureEntry> entry(const StructurePlace& place, const EntryValues& row) const override {
    if (has_null(row.values) && !place.nulls_are_equal) return std::nullopt;
    std::string field = row.keys.unique_field(place.structure.columns, row.values);
    std::string key = place.keys_by_value.empty() ? std::string() : place.keys_by_value[part_number(field, place.keys_by_value.size())];
    return StructureEntry{std::move(field), std::move(key)};
  }
  StructureElements elements(const StructurePlace& place, std::string_view first, std::string_view second, std::string_view member) const override {
    return {{&kHashForm, second.empty() ? std::string_view(place.key) : second, first, member}};
  }
  std::array<std::string_view, 4> listed(const StructurePlace& place, std::string_view first, std::string_view) const override {
    return {"unique", place.key, first, ""};
  }

  bool is_moved_by_script(Type) const override { return false; }  // its owner is checked first
  std::string shown_suffix(std::string_view names) const override { return " " + std::string(names); }
};

/// A set of members for each entry that values are taken apart into, and the set of the entries.
class EntriesKind final : public StructureKind {
 public:
  explicit EntriesKind(const EntryKind& entries) : entries_(entries) {}

  Structure::Kind kind() const override { return entries_.structure(); }
  std::string_view name() const override { return entries_.name(); }
  const ElementForm& form() const override { return kSetForm; }
  std::string key(const TableKeys& keys, std::span<const std::int16_t> columns) const override {
    return keys.entries_of(entries_.segment(), columns[0]);
  }
  /// "indices:%elements:tags", and "indices:%elements:tags:red" of an entry.
  std::optional<StructureKeyName> read_key(std::span<const std::string_view> segments) const override {
    if (segments.size() < 3 || segments.size() > 4 || segments[0] != "indices" || segments[1] != entries_.segment()) return std::nullopt;
    StructureKeyName name{{segments[2]}, {}};
    if (segments.size() == 4) name.values.push_back(segments[3]);
    return name;
  }
  bool lists_values() const override { return true; }
  bool has_many_elements() const override { return true; }
  std::string value_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view entry) const override {
    return keys.rows_with(entries_.segment(), columns[0], entry);
  }

  /// The key of each entry's set and the entry, as listed words.
  std::optional<StructureEntry> entry(const StructurePlace& place, const EntryValues& row) const override {
    if (has_null(row.values)) return std::nullopt;
    StructureEntry all;
    for (const std::string& entry : entries_.entries(row.type, row.values[0])) {
      append_listed_word(all.first, place.value_prefix + escape_segment(entry));
      append_listed_word(all.first, entry);
    }
    return all.first.empty() ? std::nullopt : std::optional(std::move(all));
  }
  StructureElements elements(const StructurePlace& place, std::string_view first, std::string_view, std::string_view member) const override {
    std::vector<StructureElement> all;
    while (!first.empty()) {
      const std::string_view set = take_listed_word(first), entry = take_listed_word(first);
      all.push_back({&kSetForm, set, member, {}});
      all.push_back({&kSetForm, place.key, entry, {}, true});
    }
    return StructureElements(std::move(all));
  }
  std::array<std::string_view, 4> listed(const StructurePlace& place, std::string_view first, std::string_view) const override {
    return {"entries", place.key, first, ""};
  }

  bool is_moved_by_script(Type) const override { return false; }
  std::string shown_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view) const override {
    return key(keys, columns).append(":<entry>");
  }

 private:
  const EntryKind& entries_;
};

}  // namespace

std::string StructureKind::shown_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view) const {
  return key(keys, columns);
}
std::string StructureKind::value_key(const TableKeys& keys, std::span<const std::int16_t> columns, std::string_view) const {
  return key(keys, columns);
}
std::string StructureKind::shown_suffix(std::string_view) const { return {}; }

std::span<const StructureKind* const> structure_kinds() {
  static const SetsKind sets;
  static const ZsetKind zset;
  static const UniquesKind uniques;
  static const NullsKind nulls;
  static const ValueZsetsKind value_zsets;
  static const EntriesKind elements(element_entries()), jsonb_keys(jsonb_key_entries()), jsonb_paths(jsonb_path_entries()),
      lexemes(lexeme_entries()), trigrams(trigram_entries());
  // In the order of Structure::Kind.
  static const StructureKind* const kinds[] = {&sets, &zset, &uniques, &nulls, &value_zsets, &elements, &jsonb_keys, &jsonb_paths, &lexemes, &trigrams};
  return kinds;
}

const StructureKind& structure_kind(Structure::Kind kind) { return *structure_kinds()[static_cast<std::size_t>(kind)]; }

}  // namespace redquel::sql
