#include "executor/storage/mapped_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/storage/write_script.h"
#include "sql/error.h"

namespace redquel::executor {

namespace {

/// One script holds Redis while it runs: a command takes about a microsecond.
constexpr std::size_t kMaxCommands = 40'000;

// ARGV: the catalog's version; the number of checks; the token of the transaction (empty: none); the number of tables with locks (see
// executor/storage/locks.h), each with its key, a number of rows, and for each the strength that is needed and the field; each check as a counted command, a letter (v: value, n: nil, t: type, m: values of a hash, s: a stream that ends before an id) and what is
// expected; then commands, each with the number of its words. SELECT among them moves to another logical database: in a script it lasts
// until its end, and what is written there is replicated and logged there. `check` gives nil where all is well, `write` cannot fail.
constexpr std::string_view kFunctions = R"lua(
local mapped = {living = {}}
function mapped.is_alive(token)
  local process = string.sub(token, 1, 16)
  if mapped.living[process] == nil then mapped.living[process] = redis.call('EXISTS', 'redquel:process:' .. process) == 1 end
  return mapped.living[process]
end
function mapped.locks(argv)
  local token, position = argv[3], 5
  if token ~= '' and not mapped.is_alive(token) then return {'lost'} end
  for _ = 1, tonumber(argv[4]) do
    local key, count = argv[position], tonumber(argv[position + 1])
    if redis.call('EXISTS', key) == 1 then
      for i = 0, count do
        local wanted, field = 0, 't'
        if i > 0 then
          local row = argv[position + 1 + i]
          wanted, field = tonumber(string.sub(row, 1, 1)), string.sub(row, 2)
        end
        for strength, holder in string.gmatch(redis.call('HGET', key, field) or '', '(%d)(%S+)') do
          local conflicts = field == 't' and tonumber(strength) >= 5 or field ~= 't' and tonumber(strength) + wanted > 4
          if conflicts and holder ~= token and mapped.is_alive(holder) then return {'locked', holder, key, field} end
        end
      end
    end
    position = position + 2 + count
  end
  mapped.position = position
end
function mapped.take(argv, position)
  local count = tonumber(argv[position])
  local words = {}
  for i = 1, count do words[i] = argv[position + i] end
  return words, position + count + 1
end
function mapped.is_behind(id, stream)
  local last = '0-0'
  for i = 1, #stream, 2 do
    if stream[i] == 'last-generated-id' then last = stream[i + 1] end
  end
  local time, number = string.match(id, '^(%d+)-(.+)$')
  local last_time, last_number = string.match(last, '^(%d+)-(%d+)$')
  if tonumber(time) ~= tonumber(last_time) then return tonumber(time) > tonumber(last_time) end
  return number == '*' or tonumber(number) > tonumber(last_number)
end
function mapped.check(argv)
  if (redis.call('GET', 'redquel:version') or '') ~= argv[1] then return {'stale'} end
  local refused = mapped.locks(argv)
  if refused then return refused end
  local position = mapped.position
  for _ = 1, tonumber(argv[2]) do
    local words
    words, position = mapped.take(argv, position)
    local letter, expected = argv[position], argv[position + 1]
    position = position + 2
    local found = redis.pcall(unpack(words))
    if letter == 's' then
      if not found.err and not mapped.is_behind(expected, found) then return {'behind', words[3], expected} end
      found = expected
      letter = 'v'
    end
    if letter == 'm' and not found.err then
      for i = 1, #found do found[i] = found[i] and '+' .. #found[i] .. ':' .. found[i] or '-' end
      found = table.concat(found)
    end
    if type(found) == 'table' then
      if found.err then return {'type', words[2]} end
      found = found.ok
    end
    if letter == 't' then
      if found ~= 'none' and found ~= expected then return {'type', words[2]} end
    elseif letter == 'n' then
      if found then return {'conflict'} end
    elseif not found or tostring(found) ~= expected then
      return {'conflict'}
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
return {'applied'}
)lua";

constexpr std::string_view kAround = R"lua(
local own_count, own, others = tonumber(ARGV[1]), {}, {}
for i = 1, own_count do own[i] = ARGV[i + 1] end
for i = own_count + 2, #ARGV do others[i - own_count - 1] = ARGV[i] end
local answer = mapped.check(own)
if answer then return {'mapped', unpack(answer)} end
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
  if (++command_count_ > kMaxCommands) {
    throw sql::SqlError("54000", fmt::format("the changes of foreign tables need more than {} Redis commands", kMaxCommands))
        .hint("They are one atomic unit in Redis, which waits meanwhile. Change fewer rows at a time.");
  }
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
void MappedWriteCall::expect_fields(const std::string& key, std::span<const Words> reads, std::span<const std::optional<std::string>> texts) {
  Words command{"HMGET", key};
  std::string packed;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    command.push_back(reads[i][2]);
    packed += texts[i] ? fmt::format("+{}:{}", texts[i]->size(), *texts[i]) : "-";
  }
  append_check(command, "m", packed);
}
void MappedWriteCall::expect_nil(const Words& command) { append_check(command, "n", ""); }
void MappedWriteCall::expect_type(const std::string& key, std::string_view type) {
  if (types_.emplace(Place(selected_, key), std::string(type)).second) append_check({"TYPE", key}, "t", type);
}
void MappedWriteCall::add_entry(const std::string& key, const std::string& id) {
  if (id == "*") {  // of now: what follows cannot name an id
    entries_[Place(selected_, key)] = "999999999999999-*";
    return;
  }
  const auto value_of = [](const std::string& text) {
    const std::size_t dash = text.find('-');
    const bool is_open = text.ends_with('*');
    return std::pair(std::stoll(text.substr(0, dash)), is_open ? INT64_MAX : std::stoll(text.substr(dash + 1)));
  };
  const auto [last, is_first] = entries_.emplace(Place(selected_, key), id);
  if (is_first) {
    append_check({"XINFO", "STREAM", key}, "s", id);
  } else if (value_of(id) < value_of(last->second) || (id == last->second && !id.ends_with('*'))) {
    throw sql::SqlError("22023", fmt::format("id \"{}\" is not greater than the last one of stream \"{}\"", id, key));
  }
  last->second = id;
}
void MappedWriteCall::command(const Words& words) { append(commands_, words); }
void MappedWriteCall::early_command(const Words& words) { append(early_commands_, words); }
void MappedWriteCall::last_command(const Words& words) { append(last_commands_, words); }
void MappedWriteCall::expire(const std::string& key, std::optional<std::int64_t> seconds) {
  const auto [known, is_new] = expiries_.emplace(Place(selected_, key), seconds);
  if (!is_new && known->second != seconds) {
    throw sql::SqlError("22023", fmt::format("rows of one key \"{}\" cannot have different times to live", key));
  }
  if (is_new) last_command(seconds ? Words{"EXPIRE", key, std::to_string(*seconds)} : Words{"PERSIST", key});
}
void MappedWriteCall::respect_lock(sql::Oid table, const std::string& row, LockMode mode) {
  LockMode& wanted = locks_[table].try_emplace(row_lock_field(row), mode).first->second;
  wanted = std::max(wanted, mode);
}
std::string unkept_key(sql::Oid table) { return fmt::format("redquel:unkept:{}", table); }

