#include "executor/storage/index_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "executor/redis/redis_error.h"
#include "executor/redis/wrong_type.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/index_checker.h"
#include "executor/storage/row_expiry.h"
#include "executor/storage/row_image.h"
#include "executor/storage/stored_row.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/row_fields.h"
#include "sql/catalog/stored_keys.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Rows whose scripts go out together.
constexpr std::size_t kRowsTogether = 200;
/// Each pass repairs what it finds; if passes find as much as those before them, that is due to concurrent writes.
constexpr int kFruitlessPasses = 10;

/// A place of one entry: what the row must have there, or must not.
struct Step {
  std::string what, key, first, second;
};

/// Returns repair_row.lua's word for the addition of an element.
std::string step_of(const sql::ElementForm& form) { return &form == &sql::kSetForm ? "sadd" : &form == &sql::kZsetForm ? "zadd" : "hset"; }

void append_steps(const std::vector<Step>& steps, std::vector<std::string>& keys, std::vector<std::string>& arguments) {
  for (const Step& step : steps) {
    keys.push_back(step.key);
    arguments.insert(arguments.end(), {step.what, step.first, step.second});
  }
}

class IndexRepair {
 public:
  IndexRepair(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table, sql::SessionSettings settings)
      : client_(client),
        catalog_(std::move(catalog)),
        table_(std::move(table)),
        settings_(std::move(settings)),
        rows_(table_),
        encoder_(table_) {
    std::vector<std::int16_t> numbers;
    for (const sql::ColumnDef& column : table_->columns) numbers.push_back(column.number);
    if (table_->has_hidden_key()) numbers.push_back(0);
    fields_ = sql::row_fields(*table_, numbers).fields;
  }

  asio::awaitable<void> run() {
    std::size_t last = SIZE_MAX;
    for (int fruitless = 0; fruitless < kFruitlessPasses;) {
      std::size_t found = 0;
      TakeDifferences take = [&](std::vector<IndexDifference> differences) {
        std::erase_if(differences, [](const IndexDifference& difference) {
          return difference.structure == "unknown" || difference.structure == "sequence" || difference.structure == "row";
        });
        found += differences.size();
        return repair(std::move(differences));
      };
      co_await check_indexes(client_, catalog_, table_, std::move(take));
      if (found == 0) co_return co_await repair_counters();
      fruitless = found < last ? 0 : fruitless + 1;
      last = found;
    }
    throw SqlError(sqlstate::kSerializationFailure,
                   fmt::format("could not rebuild the indexes of table \"{}\" due to concurrent writes", table_->name));
  }

 private:
  /// A row that has an entry too many, or too few.
  struct Wrong {
    std::string member;
    const IndexDifference* difference;
  };

  asio::awaitable<void> repair(std::vector<IndexDifference> differences) {
    std::vector<Wrong> rows;
    for (const IndexDifference& difference : differences) {
      if (difference.id.empty()) {
        co_await drop_key(difference.key);
      } else if (difference.structure == "values") {
        if (!difference.expected) co_await drop_value(difference);
        if (difference.expected) rows.push_back({difference.element, &difference});
      } else if (difference.structure == "unique" && lies_by_value(difference.key)) {
        co_await repair_value(difference);
      } else if (difference.structure == "unique") {
        if (difference.stored) rows.push_back({*difference.stored, &difference});
        if (difference.expected) rows.push_back({*difference.expected, &difference});
      } else {
        rows.push_back({difference.id, &difference});
      }
    }
    for (std::size_t first = 0; first < rows.size(); first += kRowsTogether) {
      const std::size_t count = std::min(kRowsTogether, rows.size() - first);
      std::vector<Wrong> some(rows.begin() + static_cast<std::ptrdiff_t>(first), rows.begin() + static_cast<std::ptrdiff_t>(first + count));
      co_await repair_rows(std::move(some));
    }
  }

  /// The structure of unique values that has the key, also in the bucket of another part; null: another one.
  const RowEncoder::StructureKeys* structure_by_value(const std::string& key) const {
    for (const RowEncoder::StructureKeys& structure : encoder_.structures()) {
      if (std::ranges::find(structure.keys_by_value, key) != structure.keys_by_value.end()) return &structure;
    }
    return nullptr;
  }
  bool lies_by_value(const std::string& key) const { return structure_by_value(key) != nullptr; }

