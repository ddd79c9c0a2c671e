#include "server/transaction_block.h"

#include <gtest/gtest.h>

#include "parser/parse.h"

namespace redquel::server {
namespace {

using State = TransactionBlock::State;

TransactionBlock::Steps run(TransactionBlock& block, const std::string& text) {
  const auto parsed = parser::parse(text);
  block.admit(*parsed.at(0).statement);
  return block.run(std::get<parser::ast::Transaction>(parsed.at(0).statement->node));
}

std::string error(TransactionBlock& block, const std::string& text) {
  try {
    run(block, text);
    return "";
  } catch (const sql::SqlError& failure) {
    return failure.sqlstate();
  }
}

TEST(TransactionBlock, BeginAndCommit) {
  TransactionBlock block;
  auto steps = run(block, "BEGIN");
  EXPECT_TRUE(steps.begin && steps.begin_parameters);
  EXPECT_EQ(block.status(), TransactionStatus::kInBlock);
  steps = run(block, "START TRANSACTION");
  EXPECT_FALSE(steps.begin);
  EXPECT_EQ(steps.warning->sqlstate(), "25001");
  EXPECT_EQ(steps.tag, "START TRANSACTION");
  steps = run(block, "COMMIT");
  EXPECT_TRUE(steps.commit);
  EXPECT_EQ(block.status(), TransactionStatus::kIdle);
  steps = run(block, "END");
  EXPECT_FALSE(steps.commit);
  EXPECT_EQ(steps.warning->sqlstate(), "25P01");
}

TEST(TransactionBlock, FailedBlocksCanOnlyBeLeft) {
  TransactionBlock block;
  run(block, "BEGIN");
  EXPECT_EQ(block.fail(), TransactionBlock::Failure::kRollBack);
  EXPECT_EQ(block.fail(), TransactionBlock::Failure::kNothing);
  EXPECT_EQ(block.status(), TransactionStatus::kFailed);
  EXPECT_EQ(error(block, "BEGIN"), "25P02");
  EXPECT_EQ(error(block, "SAVEPOINT a"), "25P02");
  EXPECT_EQ(error(block, "RELEASE a"), "25P02");
  const auto steps = run(block, "COMMIT");
  EXPECT_TRUE(steps.roll_back && !steps.commit);
  EXPECT_EQ(steps.tag, "ROLLBACK");
}

TEST(TransactionBlock, Savepoints) {
  TransactionBlock block;
  EXPECT_EQ(error(block, "SAVEPOINT a"), "25P01");
  run(block, "BEGIN");
  run(block, "SAVEPOINT a");
  run(block, "SAVEPOINT b");
  run(block, "SAVEPOINT a");
  EXPECT_EQ(block.last_savepoint(), 2u);
  EXPECT_EQ(block.fail(), TransactionBlock::Failure::kRollBackToSavepoint);
  EXPECT_EQ(run(block, "ROLLBACK TO b").roll_back_to, 1u);
  EXPECT_EQ(block.state(), State::kOpen);
  EXPECT_EQ(error(block, "ROLLBACK TO c"), "3B001");
  EXPECT_EQ(run(block, "RELEASE a").release, 0u);
  EXPECT_EQ(error(block, "RELEASE b"), "3B001");
}

TEST(TransactionBlock, ImplicitTransactions) {
  TransactionBlock block;
  block.begin_implicit(State::kString);
  EXPECT_EQ(block.status(), TransactionStatus::kIdle);
  EXPECT_EQ(error(block, "SAVEPOINT a"), "25P01");
  EXPECT_EQ(error(block, "COMMIT AND CHAIN"), "25P01");
  auto steps = run(block, "BEGIN");
  EXPECT_FALSE(steps.begin);
  EXPECT_FALSE(steps.warning);
  EXPECT_EQ(block.state(), State::kOpen);
  run(block, "ROLLBACK");
  block.begin_implicit(State::kPipeline);
  steps = run(block, "COMMIT");
  EXPECT_TRUE(steps.commit && steps.warning);
  block.begin_implicit(State::kString);
  EXPECT_EQ(block.fail(), TransactionBlock::Failure::kRollBack);
  EXPECT_EQ(block.state(), State::kNone);
}

TEST(TransactionBlock, Chains) {
  TransactionBlock block;
  EXPECT_EQ(error(block, "ROLLBACK AND CHAIN"), "25P01");
  run(block, "BEGIN");
  const auto steps = run(block, "ROLLBACK AND CHAIN");
  EXPECT_TRUE(steps.roll_back && steps.chain);
  EXPECT_EQ(block.state(), State::kOpen);
}

}  // namespace
}  // namespace redquel::server
