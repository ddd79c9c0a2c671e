// A unit's way to Redis: its calls, and what their answers mean.

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "executor/redis/redis_error.h"
#include "executor/runtime/side_by_side.h"
#include "executor/scripts/scripts.h"
#include "executor/storage/row_error.h"
#include "executor/storage/seen_commits.h"
#include "executor/storage/write_encoding.h"
#include "executor/storage/write_unit.h"
#include "sql/catalog/spread_table.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

/// Other writers may get in between as often; then the statement runs again from its beginning.
constexpr int kAttempts = 10;

/// Throws 23503 if the lock is that of a referenced row which is not there: a transaction that makes it is not waited for.
asio::awaitable<void> refuse_missing_parent(RedisClient& client, const ForeignKeyDemands& demands, const LockConflict& lock,
                                            const sql::SessionSettings& settings, ExecutionCounters* counters) {
  for (const ForeignKeyDemands::Parent& parent : demands.parents) {
    if (lock.key != lock_key(*parent.key->referenced()) || lock.field != parent.key->lock_field(*parent.row)) continue;
    CommandBatch look;
    if (parent.place.field) {
      look.add("HEXISTS", parent.place.key, *parent.place.field);
    } else {
      look.add("EXISTS", parent.place.key);
    }
    const RepliesPtr replies = co_await client.execute(std::move(look), counters);
    if (replies->integer(0) == 0) throw parent.key->missing(*parent.row, settings);
    co_return;
  }
}

/// Removes a unique value whose row is gone, if it still names that row.
asio::awaitable<void> remove_unique_entry(RedisClient& client, std::string key, std::string field, std::string owner) {
  WriteProgram program;
  program.add(StepKind::kRelease, {key, field, owner});
  const RepliesPtr replies = co_await run_program(client, kWriteScript, program, sql::tag_of(key));
  replies->or_throw();
}

/// The demands of a unit's foreign keys, divided among the parts that look at them: by bucket, and whether they are references over two buckets.
class DividedDemands {
 public:
  explicit DividedDemands(ForeignKeyDemands all) {
    for (ForeignKeyDemands::Parent& parent : all.parents) of(*parent.key->referenced(), false).parents.push_back(std::move(parent));
    for (ForeignKeyDemands::Children& children : all.children) {
      const ForeignKey& key = *children.key;
      of(*key.referencing(), key.spans_buckets()).children.push_back(std::move(children));
    }
    for (ForeignKeyDemands::Lock& lock : all.locks) parts_[{lock.table.bucket(), false}].locks.push_back(std::move(lock));
    tables_ = std::move(all.tables);
    violation_ = std::move(all.violation);
  }

  std::shared_ptr<const ForeignKeyDemands> take(int bucket, bool references) {
    auto part = std::make_shared<ForeignKeyDemands>(std::move(parts_[{bucket, references}]));
    std::ranges::copy_if(tables_, std::back_inserter(part->tables), [&](const auto& table) { return PlacedTable(*table).bucket() == bucket; });
    part->violation = violation_;
    return part;
  }

 private:
  ForeignKeyDemands& of(const sql::TableDef& table, bool references) { return parts_[{PlacedTable(table).bucket(), references}]; }

  std::map<std::pair<int, bool>, ForeignKeyDemands> parts_;
  std::vector<ForeignKey::TablePtr> tables_;
  std::optional<SqlError> violation_;
};

asio::awaitable<RepliesPtr> run(RedisClient& client, const Script& script, const WriteUnit& unit, const WriteEncoding& encoding,
                                const WriteProgram& program, ExecutionCounters* counters) {
  if (unit.options().show_program) unit.options().show_program(program);
  return run_program(client, script, program, encoding.tag(), counters);
}

/// Looks at a part of the unit that has no rows. `is_kept`: it is as the unit needs it, and locked.
asio::awaitable<void> look_at_part(RedisClient& client, WriteUnit& unit, const UnitPart& part, char& is_kept, ExecutionCounters* counters) {
  WriteEncoding encoding(unit, unit.size(), true, part);
  if (encoding.foreign_keys().violation) co_return;
  encoding.divide();
  if (encoding.calls() != 1) co_return;
  const RepliesPtr replies = co_await run(client, kWriteManyScript, unit, encoding, encoding.program(0), counters);
  const WriteAnswer answer = encoding.decode(0, replies->array(0));
  if (answer.status != WriteStatus::kApplied) co_return;
  const WriteOptions& options = unit.options();
  if (options.buffer != nullptr && options.locks != nullptr) {
    for (const auto& [table, lock] : encoding.locks(0)) options.locks->add_written(table, std::string(lock.substr(1)));
  }
  is_kept = answer.findings.empty() ? 1 : 0;
}

