#include "planner/explain/describe_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "planner/access/ordered_source.h"
#include "planner/access/set_algebra.h"
#include "planner/explain/describe_mapped.h"
#include "planner/explain/describe_redis_scan.h"
#include "planner/explain/describe_writes.h"
#include "planner/explain/redis_word.h"
#include "planner/explain/shown_zset.h"
#include "planner/physical/member_lookup.h"
#include "planner/physical/ranked_read.h"
#include "sql/catalog/member_form.h"
#include "sql/catalog/row_fields.h"
#include "sql/catalog/spread_table.h"
#include "sql/catalog/structure_kind.h"
#include "sql/catalog/table_keys.h"
#include "sql/types/index_value.h"

namespace redquel::planner {

namespace {

using sql::ExpressionPtr;
using SetKind = SetExpression::Kind;

/// The set of an entry, of none (NULL), or of the entries of a value that only the run knows.
std::string entry_set_key(const sql::TableKeys& keys, const SetExpression& set) {
  const auto* entry = std::get_if<sql::Constant>(&set.values[0]->node);
  const std::string_view kind = set.entries->kind->segment();
  if (entry != nullptr && !sql::is_null(entry->value)) return keys.rows_with(kind, set.columns[0], std::get<std::string>(entry->value));
  const std::string shown = entry != nullptr ? "no entry" : "entries of " + sql::to_string(*set.values[0]);
  return keys.entries_of(kind, set.columns[0]) + ":<" + shown + ">";
}

std::string set_key(const sql::TableKeys& keys, const SetExpression& set) {
  if (set.entries) return entry_set_key(keys, set);
  if (set.kind == SetKind::kNullSet) return keys.null_set(set.columns[0]);
  return keys.value_set_of_entry(set.columns, entry_text(set.values));
}

/// The sets that an entry query combines.
SetExpression sets_of(const SetExpression& from, const sql::EntryQuery& query) {
  SetExpression sets = from;
  if (query.kind == sql::EntryQuery::Kind::kAll || query.kind == sql::EntryQuery::Kind::kAny) {
    sets = {query.kind == sql::EntryQuery::Kind::kAll ? SetKind::kIntersection : SetKind::kUnion, {}, {}, {}};
    for (const sql::EntryQuery& operand : query.operands) sets.operands.push_back(sets_of(from, operand));
    return sets;
  }
  sets.kind = SetKind::kSet;
  const bool has_entry = query.kind == sql::EntryQuery::Kind::kEntry;
  sets.values = {sql::make_constant(sql::kText, has_entry ? sql::Datum(query.entry) : sql::Datum())};
  return sets;
}

/// The algebra with the sets of entries in place of conditions that have them.
SetExpression with_entry_sets(SetExpression sets) {
  for (SetExpression& operand : sets.operands) operand = with_entry_sets(std::move(operand));
  if (sets.kind != SetKind::kEntries) return sets;
  if (const auto* value = std::get_if<sql::Constant>(&sets.values[0]->node)) {
    const bool is_null = sql::is_null(value->value);
    return sets_of(sets, is_null ? sql::no_row() : sets.entries->kind->query(sets.entries->operation, sets.values[0]->type, value->value));
  }
  sets.kind = SetKind::kSet;
  return sets;
}

class Describer {
 public:
  CommandText text;
  const sql::TableDef* table_of_sets = nullptr;  // of the sets and ranges that are combined
  bool by_parts = false;  // short members of sets are combined as they are

  void operator()(const KeyLookup& n) {
    sql::TableKeys keys(*n.read.table);
    std::size_t shown = std::min<std::size_t>(n.keys.size(), 3);
    for (std::size_t i = 0; i < shown; ++i) hmget(n.read, keys.row_of_member(entry_text(n.keys[i])));
    if (n.keys.size() > shown) text.commands.push_back(fmt::format("… {} more", n.keys.size() - shown));
    text.round_trips = n.keys.size() > 1 ? "1 (MULTI/EXEC)" : "1";
  }

