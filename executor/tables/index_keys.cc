#include <algorithm>

#include "executor/scripts/scripts.h"
#include "executor/tables/index_answer.h"
#include "executor/tables/index_answers.h"
#include "executor/tables/member_columns.h"
#include "executor/tables/set_program.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

using Kind = planner::SetExpression::Kind;

/// So many sets at most are combined by one command.
constexpr std::size_t kMostOperands = 8;

/// Key columns of the members of sets, and their scores in zsets.
class IndexKeysOperator final : public IndexAnswer {
 public:
  IndexKeysOperator(const planner::PhysicalNode& node, const planner::IndexKeys& keys, ExecutionContext& context)
      : IndexAnswer(node, keys.fallback, context), keys_(keys), names_(*keys.table), columns_(keys) {}

 private:
  asio::awaitable<std::optional<sql::Batch>> answer() override {
    context_.note_read(*keys_.table);
    if (removes_null(keys_.sets, context_.evaluation())) co_return std::nullopt;
    const std::optional<EvaluatedSets> sets = evaluate_sets(keys_.sets, *keys_.table, context_.evaluation(), !keys_.by_parts);
    if (!sets) co_return sql::Batch{};
    if (sets->is_leaf() && sets->kind != Kind::kRange && columns_.zsets().empty()) co_return co_await read_set(*sets);
    const bool is_one = is_one_command(*sets);
    if (is_one && context_.is_known_cheap(&keys_)) co_return co_await combine(*sets);
    SetProgram program = to_program(*sets);
    if (keys_.numbers.empty()) co_return co_await count(program, is_one);
    CommandBatch batch;
    program.scores = columns_.zsets();
    append_members_of_sets(batch, program, context_.limits.set_members);
    const RepliesPtr replies = co_await run_script(std::move(batch), is_one);
    const std::optional<MembersOfSets> found = decode_members_of_sets((*replies)[0], columns_.zsets().size());
    if (!found) co_return std::nullopt;
    for (const Reply& scores : found->scores) {
      // A row without a score is not as the index says.
      if (!std::ranges::all_of(scores.children(), &Reply::is_text)) co_return std::nullopt;
    }
    co_return columns_.decode(found->members, 1, found->scores, replies, {});
  }

  /// Returns true if Redis has one command for the algebra: sets whose members are combined as they are.
  bool is_one_command(const EvaluatedSets& sets) const {
    const bool is_small = sets.operands.size() > 1 && sets.operands.size() <= kMostOperands && columns_.zsets().empty();
    const auto is_set = [](const EvaluatedSets& operand) { return operand.is_leaf() && operand.kind != Kind::kRange && !operand.ends.any(); };
    return is_small && std::ranges::all_of(sets.operands, is_set) && (!keys_.numbers.empty() || sets.kind == Kind::kIntersection);
  }

  /// SINTER, SUNION or SDIFF of the sets; SINTERCARD where only the number of rows matters.
  asio::awaitable<std::optional<sql::Batch>> combine(const EvaluatedSets& sets) {
    const bool counts = keys_.numbers.empty();
    CommandBatch batch;
    batch.begin((counts ? 2 : 1) + sets.operands.size());
    if (counts) batch.arg("SINTERCARD").arg(sets.operands.size());
    else batch.arg(sets.kind == Kind::kIntersection ? "SINTER" : sets.kind == Kind::kUnion ? "SUNION" : "SDIFF");
    for (const EvaluatedSets& operand : sets.operands) batch.arg(operand.key);
    const RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    if (!counts) co_return columns_.decode(replies->array(0), 1, {}, replies, {});
    sql::Batch rows;
    rows.rows = static_cast<std::size_t>(replies->integer(0));
    co_return rows;
  }

  /// Runs the script of the batch. If there is one command for the algebra, the size of the table says whether it will do the next time.
  asio::awaitable<RepliesPtr> run_script(CommandBatch batch, bool is_one_command) {
    if (is_one_command) batch.add("ZCARD", names_.all_rows());
    RepliesPtr replies = co_await context_.ask_script(kRowsOfSetsScript, std::move(batch), counters());
    if (is_one_command) remember_size(replies->integer(1));
    co_return replies;
  }

  /// No set of the table is larger than the table.
  void remember_size(std::int64_t rows) {
    if (rows <= static_cast<std::int64_t>(5 * context_.limits.set_members)) context_.remember_cheap(&keys_);
  }

  /// Gives rows without columns.
  asio::awaitable<std::optional<sql::Batch>> count(const SetProgram& program, bool is_one_command) {
    CommandBatch batch;
    append_count_of_sets(batch, program, context_.limits.set_members);
    const RepliesPtr replies = co_await run_script(std::move(batch), is_one_command);
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
      co_return columns_.decode(replies->array(0), 1, {}, replies, set.ends);
    }
    batch.add("SSCAN", key, "0", "COUNT", context_.limits.set_members);
    batch.add("ZCARD", names_.all_rows());
    RepliesPtr replies = co_await context_.ask(std::move(batch), counters());
    remember_size(replies->integer(1));
    const auto parts = replies->array(0);
    if (parts.size() != 2) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of SSCAN");
    if (parts[0].text != "0") co_return std::nullopt;
    co_return columns_.decode(parts[1].children(), 1, {}, replies, set.ends);
  }

  const planner::IndexKeys& keys_;
  sql::TableKeys names_;
  MemberColumns columns_;
};

}  // namespace

OperatorPtr make_index_keys(const planner::PhysicalNode& node, const planner::IndexKeys& keys, ExecutionContext& context) {
  return std::make_unique<IndexKeysOperator>(node, keys, context);
}

}  // namespace redquel::executor
