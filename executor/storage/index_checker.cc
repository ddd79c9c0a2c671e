#include "executor/storage/index_checker.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "executor/redis/bad_key.h"
#include "executor/redis/redis_error.h"
#include "executor/storage/row_entries_check.h"
#include "executor/storage/row_image.h"
#include "executor/storage/stored_row.h"
#include "executor/storage/table_counters.h"
#include "executor/storage/unique_values_check.h"
#include "executor/storage/value_list_check.h"
#include "sql/catalog/key_classification.h"
#include "sql/catalog/key_segments.h"
#include "sql/catalog/member_form.h"
#include "sql/error.h"

namespace redquel::executor {

using sql::KeyRole;
using sql::SqlError;
using sql::Structure;

namespace {

constexpr std::size_t kPage = 200;       // rows or entries that one transaction looks at
constexpr std::size_t kQuickPage = 500;  // rows that are looked for together
constexpr int kCheckAttempts = 20;       // for a row that is written all the time

std::optional<std::string> text_of(const Reply& reply) {
  if (reply.is_text()) return std::string(reply.text);
  if (reply.kind == Reply::Kind::integer) return std::to_string(reply.integer);
  return std::nullopt;
}

class IndexChecker {
 public:
  IndexChecker(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table,
               std::size_t limit, TakeDifferences take)
      : client_(client),
        catalog_(std::move(catalog)),
        table_(std::move(table)),
        rows_(table_),
        encoder_(table_),
        values_check_(client_, *catalog_, table_),
        lists_check_(client_, table_),
        limit_(limit),
        take_(std::move(take)),
        classifier_(*table_),
        entries_check_(client_, table_),
        counted_(encoder_.structures().size()) {
    for (const auto& structure : encoder_.structures()) structures_.push_back(structure.structure);
  }

  /// Every row is looked for in every structure. Where a structure then has as many entries as the rows should have there, it has no
  /// others; else they are looked at one by one.
  asio::awaitable<std::vector<IndexDifference>> run() {
    co_await scan();
    if (!hashed_rows_.empty()) co_await find_hashed_rows();
    if (!is_full() && (choose_suspects() || !hashed_rows_.empty())) {
      counts_ = false;
      co_await scan();
    }
    for (const std::string& key : std::exchange(hashed_rows_, {})) co_await check_leftover("row", key);
    std::vector<IndexDifference> counters = co_await check_counters(client_, *catalog_, table_);
    for (IndexDifference& difference : counters) report(std::move(difference));
    co_await hand_over();
    co_return std::move(differences_);
  }

 private:
  bool is_full() const { return differences_.size() >= limit_; }
  const sql::StructureKind& kind_of(std::size_t number) const { return *encoder_.structures()[number].kind; }

  asio::awaitable<void> scan() {
    std::unique_ptr<RedisRequest> request = start_scan("0");
    while (request) {
      const RepliesPtr replies = co_await request->replies();
      const std::span<const Reply> parts = replies->array(0);
      if (parts.size() != 2) throw unexpected_reply("SCAN", "a cursor and keys");
      request = parts[0].text == "0" ? nullptr : start_scan(parts[0].text);
      for (const Reply& key : parts[1].children()) {
        const std::string name(key.text);
        co_await check_key(name);
        if (is_full() && !take_) co_return;
      }
      co_await check_rows();
      co_await count_entries();
      co_await hand_over();
    }
  }

  std::unique_ptr<RedisRequest> start_scan(std::string_view cursor) {
    CommandBatch batch;
    batch.add("SCAN", cursor, "MATCH", table_->prefix + ":*", "COUNT", "1000");
    return client_.start(std::move(batch));
  }

  asio::awaitable<void> hand_over() {
    if (!take_ || differences_.empty()) co_return;
    std::vector<IndexDifference> differences = std::exchange(differences_, {});
    co_await take_(std::move(differences));
  }

