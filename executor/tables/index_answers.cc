#include "executor/scripts/scripts.h"
#include "executor/tables/index_answer.h"
#include "executor/tables/index_answers.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "executor/tables/key_values.h"
#include "executor/tables/read_scripts.h"
#include "executor/tables/set_program.h"
#include "executor/tables/walked_zset.h"
#include "planner/access/ordered_source.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/index_value.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

using SetKind = planner::SetExpression::Kind;
using Encoding = planner::OrderedSource::Encoding;

/// Doubles name every integer up to here.
constexpr double kExactDouble = 9007199254740992.0;

/// count(*) as a sum of cardinalities of one moment.
class IndexCountOperator final : public IndexAnswer {
 public:
  IndexCountOperator(const planner::PhysicalNode& node, const planner::IndexCount& count, ExecutionContext& context)
      : IndexAnswer(node, count.fallback, context), count_(count) {}

 private:
  asio::awaitable<std::optional<sql::Batch>> answer() override {
    context_.note_read(*count_.table);
    if (has_null_in_negation() || !co_await is_cheap()) co_return std::nullopt;
    CommandBatch batch;
    std::vector<int> signs;
    counted_.clear();
    for (const planner::CountTerm& term : count_.terms) {
      Added added = append_term(batch, term);
      if (added == Added::kInexact) co_return std::nullopt;
      if (added == Added::kYes) signs.push_back(term.sign);
    }
    std::int64_t total = 0;
    if (count_.terms.size() == 1 && count_.terms[0].kind == planner::CountTerm::Kind::kMembers) {
      const std::optional<std::size_t> members = co_await count_members(count_.terms[0].sets);
      if (!members) co_return std::nullopt;
      total = static_cast<std::int64_t>(*members);
    } else if (!signs.empty()) {
      RepliesPtr replies = co_await context_.ask_atomic(std::move(batch), counters());
      for (std::size_t i = 0; i < signs.size(); ++i) total += signs[i] * replies->integer(i);
    }
    sql::Batch result;
    result.rows = 1;
    for (std::size_t i = 0; i < count_.outputs; ++i) {
      result.columns.push_back(std::make_shared<sql::Column>(sql::Column::constant(sql::kInt8, total, 1)));
    }
    co_return result;
  }

  /// Returns true if terms count rows of `b <> NULL`: none, where cardinalities know only those without a value of b.
  bool has_null_in_negation() const {
    const bool has_negation = std::ranges::any_of(count_.terms, [](const planner::CountTerm& term) { return term.sign < 0; });
    return std::ranges::any_of(count_.terms, [&](const planner::CountTerm& term) {
      if (term.kind == planner::CountTerm::Kind::kMembers) return removes_null(term.sets, context_.evaluation());
      return has_negation && term.kind == planner::CountTerm::Kind::kSets && has_null_value(term.sets, context_.evaluation());
    });
  }

  asio::awaitable<std::optional<std::size_t>> count_members(const planner::SetExpression& sets) {
    const std::optional<EvaluatedSets> evaluated = evaluate_sets(sets, *count_.table, context_.evaluation());
    if (!evaluated) co_return 0;
    CommandBatch batch;
    append_count_of_sets(batch, to_program(*evaluated), context_.limits.set_members);
    RepliesPtr replies = co_await context_.ask_script(kRowsOfSetsScript, std::move(batch), counters());
    co_return decode_count_of_sets((*replies)[0]);
  }

  /// An intersection costs as much as its smallest set: none may hold Redis for long.
  asio::awaitable<bool> is_cheap() {
    CommandBatch batch;
    std::vector<std::size_t> sizes;
    for (const planner::CountTerm& term : count_.terms) {
      if (term.kind != planner::CountTerm::Kind::kSets || term.sets.kind != SetKind::kIntersection) continue;
      std::size_t added = 0;
      for (const planner::SetExpression& set : term.sets.operands) {
        auto key = evaluate_set_key(set, *count_.table, context_.evaluation());
        if (!key) continue;
        batch.add("SCARD", *key);
        ++added;
      }
      sizes.push_back(added);
    }
    if (batch.empty() || context_.is_known_cheap(&count_)) co_return true;
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    std::size_t next = 0;
    bool cheap = true;
    for (std::size_t count : sizes) {
      std::int64_t smallest = INT64_MAX;
      for (std::size_t i = 0; i < count; ++i) smallest = std::min(smallest, replies->integer(next++));
      cheap = cheap && (count == 0 || smallest <= static_cast<std::int64_t>(context_.limits.intersection_members));
    }
    if (cheap) context_.remember_cheap(&count_);
    co_return cheap;
  }

  enum class Added { kYes, kEmpty, kInexact };