  /// 23505 where the unique value of a row is that of a row of any part, too.
  asio::awaitable<void> check_owner_by_value(IndexDifference difference) {
    const StoredRows rows(catalog_->find_table(table_->part_of));
    const RowEncoder::StructureKeys& structure = *structure_by_value(difference.key);
    CommandBatch fetch;
    try {
      rows.append_fetch(fetch, *difference.stored);
    } catch (const SqlError&) {  // no member of this table
      co_return;
    }
    const RepliesPtr replies = co_await client_.execute(std::move(fetch));
    const auto owner = rows.decode(*difference.stored, replies->array(0));
    if (!owner) co_return;
    const std::vector<sql::Datum> values = encoder_.values(structure, *owner);
    const std::vector<std::int16_t>& columns = structure.structure.columns;
    if (encoder_.keys().unique_field(columns, values) != difference.id) co_return;
    throw duplicate_in_new_index(*table_, unique_name(*table_, columns).name, columns, values, settings_);
  }

  /// An entry that lies by value. Its row may be in another bucket, so the script does not look at it: the checker has done so several times.
  asio::awaitable<void> repair_value(IndexDifference difference) {
    std::vector<Step> steps;
    if (difference.stored) steps.push_back({"hdel", difference.key, difference.id, *difference.stored});
    if (difference.stored && difference.expected) co_await check_owner_by_value(difference);
    if (difference.expected) steps.push_back({step_of(sql::kHashForm), difference.key, difference.id, *difference.expected});
    std::vector<std::string> keys{difference.key}, arguments{"0"};
    append_steps(steps, keys, arguments);
    RepliesPtr done = co_await run_script(client_, kRepairRowScript, keys, arguments);
    done->or_throw();
  }

  /// Deletes a key of another type than a structure of the table has. (Keys of no structure may be another program's: they stay.)
  asio::awaitable<void> drop_key(std::string key) {
    CommandBatch batch;
    batch.add("UNLINK", key);
    RepliesPtr replies = co_await client_.execute(std::move(batch));
    replies->or_throw();
  }

  /// Makes counters anew that are of another type: the table's changes, and the hidden keys, which go on behind the last row.
  asio::awaitable<void> repair_counters() {
    const std::string changes = encoder_.counter(), hidden = encoder_.keys().row_counter();
    CommandBatch batch;
    batch.add("TYPE", changes);
    batch.add("TYPE", hidden);
    batch.add("ZRANGE", encoder_.all_rows(), -1, -1);
    RepliesPtr replies = co_await client_.execute(std::move(batch));
    const auto is_wrong = [&](std::size_t index) {
      const std::string_view type = replies->text(index).value_or("none");
      return type != "none" && type != "string";
    };
    std::vector<Step> steps;
    if (is_wrong(0)) steps.push_back({"string", changes, "", ""});
    if (table_->has_hidden_key() && is_wrong(1)) {
      const std::span<const Reply> last = replies->array(2);
      steps.push_back({"string", hidden, last.empty() ? "" : std::string(last[0].text), ""});
    }
    if (steps.empty()) co_return;
    std::vector<std::string> keys{changes}, arguments{"0"};
    append_steps(steps, keys, arguments);
    RepliesPtr done = co_await run_script(client_, kRepairRowScript, keys, arguments);
    done->or_throw();
  }

  asio::awaitable<void> drop_value(const IndexDifference& difference) {
    const sql::TableKeys keys(*table_);
    for (const auto& structure : encoder_.structures()) {
      if (!structure.kind->lists_values() || structure.key != difference.key) continue;
      const std::vector<std::string> names{difference.key, keys.value_set_of_entry(structure.structure.columns, difference.id)};
      const std::vector<std::string> arguments{difference.id};
      RepliesPtr replies = co_await run_script(client_, kDropValueScript, names, arguments);
      replies->or_throw();
    }
  }

  /// Key of a row's hash; empty: no row can be called so.
  std::string row_key(const std::string& member) const {
    try {
      return encoder_.keys().row_of_member(member);
    } catch (const SqlError&) {
      return {};
    }
  }

