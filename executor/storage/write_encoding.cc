#include "executor/storage/write_encoding.h"

#include <algorithm>
#include <utility>

#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

std::uint32_t WriteEncoding::KeyGroup::number(Word key) {
  const auto [found, is_new] = numbers.try_emplace(key, static_cast<std::uint32_t>(keys.size()));
  if (is_new) keys.push_back(key);
  return found->second;
}

WriteEncoding::WriteEncoding(WriteUnit& unit, std::size_t limit, bool verify_only, std::optional<UnitPart> part)
    : unit_(unit),
      tag_(part ? sql::bucket_tag(part->bucket) : unit.tag()),
      limit_(limit),
      verify_only_(verify_only),
      part_(part),
      skipped_here_(limit),
      is_elsewhere_(limit, 0) {
  for (std::size_t number = 0; part_ && number < limit_; ++number) {
    const PlacedTable table = unit_.tables_[unit_.changes_[number].table].encoder.table();
    is_elsewhere_[number] = !part_->has_rows() || table.bucket() != part_->bucket;
  }
  if (!part_ || part_->has_rows()) {
    release_old_entries();
    claim_new_rows();
    if (local_violation_) return;
    for (std::size_t number = 0; number < limit_; ++number) {
      if (!is_skipped(number)) collect_entries(number);
      if (limit_ > kProgramRows) group_entries();
    }
    order_old_rows();
  }
  demand_foreign_keys();
  std::stable_sort(pending_checks_.begin(), pending_checks_.end(), [](const auto& a, const auto& b) { return a.first.key < b.first.key; });
  if (!unit_.options_.ahead_of_commit) collect_locks();
  order_locks();
}

namespace {

/// Locks, rows, values and sets that one call looks at where it does nothing else: about 10 ms of Redis.
constexpr std::size_t kLooksAtOnce = 4000;

}  // namespace

/// Those who refer to one row may be many, and all of them may have to go: where nothing is written yet they are looked at part by part.
void WriteEncoding::divide_children() {
  const std::size_t most = verify_only_ ? kLooksAtOnce : SIZE_MAX;
  for (std::size_t index = 0; index < foreign_keys_.children.size(); ++index) {
    const std::size_t size = foreign_keys_.children[index].gone.size();
    std::size_t first = 0;
    do {
      const std::size_t last = first + std::min(most, size - first);
      children_parts_.push_back({index, {first, last}});
      first = last;
    } while (first < size);
  }
}

void WriteEncoding::take_children(Call& done, Call& call, std::size_t left) const {
  const std::size_t first = done.children.last;
  std::size_t last = first;
  for (; last < children_parts_.size() && left > 0; ++last) left -= std::min(left, 1 + children_parts_[last].gone.size());
  call.children = done.children = {first, last};
  call.is_last = call.is_last && last == children_parts_.size();
}

void WriteEncoding::finish_groups() {
  group_entries();
  std::ranges::stable_sort(unique_additions_, {}, &Argument::key);
  divide_children();
}

void WriteEncoding::divide() {
  finish_groups();
  Call done;  // how far the calls have come
  do {
    Call call;
    std::size_t left = verify_only_ ? kLooksAtOnce : SIZE_MAX;
    call.is_last = true;
    const auto take = [&](Range Call::* range, std::size_t size) {
      const std::size_t first = (done.*range).last, count = std::min(left, size - first);
      call.*range = done.*range = {first, first + count};
      left -= count;
      call.is_last = call.is_last && first + count == size;
    };
    // Rows are looked at once they are locked.
    take(&Call::locks, locks_.size());
    take(&Call::new_rows, new_rows_.size());
    take(&Call::old_rows, old_rows_.size());
    take(&Call::uniques, pending_checks_.size());
    take(&Call::sets, sets_.keys.size());
    take(&Call::zsets, zsets_.keys.size());
    take(&Call::parents, foreign_keys_.parents.size());
    take_children(done, call, left);
    write_call(call);
    calls_.push_back(std::move(call));
  } while (!calls_.back().is_last);
}

bool WriteEncoding::is_here(std::size_t number, std::size_t structure, std::pair<Word, Word> entry) const {
  if (!part_) return true;
  const RowEncoder& encoder = unit_.tables_[unit_.changes_[number].table].encoder;
  const RowEncoder::StructureKeys& keys = encoder.structures()[structure];
  if (!RowEncoder::lies_by_value(keys)) return is_elsewhere_[number] == 0;
  return part_->has_rows() && encoder.place_of(keys, entry).bucket() == part_->bucket;
}

