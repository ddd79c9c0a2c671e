#include "executor/storage/mapped_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/redis/redis_error.h"
#include "executor/storage/constraint_errors.h"
#include "sql/ascii.h"
#include "sql/catalog/mapped_value.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/compare.h"

namespace redquel::executor {

using sql::Mapping;
using Layout = Mapping::Layout;
using Role = Mapping::Role;
using sql::SqlError;

namespace {

/// Stands in a list's place for elements that are to be removed, until the end of the script.
constexpr std::string_view kRemoved = sql::kRemovedElement;

std::string reply_text(const Reply& reply) { return reply.is_text() ? std::string(reply.text) : std::to_string(reply.integer); }

}  // namespace

MappedRow::MappedRow(const sql::TableDef& table, const MappedChange& change) : table_(table), mapping_(table.mapping()), change_(change) {
  if (change.before && change.after) {
    moves_ = std::any_of(table.primary_key.begin(), table.primary_key.end(), [&](std::int16_t column) {
      const std::size_t at = position(column);
      return !sql::equal(table_.columns[at].type, (*change_.before)[at], (*change_.after)[at]);
    });
  }
  for (const Mapping::Column& column : mapping_.columns) {
    if (column.role == Role::kField) fields_.push_back(&column);
  }
  add_reads();
}

std::size_t MappedRow::position(std::int16_t column) const { return table_.position(column); }

bool MappedRow::is_increment(std::int16_t column) const {
  const std::size_t at = position(column);
  if (!change_.before || mapping_.column(column).width > 0) return false;  // Redis takes no number with zeros in front
  if (mapping_.column(column).absent != Mapping::Absent::kNull) return false;  // Redis adds to 0 where the field is absent
  const std::optional<std::string> before = text(*change_.before, column);
  if (const auto* found = found_text(column); found != nullptr && *found != before) return false;  // " 7", 007: Redis reads no number
  return std::find(change_.increments.begin(), change_.increments.end(), at) != change_.increments.end();
}

const std::optional<std::string>* MappedRow::found_text(std::int16_t column) const {
  const Role role = mapping_.column(column).role;
  if (role == Role::kValue && (mapping_.layout == Layout::kHashFields || mapping_.layout == Layout::kString)) return &found_.at(0);
  if (role != Role::kField || mapping_.layout == Layout::kString || mapping_.layout == Layout::kStream) return nullptr;
  const auto field = std::find_if(fields_.begin(), fields_.end(), [&](const Mapping::Column* other) { return other->number == column; });
  return &found_.at(static_cast<std::size_t>(field - fields_.begin()));
}

std::string MappedRow::delta(std::int16_t column) const {
  const auto integer = [](const sql::Datum& value) -> std::int64_t {
    if (const auto* v = std::get_if<std::int16_t>(&value)) return *v;
    if (const auto* v = std::get_if<std::int32_t>(&value)) return *v;
    return std::get<std::int64_t>(value);
  };
  const std::size_t at = position(column);
  return std::to_string(integer((*change_.after)[at]) - integer((*change_.before)[at]));
}

std::optional<std::string> MappedRow::text(Row row, std::int16_t column) const {
  const std::size_t at = position(column);
  if (sql::is_null(row[at])) return std::nullopt;
  return sql::encode_mapped(mapping_.column(column), table_.columns[at].type, row[at]);
}

std::string MappedRow::required(Row row, const Mapping::Column& column) const {
  std::optional<std::string> value = text(row, column.number);
  if (!value) throw null_violation(table_, *table_.find_column(column.number), row, sql::SessionSettings{});
  return *std::move(value);
}

std::string MappedRow::key(Row row, std::string_view field) const {
  std::size_t part = 0;
  for (const sql::KeyTemplate::Part& piece : mapping_.key.parts()) {
    if (piece.column > 0) {
      const std::string value = required(row, mapping_.column(piece.column));
      if (!mapping_.key.may_hold(part, value)) {
        throw SqlError(sqlstate::kInvalidParameterValue,
                       fmt::format("value \"{}\" of column \"{}\" cannot be part of key \"{}\"", value, table_.find_column(piece.column)->name,
                                   sql::template_text(mapping_.key, table_)))
            .detail("The key would not be parsed back to this value.");
      }
    }
    ++part;
  }
  return mapping_.render_key([&](std::int16_t column) { return text(row, column); }, field).value_or("");
}

std::string MappedRow::ohm_id(Row row) const { return required(row, mapping_.column(table_.primary_key.front())); }

/// Redis takes no NaN, and would stop in the middle of a script.
std::string MappedRow::score(Row row, std::int16_t column) const {
  const std::string value = required(row, mapping_.column(column));
  if (value == "NaN") {
    throw SqlError(sqlstate::kNumericValueOutOfRange,
                   fmt::format("column \"{}\" of foreign table \"{}\" cannot be NaN", table_.find_column(column)->name, table_.name))
        .detail("It is a score of a zset.");
  }
  return value;
}

std::string MappedRow::description(Row row) const {
  std::vector<sql::Datum> values;
  for (const std::int16_t column : table_.primary_key) values.push_back(row[position(column)]);
  return key_description(table_, table_.primary_key, values, sql::SessionSettings{});
}

SqlError MappedRow::duplicate(Row row, std::span<const std::int16_t> columns) const {
  std::vector<sql::Datum> values;
  for (const std::int16_t column : columns) values.push_back(row[position(column)]);
  return duplicate_key(table_, table_.name + "_key", columns, values, sql::SessionSettings{});
}

void MappedRow::add_reads() {
  const auto read_row = [&](Row row, bool is_new) {
    const std::string name = key(row);
    switch (mapping_.layout) {
      case Layout::kHash: {
        for (const Mapping::Column* column : fields_) {
          if (!is_new) reads_.push_back({"HGET", name, column->field});
        }
        if (mapping_.ohm) reads_.push_back({"SISMEMBER", sql::ohm_key(mapping_, "all"), ohm_id(row)});
        else reads_.push_back({is_new ? "HLEN" : "EXISTS", name});  // HLEN detects a key of another type
        break;
      }
      case Layout::kStrings:
        for (const Mapping::Column* column : fields_) reads_.push_back({"GET", key(row, column->field)});
        break;
      case Layout::kString: reads_.push_back({"GET", name}); break;
      case Layout::kSet: reads_.push_back({"SISMEMBER", name, required(row, *with_role(Role::kMember))}); break;
      case Layout::kZset: reads_.push_back({"ZSCORE", name, required(row, *with_role(Role::kMember))}); break;
      case Layout::kHashFields: reads_.push_back({"HGET", name, required(row, *with_role(Role::kName))}); break;
      case Layout::kList:
        if (change_.before) reads_.push_back({"LINDEX", name, required(row, *with_role(Role::kPosition))});
        break;
      case Layout::kStream: break;
    }
  };
  if (change_.before) read_row(*change_.before, false);
  own_reads_ = reads_.size();
  if (change_.after && (!change_.before || moves_) && mapping_.layout != Layout::kList) read_row(*change_.after, true);
  if (!change_.after) return;
  for (const sql::IndexDef& index : table_.indexes) {
    if (!index.mapped().maintained || index.method != sql::IndexMethod::kLookup) continue;
    const auto name = structure_key(index, *change_.after);
    if (!name) continue;
    lookups_.push_back({&index, reads_.size()});
    if (sql::is_hash_lookup(index)) reads_.push_back({"HGET", *name, filled(sql::index_field(index), *change_.after)});
    else reads_.push_back({"GET", *name});
  }
}

void MappedRow::append_reads(CommandBatch& batch) {
  for (const Words& words : reads_) {
    batch.begin(words.size());
    for (const std::string& word : words) batch.arg(word);
  }
}

bool MappedRow::same_text(const Mapping::Column& column, std::optional<std::string_view> raw, const sql::Datum& value, bool bad_is_null) const {
  const sql::Type type = table_.find_column(column.number)->type;
  sql::Datum now = sql::absent_value(column, type);
  if (raw) {
    try {
      now = sql::decode_mapped(column, type, *raw);
    } catch (const SqlError&) {
      if (!bad_is_null) return false;
      now = {};
    }
  }
  if (sql::is_null(now) || sql::is_null(value)) return sql::is_null(now) && sql::is_null(value);
  return sql::equal(type, now, value);
}

bool MappedRow::is_as_read(std::size_t own, bool bad_values_are_null) const {
  const Row row(*change_.before);
  switch (mapping_.layout) {
    case Layout::kHash:
    case Layout::kStrings: {
      const bool is_there = std::any_of(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(own),
                                        [](const auto& found) { return found && *found != "0"; });
      if (!is_there) return false;
      for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (!same_text(*fields_[i], found_[i], row[position(fields_[i]->number)], bad_values_are_null)) return false;
      }
      return true;
    }
    case Layout::kString: {
      if (!found_[0]) return false;
      if (mapping_.parts == Mapping::Parts::kWhole) {
        const Mapping::Column& column = *with_role(Role::kValue);
        return same_text(column, found_[0], row[position(column.number)], bad_values_are_null);
      }
      const auto parts = sql::split_mapped(mapping_, *found_[0]);
      for (std::size_t i = 0; i < mapping_.columns.size(); ++i) {
        if (mapping_.columns[i].role != Role::kField) continue;
        if (!same_text(mapping_.columns[i], parts[i], row[i], bad_values_are_null)) return false;
      }
      return true;
    }
    case Layout::kSet: return found_[0] == "1";
    case Layout::kZset:
    case Layout::kHashFields:
    case Layout::kList: {
      if (!found_[0]) return false;
      const Mapping::Column* column = with_role(mapping_.layout == Layout::kZset ? Role::kScore : Role::kValue);
      return column == nullptr || same_text(*column, found_[0], row[position(column->number)], bad_values_are_null);
    }
    case Layout::kStream: return true;
  }
  return true;
}