  Added append_term(CommandBatch& batch, const planner::CountTerm& term) {
    using Kind = planner::CountTerm::Kind;
    sql::TableKeys keys(*count_.table);
    if (term.kind == Kind::kAllRows) {
      batch.add("ZCARD", keys.all_rows());
      return Added::kYes;
    }
    if (term.kind == Kind::kSets) return append_sets(batch, term.sets);
    if (term.kind == Kind::kMembers) return Added::kEmpty;
    if (term.kind == Kind::kValues) {
      batch.add("SCARD", keys.values({&term.column, 1}));
      return Added::kYes;
    }
    const std::optional<WalkedZset> zset = walked_zset(*count_.table, term.leading, term.column, context_.evaluation());
    if (!zset) return Added::kEmpty;
    const planner::OrderedSource& source = zset->source;
    if (term.kind == Kind::kPrefix) {
      std::string low = "[" + term.prefix->prefix, high = "(" + term.prefix->prefix + "\xff";
      batch.add("ZLEXCOUNT", source.key, low, high);
      return Added::kYes;
    }
    return append_range(batch, source, term);
  }

  Added append_sets(CommandBatch& batch, const planner::SetExpression& sets) {
    const bool is_intersection = sets.kind == SetKind::kIntersection;
    std::vector<std::string> set_keys;
    for (const planner::SetExpression& set : is_intersection ? std::span(sets.operands) : std::span(&sets, 1)) {
      auto key = evaluate_set_key(set, *count_.table, context_.evaluation());
      if (!key) return Added::kEmpty;
      set_keys.push_back(std::move(*key));
    }
    if (count_.may_repeat && !counted_.emplace(set_keys.begin(), set_keys.end()).second) return Added::kEmpty;
    if (is_intersection) {
      batch.add("SINTERCARD", set_keys.size(), set_keys);
    } else {
      batch.add("SCARD", set_keys[0]);
    }
    return Added::kYes;
  }

  Added append_range(CommandBatch& batch, const planner::OrderedSource& source, const planner::CountTerm& term) {
    bool by_score = source.encoding == Encoding::kScore;
    std::string low = by_score ? "-inf" : "-", high = by_score ? "+inf" : "+";
    sql::Type column = count_.table->find_column(term.column)->type;
    for (const auto* bound : {&term.lower, &term.upper}) {
      if (!*bound) continue;
      bool lower = bound == &term.lower, inclusive = (*bound)->inclusive;
      sql::Type type = (*bound)->value->type;
      sql::Datum value = sql::evaluate_scalar(*(*bound)->value, context_.evaluation());
      if (sql::is_null(value)) return Added::kEmpty;
      std::string& end = lower ? low : high;
      if (by_score) {
        double score = sql::score_of(type, value);
        if (!source.exact && (!std::isfinite(score) || (is_integral(type) && std::abs(score) >= kExactDouble))) return Added::kInexact;
        end = (inclusive ? "" : "(") + sql::ordered_score(type, value);
      } else if (source.encoding == Encoding::kRowKey) {
        end = (inclusive ? "[" : "(") + sql::canonical_text(column, value);
      } else {
        std::string bytes = sql::ordered_member_prefix(column, value);
        if (sql::ordered_prefix_may_be_cut(bytes)) return Added::kInexact;
        const std::string after = sql::end_of_ordered_members(bytes);
        if (lower) end = "[" + (inclusive ? bytes : after);
        else end = "(" + (inclusive ? after : bytes);
      }
    }
    batch.add(by_score ? "ZCOUNT" : "ZLEXCOUNT", source.key, low, high);
    return Added::kYes;
  }

  static bool is_integral(sql::Type type) { return type.oid != sql::oid::kFloat4 && type.oid != sql::oid::kFloat8; }

  const planner::IndexCount& count_;
  std::set<std::set<std::string>> counted_;  // the keys of the terms so far, if terms may repeat
};

/// min and max as the ends of zsets; the values are read from the rows, which have them exactly.
class IndexMinMaxOperator final : public IndexAnswer {
 public:
  IndexMinMaxOperator(const planner::PhysicalNode& node, const planner::IndexMinMax& min_max, ExecutionContext& context)
      : IndexAnswer(node, min_max.fallback, context), min_max_(min_max) {}

 private:
  asio::awaitable<std::optional<sql::Batch>> answer() override {
    context_.note_read(*min_max_.table);
    sql::TableKeys keys(*min_max_.table);
    CommandBatch batch;
    std::vector<sql::RowFields> fields;
    for (const auto& end : min_max_.ends) {
      std::vector<std::int16_t> numbers{end.column};
      fields.push_back(sql::row_fields(*min_max_.table, numbers));
      planner::OrderedSource source = *planner::ordered_source(*min_max_.table, end.column);
      ZsetRange range;
      bool by_score = source.encoding == Encoding::kScore;
      range.by = by_score ? ZsetRange::By::kScore : ZsetRange::By::kLex;
      range.low = by_score ? "-inf" : "-";
      range.high = by_score ? "+inf" : "+";
      range.descending = end.maximum;
      range.count = 1;
      bool composite = min_max_.table->primary_key.size() > 1;
      RowArguments rows{min_max_.table->prefix + ":", !composite && !keys.sort_get_is_safe(), &fields.back().fields};
      append_range_rows(batch, source.key, range, source.encoding == Encoding::kMember, rows);
    }
    RepliesPtr replies = co_await context_.ask_script(kRangeRowsScript, std::move(batch), counters());
    if (min_max_.ends.size() > 1) context_.note_turns(*min_max_.table);
    sql::Batch result;
    result.rows = 1;
    for (std::size_t i = 0; i < min_max_.ends.size(); ++i) {
      auto column = value_of(min_max_.ends[i], fields[i], RangeRows((*replies)[i], fields[i].fields.size()));
      if (!column) co_return std::nullopt;
      column->keep_alive(replies);
      result.columns.push_back(std::move(column));
    }
    co_return result;
  }

