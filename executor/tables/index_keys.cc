#include <algorithm>

#include "executor/scripts/scripts.h"
#include "executor/tables/index_answer.h"
#include "executor/tables/index_answers.h"
#include "executor/tables/set_program.h"
#include "planner/access/ordered_source.h"
#include "sql/catalog/key_segments.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Key columns of the members of sets, and their scores in zsets.
class IndexKeysOperator final : public IndexAnswer {
 public:
  IndexKeysOperator(const planner::PhysicalNode& node, const planner::IndexKeys& keys, ExecutionContext& context)
      : IndexAnswer(node, keys.fallback, context), keys_(keys), names_(*keys.table) {
    if (keys.by_parts) {
      const planner::SetExpression* set = &keys.sets;
      while (!set->operands.empty()) set = &set->operands.front();
      omitted_ = sql::omitted_parts(*keys.table, set->columns);
    }
    const auto& key = keys.table->primary_key;
    for (const std::int16_t number : keys.numbers) {
      parts_.push_back(static_cast<std::size_t>(std::ranges::find(key, number) - key.begin()));
      if (parts_.back() < key.size()) continue;
      parts_.back() += scores_.size();
      scores_.push_back(planner::ordered_source(*keys.table, number)->key);
    }
  }

 private:
  asio::awaitable<std::optional<sql::Batch>> answer() override {
    context_.note_read(*keys_.table);
    if (removes_null(keys_.sets, context_.evaluation())) co_return std::nullopt;
    const std::optional<EvaluatedSets> sets = evaluate_sets(keys_.sets, *keys_.table, context_.evaluation(), !keys_.by_parts);
    if (!sets) co_return sql::Batch{};
    if (sets->is_leaf() && sets->kind != planner::SetExpression::Kind::kRange && scores_.empty()) co_return co_await read_set(*sets);
    SetProgram program = to_program(*sets);
    if (keys_.numbers.empty()) co_return co_await count(program);
    CommandBatch batch;
    program.scores = scores_;
    append_members_of_sets(batch, program, context_.limits.set_members);
    RepliesPtr replies = co_await context_.ask_script(kRowsOfSetsScript, std::move(batch), counters());
    const std::optional<MembersOfSets> found = decode_members_of_sets((*replies)[0], scores_.size());
    if (!found) co_return std::nullopt;
    for (const Reply& scores : found->scores) {
      // A row without a score is not as the index says.
      if (!std::ranges::all_of(scores.children(), &Reply::is_text)) co_return std::nullopt;
    }
    co_return decode(found->members, found->scores, replies);
  }

  /// Gives rows without columns.
  asio::awaitable<std::optional<sql::Batch>> count(const SetProgram& program) {
    CommandBatch batch;
    append_count_of_sets(batch, program, context_.limits.set_members);
    const RepliesPtr replies = co_await context_.ask_script(kRowsOfSetsScript, std::move(batch), counters());
    const std::optional<std::size_t> found = decode_count_of_sets((*replies)[0]);
    if (!found) co_return std::nullopt;
    sql::Batch rows;
    rows.rows = *found;
    co_return rows;
  }

  /// One set needs no script: a step of SSCAN that is long enough has all of it. SMEMBERS costs half of that, where no set of the
  /// table can be very large.
  asio::awaitable<std::optional<sql::Batch>> read_set(const EvaluatedSets& set) {
    const std::string& key = set.key;
    CommandBatch batch;
    if (context_.is_known_cheap(&keys_)) {
      batch.add("SMEMBERS", key);
      RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
      co_return decode(replies->array(0), {}, replies, set.ends);
    }
    batch.add("SSCAN", key, "0", "COUNT", context_.limits.set_members);
    batch.add("ZCARD", names_.all_rows());
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    if (replies->integer(1) <= static_cast<std::int64_t>(5 * context_.limits.set_members)) context_.remember_cheap(&keys_);
    const auto parts = replies->array(0);
    if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SSCAN");
    if (parts[0].text != "0") co_return std::nullopt;
    co_return decode(parts[1].children(), {}, replies, set.ends);
  }

  /// `ends`: of members that are short.
  sql::Batch decode(std::span<const Reply> members, std::span<const Reply> scores, const RepliesPtr& owner, const sql::MemberEnds& ends = {}) const {
    std::vector<std::shared_ptr<sql::Column>> columns;
    for (const std::int16_t number : keys_.numbers) {
      columns.push_back(std::make_shared<sql::Column>(sql::Column::encoded(keys_.table->find_column(number)->type)));
    }
    const std::size_t key_size = keys_.table->primary_key.size();
    std::vector<std::string_view> views;
    std::vector<std::string> fixed;
    // Parts of the key that short members leave out stand in the set's name.
    std::size_t first = omitted_.first, last = omitted_.last;
    if (ends.any() && !members.empty()) {
      fixed = names_.split_member(ends.whole(members[0].text));
      first = static_cast<std::size_t>(std::ranges::count(ends.head, ':'));
      last = static_cast<std::size_t>(std::ranges::count(ends.tail, ':'));
    }
    for (std::size_t row = 0; row < members.size(); ++row) {
      const std::string_view member = members[row].text;
      if (key_size > 1) split(member, views);
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (parts_[i] >= key_size) columns[i]->append_view(scores[parts_[i] - key_size].children()[row].text);
        else if (key_size == 1) columns[i]->append_view(member);
        else if (parts_[i] < first || parts_[i] + last >= key_size) columns[i]->append<std::string_view>(fixed[parts_[i]]);
        else append_part(views.at(parts_[i] - first), *columns[i]);
      }
    }
    for (const auto& column : columns) column->keep_alive(owner);
    sql::Batch batch;
    batch.rows = members.size();
    batch.columns.assign(columns.begin(), columns.end());
    return batch;
  }

  static void append_part(std::string_view segment, sql::Column& column) {
    if (segment.find('%') == std::string_view::npos) column.append_view(segment);
    else column.append<std::string_view>(sql::unescape_segment(segment));
  }

  static void split(std::string_view member, std::vector<std::string_view>& parts) {
    parts.clear();
    for (std::size_t end; (end = member.find(':')) != std::string_view::npos; member.remove_prefix(end + 1)) {
      parts.push_back(member.substr(0, end));
    }
    parts.push_back(member);
  }

  const planner::IndexKeys& keys_;
  sql::TableKeys names_;
  sql::OmittedParts omitted_;       // by members that are combined as they are
  std::vector<std::size_t> parts_;  // of the key, for each column; behind these places in
  std::vector<std::string> scores_;  // zsets
};

}  // namespace

OperatorPtr make_index_keys(const planner::PhysicalNode& node, const planner::IndexKeys& keys, ExecutionContext& context) {
  return std::make_unique<IndexKeysOperator>(node, keys, context);
}

}  // namespace redquel::executor