  void operator()(const UniqueLookup& n) {
    sql::TableKeys keys(*n.read.table);
    if (!n.read.table->parts.empty()) {  // values that lie by value
      unique_row(n);
      text.round_trips = "2 (the buckets of the values, then those of the rows)";
      return;
    }
    if (in_script(n.read)) {
      unique_row(n);
      text.round_trips = "1 (one read-only script)";
      return;
    }
    std::string command = "HMGET " + word(keys.uniques(n.columns));
    for (std::size_t i = 0; i < n.values.size() && i < 10; ++i) command += " " + word(entry_text(n.values[i]));
    if (n.values.size() > 10) command += " …";
    text.commands.push_back(command);
    hmget(n.read, row_key(n.read));
    text.round_trips = "2";
  }

  void operator()(const SetScan& n) {
    SetScan scan = n;
    scan.sets = with_entry_sets(n.sets);
    set_scan(scan);
  }

  void set_scan(const SetScan& n) {
    sql::TableKeys keys(*n.read.table);
    table_of_sets = n.read.table.get();
    bool plain = n.sets.kind == SetKind::kSet || n.sets.kind == SetKind::kNullSet;
    add_sizes(n.sets);
    if (n.first) {
      first_rows(keys, n);
      return;
    }
    if (plain && in_script(n.read)) {
      text.commands.push_back("SORT_RO " + word(set_key(keys, n.sets)) + " BY nosort" + sort_get(n.read, row_pattern(*n.read.table, n.sets)));
      add_as_needed({"HMGET", "SSCAN"});
    } else {
      set_commands(keys, n.sets);
      hmget(n.read, row_key(n.read));
      if (plain) add_as_needed({"SORT_RO", "SSCAN"});
    }
    text.round_trips = in_script(n.read) ? "1 (one read-only script; by cursor where a set is large)" : "2";
  }

  void operator()(const OrderedScan& n) {
    ordered(n);
    if (!n.otherwise) return;
    const std::string key = word(walked_source(n).key);
    text.commands.push_back(fmt::format("ZCOUNT {0} 9007199254740992 +inf, ZCOUNT {0} -inf -9007199254740992", key));
  }

  void ordered(const OrderedScan& n) {
    const OrderedSource source = walked_source(n);
    const sql::ElementForm& form = n.leading.empty() ? sql::kSetForm : sql::kZsetForm;
    const std::string nulls = fmt::format("{} {}, and {} and HMGET ", form.count, word(null_rows_key(n)), form.scan);
    if (n.nulls == OrderedScan::Nulls::kFirst && n.goal.offset) add_as_needed({"ZCARD"});
    if (n.nulls == OrderedScan::Nulls::kFirst) text.commands.push_back(nulls + "where it has rows");
    if (!n.lower && !n.upper && !n.prefix) {
      walk(n, source);
      if (n.nulls == OrderedScan::Nulls::kLast) text.commands.push_back(nulls + "if its rows are asked for");
      return;
    }
    std::string low = "-inf", high = "+inf";
    bool lexical = source.encoding != OrderedSource::Encoding::kScore;
    if (n.prefix) {
      low = "[" + n.prefix->prefix, high = "(" + n.prefix->prefix + "\xff";
    } else if (lexical) {
      low = n.lower ? (n.lower->inclusive ? "[" : "(") + value_in_key(*n.lower->value) : "-";
      high = n.upper ? (n.upper->inclusive ? "[" : "(") + value_in_key(*n.upper->value) : "+";
    } else {
      if (n.lower) low = (n.lower->inclusive ? "" : "(") + score_text(*n.lower->value);
      if (n.upper) high = (n.upper->inclusive ? "" : "(") + score_text(*n.upper->value);
    }
    if (n.descending) std::swap(low, high);
    const bool begins_later = n.goal.exact && n.goal.offset;
    const std::string offset = begins_later ? value_in_key(*n.goal.offset) : "0";
    const std::string count = begins_later ? value_in_key(*n.goal.limit) : n.index_only && !n.goal.limit ? kElements : goal_text(n.goal);
    text.commands.push_back(fmt::format("ZRANGE {} {} {} {}{} LIMIT {} {}{}", word(source.key), word(low), word(high),
                                        lexical ? "BYLEX" : "BYSCORE", n.descending ? " REV" : "", offset, count,
                                        lexical ? "" : " WITHSCORES"));
    if (n.index_only) {
      if (!n.goal.limit) add_as_needed({"ZCOUNT"});
      text.round_trips = n.goal.limit ? "1" : fmt::format("1 per {} elements", kElements);
      return;
    }
    hmget(n.read, row_key(n.read));
    text.round_trips = in_script(n.read) ? "1 per chunk (one read-only script each)" : "2 per chunk";
    if (!lexical) add_as_needed({"ZCOUNT"});
    if (lexical || n.goal.limit || !in_script(n.read)) return;
    add_as_needed({n.descending ? "ZREVRANK" : "ZRANK"});
    text.commands.push_back(fmt::format("SORT_RO {} BY nosort{} LIMIT <rank> 1000{}, where there are more than 100 rows", word(source.key),
                                        n.descending ? " DESC" : "", sort_get(n.read)));
    text.round_trips = "1 (one read-only script); of more than 100 rows 1 and 1 per 1000 rows";
  }

