#include "executor/engine/plan_cache.h"

#include <algorithm>
#include <array>

#include "executor/runtime/session_context.h"
#include "sql/ascii.h"

namespace redquel::executor {

namespace {

/// The time for which a plan is used without another look at the tables' sizes.
constexpr std::chrono::seconds kSizesHold{60};

/// Longer texts are hardly sent twice, and their plans are large.
constexpr std::size_t kMostTextBytes = 8192;

/// The literals 'now', 'today'… are read when a statement is planned, so its plan is of that moment. A text that has
/// such a word anywhere counts, except for calls of now().
bool may_have_moment(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kWords = {"now", "today", "tomorrow", "yesterday"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    for (auto at = text.begin();; ++at) {
      at = std::search(at, text.end(), word.begin(), word.end(), [](char a, char b) { return sql::to_lower(a) == b; });
      if (at == text.end()) return false;
      const auto behind = at + static_cast<std::ptrdiff_t>(word.size());
      if (word != "now" || behind == text.end() || *behind != '(') return true;
    }
  });
}

/// Returns true if the whole text is the query, and not a PREPARE, DECLARE or CREATE that holds one.
bool begins_as_query(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kWords = {"select", "with",   "values", "table",
                                                             "insert", "update", "delete", "merge"};
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n(;"), text.size()));
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return text.size() >= word.size() && std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) { return a == sql::to_lower(b); });
  });
}

}  // namespace

bool PlanCache::Conditions::hold(const DeclaredParameters& declared, const SessionState& session, std::string_view version) const {
  return parameters == declared && catalog_version == version && settings.search_path == session.search_path &&
         (!depends_on_role || settings.role == session.role) && settings.database == session.database &&
         settings.row_security == session.row_security && settings.reads_memory == session.reads_memory && settings.left_out == left_out_rules(session) &&
         settings.session == session.settings;
}

PlanCache::Entry* PlanCache::find(std::string_view text) {
  const auto found = by_text_.find(text);
  if (found == by_text_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return &entries_.front();
}

std::shared_ptr<const parser::ast::Statement> PlanCache::find_statement(std::string_view text) {
  const Entry* entry = find(text);
  return entry ? entry->prepared->statement : nullptr;
}

PreparedPtr PlanCache::find_plan(std::string_view text, const DeclaredParameters& parameters, const SessionState& session,
                                 std::string_view catalog_version) {
  const Entry* entry = find(text);
  if (!entry || !entry->conditions.hold(parameters, session, catalog_version)) return nullptr;
  const auto age = std::chrono::steady_clock::now() - entry->prepared->plan->planned_at;
  return entry->prepared->plan->depends_on_sizes && age > kSizesHold ? nullptr : entry->prepared;
}

bool PlanCache::is_lasting(const Prepared& prepared) {
  return prepared.plan->kind == PreparedPlan::Kind::kQuery && prepared.text.size() <= kMostTextBytes &&
         begins_as_query(prepared.text) && !may_have_moment(prepared.text);
}

void PlanCache::remember(PreparedPtr prepared, Conditions conditions) {
  if (most_plans_ == 0 || !is_lasting(*prepared)) return;
  if (const auto old = by_text_.find(prepared->text); old != by_text_.end()) {
    const Entries::iterator entry = old->second;
    by_text_.erase(old);
    entries_.erase(entry);
  }
  entries_.push_front({std::move(prepared), std::move(conditions)});
  by_text_.emplace(entries_.front().prepared->text, entries_.begin());
  if (entries_.size() <= most_plans_) return;
  by_text_.erase(entries_.back().prepared->text);
  entries_.pop_back();
}

}  // namespace redquel::executor
