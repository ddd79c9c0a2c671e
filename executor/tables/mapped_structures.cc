#include "executor/tables/mapped_structures.h"

#include <algorithm>
#include <deque>
#include <set>

#include "executor/storage/mapped_unit.h"
#include "executor/tables/key_values.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/scan_budget.h"
#include "executor/tables/member_algebra.h"
#include "sql/catalog/mapped_value.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

using planner::SetExpression;
using Kind = SetExpression::Kind;

const sql::IndexDef& index_of(const sql::TableDef& table, sql::Oid oid) {
  const auto found = std::find_if(table.indexes.begin(), table.indexes.end(), [&](const sql::IndexDef& index) { return index.oid == oid; });
  if (found == table.indexes.end()) throw StaleCatalog{};
  return *found;
}

/// The values of some columns; nullopt: no row has them.
std::optional<MappedKey> values_of(const sql::TableDef& table, const std::vector<std::int16_t>& columns,
                                   const std::vector<sql::ExpressionPtr>& expressions, const sql::EvaluationContext& context) {
  MappedKey values;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const sql::Type type = table.find_column(columns[i])->type;
    auto value = to_column_value(type, expressions[i]->type, sql::evaluate_scalar(*expressions[i], context));
    if (!value) return std::nullopt;
    values[columns[i]] = *std::move(value);
  }
  return values;
}

std::vector<std::int16_t> columns_of(const sql::IndexDef& index) {
  std::vector<std::int16_t> columns;
  for (const sql::IndexDef::Part& part : index.parts) columns.push_back(part.column);
  return columns;
}

std::optional<std::string> structure_key(const sql::IndexDef& index, const MappedKey& values, const MappedReader& reader) {
  return sql::index_key(index).render([&](std::int16_t column) { return reader.text_of(values, column); });
}

using Members = std::vector<std::string>;

/// Sets by their algebra: what lies flat over sets is one command of Redis, what is nested is combined here.
class SetReader {
 public:
  /// `declared`: the sets are those of indexes.
  SetReader(const MappedReader& reader, bool declared, ExecutionContext& context, ExecutionCounters* counters)
      : reader_(reader), declared_(declared), context_(context), counters_(counters) {}

  asio::awaitable<Members> members(const SetExpression& sets) {
    const bool is_flat = std::all_of(sets.operands.begin(), sets.operands.end(), [](const SetExpression& operand) { return operand.operands.empty(); });
    if (is_flat) co_return co_await command(sets);
    std::vector<Members> operands;
    for (const SetExpression& operand : sets.operands) {
      Members found = co_await members(operand);
      std::sort(found.begin(), found.end());
      operands.push_back(std::move(found));
    }
    Members result = std::move(operands.front());
    for (std::size_t i = 1; i < operands.size(); ++i) {
      Members combined;
      const auto out = std::back_inserter(combined);
      const Members& next = operands[i];
      if (sets.kind == Kind::kIntersection) std::set_intersection(result.begin(), result.end(), next.begin(), next.end(), out);
      else if (sets.kind == Kind::kUnion) std::set_union(result.begin(), result.end(), next.begin(), next.end(), out);
      else std::set_difference(result.begin(), result.end(), next.begin(), next.end(), out);
      result = std::move(combined);
    }
    co_return result;
  }

 private:
  std::optional<std::string> key_of(const SetExpression& set) const {
    if (set.columns.empty() && reader_.mapping().ohm) return sql::ohm_key(reader_.mapping(), "all");
    if (!declared_) {  // the table's own keys
      const auto values = values_of(reader_.table(), set.columns, set.values, context_.evaluation());
      return values ? reader_.key_of(*values) : std::nullopt;
    }
    for (const sql::IndexDef& index : reader_.table().indexes) {
      if (index.method != sql::IndexMethod::kSet || !sql::is_believed(index) || columns_of(index) != set.columns) continue;
      const auto values = values_of(reader_.table(), set.columns, set.values, context_.evaluation());
      return values ? structure_key(index, *values, reader_) : std::nullopt;
    }
    throw StaleCatalog{};
  }