  /// The range of all members that begin so, its last byte a ':'.
  static std::string ends_of_start(std::string start) {
    std::string text = "[" + start;
    start.back() = ';';
    return text + " (" + start + " BYLEX";
  }

  void operator()(const FullScan& n) {
    sql::TableKeys keys(*n.read.table);
    if (!n.key_start.empty()) {
      std::string start;
      for (const ExpressionPtr& value : n.key_start) start += value_in_key(*value) + ":";
      const std::string count = n.index_only && !n.goal.limit ? kElements : goal_text(n.goal);
      text.commands.push_back(fmt::format("ZRANGE {} {}{} LIMIT 0 {}", word(keys.all_rows()), ends_of_start(start), n.descending ? " REV" : "", count));
      if (!n.index_only) hmget(n.read, row_key(n.read));
      text.round_trips = n.index_only || in_script(n.read) ? "1 per chunk" : "2 per chunk";
      return;
    }
    walk(n, {keys.all_rows(), OrderedSource::Encoding::kRowKey, true});
  }

  void operator()(const MemoryScan& n) {
    text.commands.emplace_back("PEXPIRE <fence> 86400000, and the tables' counters");
    const CommandText otherwise = describe_commands(*n.otherwise);
    for (const std::string& command : otherwise.commands) text.commands.push_back("otherwise " + command);
    text.round_trips = "1; otherwise " + otherwise.round_trips;
  }
  void operator()(const MappedScan& n) { text = describe_mapped(n); }
  void operator()(const MappedJoin& n) { text = describe_mapped(n); }

  void operator()(const IndexCount& n) {
    sql::TableKeys keys(*n.table);
    for (const CountTerm& term : n.terms) {
      std::string command;
      switch (term.kind) {
        case CountTerm::Kind::kValues:
          command = "SCARD " + word(keys.values({&term.column, 1}));
          break;
        case CountTerm::Kind::kMembers:
          table_of_sets = n.table.get();
          members(keys, with_entry_sets(term.sets));
          text.round_trips = "1 (one read-only script)";
          return;
        case CountTerm::Kind::kAllRows:
          command = "ZCARD " + word(keys.all_rows());
          break;
        case CountTerm::Kind::kSets:
          if (term.sets.kind == SetKind::kIntersection) {
            add_as_needed({"SCARD"});
            command = fmt::format("SINTERCARD {}", term.sets.operands.size());
            for (const SetExpression& set : term.sets.operands) command += " " + word(set_key(keys, set));
          } else {
            command = "SCARD " + word(set_key(keys, term.sets));
          }
          break;
        case CountTerm::Kind::kRange: {
          const OrderedSource source = shown_source(*n.table, term.leading, term.column);
          bool lexical = source.encoding != OrderedSource::Encoding::kScore;
          auto bound = [&](const std::optional<RangeBound>& b, const char* none) {
            if (!b) return std::string(none);
            std::string value = lexical ? value_in_key(*b->value) : score_text(*b->value);
            return (b->inclusive ? (lexical ? "[" : "") : "(") + value;
          };
          command = fmt::format("{} {} {} {}", lexical ? "ZLEXCOUNT" : "ZCOUNT", word(source.key),
                                word(bound(term.lower, lexical ? "-" : "-inf")), word(bound(term.upper, lexical ? "+" : "+inf")));
          break;
        }
        case CountTerm::Kind::kPrefix:
          command = fmt::format("ZLEXCOUNT {} {} {}", word(shown_source(*n.table, term.leading, term.column).key),
                                word("[" + term.prefix->prefix), word("(" + term.prefix->prefix + "\xff"));
          break;
      }
      text.commands.push_back(command);
    }
    text.round_trips = n.terms.size() > 1 ? "1 (MULTI/EXEC)" : "1";
  }

