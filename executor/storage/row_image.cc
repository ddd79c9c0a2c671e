#include "executor/storage/row_image.h"

#include <algorithm>
#include <cassert>
#include <charconv>

#include "executor/storage/stored_text.h"
#include "executor/storage/table_companion.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/computed_columns.h"
#include "sql/catalog/prefixes.h"
#include "sql/catalog/spread_table.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

using sql::Structure;

std::string_view Words::number(std::size_t value) {
  static const std::vector<std::string> kSmall = [] {
    std::vector<std::string> texts;
    for (int number = 0; number < 1024; ++number) texts.push_back(std::to_string(number));
    return texts;
  }();
  if (value < kSmall.size()) return kSmall[value];
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  return arena_.store(std::string_view(digits, static_cast<std::size_t>(end - digits)));
}

RowEncoder::RowEncoder(std::shared_ptr<const sql::TableDef> table, std::optional<std::vector<Structure>> structures)
    : table_(std::move(table)), keys_(*table_), all_rows_(keys_.all_rows()), counter_(keys_.changes()), presence_field_(keys_.presence_field()) {
  for (const sql::ColumnDef& column : table_->columns) {
    const bool in_key = table_->in_primary_key(column.number);
    fields_.push_back(!in_key || keys_.writes_key_column(&column) ? column.field : std::string());
    null_markers_.push_back(column.missing ? sql::null_marker(column) : std::string());
    canonical_is_stored_.push_back(sql::canonical_text_is_output(column.type));
  }
  if (table_->has_hidden_key()) {
    key_positions_.push_back(table_->columns.size());
    fields_.push_back(keys_.writes_key_column(nullptr) ? std::string(sql::kHiddenKeyField) : std::string());
    null_markers_.emplace_back();
    canonical_is_stored_.push_back(true);
  } else {
    for (std::int16_t number : table_->primary_key) key_positions_.push_back(table_->position(number));
  }
  if (!structures) structures = sql::structures_of(*table_);
  computed_ = planner::bind_computed(*table_, planner::positions_as_ids(*table_));
  canonical_is_stored_.resize(width() + computed_.size());
  for (Structure& structure : *structures) {
    StructureKeys made;
    for (std::int16_t number : structure.columns) {
      made.positions.push_back(table_->position(number));
      if (number > 0) {
        made.sources.push_back(made.positions.back());
      } else {
        std::vector<std::uint32_t> used;
        sql::collect_columns(*computed_[made.positions.back() - width()], used);
        made.sources.insert(made.sources.end(), used.begin(), used.end());
      }
    }
    std::ranges::sort(made.sources);
    made.sources.erase(std::ranges::unique(made.sources).begin(), made.sources.end());
    made.kind = &sql::structure_kind(structure.kind);
    made.key = made.kind->key(keys_, structure.columns);
    if (made.kind->lists_values()) {
      if (structure.columns.size() == 1) made.value_prefix = made.key + ":";
      if (structure.kind == Structure::Kind::kSets) made.omitted = sql::omitted_parts(*table_, structure.columns);
    }
    if (made.kind->has_owners()) {
      made.nulls_are_equal = std::ranges::any_of(table_->indexes, [&](const sql::IndexDef& index) {
        return index.unique && index.nulls_not_distinct && std::ranges::equal(index.parts, structure.columns, {}, &sql::IndexDef::Part::column);
      });
    }
    if (made.kind->has_owners() && sql::lies_by_value(*table_, structure.columns)) {
      for (const sql::SpreadDef::Place& place : table_->spread->places) {
        made.places.emplace_back(place.oid, place.bucket);
        made.keys_by_value.push_back(std::string(sql::bucket_tag(place.bucket)).append(sql::without_tag(made.key)));
      }
    }
    made.structure = std::move(structure);
    structures_.push_back(std::move(made));
  }
}

std::shared_ptr<const RowEncoder> encoder_of(const std::shared_ptr<const sql::TableDef>& table) { return companion_of<RowEncoder>(table); }

PlacedTable RowEncoder::place_of(const StructureKeys& structure, std::pair<std::string_view, std::string_view> entry) const {
  return structure.places.empty() ? PlacedTable(*table_) : structure.places[sql::part_of_unique_value(*table_, entry.first)];
}

void RowEncoder::add_value_buckets(const RowImage* before, const RowImage* after, const Words& words, std::set<int>& buckets) const {
  const bool stays = before != nullptr && after != nullptr && before->member == after->member;
  for (std::size_t index = 0; index < structures_.size(); ++index) {
    if (!lies_by_value(structures_[index])) continue;
    std::pair<std::string_view, std::string_view> old_entry, new_entry;
    if (before != nullptr) old_entry = entry(words, *before, index);
    if (after != nullptr) new_entry = entry(words, *after, index);
    if (stays && are_same(old_entry.first, new_entry.first)) continue;
    for (const auto& moved : {old_entry, new_entry}) {
      if (!is_null(moved.first)) buckets.insert(place_of(structures_[index], moved).bucket());
    }
  }
}

std::string RowEncoder::row_of_owner(const StructureKeys& structure, std::string_view member) const {
  return structure.places.empty() ? keys_.row_of_member(member) : sql::row_key_in_parts(*table_, member);
}

bool RowEncoder::is_free_to_insert() const {
  return table_->has_hidden_key() && std::none_of(structures_.begin(), structures_.end(), [](const StructureKeys& keys) {
           return keys.kind->has_owners();
         });
}

std::vector<sql::Datum> RowEncoder::primary_key(std::span<const sql::Datum> row) const {
  std::vector<sql::Datum> values;
  for (std::size_t position : key_positions_) values.push_back(row[position]);
  return values;
}

