#include "executor/tables/structure_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "executor/context/execution_context.h"
#include "executor/roles/role_access.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/mapped_row.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/mapped_reader.h"
#include "executor/tables/mapped_scan.h"
#include "executor/tables/mapped_structures.h"
#include "executor/tables/scan_budget.h"
#include "executor/tables/structure_entries.h"
#include "planner/physical/physical_planner.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/mapped_value.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/compare.h"

namespace redquel::executor {

using sql::IndexMethod;
using sql::Mapping;
using sql::SqlError;
using Row = std::vector<sql::Datum>;

namespace {

/// Rows whose entries one script writes: a few milliseconds of Redis.
constexpr std::size_t kRowsTogether = 200;
/// Concurrent writes make another pass necessary.
constexpr int kPasses = 10;

using Settings = std::map<std::string, std::string>;

/// Returns the parameters that hold while structures are compared: values that cannot be read are NULL, scans have the session's bounds.
Settings settings_of(const StructureCheck& check) {
  Settings settings{{"redquel.on_bad_value", "null"}};
  for (const char* name : {"redquel.max_scanned_keys", "redquel.max_keys_per_second"}) {
    const std::optional<std::string> value = check.show ? check.show(name) : std::nullopt;
    if (value) settings[name] = *value;
  }
  return settings;
}

const std::string* show_setting(const void* settings, const std::string& name) {
  const auto& known = *static_cast<const Settings*>(settings);
  const auto found = known.find(name);
  return found == known.end() ? nullptr : &found->second;
}

sql::EvaluationContext evaluation_of(const sql::CatalogPtr& catalog, const Settings& settings) {
  sql::EvaluationContext evaluation;
  evaluation.show = show_setting;
  evaluation.session = &settings;
  evaluation.catalog = catalog.get();
  return evaluation;
}

class Check {
 public:
  Check(const StructureCheck& check, bool mends)
      : table_(*check.table), mapping_(table_.mapping()), version_(check.catalog->version), strays_(check.strays), mends_(mends),
        settings_(settings_of(check)),
        context_(check.redis, check.access.bulk(check.database), check.catalog, evaluation_of(check.catalog, settings_), /*make_operator=*/nullptr) {
    context_.access = &check.access;
    context_.database = check.database;
    if (RoleAccess* access = role_access(&check.access)) access->check_as_owner(table_);
    bound_steps(context_);
    read_.table = check.table;
    read_.alias = table_.name;
    for (std::size_t i = 0; i < table_.shown_columns(); ++i) {
      read_.numbers.push_back(table_.columns[i].number);
      read_.outputs.push_back(static_cast<std::int16_t>(i));
    }
    for (const sql::IndexDef& index : table_.indexes) {
      if (check.indexes.contains(index.oid)) indexes_.push_back(&index);
    }
  }

  asio::awaitable<StructureReport> run() {
    if (strays_) {
      for (const sql::IndexDef* index : indexes_) {
        if (index->method != IndexMethod::kList) co_await find_strays(*index);
      }
    }
    const StructureReport before = report_;
    for (int pass = 0; pass == 0 || unsettled_ > 0; ++pass) {
      if (pass == kPasses) {
        throw SqlError(sqlstate::kSerializationFailure,
                       fmt::format("could not rebuild the structures of foreign table \"{}\" due to concurrent writes", table_.name));
      }
      report_ = before;
      unsettled_ = 0;
      lists_.clear();
      co_await compare_rows();
      judge_lists();
    }
    if (mends_ && indexes_.size() == table_.indexes.size()) co_await settle_unkept();
    for (const auto& [oid, rows] : report_.missing) {
      const auto index = std::find_if(indexes_.begin(), indexes_.end(), [&](const sql::IndexDef* other) { return other->oid == oid; });
      if (found_.contains(oid)) continue;
      const bool is_there = co_await has_keys(**index);
      if (!is_there) report_.absent.insert(oid);
    }
    co_return report_;
  }

 private:
  // ---- rows, and the entries that they should have ----

  planner::PhysicalPlan all_rows() const {
    planner::MappedScan scan;
    scan.read = read_;
    if (mapping_.ohm) {
      scan.path = planner::MappedScan::Path::kSets;
      scan.sets = planner::SetExpression{planner::SetExpression::Kind::kSet, {}, {}, {}};
      scan.member = sql::joined_slots(table_.primary_key);
    }
    std::vector<planner::PhysicalColumn> columns;
    for (std::size_t i = 0; i < read_.numbers.size(); ++i) columns.push_back({table_.columns[i].name, table_.columns[i].type});
    return planner::make_physical(std::move(scan), std::move(columns));
  }

