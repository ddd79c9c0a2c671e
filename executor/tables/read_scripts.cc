#include "executor/tables/read_scripts.h"

#include "executor/scripts/scripts.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/stored_keys.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

sql::SqlError unexpected(const char* reply) { return {sqlstate::kInternalError, std::string("unexpected reply of ") + reply}; }

}  // namespace

FlatRows::FlatRows(std::span<const Reply> flat, std::size_t fields) : flat_(flat), width_(1 + fields) {
  if (flat.size() % width_ != 0) throw unexpected("a script that reads rows");
}

void append_row_arguments(CommandBatch& batch, const RowArguments& rows) {
  batch.arg(rows.prefix).arg(rows.escape ? "1" : "0").arg(rows.fields->size());
  for (const std::string& field : *rows.fields) batch.arg(field);
}

RowArguments row_arguments(const sql::TableDef& table, const sql::RowFields& fields) {
  const bool composite = table.primary_key.size() > 1;
  return {table.prefix + ":", !composite && !sql::TableKeys(table).sort_get_is_safe(), &fields.fields};
}
RowArguments row_arguments(const RowReader& reader) { return row_arguments(reader.table(), reader.row_fields()); }

void append_range_rows(CommandBatch& batch, std::string_view key, const ZsetRange& range, bool members_hold_value,
                       const RowArguments& rows, std::optional<std::size_t> few) {
  kRangeRowsScript.begin_call(batch, 1, 11 + rows.fields->size());
  batch.arg(key).arg(range.low).arg(range.high).arg(range.by == ZsetRange::By::kScore ? "BYSCORE" : "BYLEX");
  batch.arg(range.descending ? "1" : "0").arg(range.offset).arg(range.count).arg(members_hold_value ? "1" : "0");
  if (few) batch.arg(*few);
  else batch.arg("-1");
  append_row_arguments(batch, rows);
}

void append_range(CommandBatch& batch, std::string_view key, const ZsetRange& range) {
  const bool by_score = range.by == ZsetRange::By::kScore;
  batch.begin(8 + (range.descending ? 1 : 0) + (by_score ? 1 : 0));
  batch.arg("ZRANGE").arg(key).arg(range.descending ? range.high : range.low).arg(range.descending ? range.low : range.high);
  batch.arg(by_score ? "BYSCORE" : "BYLEX");
  if (range.descending) batch.arg("REV");
  batch.arg("LIMIT").arg(range.offset).arg(range.count);
  if (by_score) batch.arg("WITHSCORES");
}

RangeRows::RangeRows(const Reply& reply, std::size_t fields) : width_(fields) {
  const auto parts = reply.children();
  if (parts.size() != 2) throw unexpected("a range");
  elements_ = parts[0].children();
  has_fields_ = !parts[1].is_nil();
  if (has_fields_) fields_ = parts[1].children();
  if (has_fields_ && fields_.size() < size() * width_) throw unexpected("a range");
}

std::optional<RangePlace> decode_range_place(const Reply& reply) {
  const std::span<const Reply> parts = reply.children();
  if (parts.size() != 2 || parts[0].kind != Reply::Kind::integer || parts[1].kind != Reply::Kind::integer) return std::nullopt;
  if (parts[0].integer < 0 || parts[1].integer < 0) throw unexpected("a range");
  return RangePlace{static_cast<std::size_t>(parts[0].integer), static_cast<std::size_t>(parts[1].integer)};
}

void append_unique_rows(CommandBatch& batch, std::string_view uniques, std::span<const std::string> values, const RowArguments& rows) {
  kUniqueRowsScript.begin_call(batch, 1, 3 + rows.fields->size() + values.size());
  batch.arg(uniques);
  append_row_arguments(batch, rows);
  for (const std::string& value : values) batch.arg(value);
}

std::optional<FlatRows> decode_unique_rows(const Reply& reply, std::size_t fields) {
  if (reply.is_nil()) return std::nullopt;
  if (!reply.is_array()) throw unexpected("unique values");
  return FlatRows(reply.children(), fields);
}

GroupCounts::GroupCounts(std::span<const Reply> flat) : flat_(flat) {
  bool is_whole = flat.size() % 2 == 0;
  for (std::size_t i = 1; i < flat.size(); i += 2) is_whole = is_whole && flat[i].kind == Reply::Kind::integer;
  if (!is_whole) throw unexpected("the values of an index");
}

void append_group_counts(CommandBatch& batch, std::string_view values, std::string_view null_set, std::span<const std::string> among,
                         const ReadLimits& limits, bool counts) {
  kGroupCountsScript.begin_call(batch, 2 + among.size(), 3);
  const std::string_view tag = sql::tag_of(values);
  // In a cluster every key of a script has the bucket's tag.
  const std::string no_key = tag.empty() ? std::string() : std::string(tag).append(sql::kNoKey);
  batch.arg(values).arg(null_set.empty() ? std::string_view(no_key) : null_set);
  for (const std::string& key : among) batch.arg(key);
  batch.arg(limits.values).arg(counts ? "1" : "0").arg(10 * limits.set_members);
}

std::optional<GroupCounts> decode_group_counts(const Reply& reply) {
  if (reply.is_nil()) return std::nullopt;
  if (!reply.is_array()) throw unexpected("the values of an index");
  return GroupCounts(reply.children());
}

}  // namespace redquel::executor