bool MappedRow::is_key_taken(std::size_t own, std::size_t row_reads) const {
  if (mapping_.layout == Layout::kHash) return found_[row_reads - 1] != "0";
  if (mapping_.layout == Layout::kSet) return found_[own] == "1";
  return std::any_of(found_.begin() + static_cast<std::ptrdiff_t>(own), found_.begin() + static_cast<std::ptrdiff_t>(row_reads),
                     [](const auto& found) { return found.has_value(); });
}

MappedRow::Found MappedRow::take_reads(std::span<const Reply> replies, bool bad_values_are_null, MappedLookups& lookups) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (replies[i].is_error()) {
      if (!replies[i].text.starts_with("WRONGTYPE")) {
        if (replies[i].text.starts_with("NOPERM")) throw redis_error(replies[i].text, fmt::format("a read of foreign table \"{}\"", table_.name));
        throw SqlError(sqlstate::kInternalError, fmt::format("Redis, key \"{}\": {}", reads_[i][1], replies[i].text));
      }
      throw SqlError(sqlstate::kDataCorrupted,
                     fmt::format("key \"{}\" is of another Redis type than foreign table \"{}\" needs", reads_[i][1], table_.name));
    }
    found_.push_back(replies[i].is_nil() ? std::nullopt : std::optional(reply_text(replies[i])));
  }
  const std::size_t row_reads = lookups_.empty() ? reads_.size() : lookups_.front().read;
  const std::size_t own = own_reads_;
  if (change_.before && !is_as_read(own, bad_values_are_null)) return Found::kChanged;
  if (change_.after && row_reads > own && is_key_taken(own, row_reads)) {
    violates_key_ = true;
    violation_ = duplicate(*change_.after, table_.primary_key);
    return Found::kTaken;
  }
  for (const Lookup& lookup : lookups_) {
    const std::string entry = lookup_entry(*lookup.index, *change_.after), own_member = member(*lookup.index, *change_.after);
    const std::optional<std::string>& holder = found_[lookup.read];
    const auto released = lookups.released.find(entry);
    const bool is_free = !holder || (change_.before && *holder == member(*lookup.index, *change_.before)) ||
                         (released != lookups.released.end() && released->second == *holder);
    const auto [taken, is_new] = lookups.taken.emplace(entry, own_member);
    if (is_free && (is_new || taken->second == own_member)) continue;
    std::vector<std::int16_t> columns;
    for (const auto& part : lookup.index->parts) columns.push_back(part.column);
    std::vector<sql::Datum> values;
    for (const std::int16_t column : columns) values.push_back((*change_.after)[position(column)]);
    violation_ = duplicate_key(table_, lookup.index->name, columns, values, sql::SessionSettings{});
    return Found::kTaken;
  }
  return Found::kAsRead;
}