  asio::awaitable<void> repair_rows(std::vector<Wrong> wrong) {
    CommandBatch fetch;
    std::vector<std::string> row_keys;
    for (const Wrong& row : wrong) {
      row_keys.push_back(row_key(row.member));
      if (!row_keys.back().empty()) fetch.add("HMGET", row_keys.back(), fields_);
    }
    RepliesPtr replies = co_await client_.execute(std::move(fetch));
    CommandBatch calls;
    std::vector<std::pair<const IndexDifference*, std::vector<sql::Datum>>> unique_rows;
    std::size_t reply = 0;
    for (std::size_t index = 0; index < wrong.size(); ++index) {
      const auto& [member, difference] = wrong[index];
      std::vector<std::string> keys{row_keys[index].empty() ? difference->key : row_keys[index]}, arguments;
      std::optional<std::vector<sql::Datum>> row;
      if (row_keys[index].empty()) {
        arguments.push_back("0");
      } else if (is_wrong_type((*replies)[reply])) {
        ++reply;
        arguments.push_back("-1");
      } else {
        const std::span<const Reply> values = replies->array(reply++);
        row = rows_.decode(member, values);
        arguments.push_back(std::to_string(fields_.size()));
        arguments.insert(arguments.end(), fields_.begin(), fields_.end());
        for (const Reply& value : values) arguments.push_back(value.is_text() ? std::string(value.text) : std::string(1, '\0'));
      }
      std::vector<Step> steps;
      append_removal(*difference, member, steps);
      if (row) append_entries(*row, steps);
      append_steps(steps, keys, arguments);
      kRepairRowScript.append_call(calls, keys, arguments);
      if (row && difference->structure == "unique" && difference->expected == member) unique_rows.emplace_back(difference, *std::move(row));
    }
    std::vector<const Script*> scripts{&kRepairRowScript};
    RepliesPtr done = co_await run_scripts(client_, std::move(scripts), std::move(calls));
    done->or_throw();
    for (const auto& [difference, row] : unique_rows) co_await check_owner(*difference, row);
  }

  /// The entry that is wrong; what is right about it comes back with the row's entries.
  void append_removal(const IndexDifference& difference, const std::string& member, std::vector<Step>& steps) const {
    if (!difference.stored) return;
    if (difference.structure == "set" || difference.structure == "nulls") steps.push_back({"srem", difference.key, difference.element, ""});
    if (difference.structure == "all rows") steps.push_back({"zrem", difference.key, difference.id, ""});
    if (difference.structure == "ordered" && !difference.element.empty()) steps.push_back({"zrem", difference.key, difference.element, ""});
    if (difference.structure == "unique" && *difference.stored == member) {
      steps.push_back({"hdel", difference.key, difference.id, member});
    }
  }

  void append_entries(const std::vector<sql::Datum>& row, std::vector<Step>& steps) const {
    Words words;
    const RowImage image = encoder_.encode(row, words);
    const std::string member(image.member);
    steps.push_back({"zadd", encoder_.all_rows(), member, std::string(image.score)});
    for (std::size_t number = 0; number < encoder_.structures().size(); ++number) {
      const auto& structure = encoder_.structures()[number];
      const auto entry = RowEncoder::entry(words, image, number);
      if (is_null(entry.first) || RowEncoder::lies_by_value(structure)) continue;
      for (const sql::StructureElement& element : RowEncoder::elements(structure, image, entry)) {
        steps.push_back({step_of(*element.form), std::string(element.key), std::string(element.name), std::string(element.value)});
      }
    }
    if (table_->rows_expire()) {
      steps.push_back({"list", encoder_.keys().entries(), member, row_entries(encoder_, image, words, true)});
      steps.push_back({"zadd", encoder_.keys().expiries(), member, "0"});  // the sweeper sees when it is due
      steps.push_back({"sadd", std::string(table_->tag()).append(sql::kExpiringKey), table_->prefix, ""});
    }
  }

  /// 23505 where the unique value of a row is another row's, too.
  asio::awaitable<void> check_owner(const IndexDifference& difference, const std::vector<sql::Datum>& row) {
    CommandBatch ask;
    ask.add("HGET", difference.key, difference.id);
    RepliesPtr owners = co_await client_.execute(std::move(ask));
    const std::string owner(owners->text(0).value_or(""));
    if (owner.empty() || owner == difference.expected) co_return;
    for (const auto& structure : encoder_.structures()) {
      if (!structure.kind->has_owners() || structure.key != difference.key) continue;
      CommandBatch fetch;
      rows_.append_fetch(fetch, owner);
      RepliesPtr replies = co_await client_.execute(std::move(fetch));
      const auto other = rows_.decode(owner, replies->array(0));
      if (!other) co_return;
      const std::vector<sql::Datum> values = encoder_.values(structure, row), other_values = encoder_.values(structure, *other);
      const std::vector<std::int16_t>& columns = structure.structure.columns;
      if (encoder_.keys().unique_field(columns, values) != encoder_.keys().unique_field(columns, other_values)) co_return;
      throw duplicate_in_new_index(*table_, unique_name(*table_, columns).name, columns, values, settings_);
    }
  }

  RedisClient& client_;
  sql::CatalogPtr catalog_;
  std::shared_ptr<const sql::TableDef> table_;
  sql::SessionSettings settings_;
  StoredRows rows_;
  RowEncoder encoder_;
  std::vector<std::string> fields_;
};

}  // namespace

asio::awaitable<void> repair_indexes(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table,
                                     sql::SessionSettings settings) {
  IndexRepair repair(client, std::move(catalog), std::move(table), std::move(settings));
  co_await repair.run();
}

}  // namespace redquel::executor
