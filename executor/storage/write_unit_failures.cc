#include <algorithm>
#include <set>
#include <unordered_set>

#include "executor/redis/redis_error.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/row_error.h"
#include "executor/storage/stored_row.h"
#include "executor/storage/stored_text.h"
#include "executor/storage/write_unit.h"
#include "sql/types/compare.h"

namespace redquel::executor {

using sql::SqlError;

// The proxy's examination after a failed check of the script: whether a row has really changed, and whether a unique value is really
// taken.

namespace {

/// Returns true if both texts (absent: null) are the same value of the column. Texts of other programs may have another spelling.
bool same_value(sql::Type type, std::string_view expected, std::optional<std::string_view> found) {
  if (is_null(expected) || !found) return is_null(expected) == !found;
  if (expected == *found) return true;
  try {
    return sql::equal(type, parse_stored_text(type, expected), parse_stored_text(type, *found));
  } catch (const SqlError&) {
    return false;
  }
}

}  // namespace

/// Reads again the rows whose fields were not as expected. False: one has another value than the statement saw. Else the
/// difference was one of spelling, and the texts found are what the next attempt expects.
asio::awaitable<bool> WriteUnit::reread_old_rows(RedisClient& client, std::span<const std::size_t> changes,
                                                 ExecutionCounters* counters) {
  CommandBatch batch;
  for (std::size_t number : changes) {
    const Change& change = changes_[number];
    batch.add("HMGET", change.old_image.key, tables_[change.table].shapes[change.shape].fields);
  }
  RepliesPtr replies = co_await client.execute(std::move(batch), counters);
  for (std::size_t index = 0; index < changes.size(); ++index) {
    Change& change = changes_[changes[index]];
    const Table& table = tables_[change.table];
    const Shape& shape = table.shapes[change.shape];
    const std::span<const Reply> values = replies->array(index);
    if (values.size() != shape.fields.size() || values[shape.presence].is_nil()) co_return false;
    const auto is_any = [&](std::size_t field) { return words_[change.expected + field] == kAnyValue; };
    for (std::size_t field = 0; field < values.size(); ++field) {
      if (is_any(field)) continue;
      const std::size_t position = shape.field_columns[field];
      const std::string& marker = table.encoder.null_marker(position);
      if (!marker.empty() && shape.fields[field] == marker) continue;
      std::optional<std::string_view> found;
      if (values[field].is_text()) found = values[field].text;
      if (!marker.empty() && !found && values[field + 1].is_nil()) found = *table.encoder.table().columns[position].missing;
      if (!same_value(table.encoder.type(position), words_[change.old_image.texts + position], found)) co_return false;
    }
    for (std::size_t field = 0; field < values.size(); ++field) {
      if (is_any(field)) continue;
      words_.set(change.expected + field, values[field].is_text() ? words_.store(values[field].text) : std::string_view());
    }
  }
  co_return true;
}

/// Throws XX001 if the key of one of these new rows is there and its table's zset does not name it: another program has written it.
asio::awaitable<void> WriteUnit::refuse_strange_keys(RedisClient& client, std::vector<std::size_t> changes, ExecutionCounters* counters) {
  constexpr std::size_t kMembers = 1000;
  std::ranges::sort(changes, {}, [this](std::size_t number) { return std::pair(changes_[number].table, number); });
  CommandBatch batch;
  std::vector<std::span<const std::size_t>> pages;
  for (std::size_t first = 0; first < changes.size(); first += pages.back().size()) {
    const std::uint32_t table = changes_[changes[first]].table;
    std::size_t count = 1;
    while (count < kMembers && first + count < changes.size() && changes_[changes[first + count]].table == table) ++count;
    pages.push_back(std::span(changes).subspan(first, count));
    batch.begin(2 + count).arg("ZMSCORE").arg(tables_[table].encoder.all_rows());
    for (const std::size_t number : pages.back()) batch.arg(changes_[number].new_image.member);
  }
  const RepliesPtr scores = co_await client.execute(std::move(batch), counters);
  std::vector<std::size_t> suspects;
  for (std::size_t page = 0; page < pages.size(); ++page) {
    const std::span<const Reply> found = scores->array(page);
    for (std::size_t index = 0; index < found.size(); ++index) {
      if (found[index].is_nil()) suspects.push_back(pages[page][index]);
    }
  }
  std::ranges::sort(suspects);
  for (std::size_t first = 0; first < suspects.size(); first += kMembers) {
    const std::span<const std::size_t> some = std::span(suspects).subspan(first, std::min(kMembers, suspects.size() - first));
    CommandBatch again;  // the row may have come, or gone, meanwhile
    for (const std::size_t number : some) {
      const Change& change = changes_[number];
      again.add("ZSCORE", tables_[change.table].encoder.all_rows(), change.new_image.member).add("EXISTS", change.new_image.key);
    }
    const RepliesPtr replies = co_await client.execute_atomic(std::move(again), counters);
    for (std::size_t index = 0; index < some.size(); ++index) {
      if (replies->text(2 * index) || replies->integer(2 * index + 1) == 0) continue;
      const Change& change = changes_[some[index]];
      throw RowError(strange_row_key(tables_[change.table].encoder.table(), change.new_image.key), options_.first_row + some[index]);
    }
  }
}

/// Looks at the rows that own unique values which the unit wants: a row that has the value is a violation; an entry whose row is
/// gone or has another value by now is left over, and the next attempt may take it while the row stays so.
asio::awaitable<std::vector<WriteUnit::Violation>> WriteUnit::examine_owners(RedisClient& client,
                                                                             const std::vector<TakenValue>& failures,
                                                                             ExecutionCounters* counters) {
  std::vector<Violation> violations;
  std::vector<Guard> guards;
  std::vector<const TakenValue*> asked;
  CommandBatch batch;
  for (const TakenValue& failure : failures) {
    const Change& change = changes_[failure.change];
    const RowEncoder& encoder = tables_[change.table].encoder;
    Guard guard;
    try {
      guard.key = encoder.row_of_owner(encoder.structures()[failure.structure], failure.owner);
    } catch (const SqlError&) {  // not a member of this table: an orphaned entry
    }
    const bool names_key = change.kind == Kind::kInsert && change.skip_if_exists && conflicts_[change.conflict].columns;
    if (guard.key.empty() || (failure.owner == change.new_image.member && !names_key)) {
      const std::string_view field = RowEncoder::entry(words_, change.new_image, failure.structure).first;
      allowed_owners_[{change.table, failure.structure, std::string(field)}] = failure.owner;
      continue;
    }
    guard.fields.push_back(encoder.presence_field());
    for (std::size_t position : encoder.structures()[failure.structure].sources) {
      const sql::ColumnDef& column = encoder.table().columns[position];
      if (encoder.table().in_primary_key(column.number) && !encoder.keys().stores_key_column(column)) continue;
      guard.fields.push_back(column.field);
      if (!encoder.null_marker(position).empty()) guard.fields.push_back(encoder.null_marker(position));
    }
    batch.add("HMGET", guard.key, guard.fields);
    guards.push_back(std::move(guard));
    asked.push_back(&failure);
  }
  // An entry that lies by value may have come before its row, by a commit that is not yet applied everywhere.
  const auto by_value = std::ranges::find_if(asked, [&](const TakenValue* failure) {
    return RowEncoder::lies_by_value(tables_[changes_[failure->change].table].encoder.structures()[failure->structure]);
  });
  if (by_value != asked.end()) co_await finish_commits_of(client, tables_[changes_[(*by_value)->change].table].encoder.table());
  RepliesPtr replies = co_await client.execute(std::move(batch), counters);
  for (std::size_t index = 0; index < asked.size(); ++index) {
    const TakenValue& failure = *asked[index];
    const Change& change = changes_[failure.change];
    const RowEncoder& encoder = tables_[change.table].encoder;
    const RowEncoder::StructureKeys& structure = encoder.structures()[failure.structure];
    const std::span<const Reply> values = replies->array(index);
    if (values.size() != guards[index].fields.size()) throw unexpected_reply("HMGET", "one value per field");
    for (const Reply& value : values) {
      guards[index].values.push_back(value.is_text() ? std::optional<std::string>(value.text) : std::nullopt);
    }
    const std::string_view wanted = RowEncoder::entry(words_, change.new_image, failure.structure).first;
    bool owns = values[0].is_text();
    if (owns) {
      try {
        const std::vector<sql::Datum> key = encoder.keys().decode_member(failure.owner);
        std::vector<sql::Datum> row(encoder.width());
        std::size_t field = 1;
        for (std::size_t position : structure.sources) {
          const sql::ColumnDef& column = encoder.table().columns[position];
          const auto& primary_key = encoder.table().primary_key;
          const auto part = std::find(primary_key.begin(), primary_key.end(), column.number);
          if (part != primary_key.end() && !encoder.keys().stores_key_column(column)) {
            row[position] = key[static_cast<std::size_t>(part - primary_key.begin())];
            continue;
          }
          std::optional<std::string_view> text;
          if (values[field].is_text()) text = values[field].text;
          ++field;
          if (column.missing) {
            if (!text && values[field].is_nil()) text = *column.missing;
            ++field;
          }
          if (text) row[position] = parse_stored_text(column.type, *text);
        }
        // NULL in a partial index, or in one on an expression: the row has no entry any more.
        const std::vector<sql::Datum> values = encoder.values(structure, row);
        const bool has_null = std::ranges::any_of(values, [](const sql::Datum& value) { return sql::is_null(value); });
        owns = (!has_null || structure.nulls_are_equal) && encoder.keys().unique_field(structure.structure.columns, values) == wanted;
      } catch (const SqlError&) {
        owns = false;
      }
    }
    if (owns) {
      violations.push_back(violation_of(failure.change, failure.structure));
    } else {
      allowed_owners_[{change.table, failure.structure, std::string(wanted)}] = failure.owner;
      // The row of a value that lies elsewhere cannot be looked at by the script: the entry goes instead.
      if (!RowEncoder::lies_by_value(structure)) guards_.push_back(std::move(guards[index]));
    }
  }
  co_return violations;
}

/// If all of them are gone, the next attempt relies on that.
namespace {

/// Returns a lock if each of the rows has one of another transaction that deletes it, changes its key, or has locked it FOR UPDATE.
asio::awaitable<std::optional<LockConflict>> lock_of_all(RedisClient& client, PlacedTable table, std::vector<std::string> members, std::string own,
                                                         ExecutionCounters* counters) {
  CommandBatch look;
  const std::string key = lock_key(table);
  for (const std::string& member : members) look.add("HGET", key, row_lock_field(member));
  const RepliesPtr locks = co_await client.execute(std::move(look), counters);
  std::vector<std::string> holders;
  CommandBatch leases;
  for (std::size_t index = 0; index < members.size(); ++index) {
    std::string_view locked = locks->text(index).value_or(""), holder;
    while (!locked.empty()) {  // one lock of this mode, besides what ended processes have left
      const std::string_view one = locked.substr(0, locked.find(' '));
      locked.remove_prefix(std::min(one.size() + 1, locked.size()));
      if (one.starts_with(std::to_string(static_cast<int>(LockMode::kUpdate)))) holder = one.substr(1);
    }
    if (holder.empty() || holder == own) co_return std::nullopt;
    holders.emplace_back(holder);
    leases.add("EXISTS", process_key(holder.substr(0, holder.find('.')), table.tag()));
  }
  const RepliesPtr living = co_await client.execute(std::move(leases), counters);
  for (std::size_t index = 0; index < members.size(); ++index) {
    if (living->integer(index) == 0) co_return std::nullopt;
  }
  co_return LockConflict{holders.front(), key, row_lock_field(members.front())};
}

}  // namespace

/// If all rows that refer to it are about to be deleted, or are locked, `blocker_` is the lock to wait for.
asio::awaitable<WriteUnit::ReferenceState> WriteUnit::examine_references(RedisClient& client,
                                                                         const ForeignKeyDemands::Children& children,
                                                                         ExecutionCounters* counters) {
  constexpr std::size_t kExamined = 1000;
  const sql::CatalogSnapshot::TablePtr& table = children.key->referencing();
  const sql::TableKeys keys(*table);
  const std::unordered_set<std::string_view> gone(children.gone.begin(), children.gone.end());
  std::set<std::string> suspects;  // a cursor may give one twice
  const sql::MemberEnds ends = children.key->ends_of_references(*children.row);
  std::string cursor = "0";
  do {
    CommandBatch scan;
    scan.add("SSCAN", children.set, cursor, "COUNT", kExamined);
    RepliesPtr page = co_await client.execute(std::move(scan), counters);
    const std::span<const Reply> parts = page->array(0);
    if (parts.size() != 2 || !parts[0].is_text()) throw unexpected_reply("SSCAN", "a cursor and elements");
    for (const Reply& member : parts[1].children()) {
      std::string whole = ends.whole(member.text);
      if (!gone.contains(whole)) suspects.insert(std::move(whole));
    }
    cursor = std::string(parts[0].text);
  } while (cursor != "0" && suspects.size() < kExamined);
  const StoredRows rows(table);
  CommandBatch fetch;
  for (const std::string& member : suspects) rows.append_fetch(fetch, member);
  if (suspects.empty()) co_return ReferenceState::kGone;
  RepliesPtr found = co_await client.execute(std::move(fetch), counters);
  std::size_t index = 0;
  std::vector<std::string> there;
  bool is_known = true;
  for (const std::string& member : suspects) {
    if (rows.decode(member, found->array(index++))) {
      is_known = is_known && (!options_.changed_rows || options_.changed_rows->contains(keys.row_of_member(member)));
      there.push_back(member);
    } else {
      lost_references_[children.set].insert(member);
      guards_.push_back({keys.row_of_member(member), {keys.presence_field()}, {std::nullopt}});
    }
  }
  if (there.empty()) co_return ReferenceState::kGone;
  const std::string own = options_.locks != nullptr ? options_.locks->token : "";
  if (auto lock = co_await lock_of_all(client, *table, std::move(there), own, counters)) blocker_ = *std::move(lock);
  co_return is_known ? ReferenceState::kThere : ReferenceState::kNew;
}

}  // namespace redquel::executor
