// The structures beside a mapped table's rows: what stands in them, and how a change of a row changes them.

#include <fmt/format.h>

#include <algorithm>

#include "executor/storage/mapped_row.h"
#include "sql/catalog/mapped_value.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

std::string MappedRow::filled(const sql::KeyTemplate& content, Row row) const {
  const std::vector<sql::KeyTemplate::Part>& parts = content.parts();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].column == 0) continue;
    const std::string value = required(row, mapping_.column(parts[i].column));
    if (parts.size() > 1 && !content.may_hold(i, value)) {
      throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("value \"{}\" of column \"{}\" cannot be part of \"{}\"", value,
                                                                   table_.find_column(parts[i].column)->name, sql::template_text(content, table_)))
          .detail("It would not be parsed back to this value.");
    }
  }
  return content.render([&](std::int16_t column) { return text(row, column); }).value_or("");
}

std::string MappedRow::member(const sql::IndexDef& index, Row row) const { return filled(sql::index_member(table_, index), row); }

std::optional<std::string> MappedRow::structure_key(const sql::IndexDef& index, Row row) const {
  for (const sql::IndexDef::Part& part : index.parts) {
    if (sql::is_null(row[position(part.column)])) return std::nullopt;
  }
  return sql::index_key(index).render([&](std::int16_t column) { return text(row, column); });
}

/// A lookup's key and, of a hash, its field.
std::string MappedRow::lookup_entry(const sql::IndexDef& index, Row row) const {
  const auto name = structure_key(index, row);
  if (!name) return {};
  return sql::is_hash_lookup(index) ? *name + '\0' + filled(sql::index_field(index), row) : *name;
}

void MappedRow::add_released(MappedLookups& lookups) const {
  if (!change_.before) return;
  for (const sql::IndexDef& index : table_.indexes) {
    if (!index.mapped().maintained || index.method != sql::IndexMethod::kLookup) continue;
    const std::string before = lookup_entry(index, *change_.before);
    const bool is_kept = change_.after && !moves_ && lookup_entry(index, *change_.after) == before;
    if (!before.empty() && !is_kept) lookups.released[before] = member(index, *change_.before);
  }
}

void MappedRow::add_taken(MappedLookups& lookups) const {
  if (!change_.after) return;
  for (const sql::IndexDef& index : table_.indexes) {
    if (!index.mapped().maintained || index.method != sql::IndexMethod::kLookup) continue;
    const std::string after = lookup_entry(index, *change_.after);
    if (!after.empty()) lookups.taken[after] = member(index, *change_.after);
  }
}

/// Ohm keeps the ids of all rows; of a row that goes, it takes back all that it has noted.
void MappedRow::write_ohm(MappedWriteCall& call) {
  const std::string all = sql::ohm_key(mapping_, "all");
  if (!change_.before) put(call, all, "set", {"SADD", all, ohm_id(*change_.after)});
  if (change_.after) return;
  const std::string own = key(*change_.before), id = ohm_id(*change_.before);
  call.forget_indices(own + ":_indices", id);
  call.forget_uniques(own + ":_uniques");
  call.command({"SREM", all, id});
  call.command({"DEL", own + ":counters", own + ":_indices", own + ":_uniques"});
}

/// Records the structures' keys that hold a row, beside the row.
void MappedRow::note_for_ohm(MappedWriteCall& call, const sql::IndexDef& index, const std::optional<std::string>& old_key,
                             const std::optional<std::string>& new_key) {
  if (!mapping_.ohm || !change_.after) return;
  const std::string own = key(*change_.after);
  if (index.method == sql::IndexMethod::kSet) {
    const std::string noted = own + ":_indices";
    if (old_key) call.command({"SREM", noted, *old_key});
    if (new_key) put(call, noted, "set", {"SADD", noted, *new_key});
  } else if (index.method == sql::IndexMethod::kLookup) {
    const std::string noted = own + ":_uniques";
    if (old_key && !new_key) call.command({"HDEL", noted, *old_key});
    if (new_key) put(call, noted, "hash", {"HSET", noted, *new_key, *text(*change_.after, index.parts.front().column)});
  }
}

