#include "executor/tables/set_scripts.h"

#include "executor/scripts/scripts.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// Returns the parts of such a reply; nullopt for nil. Throws XX000 for anything that is not { number, … }.
std::optional<std::span<const Reply>> parts_of(const Reply& reply) {
  if (reply.is_nil()) return std::nullopt;
  const std::span<const Reply> parts = reply.children();
  const bool begins_with_count = !parts.empty() && parts[0].kind == Reply::Kind::integer && parts[0].integer >= 0;
  if (!begins_with_count) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of the members of sets");
  return parts;
}

void expect(bool holds) {
  if (!holds) throw sql::SqlError(sqlstate::kInternalError, "unexpected reply of the members of sets");
}

}  // namespace

void append_rows_of_sets(CommandBatch& batch, const SetProgram& program, const RowArguments& rows, std::size_t max_members,
                         std::size_t max_rows, const ApartRows& apart) {
  const std::size_t arguments = 6 + rows.fields->size() + program.tokens.size();
  kRowsOfSetsScript.begin_call(batch, program.keys.size() + program.scores.size() + (apart.counter.empty() ? 0 : 1), arguments);
  for (const std::string& key : program.keys) batch.arg(key);
  for (const std::string& key : program.scores) batch.arg(key);
  if (!apart.counter.empty()) batch.arg(apart.counter);
  batch.arg(max_members).arg(max_rows).arg(apart.counter.empty() ? max_rows : apart.more_than);
  append_row_arguments(batch, rows);
  for (const std::string& token : program.tokens) batch.arg(token);
}

std::optional<RowsOfSets> decode_rows_of_sets(const Reply& reply, std::size_t fields) {
  const auto parts = parts_of(reply);
  if (!parts) return std::nullopt;
  expect(parts->size() == 3 || (parts->size() == 4 && (*parts)[3].is_text()));
  RowsOfSets rows{FlatRows((*parts)[1].children(), fields), (*parts)[2].children(), {}};
  if (parts->size() == 4) rows.changes = (*parts)[3].text;
  return rows;
}

void append_members_of_sets(CommandBatch& batch, const SetProgram& program, std::size_t max_members) {
  const std::vector<std::string> no_fields;
  append_rows_of_sets(batch, program, {"", false, &no_fields}, max_members, 0);
}

std::optional<MembersOfSets> decode_members_of_sets(const Reply& reply, std::size_t zsets) {
  const auto parts = parts_of(reply);
  if (!parts) return std::nullopt;
  expect(parts->size() == 3 + zsets);
  MembersOfSets found{(*parts)[2].children(), parts->subspan(3)};
  for (const Reply& scores : found.scores) expect(scores.children().size() == found.members.size());
  return found;
}

void append_count_of_sets(CommandBatch& batch, const SetProgram& program, std::size_t max_members) {
  kRowsOfSetsScript.begin_call(batch, program.keys.size(), 6 + program.tokens.size());
  for (const std::string& key : program.keys) batch.arg(key);
  batch.arg(max_members).arg("-1").arg("0").arg("").arg("0").arg("0");
  for (const std::string& token : program.tokens) batch.arg(token);
}

std::optional<std::size_t> decode_count_of_sets(const Reply& reply) {
  const auto parts = parts_of(reply);
  if (!parts) return std::nullopt;
  return static_cast<std::size_t>((*parts)[0].integer);
}

void append_first_rows_of_sets(CommandBatch& batch, const SetProgram& program, const FirstRows& first, const RowArguments& rows,
                               std::size_t max_members, std::size_t max_rows) {
  const std::size_t arguments = 13 + rows.fields->size() + program.tokens.size();
  kFirstRowsOfSetsScript.begin_call(batch, 2 + program.keys.size(), arguments);
  batch.arg(first.key).arg(first.null_set.empty() ? first.key : first.null_set);
  for (const std::string& key : program.keys) batch.arg(key);
  const char* nulls = first.null_set.empty() ? "" : first.nulls_first ? "first" : "last";
  batch.arg(first.range.low).arg(first.range.high).arg(first.range.by == ZsetRange::By::kScore ? "BYSCORE" : "BYLEX");
  batch.arg(first.range.descending ? "1" : "0").arg(first.wanted).arg(first.ties ? "1" : "0");
  batch.arg(first.members_hold_value ? "1" : "0").arg(nulls).arg(max_members).arg(max_rows);
  append_row_arguments(batch, rows);
  for (const std::string& token : program.tokens) batch.arg(token);
}

std::optional<FirstRowsOfSets> decode_first_rows_of_sets(const Reply& reply, std::size_t fields) {
  const auto parts = parts_of(reply);
  if (!parts) return std::nullopt;
  expect(parts->size() == 2);
  return FirstRowsOfSets{static_cast<std::size_t>((*parts)[0].integer), FlatRows((*parts)[1].children(), fields)};
}

}  // namespace redquel::executor