  void operator()(const MappedCount& n) { text = describe_mapped(n); }

  void operator()(const IndexRanks& n) {
    const bool is_mapped = n.table->is_mapped();
    const std::string key = word(is_mapped ? mapped_zset(*n.input) : ordered_source(*n.table, n.column)->key);
    const std::string score = "<" + n.table->find_column(n.column)->name + ">";
    const std::optional<RankedRead> together = ranked_read(n);
    std::string member = "<key>";
    if (together) {
      const auto* lookup = std::get_if<KeyLookup>(&n.input->node);
      if (lookup != nullptr && lookup->keys.size() == 1) member = word(entry_text(lookup->keys.front()));
      if (is_mapped) member = mapped_member(*n.input);
      else if (const auto* by_value = std::get_if<UniqueLookup>(&n.input->node)) unique_row(*by_value);
      else if (!together->tells_columns) (*this)(*lookup);
      if (together->tells_columns && std::holds_alternative<UniqueLookup>(n.input->node)) text.commands.pop_back();
    }
    if (!together || !together->is_one_command) text.commands.push_back(fmt::format("ZSCORE {} {}", key, member));
    for (const IndexRanks::Rank rank : n.ranks) {
      if (rank == IndexRanks::Rank::kRowNumber) text.commands.push_back(fmt::format("{} {} {}", n.descending ? "ZREVRANK" : "ZRANK", key, member));
      else if (n.descending) text.commands.push_back(fmt::format("ZCOUNT {} ({} +inf", key, score));
      else text.commands.push_back(fmt::format("ZCOUNT {} -inf ({}", key, score));
    }
    if (n.may_be_null && n.nulls_first) text.commands.push_back("SCARD " + word(sql::TableKeys(*n.table).null_set(n.column)));
    if (!together) text.round_trips = is_mapped ? "1" : "1 (MULTI/EXEC)";
    else text.round_trips = together->is_one_command ? "1" : "1 (one read-only script)";
  }

  void operator()(const IndexMinMax& n) {
    for (const auto& end : n.ends) {
      auto source = *ordered_source(*n.table, end.column);
      text.commands.push_back(fmt::format("ZRANGE {} 0 0{}{}", word(source.key), end.maximum ? " REV" : "",
                                          source.encoding == OrderedSource::Encoding::kScore ? " WITHSCORES" : ""));
      if (!n.table->in_primary_key(end.column)) {
        text.commands.push_back(fmt::format("HMGET {}:<key> {}", n.table->prefix, word(n.table->find_column(end.column)->field)));
      }
    }
    text.round_trips = "1 (one read-only script)";
  }