  asio::awaitable<Members> command(const SetExpression& sets) {
    std::vector<std::string> keys;
    std::vector<SetExpression> own{sets};
    const std::vector<SetExpression>& operands = sets.operands.empty() ? own : sets.operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::optional<std::string> key = key_of(operands[i]);
      if (key) {
        keys.push_back(*key);
      } else if (sets.kind == Kind::kIntersection || (sets.kind == Kind::kDifference && i == 0) || sets.operands.empty()) {
        co_return Members{};  // an empty set decides
      }
    }
    if (keys.empty()) co_return Members{};
    MemberAlgebra algebra(reader_, context_, counters_);
    if (keys.size() == 1) co_return co_await algebra.members(std::move(keys.front()));
    const MemberAlgebra::Kind kind = sets.kind == Kind::kIntersection ? MemberAlgebra::Kind::kIntersection
                                     : sets.kind == Kind::kUnion      ? MemberAlgebra::Kind::kUnion
                                                                      : MemberAlgebra::Kind::kDifference;
    co_return co_await algebra.combine(kind, std::move(keys));
  }

  const MappedReader& reader_;
  bool declared_;
  ExecutionContext& context_;
  ExecutionCounters* counters_;
};

/// Returns the values of identity columns that are slots of a structure's key.
MappedKey beside_member(const sql::TableDef& table, const sql::KeyTemplate& key, const MappedKey& values) {
  MappedKey beside;
  for (const auto& [column, value] : values) {
    if (table.in_primary_key(column) && key.has_slot(column)) beside[column] = value;
  }
  return beside;
}

}  // namespace

asio::awaitable<std::vector<StructureMember>> look_up_members(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context,
                                                              ExecutionCounters* counters) {
  const sql::TableDef& table = reader.table();
  const sql::IndexDef& index = index_of(table, scan.index);
  const std::vector<std::int16_t> columns = columns_of(index);
  const sql::KeyTemplate key_template = sql::index_key(index);
  const bool is_hash = sql::is_hash_lookup(index);
  const sql::KeyTemplate field_template = is_hash ? sql::index_field(index) : sql::KeyTemplate();
  std::vector<std::string> keys;
  std::vector<MappedKey> beside;
  std::vector<StructureMember> members;
  CommandBatch batch;
  for (const auto& expressions : scan.lookups) {
    const auto values = values_of(table, columns, expressions, context.evaluation());
    const auto key = values ? structure_key(index, *values, reader) : std::nullopt;
    if (!key) continue;
    if (is_hash) {
      const auto field = field_template.render([&](std::int16_t column) { return reader.text_of(*values, column); });
      if (!field) continue;
      batch.add("HGET", *key, *field);
    } else {
      batch.add("GET", *key);
    }
    keys.push_back(*key);
    beside.push_back(beside_member(table, key_template, *values));
  }
  if (keys.empty()) co_return members;
  RepliesPtr replies = co_await ask_mapped(reader.table(), std::move(batch), false, context, counters);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if ((*replies)[i].is_error()) throw reader.wrong_kind(keys[i], is_hash ? "hash" : "string", (*replies)[i]);
    if (!(*replies)[i].is_text()) continue;
    std::string name((*replies)[i].text);
    for (const auto& [column, value] : beside[i]) name += '\0' + reader.text_of(beside[i], column).value_or("");
    if (seen.insert(std::move(name)).second) members.push_back({std::string((*replies)[i].text), std::move(beside[i])});
  }
  co_return members;
}

