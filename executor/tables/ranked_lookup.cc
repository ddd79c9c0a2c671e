#include "executor/tables/ranked_lookup.h"

#include <charconv>
#include <cmath>
#include <unordered_set>

#include "executor/scripts/scripts.h"
#include "executor/storage/row_reader.h"
#include "executor/tables/key_values.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/mapped_targets.h"
#include "executor/tables/read_scripts.h"
#include "planner/access/ordered_source.h"
#include "sql/sqlstate.h"
#include "sql/types/index_value.h"

namespace redquel::executor {

namespace {

using Rank = planner::IndexRanks::Rank;

/// The arguments of ranked_rows.lua but for the rows.
struct ScriptCall {
  std::string zset;
  std::optional<std::string> null_set, uniques;
  RowArguments rows;
};

void append_ranked_rows(CommandBatch& batch, const ScriptCall& call, const planner::IndexRanks& ranks, const std::vector<std::string>& members) {
  std::string kinds;
  for (const Rank rank : ranks.ranks) kinds += rank == Rank::kRank ? 'r' : 'n';
  kRankedRowsScript.begin_call(batch, 1 + (call.null_set ? 1 : 0) + (call.uniques ? 1 : 0), 7 + call.rows.fields->size() + members.size());
  batch.arg(call.zset);
  if (call.null_set) batch.arg(*call.null_set);
  if (call.uniques) batch.arg(*call.uniques);
  batch.arg(ranks.descending ? "1" : "0").arg(kinds).arg(call.null_set ? "1" : "0").arg(call.uniques ? "1" : "0");
  append_row_arguments(batch, call.rows);
  for (const std::string& member : members) batch.arg(member);
}

sql::SqlError unexpected_ranks(const planner::IndexRanks& ranks) {
  return {sqlstate::kInternalError, "unexpected reply of the ranks of table \"" + ranks.table->name + "\""};
}

/// One row of the script's reply.
struct RankedRow {
  std::string_view member;
  const Reply& score;
  std::span<const Reply> before, fields;
};

/// The script's reply. Views into it.
class RankedRows {
 public:
  /// `fields`: of each row. Throws XX000 if the last row is not whole.
  RankedRows(const planner::IndexRanks& ranks, const Reply& reply, std::size_t fields)
      : flat_(reply.children()), ranks_(ranks.ranks.size()), width_(2 + ranks_ + fields) {
    if (!reply.is_array() || flat_.size() % width_ != 0) throw unexpected_ranks(ranks);
  }

  std::size_t size() const { return flat_.size() / width_; }
  RankedRow operator[](std::size_t i) const {
    const std::span<const Reply> row = flat_.subspan(i * width_, width_);
    return {row[0].text, row[1], row.subspan(2, ranks_), row.subspan(2 + ranks_)};
  }

 private:
  std::span<const Reply> flat_;
  std::size_t ranks_, width_;
};

void add_ranks(RankedBatch& batch, std::span<const Reply> before) {
  for (std::size_t i = 0; i < before.size(); ++i) batch.ranks[i].push_back(1 + before[i].integer);
}

/// Rows of a table of redquel's own.
class OwnRows {
 public:
  OwnRows(const planner::IndexRanks& ranks, const planner::RankedRead& how, ExecutionContext& context)
      : ranks_(ranks), how_(how), context_(context), reader_(*how.read),
        zset_(planner::ordered_source(*ranks.table, ranks.column)->key) {}

  asio::awaitable<std::optional<RankedBatch>> read(ExecutionCounters* counters) {
    RankedBatch batch{{}, std::vector<std::vector<std::int64_t>>(ranks_.ranks.size())};
    const auto names = std::make_shared<const std::vector<std::string>>(row_names());
    reader_.keep_alive(names);
    if (names->empty()) {
      batch.rows = reader_.take_all();
      co_return batch;
    }
    context_.note_read(*ranks_.table);
    bool is_exact = false;
    if (how_.is_one_command) is_exact = co_await read_place(*names, batch, counters);
    else is_exact = co_await read_rows(*names, batch, counters);
    if (!is_exact) co_return std::nullopt;
    batch.rows = reader_.take_all();
    co_return batch;
  }

 private:
  /// Returns the members, or the fields of the unique values, each once.
  std::vector<std::string> row_names() const {
    const auto* by_value = std::get_if<planner::UniqueLookup>(&ranks_.input->node);
    const auto* by_key = std::get_if<planner::KeyLookup>(&ranks_.input->node);
    const std::vector<std::int16_t>& columns = by_value != nullptr ? by_value->columns : reader_.table().primary_key;
    std::vector<std::string> names;
    std::unordered_set<std::string> seen;
    for (const auto& values : by_value != nullptr ? by_value->values : by_key->keys) {
      const auto key = evaluate_key(reader_.table(), columns, values, context_.evaluation());
      if (!key) continue;
      std::string name = by_value != nullptr ? reader_.keys().unique_field(columns, *key) : reader_.keys().member(*key);
      if (seen.insert(name).second) names.push_back(std::move(name));
    }
    return names;
  }

