#include "executor/tables/memory_foreign.h"

#include <algorithm>

#include "executor/tables/keyspace_walk.h"
#include "executor/tables/mapped_reader.h"
#include "executor/tables/memory_pieces.h"

namespace redquel::executor {

namespace {

/// Rows of changed keys that one statement reads again, where the table does not have more: a statement reads the whole table once at most.
constexpr std::size_t kMostRowsAgain = 20'000;

planner::TableRead read_of(const TableCopy& copy, const std::vector<std::int16_t>& numbers) {
  planner::TableRead read;
  read.table = copy.definition();
  read.numbers = numbers;
  return read;
}

/// The keys whose rows are being read; their places are the tags of the reader.
class KeysInWork {
 public:
  KeysInWork(MappedReader& reader, ChunkPacker& packer) : reader_(reader), packer_(packer) {}

  void add(std::string member, MappedKey key) {
    reader_.add({std::move(key), members_.size()});
    members_.push_back(std::move(member));
    rows_.push_back(0);
  }
  bool is_idle() const { return reader_.is_idle(); }
  /// One step of the reader, whose rows are packed.
  asio::awaitable<void> step() {
    co_await reader_.step(nullptr);
    std::vector<std::size_t> tags;
    const sql::Batch batch = reader_.take_all(tags);
    for (std::size_t row = 0; row < batch.rows; ++row) {
      const auto expiry = reader_.expiries().find(tags[row]);
      packer_.add(members_[tags[row]], batch, row, expiry == reader_.expiries().end() ? 0 : expiry->second);
      ++rows_[tags[row]];
    }
    row_count_ += batch.rows;
  }
  std::size_t row_count() const { return row_count_; }
  bool has_rows(std::size_t tag) const { return rows_[tag] > 0; }

 private:
  MappedReader& reader_;
  ChunkPacker& packer_;
  std::vector<std::string> members_;
  std::vector<std::size_t> rows_;  // of each key
  std::size_t row_count_ = 0;
};

}  // namespace

asio::awaitable<void> fill_foreign(TableCopyPtr copy, std::vector<std::int16_t> numbers, TableMemory& memory, const Keeper& keeper,
                                   ExecutionContext& context) {
  copy->begin_fill(numbers);
  const FenceMark fence{keeper.fence_key(), keeper.fence_value()};
  const planner::TableRead read = read_of(*copy, numbers);
  ChunkPacker packer(copy->table(), numbers);
  std::size_t bytes = 0, rows = 0;
  EventLoopTurn turn;
  const bool is_one_key = !copy->table().mapping().key.has_slots();
  std::optional<KeyspaceWalk> walk;
  bool is_last = is_one_key;
  do {
    MappedReader reader(read, context, &fence);
    KeysInWork keys(reader, packer);
    if (is_one_key) {
      keys.add(reader.key_of({}).value_or(""), {});
    } else {
      if (!walk) walk.emplace(reader, context, MappedKey(), &fence);
      std::vector<MappedKey> found = co_await walk->next(reader, nullptr);
      for (MappedKey& key : found) {
        std::string member = reader.first_key_of(key);
        keys.add(std::move(member), std::move(key));
      }
      is_last = walk->is_over();
    }
    while (!keys.is_idle()) {
      const std::size_t before = keys.row_count();
      co_await keys.step();
      rows += keys.row_count() - before;
      copy->set_known_rows(rows);
      if (packer.rows() >= kChunkRows - kPieceRows) co_await add_chunk(copy, packer, memory, bytes, turn);
      if (turn.is_over()) co_await turn.yield();
    }
  } while (!is_last);
  co_await add_chunk(copy, packer, memory, bytes, turn);
  copy->publish();
  if (!memory.make_room(copy, copy->bytes())) throw NotKept{"cache.memory has no room for it"};
}

asio::awaitable<void> read_foreign_again(TableCopyPtr copy, const Keeper& keeper, ExecutionContext& context, std::size_t& read) {
  const std::vector<std::int16_t> numbers = copy->columns();
  const FenceMark fence{keeper.fence_key(), keeper.fence_value()};
  const planner::TableRead table_read = read_of(*copy, numbers);
  EventLoopTurn turn;
  co_await tidy(copy, turn);
  const std::size_t most_rows = std::max(kMostRowsAgain, copy->known_rows() + copy->known_rows() / 4);
  while (copy->is_filled()) {
    const std::vector<std::string> members = copy->take_changes(kPieceRows);
    if (members.empty()) co_return;
    MappedReader reader(table_read, context, &fence);
    ChunkPacker packer(copy->table(), numbers);
    KeysInWork keys(reader, packer);
    std::vector<TableCopy::Changed> changes;
    for (const std::string& member : members) {
      std::optional<MappedKey> key = reader.slots_of(member);
      if (!key || reader.first_key_of(*key) != member) {  // no values of the columns, or not as they are written
        changes.push_back({member});
        continue;
      }
      changes.push_back({member, false, true});
      keys.add(member, *std::move(key));
    }
    std::vector<ChunkPtr> chunks;
    while (!keys.is_idle()) {
      co_await keys.step();
      if (read + keys.row_count() > most_rows) throw NotNow{"keys with many rows change often"};
      if (packer.rows() >= kChunkRows - kPieceRows) {
        ChunkPtr full = co_await pack(packer, turn);
        chunks.push_back(std::move(full));
      }
      if (turn.is_over()) co_await turn.yield();
    }
    ChunkPtr last = co_await pack(packer, turn);
    chunks.push_back(std::move(last));
    read += std::max(keys.row_count(), members.size());
    std::size_t tag = 0;
    for (TableCopy::Changed& change : changes) {
      if (change.has_row) change.has_row = keys.has_rows(tag++);
    }
    co_await apply_changes(copy, changes, std::move(chunks), turn);
    co_await tidy(copy, turn);
  }
}

}  // namespace redquel::executor