/// Looks at the parts side by side. Gives those that are as the unit needs them; the others have to be looked at one by one.
asio::awaitable<std::vector<char>> look_at_parts(RedisClient& client, WriteUnit& unit, const std::vector<UnitPart>& parts, ExecutionCounters* counters) {
  std::vector<char> are_kept(parts.size(), 0);
  std::vector<asio::awaitable<void>> steps;
  for (std::size_t index = 0; index < parts.size(); ++index) {
    if (!parts[index].has_rows()) steps.push_back(look_at_part(client, unit, parts[index], are_kept[index], counters));
  }
  if (steps.size() > 1) co_await run_side_by_side(std::move(steps));
  co_return are_kept;
}

/// False: the unit has many rows, or a step has stopped the program. Then a program of many rows finds out all that is in the way.
asio::awaitable<bool> is_written_at_once(RedisClient& client, const WriteUnit& unit, WriteEncoding& encoding, ExecutionCounters* counters) {
  const std::optional<WriteProgram> program = encoding.program();
  if (!program) co_return false;
  const RepliesPtr replies = co_await run(client, kWriteScript, unit, encoding, *program, counters);
  const std::span<const Reply> answer = replies->array(0);
  co_return !answer.empty() && answer[0].text == "applied";
}

}  // namespace

/// The expectations of the unit that the calls of one attempt found broken.
struct WriteUnit::Findings {
  std::vector<std::size_t> changed_rows;
  std::vector<Violation> violations;
  std::vector<TakenValue> taken_values;
  std::optional<std::size_t> missing_parent, remaining_children;
  std::map<std::size_t, std::size_t> children_gone;  // of those that are looked at part by part: how many members of the set go
  bool guard_failed = false;

  bool has_rows() const { return !violations.empty() || !taken_values.empty() || !changed_rows.empty() || guard_failed; }
};

void WriteUnit::note(WriteFinding finding, Findings& findings) const {
  struct Visitor {
    const WriteUnit& unit;
    Findings& findings;

    void operator()(TakenKey found) { findings.violations.push_back(unit.violation_of(found.change, std::nullopt)); }
    void operator()(TakenValue& found) { findings.taken_values.push_back(std::move(found)); }
    void operator()(ChangedRow found) { findings.changed_rows.push_back(found.change); }
    void operator()(ChangedGuard) { findings.guard_failed = true; }
    void operator()(MissingParent found) {
      if (!findings.missing_parent) findings.missing_parent = found.parent;
    }
    void operator()(RemainingChildren found) {
      if (found.count > findings.children_gone[found.children] && !findings.remaining_children) findings.remaining_children = found.children;
    }
    void operator()(LeavingChildren found) { findings.children_gone[found.children] += found.count; }
  };
  std::visit(Visitor{*this, findings}, finding);
}

/// Calls the script until one call ends the attempt. kApplied: none has; what they found is in `findings`.
asio::awaitable<WriteStatus> WriteUnit::send(RedisClient& client, const WriteEncoding& encoding, Findings& findings, ExecutionCounters* counters) {
  for (std::size_t call = 0; call < encoding.calls(); ++call) {
    const RepliesPtr replies = co_await run(client, kWriteManyScript, *this, encoding, encoding.program(call), counters);
    WriteAnswer answer = encoding.decode(call, replies->array(0));
    if (answer.status != WriteStatus::kApplied) {
      blocker_ = std::move(answer.blocker);
      co_return answer.status;
    }
    if (options_.buffer && options_.locks) {
      for (const auto& [table, lock] : encoding.locks(call)) options_.locks->add_written(table, std::string(lock.substr(1)));
    }
    for (WriteFinding& finding : answer.findings) note(std::move(finding), findings);
  }
  co_return WriteStatus::kApplied;
}