void MappedRow::put(MappedWriteCall& call, const std::string& name, std::string_view type, const Words& words) {
  call.expect_type(name, type);
  call.command(words);
}

void MappedRow::append_checks(MappedWriteCall& call) const {
  const std::size_t fields = mapping_.layout == Layout::kHash && change_.before ? fields_.size() : 0;
  if (fields > 0) call.expect_fields(reads_.front()[1], std::span(reads_).first(fields), std::span(found_).first(fields));
  for (std::size_t i = fields; i < reads_.size(); ++i) {
    if (found_[i]) call.expect(reads_[i], *found_[i]);
    else call.expect_nil(reads_[i]);
  }
}

void MappedRow::append_writes(MappedWriteCall& call) {
  append_checks(call);
  switch (mapping_.layout) {
    case Layout::kHash:
    case Layout::kStrings: write_fields(call); break;
    case Layout::kString: write_string(call); break;
    case Layout::kSet:
    case Layout::kZset:
    case Layout::kHashFields: write_member(call); break;
    case Layout::kList: write_list(call); break;
    case Layout::kStream: write_stream(call); break;
  }
  if (mapping_.ohm) write_ohm(call);
  for (const sql::IndexDef& index : table_.indexes) {
    if (index.mapped().maintained) write_structure(call, index);
  }
  note_unkept(call);
}