asio::awaitable<std::vector<std::vector<StructureMember>>> structure_members(sql::Oid oid, const std::vector<MappedKey>& keys, const MappedReader& reader,
                                                                             ExecutionContext& context, ExecutionCounters* counters) {
  constexpr std::size_t kSetsAtOnce = 100;  // a page of each
  const sql::IndexDef& index = index_of(reader.table(), oid);
  const bool is_set = index.method == sql::IndexMethod::kSet, is_hash = sql::is_hash_lookup(index);
  const sql::KeyTemplate key_template = sql::index_key(index), field = is_hash ? sql::index_field(index) : sql::KeyTemplate();
  struct Waiting {
    std::size_t at;
    std::string key, part, cursor = "0";  // part: of a lookup, the hash's field
    std::unordered_set<std::string> seen = {};
  };
  std::deque<Waiting> waiting;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto text = [&](std::int16_t column) { return reader.text_of(keys[i], column); };
    const auto key = key_template.render(text), part = field.render(text);
    if (key && part) waiting.push_back({i, *key, *part});
  }
  std::vector<std::vector<StructureMember>> members(keys.size());
  while (!waiting.empty()) {
    CommandBatch batch;
    std::vector<Waiting> asked;
    while (!waiting.empty() && asked.size() < (is_set ? std::min(kSetsAtOnce, context.limits.chunk_rows) : context.limits.chunk_rows)) {
      asked.push_back(std::move(waiting.front()));
      waiting.pop_front();
      const Waiting& one = asked.back();
      if (is_set) batch.add("SSCAN", one.key, one.cursor, "COUNT", context.limits.chunk_rows);
      else if (is_hash) batch.add("HGET", one.key, one.part);
      else batch.add("GET", one.key);
    }
    const auto later = static_cast<std::size_t>(std::ranges::count_if(asked, [](const Waiting& one) { return one.cursor != "0"; }));
    if (later > 0) co_await count_scanned_keys(context, later * context.limits.chunk_rows, kElementHint);
    RepliesPtr replies = co_await ask_mapped(reader.table(), std::move(batch), false, context, counters);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      Waiting& one = asked[i];
      const Reply& reply = (*replies)[i];
      if (reply.is_error()) throw reader.wrong_kind(one.key, is_set ? "set" : is_hash ? "hash" : "string", reply);
      const MappedKey beside = beside_member(reader.table(), key_template, keys[one.at]);
      if (!is_set) {
        if (reply.is_text()) members[one.at].push_back({std::string(reply.text), beside});
        continue;
      }
      const std::span<const Reply> parts = reply.children();
      if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SSCAN");
      const bool is_last = parts[0].text == "0", is_only = is_last && one.cursor == "0";
      for (const Reply& member : parts[1].children()) {  // SSCAN may give a member twice
        if (is_only || one.seen.emplace(member.text).second) members[one.at].push_back({std::string(member.text), beside});
      }
      one.cursor = std::string(parts[0].text);
      if (!is_last) waiting.push_back(std::move(one));
    }
  }
  co_return members;
}

asio::awaitable<std::vector<std::string>> set_members(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context,
                                                      ExecutionCounters* counters) {
  SetReader sets(reader, !scan.member.empty(), context, counters);
  co_return co_await sets.members(*scan.sets);
}

asio::awaitable<std::vector<MappedKey>> unkept_rows(const sql::TableDef& table, ExecutionContext& context, ExecutionCounters* counters) {
  std::vector<MappedKey> rows;
  std::unordered_set<std::string> seen;
  std::string cursor = "0";
  do {
    CommandBatch batch;
    batch.add("SSCAN", unkept_key(table.oid), cursor, "COUNT", context.limits.chunk_rows);
    RepliesPtr replies = co_await context.ask(std::move(batch), counters);
    const auto parts = replies->array(0);
    if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SSCAN");
    cursor = std::string(parts[0].text);
    for (const Reply& identity : parts[1].children()) {
      if (!seen.insert(std::string(identity.text)).second) continue;
      if (auto values = values_of_identity(table, identity.text)) rows.push_back(*std::move(values));
    }
  } while (cursor != "0");
  co_return rows;
}

StructureWalk::StructureWalk(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context, std::uint64_t offset)
    : scan_(scan), reader_(reader), context_(context), position_(offset) {
  const sql::TableDef& table = reader.table();
  if (scan.path == planner::MappedScan::Path::kScores) {
    MappedKey values;
    for (const planner::MappedScan::Fixed& fixed : scan.fixed) {
      auto value = values_of(table, {fixed.column}, fixed.values, context.evaluation());
      if (value) values.merge(*value);
    }
    key_ = reader.key_of(values).value_or("");
  } else {
    const sql::IndexDef& index = index_of(table, scan.index);
    is_list_ = index.method == sql::IndexMethod::kList;
    MappedKey values;
    const std::vector<std::int16_t> slots = sql::index_key(index).slots();
    if (!slots.empty()) {
      if (scan.lookups.empty()) throw StaleCatalog{};
      values = values_of(table, slots, scan.lookups.front(), context.evaluation()).value_or(MappedKey());
    }
    key_ = structure_key(index, values, reader).value_or("");
  }
  has_scores_ = has_bounds() || scan.path == planner::MappedScan::Path::kScores;
  const auto low = end_of(scan.lower, true), high = end_of(scan.upper, false);
  if (!low || !high) key_.clear();
  low_ = low.value_or("");
  high_ = high.value_or("");
}

