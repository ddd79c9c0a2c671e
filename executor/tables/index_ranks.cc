#include <algorithm>
#include <deque>
#include <map>

#include "executor/tables/index_answers.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/ranked_lookup.h"
#include "planner/access/ordered_source.h"
#include "sql/catalog/mapped_value.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

namespace {

/// The place of one row in the zset.
struct Place {
  std::string zset, member;
  std::string score;  // empty: NULL
};

/// Adds the ranks to rows that are found by keys: in the same step as the rows (ranked_lookup.h), or in a second one. Then the rows' scores are read
/// again together with the ranks. If one has changed, the rows are read anew.
class IndexRanksOperator final : public Operator {
 public:
  IndexRanksOperator(const planner::PhysicalNode& node, const planner::IndexRanks& ranks, ExecutionContext& context)
      : context_(context), plan_(ranks), counters_(node, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!is_started_) co_await start();
    is_started_ = true;
    if (fallback_) co_return co_await fallback_->next();
    if (ready_.empty()) co_return std::nullopt;
    sql::Batch batch = std::move(ready_.front());
    ready_.pop_front();
    co_return batch;
  }

 private:
  enum class Outcome : std::uint8_t { kDone, kMoved, kUnknown };

  asio::awaitable<void> start() {
    if (const auto how = planner::ranked_read(plan_); how && context_.reads() == nullptr) {
      std::optional<RankedBatch> batch = co_await read_ranked(plan_, *how, context_, counters_.get());
      if (batch) {
        if (batch->rows.rows > 0) give(batch->rows, std::move(batch->ranks));
        co_return;
      }
    }
    co_await start_with_rows();
  }