void MappedRow::write_fields(MappedWriteCall& call) {
  const bool is_hash = mapping_.layout == Layout::kHash;
  if (!change_.after) {
    Words words{"DEL"};
    if (is_hash) words.push_back(key(*change_.before));
    else for (const Mapping::Column* column : fields_) words.push_back(key(*change_.before, column->field));
    call.command(words);
    return;
  }
  const Row after(*change_.after);
  const bool all_null = std::all_of(fields_.begin(), fields_.end(), [&](const auto* column) { return sql::is_null(after[position(column->number)]); });
  const bool repeats_key = std::any_of(mapping_.columns.begin(), mapping_.columns.end(), [](const auto& column) { return column.repeats_key; });
  if (all_null && !mapping_.ohm && !repeats_key) {
    throw SqlError(sqlstate::kInvalidParameterValue,
                   fmt::format("a row of foreign table \"{}\" needs a value that is not null in a column outside of its key", table_.name))
        .detail("Redis has no empty value for it.");
  }
  if (moves_ && mapping_.ohm) throw sql::not_supported("another id for a row of layout ohm");
  if (moves_ && is_hash) call.command({"RENAME", key(*change_.before), key(after)});
  std::vector<std::string> keys;
  if (is_hash) keys.push_back(key(after));
  // The reads have shown that the keys are absent or of the right type. A hash that loses its last field is deleted, and its time to live
  // with it: fields are removed last.
  Words set{"HSET"}, removed{"HDEL"};
  if (is_hash) {
    set.push_back(keys.front());
    removed.push_back(keys.front());
  }
  for (const Mapping::Column* const& column : fields_) {
    const std::size_t at = position(column->number);
    const std::string name = is_hash ? keys.front() : key(after, column->field);
    const std::optional<std::string> value = text(after, column->number);
    if (!is_hash && value) keys.push_back(name);
    bool is_changed = !change_.before;
    if (change_.before) {
      const sql::Datum &before = (*change_.before)[at], &now = after[at];
      is_changed = sql::is_null(before) != sql::is_null(now) ||
                   (!sql::is_null(now) && !sql::equal(table_.columns[at].type, before, now));
      const bool was_there = found_[static_cast<std::size_t>(&column - fields_.data())].has_value();
      if (moves_ && !is_hash && was_there) call.command({"RENAME", key(*change_.before, column->field), name});
    }
    if (!is_changed) continue;
    if (!value && column->absent == Mapping::Absent::kDefault) {
      throw SqlError(sqlstate::kInvalidParameterValue,
                     fmt::format("column \"{}\" of foreign table \"{}\" cannot be null", table_.columns[at].name, table_.name))
          .detail("An absent field means the column's default.");
    }
    if (!value && is_hash) {
      removed.push_back(column->field);
    } else if (!value) {
      if (change_.before) call.command({"DEL", name});
    } else if (is_increment(column->number) && !moves_) {
      call.command(is_hash ? Words{"HINCRBY", name, column->field, delta(column->number)} : Words{"INCRBY", name, delta(column->number)});
    } else if (is_hash) {
      set.insert(set.end(), {column->field, *value});
    } else {
      call.command({"SET", name, *value, "KEEPTTL"});
    }
  }
  for (const Mapping::Column& column : mapping_.columns) {
    const bool is_written = column.repeats_key && (!change_.before || moves_ || all_null);
    if (is_written) set.insert(set.end(), {column.field, mapping_.key.slot_text(column.number, required(after, column))});
  }
  if (set.size() > 2 && mapping_.ohm) call.expect_type(keys.front(), "hash");  // what is in the set of all ids says nothing of the hash
  if (set.size() > 2) call.command(set);
  if (change_.before && removed.size() > 2) call.command(removed);
  write_ttl(call, keys);
}