/// Rows that are there make room for no others: throws for the first that may not give way. kConflict: it came too late to be seen.
WriteStatus WriteUnit::skip_or_throw(std::vector<Violation> violations) {
  // The key that ON CONFLICT names is looked at first: a row that gives way because of it meets no other constraint.
  const auto rank = [this](const Violation& violation) {
    const Change& change = changes_[violation.change];
    const bool is_arbiter = (change.skip_if_exists || change.run_again_if_exists) && is_expected(change, violation);
    return std::tuple(violation.change, !is_arbiter, violation.constraint);
  };
  std::ranges::sort(violations, {}, rank);
  for (const Violation& violation : violations) {
    Change& change = changes_[violation.change];
    if (change.skipped) continue;
    if (change.run_again_if_exists && is_expected(change, violation)) return WriteStatus::kConflict;
    if (!may_skip(change, violation)) throw_violation(violation);
    change.skipped = true;
    // Others of the statement that gave way to this one have met the same row. They may be rows of other parts of the table.
    const auto have_one_table = [this](const Change& a, const Change& b) {
      const sql::TableDef &first = tables_[a.table].encoder.table(), &second = tables_[b.table].encoder.table();
      return a.table == b.table || (first.part_of != 0 && first.part_of == second.part_of);
    };
    const auto value = [&](const Change& of) {
      return violation.structure ? RowEncoder::entry(words_, of.new_image, *violation.structure).first : of.new_image.member;
    };
    for (std::size_t number = violation.change + 1; number < changes_.size(); ++number) {
      Change& other = changes_[number];
      if (other.skipped || other.kind != Kind::kInsert || !other.skip_if_exists || !have_one_table(other, change)) continue;
      if (!is_null(value(other)) && value(other) == value(change)) other.skipped = may_skip(other, {number, violation.constraint, violation.structure});
    }
  }
  return WriteStatus::kApplied;
}

/// Leaves out the inserts whose ON CONFLICT names a key that a stored row has. Such a row meets no other constraint, not even a row of
/// its own statement.
asio::awaitable<void> WriteUnit::skip_existing(RedisClient& client, ExecutionCounters* counters) {
  const RowBuffer* buffer = options_.buffer;
  CommandBatch batch;
  std::vector<Violation> asked;
  for (std::size_t number = 0; number < changes_.size(); ++number) {
    const Change& change = changes_[number];
    if (change.skipped || change.kind != Kind::kInsert || !change.skip_if_exists || !conflicts_[change.conflict].columns) continue;
    const Table& table = tables_[change.table];
    const RowEncoder& encoder = table.encoder;
    const Violation of_key = violation_of(number, std::nullopt);
    if (is_expected(change, of_key)) {
      if (buffer != nullptr && buffer->find(encoder.table().oid, change.new_image.member)) continue;  // the buffer knows better
      batch.add("EXISTS", change.new_image.key);
      asked.push_back(of_key);
      continue;
    }
    for (std::size_t index = 0; index < encoder.structures().size(); ++index) {
      const RowEncoder::StructureKeys& structure = encoder.structures()[index];
      const Violation of_value = violation_of(number, index);
      if (!structure.kind->has_owners() || !is_expected(change, of_value)) continue;
      const auto entry = RowEncoder::entry(words_, change.new_image, index);
      if (is_null(entry.first)) continue;
      batch.add("HGET", RowEncoder::unique_key(structure, entry), entry.first);
      asked.push_back(of_value);
    }
  }
  if (asked.empty()) co_return;
  const RepliesPtr replies = co_await client.execute(std::move(batch), counters);
  std::vector<TakenValue> owned;
  for (std::size_t index = 0; index < asked.size(); ++index) {
    const Violation& violation = asked[index];
    if (!violation.structure) {
      if (replies->integer(index) != 0) changes_[violation.change].skipped = true;
      continue;
    }
    const std::optional<std::string_view> owner = replies->text(index);
    if (!owner) continue;
    const Change& change = changes_[violation.change];
    const RowEncoder::StructureKeys& structure = tables_[change.table].encoder.structures()[*violation.structure];
    const auto entry = RowEncoder::entry(words_, change.new_image, *violation.structure);
    if (buffer != nullptr && buffer->former_owner(RowEncoder::unique_key(structure, entry), entry.first) == std::string(*owner)) continue;
    owned.push_back({violation.change, *violation.structure, std::string(*owner)});
  }
  for (const Violation& violation : co_await examine_owners(client, owned, counters)) changes_[violation.change].skipped = true;
}