  asio::awaitable<void> start_with_rows() {
    constexpr int kMostAttempts = 3;
    context_.note_read(*plan_.table);
    for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
      ready_.clear();
      const OperatorPtr input = context_.make_operator(*plan_.input);
      Outcome outcome = Outcome::kDone;
      while (outcome == Outcome::kDone) {
        std::optional<sql::Batch> batch = co_await input->next();
        if (!batch) co_return;
        if (batch->rows > 0) outcome = co_await add(*batch);
      }
      if (outcome == Outcome::kUnknown) break;
    }
    ready_.clear();
    fallback_ = context_.make_operator(*plan_.fallback);
  }

  std::size_t position_of(std::int16_t column) const {
    return static_cast<std::size_t>(std::ranges::find(plan_.numbers, column) - plan_.numbers.begin());
  }

  using Values = std::map<std::int16_t, sql::Column>;

  /// Returns the values by which rows are ranked: the columns of their keys and the ordering column, by number.
  Values values_of(const sql::Batch& batch) const {
    std::vector<std::int16_t> numbers = plan_.table->is_mapped() ? sql::identity_columns(plan_.table->mapping()) : plan_.table->primary_key;
    if (plan_.table->has_hidden_key()) numbers = {0};
    numbers.push_back(plan_.column);
    Values values;
    for (const std::int16_t number : numbers) values.emplace(number, batch.columns[position_of(number)]->decode());
    return values;
  }

  /// Returns the row's place; nullopt: its score does not determine its order.
  std::optional<Place> place_of(const Values& values, std::size_t row) const {
    const sql::Type type = plan_.table->find_column(plan_.column)->type;
    const auto value = [&](std::int16_t column) { return values.at(column).datum(row); };
    const sql::Datum ordered = value(plan_.column);
    if (!sql::is_null(ordered)) {
      if (!is_exact_score(type, sql::score_of(type, ordered))) return std::nullopt;
    }
    Place place;
    if (plan_.table->is_mapped()) {
      const sql::Mapping& mapping = plan_.table->mapping();
      const auto text = [&](std::int16_t column) {
        return std::optional(sql::encode_mapped(mapping.column(column), plan_.table->find_column(column)->type, value(column)));
      };
      place.zset = mapping.render_key(text).value_or("");
      place.member = *text(mapping.with_role(sql::Mapping::Role::kMember)->number);
      place.score = *text(plan_.column);
      return place;
    }
    const sql::TableKeys keys(*plan_.table);
    std::vector<sql::Datum> key;
    if (plan_.table->has_hidden_key()) key.push_back(value(0));
    for (const std::int16_t column : plan_.table->primary_key) key.push_back(value(column));
    place.zset = planner::ordered_source(*plan_.table, plan_.column)->key;
    place.member = keys.member(key);
    if (!sql::is_null(ordered)) place.score = sql::ordered_score(type, ordered);
    return place;
  }

  /// Adds the command that counts the rows with a score before the row. A NULL that is not first comes behind all of them.
  void append_rank(CommandBatch& batch, const Place& place, planner::IndexRanks::Rank rank) const {
    if (place.score.empty()) {
      batch.add("ZCARD", place.zset);
    } else if (rank == planner::IndexRanks::Rank::kRowNumber) {
      batch.add(plan_.descending ? "ZREVRANK" : "ZRANK", place.zset, place.member);
    } else if (plan_.descending) {
      batch.add("ZCOUNT", place.zset, "(" + place.score, "+inf");
    } else {
      batch.add("ZCOUNT", place.zset, "-inf", "(" + place.score);
    }
  }

  asio::awaitable<RepliesPtr> ask(CommandBatch batch) {
    const sql::Overloaded ask_storage{
        [&](const sql::ManagedRows&) { return context_.ask_atomic(std::move(batch), counters_.get()); },
        [&](const sql::MappedRows&) { return ask_mapped(*plan_.table, std::move(batch), false, context_, counters_.get()); },
    };
    co_return co_await std::visit(ask_storage, plan_.table->storage);
  }

  static bool is_score(std::optional<std::string_view> reply, const std::string& score) {
    if (!reply || score.empty()) return !reply && score.empty();
    return score_number(*reply) == score_number(score);
  }

  asio::awaitable<Outcome> add(const sql::Batch& rows) {
    std::vector<Place> places;
    CommandBatch commands;
    const Values values = values_of(rows);
    for (std::size_t row = 0; row < rows.rows; ++row) {
      std::optional<Place> place = place_of(values, row);
      if (!place) co_return Outcome::kUnknown;
      commands.add("ZSCORE", place->zset, place->member);
      for (const auto rank : plan_.ranks) append_rank(commands, *place, rank);
      places.push_back(std::move(*place));
    }
    const bool counts_nulls = plan_.may_be_null && plan_.nulls_first;
    if (counts_nulls) commands.add("SCARD", sql::TableKeys(*plan_.table).null_set(plan_.column));
    const RepliesPtr replies = co_await ask(std::move(commands));
    const std::int64_t nulls = counts_nulls ? replies->integer(replies->size() - 1) : 0;
    std::vector<std::vector<std::int64_t>> ranks(plan_.ranks.size());
    std::size_t next = 0;
    for (const Place& place : places) {
      if (!is_score(replies->text(next++), place.score)) co_return Outcome::kMoved;
      for (std::vector<std::int64_t>& of_call : ranks) {
        if (replies->checked(next).is_nil()) co_return Outcome::kMoved;
        const std::int64_t before = replies->integer(next++);
        of_call.push_back(1 + (!place.score.empty() ? before + nulls : plan_.nulls_first ? 0 : before));
      }
    }
    give(rows, std::move(ranks));
    co_return Outcome::kDone;
  }

  void give(const sql::Batch& rows, std::vector<std::vector<std::int64_t>> ranks) {
    sql::Batch batch{.rows = rows.rows, .columns = {}};
    for (const std::size_t position : plan_.outputs) batch.columns.push_back(rows.columns[position]);
    for (std::vector<std::int64_t>& of_call : ranks) {
      batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::from_values(sql::kInt8, std::move(of_call))));
    }
    ready_.push_back(std::move(batch));
  }

  ExecutionContext& context_;
  const planner::IndexRanks& plan_;
  NodeCounters counters_;
  std::deque<sql::Batch> ready_;
  OperatorPtr fallback_;
  bool is_started_ = false;
};

}  // namespace

OperatorPtr make_index_ranks(const planner::PhysicalNode& node, const planner::IndexRanks& ranks, ExecutionContext& context) {
  return std::make_unique<IndexRanksOperator>(node, ranks, context);
}

}  // namespace redquel::executor