bool MappedRow::changes_ttl() const {
  const Mapping::Column* ttl = with_role(Role::kTtl);
  if (ttl == nullptr || !change_.after) return false;
  return text(*change_.after, ttl->number) != (change_.before ? text(*change_.before, ttl->number) : std::nullopt);
}

void MappedRow::write_ttl(MappedWriteCall& call, std::span<const std::string> keys) {
  if (!changes_ttl()) return;
  const std::int16_t ttl = with_role(Role::kTtl)->number;
  std::optional<std::int64_t> seconds;
  if (const auto now = text(*change_.after, ttl)) {
    constexpr std::int64_t kMost = 100'000'000'000;  // Redis counts milliseconds
    seconds = std::stoll(*now);
    if (*seconds <= 0 || *seconds > kMost) {
      throw SqlError(sqlstate::kInvalidParameterValue,
                     fmt::format("column \"{}\" is a time to live and must be positive", table_.find_column(ttl)->name))
          .detail(fmt::format("It is a number of seconds, at most {}.", kMost));
    }
  }
  for (const std::string& name : keys) call.expire(name, seconds);
}

void MappedRow::write_string(MappedWriteCall& call) {
  if (!change_.after) {
    call.command({"DEL", key(*change_.before)});
    return;
  }
  const Row after(*change_.after);
  const std::string name = key(after);
  if (moves_) call.command({"RENAME", key(*change_.before), name});
  std::string value;
  if (mapping_.parts == Mapping::Parts::kWhole) {
    const Mapping::Column& column = *with_role(Role::kValue);
    value = required(after, column);
    if (change_.before && !moves_ && is_increment(column.number)) {
      put(call, name, "string", {"INCRBY", name, delta(column.number)});
      write_ttl(call, {&name, 1});
      return;
    }
  } else {
    std::vector<std::optional<std::string>> parts;
    std::vector<sql::Type> types;
    for (const Mapping::Column& column : mapping_.columns) {
      parts.push_back(column.role == Role::kField ? text(after, column.number) : std::nullopt);
      types.push_back(table_.find_column(column.number)->type);
    }
    value = sql::join_mapped(mapping_, parts, types, change_.before ? found_[0] : std::optional<std::string>());
  }
  put(call, name, "string", {"SET", name, value, "KEEPTTL"});
  write_ttl(call, {&name, 1});
}

void MappedRow::write_member(MappedWriteCall& call) {
  const bool is_set = mapping_.layout == Layout::kSet, is_zset = mapping_.layout == Layout::kZset;
  const Mapping::Column& name = *with_role(is_set || is_zset ? Role::kMember : Role::kName);
  if (change_.after) put_member(call, name);
  // Behind what comes, so that a key does not lose its time to live in between.
  if (change_.before && (!change_.after || moves_)) {
    call.command({is_set ? "SREM" : is_zset ? "ZREM" : "HDEL", key(*change_.before), required(*change_.before, name)});
  }
}