  asio::awaitable<bool> read_place(const std::vector<std::string>& names, RankedBatch& batch, ExecutionCounters* counters) {
    CommandBatch commands;
    commands.add(ranks_.descending ? "ZREVRANK" : "ZRANK", zset_, names.front());
    RepliesPtr replies = co_await context_.ask(std::move(commands), counters);
    if (replies->checked(0).is_nil()) co_return true;
    // The score is not asked for: no node looks at its column.
    Reply unused;
    unused.kind = Reply::Kind::string;
    unused.text = "0";
    reader_.add_entry(names.front(), unused);
    batch.ranks.front().push_back(1 + replies->integer(0));
    co_return true;
  }

  asio::awaitable<bool> read_rows(const std::vector<std::string>& names, RankedBatch& batch, ExecutionCounters* counters) {
    const std::vector<std::string> no_fields;
    ScriptCall call{zset_, {}, {}, row_arguments(reader_)};
    if (how_.tells_columns) call.rows.fields = &no_fields;
    if (ranks_.may_be_null && ranks_.nulls_first) call.null_set = reader_.keys().null_set(ranks_.column);
    if (const auto* lookup = std::get_if<planner::UniqueLookup>(&ranks_.input->node)) call.uniques = reader_.keys().uniques(lookup->columns);
    CommandBatch commands;
    append_ranked_rows(commands, call, ranks_, names);
    RepliesPtr replies = co_await context_.ask_script(kRankedRowsScript, std::move(commands), counters);
    const Reply& reply = replies->checked(0);
    if (reply.is_nil()) co_return false;
    const RankedRows rows(ranks_, reply, call.rows.fields->size());
    reader_.keep_alive(replies);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RankedRow row = rows[i];
      if (row.score.is_text() ? !is_exact_score(type(), score_number(row.score.text)) : !ranks_.may_be_null) {
        if (is_row(row)) co_return false;
      }
      if (how_.tells_columns ? reader_.add_entry(row.member, row.score) : reader_.add(row.member, row.fields)) add_ranks(batch, row.before);
    }
    co_return true;
  }

  /// Returns false for a key without a row.
  bool is_row(const RankedRow& row) const {
    return how_.tells_columns || std::ranges::any_of(row.fields, [](const Reply& field) { return field.is_text(); });
  }

  sql::Type type() const { return ranks_.table->find_column(ranks_.column)->type; }

  const planner::IndexRanks& ranks_;
  const planner::RankedRead& how_;
  ExecutionContext& context_;
  RowReader reader_;
  std::string zset_;
};

/// Rows of one zset of an application.
class MappedRows {
 public:
  MappedRows(const planner::IndexRanks& ranks, const planner::RankedRead& how, ExecutionContext& context)
      : ranks_(ranks), how_(how), context_(context), scan_(std::get<planner::MappedScan>(ranks.input->node)), reader_(*how.read, context),
        member_(scan_.read.table->mapping().with_role(sql::Mapping::Role::kMember)->number) {}

  asio::awaitable<std::optional<RankedBatch>> read(ExecutionCounters* counters) {
    const bool has_no_scripts = !may_run_mapped_scripts(context_);
    const bool has_rank = std::ranges::find(ranks_.ranks, Rank::kRank) != ranks_.ranks.end();
    if (has_no_scripts && has_rank) co_return std::nullopt;  // rank() asks for a score that it must know
    RankedBatch batch{{}, std::vector<std::vector<std::int64_t>>(ranks_.ranks.size())};
    const std::vector<MappedKey> keys = fixed_keys(scan_.fixed, *ranks_.table, context_.evaluation());
    std::optional<std::string> zset;
    std::vector<std::string> members;
    for (const MappedKey& key : keys) {
      zset = reader_.key_of(key);
      if (!zset) break;
      members.push_back(reader_.text_of(key, member_).value_or(""));
    }
    if (zset && !members.empty()) {
      context_.note_read(*ranks_.table);
      bool is_exact = false;
      if (how_.is_one_command) is_exact = co_await read_place(*zset, members, keys, batch, counters);
      else if (has_no_scripts) is_exact = co_await look(*zset, members, keys, batch, counters);
      else is_exact = co_await run_script(*zset, members, keys, batch, counters);
      if (!is_exact) co_return std::nullopt;
    }
    std::vector<std::size_t> tags;
    batch.rows = reader_.take_all(tags);
    co_return batch;
  }