  /// Numbers of the structures whose entries are to be looked at; false: there are none.
  bool choose_suspects() {
    std::ranges::sort(seen_);
    const bool is_twice = std::ranges::adjacent_find(seen_) != seen_.end();  // SCAN may give a key again
    seen_ = {};
    // A row whose key hides its member, and that the table does not know, may stand in other structures.
    const bool suspects_all = is_twice || !hashed_rows_.empty();
    suspects_.assign(structures_.size(), suspects_all);
    suspects_all_rows_ = suspects_all || all_rows_ != entries_check_.rows();
    for (std::size_t number = 0; number < structures_.size(); ++number) {
      const Counted& counted = counted_[number];
      if (!structures_[number].readable || counted.entries != entries_check_.entries()[number]) suspects_[number] = true;
      // Rows of other parts have entries here.
      if (lies_by_value(number) && counted.entries > 0) suspects_[number] = true;
      if (kind_of(number).lists_values() && counted.values != counted.sets) suspects_[number] = true;
    }
    return suspects_all_rows_ || std::ranges::find(suspects_, true) != suspects_.end();
  }

  /// In the first pass a key of a structure is counted, in the second one its entries are looked at if need be.
  bool counts(std::string_view command, const std::string& key, std::size_t* count) {
    if (!counts_) return false;
    questions_.add(command, key);
    asked_.push_back(count);
    return true;
  }

  asio::awaitable<void> count_entries() {
    if (asked_.empty()) co_return;
    const std::vector<std::size_t*> asked = std::exchange(asked_, {});
    const RepliesPtr replies = co_await client_.execute(std::exchange(questions_, {}));
    for (std::size_t index = 0; index < asked.size(); ++index) {
      const Reply& reply = (*replies)[index];
      // A key of another type counts as one that has too many entries.
      *asked[index] += reply.kind == Reply::Kind::integer ? static_cast<std::size_t>(reply.integer) : std::size_t{1} << 40;
    }
  }

  void report(IndexDifference difference) {
    if (take_ || !is_full()) differences_.push_back(std::move(difference));
  }
  /// Reports a key that is of another type, or belongs to nothing.
  void report_key(std::string structure, std::string key, std::string stored) {
    report({std::move(structure), std::move(key), "", std::move(stored), std::nullopt, std::nullopt, true});
  }
  bool lies_by_value(std::size_t number) const { return RowEncoder::lies_by_value(encoder_.structures()[number]); }

  /// Number of the structure in the encoder; nullopt: the table does not keep it.
  std::optional<std::size_t> structure_number(const KeyRole& role) const {
    const auto found = std::find(structures_.begin(), structures_.end(), Structure{role.structure->kind(), role.columns, true});
    if (found == structures_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - structures_.begin());
  }

  asio::awaitable<void> check_key(std::string key) {
    const std::optional<KeyRole> role = classifier_.classify(key);
    if (!role) co_return;
    switch (role->kind) {
      case KeyRole::Kind::kRow: {
        if (!counts_) break;
        const std::optional<std::string> member = sql::member_of_row(*table_, *role);
        if (member) {
          pending_rows_.push_back(*member);
        } else if (std::ranges::any_of(role->segments,
                                       [](const std::string& segment) { return sql::is_hashed_segment(segment); })) {
          hashed_rows_.insert(key);
        } else {
          co_await check_leftover("row", key);
        }
        if (pending_rows_.size() >= kQuickPage) co_await check_rows();
        break;
      }
      case KeyRole::Kind::kAllRows:
        if (counts("ZCARD", key, &all_rows_)) break;
        if (suspects_all_rows_) co_await check_all_rows(key);
        break;
      case KeyRole::Kind::kStructure:
        if (role->structure->lists_values()) co_await check_list_of_values(key, *role);
        else co_await check_structure(key, *role);
        break;
      case KeyRole::Kind::kValueSet:
        co_await check_structure(key, *role);
        break;
      case KeyRole::Kind::kRowCounter:
        if (counts_ && !table_->has_hidden_key()) co_await check_leftover("sequence", key);
        break;
      case KeyRole::Kind::kSequence:
        if (counts_ && std::none_of(catalog_->sequences.begin(), catalog_->sequences.end(),
                         [&](const auto& entry) { return entry.second.key == key; })) {
          co_await check_leftover("sequence", key);
        }
        break;
      case KeyRole::Kind::kExpiries:  // what they say of a row that is gone are entries, which are looked at
        break;
      case KeyRole::Kind::kUnknown:
        if (counts_) co_await check_leftover("unknown", key);
        break;
    }
  }

  /// Adds a row whose key hides its member to those that are to be checked, once it is found in an entry.
  void find_hashed_row(const std::string& member) {
    if (hashed_rows_.empty() || member.size() <= sql::kMaxSegmentValue) return;
    try {
      if (hashed_rows_.erase(sql::TableKeys(*table_).row_of_member(member)) > 0) pending_rows_.push_back(member);
    } catch (const SqlError&) {  // no member of this table
    }
  }

