#include "sql/functions/back_references.h"

#include <algorithm>
#include <vector>

#include "sql/ascii.h"
#include "sql/stack_depth.h"

namespace redquel::sql {
namespace {

/// Reads a pattern as far as groups, their least lengths, what may be left out, and references go. A pattern that the engine will refuse
/// may be read as anything.
class PatternReader {
 public:
  PatternReader(std::string_view rest, bool expanded) : rest_(rest), expanded_(expanded) {}

  BackReferenceRisk risk() {
    while (!rest_.empty()) {
      alternatives();
      if (!rest_.empty()) take();  // a parenthesis too many
    }
    const auto has = [&](bool Reference::*mark) { return std::ranges::any_of(references_, mark); };
    if (has(&Reference::looks)) return BackReferenceRisk::kLookaround;
    if (has(&Reference::other_branch)) return BackReferenceRisk::kOtherBranch;
    const bool endless = std::ranges::any_of(references_, [&](const Reference& reference) {
      return reference.group <= groups_.size() && groups_[reference.group - 1].may_be_empty &&
             (groups_[reference.group - 1].optional || reference.counted);
    });
    return endless ? BackReferenceRisk::kEndless : BackReferenceRisk::kNone;
  }

 private:
  struct Group {
    bool may_be_empty = false, optional = false;
    bool alternative = false;  // in a branch that is over, one of several
  };
  struct Reference {
    std::size_t group;  // from 1
    bool counted = false, other_branch = false, looks = false;
  };

  char peek() const { return rest_.empty() ? '\0' : rest_[0]; }
  char take() {
    const char c = peek();
    if (!rest_.empty()) rest_.remove_prefix(1);
    return c;
  }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  /// True: it matches the empty text. Groups of a branch are left out when another one matches.
  bool alternatives() {
    check_stack_depth();
    const std::size_t first = groups_.size();
    bool may_be_empty = branch();
    const bool several = peek() == '|';
    while (peek() == '|') {
      end_branch(first);
      take();
      may_be_empty = branch() || may_be_empty;
    }
    if (several) end_branch(first);
    return may_be_empty;
  }

  bool branch() {
    bool may_be_empty = true;
    while (!rest_.empty() && peek() != '|' && peek() != ')') {
      const std::size_t first_group = groups_.size(), first_reference = references_.size();
      bool empty = atom();
      const char quantifier = peek();
      if (quantifier == '*' || quantifier == '+' || quantifier == '?') {
        take();
        empty = empty || quantifier != '+';
        if (quantifier != '+') leave_out(first_group);
      } else if (quantifier == '{') {
        take();
        const bool none = peek() == '0';
        while (!rest_.empty() && take() != '}') {
        }
        empty = empty || none;
        if (none) leave_out(first_group);
        for (std::size_t i = first_reference; i < references_.size(); ++i) references_[i].counted = true;
      }
      take("?");
      may_be_empty = may_be_empty && empty;
    }
    return may_be_empty;
  }

  void end_branch(std::size_t first) {
    leave_out(first);
    for (std::size_t i = first; i < groups_.size(); ++i) groups_[i].alternative = true;
  }

  void leave_out(std::size_t first) {
    for (std::size_t i = first; i < groups_.size(); ++i) groups_[i].optional = true;
  }

  /// True: it matches the empty text.
  bool atom() {
    const char c = take();
    switch (c) {
      case '(':
        return parenthesis();
      case '\\':
        return escape();
      case '[':
        bracket();
        return false;
      case '^':
      case '$':
        return true;
      case ' ':
      case '\t':
      case '\n':
        return expanded_;
      case '#':
        if (expanded_) rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
        return expanded_;
      default:
        return false;
    }
  }

  bool parenthesis() {
    if (take("?#")) {
      while (!rest_.empty() && take() != ')') {
      }
      return true;
    }
    const bool looks = take("?=") || take("?!");
    const bool captures = !looks && !take("?:");
    const std::size_t number = groups_.size();
    if (captures) groups_.emplace_back();
    const bool outer_looks = looks_;
    looks_ = looks_ || looks;
    const bool may_be_empty = alternatives();
    looks_ = outer_looks;
    take(")");
    if (captures) groups_[number].may_be_empty = may_be_empty;
    return looks || may_be_empty;
  }

  bool escape() {
    const char c = take();
    if (c >= '1' && c <= '9') {
      add_reference(static_cast<std::size_t>(c - '0'));
      // The engine takes two digits if there are so many groups.
      if (is_digit(peek())) add_reference(static_cast<std::size_t>((c - '0') * 10 + (take() - '0')));
      return true;
    }
    if (std::string_view("AZmMyY").find(c) != std::string_view::npos) return true;
    // The digits of a number are no atoms.
    if (c == 'x' || c == 'u' || c == 'U' || c == '0') {
      while (is_digit(peek()) || (peek() >= 'a' && peek() <= 'f') || (peek() >= 'A' && peek() <= 'F')) take();
    } else if (c == 'c') {
      take();
    }
    return false;
  }

  void add_reference(std::size_t group) {
    references_.push_back({.group = group, .other_branch = group <= groups_.size() && groups_[group - 1].alternative, .looks = looks_});
  }

  void bracket() {
    take("^");
    take("]");
    while (!rest_.empty()) {
      const char c = take();
      if (c == ']') return;
      if (c == '\\') take();
      if (c != '[' || (peek() != ':' && peek() != '.' && peek() != '=')) continue;
      const char kind = take();
      while (!rest_.empty() && !(rest_[0] == kind && rest_.substr(1).starts_with(']'))) take();
      rest_.remove_prefix(std::min<std::size_t>(2, rest_.size()));
    }
  }

  std::string_view rest_;
  bool expanded_;
  bool looks_ = false;  // inside of a look-ahead
  std::vector<Group> groups_;
  std::vector<Reference> references_;
};

}  // namespace

BackReferenceRisk back_reference_risk(std::string_view pattern, bool expanded) {
  if (pattern.starts_with("***")) {
    if (pattern.starts_with("***=")) return BackReferenceRisk::kNone;
    pattern.remove_prefix(std::min<std::size_t>(4, pattern.size()));
  }
  // Options in front: (?x).
  if (pattern.size() > 2 && pattern.starts_with("(?") && pattern[2] >= 'a' && pattern[2] <= 'z') {
    const std::string_view options = pattern.substr(0, pattern.find(')'));
    expanded = expanded || options.find('x') != std::string_view::npos;
    pattern.remove_prefix(std::min(options.size() + 1, pattern.size()));
  }
  return PatternReader(pattern, expanded).risk();
}

}  // namespace redquel::sql
