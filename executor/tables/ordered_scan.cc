#include <algorithm>
#include <unordered_set>

#include "executor/tables/condition_first.h"
#include "executor/tables/key_values.h"
#include "executor/tables/lookup_keys.h"
#include "executor/tables/score_range.h"
#include "executor/tables/source_operator.h"
#include "executor/tables/walked_zset.h"
#include "executor/tables/zset_walk.h"
#include "planner/tree/logical_walk.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Encoding = planner::OrderedSource::Encoding;

/// The goal of LIMIT ALL: more rows than a zset has.
constexpr std::size_t kUnlimited = std::size_t{1} << 40;

/// The ends of a walk as ZRANGE takes them. nullopt: the range is empty.
std::optional<ZsetRange> ends_of(const planner::OrderedScan& scan, const planner::OrderedSource& source,
                                 const sql::EvaluationContext& context) {
  std::optional<ZsetRange> range = evaluate_range(*scan.read.table, source, scan.column, scan.lower, scan.upper, context);
  if (!range) return {};
  range->descending = scan.descending;
  if (scan.prefix) {
    range->low = "[" + scan.prefix->prefix;
    range->high = "(" + scan.prefix->prefix + "\xff";  // no UTF-8 text has this byte
  }
  return range;
}

/// A walk along an ordered index, the rows of its NULL set before or behind.
class OrderedScanOperator final : public SourceOperator {
 public:
  OrderedScanOperator(const planner::PhysicalNode& node, const planner::OrderedScan& scan, ExecutionContext& context)
      : SourceOperator(node, scan.read, context), scan_(scan) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    using Nulls = planner::OrderedScan::Nulls;
    if (!started_) {
      started_ = true;
      start();
      if (walk_options_) co_await place_offset();
    }
    if (otherwise_) co_return co_await otherwise_->next();
    if (rows_ > scan_.most_rows && is_bounded()) throw WalkGivenUp{};
    if (scan_.nulls != Nulls::kNone && walk_ && !first_chunk_ && !places_offset_) {
      // The number of NULLs comes with the first chunk: mostly none.
      first_chunk_ = co_await read_chunk();
      if (otherwise_) co_return co_await otherwise_->next();
      if (walk_->null_count() == 0) nulls_done_ = true;
    }
    while (remaining_ > 0) {
      sql::Batch batch;
      if (scan_.nulls == Nulls::kFirst && !nulls_done_) {
        batch = co_await read_nulls();
      } else if (first_chunk_ && !first_chunk_given_) {
        first_chunk_given_ = true;
        batch = std::move(*first_chunk_);
      } else if (walk_ && !walk_->at_end()) {
        batch = co_await read_chunk();
        if (otherwise_) co_return co_await otherwise_->next();
      } else if (scan_.nulls == Nulls::kLast && !nulls_done_) {
        batch = co_await read_nulls();
      } else {
        break;
      }
      if (rows_ > scan_.most_rows && is_bounded()) throw WalkGivenUp{};
      if (batch.rows == 0) continue;
      if (scan_.goal.exact && batch.rows > remaining_) batch = first_rows(batch, remaining_);
      if (scan_.goal.exact) remaining_ -= batch.rows;
      co_return batch;
    }
    co_return std::nullopt;
  }

 private:
  /// Returns true if a Choice decides by this walk.
  bool is_bounded() const { return scan_.most_rows > 0 && context_.bounded_walks > 0; }

  /// Returns true if the condition is about the index's columns and the primary key, so that nearly all rows between the ends of the walk satisfy it:
  /// pages that begin behind a row.
  bool looks_at_order_only() const {
    if (!scan_.read.condition || (!scan_.lower && !scan_.upper && scan_.leading.empty())) return false;
    return std::ranges::all_of(planner::columns_in(*scan_.read.condition), [&](std::uint32_t position) {
      const std::int16_t number = scan_.read.numbers[position];
      const bool is_leading = std::ranges::find(scan_.leading.columns, number) != scan_.leading.columns.end();
      return is_leading || number == scan_.column || reader_.table().in_primary_key(number);
    });
  }

  void start() {
    RowCounts counts = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation());
    const std::optional<WalkedZset> zset = walked_zset(reader_.table(), scan_.leading, scan_.column, context_.evaluation());
    if (zset) null_rows_ = zset->nulls;
    else nulls_done_ = true;
    auto range = zset ? ends_of(scan_, zset->source, context_.evaluation()) : std::nullopt;
    if (!range) return;
    planner::OrderedSource source = zset->source;
    ZsetWalk::Options options;
    options.by_score = source.encoding == Encoding::kScore;
    options.source = std::move(source);
    options.range = std::move(*range);
    options.whole = !scan_.lower && !scan_.upper && !scan_.prefix;
    options.index_only = scan_.index_only;
    options.atomic_if_small = options.whole && !counts.limit;
    options.is_open = scan_.goal.open;
    options.proves_order = scan_.otherwise != nullptr;
    if (scan_.nulls != planner::OrderedScan::Nulls::kNone) options.null_rows = null_rows_;
    if (scan_.goal.exact) {
      options.offset = counts.offset;
      if (counts.limit) remaining_ = options.wanted.emplace(*counts.limit);
      places_offset_ = options.offset > 0 && options.null_rows;
    } else if (auto wanted = counts.wanted()) {
      // The row behind the last wanted one shows a sort above that a group of ties has ended; some rows may be ties.
      options.wanted = *wanted + 1 + *wanted / 8;
      if (is_bounded()) options.expected = context_.walk_progress.expected;
      // Without a Choice above nothing leaves rows out.
      if (scan_.goal.open && scan_.most_rows == 0 && !scan_.read.condition) options.expected = *options.wanted;
      if (!options.expected && looks_at_order_only()) options.expected = *options.wanted + *options.wanted / 4 + 4;
    }
    // With a goal the walk stays on the connection that has read the counters of changes.
    if (scan_.goal && !options.wanted) options.wanted = kUnlimited;
    if (places_offset_) walk_options_ = std::move(options);
    else walk_.emplace(std::move(options), reader_, context_, counters());
  }

  /// Reads a chunk, the first one of a zset whose scores do not order the rows in vain: then `otherwise_` begins.
  asio::awaitable<sql::Batch> read_chunk() {
    const ExecutionContext::WalkProgress& progress = context_.walk_progress;
    if (is_bounded() && rows_ > 0 && progress.passed > 0 && progress.passed < progress.wanted) {
      // As many as the share that has passed until now lets expect, and some more.
      const double expected = 1.3 * static_cast<double>(rows_) * static_cast<double>(progress.wanted - progress.passed) / static_cast<double>(progress.passed);
      walk_->expect(static_cast<std::size_t>(expected) + 6);
    }
    co_await walk_->read_chunk();
    rows_ += reader_.rows();
    sql::Batch batch = take();
    if (scan_.otherwise && !walk_->is_exact()) otherwise_ = context_.make_operator(*scan_.otherwise);
    co_return batch;
  }

  /// Divides the offset between the walk and the rows whose column is NULL.
  asio::awaitable<void> place_offset() {
    ZsetWalk::Options options = *std::exchange(walk_options_, std::nullopt);
    CommandBatch batch;
    batch.add(null_rows_.form->count, null_rows_.key);
    batch.add("ZCARD", options.source.key);
    if (options.proves_order) append_score_proof(batch, options.source.key);
    const RepliesPtr replies = co_await context_.ask_atomic(std::move(batch), counters());
    if (options.proves_order && !is_proved(*replies, 2)) {
      otherwise_ = context_.make_operator(*scan_.otherwise);
      co_return;
    }
    const bool nulls_first = scan_.nulls == planner::OrderedScan::Nulls::kFirst;
    const auto count = static_cast<std::size_t>(replies->integer(nulls_first ? 0 : 1));
    const std::size_t of_first = std::min(options.offset, count), of_last = options.offset - of_first;
    nulls_done_ = replies->integer(0) == 0 || (nulls_first && of_first == count);
    skipped_nulls_ = nulls_first ? of_first : of_last;
    options.offset = nulls_first ? of_last : of_first;
    options.null_rows.reset();
    walk_.emplace(std::move(options), reader_, context_, counters());
  }

  static sql::Batch first_rows(const sql::Batch& batch, std::size_t count) {
    std::vector<std::uint32_t> rows(count);
    for (std::size_t i = 0; i < count; ++i) rows[i] = static_cast<std::uint32_t>(i);
    return batch.gather(rows);
  }

  asio::awaitable<sql::Batch> read_nulls() {
    CommandBatch batch;
    batch.add(null_rows_.form->scan, null_rows_.key, null_cursor_, "COUNT", context_.limits.chunk_rows);
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    auto parts = replies->array(0);
    if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SSCAN");
    null_cursor_ = std::string(parts[0].text);
    nulls_done_ = null_cursor_ == "0";
    std::vector<std::string> members;
    const std::span<const Reply> elements = parts[1].children();
    for (std::size_t index = 0; index < elements.size(); index += null_rows_.form == &sql::kZsetForm ? 2 : 1) {
      const Reply& member = elements[index];
      if (!seen_nulls_.emplace(member.text).second) continue;
      if (skipped_nulls_ > 0) --skipped_nulls_;
      else members.emplace_back(member.text);
    }
    if (members.empty()) co_return sql::Batch{};
    co_return co_await fetch(std::move(members));
  }

  const planner::OrderedScan& scan_;
  bool started_ = false;
  std::optional<ZsetWalk> walk_;
  OperatorPtr otherwise_;  // where scores do not order the rows
  std::size_t rows_ = 0;   // that were read
  std::size_t remaining_ = SIZE_MAX;
  std::optional<sql::Batch> first_chunk_;  // where NULL rows may come before it
  bool first_chunk_given_ = false;
  NullRows null_rows_;
  std::string null_cursor_ = "0";
  bool nulls_done_ = false;
  std::optional<ZsetWalk::Options> walk_options_;  // until the offset has its place
  bool places_offset_ = false;
  std::size_t skipped_nulls_ = 0;  // rows of the NULL set that the offset leaves out
  std::unordered_set<std::string> seen_nulls_;
};