  void operator()(const IndexGroups& n) {
    sql::TableKeys keys(*n.table);
    std::vector<std::int16_t> columns{n.column};
    text.commands.push_back("SMEMBERS " + word(keys.values(columns)));
    std::string among;
    for (const SetExpression& set : n.among) among += " " + word(set_key(keys, set));
    const std::string count = among.empty() ? "SCARD " : fmt::format("SINTERCARD {} ", n.among.size() + 1);
    if (n.counts || !among.empty()) text.commands.push_back(count + word(keys.values(columns)) + ":<value>" + among);
    if (!n.table->find_column(n.column)->not_null) text.commands.push_back(count + word(keys.null_set(n.column)) + among);
    add_as_needed({"SCARD"});
    text.round_trips = "1 (one read-only script)";
  }

  void operator()(const IndexKeys& n) {
    IndexKeys read = n;
    read.sets = with_entry_sets(n.sets);
    index_keys(read);
  }

  void index_keys(const IndexKeys& n) {
    sql::TableKeys keys(*n.table);
    table_of_sets = n.table.get();
    by_parts = n.by_parts;
    add_sizes(n.sets);
    set_commands(keys, n.sets);
    const bool plain = n.sets.kind == SetKind::kSet || n.sets.kind == SetKind::kNullSet;
    const bool counts = n.numbers.empty() && n.by_parts;
    if (counts && text.commands.back().starts_with("SINTER ")) text.commands.back() = fmt::format("SINTERCARD {}{}", n.sets.operands.size(), text.commands.back().substr(6));
    if (plain) text.commands.back() = fmt::format("SMEMBERS {0}, or SSCAN {0} 0 COUNT 20000 and ZCARD {1}", word(set_key(keys, n.sets)), word(keys.all_rows()));
    const std::size_t sets = text.commands.size();
    for (const std::int16_t number : n.numbers) {
      if (!n.table->in_primary_key(number)) text.commands.push_back(fmt::format("ZMSCORE {} <{}>", word(ordered_source(*n.table, number)->key), sets));
    }
    if (plain) text.as_needed.clear();  // the cursor shows the size
    else if (is_one_command(n)) add_as_needed({"ZCARD"});
    text.round_trips = plain ? "1 (by cursor where the set is large)" : "1 (one read-only script; by cursor where a set is large)";
  }

  void operator()(const IndexValues& n) {
    sql::TableKeys keys(*n.table);
    const std::vector<std::int16_t> columns{n.column};
    for (const ExpressionPtr& value : n.values) text.commands.push_back("SCARD " + word(keys.value_set_of_entry(columns, value_in_key(*value))));
    if (n.values.empty()) {
      text.commands.push_back("SMEMBERS " + word(keys.values(columns)));
      text.commands.push_back("SCARD " + word(keys.values(columns)) + ":<value>");
      if (!n.table->find_column(n.column)->not_null) text.commands.push_back("SCARD " + word(keys.null_set(n.column)));
    }
    text.round_trips = n.values.empty() ? "1 (one read-only script)" : n.values.size() > 1 ? "1 (MULTI/EXEC)" : "1";
  }

  void operator()(const AdaptiveJoin& n) {
    const auto& lookup = std::get<LookupJoin>(n.lookup->node);
    (*this)(lookup);
    if (member_lookup(lookup)) {
      text.commands.push_back("otherwise ZCARD " + word(sql::TableKeys(*lookup.read.table).all_rows()));
      return;
    }
    const std::string first = text.commands[0];
    const std::size_t name = first.find(' ');
    if (lookup.by == LookupJoin::By::kSet) text.commands.insert(text.commands.begin(), "SCARD" + first.substr(name));
    if (lookup.by == LookupJoin::By::kKeyStart) text.commands.insert(text.commands.begin(), "ZLEXCOUNT" + first.substr(name, first.rfind(' ') - name));
    text.commands.insert(text.commands.begin(), "ZCARD " + word(sql::TableKeys(sql::any_stored_table(*lookup.read.table)).all_rows()));
  }

