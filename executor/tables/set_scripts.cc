#include "executor/tables/set_scripts.h"

#include "executor/scripts/scripts.h"

namespace redquel::executor {

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

void append_count_of_sets(CommandBatch& batch, const SetProgram& program, std::size_t max_members) {
  kRowsOfSetsScript.begin_call(batch, program.keys.size(), 6 + program.tokens.size());
  for (const std::string& key : program.keys) batch.arg(key);
  batch.arg(max_members).arg("-1").arg("0").arg("").arg("0").arg("0");
  for (const std::string& token : program.tokens) batch.arg(token);
}

void append_first_rows_of_sets(CommandBatch& batch, const SetProgram& program, const FirstRows& first, const RowArguments& rows,
                               std::size_t max_members, std::size_t max_rows) {
  const std::size_t arguments = 13 + rows.fields->size() + program.tokens.size();
  kFirstRowsOfSetsScript.begin_call(batch, 2 + program.keys.size(), arguments);
  batch.arg(first.key).arg(first.null_set);
  for (const std::string& key : program.keys) batch.arg(key);
  const char* nulls = first.null_set.empty() ? "" : first.nulls_first ? "first" : "last";
  batch.arg(first.range.low).arg(first.range.high).arg(first.range.by == ZsetRange::By::kScore ? "BYSCORE" : "BYLEX");
  batch.arg(first.range.descending ? "1" : "0").arg(first.wanted).arg(first.ties ? "1" : "0");
  batch.arg(first.members_hold_value ? "1" : "0").arg(nulls).arg(max_members).arg(max_rows);
  append_row_arguments(batch, rows);
  for (const std::string& token : program.tokens) batch.arg(token);
}

}  // namespace redquel::executor
