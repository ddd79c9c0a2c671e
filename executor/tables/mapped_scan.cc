#include "executor/tables/mapped_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "executor/tables/key_values.h"
#include "executor/tables/mapped_reader.h"
#include "executor/tables/mapped_structures.h"
#include "executor/tables/mapped_targets.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/compare.h"

namespace redquel::executor {

namespace {

using Path = planner::MappedScan::Path;

class MappedScanOperator final : public Operator {
 public:
  MappedScanOperator(const planner::PhysicalNode& node, const planner::MappedScan& scan, ExecutionContext& context)
      : context_(context), scan_(scan), reader_(scan.read, context), counters_(node, context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!is_started_) co_await start();
    is_started_ = true;
    while (true) {
      if (!ordered_.empty()) {
        sql::Batch batch = std::move(ordered_.front());
        ordered_.pop_front();
        co_return batch;
      }
      if (reader_.is_idle()) {
        const bool has_more = co_await find_more();
        if (!has_more) co_return std::nullopt;
      }
      while (!reader_.is_idle() && reader_.rows() < context_.limits.chunk_rows) co_await reader_.step(counters_.get());
      sql::Batch batch = reader_.take();
      if (batch.rows > 0) co_return batch;
    }
  }

 private:
  asio::awaitable<void> start() {
    keys_ = fixed_keys(scan_.fixed, reader_.table(), context_.evaluation());
    if (scan_.path == Path::kOrder) {
      is_over_ = co_await read_in_order();
      if (is_over_) co_return;
      ordered_.clear();
    }
    if (scan_.path == Path::kScan || scan_.path == Path::kOrder) begin_keyspace_scan();
  }

  /// More targets for the reader; false: there are none.
  asio::awaitable<bool> find_more() {
    if (is_over_) co_return false;
    if (scan_.path == Path::kScan || scan_.path == Path::kOrder) co_return co_await scan_keyspace();
    is_over_ = true;
    if (scan_.path == Path::kKeys) {
      for (MappedKey& key : keys_) reader_.add({std::move(key)});
      co_return true;
    }
    std::vector<std::string> members;
    if (scan_.path == Path::kLookup) {
      members = co_await look_up_members(scan_, reader_, context_, counters_.get());
    } else {
      members = co_await set_members(scan_, reader_, context_, counters_.get());
    }
    if (reader_.mapping().layout == sql::Mapping::Layout::kSet) {
      for (const std::string& member : members) reader_.add_member_row(keys_.empty() ? MappedKey() : keys_.front(), member);
      co_return reader_.rows() > 0;
    }
    for (const std::string& member : members) add_member(member);
    co_return true;
  }

  void add_member(const std::string& member) {
    if (auto slot = reader_.slot_of_member(member)) reader_.add({*std::move(slot)});
  }

  void begin_keyspace_scan() {
    const sql::EvaluationContext& evaluation = context_.evaluation();
    const std::string* allowed = evaluation.show ? evaluation.show(evaluation.session, "redquel.allow_keyspace_scan") : nullptr;
    const std::string& name = reader_.table().name;
    if (allowed != nullptr && *allowed == "off") {
      throw sql::SqlError("55000", fmt::format("foreign table \"{}\" can only be read by a scan of the keyspace, which redquel.allow_keyspace_scan forbids", name))
          .hint("Name the key's slots in WHERE, or declare the structure that has them with CREATE INDEX.");
    }
    if (context_.notice) {
      context_.notice(sql::SqlError("00000", fmt::format("the keyspace is scanned for foreign table \"{}\"", name))
                          .hint("Name the key's slots in WHERE, or declare the structure that has them with CREATE INDEX."));
    }
    MappedKey only;
    for (const auto& fixed : scan_.fixed) {
      if (fixed.values.size() == 1 && keys_.size() == 1) only[fixed.column] = keys_[0].at(fixed.column);
    }
    if (keys_.empty()) is_over_ = true;  // a slot is to be NULL
    pattern_ = reader_.mapping().key.pattern([&](std::int16_t column) -> std::optional<std::string> {
      return column > 0 ? reader_.text_of(only, column) : std::nullopt;
    });
  }

