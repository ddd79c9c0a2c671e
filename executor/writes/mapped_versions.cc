#include "executor/writes/mapped_versions.h"

#include <algorithm>
#include <map>

#include "executor/storage/row_buffer.h"
#include "executor/tables/keyspace_walk.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/mapped_reader.h"
#include "sql/catalog/mapped_value.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

using Row = std::vector<sql::Datum>;

std::int64_t integer(const sql::Datum& value) {
  if (const auto* v = std::get_if<std::int16_t>(&value)) return *v;
  if (const auto* v = std::get_if<std::int32_t>(&value)) return *v;
  return std::get<std::int64_t>(value);
}

/// The place of one version of a thing, of a new row or one in Redis.
struct Version {
  std::int64_t number = 0;
  std::string identity;
  const Row* known = nullptr;         // in Redis
  std::optional<std::size_t> change;  // new
};

class Versions {
 public:
  explicit Versions(const sql::TableDef& table) : table_(table), slots_(sql::versioned_slots(table.mapping())) {}

  std::string group(const Row& row) const {
    std::string name;
    for (const std::int16_t slot : slots_) {
      const std::size_t at = table_.position(slot);
      const std::string text = sql::format_value(table_.columns[at].type, row[at]);
      name += std::to_string(text.size()) + ":" + text;
    }
    return name;
  }
  void add_new(const Row& row, std::size_t change) { groups_[group(row)].push_back({version(row), mapped_identity(table_, row), nullptr, change}); }
  /// A row of one of the new rows' groups. A new row that it is already will not be written.
  void add_known(const Row& row) {
    const auto found = groups_.find(group(row));
    if (found == groups_.end()) return;
    std::string identity = mapped_identity(table_, row);
    std::erase_if(found->second, [&](const Version& other) { return other.change && other.identity == identity; });
    found->second.push_back({version(row), std::move(identity), &row, {}});
  }
  /// Those that are too many: all but the highest.
  std::vector<Version> old() {
    std::vector<Version> result;
    for (auto& [name, versions] : groups_) {
      std::ranges::stable_sort(versions, std::greater<>(), &Version::number);
      for (std::size_t i = static_cast<std::size_t>(table_.mapping().versions); i < versions.size(); ++i) result.push_back(versions[i]);
    }
    return result;
  }
  /// One row of each group.
  std::vector<const Row*> one_of_each(const std::vector<const Row*>& rows) const {
    std::map<std::string, const Row*> groups;
    for (const Row* row : rows) groups.emplace(group(*row), row);
    std::vector<const Row*> result;
    for (const auto& [name, row] : groups) result.push_back(row);
    return result;
  }
  /// Returns the thing of which the row is a version.
  MappedKey thing(const Row& row) const {
    MappedKey key;
    for (const std::int16_t slot : slots_) key[slot] = row[table_.position(slot)];
    return key;
  }
  /// The values that all groups have in common.
  MappedKey common(const std::vector<const Row*>& rows) const {
    MappedKey key;
    for (const std::int16_t slot : slots_) {
      const std::size_t at = table_.position(slot);
      const sql::Type type = table_.columns[at].type;
      const std::string first = sql::format_value(type, (*rows[0])[at]);
      const bool is_common = std::ranges::all_of(rows, [&](const Row* row) { return sql::format_value(type, (*row)[at]) == first; });
      if (is_common) key[slot] = (*rows[0])[at];
    }
    return key;
  }

 private:
  std::int64_t version(const Row& row) const { return integer(row[table_.position(table_.mapping().version)]); }

  const sql::TableDef& table_;
  std::vector<std::int16_t> slots_;
  std::map<std::string, std::vector<Version>> groups_;
};

/// The keys of a thing's versions, from the zset that holds them.
asio::awaitable<void> add_listed(const sql::IndexDef& index, const MappedKey& thing, MappedReader& reader, ExecutionContext& context,
                                 ExecutionCounters* counters) {
  const auto key = sql::index_key(index).render([&](std::int16_t column) { return reader.text_of(thing, column); });
  if (!key) co_return;
  const sql::KeyTemplate member = sql::index_member(reader.table(), index);
  const std::size_t page = context.limits.chunk_rows;
  for (std::size_t first = 0;; first += page) {
    CommandBatch batch;
    batch.add("ZRANGE", *key, first, first + page - 1);
    RepliesPtr replies = co_await ask_mapped(reader.table(), std::move(batch), false, context, counters);
    if ((*replies)[0].is_error()) throw reader.wrong_kind(*key, "zset", (*replies)[0]);
    const auto members = replies->array(0);
    for (const Reply& text : members) {
      auto values = reader.key_of_member(member, text.text);
      if (!values) continue;
      values->insert(thing.begin(), thing.end());
      reader.add({*std::move(values)});
    }
    if (members.size() < page) co_return;
  }
}

}  // namespace

asio::awaitable<void> drop_old_versions(MappedUnit& unit, ExecutionContext& context, ExecutionCounters* counters) {
  const sql::TableDef& table = unit.table();
  if (table.mapping().versions == 0) co_return;
  Versions versions(table);
  std::vector<const Row*> inserted;
  for (std::size_t i = 0; i < unit.changes().size(); ++i) {
    const MappedChange& change = unit.changes()[i];
    const bool is_complete = change.after && std::ranges::none_of(table.primary_key, [&](std::int16_t column) {
      return sql::is_null((*change.after)[table.position(column)]);
    });
    if (change.before || !is_complete) continue;
    inserted.push_back(&*change.after);
    versions.add_new(*change.after, i);
  }
  if (inserted.empty()) co_return;

  planner::TableRead read;
  read.table = std::make_shared<const sql::TableDef>(table);
  for (std::size_t i = 0; i < table.shown_columns(); ++i) read.numbers.push_back(table.columns[i].number);
  MappedReader reader(read, context);
  if (const sql::IndexDef* index = sql::versions_index(table)) {
    for (const Row* row : versions.one_of_each(inserted)) co_await add_listed(*index, versions.thing(*row), reader, context, counters);
  } else {
    KeyspaceWalk walk(reader, context, versions.common(inserted));
    while (!walk.is_over()) co_await walk.step(reader, counters);
  }
  while (!reader.is_idle()) co_await reader.step(counters);
  std::vector<std::size_t> tags;
  const sql::Batch batch = reader.take_all(tags);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < batch.rows; ++i) {
    Row& row = rows.emplace_back();
    for (const sql::ColumnPtr& column : batch.columns) row.push_back(column->datum(i));
    row.resize(table.columns.size());  // what is hidden stays as it is
  }
  if (const std::shared_ptr<const TableChanges> changes = context.changes(table.oid)) {
    TableChanges::Walk walk(*changes);
    while (const ChangeLog::VersionPtr changed = walk.next()) {
      if (changed->row.current) rows.push_back(*changed->row.current);
    }
  }
  for (const Row& row : rows) versions.add_known(row);
  for (const Version& version : versions.old()) {
    if (version.change) unit.skip(*version.change);  // it would go at once
    else unit.add({*version.known, std::nullopt});
  }
}

}  // namespace redquel::executor