void MappedWriteCall::note_unkept(sql::Oid table, const std::string& row) {
  const int selected = std::exchange(selected_, home_);
  command({"SADD", unkept_key(table), row});
  selected_ = selected;
}
void MappedWriteCall::forget_unkept(sql::Oid table, const std::string& row) {
  const int selected = std::exchange(selected_, home_);
  command({"SREM", unkept_key(table), row});
  selected_ = selected;
}
void MappedWriteCall::forget_indices(const std::string& noted_keys, const std::string& member) { command({"@indices", noted_keys, member}); }
void MappedWriteCall::forget_uniques(const std::string& noted_values) { command({"@uniques", noted_values}); }

std::vector<std::string> MappedWriteCall::arguments() const {
  MappedWriteCall ended = *this;
  ended.selected_ = home_;
  // Each list ends where the next one begins, and a script of redquel's own tables in between.
  if (ended.checks_.database != home_) ended.append_check({"TYPE", "redquel:version"}, "t", "string");
  if (ended.early_commands_.database != home_) ended.append(ended.early_commands_, {"PING"});
  if (ended.commands_.database != home_) ended.append(ended.commands_, {"PING"});
  std::vector<std::string> all{version_, std::to_string(ended.check_count_), token_, std::to_string(locks_.size())};
  for (const auto& [table, rows] : locks_) {
    all.push_back(lock_key(table));
    all.push_back(std::to_string(rows.size()));
    for (const auto& [field, mode] : rows) all.push_back(std::to_string(static_cast<int>(mode)) + field);
  }
  for (const List* list : {&ended.checks_, &ended.early_commands_, &ended.commands_, &ended.last_commands_}) {
    all.insert(all.end(), list->words.begin(), list->words.end());
  }
  return all;
}

}  // namespace redquel::executor