  asio::awaitable<bool> scan_keyspace() {
    CommandBatch batch;
    batch.add("SCAN", cursor_, "MATCH", pattern_, "COUNT", context_.limits.chunk_rows, "TYPE", sql::redis_type(reader_.mapping().layout));
    RepliesPtr replies = co_await context_.ask_bulk(std::move(batch), false, counters_.get());
    const auto parts = replies->array(0);
    if (parts.size() != 2) throw sql::SqlError("XX000", "unexpected reply of SCAN");
    cursor_ = std::string(parts[0].text);
    is_over_ = cursor_ == "0";
    const bool has_fields = reader_.mapping().layout == sql::Mapping::Layout::kStrings;
    for (const Reply& key : parts[1].children()) {
      auto slots = reader_.slots_of(key.text);
      if (!slots) continue;
      std::string name(key.text);
      if (has_fields) name = reader_.key_of(*slots, "").value_or(name);
      if (seen_.insert(std::move(name)).second) reader_.add({*std::move(slots)});
    }
    co_return true;
  }

  /// Rows by a zset or list until there are as many as wanted; false: it does not hold them, or not in order.
  asio::awaitable<bool> read_in_order() {
    const auto wanted = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation()).wanted();
    if (!wanted) co_return false;
    StructureWalk walk(scan_, reader_, context_);
    const auto& numbers = scan_.read.numbers;
    const auto position = static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), walk.column()) - numbers.begin());
    if (position == numbers.size()) co_return false;
    const sql::Type type = reader_.table().find_column(walk.column())->type;
    std::vector<sql::Datum> values;  // what orders the rows so far
    const auto in_order = [&](const sql::Datum& first, const sql::Datum& second) {
      const int order = sql::compare(type, first, second);
      return scan_.descending ? order >= 0 : order <= 0;
    };
    // Rows that are equal to the last wanted one are candidates, too: other sort keys decide.
    const auto is_complete = [&] {
      return values.size() >= *wanted && (*wanted == 0 || (values.size() > *wanted && sql::compare(type, values.back(), values[*wanted - 1]) != 0));
    };
    while (!is_complete()) {
      const std::vector<std::string> members = co_await walk.next(*wanted, counters_.get());
      if (members.empty()) break;
      sql::Batch batch = co_await read_members(members);
      const sql::Column& column = *batch.columns[position];
      for (std::size_t row = 0; row < batch.rows; ++row) {
        if (column.is_null(row) || (!values.empty() && !in_order(values.back(), column.datum(row)))) co_return false;
        values.push_back(column.datum(row));
      }
      if (batch.rows > 0) ordered_.push_back(std::move(batch));
    }
    co_return values.size() >= *wanted;
  }

  /// The rows of members, in their order.
  asio::awaitable<sql::Batch> read_members(const std::vector<std::string>& members) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (auto slot = reader_.slot_of_member(members[i])) reader_.add({*std::move(slot), i});
    }
    while (!reader_.is_idle()) co_await reader_.step(counters_.get());
    std::vector<std::size_t> tags;
    sql::Batch batch = reader_.take_all(tags);
    std::vector<std::uint32_t> order(batch.rows);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return tags[a] < tags[b]; });
    batch = batch.gather(order);
    if (scan_.read.condition && batch.rows > 0) batch = batch.gather(sql::select_rows(*scan_.read.condition, batch, context_.evaluation()));
    co_return batch;
  }

  ExecutionContext& context_;
  const planner::MappedScan& scan_;
  MappedReader reader_;
  NodeCounters counters_;
  std::vector<MappedKey> keys_;
  std::deque<sql::Batch> ordered_;
  std::string pattern_, cursor_ = "0";
  std::unordered_set<std::string> seen_;  // SCAN may give a key twice, and the strings of a row are several
  bool is_started_ = false, is_over_ = false;
};

}  // namespace

OperatorPtr make_mapped_scan(const planner::PhysicalNode& node, const planner::MappedScan& scan, ExecutionContext& context) {
  return std::make_unique<MappedScanOperator>(node, scan, context);
}

}  // namespace redquel::executor
