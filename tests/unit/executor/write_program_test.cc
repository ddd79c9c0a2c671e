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

/// The texts of a packed array of few short ones, with blanks between.
std::string unpacked(const std::string& packed) {
  std::string text;
  std::size_t at = (packed[0] & '\xf0') == '\x90' ? 1 : 3;
  while (at < packed.size()) {
    const std::size_t size = static_cast<unsigned char>(packed[at]) & 0x1fu;
    text += (text.empty() ? "" : " ") + (size == 0 ? "''" : packed.substr(at + 1, size));
    at += 1 + size;
  }
  return text;
}

TEST(WriteProgramTest, EffectsAreRecordedAsCommands) {
  WriteProgram program;
  program.add(StepKind::kCount, {"changes"});
  program.add(StepKind::kHincr, {"emp:1", "n", "2", "100"});
  program.add(StepKind::kSetRemove, {"emp:indices:dept", "7", "1"});
  program.add(StepKind::kScoreRemove, {"z:7", "1"});
  program.add(StepKind::kEmptied, {"z:7", "z", "7"});
  program.add(StepKind::kHset, {"emp:1"}, Texts{"dept", "8"});
  program.add(StepKind::kSetAdd, {"emp:indices:dept", "8", "1"});
  program.add(StepKind::kInherit, {"u", "a", "1", "2"});
  EXPECT_EQ(unpacked(prepared_record(program.words())),
            "1 changes 4 HINCRBY emp:1 n 2 3 SREM emp:indices:dept:7 1 3 ZREM z:7 1 4 HSET emp:1 dept 8 3 SADD emp:indices:dept:8 1 "
            "3 SADD emp:indices:dept 8 4 HSET u a 1 '' emp:indices:dept:7 emp:indices:dept 7 z:7 z 7");
}

TEST(WriteProgramTest, WhatDependsOnTheStateHasNoRecord) {
  WriteProgram program;
  program.add(StepKind::kRelease, {"u", "a", "1"});
  EXPECT_THROW(prepared_record(program.words()), std::invalid_argument);
}

}  // namespace
}  // namespace redquel::executor