  void operator()(const LookupJoin& n) {
    sql::TableKeys keys(*n.read.table);
    std::string entry;
    for (const ExpressionPtr& value : n.values) entry += (entry.empty() ? "<" : ":<") + sql::to_string(*value) + ">";
    switch (n.by) {
      case LookupJoin::By::kPrimaryKey:
        hmget(n.read, n.read.table->prefix + ":" + entry);
        text.round_trips = "1 per batch of the outer rows";
        if (const auto set = set_of_condition(n)) text.commands.push_back("SMISMEMBER " + word(set_key(keys, *set)) + " " + entry + " first, where there are many outer rows");
        if (const std::optional<MemberLookup> members = member_lookup(n)) with_members(*members->keys, n.read);
        return;
      case LookupJoin::By::kUnique:
        text.commands.push_back("HMGET " + word(keys.uniques(n.columns)) + " " + entry);
        break;
      case LookupJoin::By::kSet:
        text.commands.push_back("SMEMBERS " + word(keys.values(n.columns)) + ":" + entry);
        add_as_needed({"SCARD", "SORT_RO"});
        break;
      case LookupJoin::By::kKeyStart:
        text.commands.push_back("ZRANGE " + word(keys.all_rows()) + " " + ends_of_start(entry + ":"));
        break;
    }
    hmget(n.read, row_key(n.read));
    text.round_trips = "2 per batch of the outer rows";
  }

  void operator()(const PhysicalSystemScan& n) { text = describe_redis_scan(n); }

  void operator()(const OneOf<PhysicalInsert, PhysicalUpdate, PhysicalDelete, PhysicalMerge> auto& n) { text = describe_write(n); }

  void operator()(const OneOf<Gather, PhysicalValues, PhysicalFunctionScan, PhysicalFilter, PhysicalProject, HashJoin, NestedLoopJoin, Choice, PhysicalApply,
                              PhysicalAggregate, PhysicalWindow, PhysicalSort, PhysicalLockRows, PhysicalLimit, PhysicalDistinct,
                              PhysicalSetOperation, PhysicalShare, PhysicalSharedScan, PhysicalRecursiveUnion, PhysicalViewWrite> auto&) {}

 private:
  /// The members of an algebra, or their number.
  void members(const sql::TableKeys& keys, const SetExpression& sets) {
    const bool are_plain = std::ranges::all_of(sets.operands, [](const SetExpression& set) { return set.kind == SetKind::kSet || set.kind == SetKind::kNullSet; });
    if (sets.kind == SetKind::kIntersection && are_plain && !SetAlgebra::has_short_members(*table_of_sets, sets)) add_as_needed({"SINTERCARD"});
    add_sizes(sets);
    set_commands(keys, sets);
  }

  void add_as_needed(std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) {
      if (std::ranges::find(text.as_needed, name) == text.as_needed.end()) text.as_needed.emplace_back(name);
    }
  }

  /// A script asks for the sizes of sets and ranges, and combines them accordingly.
  void add_sizes(const SetExpression& sets) {
    if (sets.operands.empty()) {
      add_as_needed({sets.kind == SetKind::kRange ? "ZCOUNT" : "SCARD"});
      return;
    }
    for (const SetExpression& operand : sets.operands) add_sizes(operand);
    add_as_needed({"SMEMBERS", "SMISMEMBER"});
    const bool has_range = std::ranges::find(text.as_needed, "ZCOUNT") != text.as_needed.end();
    if (has_range) add_as_needed({"ZRANGE", "ZMSCORE"});
  }

  static constexpr const char* kElements = "4000";  // of an index that one command reads

  static bool in_script(const TableRead& read) { return sql::TableKeys(*read.table).sort_get_is_safe(); }
  static std::string row_key(const TableRead& read) { return read.table->prefix + ":<key>"; }
  static std::string goal_text(const RowGoal& goal) {
    if (!goal.limit) return "1000";
    return value_in_key(*goal.limit) + (goal.offset ? "+" + value_in_key(*goal.offset) : "");
  }
  static std::string score_text(const sql::Expression& value) {
    const auto* constant = std::get_if<sql::Constant>(&value.node);
    return constant && !sql::is_null(constant->value) ? sql::ordered_score(value.type, constant->value) : value_in_key(value);
  }