void WriteEncoding::release_old_entries() {
  for (std::size_t number = 0; number < limit_; ++number) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind != WriteUnit::Kind::kUpdate && change.kind != WriteUnit::Kind::kDelete) continue;
    const bool is_delete = change.kind == WriteUnit::Kind::kDelete;
    const RowEncoder& encoder = unit_.tables_[change.table].encoder;
    if (is_elsewhere_[number] == 0 && (is_delete || moves(change))) released_rows_.emplace(change.old_image.key, number);
    for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
      const RowEncoder::StructureKeys& structure = encoder.structures()[index];
      if (!structure.kind->has_owners()) continue;
      const auto entry = RowEncoder::entry(unit_.words_, change.old_image, index);
      const Word field = entry.first;
      if (is_null(field) || !is_here(number, index, entry)) continue;
      const bool kept = !is_delete && !moves(change) && are_same(RowEncoder::entry(unit_.words_, change.new_image, index).first, field);
      if (!kept) released_values_.emplace(UniqueValue(RowEncoder::unique_key(structure, entry), field), change.old_image.member);
    }
  }
}

void WriteEncoding::claim_new_rows() {
  std::vector<std::size_t> unchecked;
  for (std::size_t number = 0; number < limit_; ++number) {
    const WriteUnit::Change& change = unit_.changes_[number];
    if (change.kind == WriteUnit::Kind::kDelete || is_skipped(number)) continue;
    const bool comes = change.kind == WriteUnit::Kind::kInsert || change.revives || (change.kind == WriteUnit::Kind::kUpdate && moves(change));
    const bool new_key = comes && is_elsewhere_[number] == 0;
    std::optional<WriteUnit::Violation> violation;
    if (new_key && (unit_.is_taken_in_buffer(change) || claimed_rows_.contains(change.new_image.key))) {
      violation = unit_.violation_of(number, std::nullopt);
      // The key that ON CONFLICT names comes before the primary key.
      if (change.skip_if_exists && !unit_.may_skip(change, *violation) && !claim_uniques(number)) {
        if (unit_.may_skip(change, *local_violation_)) violation = local_violation_;
        local_violation_.reset();
      }
    } else if (!claim_uniques(number)) {
      violation = local_violation_;
      local_violation_.reset();
    }
    if (violation) {
      if (unit_.may_skip(change, *violation)) {
        skipped_here_[number] = true;
        continue;
      }
      local_violation_ = violation;
      return;
    }
    if (!new_key) continue;
    claimed_rows_.emplace(change.new_image.key, number);
    if (change.revives) continue;
    (released_rows_.contains(change.new_image.key) ? unchecked : new_rows_).push_back(number);
  }
  checked_new_rows_ = new_rows_.size();
  new_rows_.insert(new_rows_.end(), unchecked.begin(), unchecked.end());
}

void WriteEncoding::collect_entries(std::size_t number) {
  using Kind = WriteUnit::Kind;
  const WriteUnit::Change& change = unit_.changes_[number];
  const RowEncoder& encoder = unit_.tables_[change.table].encoder;
  const bool has_old = change.kind == Kind::kUpdate || change.kind == Kind::kDelete;
  const bool has_new = change.kind != Kind::kDelete;
  const bool moved = change.kind == Kind::kUpdate && moves(change);
  for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
    const RowEncoder::StructureKeys& structure = encoder.structures()[index];
    std::pair<Word, Word> before, after;
    if (has_old) before = RowEncoder::entry(unit_.words_, change.old_image, index);
    if (has_new) after = RowEncoder::entry(unit_.words_, change.new_image, index);
    if (has_old && has_new && !moved && are_same(before.first, after.first) && before.second == after.second) continue;
    if (!is_null(before.first) && !is_here(number, index, before)) before = {};
    if (!is_null(after.first) && !is_here(number, index, after)) after = {};
    if (is_null(before.first) && is_null(after.first)) continue;
    if (structure.kind->has_many_elements() && !is_null(before.first) && !is_null(after.first)) {
      append_changes(entries_, RowEncoder::elements(structure, change.old_image, before), RowEncoder::elements(structure, change.new_image, after), structure.key);
      continue;
    }
    if (!is_null(before.first)) {
      // A member of a zset with another score is overwritten.
      const bool is_overwritten = structure.kind->form().type == sql::kZsetForm.type && are_same(before.first, after.first);
      if (!is_overwritten) append_effects(entries_, false, RowEncoder::elements(structure, change.old_image, before), structure.key);
    }
    if (!is_null(after.first)) append_effects(entries_, true, RowEncoder::elements(structure, change.new_image, after), structure.key);
  }
  if (is_elsewhere_[number] != 0 || change.kind == Kind::kIndex || (change.kind == Kind::kUpdate && !moved)) return;
  const Word all_rows = encoder.all_rows();
  if (has_old) entries_.push_back({false, {&sql::kZsetForm, all_rows, change.old_image.member, {}}});
  if (has_new) entries_.push_back({true, {&sql::kZsetForm, all_rows, change.new_image.member, change.new_image.score}});
}

