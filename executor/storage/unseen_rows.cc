#include "executor/storage/unseen_rows.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "executor/storage/row_error.h"

namespace redquel::executor {

namespace {

/// One that Redis works on, one that waits there, while the next is made.
constexpr std::size_t kUnitsInFlight = 2;

using Word = std::string_view;

/// Key by key what one command each adds to it.
class Additions {
 public:
  /// True: the key is new among these.
  bool add(Word key, Word first, Word second = {}) {
    const auto [found, is_new] = numbers_.try_emplace(key, keys_.size());
    if (is_new) keys_.push_back({key, {}});
    std::vector<Word>& words = keys_[found->second].second;
    words.push_back(first);
    if (!is_null(second)) words.push_back(second);
    return is_new;
  }

  void append_to(CommandBatch& batch, Word command) const {
    for (const auto& [key, words] : keys_) batch.add(command, key, words);
  }
  std::size_t size() const { return keys_.size(); }

 private:
  std::vector<std::pair<Word, std::vector<Word>>> keys_;
  std::unordered_map<Word, std::size_t> numbers_;
};

}  // namespace

struct UnseenRows::Sent {
  std::unique_ptr<WriteUnit> unit;
  Written written;
  std::size_t first_row = 0;        // its command's number
  std::vector<std::size_t> fields;  // by row
  struct Value {
    std::size_t change, structure;
  };
  std::vector<Value> values;  // unique ones, in the order of their commands
  CommandBatch batch;
  std::unique_ptr<RedisRequest> look, request;
};

UnseenRows::UnseenRows(RedisClient& client, ExecutionCounters* counters) : client_(client), counters_(counters) {}
UnseenRows::~UnseenRows() = default;

/// First the members of all rows, then the rows, their unique values and the other entries, each value before its set: if the connection
/// ends in the middle, the removal of the place finds every key that is there.
CommandBatch UnseenRows::commands(Sent& sent) {
  WriteUnit& unit = *sent.unit;
  std::size_t bytes = 0;
  for (std::size_t index = 0; index < unit.words_.size(); ++index) bytes += unit.words_[index].size() + 24;
  Additions members, value_lists, sets, zsets;
  CommandBatch batch, rows, uniques;
  batch.reserve(bytes);
  std::vector<Word> names, values;
  for (std::size_t number = 0; number < unit.changes_.size(); ++number) {
    const WriteUnit::Change& change = unit.changes_[number];
    assert(change.kind == WriteUnit::Kind::kInsert && !change.skip_if_exists);
    const RowEncoder& encoder = unit.tables_[change.table].encoder;
    const RowImage& image = change.new_image;
    encoder.fields_of(image, unit.words_, names, values);
    rows.begin(2 + 2 * names.size()).arg("HSET").arg(image.key);
    for (std::size_t index = 0; index < names.size(); ++index) rows.arg(names[index]).arg(values[index]);
    sent.fields.push_back(names.size());
    members.add(encoder.all_rows(), image.score, image.member);
    for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
      const RowEncoder::StructureKeys& structure = encoder.structures()[index];
      const auto entry = RowEncoder::entry(unit.words_, image, index);
      if (is_null(entry.first)) continue;
      if (structure.kind->has_owners()) sent.values.push_back({number, index});
      bool is_new_set = false;
      for (const sql::StructureElement& element : RowEncoder::elements(structure, image, entry)) {
        if (element.form == &sql::kHashForm) {
          uniques.add("HSETNX", element.key, element.name, element.value);
        } else if (element.form == &sql::kZsetForm) {
          is_new_set = zsets.add(element.key, element.value, element.name);
        } else if (!element.lists_value) {
          is_new_set = sets.add(element.key, element.name);
        } else if (is_new_set) {
          value_lists.add(element.key, element.name);
        }
      }
    }
  }
  members.append_to(batch, "ZADD");
  sent.first_row = members.size();
  batch.append_batch(rows);
  batch.append_batch(uniques);
  value_lists.append_to(batch, "SADD");
  sets.append_to(batch, "SADD");
  zsets.append_to(batch, "ZADD");
  return batch;
}

void UnseenRows::check(const Sent& sent, const Replies& replies) {
  const WriteUnit& unit = *sent.unit;
  std::vector<WriteUnit::Violation> violations;
  const std::size_t rows = sent.fields.size();
  for (std::size_t row = 0; row < rows; ++row) {
    // All rows have one field in common at least.
    if (replies.integer(sent.first_row + row) != static_cast<std::int64_t>(sent.fields[row])) violations.push_back(unit.violation_of(row, std::nullopt));
  }
  for (std::size_t index = 0; index < sent.values.size(); ++index) {
    const Sent::Value& value = sent.values[index];
    if (replies.integer(sent.first_row + rows + index) == 0) violations.push_back(unit.violation_of(value.change, value.structure));
  }
  for (std::size_t index = 0; index < sent.first_row; ++index) replies.integer(index);
  for (std::size_t index = sent.first_row + rows + sent.values.size(); index < replies.size(); ++index) replies.integer(index);
  if (violations.empty()) return;
  const auto first = std::ranges::min_element(violations, [](const auto& a, const auto& b) {
    return std::tie(a.change, a.constraint) < std::tie(b.change, b.constraint);
  });
  throw RowError(unit.violation_error(*first), unit.options_.first_row + first->change);
}

asio::awaitable<void> UnseenRows::finish_first() {
  const std::unique_ptr<Sent> sent = std::move(sent_.front());
  sent_.pop_front();
  const RepliesPtr replies = co_await sent->request->replies();
  check(*sent, *replies);
  if (sent->written) sent->written(*sent->unit);
}

asio::awaitable<void> UnseenRows::write(std::unique_ptr<WriteUnit> unit, Written written) {
  auto next = std::make_unique<Sent>();
  next->unit = std::move(unit);
  next->written = std::move(written);
  if (next->unit->changes_.empty()) co_return;
  CommandBatch look;
  look.begin(1 + next->unit->changes_.size()).arg("EXISTS");
  for (const WriteUnit::Change& change : next->unit->changes_) look.arg(change.new_image.key);
  next->look = client_.start(std::move(look), counters_);
  next->batch = commands(*next);
  co_await send_looked();
  looked_ = std::move(next);
}

/// Sends the unit whose keys have been looked at.
asio::awaitable<void> UnseenRows::send_looked() {
  if (!looked_) co_return;
  std::unique_ptr<Sent> next = std::move(looked_);
  const RepliesPtr found = co_await next->look->replies();
  if (found->integer(0) > 0) {
    std::vector<std::size_t> all(next->unit->changes_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    co_await flush();  // what is found may be rows of an earlier unit
    co_await next->unit->refuse_strange_keys(client_, std::move(all), counters_);
  }
  while (sent_.size() >= kUnitsInFlight) co_await finish_first();
  next->request = client_.start(std::move(next->batch), counters_);
  sent_.push_back(std::move(next));
}

asio::awaitable<void> UnseenRows::flush() {
  co_await send_looked();
  while (!sent_.empty()) co_await finish_first();
}

asio::awaitable<void> UnseenRows::settle() {
  looked_.reset();
  while (!sent_.empty()) {
    const std::unique_ptr<Sent> sent = std::move(sent_.front());
    sent_.pop_front();
    try {
      co_await sent->request->replies();
    } catch (const sql::SqlError&) {  // the connection is gone, and with it what was on its way
    }
  }
}

}  // namespace redquel::executor