  /// Returns true if Redis has one command for the algebra: a small table needs no script, which looks at the sizes of sets.
  static bool is_one_command(const IndexKeys& keys) {
    const auto is_whole_set = [&](const SetExpression& set) {
      const bool is_set = set.operands.empty() && set.kind != SetKind::kRange;
      return is_set && (keys.by_parts || !sql::omitted_parts(*keys.table, set.columns).any());
    };
    const bool are_of_key = std::ranges::all_of(keys.numbers, [&](std::int16_t number) { return keys.table->in_primary_key(number); });
    return are_of_key && keys.sets.operands.size() > 1 && std::ranges::all_of(keys.sets.operands, is_whole_set);
  }

  /// One command, or a script that looks at the set's size first, reads a few outer rows with the rows that they look up.
  void with_members(const IndexKeys& outer, const TableRead& read) {
    const std::string set = word(set_key(sql::TableKeys(*outer.table), outer.sets));
    text.commands.back().insert(0, "otherwise ");
    text.commands.insert(text.commands.begin(), "SORT_RO " + set + " BY nosort LIMIT 0 2001" + sort_get(read));
    add_as_needed({"SCARD", "ZCARD"});
    text.round_trips = "1 for all outer rows and their rows; otherwise " + text.round_trips;
  }

  /// The keys of the rows whose members are in a set.
  static std::string row_pattern(const sql::TableDef& table, const SetExpression& set) {
    const sql::OmittedParts omitted = sql::omitted_parts(table, set.columns);
    std::string pattern = sql::TableKeys(table).row_pattern();
    if (!omitted.any()) return pattern;
    const std::string values = entry_text(set.values);
    return omitted.first > 0 ? table.prefix + ":" + values + ":*" : pattern + ":" + values;
  }

  /// A script looks unique values up one by one.
  void unique_row(const UniqueLookup& n) {
    const std::string uniques = word(sql::TableKeys(*n.read.table).uniques(n.columns));
    const std::size_t shown = std::min<std::size_t>(n.values.size(), 3);
    for (std::size_t i = 0; i < shown; ++i) text.commands.push_back("HGET " + uniques + " " + word(entry_text(n.values[i])));
    if (n.values.size() > shown) text.commands.push_back(fmt::format("… {} more", n.values.size() - shown));
    hmget(n.read, row_key(n.read));
  }

  void hmget(const TableRead& read, const std::string& key) {
    std::string command = "HMGET " + word(key);
    for (const std::string& field : sql::row_fields(*read.table, read.numbers).fields) command += " " + word(field);
    text.commands.push_back(std::move(command));
  }

  static std::string sort_get(const TableRead& read) { return sort_get(read, sql::TableKeys(*read.table).row_pattern()); }

  static std::string sort_get(const TableRead& read, const std::string& pattern) {
    std::string result = " GET #";
    for (const std::string& field : sql::row_fields(*read.table, read.numbers).fields) result += " GET " + word(pattern + "->" + field);
    return result;
  }

  /// A whole zset, with the rows of its members if need be.
  template <class Scan>
  void walk(const Scan& n, const OrderedSource& source) {
    const TableRead& read = n.read;
    const RowGoal& goal = n.goal;
    bool sorts = in_script(read) && source.encoding != OrderedSource::Encoding::kMember;
    std::string offset = goal.exact && goal.offset ? value_in_key(*goal.offset) : "0";
    std::string count = goal.exact && goal.limit ? value_in_key(*goal.limit) : goal_text(goal);
    if (n.index_only) {
      const bool needs_score = std::ranges::any_of(read.numbers, [&](std::int16_t c) { return c > 0 && !read.table->in_primary_key(c); });
      text.commands.push_back(fmt::format("ZRANGE {} {} {}{}{}", word(source.key), goal ? offset : "0",
                                          goal ? "<" + offset + "+" + count + "-1>" : std::to_string(std::stoul(kElements) - 1),
                                          n.descending ? " REV" : "", needs_score ? " WITHSCORES" : ""));
      if (!goal) add_as_needed({"ZCARD"});
      text.round_trips = goal ? "1" : fmt::format("1 per {} elements", kElements);
    } else if (sorts) {
      if (!goal.exact) add_as_needed({"ZCARD", "ZRANGE"});  // how much there is, and whether it has moved
      text.commands.push_back(fmt::format("SORT_RO {} BY nosort{} LIMIT {} {}{}", word(source.key), n.descending ? " DESC" : "", offset,
                                          count, sort_get(read)));
      text.round_trips = goal ? "1" : "1 per 1000 rows";
    } else {
      text.commands.push_back(fmt::format("ZRANGE {} 0 {}{}", word(source.key), goal ? count : "999", n.descending ? " REV" : ""));
      hmget(read, row_key(read));
      text.round_trips = goal ? "2" : "2 per 1000 rows";
    }
  }

