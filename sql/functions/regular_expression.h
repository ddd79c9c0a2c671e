#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redquel::sql {

/// Henry Spencer's engine, PostgreSQL's own, from Debian's Tcl library: regular_expression.cc is the only file that
/// includes tcl.h.
///
/// Tcl knows Unicode's letters and 16-bit characters; PostgreSQL in the C locale knows ASCII's letters and all
/// characters. So what is not ASCII reaches the engine as private-use characters, in an order that keeps the pattern's
/// ranges right. Tcl does not know look-behind: at a pattern's begin it is an expression of its own, elsewhere refused.
struct RegexFlags {
  enum class Syntax : std::uint8_t { kAdvanced, kExtended, kBasic, kQuoted } syntax = Syntax::kAdvanced;
  bool ignore_case = false;
  bool expanded = false;
  bool newline_stops = false;    // . and [^x] do not match a newline
  bool newline_anchors = false;  // ^ and $ match at newlines
  bool global = false;           // for the caller

  friend bool operator==(const RegexFlags&, const RegexFlags&) = default;
};

/// Letters such as "gi" (manual 9.7.3.5, table of ARE options). 22023 `invalid regular expression option: "z"`.
RegexFlags parse_regex_flags(std::string_view letters);

/// Bytes [start, end) of a text; npos, npos for a group that did not take part.
struct RegexSpan {
  std::size_t start = std::string_view::npos, end = std::string_view::npos;
  bool matched() const { return start != std::string_view::npos; }
  std::string_view of(std::string_view text) const { return text.substr(start, end - start); }
};

class RegularExpression {
 public:
  ~RegularExpression();
  RegularExpression(const RegularExpression&) = delete;
  RegularExpression& operator=(const RegularExpression&) = delete;

  /// Compiled, or from the thread's cache: valid until the thread compiles some dozens of others. 2201B "invalid
  /// regular expression: …".
  static std::shared_ptr<const RegularExpression> compiled(std::string_view pattern, RegexFlags flags);

  std::size_t group_count() const { return group_count_; }
  bool matches(std::string_view text) const;

  /// A text made ready for several searches.
  class Subject;
  /// The leftmost match that starts at or behind byte `from`; `groups[0]` is the whole.
  bool search(const Subject& subject, std::size_t from, std::vector<RegexSpan>& groups) const;

 private:
  struct Compiled;
  RegularExpression(std::string_view pattern, RegexFlags flags);

  /// Returns true if a search may take more than a millisecond although nothing interrupts the engine.
  bool may_take_long(std::string_view rest) const;
  bool search_here(const Subject& subject, std::size_t from, std::vector<RegexSpan>& groups) const;
  bool search_aside(const Subject& subject, std::size_t from, std::vector<RegexSpan>& groups) const;
  bool search_once(const Subject& subject, std::size_t from, std::vector<RegexSpan>& groups) const;
  /// Returns true if a match may begin here, by the pattern's conditions on the preceding text.
  bool may_begin_at(std::string_view text, std::size_t start) const;

  std::unique_ptr<Compiled> compiled_;
  std::size_t group_count_ = 0;
};

class RegularExpression::Subject {
 public:
  Subject(const RegularExpression& expression, std::string_view text);
  ~Subject();
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  std::string_view text() const { return text_; }

 private:
  friend class RegularExpression;
  struct Aside;
  std::size_t character_of(std::size_t byte) const;
  std::size_t byte_of(std::size_t character) const;

  std::string_view text_;
  void* object_;                      // Tcl_Obj
  std::vector<std::size_t> offsets_;  // byte of each character and of the end; empty where all is ASCII
  mutable std::shared_ptr<Aside> aside_;  // null until a search runs aside
};

}  // namespace redquel::sql