void MappedRow::put_member(MappedWriteCall& call, const Mapping::Column& name) {
  const Row after(*change_.after);
  const std::string own = key(after), member = required(after, name);
  write_ttl(call, {&own, 1});
  const bool is_new = !change_.before || moves_;
  if (mapping_.layout == Layout::kSet) {
    if (is_new) put(call, own, "set", {"SADD", own, member});
    return;
  }
  const bool is_zset = mapping_.layout == Layout::kZset;
  const Mapping::Column* value = with_role(is_zset ? Role::kScore : Role::kValue);
  if (!is_new && (value == nullptr || text(*change_.before, value->number) == text(after, value->number))) return;
  const bool adds = !is_new && is_increment(value->number);
  const std::string now = value == nullptr ? (is_zset ? "0" : "") : is_zset ? score(after, value->number) : required(after, *value);
  if (is_zset) put(call, own, "zset", adds ? Words{"ZINCRBY", own, delta(value->number), member} : Words{"ZADD", own, now, member});
  else put(call, own, "hash", adds ? Words{"HINCRBY", own, member, delta(value->number)} : Words{"HSET", own, member, now});
}

void MappedRow::write_list(MappedWriteCall& call) {
  const Mapping::Column& value = *with_role(Role::kValue);
  const Mapping::Column* position_column = with_role(Role::kPosition);
  if (change_.before) {
    const std::string own = key(*change_.before), at = required(*change_.before, *position_column);
    if (change_.after && moves_) throw sql::not_supported("another key or position for an element of a list");
    if (change_.after) {
      write_ttl(call, {&own, 1});
      call.command({"LSET", own, at, required(*change_.after, value)});
    } else {
      call.command({"LSET", own, at, std::string(kRemoved)});
      call.last_command({"LREM", own, "0", std::string(kRemoved)});
    }
    return;
  }
  const std::string own = key(*change_.after);
  const std::string at = position_column != nullptr ? required(*change_.after, *position_column) : "-1";
  if (at != "0" && at != "-1") {
    throw SqlError(sqlstate::kInvalidParameterValue, "an element can only be put to the head of a list, position 0, or to its end, position -1");
  }
  put(call, own, "list", {at == "0" ? "LPUSH" : "RPUSH", own, required(*change_.after, value)});
  write_ttl(call, {&own, 1});
}

bool MappedRow::is_same_beside_ttl() const {
  return std::all_of(mapping_.columns.begin(), mapping_.columns.end(), [&](const Mapping::Column& column) {
    return column.role == Role::kTtl || text(*change_.before, column.number) == text(*change_.after, column.number);
  });
}

/// A new entry gets from Redis what it does not say.
std::string MappedRow::entry_id(Row row) const {
  const Mapping::Column *id = with_role(Role::kId), *time = with_role(Role::kTime), *sequence = with_role(Role::kSequence);
  const std::string whole = id != nullptr ? required(row, *id) : "*";
  const auto first = whole == "*" && time != nullptr ? text(row, time->number) : std::nullopt;
  const auto second = sequence != nullptr ? text(row, sequence->number) : std::nullopt;
  const std::string given = first ? *first + "-" + second.value_or("*") : whole;
  if (given == "*" || change_.before) return given;
  const std::string complete = given.find('-') == std::string::npos ? given + "-0" : given;
  const std::size_t dash = complete.find('-');
  const auto is_number = [](std::string_view digits) {
    return digits.size() <= 15 && sql::all_digits(digits);
  };
  const std::string_view number = std::string_view(complete).substr(dash + 1);
  if (!is_number(std::string_view(complete).substr(0, dash)) || (number != "*" && !is_number(number)) || complete == "0-0") {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid id of a stream's entry: \"{}\"", given));
  }
  return complete;
}

void MappedRow::write_stream(MappedWriteCall& call) {
  if (change_.before && change_.after) {
    if (!changes_ttl() || !is_same_beside_ttl()) throw sql::not_supported("UPDATE of an entry of a stream");
    const std::string own = key(*change_.after);
    call.expect_type(own, "stream");
    return write_ttl(call, {&own, 1});
  }
  if (!change_.after) {
    call.command({"XDEL", key(*change_.before), entry_id(*change_.before)});
    return;
  }
  const Row after(*change_.after);
  const std::string own = key(after);
  const std::string id = entry_id(after);
  call.add_entry(own, id);
  Words words{"XADD", own, id};
  for (const Mapping::Column* column : fields_) {
    if (const auto value = text(after, column->number)) {
      words.push_back(column->field);
      words.push_back(*value);
    }
  }
  if (words.size() == 3) throw SqlError(sqlstate::kInvalidParameterValue, "an entry of a stream needs a field that is not null");
  put(call, own, "stream", words);
  write_ttl(call, {&own, 1});
}

}  // namespace redquel::executor
