#include "executor/tables/mapped_structures.h"

#include <algorithm>
#include <set>

#include "executor/tables/key_values.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/member_algebra.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"

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
  SetReader(const MappedReader& reader, ExecutionContext& context, ExecutionCounters* counters)
      : reader_(reader), context_(context), counters_(counters) {}

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
    if (reader_.mapping().layout == sql::Mapping::Layout::kSet) {  // the table's own keys
      const auto values = values_of(reader_.table(), set.columns, set.values, context_.evaluation());
      return values ? reader_.key_of(*values) : std::nullopt;
    }
    for (const sql::IndexDef& index : reader_.table().indexes) {
      if (index.method != sql::IndexMethod::kSet || columns_of(index) != set.columns) continue;
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
  ExecutionContext& context_;
  ExecutionCounters* counters_;
};

}  // namespace

asio::awaitable<std::vector<std::string>> look_up_members(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context,
                                                          ExecutionCounters* counters) {
  const sql::IndexDef& index = index_of(reader.table(), scan.index);
  const std::vector<std::int16_t> columns = columns_of(index);
  const bool is_hash = !sql::index_key(index).has_slots();
  std::vector<std::string> keys, members;
  CommandBatch batch;
  for (const auto& expressions : scan.lookups) {
    const auto values = values_of(reader.table(), columns, expressions, context.evaluation());
    const auto key = values ? structure_key(index, *values, reader) : std::nullopt;
    if (!key) continue;
    keys.push_back(*key);
    if (is_hash) batch.add("HGET", *key, reader.text_of(*values, columns[0]).value_or(""));
    else batch.add("GET", *key);
  }
  if (keys.empty()) co_return members;
  RepliesPtr replies = co_await ask_mapped(reader.mapping(), std::move(batch), false, context, counters);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if ((*replies)[i].is_error()) throw reader.wrong_kind(keys[i], is_hash ? "hash" : "string", (*replies)[i]);
    const bool is_new = (*replies)[i].is_text() && std::find(members.begin(), members.end(), (*replies)[i].text) == members.end();
    if (is_new) members.emplace_back((*replies)[i].text);
  }
  co_return members;
}

asio::awaitable<std::vector<std::string>> set_members(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context,
                                                      ExecutionCounters* counters) {
  SetReader sets(reader, context, counters);
  co_return co_await sets.members(*scan.sets);
}

StructureWalk::StructureWalk(const planner::MappedScan& scan, const MappedReader& reader, ExecutionContext& context)
    : scan_(scan), reader_(reader), context_(context), index_(&index_of(reader.table(), scan.index)) {
  key_ = structure_key(*index_, {}, reader).value_or("");
}

asio::awaitable<std::vector<std::string>> StructureWalk::next(std::uint64_t count, ExecutionCounters* counters) {
  const bool is_list = index_->method == sql::IndexMethod::kList;
  const std::uint64_t size = std::clamp<std::uint64_t>(count + 1, 10, context_.limits.chunk_rows);
  std::vector<std::string> members;
  while (members.empty()) {
    CommandBatch batch;
    if (is_list) {
      batch.add("LRANGE", key_, position_, position_ + size - 1);
    } else if (scan_.descending) {
      batch.add("ZRANGE", key_, position_, position_ + size - 1, "REV");
    } else {
      batch.add("ZRANGE", key_, position_, position_ + size - 1);
    }
    RepliesPtr replies = co_await ask_mapped(reader_.mapping(), std::move(batch), false, context_, counters);
    if ((*replies)[0].is_error()) throw reader_.wrong_kind(key_, is_list ? "list" : "zset", (*replies)[0]);
    const auto elements = replies->array(0);
    if (elements.empty()) co_return members;
    position_ += elements.size();
    for (const Reply& element : elements) {
      if (seen_.insert(std::string(element.text)).second) members.emplace_back(element.text);
    }
  }
  co_return members;
}

}  // namespace redquel::executor
