#include "executor/storage/prepared_record.h"

#include <array>
#include <stdexcept>
#include <vector>

#include "executor/storage/write_program.h"

namespace redquel::executor {

namespace {

// MessagePack: https://github.com/msgpack/msgpack/blob/master/spec.md

void append_big_endian(std::string& packed, std::size_t number, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) packed += static_cast<char>(number >> shift & 0xff);
}

/// Appends the head of an array or text; `marks`: of the forms with 8, 16 and 32 bits of length (0: there is none).
void append_head(std::string& packed, std::size_t size, unsigned char fixed, std::size_t most_fixed, std::array<unsigned char, 3> marks) {
  if (size <= most_fixed) {
    packed += static_cast<char>(fixed | size);
  } else if (marks[0] != 0 && size <= 0xff) {
    packed += static_cast<char>(marks[0]);
    append_big_endian(packed, size, 1);
  } else if (size <= 0xffff) {
    packed += static_cast<char>(marks[1]);
    append_big_endian(packed, size, 2);
  } else {
    packed += static_cast<char>(marks[2]);
    append_big_endian(packed, size, 4);
  }
}

/// Returns an array of texts.
std::string packed(std::span<const std::string> texts) {
  std::string result;
  append_head(result, texts.size(), 0x90, 15, {0, 0xdc, 0xdd});
  for (const std::string& text : texts) {
    append_head(result, text.size(), 0xa0, 31, {0xd9, 0xda, 0xdb});
    result.append(text);
  }
  return result;
}

using Texts = std::vector<std::string>;

/// A command that is written with its number of words.
void append_command(Texts& commands, std::string_view name, std::span<const std::string_view> words) {
  commands.push_back(std::to_string(1 + words.size()));
  commands.emplace_back(name);
  commands.insert(commands.end(), words.begin(), words.end());
}

std::string_view command_of(StepKind kind) {
  switch (kind) {
    case StepKind::kScoreAdd: return "ZADD";
    case StepKind::kScoreRemove: return "ZREM";
    case StepKind::kMemberAdd: return "SADD";
    case StepKind::kMemberRemove: return "SREM";
    case StepKind::kHset:
    case StepKind::kClaim:
    case StepKind::kInherit: return "HSET";
    case StepKind::kHdel: return "HDEL";
    case StepKind::kHincr: return "HINCRBY";
    case StepKind::kDrop: return "UNLINK";
    default: throw std::invalid_argument("a prepared commit has no form of the step " + std::string(step_info(kind).name));
  }
}

}  // namespace

std::string prepared_record(std::span<const std::string_view> program) {
  Texts counters, commands, emptied;
  for (const auto& [kind, words] : steps_of(program)) {
    if (kind == StepKind::kCount) {
      counters.emplace_back(words[0]);
    } else if (kind == StepKind::kEmptied) {
      emptied.insert(emptied.end(), words.begin(), words.end());
    } else if (kind == StepKind::kSetAdd || kind == StepKind::kSetRemove) {
      const std::string set = std::string(words[0]).append(":").append(words[1]);
      const bool comes = kind == StepKind::kSetAdd;
      append_command(commands, comes ? "SADD" : "SREM", std::array<std::string_view, 2>{set, words[2]});
      if (comes) append_command(commands, "SADD", words.first(2));
      else emptied.insert(emptied.end(), {set, std::string(words[0]), std::string(words[1])});
    } else {
      const bool has_more = kind == StepKind::kHincr || kind == StepKind::kInherit;  // a word that only the check needs
      append_command(commands, command_of(kind), words.first(words.size() - (has_more ? 1 : 0)));
    }
  }
  Texts all{std::to_string(counters.size())};
  for (const Texts* part : {&counters, &commands}) all.insert(all.end(), part->begin(), part->end());
  all.emplace_back();
  all.insert(all.end(), emptied.begin(), emptied.end());
  return packed(all);
}

}  // namespace redquel::executor