  /// Looks for the members of rows with hashed keys among all rows. Those that are left have lost their entry there.
  asio::awaitable<void> find_hashed_rows() {
    std::string cursor = "0";
    do {
      CommandBatch batch;
      batch.add("ZSCAN", encoder_.all_rows(), cursor, "COUNT", kPage);
      const RepliesPtr replies = co_await client_.execute(std::move(batch));
      if ((*replies)[0].is_error()) co_return;  // a key of another type
      const std::span<const Reply> parts = replies->array(0);
      if (parts.size() != 2) throw unexpected_reply("ZSCAN", "a cursor and elements");
      const std::span<const Reply> elements = parts[1].children();
      for (std::size_t index = 0; index < elements.size(); index += 2)
        find_hashed_row(std::string(elements[index].text));
      co_await check_rows();
      co_await hand_over();
      cursor = std::string(parts[0].text);
    } while (cursor != "0" && !hashed_rows_.empty());
  }

  asio::awaitable<void> check_all_rows(std::string key) {
    sql::MemberEnds whole;
    co_await check_entries("all rows", std::move(key), sql::kZsetForm, std::nullopt, std::move(whole));
  }

  /// A key that nothing of the table keeps.
  asio::awaitable<void> check_leftover(std::string structure, std::string key) {
    CommandBatch batch;
    batch.add("TYPE", key);
    RepliesPtr replies = co_await client_.execute(std::move(batch));
    const std::string type(replies->text(0).value_or("none"));
    if (type != "none") report_key(std::move(structure), std::move(key), type);
  }

  /// The key of a kind that lists values.
  asio::awaitable<void> check_list_of_values(std::string key, KeyRole role) {
    const std::optional<std::size_t> number = structure_number(role);
    if (!number) {
      if (counts_) co_await check_leftover("unknown", std::move(key));
      co_return;
    }
    Counted& counted = counted_[*number];
    if (counts(role.structure->form().count, key, &counted.values)) co_return;
    if (suspects_[*number]) co_await check_values(std::move(key), role.structure, std::move(role.columns));
  }

  /// A key that holds entries of rows: one of a value's sets, or key() of another kind.
  asio::awaitable<void> check_structure(std::string key, KeyRole role) {
    const std::optional<std::size_t> number = structure_number(role);
    if (!number) {
      if (counts_) co_await check_leftover("unknown", std::move(key));
      co_return;
    }
    const sql::StructureKind& own = kind_of(*number);
    if (counts(own.entry_form().count, key, &counted_[*number].entries)) {
      if (own.lists_values()) {
        ++counted_[*number].sets;
        seen_.push_back(std::hash<std::string>()(key));
      }
    } else if (suspects_[*number]) {
      sql::MemberEnds ends;
      if (encoder_.structures()[*number].omitted.any()) ends = co_await lists_check_.ends_of_set(key, std::move(role));
      co_await check_entries(std::string(own.name()), std::move(key), own.entry_form(), number, std::move(ends));
    }
  }

  struct Entry {
    std::string name;    // the element of the set or zset, the field of the hash
    std::string member;  // of the row
  };