 private:
  asio::awaitable<bool> read_place(const std::string& zset, const std::vector<std::string>& members, const std::vector<MappedKey>& keys, RankedBatch& batch,
                                   ExecutionCounters* counters) {
    CommandBatch commands;
    commands.add(ranks_.descending ? "ZREVRANK" : "ZRANK", zset, members.front());
    const RepliesPtr replies = co_await ask_mapped(*ranks_.table, std::move(commands), false, context_, counters);
    if ((*replies)[0].is_error()) throw_error(zset, *replies);
    if ((*replies)[0].is_nil()) co_return true;
    co_return add(keys.front(), members.front(), "0", replies->all(), batch);  // no node looks at the score
  }

  asio::awaitable<bool> run_script(const std::string& zset, const std::vector<std::string>& members, const std::vector<MappedKey>& keys, RankedBatch& batch,
                                   ExecutionCounters* counters) {
    const std::vector<std::string> no_fields;
    const ScriptCall call{zset, {}, {}, {"", false, &no_fields}};
    CommandBatch commands;
    append_ranked_rows(commands, call, ranks_, members);
    const RepliesPtr replies = co_await ask_mapped_script(*ranks_.table, kRankedRowsScript, std::move(commands), context_, counters);
    const Reply& reply = (*replies)[0];
    if (reply.is_error()) throw_error(zset, *replies);
    const RankedRows rows(ranks_, reply, 0);
    std::size_t key = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RankedRow row = rows[i];
      while (key < members.size() && members[key] != row.member) ++key;  // those without a row are left out
      if (key == members.size()) throw unexpected_ranks(ranks_);
      if (!add(keys[key], row.member, row.score.text, row.before, batch)) co_return false;
    }
    co_return true;
  }

  asio::awaitable<bool> look(const std::string& zset, const std::vector<std::string>& members, const std::vector<MappedKey>& keys, RankedBatch& batch,
                             ExecutionCounters* counters) {
    CommandBatch commands;
    for (const std::string& member : members) {
      commands.add("ZSCORE", zset, member);
      for (std::size_t i = 0; i < batch.ranks.size(); ++i) commands.add(ranks_.descending ? "ZREVRANK" : "ZRANK", zset, member);
    }
    const RepliesPtr replies = co_await ask_mapped(*ranks_.table, std::move(commands), false, context_, counters);
    if ((*replies)[0].is_error()) throw_error(zset, *replies);
    const std::size_t width = 1 + batch.ranks.size();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const std::span<const Reply> row = replies->all().subspan(i * width, width);
      // Another client may take the member away between two commands.
      if (std::ranges::any_of(row, &Reply::is_nil)) continue;
      if (!add(keys[i], members[i], row[0].text, row.subspan(1), batch)) co_return false;
    }
    co_return true;
  }

  bool add(const MappedKey& key, std::string_view member, std::string_view score, std::span<const Reply> before, RankedBatch& batch) {
    if (!is_exact_score(ranks_.table->find_column(ranks_.column)->type, score_number(score))) return false;
    const std::size_t rows = reader_.rows();
    reader_.add_scored_row(key, member, score);
    if (reader_.rows() > rows) add_ranks(batch, before);
    return true;
  }

  [[noreturn]] void throw_error(const std::string& zset, const Replies& replies) const { throw reader_.wrong_kind(zset, "zset", replies[0]); }

  const planner::IndexRanks& ranks_;
  const planner::RankedRead& how_;
  ExecutionContext& context_;
  const planner::MappedScan& scan_;
  MappedReader reader_;
  std::int16_t member_;
};

template <class Rows>
asio::awaitable<std::optional<RankedBatch>> read_rows(const planner::IndexRanks& ranks, const planner::RankedRead& how, ExecutionContext& context,
                                                      ExecutionCounters* counters) {
  Rows rows(ranks, how, context);
  co_return co_await rows.read(counters);
}

}  // namespace

bool is_exact_score(sql::Type type, double score) {
  constexpr double kExactScore = 9007199254740992.0;  // doubles name every integer below
  const bool is_float = type.oid == sql::oid::kFloat4 || type.oid == sql::oid::kFloat8;
  return std::isfinite(score) && (is_float || std::abs(score) < kExactScore);
}

double score_number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

asio::awaitable<std::optional<RankedBatch>> read_ranked(const planner::IndexRanks& ranks, const planner::RankedRead& how, ExecutionContext& context,
                                                        ExecutionCounters* counters) {
  const sql::Overloaded read_storage{
      [&](const sql::ManagedRows&) { return read_rows<OwnRows>(ranks, how, context, counters); },
      [&](const sql::MappedRows&) { return read_rows<MappedRows>(ranks, how, context, counters); },
  };
  co_return co_await std::visit(read_storage, ranks.table->storage);
}

}  // namespace redquel::executor