std::vector<UnitPart> WriteUnit::parts() const {
  const bool is_applied = options_.buffer == nullptr && !options_.verify_only;
  if (!sql::uses_cluster() || (is_applied && !options_.ahead_of_commit)) return {};
  const std::set<int> rows = buckets();
  if (options_.tag && rows.size() > 1) return {{sql::bucket_of(*options_.tag)}};
  std::set<int> looked, references;
  std::optional<DividedDemands> divided;
  if (options_.foreign_keys && !options_.journal) {
    const auto is_active = [](std::size_t) { return true; };
    ForeignKeyDemands demands = options_.foreign_keys->demands(options_.buffer, is_active, options_.settings);
    for (const ForeignKeyDemands::Parent& parent : demands.parents) looked.insert(PlacedTable(*parent.key->referenced()).bucket());
    for (const ForeignKeyDemands::Lock& lock : demands.locks) looked.insert(lock.table.bucket());
    for (const ForeignKeyDemands::Children& children : demands.children) {
      (children.key->spans_buckets() ? references : looked).insert(PlacedTable(*children.key->referencing()).bucket());
    }
    for (const TablePtr& table : demands.tables) {
      const int bucket = PlacedTable(*table).bucket();
      if (!references.contains(bucket)) looked.insert(bucket);
    }
    if (std::ranges::none_of(changes_, &Change::skip_if_exists)) divided.emplace(std::move(demands));
  }
  std::vector<UnitPart> parts;
  // A row that yields to another one in a later bucket refers to nothing.
  const bool are_apart = rows.size() > 1 && !looked.empty();
  for (const int bucket : rows) parts.push_back({bucket, are_apart ? UnitPart::Kind::kRows : UnitPart::Kind::kAll});
  for (const int bucket : looked) {
    if (are_apart || !rows.contains(bucket)) parts.push_back({bucket, UnitPart::Kind::kKeys});
  }
  // Rows that go are locked by then, so that no new ones refer to them.
  for (const int bucket : references) parts.push_back({bucket, UnitPart::Kind::kReferences});
  if (parts.size() < 2 && references.empty() && !rows.empty()) parts.clear();
  for (UnitPart& part : parts) {
    if (divided && part.kind != UnitPart::Kind::kRows) part.demands = divided->take(part.bucket, part.kind == UnitPart::Kind::kReferences);
  }
  return parts;
}

asio::awaitable<void> WriteUnit::finish_commits_of(RedisClient& client, const sql::TableDef& part) const {
  if (!options_.foreign_keys) co_return;
  const TablePtr table = options_.foreign_keys->catalog()->find_table(part.part_of);
  if (!table) co_return;
  SeenCommits commits(table->parts);
  co_await commits.are_torn(client);
}

asio::awaitable<void> WriteUnit::finish_references(RedisClient& client) const {
  const auto is_active = [](std::size_t) { return true; };
  const ForeignKeyDemands demands = options_.foreign_keys->demands(options_.buffer, is_active, options_.settings);
  std::map<sql::Oid, TablePtr> referring;
  for (const ForeignKeyDemands::Children& children : demands.children) {
    if (children.key->spans_buckets()) referring.try_emplace(children.key->referencing()->oid, children.key->referencing());
  }
  std::vector<TablePtr> tables;
  for (const auto& [oid, table] : referring) tables.push_back(table);
  SeenCommits commits(tables);
  co_await commits.are_torn(client);
}

bool WriteUnit::may_wait_for_commit() {
  if (!sql::uses_cluster()) return false;
  if (options_.buffer == nullptr || (options_.locks != nullptr && !options_.locks->empty())) return false;
  if (!kept_expiries_.empty()) return false;
  const auto looks_first = [](const Change& change) { return change.skip_if_exists || change.run_again_if_exists || change.kind == Kind::kIndex; };
  if (std::ranges::any_of(changes_, looks_first)) return false;
  return std::ranges::none_of(buckets(), [this](int bucket) {
    const WriteEncoding encoding(*this, changes_.size(), true, UnitPart{bucket});
    return encoding.local_violation().has_value() || encoding.foreign_keys().violation.has_value();
  });
}