/// The whole table along its all-rows zset.
class FullScanOperator final : public SourceOperator {
 public:
  FullScanOperator(const planner::PhysicalNode& node, const planner::FullScan& scan, ExecutionContext& context)
      : SourceOperator(node, scan.read, context), scan_(scan) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!walk_) start();
    while (remaining_ > 0 && !walk_->at_end()) {
      sql::Batch batch;
      if (condition_first_) {
        batch = co_await read_by_condition();
      } else {
        co_await walk_->read_chunk();
        const std::size_t rows = reader_.rows();
        batch = take();
        if (may_begin_with_condition_ && rows > 0) consider(rows, batch.rows);
      }
      if (batch.rows == 0) continue;
      if (batch.rows > remaining_) {
        std::vector<std::uint32_t> rows(remaining_);
        for (std::size_t i = 0; i < remaining_; ++i) rows[i] = static_cast<std::uint32_t>(i);
        batch = batch.gather(rows);
      }
      if (scan_.goal.exact && limited_) remaining_ -= batch.rows;
      co_return batch;
    }
    co_return std::nullopt;
  }

 private:
  void start() {
    RowCounts counts = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation());
    ZsetWalk::Options options;
    options.by_score = scores_order_rows();
    options.source = {reader_.keys().all_rows(), options.by_score ? Encoding::kScore : Encoding::kRowKey, true};
    options.range.low = options.by_score ? "-inf" : "-";
    options.range.high = options.by_score ? "+inf" : "+";
    options.range.descending = scan_.descending;
    options.whole = scan_.key_start.empty();
    if (!options.whole) {
      const sql::TableDef& table = reader_.table();
      const std::span<const std::int16_t> columns = std::span(table.primary_key).first(scan_.key_start.size());
      const auto values = evaluate_key(table, columns, scan_.key_start, context_.evaluation());
      if (!values) {
        remaining_ = 0;
        return;
      }
      const std::string start = reader_.keys().member_prefix(*values);
      options.range.low = "[" + start;
      options.range.high = end_of_start(start);
    }
    options.index_only = scan_.index_only;
    options.atomic_if_small = options.whole && !counts.limit;
    may_begin_with_condition_ = scan_.read.condition && !sql::is_volatile(*scan_.read.condition) && !scan_.index_only && !scan_.goal;
    if (scan_.goal.exact) {
      options.offset = counts.offset;
      limited_ = counts.limit.has_value();
      if (limited_) remaining_ = options.wanted.emplace(*counts.limit);
    } else if (auto wanted = counts.wanted()) {
      options.wanted = *wanted;
    }
    walk_.emplace(std::move(options), reader_, context_, counters());
  }

  /// Decides whether to read the condition's columns of each row first: `found` of `rows` satisfied it.
  void consider(std::size_t rows, std::size_t found) {
    if (walk_->at_end()) return;
    if (!condition_) condition_ = std::make_unique<ConditionReader>(scan_.read, context_.changes(scan_.read.table->oid));
    const bool is_cheaper = condition_->is_cheaper(reader_, static_cast<double>(found) / static_cast<double>(rows));
    if (is_cheaper == condition_first_) return;
    if (condition_first_) may_begin_with_condition_ = false;  // no to and fro
    condition_first_ = is_cheaper;
    ZsetWalk walk(*walk_, is_cheaper ? condition_->rows() : reader_);
    walk_.emplace(std::move(walk));
  }

  asio::awaitable<sql::Batch> read_by_condition() {
    co_await walk_->read_chunk();
    const std::size_t rows = condition_->rows().rows();
    std::vector<std::string> members = condition_->take_members(context_.evaluation());
    if (rows > 0) consider(rows, members.size());
    if (members.empty()) co_return sql::Batch{};
    co_return co_await fetch(std::move(members));
  }

  bool scores_order_rows() const {
    const sql::TableDef& table = reader_.table();
    if (table.has_hidden_key()) return true;
    if (table.primary_key.size() != 1) return false;
    sql::Oid type = table.find_column(table.primary_key[0])->type.oid;
    return type == sql::oid::kInt2 || type == sql::oid::kInt4 || type == sql::oid::kInt8;
  }

  const planner::FullScan& scan_;
  std::optional<ZsetWalk> walk_;
  std::size_t remaining_ = SIZE_MAX;
  bool limited_ = false;
  bool may_begin_with_condition_ = false, condition_first_ = false;
  std::unique_ptr<ConditionReader> condition_;  // once it has been thought of
};

}  // namespace

OperatorPtr make_ordered_scan(const planner::PhysicalNode& node, const planner::OrderedScan& scan, ExecutionContext& context) {
  return std::make_unique<OrderedScanOperator>(node, scan, context);
}

OperatorPtr make_full_scan(const planner::PhysicalNode& node, const planner::FullScan& scan, ExecutionContext& context) {
  return std::make_unique<FullScanOperator>(node, scan, context);
}

}  // namespace redquel::executor
