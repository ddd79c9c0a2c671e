#pragma once

#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "executor/engine/planned.h"
#include "planner/bind/bind.h"

namespace redquel::executor {

/// Queries that came a short while ago, by their text: a client that sends the same text again pays neither for its
/// parsing nor for its planning. The least recently used goes first. Of one thread.
class PlanCache {
 public:
  /// The dependencies of a plan besides the text; the definitions are identified by their version.
  struct Conditions {
    DeclaredParameters parameters;
    planner::BindSettings settings;
    std::string catalog_version;
    bool depends_on_role = false;

    /// Returns true if these are the session's conditions. (Compared in place: every statement asks.)
    bool hold(const DeclaredParameters& declared, const SessionState& session, std::string_view version) const;
  };

  explicit PlanCache(std::size_t most_plans) : most_plans_(most_plans) {}

  /// The parsed text; null: not known.
  std::shared_ptr<const parser::ast::Statement> find_statement(std::string_view text);
  /// The text's plan; null: not known, or made under other conditions.
  PreparedPtr find_plan(std::string_view text, const DeclaredParameters& parameters, const SessionState& session, std::string_view catalog_version);
  /// Takes a plan, unless it is of a kind that must be made anew each time (see is_lasting).
  void remember(PreparedPtr prepared, Conditions conditions);
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PreparedPtr prepared;  // owns the text
    Conditions conditions;
  };
  using Entries = std::list<Entry>;

  /// Found entries move to the front.
  Entry* find(std::string_view text);
  static bool is_lasting(const Prepared& prepared);

  std::size_t most_plans_;
  Entries entries_;  // most recently used first
  std::unordered_map<std::string_view, Entries::iterator> by_text_;
};

}  // namespace redquel::executor