  std::string range_command(const SetExpression& range) const {
    const auto end = [](const std::optional<RangeBound>& bound, const char* none) {
      return bound ? (bound->inclusive ? "" : "(") + score_text(*bound->value) : std::string(none);
    };
    return fmt::format("ZRANGE {} {} {} BYSCORE", word(ordered_source(*table_of_sets, range.columns[0])->key), word(end(range.lower, "-inf")),
                       word(end(range.upper, "+inf")));
  }

  /// The index is walked until enough members were met, or the places of all members are compared.
  void first_rows(const sql::TableKeys& keys, const SetScan& n) {
    const OrderedSource source = *ordered_source(*n.read.table, n.first->column);
    set_commands(keys, n.sets);
    const std::size_t sets = text.commands.size();
    if (n.first->nulls != SetScan::First::Nulls::kNone) {
      text.commands.push_back(fmt::format("SINTER <{}> {}", sets, word(keys.null_set(n.first->column))));
    }
    const bool lexical = source.encoding != OrderedSource::Encoding::kScore;
    const std::string walk = fmt::format("ZRANGE {}{}", word(source.key), n.first->descending ? " REV" : "");
    text.commands.push_back(lexical ? walk + " and SMISMEMBER" : fmt::format("{} and SMISMEMBER, or ZMSCORE {} <{}>", walk, word(source.key), sets));
    const bool may_be_small = n.sets.kind == SetKind::kSet && keys.sort_get_is_safe() && n.read.table->tag().empty();
    add_as_needed({"SCARD", lexical ? "ZLEXCOUNT" : "ZCOUNT"});
    if (may_be_small) add_as_needed({"SORT_RO"});
    if (n.first->ties && !lexical) add_as_needed({"ZSCORE"});
    hmget(n.read, row_key(n.read));
    text.round_trips = may_be_small ? "2 (the size of the set; all rows of a small one, or one read-only script)" : "1 (one read-only script)";
  }

  void set_commands(const sql::TableKeys& keys, const SetExpression& sets) {
    static constexpr std::string_view kNames[] = {"SMEMBERS", "SMEMBERS", "SINTER", "SUNION", "SDIFF"};
    if (sets.kind == SetKind::kRange) {
      text.commands.push_back(range_command(sets));
      return;
    }
    std::string command(kNames[static_cast<std::size_t>(sets.kind)]);
    if (sets.operands.empty()) {
      text.commands.push_back(command + " " + word(set_key(keys, sets)));
      return;
    }
    for (const SetExpression& operand : sets.operands) {
      const bool is_short = !by_parts && SetAlgebra::has_short_members(*table_of_sets, operand);
      if (operand.operands.empty() && operand.kind != SetKind::kRange && !is_short) {
        command += " " + word(set_key(keys, operand));
      } else {
        set_commands(keys, operand);
        command += fmt::format(" <{}>", text.commands.size());
      }
    }
    text.commands.push_back(std::move(command));
  }
};

}  // namespace

CommandText describe_commands(const PhysicalNode& node) {
  Describer describer;
  std::visit(describer, node.node);
  return std::move(describer.text);
}

}  // namespace redquel::planner