  /// A row as a change that changes nothing.
  MappedChange change_of(const sql::Batch& batch, std::size_t number) const {
    Row row;
    for (const sql::ColumnPtr& column : batch.columns) row.push_back(column->datum(number));
    row.resize(table_.columns.size());  // what is hidden stays as it is
    return {row, row};
  }

  asio::awaitable<void> compare_rows() {
    const planner::PhysicalPlan plan = all_rows();
    const OperatorPtr rows = make_mapped_scan(*plan, std::get<planner::MappedScan>(plan->node), context_);
    while (auto batch = co_await rows->next()) {
      std::deque<MappedChange> page;
      for (std::size_t i = 0; i < batch->rows; ++i) page.push_back(change_of(*batch, i));
      co_await compare_page(page);
    }
  }

  struct Question {
    std::size_t row;
    const sql::IndexDef* index;
    MappedEntry entry;
  };

  asio::awaitable<void> compare_page(const std::deque<MappedChange>& page) {
    std::vector<Question> questions;
    CommandBatch batch;
    for (std::size_t i = 0; i < page.size(); ++i) {
      const MappedRow row(table_, page[i]);
      for (const sql::IndexDef* index : indexes_) {
        if (std::optional<MappedEntry> entry = entry_of(row, page[i], *index)) {
          append_question(batch, *index, *entry);
          questions.push_back({i, index, *std::move(entry)});
        }
      }
    }
    if (questions.empty()) co_return;
    RepliesPtr replies = co_await ask_mapped(table_, std::move(batch), false, context_, nullptr);
    std::set<std::size_t> suspects;
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const Question& question = questions[i];
      const Reply& reply = (*replies)[i];
      if (question.index->method == IndexMethod::kList) note_list(question, page[question.row], reply);
      else if (holds(*question.index, question.entry, reply)) found_.insert(question.index->oid);
      else suspects.insert(question.row);
    }
    std::vector<const MappedChange*> some;
    for (const std::size_t row : suspects) {
      some.push_back(&page[row]);
      if (some.size() < kRowsTogether) continue;
      co_await settle(some);
      some.clear();
    }
    if (!some.empty()) co_await settle(some);
  }

  /// A row with a value that cannot stand in the structure lacks its entry for good. nullopt: it has none to look for.
  std::optional<MappedEntry> entry_of(const MappedRow& row, const MappedChange& change, const sql::IndexDef& index) {
    try {
      return row.entry(index, *change.after);
    } catch (const SqlError& error) {
      if (mends_) throw;
      add_difference(index, {std::string(), std::string(), mapped_identity(table_, *change.after), {}}, std::nullopt, error.message());
      ++report_.missing[index.oid];
      return std::nullopt;
    }
  }

  static std::optional<MappedEntry> entry_or_none(const MappedRow& row, const MappedChange& change, const sql::IndexDef& index) {
    try {
      return row.entry(index, *change.after);
    } catch (const SqlError&) {
      return std::nullopt;
    }
  }

  void add_difference(const sql::IndexDef& index, const MappedEntry& entry, std::optional<std::string> stored, std::optional<std::string> expected) {
    if (report_.differences.size() >= StructureReport::kMost) return;
    report_.differences.push_back({std::string(method_name(index.method)), entry.key, entry.member, std::move(stored), std::move(expected)});
  }

