#include "executor/storage/definition_parts.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "sql/catalog/stored_keys.h"

namespace redquel::executor {

namespace {

void append_command(std::vector<std::string>& commands, std::vector<std::string> command) {
  commands.push_back(std::to_string(command.size()));
  std::ranges::move(command, std::back_inserter(commands));
}

}  // namespace

void DefinitionParts::expect(std::string kind, const std::string& key, std::string field, std::string value) {
  Part& part = part_of(key);
  for (std::string word : {std::move(kind), key, std::move(field), std::move(value)}) part.checks.push_back(std::move(word));
}

void DefinitionParts::expect_value(const std::string& key, std::string value) { expect("get", key, std::string(), std::move(value)); }

void DefinitionParts::expect_field(const std::string& hash, std::string field, std::string value) {
  expect("hget", hash, std::move(field), std::move(value));
}

void DefinitionParts::expect_field_or_none(const std::string& hash, std::string field, std::string value) {
  expect("next", hash, std::move(field), std::move(value));
}

void DefinitionParts::take(std::string_view tag, std::string field) {
  Part& part = part_of(tag);
  if (std::ranges::find(part.fields, field) != part.fields.end()) return;
  part.fields.push_back(field);
  expect("free", own_key(tag, sql::kExclusiveKey), std::move(field), std::string());
}

void DefinitionParts::run(std::vector<std::string> command) {
  Part& part = part_of(command[1]);
  append_command(part.commands, std::move(command));
}

void DefinitionParts::run_early(std::vector<std::string> command) {
  Part& part = part_of(command[1]);
  command.insert(command.begin(), "@early");
  append_command(part.commands, std::move(command));
}

void DefinitionParts::run_pieces(std::string_view command, const std::string& key, const std::vector<std::string>& words) {
  constexpr std::size_t kPiece = 2000;  // Lua's stack holds about 8,000 values
  for (std::size_t first = 0; first < words.size(); first += kPiece) {
    std::vector<std::string> piece{std::string(command), key};
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first);
    piece.insert(piece.end(), begin, begin + static_cast<std::ptrdiff_t>(std::min(kPiece, words.size() - first)));
    run(std::move(piece));
  }
}

bool DefinitionParts::has_others() const {
  return std::ranges::any_of(parts_, [](const auto& part) { return part.first != sql::kHomeBucket; });
}

std::vector<int> DefinitionParts::buckets() const {
  std::vector<int> buckets;
  for (const auto& [bucket, part] : parts_) buckets.push_back(bucket);
  return buckets;
}

std::map<int, std::vector<std::string>> DefinitionParts::words() const {
  std::map<int, std::vector<std::string>> all;
  for (const auto& [bucket, part] : parts_) {
    std::vector<std::string>& words = all[bucket];
    words.push_back(std::to_string(part.checks.size() / 4));
    words.insert(words.end(), part.checks.begin(), part.checks.end());
    words.push_back(std::to_string(part.fields.size()));
    words.insert(words.end(), part.fields.begin(), part.fields.end());
    words.insert(words.end(), part.commands.begin(), part.commands.end());
  }
  return all;
}

}  // namespace redquel::executor
