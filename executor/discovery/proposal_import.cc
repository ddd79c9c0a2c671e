#include "executor/discovery/proposal_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "executor/engine/inner_statements.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/shown_text.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

constexpr std::size_t kNotices = 50;
constexpr std::size_t kNoticeBytes = 500;

/// Returns true if the error says that a definition does not fit: data exceptions, definitions, dependencies, FDW options, limits of a
/// program. Errors of Redis, of rights and of cancel are others.
bool is_misfit(std::string_view state) {
  if (state == sqlstate::kInsufficientPrivilege) return false;
  constexpr std::string_view kClasses[] = {"0A", "22", "2B", "42", "54", "HV"};
  return std::ranges::any_of(kClasses, [&](std::string_view start) { return state.starts_with(start); });
}

std::vector<std::string> notes_of(const sql::ProposedTable& table) {
  std::vector<std::string> notes;
  for (const std::string& doubt : table.doubts) notes.push_back(fmt::format("table \"{}\": {}", table.name, doubt));
  for (const sql::ProposedColumn& column : table.columns) {
    if (!column.doubt.empty()) notes.push_back(fmt::format("column \"{}\" of table \"{}\": {}", column.name, table.name, column.doubt));
  }
  for (const sql::ProposedIndex& index : table.indexes) {
    if (!index.doubt.empty()) notes.push_back(fmt::format("index of table \"{}\" at {}: {}", table.name, index.key, index.doubt));
  }
  return notes;
}

}  // namespace

ProposalImport::ByTitle ProposalImport::objects_of(const sql::Proposal& proposal, const Wanted& wanted) const {
  ByTitle objects;
  for (const sql::ProposedFramework& framework : proposal.frameworks) {
    if (wanted.framework && !wanted.framework(framework)) continue;
    Objects made{.definitions = sql::definition_statements(framework, schema_), .drops = sql::drop_statements(framework, schema_), .notes = {framework.comment}};
    objects.emplace_back(fmt::format("framework {} ({})", framework.name, framework.schema), std::move(made));
  }
  std::set<std::string> names;
  for (sql::ProposedTable table : proposal.tables) {
    if (wanted.table && !wanted.table(table.name)) continue;
    bool has_parent = false;
    for (sql::ProposedColumn& column : table.columns) {
      if (!names.contains(column.parent)) column.parent.clear();
      has_parent = has_parent || !column.parent.empty();
    }
    names.insert(table.name);
    Objects made{.definitions = sql::definition_statements(table, schema_), .drops = sql::drop_statements(table, schema_), .notes = notes_of(table)};
    made.keys = {.pattern = table.pattern, .type = table.type, .keys = table.keys, .example = table.examples.empty() ? "" : table.examples.front(), .reason = {}};
    if (has_parent) {
      for (sql::ProposedColumn& column : table.columns) column.parent.clear();
      made.without_parents = sql::definition_statements(table, schema_);
    }
    objects.emplace_back(fmt::format("table \"{}\"", table.name), std::move(made));
  }
  return objects;
}

asio::awaitable<void> ProposalImport::run(const sql::Proposal& proposal, Wanted wanted) {
  const std::map<std::string, Objects> before = made_;
  left_out_.clear();
  try {
    co_await in_transaction(engine_, session_, replace(objects_of(proposal, wanted)));
  } catch (...) {
    made_ = before;
    throw;
  }
  std::ranges::copy(proposal.left_out, std::back_inserter(left_out_));
  if (!wanted.notes_left_out) co_return;
  for (const std::string& text : proposal.notes) note(text);
  for (const sql::LeftOut& keys : proposal.left_out) note("left out: " + sql::left_out_text(keys));
}

asio::awaitable<void> ProposalImport::replace(ByTitle objects) {
  std::vector<std::string> gone;
  for (const auto& [title, made] : made_) {
    const auto next = std::ranges::find(objects, title, &ByTitle::value_type::first);
    if (next == objects.end() || next->second != made) gone.push_back(title);
  }
  for (const std::string& title : gone) {
    const std::optional<std::string> failure = co_await run_all(made_.at(title).drops);
    if (failure) note(fmt::format("{} stays as it is: {}", title, *failure));
    else made_.erase(title);
  }
  for (auto& [title, wanted] : objects) {
    if (made_.contains(title)) continue;
    std::optional<std::string> failure = co_await run_all(wanted.definitions);
    if (failure && !wanted.without_parents.empty()) failure = co_await run_all(wanted.without_parents);
    if (failure) {
      note(fmt::format("{} is left out: {}", title, *failure));
      wanted.keys.reason = *failure;
      left_out_.push_back(std::move(wanted.keys));
      continue;
    }
    for (const std::string& text : wanted.notes) note(text);
    made_.emplace(title, std::move(wanted));
  }
}

/// Runs definition statements, all or none. Returns why they do not fit, if they do not.
asio::awaitable<std::optional<std::string>> ProposalImport::run_all(std::vector<std::string> statements) {
  const std::size_t savepoint = session_.savepoints;
  engine_.set_savepoint(session_);
  std::optional<std::string> misfit;
  try {
    for (std::string& statement : statements) {
      sql::check_utf8(statement);
      co_await run_inner_statement(engine_, session_, std::move(statement));
    }
  } catch (const SqlError& error) {
    if (!is_misfit(error.sqlstate())) throw;
    misfit = error.message();
  }
  if (misfit) co_await engine_.roll_back_to(session_, savepoint);
  engine_.release_savepoint(session_, savepoint);
  co_return misfit;
}

void ProposalImport::note(const std::string& text) {
  if (!session_.notice || ++notices_ > kNotices) return;
  session_.notice("NOTICE", SqlError(sqlstate::kSuccessfulCompletion, sql::shown_text(text, kNoticeBytes)));
}

}  // namespace redquel::executor
