#include "planner/explain/describe_writes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "planner/explain/describe_mapped.h"
#include "planner/explain/redis_word.h"
#include "planner/physical/increment.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/structure_kind.h"
#include "sql/catalog/table_keys.h"

namespace redquel::planner {

namespace {

class WriteDescriber {
 public:
  CommandText text;

  void operator()(const PhysicalInsert& n) { write(n, Change::kInsert); }
  void operator()(const PhysicalUpdate& n) {
    std::set<std::int16_t> changed;
    for (const Assignment& assignment : n.assignments) changed.insert(assignment.number);
    for (const Assignment& assignment : n.generated) changed.insert(assignment.number);
    if (!n.may_write_unread) return write(n, Change::kUpdate, changed);
    const sql::TableDef& stored = sql::any_stored_table(*n.table);
    const std::string key = word(sql::TableKeys(stored).row_of_member(entry_text(row_lookup(n)->keys[0])));
    if (n.added_unread.empty()) text.commands.push_back(fmt::format("EVALSHA write: HSET {}, or HDEL of NULLs", key));
    for (const std::size_t position : n.added_unread) {
      text.commands.push_back(fmt::format("EVALSHA write: HINCRBY {} {}", key, word(n.table->columns[position].field)));
    }
    for (const sql::Structure& structure : sql::structures_of(stored)) {
      const bool is_touched = std::ranges::any_of(structure.columns, [&](std::int16_t column) { return changed.contains(column); });
      if (is_touched) write_entries(stored, structure, Change::kUpdate);
    }
    text.round_trips = "1 (one script, all or nothing)";
  }
  void operator()(const PhysicalDelete& n) { write(n, Change::kDelete); }
  void operator()(const PhysicalMerge& n) { write_managed(sql::any_stored_table(*n.table), Change::kMerge); }

 private:
  enum class Change : std::uint8_t { kInsert, kUpdate, kDelete, kMerge };

  /// The entries of a row in one structure: those of its old values go, those of its new ones come.
  void write_entries(const sql::TableDef& table, const sql::Structure& structure, Change change) {
    const sql::TableKeys keys(table);
    const sql::StructureKind& kind = sql::structure_kind(structure.kind);
    const bool adds = change != Change::kDelete, removes = change != Change::kInsert;
    std::string names;
    for (const std::int16_t column : structure.columns) names += (names.empty() ? "<" : ":<") + table.find_column(column)->name + ">";
    std::string command(removes ? kind.form().remove : "");
    if (adds && removes) command += " and ";
    if (adds) command += kind.form().add;
    text.commands.push_back(command + " " + word(kind.shown_key(keys, structure.columns, names)) + kind.shown_suffix(names));
  }

  /// The effect of one script, all or nothing. `changed`: the columns that an UPDATE assigns.
  void write_managed(const sql::TableDef& table, Change change, const std::set<std::int16_t>& changed = {}) {
    static constexpr std::string_view kRow[] = {"HSET", "HSET", "UNLINK", "HSET or UNLINK"};
    text.commands.push_back(fmt::format("EVALSHA write or write_many: {} {}", kRow[static_cast<std::size_t>(change)], word(table.prefix + ":<key>")));
    if (change == Change::kUpdate && std::ranges::any_of(changed, [&](std::int16_t number) { return !table.find_column(number)->not_null; })) {
      text.commands.back() += ", and HDEL of NULLs";
    }
    static constexpr std::string_view kMember[] = {"ZADD ", "", "ZREM ", "ZADD or ZREM "};
    if (change != Change::kUpdate) text.commands.push_back(std::string(kMember[static_cast<std::size_t>(change)]) + word(sql::TableKeys(table).all_rows()));
    for (const sql::Structure& structure : sql::structures_of(table)) {
      const bool is_touched = change != Change::kUpdate || std::ranges::any_of(structure.columns, [&](std::int16_t column) {
        return column < 0 || changed.contains(column) || table.in_primary_key(column);
      });
      if (is_touched) write_entries(table, structure, change);
    }
    text.round_trips = "1 (one script, all or nothing)";
  }
  template <class Write>
  void write(const Write& n, Change change, const std::set<std::int16_t>& changed = {}) {
    if (n.table->is_mapped()) text = describe_mapped(n);
    else write_managed(sql::any_stored_table(*n.table), change, changed);
    if (n.table->router) text.round_trips = "as a transaction block: 1 to lock the rows, 1 to commit";
    else if (!n.table->parts.empty()) text.round_trips = "1 for rows of one bucket (one script); 2 for several (a commit over the buckets)";
  }
};

template <class Write>
CommandText described(const Write& write) {
  WriteDescriber describer;
  describer(write);
  return std::move(describer.text);
}

}  // namespace

CommandText describe_write(const PhysicalInsert& insert) { return described(insert); }
CommandText describe_write(const PhysicalUpdate& update) { return described(update); }
CommandText describe_write(const PhysicalDelete& removal) { return described(removal); }
CommandText describe_write(const PhysicalMerge& merge) { return described(merge); }

}  // namespace redquel::planner