asio::awaitable<WriteStatus> WriteUnit::execute(RedisClient& client, ExecutionCounters* counters) {
  if (!kept_expiries_.empty() && !co_await read_expiries(client, counters)) co_return WriteStatus::kConflict;
  std::vector<UnitPart> all = parts();
  if (all.empty()) {
    // Otherwise a kill could leave the rows of some buckets alone.
    if (!options_.tag && spans_buckets()) throw sql::not_supported("a unit of rows in several buckets outside of a transaction");
    co_return co_await execute_part(client, {}, counters);
  }
  bool are_finished = false;
  const bool may_yield = std::ranges::any_of(changes_, &Change::skip_if_exists);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto yielded = std::ranges::count_if(changes_, &Change::skipped);
    if (may_yield) {
      const WriteEncoding whole(*this, changes_.size(), true);
      auto yielding = std::make_shared<std::vector<bool>>();
      for (std::size_t number = 0; number < changes_.size(); ++number) yielding->push_back(whole.was_skipped(number));
      for (UnitPart& part : all) part.yielding = yielding;
    }
    // By the order of rows and of their constraints, as PostgreSQL reports them. Foreign keys are checked after the rows.
    std::optional<RowError> first_error;
    std::optional<SqlError> first_key_error;
    std::pair<std::size_t, sql::Oid> first_violated, first_violated_key;
    std::optional<std::vector<char>> are_kept;
    for (std::size_t index = 0; index < all.size(); ++index) {
      const UnitPart& part = all[index];
      if (first_error && !part.has_rows()) break;
      if (!part.has_rows() && !are_kept) {
        const bool has_references = all.back().kind == UnitPart::Kind::kReferences;
        if (has_references && !std::exchange(are_finished, true)) co_await finish_references(client);
        are_kept = co_await look_at_parts(client, *this, all, counters);
      }
      if (are_kept && (*are_kept)[index] != 0) continue;
      WriteStatus status = WriteStatus::kApplied;
      violated_ = {};
      try {
        status = co_await execute_part(client, part, counters);
      } catch (const RowError& error) {
        const std::pair violated(error.row(), violated_.second);
        if (!first_error || violated < first_violated) {
          first_error = error;
          first_violated = violated;
        }
      } catch (const SqlError& error) {
        if (error.sqlstate() != sqlstate::kForeignKeyViolation) throw;
        if (!first_key_error || violated_ < first_violated_key) {
          first_key_error = error;
          first_violated_key = violated_;
        }
      }
      if (status != WriteStatus::kApplied) co_return status;
    }
    // Rows may have yielded to one that has itself yielded to a stored row.
    if (may_yield && std::ranges::count_if(changes_, &Change::skipped) != yielded) continue;
    if (!first_error && first_key_error) throw SqlError(*first_key_error);
    for (std::size_t number = 0; may_yield && !first_error && number < changes_.size(); ++number) {
      if ((*all.front().yielding)[number]) changes_[number].skipped = true;
    }
    if (!first_error) co_return WriteStatus::kApplied;
    // A row that has yielded to another one in a later bucket meets no other constraint.
    const std::size_t number = first_error->row() - options_.first_row;
    if (number >= changes_.size() || !changes_[number].skipped) throw RowError(*first_error);
  }
  co_return WriteStatus::kConflict;
}