  /// Every element of a key must be an entry of a row. `number`: of the structure; nullopt: the all-rows zset. `ends`: of a set's members.
  asio::awaitable<void> check_entries(std::string structure, std::string key, const sql::ElementForm& form, std::optional<std::size_t> number,
                                      sql::MemberEnds ends) {
    const bool is_set = &form == &sql::kSetForm;
    std::string cursor = "0";
    do {
      CommandBatch batch;
      batch.add(form.scan, key, cursor, "COUNT", kPage);
      RepliesPtr replies = co_await client_.execute(std::move(batch));
      if ((*replies)[0].is_error()) {
        report_key(structure, key, std::string((*replies)[0].text));
        co_return;
      }
      const std::span<const Reply> parts = replies->array(0);
      if (parts.size() != 2) throw unexpected_reply(std::string(form.scan), "a cursor and elements");
      std::vector<Entry> entries;
      const std::span<const Reply> elements = parts[1].children();
      for (std::size_t index = 0; index < elements.size(); index += is_set ? 1 : 2) {
        Entry entry{std::string(elements[index].text), std::string(elements[index].text)};
        if (&form == &sql::kHashForm && index + 1 < elements.size()) entry.member = std::string(elements[index + 1].text);
        if (&form == &sql::kZsetForm && number) entry.member = std::string(sql::TableKeys::member_of_ordered(entry.name));
        if (is_set) entry.member = ends.whole(entry.name);
        find_hashed_row(entry.member);
        entries.push_back(std::move(entry));
      }
      if (number && lies_by_value(*number)) {
        std::vector<UniqueValuesCheck::Entry> by_value;
        for (const Entry& entry : entries) by_value.push_back({entry.name, entry.member});
        std::vector<IndexDifference> differences =
            co_await values_check_.check_entries(key, *number, std::move(by_value));
        for (IndexDifference& difference : differences) report(std::move(difference));
        entries.clear();
      }
      for (std::size_t first = 0; first < entries.size(); first += kPage) {
        const std::size_t count = std::min(kPage, entries.size() - first);
        const std::vector<Entry> page(entries.begin() + static_cast<std::ptrdiff_t>(first),
                                      entries.begin() + static_cast<std::ptrdiff_t>(first + count));
        co_await check_page(structure, key, form, number, page);
      }
      co_await hand_over();
      cursor = std::string(parts[0].text);
    } while (cursor != "0" && (take_ || !is_full()));
  }

  asio::awaitable<void> check_page(std::string structure, std::string key, const sql::ElementForm& form, std::optional<std::size_t> number,
                                   std::vector<Entry> entries) {
    CommandBatch batch;
    std::vector<bool> has_row;
    for (const Entry& entry : entries) {
      batch.add(form.look, key, entry.name);
      bool is_member = true;
      try {
        rows_.append_fetch(batch, entry.member);
      } catch (const SqlError&) {  // no member of this table
        is_member = false;
      }
      has_row.push_back(is_member);
    }
    RepliesPtr replies = co_await client_.execute_atomic(std::move(batch));
    const bool is_set = &form == &sql::kSetForm, is_hash = &form == &sql::kHashForm;
    std::size_t reply = 0;
    for (std::size_t index = 0; index < entries.size(); ++index) {
      const std::optional<std::string> stored = text_of(replies->checked(reply++));
      std::optional<std::vector<sql::Datum>> row;
      if (has_row[index] && is_wrong_type((*replies)[reply])) {
        ++reply;  // no row
      } else if (has_row[index]) {
        try {
          row = rows_.decode(entries[index].member, replies->array(reply++));
        } catch (const SqlError&) {
          continue;  // the row itself is reported
        }
      }
      if (!stored || (is_set && *stored == "0")) continue;  // gone meanwhile
      if (is_hash && *stored != entries[index].member) continue;
      std::optional<std::string> expected;
      try {  // (rows that are left out here are reported themselves)
        if (row && is_misnamed(*row, entries[index].member)) continue;
        if (row) expected = expected_of(*row, key, entries[index].name, number);
      } catch (const SqlError&) {
        continue;  // an expression that cannot be computed
      }
      if (expected && (is_set || (is_hash ? *expected == *stored : same_score(*expected, *stored)))) continue;
      report({structure, key, is_hash ? entries[index].name : entries[index].member, stored, expected,
              entries[index].name});
    }
  }

  /// Returns true if the fields of the row hold another key than its name. Which of them is right only other programs know:
  /// its entries stay.
  bool is_misnamed(const std::vector<sql::Datum>& row, const std::string& member) const {
    Words words;
    return encoder_.encode(row, words).member != member && rows_.is_canonical(member);
  }

  /// Returns the value that the row expects under this element of this key: score, owner, or "1"; nullopt: none.
  std::optional<std::string> expected_of(const std::vector<sql::Datum>& row, const std::string& key, const std::string& name,
                                         std::optional<std::size_t> number) const {
    Words words;
    const RowImage image = encoder_.encode(row, words);
    if (!number) return name == image.member ? std::optional(std::string(image.score)) : std::nullopt;
    const auto entry = RowEncoder::entry(words, image, *number);
    if (is_null(entry.first)) return std::nullopt;
    for (const sql::StructureElement& element : RowEncoder::elements(encoder_.structures()[*number], image, entry)) {
      if (!element.lists_value && element.key == key && element.name == name) return expected_value(element);
    }
    return std::nullopt;
  }

