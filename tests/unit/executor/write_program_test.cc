#include "executor/storage/write_program.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "executor/storage/prepared_record.h"

namespace redquel::executor {
namespace {

using Texts = std::vector<std::string_view>;

TEST(WriteProgramTest, StepsAreReadAsTheyWereWritten) {
  WriteProgram program;
  program.add(StepKind::kVersion, {"16384", "1"});
  program.add(StepKind::kRow, {"emp:1"}, Texts{"dept", "ename", "7", std::string_view("\0+", 2)});
  program.add(StepKind::kScoreAdd, {"emp:zset", "1", "1"});
  const std::vector<ProgramStep> steps = steps_of(program.words());
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[1].kind, StepKind::kRow);
  EXPECT_EQ(steps[1].words.size(), 5u);
  EXPECT_EQ(program_text(program.words()), "version 16384 1\nrow emp:1 dept ename 7 \\0+\nscore+ emp:zset 1 1\n");
}

TEST(WriteProgramTest, AStepHasItsWords) {
  WriteProgram program;
  EXPECT_THROW(program.add(StepKind::kVersion, {"16384"}), std::invalid_argument);
  EXPECT_THROW(program.add(StepKind::kDrop, {"emp:1"}, Texts{"emp:2"}), std::invalid_argument);
}

TEST(WriteProgramTest, GuardsComeBeforeEffects) {
  WriteProgram program;
  program.add(StepKind::kDrop, {"emp:1"});
  EXPECT_THROW(program.add(StepKind::kAbsent, {"emp:2"}), std::invalid_argument);
}

TEST(WriteProgramTest, OtherWordsAreNoProgram) {
  EXPECT_THROW(steps_of(Texts{"what"}), std::invalid_argument);
  EXPECT_THROW(steps_of(Texts{"drop"}), std::invalid_argument);
  EXPECT_THROW(steps_of(Texts{"free", "3", "key", "t"}), std::invalid_argument);
  EXPECT_THROW(steps_of(Texts{"free", "many", "key"}), std::invalid_argument);
  EXPECT_THROW(steps_of(Texts{"held", "1", "key"}), std::invalid_argument);
}

TEST(WriteProgramTest, ProgramsAreJoinedByTheirPhases) {
  WriteProgram other, program;
  other.add(StepKind::kCatalog, {"1"});
  other.add(StepKind::kDrop, {"text"});
  program.add(StepKind::kVersion, {"16384", "1"});
  program.append(other, StepInfo::Phase::kGuard);
  EXPECT_EQ(program.next_place(), 6u);
  EXPECT_TRUE(program.effects().empty());
  program.add(StepKind::kCount, {"changes"});
  program.append(other, StepInfo::Phase::kEffect);
  EXPECT_EQ(program_text(program.words()), "version 16384 1\ncatalog 1\ncount changes\ndrop text\n");
  EXPECT_EQ(program_text(program.effects()), "count changes\ndrop text\n");
  EXPECT_THROW(program.append(other, StepInfo::Phase::kGuard), std::invalid_argument);
}

TEST(WriteProgramTest, EffectsAreRecordedAsTheirWords) {
  EXPECT_EQ(packed_words({}), "\x90");
  EXPECT_EQ(packed_words(Texts{"count", "changes"}), "\x92\xa5" "count\xa7" "changes");
  const std::string longer(40, 'x');
  EXPECT_EQ(packed_words(Texts{longer}), "\x91\xd9\x28" + longer);
  EXPECT_TRUE(packed_words(std::vector<std::string_view>(70'000, "a")).starts_with(std::string("\xdd\x00\x01\x11\x70\xa1" "a", 7)));
}

}  // namespace
}  // namespace redquel::executor
