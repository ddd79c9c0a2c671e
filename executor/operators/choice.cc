#include <utility>

#include "executor/operators/operators.h"
#include "executor/operators/replayed_source.h"
#include "executor/tables/key_values.h"

namespace redquel::executor {

namespace {

/// A walk that shall give more rows than this is not tried: they would all be kept until it is known to succeed.
constexpr std::uint64_t kMostKept = 10'000;
/// The cost of a row that is walked and looked up, in rows that the other plan reads. Rows that pass may lie at the end of the walk.
constexpr double kWalkedRow = 1.5, kBadLuck = 2;
/// The first window of a walk whose share of passing rows is known has some more rows than are expected to be needed.
constexpr double kMargin = 1.3;
constexpr std::size_t kSmallMargin = 6;

class ChoiceOperator final : public Operator {
 public:
  ChoiceOperator(const planner::Choice& plan, ExecutionContext& context) : plan_(plan), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (!run_) co_await choose();
    co_return co_await run_->next();
  }

 private:
  asio::awaitable<void> choose() {
    const auto wanted = evaluate_goal(plan_.goal.limit, plan_.goal.offset, context_.evaluation()).wanted();
    bool walks = wanted && *wanted <= kMostKept && !context_.is_known_cheap(&plan_.otherwise);
    if (walks && plan_.count && !context_.is_known_cheap(&plan_.walk)) walks = co_await is_worthwhile(static_cast<double>(*wanted));
    if (walks && co_await walk(*wanted)) {
      context_.remember_cheap(&plan_.walk);
      co_return;
    }
    if (wanted && *wanted <= kMostKept) context_.remember_cheap(&plan_.otherwise);
    run_ = context_.make_operator(*plan_.otherwise);
  }

  /// Compares the rows that are walked until enough have passed with those that the other plan reads.
  asio::awaitable<bool> is_worthwhile(double wanted) {
    const OperatorPtr count = context_.make_operator(*plan_.count);
    const std::optional<sql::Batch> answer = co_await count->next();
    const auto passing = static_cast<double>(answer->columns[0]->get<std::int64_t>(0));
    if (passing == 0) co_return false;
    const double walked = wanted * std::max(1.0, plan_.counted_rows / passing);
    expected_ = static_cast<std::size_t>(kMargin * walked) + kSmallMargin;
    co_return kWalkedRow * kBadLuck * walked <= passing * (1 + plan_.rows_for_each);
  }

  /// Reads the wanted rows. Returns false if the walk was given up.
  asio::awaitable<bool> walk(std::uint64_t wanted) {
    OperatorPtr walk = context_.make_operator(*plan_.walk);
    std::vector<sql::Batch> batches;
    bool is_given_up = false;
    /// This Choice decides, inside of others perhaps.
    struct Deciding {
      Deciding(ExecutionContext& c, ExecutionContext::WalkProgress progress) : context(c), outer(std::exchange(c.walk_progress, progress)) {
        ++context.bounded_walks;
      }
      ~Deciding() {
        --context.bounded_walks;
        context.walk_progress = outer;
      }
      ExecutionContext& context;
      ExecutionContext::WalkProgress outer;
    };
    std::uint64_t rows = 0;
    try {
      const Deciding deciding(context_, {wanted, 0, expected_});
      while (rows < wanted) {
        std::optional<sql::Batch> batch = co_await walk->next();
        if (!batch) {
          walk.reset();
          break;
        }
        rows += batch->rows;
        context_.walk_progress.passed = rows;
        batches.push_back(std::move(*batch));
      }
    } catch (const WalkGivenUp&) {
      is_given_up = true;
    }
    if (is_given_up || (plan_.is_cut && rows < wanted)) co_return false;
    run_ = std::make_unique<ReplayedSource>(std::move(batches), std::move(walk));
    co_return true;
  }

  const planner::Choice& plan_;
  ExecutionContext& context_;
  std::optional<std::size_t> expected_;  // rows to walk, by the count
  OperatorPtr run_;
};

}  // namespace

OperatorPtr make_choice(const planner::PhysicalNode&, const planner::Choice& plan, ExecutionContext& context) {
  return std::make_unique<ChoiceOperator>(plan, context);
}

}  // namespace redquel::executor
