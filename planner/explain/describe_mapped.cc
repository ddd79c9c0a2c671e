#include "planner/explain/describe_mapped.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "planner/explain/redis_word.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/mapped_value.h"
#include "sql/error.h"
#include "sql/types/text_io.h"

namespace redquel::planner {

namespace {

using sql::ExpressionPtr;
using sql::Mapping;
using Layout = Mapping::Layout;
using Role = Mapping::Role;
using Path = MappedScan::Path;

std::string value_text(const sql::TableDef& table, std::int16_t column, const sql::Expression& value) {
  const auto* constant = std::get_if<sql::Constant>(&value.node);
  if (constant == nullptr) return "<" + sql::to_string(value) + ">";
  if (sql::is_null(constant->value)) return "NULL";
  const sql::Type type = table.find_column(column)->type;
  if (value.type.oid != type.oid) return sql::format_value(value.type, constant->value);
  return sql::encode_mapped(table.mapping().column(column), type, constant->value);
}

/// The texts of columns that are fixed; `<id>` for the others.
class Texts {
 public:
  Texts(const sql::TableDef& table, std::size_t choice) : table_(table), choice_(choice) {}

  void add(const MappedScan::Fixed& fixed) {
    texts_[fixed.column] = value_text(table_, fixed.column, *fixed.values[std::min(choice_, fixed.values.size() - 1)]);
  }
  void add(std::int16_t column, const sql::Expression& value) { texts_[column] = value_text(table_, column, value); }

  bool has(std::int16_t column) const { return texts_.contains(column); }
  std::string text(std::int16_t column) const {
    const auto found = texts_.find(column);
    return found == texts_.end() ? "<" + table_.find_column(column)->name + ">" : found->second;
  }
  std::string key(std::string_view field = {}) const {
    return word(table_.mapping().render_key([&](std::int16_t column) { return std::optional(text(column)); }, field).value_or(""));
  }
  std::string pattern() const {
    return word(table_.mapping().key.pattern([&](std::int16_t column) -> std::optional<std::string> {
      return has(column) ? std::optional(text(column)) : std::nullopt;
    }));
  }