  /// The reply to the look for an element that is there.
  static std::string expected_value(const sql::StructureElement& element) {
    return element.form == &sql::kSetForm ? "1" : std::string(element.value);
  }

  /// A value without a set.
  asio::awaitable<void> check_values(std::string key, const sql::StructureKind* kind, std::vector<std::int16_t> columns) {
    std::string cursor = "0";
    do {
      std::vector<std::int16_t> of_columns = columns;
      std::vector<IndexDifference> differences =
          co_await lists_check_.values_without_set(key, kind, std::move(of_columns), cursor);
      for (IndexDifference& difference : differences) report(std::move(difference));
      co_await hand_over();
    } while (cursor != "0" && (take_ || !is_full()));
  }

  /// Every row must have its entries. What they are depends on the row: it is read, then read again together with them.
  asio::awaitable<void> check_rows() {
    std::vector<std::string> members = std::exchange(pending_rows_, {});
    if (members.empty()) co_return;
    for (const std::string& member : members) seen_.push_back(std::hash<std::string>()(member));
    members = co_await entries_check_.suspects(std::move(members));
    for (int attempt = 0; attempt < kCheckAttempts && !members.empty(); ++attempt) {
      std::vector<std::string> changed;
      for (std::size_t first = 0; first < members.size(); first += kPage) {
        const std::size_t count = std::min(kPage, members.size() - first);
        const std::vector<std::string> page(members.begin() + static_cast<std::ptrdiff_t>(first),
                                            members.begin() + static_cast<std::ptrdiff_t>(first + count));
        co_await check_row_page(page, changed);
      }
      members = std::move(changed);
    }
  }

  struct ExpectedEntry {
    std::string structure, key, id;
    std::string expected;
    const sql::ElementForm* form;
    std::optional<std::string> member = std::nullopt;  // of "values": whose
  };

  void append_expected(const RowImage& image, const Words& words, CommandBatch& batch, std::vector<ExpectedEntry>& expected) const {
    const std::string member(image.member);
    batch.add("ZSCORE", encoder_.all_rows(), member);
    expected.push_back({"all rows", encoder_.all_rows(), member, std::string(image.score), &sql::kZsetForm});
    for (std::size_t number = 0; number < structures_.size(); ++number) {
      const auto& structure = encoder_.structures()[number];
      const auto entry = RowEncoder::entry(words, image, number);
      // An index that is being built need not have every entry yet.
      if (is_null(entry.first) || !structures_[number].readable || lies_by_value(number)) continue;
      for (const sql::StructureElement& element : RowEncoder::elements(structure, image, entry)) {
        batch.add(element.form->look, element.key, element.name);
        const bool has_own_name = element.lists_value || structure.kind->has_owners();
        expected.push_back({element.lists_value ? "values" : std::string(structure.kind->name()),
                            std::string(element.key), has_own_name ? std::string(element.name) : member,
                            expected_value(element), element.form,
                            element.lists_value ? std::optional(member) : std::nullopt});
      }
    }
  }

  /// A row's key of another type: a row that is lost if the table knows it, else a key of another program.
  asio::awaitable<void> check_overwritten(std::string key, std::string member) {
    CommandBatch batch;
    batch.add("TYPE", key);
    batch.add("ZSCORE", encoder_.all_rows(), member);
    RepliesPtr replies = co_await client_.execute(std::move(batch));
    const std::string type(replies->text(0).value_or("none"));
    if (type == "none" || type == "hash") co_return;
    if ((*replies)[1].is_text())
      report({"row", key, member, type, std::nullopt});
    else
      report_key("unknown", key, type);
  }