std::optional<std::string> StructureWalk::end_of(const std::optional<planner::RangeBound>& bound, bool is_lower) const {
  const std::string open = is_lower ? "-inf" : "+inf";
  if (!bound) return open;
  const sql::Datum value = sql::evaluate_scalar(*bound->value, context_.evaluation());
  if (sql::is_null(value)) return std::nullopt;
  const sql::Type type = reader_.table().find_column(scan_.ordered_by)->type;
  std::string text;
  try {
    const bool is_own_type = bound->value->type.oid == type.oid;
    text = is_own_type ? sql::encode_mapped(reader_.mapping().column(scan_.ordered_by), type, value) : sql::format_value(bound->value->type, value);
  } catch (const sql::SqlError&) {  // infinity, which no score can be
    return open;
  }
  if (text != "NaN") return text;
  return is_lower ? std::nullopt : std::optional(open);  // behind all numbers
}

/// Changes between two pages move elements: a page of a range begins with the score at which the last one ended, and a few elements early.
CommandBatch StructureWalk::page(std::uint64_t size) const {
  CommandBatch batch;
  if (is_list_) {
    batch.add("LRANGE", key_, position_, position_ + size - 1);
  } else if (!has_bounds()) {
    batch.begin(4 + (scan_.descending ? 1 : 0) + (has_scores_ ? 1 : 0));
    batch.arg("ZRANGE").arg(key_).arg(std::to_string(position_)).arg(std::to_string(position_ + size - 1));
    if (scan_.descending) batch.arg("REV");
    if (has_scores_) batch.arg("WITHSCORES");
  } else {
    const std::string &low = !scan_.descending && !last_score_.empty() ? last_score_ : low_, &high = scan_.descending && !last_score_.empty() ? last_score_ : high_;
    batch.begin(9 + (scan_.descending ? 1 : 0));
    batch.arg("ZRANGE").arg(key_).arg(scan_.descending ? high : low).arg(scan_.descending ? low : high).arg("BYSCORE");
    if (scan_.descending) batch.arg("REV");
    batch.arg("LIMIT").arg(std::to_string(position_)).arg(std::to_string(size)).arg("WITHSCORES");
  }
  return batch;
}

asio::awaitable<std::vector<bool>> StructureWalk::holds(const std::vector<std::string>& members, ExecutionCounters* counters) const {
  std::vector<bool> found(members.size());
  if (members.empty() || key_.empty()) co_return found;
  CommandBatch batch;
  batch.add("ZMSCORE", key_, members);
  RepliesPtr replies = co_await ask_mapped(reader_.table(), std::move(batch), false, context_, counters);
  if ((*replies)[0].is_error()) throw reader_.wrong_kind(key_, "zset", (*replies)[0]);
  const auto scores = replies->array(0);
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = !scores[i].is_nil();
  co_return found;
}

asio::awaitable<std::vector<StructureWalk::Element>> StructureWalk::next(std::uint64_t count, ExecutionCounters* counters) {
  const std::uint64_t size = std::clamp<std::uint64_t>(count + 1, 10, std::max<std::uint64_t>(context_.limits.chunk_rows, 10));
  std::vector<Element> members;
  while (members.empty() && !key_.empty()) {
    if (!seen_.empty()) co_await count_scanned_keys(context_, size, "Use LIMIT: an element of a large structure counts as a key.");
    CommandBatch batch = page(size);
    RepliesPtr replies = co_await ask_mapped(reader_.table(), std::move(batch), false, context_, counters);
    if ((*replies)[0].is_error()) throw reader_.wrong_kind(key_, is_list_ ? "list" : "zset", (*replies)[0]);
    const auto elements = replies->array(0);
    const std::size_t width = has_scores_ ? 2 : 1, found = elements.size() / width;
    for (std::size_t i = 0; i < found; ++i) {
      Element element{std::string(elements[i * width].text), has_scores_ ? std::string(elements[i * width + 1].text) : std::string()};
      if (!seen_.insert(element.member).second) continue;
      ties_ = element.score == last_score_ ? ties_ + 1 : 1;
      last_score_ = element.score;
      members.push_back(std::move(element));
    }
    if (!has_bounds()) {
      position_ += found;
      if (found == 0) co_return members;
      continue;
    }
    if (found < size) key_.clear();  // that was the last page
    position_ = ties_ - std::min(ties_, size / 2);
  }
  co_return members;
}

}  // namespace redquel::executor