 private:
  const sql::TableDef& table_;
  std::size_t choice_;
  std::map<std::int16_t, std::string> texts_;
};

/// Returns true if a column holds a value of the key or a part of it.
bool wants_value(const TableRead& read) {
  return std::ranges::any_of(read.numbers, [&](std::int16_t number) {
    if (number <= 0) return false;
    const Role role = read.table->mapping().column(number).role;
    return role == Role::kValue || role == Role::kField;
  });
}

/// Returns the first and the last entry of streams that a scan reads, as XRANGE takes them.
std::string entry_range(const MappedScan& scan) {
  const auto end = [&](const std::optional<RangeBound>& bound, std::string_view open) {
    return bound ? value_text(*scan.read.table, scan.ordered_by, *bound->value) : std::string(open);
  };
  if (scan.read.table->mapping().layout != Layout::kStream) return {};
  return end(scan.lower, "-") + " " + end(scan.upper, "+");
}

/// Adds the commands that read the rows of one key; `page` is the number of elements of the first command, `range` the entries of a stream.
void add_reads(const TableRead& read, const Texts& texts, std::vector<std::string>& commands, const std::string& page = "1000", const std::string& range = "- +") {
  const Mapping& mapping = read.table->mapping();
  const auto part = [&](Role role) -> std::optional<std::string> {
    const Mapping::Column* column = mapping.with_role(role);
    return column != nullptr && texts.has(column->number) ? std::optional(word(texts.text(column->number))) : std::nullopt;
  };
  std::string fields;
  for (const std::int16_t number : read.numbers) {
    if (number <= 0) continue;
    const Mapping::Column& column = mapping.column(number);
    if (column.role != Role::kField) continue;
    if (mapping.layout == Layout::kStrings) commands.push_back("GET " + texts.key(column.field));
    fields += " " + word(column.field);
  }
  const std::string key = texts.key();
  switch (mapping.layout) {
    case Layout::kHash:
      if (!mapping.ohm || !fields.empty()) commands.push_back(fields.empty() ? "HLEN " + key : "HMGET " + key + fields);
      if (mapping.ohm) commands.push_back(fmt::format("SISMEMBER {} {}", word(sql::ohm_key(mapping, "all")), word(texts.text(read.table->primary_key.front()))));
      break;
    case Layout::kStrings:
      if (fields.empty()) {
        for (const Mapping::Column& column : mapping.columns) {
          if (column.role == Role::kField) commands.push_back("GET " + texts.key(column.field));
        }
      }
      break;
    case Layout::kString: commands.push_back((wants_value(read) ? "GET " : "TYPE ") + key); break;
    case Layout::kSet:
      commands.push_back(part(Role::kMember) ? fmt::format("SISMEMBER {} {}", key, *part(Role::kMember)) : fmt::format("SSCAN {} 0 COUNT {}", key, page));
      break;
    case Layout::kZset:
      commands.push_back(part(Role::kMember) ? fmt::format("ZSCORE {} {}", key, *part(Role::kMember)) : fmt::format("ZSCAN {} 0 COUNT {}", key, page));
      break;
    case Layout::kList: commands.push_back(fmt::format("LRANGE {} 0 999", key)); break;
    case Layout::kHashFields:
      if (part(Role::kName)) commands.push_back(fmt::format("{} {} {}", wants_value(read) ? "HGET" : "HEXISTS", key, *part(Role::kName)));
      else if (wants_value(read)) commands.push_back(fmt::format("HSCAN {} 0 COUNT {}", key, page));
      else commands.push_back(fmt::format("HLEN {0}, HKEYS {0}, or HSCAN {0} 0 COUNT {1} of many fields", key, page));
      break;
    case Layout::kStream: commands.push_back(fmt::format("XRANGE {} {} COUNT {}", key, range, page)); break;
  }
  const Mapping::Column* ttl = mapping.with_role(Role::kTtl);
  if (ttl == nullptr || std::find(read.numbers.begin(), read.numbers.end(), ttl->number) == read.numbers.end()) return;
  if (mapping.layout != Layout::kStrings) commands.push_back("PTTL " + key);
  for (const Mapping::Column& column : mapping.columns) {
    if (mapping.layout == Layout::kStrings && column.role == Role::kField) commands.push_back("PTTL " + texts.key(column.field));
  }
}

/// The connection to another logical database has done it once.
void add_database(const Mapping& mapping, CommandText& text) {
  if (mapping.database) text.commands.push_back(fmt::format("SELECT {}", *mapping.database));
}

/// LIMIT and OFFSET, at most 1000 each; nullopt: they are known at run time.
std::optional<std::int64_t> wanted_rows(const RowGoal& goal) {
  std::int64_t rows = 0;
  for (const ExpressionPtr& part : {goal.limit, goal.offset}) {
    if (!part) continue;
    const auto* constant = std::get_if<sql::Constant>(&part->node);
    const auto* number = constant ? std::get_if<std::int64_t>(&constant->value) : nullptr;
    if (number == nullptr) return std::nullopt;
    rows += std::clamp<std::int64_t>(*number, 0, 1000);
  }
  return rows;
}

/// Returns the end of the first chunk of a walk that looks for the wanted rows and one more.
std::string last_of_chunk(const RowGoal& goal) {
  const auto rows = wanted_rows(goal);
  return rows ? std::to_string(std::clamp<std::int64_t>(*rows + 1, 10, 1000) - 1) : "<limit>";
}

/// Returns the number of elements that the first step of a scan with LIMIT reads.
std::string first_page(const MappedScan& scan) {
  if (!scan.goal.limit || scan.read.condition) return "1000";
  const auto rows = wanted_rows(scan.goal);
  return rows ? std::to_string(std::clamp<std::int64_t>(*rows, 10, 1000)) : "<limit>";
}

/// The elements of a list between two positions, or as many as are wanted.
void add_positions(const MappedScan& scan, const std::string& key, std::vector<std::string>& commands) {
  const auto wanted = scan.goal.limit ? wanted_rows(scan.goal) : std::nullopt;
  const auto end = [&](const std::optional<RangeBound>& bound, std::int64_t step) -> std::optional<std::int64_t> {
    const auto* constant = bound ? std::get_if<sql::Constant>(&bound->value->node) : nullptr;
    if (constant == nullptr || sql::is_null(constant->value)) return std::nullopt;
    const std::int64_t position = std::stoll(sql::format_value(bound->value->type, constant->value));
    return bound->inclusive ? position : position + step;
  };
  const auto text = [&](const std::optional<RangeBound>& bound, std::int64_t step) {
    const auto position = end(bound, step);
    return position ? std::to_string(std::max<std::int64_t>(*position, 0)) : value_text(*scan.read.table, scan.ordered_by, *bound->value);
  };
  if (!scan.lookups.empty()) {
    const std::vector<ExpressionPtr>& positions = scan.lookups.front();
    constexpr std::size_t kShown = 3;
    for (std::size_t i = 0; i < std::min(positions.size(), kShown); ++i) {
      const std::string position = value_text(*scan.read.table, scan.ordered_by, *positions[i]);
      commands.push_back(fmt::format("LRANGE {} {} {}", key, position, position));
    }
    if (positions.size() > kShown) commands.push_back(fmt::format("… {} more", positions.size() - kShown));
    return;
  }
  if (scan.goal.limit && scan.descending && !scan.upper) {
    commands.push_back("LLEN " + key);
    commands.push_back(fmt::format("LRANGE {} -{} -1", key, wanted ? std::to_string(*wanted) : "<limit>"));
    return;
  }
  const std::string first = scan.lower ? text(scan.lower, 1) : "0";
  std::string last = scan.upper ? text(scan.upper, -1) : "999";
  if (scan.goal.limit && !scan.descending) {
    const std::int64_t low = end(scan.lower, 1).value_or(0), most = end(scan.upper, -1).value_or(INT64_MAX);
    const bool is_known = wanted && (!scan.lower || end(scan.lower, 1)) && (!scan.upper || end(scan.upper, -1));
    last = is_known ? std::to_string(std::min(most, std::max<std::int64_t>(low, 0) + *wanted - 1)) : "<limit>";
  }
  commands.push_back(fmt::format("LRANGE {} {} {}", key, first, last));
}

const sql::IndexDef* find_index(const sql::TableDef& table, sql::Oid oid) {
  const auto found = std::find_if(table.indexes.begin(), table.indexes.end(), [&](const sql::IndexDef& index) { return index.oid == oid; });
  return found == table.indexes.end() ? nullptr : &*found;
}

std::string structure_key(const sql::TableDef& table, const sql::IndexDef& index, const std::vector<std::int16_t>& columns,
                          const std::vector<ExpressionPtr>& values) {
  const auto text = [&](std::int16_t slot) -> std::optional<std::string> {
    const auto found = std::find(columns.begin(), columns.end(), slot);
    return found == columns.end() ? std::nullopt : std::optional(value_text(table, slot, *values[static_cast<std::size_t>(found - columns.begin())]));
  };
  return word(sql::index_key(index).render(text).value_or(""));
}

std::vector<std::int16_t> columns_of(const sql::IndexDef& index) {
  std::vector<std::int16_t> columns;
  for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
  return columns;
}

/// `is_own`: the sets are the table's own keys, of no index.
void add_sets(const sql::TableDef& table, const SetExpression& sets, bool is_own, std::vector<std::string>& commands) {
  static constexpr std::string_view kNames[] = {"SMEMBERS", "SMEMBERS", "SINTER", "SUNION", "SDIFF"};
  std::string command(kNames[static_cast<std::size_t>(sets.kind)]);
  const auto key = [&](const SetExpression& set) {
    if (set.columns.empty() && table.mapping().ohm) return word(sql::ohm_key(table.mapping(), "all"));
    if (is_own) {
      Texts texts(table, 0);
      for (std::size_t i = 0; i < set.columns.size(); ++i) texts.add(set.columns[i], *set.values[i]);
      return texts.key();
    }
    for (const sql::IndexDef& index : table.indexes) {
      if (index.method == sql::IndexMethod::kSet && columns_of(index) == set.columns) return structure_key(table, index, set.columns, set.values);
    }
    return std::string();
  };
  if (sets.operands.empty()) {
    commands.push_back(fmt::format("SSCAN {} 0 COUNT 1000", key(sets)));
    return;
  }
  for (const SetExpression& operand : sets.operands) {
    if (operand.operands.empty()) {
      command += " " + key(operand);
    } else {
      add_sets(table, operand, is_own, commands);
      command += fmt::format(" <{}>", commands.size());
    }
  }
  commands.push_back(std::move(command));
}

std::string field_text(const sql::TableDef& table, const sql::IndexDef& index, const std::vector<std::int16_t>& columns,
                       const std::vector<ExpressionPtr>& values) {
  const auto text = [&](std::int16_t slot) -> std::optional<std::string> {
    const auto found = std::find(columns.begin(), columns.end(), slot);
    return found == columns.end() ? std::nullopt : std::optional(value_text(table, slot, *values[static_cast<std::size_t>(found - columns.begin())]));
  };
  return word(sql::index_field(index).render(text).value_or(""));
}

/// The first page of a walk along a zset or list.
std::string page_command(const MappedScan& scan, const std::string& key, bool is_list) {
  const bool is_range = scan.lower || scan.upper, has_goal = scan.path == Path::kOrder || scan.wants_order;
  const std::string last = has_goal ? last_of_chunk(scan.goal) : "999";
  if (!is_range) {
    const bool has_scores = scan.path == Path::kScores;
    if (scan.goal.exact) {
      const std::string offset = value_text(*scan.read.table, scan.ordered_by, *scan.goal.offset), limit = value_text(*scan.read.table, scan.ordered_by, *scan.goal.limit);
      return fmt::format("ZRANGE {} {} <{}+{}>{} WITHSCORES", key, offset, offset, limit, scan.descending ? " REV" : "");
    }
    return fmt::format("{} {} 0 {}{}{}", is_list ? "LRANGE" : "ZRANGE", key, last, !is_list && scan.descending ? " REV" : "", has_scores ? " WITHSCORES" : "");
  }
  const auto end = [&](const std::optional<RangeBound>& bound, std::string_view open) {
    try {
      return bound ? value_text(*scan.read.table, scan.ordered_by, *bound->value) : std::string(open);
    } catch (const sql::SqlError&) {  // infinity, which is no score
      return std::string(open);
    }
  };
  std::string low = end(scan.lower, "-inf"), high = end(scan.upper, "+inf");
  if (scan.descending) std::swap(low, high);
  const std::string count = last.starts_with('<') ? last : std::to_string(std::stoi(last) + 1);
  return fmt::format("ZRANGE {} {} {} BYSCORE{} LIMIT 0 {} WITHSCORES", key, low, high, scan.descending ? " REV" : "", count);
}

/// Commands that tell whether a key without the wanted fields is a row; those that choose between sets by their sizes.
std::vector<std::string> needed_at_times(const MappedScan& scan) {
  const Layout layout = scan.read.table->mapping().layout;
  std::vector<std::string> names;
  if (layout == Layout::kHash) names.emplace_back("HLEN");
  if (layout == Layout::kStrings) names.emplace_back("EXISTS");
  if (scan.path == Path::kSets && !scan.sets->operands.empty()) names.insert(names.end(), {"SCARD", "SSCAN", "SMISMEMBER"});
  if (scan.path == Path::kOrder) names.emplace_back("SCAN");
  return names;
}

CommandText commands_of_scan(const MappedScan& scan) {
  const sql::TableDef& table = *scan.read.table;
  CommandText text;
  // Rows that the application's structures may lack.
  const bool is_of_all = scan.path == Path::kSets && scan.sets->operands.empty() && scan.sets->columns.empty();
  if (!scan.member.empty() && !is_of_all && sql::has_unkept_structure(table)) {
    text.commands.push_back(fmt::format("SSCAN redquel:unkept:{} 0 COUNT 1000", table.oid));
  }
  add_database(table.mapping(), text);
  if (scan.path == Path::kKeys) {
    std::size_t count = 1;
    for (const MappedScan::Fixed& fixed : scan.fixed) count = std::max(count, fixed.values.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(count, 3); ++i) {
      Texts texts(table, i);
      for (const MappedScan::Fixed& fixed : scan.fixed) texts.add(fixed);
      add_reads(scan.read, texts, text.commands, first_page(scan), entry_range(scan));
    }
    if (count > 3) text.commands.push_back(fmt::format("… {} more", count - 3));
    text.round_trips = sql::has_one_row(table.mapping().layout) ? "1" : "1 per 1000 rows of a key";
    return text;
  }
  Texts texts(table, 0);
  for (const MappedScan::Fixed& fixed : scan.fixed) {
    if (fixed.values.size() == 1) texts.add(fixed);
  }
  const sql::IndexDef* index = find_index(table, scan.index);
  switch (scan.path) {
    case Path::kScan:
      text.commands.push_back(fmt::format("SCAN 0 MATCH {} COUNT 1000 TYPE {}", texts.pattern(), sql::redis_type(table.mapping().layout)));
      text.round_trips = "1 per 1000 keys of the keyspace, and 1 for the rows found";
      break;
    case Path::kLookup: {
      const std::vector<std::int16_t> columns = columns_of(*index);
      for (std::size_t i = 0; i < std::min<std::size_t>(scan.lookups.size(), 3); ++i) {
        const std::string key = structure_key(table, *index, columns, scan.lookups[i]);
        text.commands.push_back(sql::is_hash_lookup(*index) ? fmt::format("HGET {} {}", key, field_text(table, *index, columns, scan.lookups[i])) : "GET " + key);
      }
      if (scan.lookups.size() > 3) text.commands.push_back(fmt::format("… {} more", scan.lookups.size() - 3));
      text.round_trips = "2";
      break;
    }
    case Path::kSets:
      add_sets(table, *scan.sets, scan.member.empty(), text.commands);
      text.round_trips = "2";
      if (scan.member.empty()) {
        text.round_trips = "1";
        return text;
      }
      break;
    case Path::kOrder:
      if (scan.wants_order) {
        const std::string key = structure_key(table, *index, sql::index_key(*index).slots(), scan.lookups.empty() ? std::vector<ExpressionPtr>() : scan.lookups.front());
        text.commands.push_back(fmt::format("SCAN 0 MATCH {} COUNT 1000 TYPE {}", texts.pattern(), sql::redis_type(table.mapping().layout)));
        text.commands.push_back(fmt::format("ZMSCORE {} <members of the keys found>", key));
      }
      text.commands.push_back(page_command(scan, structure_key(table, *index, sql::index_key(*index).slots(), scan.lookups.empty() ? std::vector<ExpressionPtr>() : scan.lookups.front()),
                                           index->method == sql::IndexMethod::kList));
      text.round_trips = "2 per chunk";
      break;
    case Path::kRange:
      text.commands.push_back(page_command(scan, structure_key(table, *index, sql::index_key(*index).slots(), scan.lookups.empty() ? std::vector<ExpressionPtr>() : scan.lookups.front()), false));
      text.round_trips = "2 per 1000 members";
      break;
    case Path::kScores:
      if (table.mapping().layout == Layout::kList) {
        add_positions(scan, texts.key(), text.commands);
        text.round_trips = "1 per 1000 elements";
        return text;
      }
      text.commands.push_back(page_command(scan, texts.key(), false));
      text.round_trips = "1 per chunk";
      return text;
    case Path::kKeys: break;
  }
  add_reads(scan.read, texts, text.commands, scan.path == Path::kScan ? first_page(scan) : "1000", entry_range(scan));
  return text;
}

std::string zset_key(const sql::TableDef& table, const std::vector<MappedScan::Fixed>& fixed) {
  Texts texts(table, 0);
  for (const MappedScan::Fixed& column : fixed) {
    if (table.mapping().key.has_slot(column.column)) texts.add(column);
  }
  return texts.key();
}

}  // namespace

CommandText describe_mapped(const MappedScan& scan) {
  CommandText text = commands_of_scan(scan);
  text.as_needed = needed_at_times(scan);
  return text;
}

CommandText describe_mapped(const MappedCount& count) {
  CommandText text;
  add_database(count.table->mapping(), text);
  const std::string key = zset_key(*count.table, count.fixed);
  const std::int16_t score = count.table->mapping().with_role(Role::kScore)->number;
  const auto end = [&](const std::optional<RangeBound>& bound, std::string open) {
    return bound ? (bound->inclusive ? "" : "(") + value_text(*count.table, score, *bound->value) : open;
  };
  const bool is_range = count.lower || count.upper;
  text.commands.push_back(is_range ? fmt::format("ZCOUNT {} {} {}", key, end(count.lower, "-inf"), end(count.upper, "+inf")) : "ZCARD " + key);
  text.round_trips = "1";
  return text;
}

std::string mapped_zset(const PhysicalNode& node) {
  const auto& scan = std::get<MappedScan>(node.node);
  return zset_key(*scan.read.table, scan.fixed);
}

std::string mapped_member(const PhysicalNode& node) {
  const auto& scan = std::get<MappedScan>(node.node);
  const std::int16_t member = scan.read.table->mapping().with_role(Role::kMember)->number;
  const auto found = std::ranges::find(scan.fixed, member, &MappedScan::Fixed::column);
  return found->values.size() == 1 ? word(value_text(*scan.read.table, member, *found->values.front())) : "<key>";
}

CommandText describe_mapped(const MappedJoin& join) {
  CommandText text;
  add_database(join.inner.read.table->mapping(), text);
  Texts texts(*join.inner.read.table, 0);
  for (const MappedScan::Fixed& fixed : join.inner.fixed) texts.add(fixed);
  for (const MappedJoin::Key& key : join.keys) texts.add(key.column, *key.value);
  text.round_trips = "1 per batch of the outer rows";
  if (const sql::IndexDef* index = find_index(*join.inner.read.table, join.inner.index)) {
    const auto named = [&](std::int16_t column) { return std::optional(texts.text(column)); };
    const std::string key = word(sql::index_key(*index).render(named).value_or(""));
    const bool is_hash = sql::is_hash_lookup(*index);
    text.commands.push_back(index->method == sql::IndexMethod::kSet ? fmt::format("SSCAN {} 0 COUNT 1000", key)
                            : is_hash ? fmt::format("HGET {} {}", key, word(sql::index_field(*index).render(named).value_or("")))
                                      : "GET " + key);
    text.round_trips = "2 per batch of the outer rows";
  }
  add_reads(join.inner.read, texts, text.commands);
  text.as_needed = needed_at_times(join.inner);
  return text;
}

namespace {

/// `n + c`: INCRBY and its like.
bool is_increment(const sql::TableDef& table, const Assignment& assignment) {
  const sql::ColumnDef& column = *table.find_column(assignment.number);
  const auto* call = std::get_if<sql::FunctionCall>(&assignment.value->node);
  if (!sql::is_integer_type(column.type.oid) || call == nullptr || call->arguments.size() != 2) return false;
  if (call->function->name != "+" && call->function->name != "-") return false;
  return std::any_of(call->arguments.begin(), call->arguments.end(), [&](const ExpressionPtr& argument) {
    const auto* read = std::get_if<sql::ColumnRef>(&argument->node);
    return read != nullptr && read->name == column.name;
  });
}

enum class Change { kInsert, kUpdate, kDelete };

/// Adds the commands with which a write changes a declared structure.
void add_structure(const sql::TableDef& table, const sql::IndexDef& index, Change change, bool increments, std::vector<std::string>& commands) {
  const Texts texts(table, 0);
  const sql::KeyTemplate key = sql::index_key(index);
  const std::string name = word(key.render([&](std::int16_t column) { return std::optional(texts.text(column)); }).value_or(""));
  const bool adds = change != Change::kDelete, removes = change != Change::kInsert, is_hash = sql::is_hash_lookup(index);
  switch (index.method) {
    case sql::IndexMethod::kSet:
      if (removes) commands.push_back("SREM " + name);
      if (adds) commands.push_back("SADD " + name);
      break;
    case sql::IndexMethod::kZset: commands.push_back((!adds ? "ZREM " : increments ? "ZINCRBY " : "ZADD ") + name); break;
    case sql::IndexMethod::kLookup:
      if (removes) commands.push_back((is_hash ? "HDEL " : "DEL ") + name);
      if (adds) commands.push_back((is_hash ? "HSET " : "SET ") + name);
      break;
    case sql::IndexMethod::kList:
      commands.push_back((adds ? "LPUSH " : "LREM ") + name);
      if (adds && index.mapped().length > 0) commands.push_back(fmt::format("LTRIM {} 0 {}", name, index.mapped().length - 1));
      break;
    default: break;
  }
}

std::string_view put_command(Layout layout, bool increments) {
  static constexpr std::string_view kPuts[] = {"HSET", "SET", "SET", "SADD", "ZADD", "RPUSH", "HSET", "XADD"};
  static constexpr std::string_view kIncrements[] = {"HINCRBY", "INCRBY", "INCRBY", "SADD", "ZINCRBY", "LSET", "HINCRBY", "XADD"};
  return (increments ? kIncrements : kPuts)[static_cast<std::size_t>(layout)];
}

CommandText describe_write(const sql::TableDef& table, Change change, const std::vector<Assignment>& assignments) {
  const Mapping& mapping = table.mapping();
  const Texts texts(table, 0);
  CommandText text;
  const auto assignment_of = [&](std::int16_t column) {
    return std::find_if(assignments.begin(), assignments.end(), [&](const Assignment& assignment) { return assignment.number == column; });
  };
  if (change == Change::kDelete) {
    static constexpr std::string_view kRemoves[] = {"DEL", "DEL", "DEL", "SREM", "ZREM", "LREM", "HDEL", "XDEL"};
    text.commands.push_back(fmt::format("{} {}", kRemoves[static_cast<std::size_t>(mapping.layout)], texts.key("<field>")));
  } else if (change == Change::kInsert && mapping.layout != Layout::kStrings) {
    text.commands.push_back(fmt::format("{} {}", put_command(mapping.layout, false), texts.key()));
  } else {
    for (const Mapping::Column& column : mapping.columns) {
      const auto assigned = assignment_of(column.number);
      const bool is_field = column.role == Role::kField;
      if (change == Change::kUpdate ? assigned == assignments.end() : !is_field) continue;
      const bool increments = assigned != assignments.end() && is_increment(table, *assigned);
      std::string command = fmt::format("{} {}", column.role == Role::kTtl ? "EXPIRE" : put_command(mapping.layout, increments), texts.key(column.field));
      if (mapping.layout == Layout::kHash && is_field) command += " " + word(column.field);
      text.commands.push_back(std::move(command));
    }
  }
  if (mapping.ohm && change != Change::kUpdate) {
    text.commands.push_back((change == Change::kInsert ? "SADD " : "SREM ") + word(sql::ohm_key(mapping, "all")));
  }
  if (mapping.versions > 0 && change == Change::kInsert) {
    const sql::IndexDef* index = sql::versions_index(table);
    const auto named = [&](std::int16_t column) { return std::optional(texts.text(column)); };
    text.commands.push_back(index == nullptr ? fmt::format("SCAN 0 MATCH {} COUNT 1000 TYPE string", texts.pattern())
                                             : fmt::format("ZRANGE {} 0 999", word(sql::index_key(*index).render(named).value_or(""))));
    text.commands.push_back(fmt::format("DEL {}, all but the newest {}", texts.key(), mapping.versions));
  }
  for (const sql::IndexDef& index : table.indexes) {
    if (!index.mapped().maintained) continue;
    bool is_touched = change != Change::kUpdate, increments = false;
    for (const sql::IndexDef::Part& part : index.parts) {
      const auto assigned = assignment_of(part.column);
      if (assigned == assignments.end()) continue;
      is_touched = true;
      increments = is_increment(table, *assigned);
    }
    if (is_touched) add_structure(table, index, change, increments, text.commands);
  }
  if (!text.commands.empty()) text.commands.front() = "EVALSHA write: " + text.commands.front();
  if (change == Change::kInsert && sql::has_unkept_structure(table)) text.commands.push_back(fmt::format("SADD redquel:unkept:{}", table.oid));
  if (mapping.ohm && change == Change::kInsert) text.as_needed = {"SET"};                    // the counter of ids
  if (mapping.ohm && change == Change::kDelete) text.as_needed = {"HGETALL", "SMEMBERS"};    // what Ohm keeps beside the row
  text.round_trips = "2 (old values, then one script that checks them and writes)";
  if (sql::uses_cluster()) {  // the definitions and locks are in another slot
    text.commands.insert(text.commands.begin(), "EVALSHA write");
    text.round_trips = "3 (old values, definitions and locks, then one script that checks the values and writes)";
  }
  return text;
}

}  // namespace

CommandText describe_mapped(const PhysicalInsert& insert) { return describe_write(*insert.table, Change::kInsert, {}); }
CommandText describe_mapped(const PhysicalUpdate& update) { return describe_write(*update.table, Change::kUpdate, update.assignments); }
CommandText describe_mapped(const PhysicalDelete& removal) { return describe_write(*removal.table, Change::kDelete, {}); }

}  // namespace redquel::planner