std::optional<MappedEntry> MappedRow::entry(const sql::IndexDef& index, Row row) const {
  const auto name = structure_key(index, row);
  if (!name) return std::nullopt;
  MappedEntry found{*name, "", member(index, row), {}};
  if (sql::is_hash_lookup(index)) found.field = filled(sql::index_field(index), row);
  const bool is_ordered = index.method == sql::IndexMethod::kZset || index.method == sql::IndexMethod::kList;
  if (is_ordered) found.value = text(row, sql::ordered_column(index));
  return found;
}

void MappedRow::note_unkept(MappedWriteCall& call) const {
  if (!change_.after) return;
  const auto entry_or_none = [&](const sql::IndexDef& index, Row row) {
    try {
      return entry(index, row);
    } catch (const SqlError&) {  // a value that cannot stand there
      return std::optional<MappedEntry>();
    }
  };
  for (const sql::IndexDef& index : table_.indexes) {
    if (index.mapped().maintained) continue;
    const auto now = entry_or_none(index, *change_.after);
    if (!now || (change_.before && !moves_ && entry_or_none(index, *change_.before) == now)) continue;
    call.note_unkept(table_.oid, mapped_identity(table_, *change_.after));
    return;
  }
}

void MappedRow::append_entries(MappedWriteCall& call, std::span<const sql::IndexDef* const> indexes) {
  adds_entries_alone_ = true;
  append_checks(call);
  for (const sql::IndexDef* index : indexes) write_structure(call, *index);
}

void MappedRow::write_structure(MappedWriteCall& call, const sql::IndexDef& index) {
  const auto old_key = change_.before && !adds_entries_alone_ ? structure_key(index, *change_.before) : std::nullopt;
  const auto new_key = change_.after ? structure_key(index, *change_.after) : std::nullopt;
  const std::string old_member = old_key ? member(index, *change_.before) : "", new_member = new_key ? member(index, *change_.after) : "";
  const bool is_in_place = old_key == new_key && old_member == new_member;
  switch (index.method) {
    case sql::IndexMethod::kSet:
      if (is_in_place) return;
      note_for_ohm(call, index, old_key, new_key);
      if (old_key) call.command({"SREM", *old_key, old_member});
      if (new_key) put(call, *new_key, "set", {"SADD", *new_key, new_member});
      return;
    case sql::IndexMethod::kLookup: {
      const bool is_hash = sql::is_hash_lookup(index);
      const sql::KeyTemplate field = is_hash ? sql::index_field(index) : sql::KeyTemplate();
      const std::string old_field = is_hash && old_key ? filled(field, *change_.before) : "", new_field = is_hash && new_key ? filled(field, *change_.after) : "";
      if (is_in_place && old_field == new_field) return;
      note_for_ohm(call, index, old_key, new_key);
      if (old_key) call.early_command(is_hash ? Words{"HDEL", *old_key, old_field} : Words{"DEL", *old_key});
      if (new_key) {
        put(call, *new_key, is_hash ? "hash" : "string",
            is_hash ? Words{"HSET", *new_key, new_field, new_member} : Words{"SET", *new_key, new_member});
      }
      return;
    }
    case sql::IndexMethod::kZset:
    case sql::IndexMethod::kList: return write_ordered(call, index, old_key, new_key);
    default: return;
  }
}

void MappedRow::write_ordered(MappedWriteCall& call, const sql::IndexDef& index, const std::optional<std::string>& old_key,
                              const std::optional<std::string>& new_key) {
  const bool is_zset = index.method == sql::IndexMethod::kZset;
  const std::int16_t column = sql::ordered_column(index);
  const std::string old_member = old_key ? member(index, *change_.before) : "", new_member = new_key ? member(index, *change_.after) : "";
  const bool is_in_place = old_key == new_key && old_member == new_member;
  if (is_in_place && (!old_key || text(*change_.before, column) == text(*change_.after, column))) return;
  if (old_key && !is_in_place) call.command(is_zset ? Words{"ZREM", *old_key, old_member} : Words{"LREM", *old_key, "0", old_member});
  if (!new_key) return;
  if (!is_zset) {
    put(call, *new_key, "list", {"LPUSH", *new_key, new_member});
    if (index.mapped().length > 0) call.command({"LTRIM", *new_key, "0", std::to_string(index.mapped().length - 1)});
  } else if (is_in_place && is_increment(column)) {
    put(call, *new_key, "zset", {"ZINCRBY", *new_key, delta(column), new_member});
  } else {
    put(call, *new_key, "zset", {"ZADD", *new_key, score(*change_.after, column), new_member});
  }
}

}  // namespace redquel::executor
