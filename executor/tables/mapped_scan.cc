#include "executor/tables/mapped_scan.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "executor/tables/key_values.h"
#include "executor/tables/keyspace_walk.h"
#include "executor/tables/mapped_reader.h"
#include "executor/tables/mapped_structures.h"
#include "executor/tables/mapped_targets.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/compare.h"

namespace redquel::executor {

namespace {

using Path = planner::MappedScan::Path;

class MappedScanOperator final : public Operator {
 public:
  MappedScanOperator(const planner::PhysicalNode& node, const planner::MappedScan& scan, ExecutionContext& context)
      : context_(context), scan_(scan), reader_(scan.read, context), counters_(node, context), wanted_rows_(context.limits.chunk_rows) {}

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
      while (!reader_.is_idle() && reader_.rows() < wanted_rows_) co_await reader_.step(counters_.get());
      counters_.add_rows(reader_.rows());
      sql::Batch batch = reader_.take();
      if (batch.rows > 0) co_return batch;
    }
  }

 private:
  asio::awaitable<void> start() {
    keys_ = fixed_keys(scan_.fixed, reader_.table(), context_.evaluation());
    if (auto ranges = entry_ranges(scan_, context_.evaluation())) reader_.bound_entries(*std::move(ranges));
    if (!scan_.member.empty()) {
      member_ = sql::KeyTemplate::parse_stored(scan_.member);
      beside_ = keys_beside_member();
    }
    if (has_positions()) co_return;
    if (reads_declared_structure() && sql::has_unkept_structure(reader_.table())) {
      std::vector<MappedKey> rows = co_await unkept_rows(reader_.table(), context_, counters_.get());
      for (MappedKey& key : rows) unkept_.emplace(identity_of(key), std::move(key));
    }
    if (scan_.path == Path::kRange || (scan_.path == Path::kScores && !scan_.wants_order)) walk_structure_.emplace(scan_, reader_, context_);
    if (scan_.goal.exact) {
      co_await read_by_rank();
      is_over_ = true;
      co_return;
    }
    if (scan_.path == Path::kOrder || scan_.wants_order) {
      is_over_ = co_await read_in_order();
      if (is_over_) co_return;
      ordered_.clear();
      if (scan_.path == Path::kScores) walk_structure_.emplace(scan_, reader_, context_);
    }
    if (scan_.path == Path::kScan || scan_.path == Path::kOrder) begin_keyspace_scan();
    if (scan_.read.condition || (scan_.path != Path::kKeys && scan_.path != Path::kScan)) co_return;
    if (const auto wanted = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation()).wanted()) {
      wanted_rows_ = std::clamp<std::uint64_t>(*wanted, 1, wanted_rows_);
      reader_.expect_rows(*wanted);
    }
  }

  /// Returns true if elements of lists are wanted by their positions.
  bool has_positions() const { return scan_.path == Path::kScores && reader_.mapping().layout == sql::Mapping::Layout::kList; }

  /// The position that a bound names, moved by `step` where the bound is exclusive; nullopt: NULL.
  std::optional<std::int64_t> position_of(const planner::RangeBound& bound, std::int64_t step) const {
    const auto value = to_column_value(sql::kInt8, bound.value->type, sql::evaluate_scalar(*bound.value, context_.evaluation()));
    if (!value) return std::nullopt;
    constexpr std::int64_t kMost = ListRange::kEnd - 1;
    const std::int64_t position = std::clamp(std::get<std::int64_t>(*value), -kMost, kMost);
    return bound.inclusive ? position : position + step;
  }

  /// Returns the elements of a list that the scan reads; nullopt: none.
  std::optional<ListRange> list_range() const {
    ListRange range;
    if (scan_.lower) {
      const auto lower = position_of(*scan_.lower, 1);
      if (!lower) return std::nullopt;
      range.first = static_cast<std::uint64_t>(std::max<std::int64_t>(*lower, 0));
    }
    if (scan_.upper) {
      const auto upper = position_of(*scan_.upper, -1);
      if (!upper || *upper < 0) return std::nullopt;
      range.last = static_cast<std::uint64_t>(*upper);
    }
    const auto wanted = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation()).wanted();
    if (wanted == 0U || range.first > range.last) return std::nullopt;
    if (!wanted || *wanted > context_.limits.chunk_rows) return range;
    if (!scan_.descending) range.last = std::min(range.last, range.first + *wanted - 1);
    else if (!scan_.upper) range.from_end = *wanted;
    return range;
  }

  /// The positions that an IN names. No element has a NULL or negative one.
  std::set<std::uint64_t> list_positions() const {
    std::set<std::uint64_t> positions;
    for (const sql::ExpressionPtr& value : scan_.lookups.front()) {
      const auto position = position_of(planner::RangeBound{value, true}, 0);
      if (position && *position >= 0) positions.insert(static_cast<std::uint64_t>(*position));
    }
    return positions;
  }

  /// Reads the rows whose column is NULL: their keys are missing in the zset. False: a row is missing that is not NULL there, or too
  /// many rows are NULL to be kept.
  asio::awaitable<bool> read_missing(const StructureWalk& walk, std::size_t position) {
    constexpr std::uint64_t kMostRows = 10'000;
    begin_keyspace_scan();
    while (!is_over_ && !walk_->is_over()) {
      std::vector<MappedKey> keys = co_await walk_->next(reader_, counters_.get());
      std::vector<std::string> members;
      for (const MappedKey& key : keys) {
        members.push_back(member_->render([&](std::int16_t column) { return reader_.text_of(key, column); }).value_or(""));
      }
      const std::vector<bool> found = co_await walk.holds(members, counters_.get());
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if (!found[i]) reader_.add({std::move(keys[i])});
      }
      while (!reader_.is_idle()) co_await reader_.step(counters_.get());
      sql::Batch batch = reader_.take();
      for (std::size_t row = 0; row < batch.rows; ++row) {
        if (!batch.columns[position]->is_null(row)) co_return false;
      }
      missing_rows_ += batch.rows;
      if (missing_rows_ > kMostRows) co_return false;
      if (batch.rows > 0) ordered_.push_back(std::move(batch));
    }
    walk_.reset();
    co_return true;
  }

  /// The set of all ids of a model of Ohm is no declared structure: redquel keeps it.
  bool reads_declared_structure() const {
    const bool is_of_all = scan_.path == Path::kSets && scan_.sets->operands.empty() && scan_.sets->columns.empty();
    return member_ && !is_of_all;
  }

  std::string identity_of(const MappedKey& key) const {
    std::string identity;
    for (const auto& [column, value] : key) {
      const std::string text = reader_.text_of(key, column).value_or("");
      identity += std::to_string(text.size()) + ":" + text;
    }
    return identity;
  }

  /// More targets for the reader; false: there are none.
  asio::awaitable<bool> find_more() {
    if (is_over_) co_return add_unkept();
    if (walk_) {
      co_await walk_->step(reader_, counters_.get());
      is_over_ = walk_->is_over();
      co_return true;
    }
    if (walk_structure_) {
      const std::vector<StructureWalk::Element> elements = co_await walk_structure_->next(context_.limits.chunk_rows, counters_.get());
      is_over_ = elements.empty();
      for (const StructureWalk::Element& element : elements) add_element(element, 0);
      co_return !is_over_ || add_unkept();
    }
    is_over_ = true;
    if (has_positions()) {
      if (!scan_.lookups.empty()) {
        const std::set<std::uint64_t> positions = list_positions();
        for (const MappedKey& key : keys_) {
          for (const std::uint64_t position : positions) reader_.add({key, 0, ListRange{position, position}});
        }
        co_return !reader_.is_idle();
      }
      const std::optional<ListRange> range = list_range();
      for (MappedKey& key : keys_) {
        if (range) reader_.add({std::move(key), 0, *range});
      }
      co_return range.has_value();
    }
    if (scan_.path == Path::kKeys) {
      for (MappedKey& key : keys_) reader_.add({std::move(key)});
      co_return true;
    }
    if (scan_.path == Path::kLookup) {
      const std::vector<StructureMember> found = co_await look_up_members(scan_, reader_, context_, counters_.get());
      for (const StructureMember& member : found) add_member(member.text, member.beside, 0);
      co_return true;
    }
    const std::vector<std::string> members = co_await set_members(scan_, reader_, context_, counters_.get());
    if (!member_) {
      for (const std::string& member : members) reader_.add_member_row(keys_.empty() ? MappedKey() : keys_.front(), member);
      co_return reader_.rows() > 0;
    }
    for (const std::string& member : members) {
      for (const MappedKey& beside : beside_) add_member(member, beside, 0);
    }
    co_return true;
  }

  /// Adds the rows that structures may lack, at the end; false: there are none. A scan of the keyspace lacks none.
  bool add_unkept() {
    if (walk_ || unkept_.empty()) return false;
    for (const auto& [identity, key] : unkept_) reader_.add({key});
    unkept_.clear();
    return true;
  }

  /// A row by what stands in a structure for it, and what the structure's key says.
  void add_member(std::string_view member, const MappedKey& beside, std::size_t tag) {
    auto values = reader_.key_of_member(*member_, member);
    if (!values) return;
    values->insert(beside.begin(), beside.end());
    if (!unkept_.empty() && unkept_.contains(identity_of(*values))) return;  // added at the end
    reader_.add({*std::move(values), tag});
  }

  void add_element(const StructureWalk::Element& element, std::size_t tag) {
    if (member_) {
      for (const MappedKey& beside : beside_) add_member(element.member, beside, tag);
    } else if (!keys_.empty()) {
      reader_.add_scored_row(keys_.front(), element.member, element.score);
    }
  }

  /// Returns the values of the identity columns that members do not have.
  std::vector<MappedKey> keys_beside_member() const {
    std::vector<planner::MappedScan::Fixed> fixed;
    for (const planner::MappedScan::Fixed& column : scan_.fixed) {
      if (reader_.table().in_primary_key(column.column) && !member_->has_slot(column.column)) fixed.push_back(column);
    }
    return fixed_keys(fixed, reader_.table(), context_.evaluation());
  }

  void begin_keyspace_scan() {
    MappedKey only;
    for (const auto& fixed : scan_.fixed) {
      if (fixed.values.size() == 1 && keys_.size() == 1) only[fixed.column] = keys_[0].at(fixed.column);
    }
    if (keys_.empty()) is_over_ = true;  // a slot is to be NULL
    walk_.emplace(reader_, context_, only);
  }

  /// Reads the rows of a zset from the offset's rank on.
  asio::awaitable<void> read_by_rank() {
    const RowCounts counts = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation());
    StructureWalk walk(scan_, reader_, context_, counts.offset);
    std::uint64_t left = counts.limit.value_or(0);
    while (left > 0) {
      std::vector<StructureWalk::Element> elements = co_await walk.next(left, counters_.get());
      if (elements.empty()) co_return;
      if (elements.size() > left) elements.resize(left);
      sql::Batch batch = co_await read_elements(elements);
      left -= elements.size();
      if (batch.rows > 0) ordered_.push_back(std::move(batch));
    }
  }

  /// Rows by a zset or list until there are as many as wanted; false: it does not hold them, or not in order.
  asio::awaitable<bool> read_in_order() {
    const auto wanted = evaluate_goal(scan_.goal.limit, scan_.goal.offset, context_.evaluation()).wanted();
    if (!wanted || !unkept_.empty()) co_return false;
    StructureWalk walk(scan_, reader_, context_);
    const auto& numbers = scan_.read.numbers;
    const auto position = static_cast<std::size_t>(std::find(numbers.begin(), numbers.end(), scan_.ordered_by) - numbers.begin());
    if (position == numbers.size()) co_return false;
    const sql::Type type = reader_.table().find_column(scan_.ordered_by)->type;
    if (scan_.path == Path::kOrder && scan_.wants_order) {
      const bool are_null = co_await read_missing(walk, position);
      if (!are_null) co_return false;
      if (missing_rows_ >= *wanted) co_return true;
    }
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
      const std::vector<StructureWalk::Element> elements = co_await walk.next(*wanted, counters_.get());
      if (elements.empty()) break;
      sql::Batch batch = co_await read_elements(elements);
      const sql::Column& column = *batch.columns[position];
      for (std::size_t row = 0; row < batch.rows; ++row) {
        if (column.is_null(row) || (!values.empty() && !in_order(values.back(), column.datum(row)))) co_return false;
        values.push_back(column.datum(row));
      }
      if (batch.rows > 0) ordered_.push_back(std::move(batch));
    }
    // Between bounds there may be fewer; the rows' own zset has all of them.
    co_return values.size() >= *wanted || walk.has_bounds() || !member_ || scan_.wants_order;
  }

  /// The rows of elements, in their order.
  asio::awaitable<sql::Batch> read_elements(const std::vector<StructureWalk::Element>& elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) add_element(elements[i], i);
    while (!reader_.is_idle()) co_await reader_.step(counters_.get());
    std::vector<std::size_t> tags;
    sql::Batch batch = reader_.take_all(tags);
    counters_.add_rows(batch.rows);
    std::vector<std::uint32_t> order(batch.rows);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return tags[a] < tags[b]; });
    batch = batch.gather(order);
    if (scan_.read.condition && batch.rows > 0) batch = batch.gather(sql::select_rows(*scan_.read.condition, batch, context_.evaluation()));
    co_return batch;
  }

  ExecutionContext& context_;
  const planner::MappedScan& scan_;
  MappedReader reader_;
  NodeCounters counters_;
  std::vector<MappedKey> keys_;
  std::optional<sql::KeyTemplate> member_;  // of declared structures
  std::vector<MappedKey> beside_;
  std::optional<StructureWalk> walk_structure_;
  std::deque<sql::Batch> ordered_;
  std::map<std::string, MappedKey> unkept_;  // rows that declared structures may lack, by identity
  std::optional<KeyspaceWalk> walk_;
  std::uint64_t wanted_rows_;  // of one batch
  std::uint64_t missing_rows_ = 0;  // in `ordered_`, that the structure lacks
  bool is_started_ = false, is_over_ = false;
};

}  // namespace

OperatorPtr make_mapped_scan(const planner::PhysicalNode& node, const planner::MappedScan& scan, ExecutionContext& context) {
  return std::make_unique<MappedScanOperator>(node, scan, context);
}

}  // namespace redquel::executor
