#include "executor/writes/mapped_children.h"

#include <algorithm>
#include <map>
#include <set>

#include "executor/roles/role_access.h"
#include "executor/storage/row_buffer.h"
#include "executor/tables/key_values.h"
#include "executor/tables/keyspace_walk.h"
#include "executor/tables/mapped_reader.h"
#include "executor/tables/mapped_structures.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

using Row = std::vector<sql::Datum>;
using Column = sql::Mapping::Column;
/// Values of a key by their texts.
struct Values {
  sql::Type type;
  std::map<std::string, sql::Datum> by_text;
};

Values deleted_keys(const MappedUnit& unit) {
  const sql::TableDef& table = unit.table();
  if (table.primary_key.size() != 1) return {};
  const std::size_t at = table.position(table.primary_key.front());
  Values values{table.columns[at].type, {}};
  for (std::size_t i = 0; i < unit.changes().size(); ++i) {
    const MappedChange& change = unit.changes()[i];
    if (change.after || unit.was_skipped(i)) continue;
    const sql::Datum& value = (*change.before)[at];
    values.by_text.emplace(sql::format_value(values.type, value), value);
  }
  return values;
}

/// One child table, and its rows whose column has one of some values.
class ChildRows {
 public:
  ChildRows(std::shared_ptr<const sql::TableDef> table, const Column& column, const Values& values, ExecutionContext& context,
            ExecutionCounters* counters)
      : table_(*table), column_(column.number), type_(table->find_column(column.number)->type), values_(values), context_(context), counters_(counters) {
    for (std::size_t i = 0; i < table->shown_columns(); ++i) read_.numbers.push_back(table->columns[i].number);
    read_.table = std::move(table);
  }

  asio::awaitable<std::vector<Row>> find() {
    MappedReader reader(read_, context_);
    const std::vector<MappedKey> keys = wanted_keys();
    const sql::IndexDef* index = set_of_column();
    if (names_keys()) {
      for (const MappedKey& key : keys) reader.add({key});
    } else if (!table_.mapping().key.has_slots()) {
      reader.add({});
    } else if (index != nullptr) {
      const sql::KeyTemplate member = sql::index_member(table_, *index);
      const auto found = co_await structure_members(index->oid, keys, reader, context_, counters_);
      for (const auto& members : found) {
        for (const StructureMember& one : members) {
          auto key = reader.key_of_member(member, one.text);
          if (!key) continue;
          key->insert(one.beside.begin(), one.beside.end());
          reader.add({*std::move(key)});
        }
      }
    } else {
      KeyspaceWalk walk(reader, context_, keys.size() == 1 ? keys.front() : MappedKey());
      while (!walk.is_over()) co_await walk.step(reader, counters_);
    }
    while (!reader.is_idle()) co_await reader.step(counters_);
    std::vector<std::size_t> tags;
    const sql::Batch batch = reader.take_all(tags);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < batch.rows; ++i) {
      Row row;
      for (const sql::ColumnPtr& column : batch.columns) row.push_back(column->datum(i));
      row.resize(table_.columns.size());  // what is hidden stays as it is
      add(std::move(row), rows);
    }
    if (const std::shared_ptr<const TableChanges> changes = context_.changes(table_.oid)) {
      TableChanges::Walk walk(*changes);
      while (const ChangeLog::VersionPtr changed = walk.next()) {
        if (changed->row.current) add(*changed->row.current, rows);
      }
    }
    co_return rows;
  }

 private:
  std::vector<MappedKey> wanted_keys() const {
    std::vector<MappedKey> keys;
    for (const auto& [text, value] : values_.by_text) {
      if (auto own = to_column_value(type_, values_.type, value)) keys.push_back({{column_, *std::move(own)}});
    }
    return keys;
  }

  /// Returns true if the column's values name all keys, or the member or field of the only key.
  bool names_keys() const {
    const std::vector<std::int16_t> slots = table_.mapping().key.slots();
    const bool is_only_slot = std::ranges::all_of(slots, [&](std::int16_t slot) { return slot == column_ || slot == sql::KeyTemplate::kFieldSlot; });
    return is_only_slot && table_.in_primary_key(column_);
  }

  const sql::IndexDef* set_of_column() const {
    const auto found = std::ranges::find_if(table_.indexes, [&](const sql::IndexDef& index) {
      return index.method == sql::IndexMethod::kSet && index.mapped().maintained && sql::is_believed(index) && index.parts.size() == 1 && index.parts.front().column == column_ && sql::index_key(index).has_slots();
    });
    return found == table_.indexes.end() ? nullptr : &*found;
  }

  void add(Row row, std::vector<Row>& rows) const {
    const sql::Datum& value = row[table_.position(column_)];
    if (!sql::is_null(value) && values_.by_text.contains(sql::format_value(type_, value))) rows.push_back(std::move(row));
  }

  const sql::TableDef& table_;
  std::int16_t column_;
  sql::Type type_;
  const Values& values_;
  ExecutionContext& context_;
  ExecutionCounters* counters_;
  planner::TableRead read_;
};

}  // namespace

asio::awaitable<std::vector<std::shared_ptr<MappedUnit>>> delete_children(const MappedUnit& unit, ExecutionContext& context,
                                                                          ExecutionCounters* counters) {
  std::vector<std::shared_ptr<MappedUnit>> units;
  std::set<std::pair<sql::Oid, std::string>> deleted;
  for (const MappedChange& change : unit.changes()) {
    if (!change.after) deleted.emplace(unit.table().oid, mapped_identity(unit.table(), *change.before));
  }
  for (std::size_t next = 0; next <= units.size(); ++next) {
    const MappedUnit& parent = next == 0 ? unit : *units[next - 1];
    const Values values = deleted_keys(parent);
    if (values.by_text.empty()) continue;
    for (const std::shared_ptr<const sql::TableDef>& table : context.catalog()->mapped_tables()) {
      for (const Column& column : table->mapping().columns) {
        if (column.parent != parent.table().oid) continue;
        if (RoleAccess* access = role_access(context.access)) access->check_as_owner(*table);
        ChildRows children(table, column, values, context, counters);
        std::vector<Row> rows = co_await children.find();
        auto made = std::make_shared<MappedUnit>(table);
        for (Row& row : rows) {
          const bool is_new = table->primary_key.empty() || deleted.emplace(table->oid, mapped_identity(*table, row)).second;
          if (is_new) made->add({std::move(row), std::nullopt});
        }
        if (made->size() > 0) units.push_back(std::move(made));
      }
    }
  }
  co_return units;
}

}  // namespace redquel::executor