namespace {

/// Returns true if both certainly have the same text. Equal numbers, for example, may have several texts.
bool is_written_alike(const sql::Datum& a, const sql::Datum& b) {
  const bool has_one_form = sql::is_null(a) || std::holds_alternative<std::int32_t>(a) || std::holds_alternative<std::int64_t>(a) ||
                            std::holds_alternative<std::string>(a);
  return has_one_form && a == b;
}

}  // namespace

void RowEncoder::encode_text(std::size_t position, const sql::Datum& value, Words& words) const {
  if (sql::is_null(value)) return words.push({});
  std::string text;
  append_stored_text(type(position), value, text);
  words.push(words.store(text));
}

void RowEncoder::encode_key(std::span<const sql::Datum> row, RowImage& image, Words& words) const {
  if (key_positions_.size() == 1 && canonical_is_stored_[key_positions_[0]]) {
    image.member = words[image.texts + key_positions_[0]];
  } else {
    image.member = words.store(keys_.member(primary_key(row)));
  }
  image.key = words.store(keys_.row_of_member(image.member));
  image.score = words.store(keys_.row_score(primary_key(row)));
}

RowImage RowEncoder::encode(std::span<const sql::Datum> row, Words& words) const {
  assert(row.size() == width());
  RowImage image;
  image.texts = words.size();
  for (std::size_t position = 0; position < row.size(); ++position) encode_text(position, row[position], words);
  encode_key(row, image, words);

  image.entries = words.size();
  std::vector<sql::Datum> whole;
  if (!computed_.empty()) {
    whole = with_computed(row);
    row = whole;
  }
  for (const StructureKeys& structure : structures_) encode_entry(structure, row, image, words);
  return image;
}

RowImage RowEncoder::encode_change(std::span<const sql::Datum> old_row, const RowImage& before, std::span<const sql::Datum> row,
                                   Words& words) const {
  assert(row.size() == width() && old_row.size() == width());
  const auto stays = [&](std::size_t position) { return is_written_alike(old_row[position], row[position]); };
  RowImage image = before;
  image.texts = words.size();
  for (std::size_t position = 0; position < row.size(); ++position) {
    if (stays(position)) {
      words.push(words[before.texts + position]);
    } else {
      encode_text(position, row[position], words);
    }
  }
  const bool keeps_key = std::ranges::all_of(key_positions_, stays);
  if (!keeps_key) encode_key(row, image, words);

  image.entries = words.size();
  std::vector<sql::Datum> whole;
  for (std::size_t index = 0; index < structures_.size(); ++index) {
    if (keeps_key && std::ranges::all_of(structures_[index].sources, stays)) {
      const auto [first, second] = entry(words, before, index);
      words.push(first);
      words.push(second);
      continue;
    }
    if (!computed_.empty() && whole.empty()) {
      whole = with_computed(row);
      row = whole;
    }
    encode_entry(structures_[index], row, image, words);
  }
  return image;
}

void RowEncoder::fields_of(const RowImage& image, const Words& words, std::vector<std::string_view>& names,
                           std::vector<std::string_view>& values) const {
  names.clear();
  values.clear();
  for (std::size_t position = 0; position < width(); ++position) {
    if (field(position) == nullptr) continue;
    const std::string_view text = words[image.texts + position];
    if (!is_null(text)) {
      names.push_back(*field(position));
      values.push_back(text);
    } else if (!null_markers_[position].empty()) {
      names.push_back(null_markers_[position]);
      values.push_back(std::string_view("", 0));
    }
  }
}

/// The row, and behind it the values of the computed columns.
std::vector<sql::Datum> RowEncoder::with_computed(std::span<const sql::Datum> row) const {
  static const sql::SessionSettings kDefaults;
  sql::EvaluationContext context;
  context.settings = &kDefaults;
  sql::Batch batch{.rows = 1, .columns = {}};
  for (std::size_t position = 0; position < table_->columns.size(); ++position) {
    batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(type(position), row[position], 1)));
  }
  std::vector<sql::Datum> whole(row.begin(), row.end());
  for (const sql::ExpressionPtr& expression : computed_) whole.push_back(sql::evaluate(*expression, batch, context)->datum(0));
  return whole;
}

std::vector<sql::Datum> RowEncoder::values(const StructureKeys& structure, std::span<const sql::Datum> row) const {
  std::vector<sql::Datum> whole, values;
  const bool computes = std::ranges::any_of(structure.positions, [&](std::size_t position) { return position >= width(); });
  if (computes) {
    whole = with_computed(row);
    row = whole;
  }
  for (const std::size_t position : structure.positions) values.push_back(row[position]);
  return values;
}

void RowEncoder::encode_entry(const StructureKeys& structure, std::span<const sql::Datum> row, RowImage image,
                              Words& words) const {
  const std::vector<std::size_t>& positions = structure.positions;
  std::vector<sql::Datum> copied;
  std::span<const sql::Datum> values = row.subspan(positions[0], 1);
  if (positions.size() > 1) {
    for (const std::size_t position : positions) copied.push_back(row[position]);
    values = copied;
  }
  std::string_view text;
  if (canonical_is_stored_[positions[0]]) text = words[image.texts + positions[0]];
  const std::optional<sql::StructureEntry> entry = structure.kind->entry(structure, {keys_, values, type(positions[0]), image.member, text});
  if (!entry) {
    words.push({});
    words.push({});
    return;
  }
  words.push(entry->first_is_member ? image.member : words.store(entry->first));
  words.push(words.store(entry->second));
}

}  // namespace redquel::executor