void WriteEncoding::group_entries() {
  for (const EntryEffect& entry : entries_) {
    const sql::StructureElement& element = entry.element;
    if (element.form == &sql::kHashForm) {
      (entry.comes ? unique_additions_ : unique_removals_).push_back({uniques_.number(element.key), element.name, element.value});
      continue;
    }
    const bool is_listed = !entry.values.empty(), is_zset = element.form == &sql::kZsetForm;
    const std::uint32_t values = is_listed ? sets_.number(entry.values) : 0;
    const ValueKey key{is_zset, (is_zset ? zsets_ : sets_).number(element.key)};
    named_sets_.resize(sets_.keys.size());
    const bool is_named = is_listed && is_named_by_value(entry);
    if (is_named) named_sets_[key.number] = {values, entry.value};
    if (!entry.comes) {
      (is_zset ? zset_removals_ : set_removals_).push_back({key.number, element.name, {}});
      if (is_listed && !is_named) emptied_.push_back({key, values, entry.value});
      continue;
    }
    if (is_zset) zset_additions_.push_back({key.number, element.value, element.name});
    else set_additions_.push_back({key.number, element.name, {}});
    const bool is_announced = !is_listed || is_named || !announced_.insert(std::uint64_t{key.number} * 2 + (is_zset ? 1 : 0)).second;
    if (!is_announced) set_additions_.push_back({values, entry.value, {}});
  }
  entries_.clear();
}

/// By table, fate and shape, so that the fields' names are said once per group.
void WriteEncoding::order_old_rows() {
  for (std::size_t number = 0; number < limit_; ++number) {
    if (is_active(number) && unit_.changes_[number].kind != WriteUnit::Kind::kInsert) old_rows_.push_back(number);
  }
  std::stable_sort(old_rows_.begin(), old_rows_.end(), [&](std::size_t left, std::size_t right) {
    const WriteUnit::Change &a = unit_.changes_[left], &b = unit_.changes_[right];
    const auto rank = [&](const WriteUnit::Change& change) {
      const int fate = change.kind == WriteUnit::Kind::kDelete ? 2 : change.kind == WriteUnit::Kind::kUpdate && moves(change) ? 1 : 0;
      return std::tuple(change.table, fate, change.shape);
    };
    return rank(a) < rank(b);
  });
}

/// Those with rows, and with unique values of rows of other parts.
std::map<sql::Oid, WriteEncoding::WrittenTable> WriteEncoding::written_tables() const {
  std::map<sql::Oid, WrittenTable> tables;
  if (unit_.options_.ahead_of_commit || (part_ && !part_->has_rows())) return tables;
  for (const WriteUnit::Table& table : unit_.tables_) {
    const sql::TableDef& definition = table.encoder.table();
    if (!part_ || PlacedTable(definition).bucket() == part_->bucket) tables.emplace(definition.oid, WrittenTable{table.encoder.counter(), definition.version});
    if (!part_ || !has_unique_effects() || !std::ranges::any_of(table.encoder.structures(), &RowEncoder::lies_by_value)) continue;
    for (const sql::SpreadDef::Place& place : definition.spread->places) {
      if (place.bucket != part_->bucket) continue;
      const std::string counter = std::string(sql::kChangesPrefix) + std::to_string(place.oid);
      tables.emplace(place.oid, WrittenTable{unit_.words_.store(executor::own_key(tag_, counter)), definition.version});
    }
  }
  return tables;
}

/// Returns true if no old value of the row is compared: the field that is added to shows that the row exists.
bool WriteEncoding::only_adds(const WriteUnit::Change& change) const {
  const WriteUnit::Shape& shape = unit_.tables_[change.table].shapes[change.shape];
  return !change.increments.empty() && std::ranges::find(shape.columns, true) == shape.columns.end();
}

/// The fields of a row that stays: which to set (and their values), which to remove.
void WriteEncoding::collect_field_changes(const WriteUnit::Change& change, std::vector<Word>& set, std::vector<Word>& removed) const {
  const RowEncoder& encoder = unit_.tables_[change.table].encoder;
  for (std::size_t position = 0; position < encoder.width(); ++position) {
    const std::string* field = encoder.field(position);
    if (field == nullptr) continue;
    if (std::find(change.increments.begin(), change.increments.end(), position) != change.increments.end()) continue;
    const Word before = unit_.words_[change.old_image.texts + position];
    const Word after = unit_.words_[change.new_image.texts + position];
    if (are_same(before, after)) continue;
    const std::string& marker = encoder.null_marker(position);
    if (is_null(after)) {
      removed.push_back(*field);
      if (!marker.empty()) set.insert(set.end(), {marker, Word("", 0)});
    } else {
      set.insert(set.end(), {*field, after});
      if (is_null(before) && !marker.empty()) removed.push_back(marker);
    }
  }
}

WriteEncoding::Increment WriteEncoding::increment_of(const WriteUnit::Change& change, std::size_t position) const {
  const RowEncoder& encoder = unit_.tables_[change.table].encoder;
  const auto number = [&](const RowImage& image) { return std::stoll(std::string(unit_.words_[image.texts + position])); };
  const std::int64_t bound = encoder.type(position).oid == sql::oid::kInt4 ? std::int64_t{INT32_MAX} : kIncrementBound;
  return {*encoder.field(position), unit_.words_.store(std::to_string(number(change.new_image) - number(change.old_image))),
          unit_.words_.store(std::to_string(bound))};
}

}  // namespace redquel::executor