asio::awaitable<WriteStatus> WriteUnit::execute_part(RedisClient& client, std::optional<UnitPart> part, ExecutionCounters* counters) {
  bool looked_for_existing = false;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (changes_.empty() && !options_.foreign_keys) co_return WriteStatus::kApplied;
    WriteEncoding encoding(*this, changes_.size(), options_.buffer != nullptr || options_.verify_only, part);
    // Increments, and new rows that other sessions cannot have, wait for the commit alone.
    if (options_.buffer && changes_.empty() && encoding.foreign_keys().empty()) co_return WriteStatus::kApplied;
    std::optional<WriteEncoding> earlier;
    const WriteEncoding* sent = &encoding;
    if (encoding.local_violation()) {
      // Definitions and rows of others are not verified without being applied.
      if (options_.catalog || options_.mapped) throw_violation(*encoding.local_violation());
      if (changes_[encoding.local_violation()->change].skip_if_exists && !std::exchange(looked_for_existing, true)) {
        co_await skip_existing(client, counters);
        continue;
      }
      // The unit fails, but an earlier row may meet an existing one: that is what PostgreSQL would report.
      earlier.emplace(*this, encoding.local_violation()->change, true, part);
      sent = &*earlier;
    } else if (encoding.foreign_keys().violation && options_.buffer == nullptr) {
      if (options_.catalog || options_.mapped) throw SqlError(*encoding.foreign_keys().violation);
      earlier.emplace(*this, changes_.size(), true, part);
      sent = &*earlier;
    }
    if (earlier) {
      earlier->divide();
    } else {
      const bool is_written = co_await is_written_at_once(client, *this, encoding, counters);
      if (is_written) co_return WriteStatus::kApplied;
      encoding.divide();
    }
    Findings findings;
    blocker_ = {};
    const WriteStatus status = co_await send(client, *sent, findings, counters);
    if (status == WriteStatus::kLocked) co_await refuse_missing_parent(client, sent->foreign_keys(), blocker_, options_.settings, counters);
    if (status != WriteStatus::kApplied) co_return status;
    if (findings.guard_failed) {
      guards_.clear();
      allowed_owners_.clear();
    }
    if (!findings.changed_rows.empty() && !co_await reread_old_rows(client, findings.changed_rows, counters)) co_return WriteStatus::kConflict;
    if (!findings.taken_values.empty()) {
      const std::vector<Violation> found = co_await examine_owners(client, findings.taken_values, counters);
      // The value is locked, and no commit that is decided brings its row: no other session can need the entry.
      const bool are_locked = options_.buffer != nullptr || options_.verify_only;
      for (const TakenValue& taken : findings.taken_values) {
        const Change& change = changes_[taken.change];
        const RowEncoder::StructureKeys& structure = tables_[change.table].encoder.structures()[taken.structure];
        const auto is_owned = [&](const Violation& violation) { return violation.change == taken.change && violation.structure == taken.structure; };
        if (!are_locked || !RowEncoder::lies_by_value(structure) || taken.owner == change.new_image.member || std::ranges::any_of(found, is_owned)) continue;
        const auto entry = RowEncoder::entry(words_, change.new_image, taken.structure);
        co_await remove_unique_entry(client, std::string(RowEncoder::unique_key(structure, entry)), std::string(entry.first), taken.owner);
      }
      findings.violations.insert(findings.violations.end(), found.begin(), found.end());
    }
    std::vector<std::size_t> taken_keys;
    for (const Violation& violation : findings.violations) {
      if (!violation.structure) taken_keys.push_back(violation.change);
    }
    if (!taken_keys.empty()) co_await refuse_strange_keys(client, std::move(taken_keys), counters);
    if (skip_or_throw(findings.violations) == WriteStatus::kConflict) co_return WriteStatus::kConflict;
    if (findings.has_rows()) continue;
    if (encoding.local_violation()) throw_violation(*encoding.local_violation());
    if (const auto& violation = sent->foreign_keys().violation) throw SqlError(*violation);
    if (const auto& violation = encoding.foreign_keys().violation) throw SqlError(*violation);
    if (findings.missing_parent) {
      const ForeignKeyDemands::Parent& parent = sent->foreign_keys().parents[*findings.missing_parent];
      violated_ = {parent.change, parent.key->definition().oid};
      throw parent.key->missing(*parent.row, options_.settings);
    }
    if (findings.remaining_children) {
      const ForeignKeyDemands::Children& children = sent->foreign_keys().children[*findings.remaining_children];
      const ReferenceState state = co_await examine_references(client, children, counters);
      if (state == ReferenceState::kGone) continue;
      // Its action has missed a row that came meanwhile.
      if (state == ReferenceState::kNew && children.key->acts_on(children.is_update)) co_return WriteStatus::kConflict;
      if (!blocker_.key.empty()) co_return WriteStatus::kLocked;
      violated_ = {children.change, children.key->definition().oid};
      throw children.key->still_referenced(*children.row, options_.settings);
    }
    for (std::size_t number = 0; number < changes_.size(); ++number) {
      const bool is_known = part && part->yielding;
      if (encoding.was_skipped(number) && !is_known) changes_[number].skipped = true;
    }
    co_return WriteStatus::kApplied;
  }
  co_return WriteStatus::kConflict;
}

}  // namespace redquel::executor
