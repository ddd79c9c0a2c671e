#include "executor/transaction/row_locks.h"

#include "executor/redis/redis_error.h"
#include "executor/redis/script.h"
#include "executor/storage/living_sessions.h"
#include "executor/storage/mapped_unit.h"
#include "executor/transaction/lock_wait.h"

namespace redquel::executor {

namespace {

// Keys: each table's locks, then the rows, group by group. Arguments: token (empty: only look), how many groups are wanted (or
// empty), number of tables; per table: strength, what to do about others' locks (wait, skip, say no; w: wait as a write does, also for
// LOCK TABLE in SHARE mode), number of fields, the fields; per row: its lock's
// field, whether it is compared (1) or read (2), and, where it is compared, what each field must hold.
const Script& lock_rows_script() {
  static const Script kScript("lock_rows", std::string(kLivingSessions) + R"lua(
local unpack, keys, argv = unpack, KEYS, ARGV
local token, wanted = argv[1], tonumber(argv[2])
if token ~= '' and not is_alive(token) then return {'lost'} end
local tables, p = {}, 4
for t = 1, tonumber(argv[3]) do
  local count = tonumber(argv[p + 2])
  local one = {key = keys[t], strength = tonumber(argv[p]), wait = argv[p + 1], fields = {unpack(argv, p + 3, p + 2 + count)}}
  p = p + 3 + count
  local oid = string.match(one.key, '%d+$')
  if call('HEXISTS', 'redquel:exclusive', oid) == 1 then return {'locked', '', '', 'redquel:exclusive', oid} end
  for mode, holder in string.gmatch(call('HGET', one.key, 't') or '', '(%d)(%S+)') do
    if tonumber(mode) >= (one.wait == 'w' and 5 or 7) and holder ~= token and is_alive(holder) then
      if one.wait == 'n' then return {'refused', '', t - 1} end
      return {'locked', '', holder, one.key, 't'}
    end
  end
  tables[t] = one
end
local function matches(value, expected)
  local kind = string.sub(expected, 1, 1)
  if kind == '-' then return not value end
  if kind == '+' then return value and true end
  return value == string.sub(expected, 2) or (kind == '?' and not value)
end
local states, locked, rows, k = {}, 0, {}, #tables + 1
while k <= #keys and (not wanted or locked < wanted) do
  local state, taken = 'l', {}
  for t = 1, #tables do
    local one, field, look = tables[t], argv[p], argv[p + 1]
    p = p + 2
    local left, strongest = {}, one.strength
    for mode, holder in string.gmatch(call('HGET', one.key, field) or '', '(%d)(%S+)') do
      if holder == token then
        strongest = math.max(strongest, tonumber(mode))
      elseif is_alive(holder) then
        if tonumber(mode) + one.strength > 4 then
          if one.wait == 'n' then return {'refused', table.concat(states), t - 1} end
          if one.wait ~= 's' then return {'locked', table.concat(states), holder, one.key, field} end
          state = 's'
        end
        left[#left + 1] = mode .. holder
      end
    end
    if look == '2' then
      local values = call('HMGET', keys[k], unpack(one.fields))
      if values[1] then rows[#rows + 1] = values else state = 'g' end
    elseif look == '1' then
      local values = call('HMGET', keys[k], unpack(one.fields))
      for f = 1, #one.fields do
        if state == 'l' and not matches(values[f], argv[p]) then state = one.wait == 's' and 's' or values[1] and 'c' or 'g' end
        p = p + 1
      end
    end
    left[#left + 1] = strongest .. token
    taken[t] = {one.key, field, table.concat(left, ' ')}
    k = k + 1
  end
  if token ~= '' and (state == 'l' or state == 'c') then
    if locked == 0 then call('UNLINK', 'redquel:none') end  -- Redis whose memory is full refuses a script's first write only
    for t = 1, #taken do call('HSET', unpack(taken[t])) end
  end
  if state == 'l' then locked = locked + 1 end
  states[#states + 1] = state
end
return {'done', table.concat(states), rows}
)lua");
  return kScript;
}

// One row that is to be written, which nobody has locked, as most rows are: in half of the time. Whatever is in the way is the other
// script's. Keys: the table's locks, the row. Arguments: token, its process's lease, mode and field of the lock, the row's fields.
const Script& lock_free_row_script() {
  static const Script kScript("lock_free_row", R"lua(
local call, keys, argv = redis.call, KEYS, ARGV
if call('EXISTS', 'redquel:exclusive', argv[2], argv[2]) ~= 2 then return {'unclear'} end
local held = call('HMGET', keys[1], 't', argv[4])
if held[1] or held[2] then return {'unclear'} end
local values = call('HMGET', keys[2], unpack(argv, 5))
if not values[1] then return {'unclear'} end
if type(redis.pcall('HSET', keys[1], argv[4], argv[3] .. argv[1])) == 'table' then return {'unclear'} end
return {'done', 'l', {values}}
)lua");
  return kScript;
}

}  // namespace

/// The answer of the script that locks one free row; null where there is more to do.
asio::awaitable<RepliesPtr> RowLockRequest::lock_free_row(RedisClient& redis, ExecutionCounters* counters) {
  if (!writes_ || tables_.size() != 1 || members_.size() != 1 || !expected_[0].empty()) co_return nullptr;
  const Table& table = tables_[0];
  const std::string locks = lock_key(table.oid), lease = process_key(std::string_view(token_).substr(0, token_.find('.')));
  CommandBatch batch;
  lock_free_row_script().begin_call(batch, 2, 4 + table.fields.size()).arg(locks).arg(keys_[0]);
  batch.arg(token_).arg(lease).arg(static_cast<int>(table.lock.strength)).arg(members_[0]);
  for (const std::string& field : table.fields) batch.arg(field);
  std::vector<const Script*> scripts{&lock_free_row_script()};
  RepliesPtr replies = co_await run_scripts(redis, std::move(scripts), std::move(batch), counters);
  if (const std::span<const Reply> reply = replies->array(0); reply.empty() || reply[0].text != "done") co_return nullptr;
  co_return replies;
}

void RowLockRequest::add_row(std::string_view member, std::string_view key, std::vector<std::string> expected) {
  members_.push_back(row_lock_field(member));
  keys_.emplace_back(key);
  expected_.push_back(std::move(expected));
}

asio::awaitable<RepliesPtr> RowLockRequest::lock_groups(RedisClient& redis, std::optional<std::size_t> wanted, bool keeps,
                                                        ExecutionCounters* counters) {
  std::vector<std::string> keys, arguments{keeps ? token_ : "", wanted ? std::to_string(*wanted) : "", std::to_string(tables_.size())};
  for (const Table& table : tables_) {
    static constexpr const char* kWaits[] = {"b", "s", "n"};
    keys.push_back(lock_key(table.oid));
    arguments.push_back(std::to_string(static_cast<int>(table.lock.strength)));
    arguments.emplace_back(writes_ ? "w" : kWaits[static_cast<std::size_t>(table.lock.wait)]);
    arguments.push_back(std::to_string(table.fields.size()));
    arguments.insert(arguments.end(), table.fields.begin(), table.fields.end());
  }
  keys.insert(keys.end(), keys_.begin(), keys_.end());
  for (std::size_t row = 0; row < members_.size(); ++row) {
    arguments.push_back(members_[row]);
    arguments.emplace_back(!expected_[row].empty() ? "1" : writes_ ? "2" : "0");
    arguments.insert(arguments.end(), expected_[row].begin(), expected_[row].end());
  }
  co_return co_await run_script(redis, lock_rows_script(), keys, arguments, counters);
}

asio::awaitable<RowLockRequest::Answer> RowLockRequest::execute(RedisClient& redis, std::optional<std::size_t> wanted, LockSet* held,
                                                                ExecutionCounters* counters) {
  if (token_.empty()) held = nullptr;
  RepliesPtr replies;
  if (held != nullptr && !wanted) replies = co_await lock_free_row(redis, counters);
  if (!replies) replies = co_await lock_groups(redis, wanted, held != nullptr, counters);
  const std::span<const Reply> reply = replies->array(0);
  if (!reply.empty() && reply[0].text == "lost") throw lapsed_lock();
  const auto text = [&](std::size_t index) { return index < reply.size() ? std::string(reply[index].text) : std::string(); };
  Answer answer{text(1), {}, {}, replies};
  if (text(0) == "locked") answer.conflict = LockConflict{text(2), text(3), text(4)};
  if (text(0) == "refused" && reply.size() > 2) answer.not_waited_for = static_cast<std::size_t>(reply[2].integer);
  if (held != nullptr) {
    for (std::size_t group = 0; group < answer.states.size(); ++group) {
      if (answer.states[group] != 'l' && answer.states[group] != 'c') continue;
      for (std::size_t table = 0; table < tables_.size(); ++table) {
        std::string& field = members_[group * tables_.size() + table];
        if (tables_[table].is_counted) {
          held->add(tables_[table].oid, std::move(field));
        } else {
          held->add_written(tables_[table].oid, std::move(field));
        }
      }
    }
  }
  co_return answer;
}

std::span<const Reply> RowLockRequest::Answer::row(std::size_t number) const {
  const std::span<const Reply> reply = replies->array(0);
  const std::span<const Reply> rows = reply.size() > 2 ? reply[2].children() : std::span<const Reply>();
  if (number >= rows.size()) throw unexpected_reply("EVALSHA", "the rows that it has locked");
  return rows[number].children();
}

LockedTable::LockedTable(std::shared_ptr<const sql::TableDef> table, const planner::RowLock& lock, const std::vector<std::int16_t>& numbers)
    : lock_(lock), encoder_(table, std::vector<sql::Structure>{}) {
  if (table->mapping) {
    for (const std::int16_t number : numbers) places_.push_back(table->position(number));
    return;
  }
  fields_.push_back(encoder_.presence_field());
  for (const std::int16_t number : numbers) {
    const std::size_t position = number == 0 ? table->columns.size() : table->position(number);
    places_.push_back(position);
    // What is only in the key cannot change; a field that older rows lack is in the key too.
    const bool in_key = number == 0 || (table->in_primary_key(number) && !encoder_.keys().stores_key_column(*table->find_column(number)));
    if (in_key || encoder_.field(position) == nullptr) continue;
    compared_.push_back(position);
    fields_.push_back(*encoder_.field(position));
    if (!encoder_.null_marker(position).empty()) fields_.push_back(encoder_.null_marker(position));
  }
}

void LockedTable::add_row(RowLockRequest& request, const std::vector<sql::Datum>& values, const RowBuffer* buffer) const {
  std::vector<sql::Datum> row(encoder_.width());
  for (std::size_t index = 0; index < places_.size(); ++index) row[places_[index]] = values[index];
  if (table().mapping) {  // what it holds is known by a second look
    request.add_row(mapped_identity(table(), row), "", {});
    return;
  }
  Words words;
  const RowImage image = encoder_.encode(row, words);
  std::vector<std::string> expected;
  if (buffer == nullptr || !buffer->find(encoder_.table().oid, image.member)) {
    expected.push_back(RowLockRequest::is_there());
    for (const std::size_t position : compared_) add_expected(expected, position, words[image.texts + position]);
  }
  request.add_row(image.member, image.key, std::move(expected));
}

void LockedTable::add_expected(std::vector<std::string>& expected, std::size_t position, std::string_view text) const {
  const bool has_marker = !encoder_.null_marker(position).empty();
  if (is_null(text)) {
    expected.push_back(RowLockRequest::is_absent());
    if (has_marker) expected.push_back(RowLockRequest::is_there());
    return;
  }
  // Rows of before the column was added have its default without a field.
  const bool may_be_missing = has_marker && text == *encoder_.table().columns[position].missing;
  expected.push_back(may_be_missing ? RowLockRequest::holds_or_is_absent(text) : RowLockRequest::holds(text));
  if (has_marker) expected.push_back(RowLockRequest::is_absent());
}

}  // namespace redquel::executor
