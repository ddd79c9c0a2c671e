#include "executor/storage/mapped_script.h"

namespace redquel::executor {

namespace {

// ARGV: the catalog's version; the number of checks; each check as a counted command, a letter (v: value, n: nil, t: type) and what is
// expected; then commands, each with the number of its words.
constexpr std::string_view kText = R"lua(
if (redis.call('GET', 'redquel:version') or '') ~= ARGV[1] then return 'stale' end
local position = 3
local function take()
  local count = tonumber(ARGV[position])
  local words = {}
  for i = 1, count do words[i] = ARGV[position + i] end
  position = position + count + 1
  return words
end
for _ = 1, tonumber(ARGV[2]) do
  local words = take()
  local letter, expected = ARGV[position], ARGV[position + 1]
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
while position <= #ARGV do redis.call(unpack(take())) end
return 'applied'
)lua";

}  // namespace

const Script& mapped_write_script() {
  static const Script script("mapped_write", kText);
  return script;
}

void MappedWriteCall::append(std::vector<std::string>& arguments, const Words& words) {
  arguments.push_back(std::to_string(words.size()));
  arguments.insert(arguments.end(), words.begin(), words.end());
}

void MappedWriteCall::expect(const Words& command, std::string text) {
  append(checks_, command);
  checks_.emplace_back("v");
  checks_.push_back(std::move(text));
  ++check_count_;
}

void MappedWriteCall::expect_nil(const Words& command) {
  append(checks_, command);
  checks_.emplace_back("n");
  checks_.emplace_back();
  ++check_count_;
}

void MappedWriteCall::expect_type(const std::string& key, std::string_view type) {
  append(checks_, {"TYPE", key});
  checks_.emplace_back("t");
  checks_.emplace_back(type);
  ++check_count_;
}

void MappedWriteCall::command(const Words& words) { append(commands_, words); }
void MappedWriteCall::last_command(const Words& words) { append(last_commands_, words); }

std::vector<std::string> MappedWriteCall::arguments() const {
  std::vector<std::string> all{version_, std::to_string(check_count_)};
  all.insert(all.end(), checks_.begin(), checks_.end());
  all.insert(all.end(), commands_.begin(), commands_.end());
  all.insert(all.end(), last_commands_.begin(), last_commands_.end());
  return all;
}

}  // namespace redquel::executor