  std::shared_ptr<sql::Column> value_of(const planner::IndexMinMax::End& end, const sql::RowFields& fields,
                                        const RangeRows& rows) const {
    sql::Type type = min_max_.table->find_column(end.column)->type;
    auto column = std::make_shared<sql::Column>(sql::Column::encoded(type));
    if (rows.size() == 0) {
      column->append_null();
      return column;
    }
    if (!rows.has_fields()) return nullptr;
    const std::span<const Reply> values = rows.fields(0);
    planner::OrderedSource source = *planner::ordered_source(*min_max_.table, end.column);
    if (source.encoding == Encoding::kScore && !source.exact) {
      double score = std::strtod(std::string(rows.score(0)).c_str(), nullptr);
      if (!std::isfinite(score) || std::abs(score) >= kExactDouble) return nullptr;
    }
    if (source.encoding == Encoding::kMember && rows.member(0).size() >= sql::kMaxOrderedPrefix) return nullptr;
    using Kind = sql::RowFields::Source::Kind;
    const auto& from = fields.columns[0];
    if (!values[fields.presence].is_text()) return nullptr;  // the row is gone: its entry is stale
    if (from.kind == Kind::kField) {
      if (!values[from.index].is_text()) return nullptr;
      column->append_view(values[from.index].text);
    } else if (min_max_.table->primary_key.size() > 1) {
      return nullptr;  // the member is the whole key, of which the column is a part
    } else {
      column->append<std::string_view>(rows.member(0));
    }
    return column;
  }

  const planner::IndexMinMax& min_max_;
};

/// The values of an index, with or without the cardinality of each one's set.
class IndexGroupsOperator final : public IndexAnswer {
 public:
  IndexGroupsOperator(const planner::PhysicalNode& node, const planner::IndexGroups& groups, ExecutionContext& context)
      : IndexAnswer(node, groups.fallback, context), groups_(groups) {}

 private:
  asio::awaitable<std::optional<sql::Batch>> answer() override {
    context_.note_read(*groups_.table);
    sql::TableKeys keys(*groups_.table);
    const sql::ColumnDef& definition = *groups_.table->find_column(groups_.column);
    std::vector<std::int16_t> columns{groups_.column};
    std::vector<std::string> among;
    for (const planner::SetExpression& set : groups_.among) {
      std::optional<std::string> key = evaluate_set_key(set, *groups_.table, context_.evaluation());
      if (!key) co_return sql::Batch{};
      among.push_back(std::move(*key));
    }
    CommandBatch batch;
    append_group_counts(batch, keys.values(columns), definition.not_null ? "" : keys.null_set(groups_.column), among, limits_of_values(*groups_.fallback, context_),
                        groups_.counts || !among.empty());
    RepliesPtr replies = co_await context_.ask_script(kGroupCountsScript, std::move(batch), counters());
    const std::optional<GroupCounts> groups = decode_group_counts((*replies)[0]);
    if (!groups) co_return std::nullopt;
    auto values = std::make_shared<sql::Column>(sql::Column::encoded(definition.type));
    auto counts = std::make_shared<sql::Column>(sql::kInt8);
    for (std::size_t i = 0; i < groups->size(); ++i) {
      if (groups->rows(i) == 0) continue;
      if (groups->value(i).is_nil()) values->append_null();
      else values->append_view(groups->value(i).text);
      counts->append<std::int64_t>(groups->rows(i));
    }
    values->keep_alive(replies);
    sql::Batch result;
    result.rows = values->size();
    result.columns.push_back(std::move(values));
    for (std::size_t i = 0; i < groups_.outputs; ++i) result.columns.push_back(counts);
    co_return result;
  }

  const planner::IndexGroups& groups_;
};

}  // namespace

OperatorPtr make_index_count(const planner::PhysicalNode& node, const planner::IndexCount& count, ExecutionContext& context) {
  return std::make_unique<IndexCountOperator>(node, count, context);
}

OperatorPtr make_index_min_max(const planner::PhysicalNode& node, const planner::IndexMinMax& min_max, ExecutionContext& context) {
  return std::make_unique<IndexMinMaxOperator>(node, min_max, context);
}

OperatorPtr make_index_groups(const planner::PhysicalNode& node, const planner::IndexGroups& groups, ExecutionContext& context) {
  return std::make_unique<IndexGroupsOperator>(node, groups, context);
}

}  // namespace redquel::executor
