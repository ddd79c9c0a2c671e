#include "executor/storage/mapped_script.h"

#include "executor/storage/write_script.h"

namespace redquel::executor {

namespace {

// ARGV: the catalog's version; the number of checks; each check as a counted command, a letter (v: value, n: nil, t: type) and what is
// expected; then commands, each with the number of its words. SELECT among them moves to another logical database: in a script it lasts
// until its end, and what is written there is replicated and logged there. `check` gives nil where all is well, `write` cannot fail.
constexpr std::string_view kFunctions = R"lua(
local mapped = {}
function mapped.take(argv, position)
  local count = tonumber(argv[position])
  local words = {}
  for i = 1, count do words[i] = argv[position + i] end
  return words, position + count + 1
end
function mapped.check(argv)
  if (redis.call('GET', 'redquel:version') or '') ~= argv[1] then return 'stale' end
  local position = 3
  for _ = 1, tonumber(argv[2]) do
    local words
    words, position = mapped.take(argv, position)
    local letter, expected = argv[position], argv[position + 1]
    position = position + 2
    local found = redis.pcall(unpack(words))
    if type(found) == 'table' then
      if found.err then return 'type ' .. words[2] end
      found = found.ok
    end
    if letter == 't' then
      if found ~= 'none' and found ~= expected then return 'type ' .. words[2] end
    elseif letter == 'n' then
      if found then return 'conflict' end
    elseif not found or tostring(found) ~= expected then
      return 'conflict'
    end
  end
  mapped.position = position
end
function mapped.write(argv)
  local position = mapped.position
  while position <= #argv do
    local words
    words, position = mapped.take(argv, position)
    if words[1] == '@indices' then
      local keys = redis.pcall('SMEMBERS', words[2])
      for i = 1, #keys do redis.pcall('SREM', keys[i], words[3]) end
    elseif words[1] == '@uniques' then
      local entries = redis.pcall('HGETALL', words[2])
      for i = 1, #entries, 2 do redis.pcall('HDEL', entries[i], entries[i + 1]) end
    else
      redis.call(unpack(words))
    end
  end
end
)lua";

constexpr std::string_view kAlone = R"lua(
local answer = mapped.check(ARGV)
if answer then return answer end
mapped.write(ARGV)
return 'applied'
)lua";

constexpr std::string_view kAround = R"lua(
local own_count, own, others = tonumber(ARGV[1]), {}, {}
for i = 1, own_count do own[i] = ARGV[i + 1] end
for i = own_count + 2, #ARGV do others[i - own_count - 1] = ARGV[i] end
local answer = mapped.check(own)
if answer then return {'mapped', answer} end
local result = others_write(KEYS, others)
if result[1] == 'applied' then mapped.write(own) end
return result
)lua";

std::string text_around(const Script& inner) {
  std::string text = "local function others_write(KEYS, ARGV)";
  text += inner.text();
  text += "end\n";
  text += kFunctions;
  text += kAround;
  return text;
}

}  // namespace

const Script& mapped_write_script() {
  static const Script script("mapped_write", std::string(kFunctions) + std::string(kAlone));
  return script;
}

const Script& write_rows_and_mapped_script() {
  static const Script script("write_rows_and_mapped", text_around(write_rows_script()));
  return script;
}

const Script& write_rows_catalog_and_mapped_script() {
  static const Script script("write_rows_catalog_and_mapped", text_around(write_rows_and_catalog_script()));
  return script;
}

void MappedWriteCall::select(int database) { selected_ = database; }

void MappedWriteCall::append(List& list, const Words& words) {
  if (list.database != selected_) {
    list.database = selected_;
    const bool is_check = &list == &checks_;
    const std::string number = std::to_string(selected_);
    if (is_check) append_check({"SELECT", number}, "v", "OK");
    else append(list, {"SELECT", number});
  }
  list.words.push_back(std::to_string(words.size()));
  list.words.insert(list.words.end(), words.begin(), words.end());
}

void MappedWriteCall::append_check(const Words& words, std::string_view letter, std::string_view expected) {
  append(checks_, words);
  checks_.words.emplace_back(letter);
  checks_.words.emplace_back(expected);
  ++check_count_;
}

void MappedWriteCall::expect(const Words& command, std::string text) { append_check(command, "v", text); }
void MappedWriteCall::expect_nil(const Words& command) { append_check(command, "n", ""); }
void MappedWriteCall::expect_type(const std::string& key, std::string_view type) { append_check({"TYPE", key}, "t", type); }
void MappedWriteCall::command(const Words& words) { append(commands_, words); }
void MappedWriteCall::early_command(const Words& words) { append(early_commands_, words); }
void MappedWriteCall::last_command(const Words& words) { append(last_commands_, words); }
void MappedWriteCall::forget_indices(const std::string& noted_keys, const std::string& member) { command({"@indices", noted_keys, member}); }
void MappedWriteCall::forget_uniques(const std::string& noted_values) { command({"@uniques", noted_values}); }

std::vector<std::string> MappedWriteCall::arguments() const {
  MappedWriteCall ended = *this;
  ended.selected_ = home_;
  // Each list ends where the next one begins, and a script of redquel's own tables in between.
  if (ended.checks_.database != home_) ended.append_check({"TYPE", "redquel:version"}, "t", "string");
  if (ended.early_commands_.database != home_) ended.append(ended.early_commands_, {"PING"});
  if (ended.commands_.database != home_) ended.append(ended.commands_, {"PING"});
  std::vector<std::string> all{version_, std::to_string(ended.check_count_)};
  for (const List* list : {&ended.checks_, &ended.early_commands_, &ended.commands_, &ended.last_commands_}) {
    all.insert(all.end(), list->words.begin(), list->words.end());
  }
  return all;
}

}  // namespace redquel::executor