  asio::awaitable<void> check_row_page(std::vector<std::string> members, std::vector<std::string>& changed) {
    CommandBatch fetch;
    for (const std::string& member : members) rows_.append_fetch(fetch, member);
    RepliesPtr before = co_await client_.execute(std::move(fetch));

    CommandBatch batch;
    std::vector<std::vector<ExpectedEntry>> expected(members.size());
    std::vector<bool> is_readable(members.size());
    for (std::size_t index = 0; index < members.size(); ++index) {
      const std::string key = sql::TableKeys(*table_).row_of_member(members[index]);
      if (is_wrong_type((*before)[index])) {
        co_await check_overwritten(key, members[index]);
        continue;
      }
      if ((*before)[index].is_error()) {
        report({"row", key, members[index], std::string((*before)[index].text), std::nullopt});
        continue;
      }
      try {
        const std::optional<std::vector<sql::Datum>> row = rows_.decode(members[index], before->array(index));
        if (!row) {
          unseen_hashes_.push_back(key);
          continue;
        }
        Words words;
        const RowImage image = encoder_.encode(*row, words);
        if (image.member != members[index]) {
          report({"row", key, members[index], members[index], std::string(image.member)});
          continue;
        }
        rows_.append_fetch(batch, members[index]);
        append_expected(image, words, batch, expected[index]);
        is_readable[index] = true;
      } catch (const SqlError& error) {
        report({"row", key, members[index], error.message(), std::nullopt});
      }
    }
    RepliesPtr after = co_await client_.execute_atomic(std::move(batch));
    std::size_t reply = 0;
    std::vector<std::string> readable;
    for (std::size_t index = 0; index < members.size(); ++index) {
      if (is_readable[index]) readable.push_back(members[index]);
    }
    std::vector<IndexDifference> differences = co_await values_check_.check_rows(std::move(readable));
    for (IndexDifference& difference : differences) report(std::move(difference));
    for (std::size_t index = 0; index < members.size(); ++index) {
      if (!is_readable[index]) continue;
      const bool is_same = same_fields(before->array(index), after->array(reply++));
      if (!is_same) changed.push_back(members[index]);
      for (const ExpectedEntry& entry : expected[index]) {
        const Reply& found = (*after)[reply++];
        if (!is_same) continue;
        std::optional<std::string> stored = text_of(found);
        if (entry.form == &sql::kSetForm && stored == "0") stored.reset();
        const bool is_score = entry.form == &sql::kZsetForm;
        if (stored && (is_score ? same_score(*stored, entry.expected) : *stored == entry.expected)) continue;
        report({entry.structure, entry.key, entry.id, std::move(stored), entry.expected, entry.member});
      }
    }
    // A hash that no statement can see: its presence field is absent.
    for (const std::string& key : std::exchange(unseen_hashes_, {})) co_await check_leftover("row", key);
  }

  static bool same_fields(std::span<const Reply> a, std::span<const Reply> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Reply& x, const Reply& y) { return x.kind == y.kind && x.text == y.text; });
  }

  RedisClient& client_;
  sql::CatalogPtr catalog_;
  std::shared_ptr<const sql::TableDef> table_;
  StoredRows rows_;
  RowEncoder encoder_;
  UniqueValuesCheck values_check_;
  ValueListCheck lists_check_;
  std::vector<Structure> structures_;
  /// The counts of one structure: entries in all of its keys; kSets: its keys, and the listed values.
  struct Counted {
    std::size_t entries = 0, sets = 0, values = 0;
  };

  std::size_t limit_;
  TakeDifferences take_;
  sql::KeyClassifier classifier_;
  RowEntriesCheck entries_check_;
  bool counts_ = true;                  // the first pass
  std::vector<Counted> counted_;        // by structure
  std::size_t all_rows_ = 0;
  std::vector<std::size_t> seen_;       // hashes of rows and sets
  CommandBatch questions_;              // how many entries keys have,
  std::vector<std::size_t*> asked_;     // and where that is added
  std::vector<bool> suspects_;          // structures for the second pass
  bool suspects_all_rows_ = false;
  std::vector<std::string> pending_rows_;
  std::set<std::string> hashed_rows_;  // keys of rows whose members are not known yet
  std::vector<std::string> unseen_hashes_;
  std::vector<IndexDifference> differences_;
};

}  // namespace

asio::awaitable<std::vector<IndexDifference>> check_indexes(RedisClient& client, sql::CatalogPtr catalog,
                                                            std::shared_ptr<const sql::TableDef> table, std::size_t limit) {
  TakeDifferences nobody;
  IndexChecker checker(client, std::move(catalog), std::move(table), limit, std::move(nobody));
  co_return co_await checker.run();
}

asio::awaitable<void> check_indexes(RedisClient& client, sql::CatalogPtr catalog, std::shared_ptr<const sql::TableDef> table,
                                    TakeDifferences take) {
  IndexChecker checker(client, std::move(catalog), std::move(table), SIZE_MAX, std::move(take));
  co_await checker.run();
}

}  // namespace redquel::executor