  /// Looks at rows and their entries at one moment; adds what they lack.
  asio::awaitable<void> settle(const std::vector<const MappedChange*>& rows) {
    std::vector<std::unique_ptr<MappedRow>> mapped;
    std::vector<Question> questions;
    CommandBatch batch;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      mapped.push_back(std::make_unique<MappedRow>(table_, *rows[i]));
      mapped.back()->append_reads(batch);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const sql::IndexDef* index : indexes_) {
        if (index->method == IndexMethod::kList) continue;
        if (std::optional<MappedEntry> entry = entry_or_none(*mapped[i], *rows[i], *index)) {
          append_question(batch, *index, *entry);
          questions.push_back({i, index, *std::move(entry)});
        }
      }
    }
    RepliesPtr replies = co_await ask_mapped(table_, std::move(batch), true, context_, nullptr);
    std::span<const Reply> all = replies->all();
    std::vector<MappedRow::Found> found;
    MappedLookups lookups;
    for (const auto& row : mapped) {
      found.push_back(row->take_reads(all.first(row->read_count()), true, lookups));
      all = all.subspan(row->read_count());
    }
    std::vector<std::vector<const sql::IndexDef*>> lacking(rows.size());
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const Question& question = questions[i];
      if (found[question.row] == MappedRow::Found::kChanged || holds(*question.index, question.entry, all[i])) continue;
      if (mends_ && question.index->method == IndexMethod::kLookup && all[i].is_text()) throw duplicate(*question.index, *rows[question.row]->after);
      lacking[question.row].push_back(question.index);
      if (mends_) continue;
      add_difference(*question.index, question.entry, stored_text(*question.index, all[i]), expected_text(*question.index, question.entry));
      ++report_.missing[question.index->oid];
    }
    if (!mends_) co_return;
    MappedWriteCall call = new_call();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (found[i] == MappedRow::Found::kChanged) ++unsettled_;
      if (lacking[i].empty()) continue;
      const bool is_lookup = std::ranges::any_of(lacking[i], [](const sql::IndexDef* index) { return index->method == IndexMethod::kLookup; });
      if (is_lookup && found[i] == MappedRow::Found::kTaken) throw mapped[i]->violation();
      mapped[i]->append_entries(call, lacking[i]);
      if (sql::uses_cluster()) co_await write(std::exchange(call, new_call()));  // rows lie in different slots
    }
    co_await write(std::move(call));
  }

  SqlError duplicate(const sql::IndexDef& index, const Row& row) const {
    std::vector<std::int16_t> columns;
    Row values;
    for (const sql::IndexDef::Part& part : index.parts) {
      columns.push_back(part.column);
      values.push_back(row[table_.position(part.column)]);
    }
    return duplicate_in_new_index(table_, index.name, columns, values, sql::SessionSettings{});
  }

  MappedWriteCall new_call() {
    MappedWriteCall call(version_, context_.database);
    call.select(database_of(mapping_, context_));
    return call;
  }

  asio::awaitable<void> write(MappedWriteCall call) {
    const RedisUserPtr user = co_await redis_user_of(table_, context_);
    MappedWriteResult result;
    if (user) result = co_await write_mapped_as(user, context_.database, std::move(call), nullptr);
    else result = co_await write_mapped(context_.redis(), std::move(call), nullptr);
    if (result.status == WriteStatus::kStale) throw StaleCatalog{};
    if (result.status != WriteStatus::kApplied) ++unsettled_;
  }

  // ---- lists: the newest rows, so that a row may be missing; but not one that is newer than another one in the list ----

  struct ListState {
    std::optional<sql::Datum> least_in, most_out;
    std::string newest_out;  // what stands for the row
  };

  void note_list(const Question& question, const MappedChange& change, const Reply& reply) {
    const std::int16_t column = sql::ordered_column(*question.index);
    const std::size_t at = table_.position(column);
    const sql::Datum& value = (*change.after)[at];
    ListState& list = lists_[{question.index, question.entry.key}];
    const bool is_in = !reply.is_error() && !reply.is_nil();
    std::optional<sql::Datum>& kept = is_in ? list.least_in : list.most_out;
    const int order = kept ? sql::compare(table_.columns[at].type, value, *kept) : 0;
    if (kept && (is_in ? order >= 0 : order <= 0)) return;
    kept = value;
    if (!is_in) list.newest_out = question.entry.member;
  }

  void judge_lists() {
    for (const auto& [place, list] : lists_) {
      const auto& [index, key] = place;
      const sql::Type type = table_.find_column(sql::ordered_column(*index))->type;
      if (!list.least_in || !list.most_out || sql::compare(type, *list.most_out, *list.least_in) <= 0) continue;
      ++report_.missing[index->oid];
      add_difference(*index, {key, "", list.newest_out, {}}, std::nullopt, "");
    }
  }

  // ---- entries that stand for no row ----

  asio::awaitable<void> find_strays(const sql::IndexDef& index) {
    const sql::KeyTemplate key = sql::index_key(index);
    const auto nothing = [](std::int16_t) { return std::optional<std::string>(); };
    if (!key.has_slots()) {
      std::string only = *key.render(nothing);
      MappedKey no_slots;
      co_await find_strays_in(index, std::move(only), std::move(no_slots));
      co_return;
    }
    const std::string pattern = key.pattern(nothing);
    std::string cursor = "0";
    do {
      CommandBatch batch;
      batch.add("SCAN", cursor, "MATCH", pattern, "COUNT", context_.limits.chunk_rows, "TYPE", type_name(index));
      RepliesPtr replies = co_await ask_mapped_bulk(table_, std::move(batch), context_, nullptr);
      const auto parts = replies->array(0);
      if (parts.size() != 2) throw SqlError(sqlstate::kInternalError, "unexpected reply of SCAN");
      cursor = std::string(parts[0].text);
      for (const Reply& name : parts[1].children()) {
        std::optional<MappedKey> values = slots_of(key, name.text);
        if (!values) continue;
        std::string found(name.text);
        co_await find_strays_in(index, std::move(found), *std::move(values));
      }
    } while (cursor != "0");
  }

  std::optional<MappedKey> slots_of(const sql::KeyTemplate& key, std::string_view name) const {
    const auto texts = key.match(name);
    if (!texts) return std::nullopt;
    MappedKey values;
    std::size_t slot = 0;
    for (const sql::KeyTemplate::Part& part : key.parts()) {
      if (part.column == 0) continue;
      auto value = sql::decode_slot(part, mapping_.column(part.column), table_.find_column(part.column)->type, (*texts)[slot++]);
      if (!value) return std::nullopt;
      values[part.column] = *std::move(value);
    }
    return values;
  }

  struct Entry {
    std::string field, member;
    MappedKey row = {};  // that it stands for
    bool is_known = false;  // such a row could be
  };

  asio::awaitable<void> find_strays_in(const sql::IndexDef& index, std::string key, MappedKey slots) {
    const bool is_hash = sql::is_hash_lookup(index), is_string = index.method == IndexMethod::kLookup && !is_hash;
    std::string cursor = "0";
    do {
      CommandBatch batch;
      if (is_string) batch.add("GET", key);
      else batch.add(index.method == IndexMethod::kSet ? "SSCAN" : is_hash ? "HSCAN" : "ZSCAN", key, cursor, "COUNT", context_.limits.chunk_rows);
      RepliesPtr replies = co_await ask_mapped(table_, std::move(batch), false, context_, nullptr);
      const Reply& reply = (*replies)[0];
      if (reply.is_error()) {
        add_difference(index, {key, "", "", {}}, stored_text(index, reply), std::nullopt);
        co_return;
      }
      std::vector<Entry> entries;
      if (is_string) {
        if (reply.is_text()) entries.push_back({"", std::string(reply.text)});
        cursor = "0";
      } else {
        const auto parts = reply.children();
        if (parts.size() != 2) throw SqlError(sqlstate::kInternalError, "unexpected reply of a SCAN command");
        cursor = std::string(parts[0].text);
        const auto elements = parts[1].children();
        const std::size_t width = index.method == IndexMethod::kSet ? 1 : 2;
        for (std::size_t i = 0; i + width <= elements.size(); i += width) {
          if (is_hash) entries.push_back({std::string(elements[i].text), std::string(elements[i + 1].text)});
          else entries.push_back({"", std::string(elements[i].text)});
        }
      }
      co_await judge_entries(index, key, slots, std::move(entries));
    } while (cursor != "0");
  }

  /// The rows of the targets in `reader`, by their tags.
  asio::awaitable<std::map<std::size_t, MappedChange>> rows_of(MappedReader& reader) {
    while (!reader.is_idle()) co_await reader.step(nullptr);
    std::vector<std::size_t> tags;
    const sql::Batch batch = reader.take_all(tags);
    std::map<std::size_t, MappedChange> rows;
    for (std::size_t i = 0; i < batch.rows; ++i) rows.emplace(tags[i], change_of(batch, i));
    co_return rows;
  }

  asio::awaitable<void> judge_entries(const sql::IndexDef& index, const std::string& key, const MappedKey& slots, std::vector<Entry> entries) {
    const sql::KeyTemplate member = sql::index_member(table_, index);
    MappedReader reader(read_, context_);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      auto values = reader.key_of_member(member, entries[i].member);
      if (!values) continue;
      for (const auto& [column, value] : slots) {
        if (table_.in_primary_key(column)) values->emplace(column, value);
      }
      entries[i].row = *values;
      entries[i].is_known = true;
      reader.add({*std::move(values), i});
    }
    const std::map<std::size_t, MappedChange> rows = co_await rows_of(reader);
    std::vector<std::size_t> strays;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto row = rows.find(i);
      if (row != rows.end()) {
        const MappedRow mapped(table_, row->second);
        const auto own = entry_or_none(mapped, row->second, index);
        if (own && own->key == key && own->field == entries[i].field && own->member == entries[i].member) continue;
      }
      strays.push_back(i);
    }
    if (strays.empty()) co_return;
    if (mends_) {
      co_await remove(index, key, reader, entries, strays, rows);
      co_return;
    }
    CommandBatch batch;
    for (const std::size_t i : strays) append_question(batch, index, {key, entries[i].field, entries[i].member, {}});
    RepliesPtr replies = co_await ask_mapped(table_, std::move(batch), false, context_, nullptr);
    for (std::size_t i = 0; i < strays.size(); ++i) {
      const Entry& entry = entries[strays[i]];
      const std::optional<std::string> stored = stored_text(index, (*replies)[i]);
      const bool is_gone = !stored || (index.method == IndexMethod::kLookup && *stored != entry.member);
      if (!is_gone) add_difference(index, {key, entry.field, entry.member, {}}, stored, std::nullopt);
    }
  }

  /// Removes entries if they still stand for no row. Entries that no row could have stay: they belong to another program.
  asio::awaitable<void> remove(const sql::IndexDef& index, const std::string& key, const MappedReader& reader, const std::vector<Entry>& entries,
                               const std::vector<std::size_t>& strays, const std::map<std::size_t, MappedChange>& rows) {
    MappedWriteCall call = new_call();
    for (const std::size_t i : strays) {
      const Entry& entry = entries[i];
      if (!entry.is_known) continue;
      const auto found = rows.find(i);
      const MappedChange* row = found == rows.end() ? nullptr : &found->second;
      const bool is_same = co_await expect_row(call, reader, entry.row, row);
      if (!is_same) continue;
      const bool is_hash = sql::is_hash_lookup(index);
      if (index.method == IndexMethod::kSet) call.command({"SREM", key, entry.member});
      if (index.method == IndexMethod::kZset) call.command({"ZREM", key, entry.member});
      if (index.method == IndexMethod::kLookup) call.expect(is_hash ? MappedWriteCall::Words{"HGET", key, entry.field} : MappedWriteCall::Words{"GET", key}, entry.member);
      if (index.method == IndexMethod::kLookup) call.command(is_hash ? MappedWriteCall::Words{"HDEL", key, entry.field} : MappedWriteCall::Words{"DEL", key});
      if (sql::uses_cluster()) co_await write(std::exchange(call, new_call()));
    }
    co_await write(std::move(call));
  }

  /// Requires that the row is as it was read, or absent. False: it has changed already.
  asio::awaitable<bool> expect_row(MappedWriteCall& call, const MappedReader& reader, const MappedKey& key, const MappedChange* row) {
    if (row == nullptr) {
      expect_absence(call, reader, key);
      co_return true;
    }
    MappedRow mapped(table_, *row);
    const bool is_same = co_await is_as_read(mapped);
    if (is_same) mapped.append_checks(call);
    co_return is_same;
  }

  asio::awaitable<bool> is_as_read(MappedRow& mapped) {
    CommandBatch batch;
    mapped.append_reads(batch);
    RepliesPtr replies = co_await ask_mapped(table_, std::move(batch), true, context_, nullptr);
    MappedLookups lookups;
    co_return mapped.take_reads(replies->all(), true, lookups) != MappedRow::Found::kChanged;
  }

  void expect_absence(MappedWriteCall& call, const MappedReader& reader, const MappedKey& key) const {
    using Layout = Mapping::Layout;
    const std::optional<std::string> name = reader.key_of(key, "");
    if (!name) return;  // no row can have these values
    const auto part = [&](Mapping::Role role) { return reader.text_of(key, mapping_.with_role(role)->number).value_or(""); };
    switch (mapping_.layout) {
      case Layout::kHash:
        if (mapping_.ohm) call.expect({"SISMEMBER", sql::ohm_key(mapping_, "all"), reader.text_of(key, table_.primary_key.front()).value_or("")}, "0");
        else call.expect({"EXISTS", *name}, "0");
        break;
      case Layout::kStrings:
        for (const Mapping::Column& column : mapping_.columns) {
          if (column.role == Mapping::Role::kField) call.expect({"EXISTS", reader.key_of(key, column.field).value_or("")}, "0");
        }
        break;
      case Layout::kString: call.expect({"EXISTS", *name}, "0"); break;
      case Layout::kSet: call.expect({"SISMEMBER", *name, part(Mapping::Role::kMember)}, "0"); break;
      case Layout::kZset: call.expect_nil({"ZSCORE", *name, part(Mapping::Role::kMember)}); break;
      case Layout::kHashFields: call.expect_nil({"HGET", *name, part(Mapping::Role::kName)}); break;
      case Layout::kList:
      case Layout::kStream: break;  // have no structures
    }
  }

  // ---- rows that redquel has written while a structure was not maintained ----

  /// Once such a row has all its entries it need not be read apart from the structures.
  asio::awaitable<void> settle_unkept() {
    const bool has_list = std::any_of(indexes_.begin(), indexes_.end(), [](const sql::IndexDef* index) {
      return index->method == IndexMethod::kList && !index->mapped().maintained;
    });
    if (has_list) co_return;  // rows cannot be added to a list
    const std::vector<MappedKey> keys = co_await unkept_rows(table_, context_, nullptr);
    for (std::size_t first = 0; first < keys.size(); first += kRowsTogether) {
      MappedReader reader(read_, context_);
      const std::size_t end = std::min(first + kRowsTogether, keys.size());
      for (std::size_t i = first; i < end; ++i) reader.add({keys[i], i});
      const std::map<std::size_t, MappedChange> rows = co_await rows_of(reader);
      MappedWriteCall call = new_call();
      for (std::size_t i = first; i < end; ++i) {
        const auto found = rows.find(i);
        const MappedChange* row = found == rows.end() ? nullptr : &found->second;
        co_await settle_unkept(call, reader, keys[i], row);
        if (sql::uses_cluster()) co_await write(std::exchange(call, new_call()));
      }
      co_await write(std::move(call));
    }
  }

  asio::awaitable<void> settle_unkept(MappedWriteCall& call, const MappedReader& reader, const MappedKey& key, const MappedChange* row) {
    Row values(table_.columns.size());
    for (const auto& [column, value] : key) values[table_.position(column)] = value;
    if (row == nullptr) {
      expect_absence(call, reader, key);
    } else {
      MappedRow mapped(table_, *row);
      const bool is_same = co_await is_as_read(mapped);
      if (!is_same) co_return;  // stays noted
      std::vector<const sql::IndexDef*> kept;
      std::copy_if(indexes_.begin(), indexes_.end(), std::back_inserter(kept), [](const sql::IndexDef* index) { return index->method != IndexMethod::kList; });
      mapped.append_entries(call, kept);
    }
    call.forget_unkept(table_.oid, mapped_identity(table_, values));
  }

  /// Returns true if any key of the structure exists.
  asio::awaitable<bool> has_keys(const sql::IndexDef& index) {
    const sql::KeyTemplate key = sql::index_key(index);
    const auto nothing = [](std::int16_t) { return std::optional<std::string>(); };
    const std::string pattern = key.pattern(nothing);
    std::string cursor = "0";
    do {
      CommandBatch batch;
      if (key.has_slots()) batch.add("SCAN", cursor, "MATCH", pattern, "COUNT", context_.limits.chunk_rows);
      else batch.add("EXISTS", *key.render(nothing));
      RepliesPtr replies = co_await ask_mapped_bulk(table_, std::move(batch), context_, nullptr);
      if (!key.has_slots()) co_return replies->integer(0) == 1;
      const auto parts = replies->array(0);
      cursor = std::string(parts[0].text);
      for (const Reply& name : parts[1].children()) {
        if (key.match(name.text)) co_return true;
      }
    } while (cursor != "0");
    co_return false;
  }

  const sql::TableDef& table_;
  const Mapping& mapping_;
  std::string version_;  // of the catalog
  bool strays_, mends_;
  planner::TableRead read_;
  Settings settings_;
  ExecutionContext context_;
  std::vector<const sql::IndexDef*> indexes_;
  StructureReport report_;
  std::size_t unsettled_ = 0;     // rows or scripts that met concurrent writes
  std::set<sql::Oid> found_;      // structures that have a row's entry
  std::map<std::pair<const sql::IndexDef*, std::string>, ListState> lists_;  // by key
};

}  // namespace

asio::awaitable<StructureReport> compare_structures(StructureCheck check) {
  Check compare(check, false);
  co_return co_await compare.run();
}

asio::awaitable<StructureReport> mend_structures(StructureCheck check) {
  Check mend(check, true);
  co_return co_await mend.run();
}

}  // namespace redquel::executor
