#include "executor/tables/member_rows.h"

#include "executor/scripts/scripts.h"
#include "executor/storage/row_reader.h"
#include "executor/tables/lookup_pairs.h"
#include "executor/tables/member_columns.h"
#include "executor/tables/set_program.h"
#include "executor/tables/set_scripts.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

class MemberRows {
 public:
  MemberRows(const planner::LookupJoin& join, const planner::MemberLookup& members, std::size_t most_rows, ExecutionContext& context,
             ExecutionCounters* counters)
      : join_(join), members_(members), most_rows_(most_rows), context_(context), reader_(join.read), counters_(counters), scan_(*join.outer, context) {}

  asio::awaitable<std::optional<sql::Batch>> read() {
    const planner::IndexKeys& keys = *members_.keys;
    const std::optional<EvaluatedSets> set = evaluate_sets(keys.sets, *keys.table, context_.evaluation());
    if (!set) co_return sql::Batch{};
    note_reads();
    RepliesPtr replies;
    std::span<const Reply> flat;
    if (context_.is_known_cheap(&join_)) {
      replies = co_await sort(set->key);
      flat = (*replies)[0].children();
      const bool has_all = (*replies)[0].is_array() && flat.size() <= most_rows_ * width();
      if (!has_all) {
        context_.cheapness->erase(&join_);
        co_return std::nullopt;
      }
    } else {
      replies = co_await run_script(set->key);
      const std::optional<std::span<const Reply>> found = rows_of((*replies)[0]);
      if (!found) co_return std::nullopt;
      flat = *found;
    }
    co_return joined(flat, set->ends, replies);
  }

 private:
  /// Replies of a row: its member and its fields.
  std::size_t width() const { return 1 + reader_.fields().size(); }

  /// One command reads both tables.
  void note_reads() {
    context_.note_read(*members_.keys->table);
    if (context_.needs_snapshot_check()) context_.note_turns(reader_.table());
  }

  /// The reply is an error if the login has no right to SORT … GET.
  asio::awaitable<RepliesPtr> sort(const std::string& key) {
    CommandBatch batch;
    batch.begin(7 + reader_.sort_get_words()).arg("SORT_RO").arg(key).arg("BY").arg("nosort").arg("LIMIT").arg(0).arg(most_rows_ + 1);
    reader_.append_sort_get(batch);
    return context_.ask_unchecked(std::move(batch), false, counters_);
  }

  asio::awaitable<RepliesPtr> run_script(const std::string& key) {
    CommandBatch batch;
    append_rows_of_sets(batch, {{key}, {"s"}}, row_arguments(reader_), most_rows_, most_rows_);
    const sql::TableKeys keys(*members_.keys->table);
    batch.add("ZCARD", keys.all_rows());
    RepliesPtr replies = co_await context_.ask_script(kRowsOfSetsScript, std::move(batch), counters_);
    // A command that gives few rows of a set walks all of it, and no set is larger than its table.
    if (replies->integer(1) <= static_cast<std::int64_t>(5 * context_.limits.set_members)) context_.remember_cheap(&join_);
    co_return replies;
  }

  /// Returns the script's rows, flat; nullopt: it has not read them.
  std::optional<std::span<const Reply>> rows_of(const Reply& reply) const {
    const std::optional<RowsOfSets> found = decode_rows_of_sets(reply, reader_.fields().size());
    if (!found || !found->members.empty()) return std::nullopt;
    return found->rows.replies();
  }

  sql::Batch joined(std::span<const Reply> flat, const sql::MemberEnds& ends, const RepliesPtr& replies) {
    const std::size_t count = flat.size() / width();
    const sql::Batch outer = MemberColumns(*members_.keys).decode(flat, width(), {}, replies, ends);
    scan_.add_rows(count);
    std::vector<std::size_t> key_of_row;  // of each row that there is
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<const Reply> row = flat.subspan(i * width(), width());
      if (reader_.add(row[0].text, row.subspan(1))) key_of_row.push_back(i);
    }
    reader_.keep_alive(replies);
    sql::Batch inner = reader_.take_all();
    if (join_.read.condition && inner.rows > 0) leave_out_others(inner, key_of_row);
    if (join_.kind == planner::JoinKind::kInner && members_.answers_condition && inner.rows == count) {  // a row for each member
      sql::Batch pairs = outer;
      pairs.columns.insert(pairs.columns.end(), inner.columns.begin(), inner.columns.end());
      return pairs;
    }
    std::vector<std::optional<std::size_t>> key_of_member(count);
    for (std::size_t i = 0; i < count; ++i) key_of_member[i] = i;
    return pair_up(join_.kind, members_.answers_condition ? nullptr : join_.residual, {outer, inner, key_of_member, key_of_row, count}, context_.evaluation());
  }

  /// Leaves out rows that do not satisfy the table's own condition.
  void leave_out_others(sql::Batch& inner, std::vector<std::size_t>& key_of_row) const {
    const std::vector<std::uint32_t> selected = sql::select_rows(*join_.read.condition, inner, context_.evaluation());
    std::vector<std::size_t> keys;
    for (const std::uint32_t row : selected) keys.push_back(key_of_row[row]);
    key_of_row = std::move(keys);
    inner = inner.gather(selected);
  }

  const planner::LookupJoin& join_;
  const planner::MemberLookup& members_;
  std::size_t most_rows_;
  ExecutionContext& context_;
  RowReader reader_;
  ExecutionCounters* counters_;
  NodeCounters scan_;  // of the index
};

}  // namespace

asio::awaitable<std::optional<sql::Batch>> read_member_rows(const planner::LookupJoin& join, const planner::MemberLookup& members, std::size_t most_rows,
                                                            ExecutionContext& context, ExecutionCounters* counters) {
  MemberRows rows(join, members, most_rows, context, counters);
  co_return co_await rows.read();
}

}  // namespace redquel::executor
