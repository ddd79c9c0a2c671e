#include "sql/functions/regular_expression.h"

#include <tcl.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <list>
#include <mutex>
#include <optional>

#include "sql/aside_thread.h"
#include "sql/error.h"
#include "sql/functions/back_references.h"
#include "sql/functions/characters.h"
#include "sql/functions/regex_cost.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// The first private-use character and their number. None of them is a letter, a digit or a blank, and none has a case.
constexpr std::uint32_t kFirstCode = 0xE000, kCodes = 0x1900;

/// Gives characters beyond ASCII their codes. The pattern's own characters get fixed ones, evenly spread; a text's
/// other characters get free ones between their neighbours' (so that a range [à-ü] holds what it should).
class CharacterCodes {
 public:
  CharacterCodes() = default;
  explicit CharacterCodes(std::vector<std::uint32_t> characters) : characters_(std::move(characters)) {
    std::ranges::sort(characters_);
    const auto last = std::unique(characters_.begin(), characters_.end());
    characters_.erase(last, characters_.end());
    gap_ = std::max<std::uint32_t>(kCodes / static_cast<std::uint32_t>(characters_.size() + 1), 1);
  }

  /// `others` are the text's characters that the pattern does not have, in order of appearance.
  Tcl_UniChar code(std::uint32_t character, std::vector<std::uint32_t>& others) const {
    const auto found = std::ranges::lower_bound(characters_, character);
    const auto interval = static_cast<std::uint32_t>(found - characters_.begin());
    // A pattern character's code begins the interval behind it.
    if (found != characters_.end() && *found == character) return clamp(kFirstCode + (interval + 1) * gap_);
    const auto other = std::ranges::find(others, character);
    const auto number = static_cast<std::uint32_t>(other - others.begin());
    if (other == others.end()) others.push_back(character);
    const std::uint32_t room = gap_ > 1 ? gap_ - 1 : 1;
    return clamp(kFirstCode + interval * gap_ + 1 + number % room);
  }

 private:
  static Tcl_UniChar clamp(std::uint32_t code) {
    return static_cast<Tcl_UniChar>(std::min(code, kFirstCode + kCodes - 1));
  }

  std::vector<std::uint32_t> characters_;
  std::uint32_t gap_ = kCodes;
};

/// Escapes \uXXXX, \UXXXXXXXX and \xHHH… that stand for a character beyond ASCII, written out.
std::string expand_escapes(std::string_view pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    const char kind = pattern[i + 1];
    const std::size_t wanted = kind == 'u' ? 4 : kind == 'U' ? 8 : kind == 'x' ? 255 : 0;
    std::uint32_t code = 0;
    std::size_t digits = 0;
    while (digits < wanted && i + 2 + digits < pattern.size()) {
      const char c = to_lower(pattern[i + 2 + digits]);
      if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) break;
      code = code << 4 | static_cast<std::uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
      ++digits;
    }
    const bool complete = wanted == 255 ? digits > 0 : digits == wanted && wanted > 0;
    if (complete && code >= 0x80 && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF)) {
      append_code_point(code, out);
      i += 1 + digits;
    } else {
      out += pattern[i];
      out += pattern[++i];
    }
  }
  return out;
}

int engine_flags(const RegexFlags& flags) {
  int bits = TCL_REG_ADVANCED;
  switch (flags.syntax) {
    case RegexFlags::Syntax::kAdvanced:
      break;
    case RegexFlags::Syntax::kExtended:
      bits = TCL_REG_EXTENDED;
      break;
    case RegexFlags::Syntax::kBasic:
      bits = TCL_REG_BASIC;
      break;
    case RegexFlags::Syntax::kQuoted:
      bits = TCL_REG_QUOTE;
      break;
  }
  if (flags.ignore_case) bits |= TCL_REG_NOCASE;
  if (flags.expanded) bits |= TCL_REG_EXPANDED;
  if (flags.newline_stops) bits |= TCL_REG_NLSTOP;
  if (flags.newline_anchors) bits |= TCL_REG_NLANCH;
  return bits;
}

/// Matches every character that a text can have here, newlines in all modes, and prefers neither long nor short.
const std::string kAnyCharacter = "[\\x01-\\x7f\\ue000-\\uf8ff]";

/// Options at the pattern's begin: "(?i)"; empty: there are none.
std::string_view embedded_options(std::string_view pattern) {
  const bool has_options = pattern.starts_with("(?") && pattern.size() > 2 && to_lower(pattern[2]) >= 'a' && to_lower(pattern[2]) <= 'z';
  return has_options ? pattern.substr(0, pattern.find(')') + 1) : std::string_view();
}

/// The pattern behind one character of any kind, if it holds something that looks back.
std::optional<std::string> behind_character(std::string_view pattern, const RegexFlags& flags) {
  if (flags.syntax != RegexFlags::Syntax::kAdvanced || pattern.starts_with("***")) return std::nullopt;
  bool looks_back = false;
  for (std::size_t i = 0; flags.newline_anchors && i < pattern.size(); ++i) {
    looks_back = looks_back || (pattern[i] == '^' && (i == 0 || pattern[i - 1] != '['));
  }
  for (std::string_view sign : {"\\m", "\\M", "\\y", "\\Y", "[[:<:]]", "[[:>:]]"}) {
    looks_back = looks_back || pattern.find(sign) != std::string_view::npos;
  }
  if (!looks_back) return std::nullopt;
  const std::string_view options = embedded_options(pattern);  // stay in front
  return std::string(options) + kAnyCharacter + "(?:" + std::string(pattern.substr(options.size())) + ")";
}

/// A pattern taken apart: its options, what it looks for behind its place, and the rest.
struct LookBehinds {
  struct Condition {
    std::string_view pattern;
    bool negative = false;
  };
  std::string_view options, rest;
  std::vector<Condition> conditions;
};

/// Behind the bracket expression that begins at `at`.
std::size_t end_of_bracket(std::string_view pattern, std::size_t at) {
  std::size_t i = at + 1;
  if (i < pattern.size() && pattern[i] == '^') ++i;
  if (i < pattern.size() && pattern[i] == ']') ++i;
  while (i < pattern.size() && pattern[i] != ']') {
    const bool is_class = pattern[i] == '[' && i + 1 < pattern.size() && std::string_view(":.=").find(pattern[i + 1]) != std::string_view::npos;
    if (is_class) i = std::min(pattern.find(std::string{pattern[i + 1], ']'}, i + 2), pattern.size() - 1);
    i += pattern[i] == '\\' || is_class ? 2 : 1;
  }
  return i + 1;
}

/// Calls `visit(place, depth)` for what is neither escaped nor in brackets, until it says false.
template <class Visit>
void walk_pattern(std::string_view pattern, const Visit& visit) {
  int depth = 0;
  for (std::size_t i = 0; i < pattern.size();) {
    if (pattern[i] == ')') --depth;
    if (!visit(i, depth)) return;
    if (pattern[i] == '(') ++depth;
    i = pattern[i] == '\\' ? i + 2 : pattern[i] == '[' ? end_of_bracket(pattern, i) : i + 1;
  }
}

bool is_look_behind(std::string_view pattern) { return pattern.starts_with("(?<=") || pattern.starts_with("(?<!"); }

/// 0A000 where something looks behind in the middle of the pattern.
LookBehinds split_look_behinds(std::string_view pattern) {
  LookBehinds parts{.options = embedded_options(pattern), .rest = {}, .conditions = {}};
  parts.rest = pattern.substr(parts.options.size());
  while (is_look_behind(parts.rest)) {
    std::size_t end = std::string_view::npos;
    walk_pattern(parts.rest, [&](std::size_t place, int depth) {
      if (parts.rest[place] == ')' && depth == 0) end = place;
      return end == std::string_view::npos;
    });
    if (end == std::string_view::npos) {
      throw SqlError(sqlstate::kInvalidRegularExpression, "invalid regular expression: parentheses () not balanced");
    }
    parts.conditions.push_back({parts.rest.substr(4, end - 4), parts.rest[3] == '!'});
    parts.rest.remove_prefix(end + 1);
  }
  const auto refuse_within = [](std::string_view part) {
    walk_pattern(part, [&](std::size_t place, int) {
      if (is_look_behind(part.substr(place))) throw not_supported("look-behind elsewhere than at the begin of a regular expression");
      return true;
    });
  };
  for (const LookBehinds::Condition& condition : parts.conditions) refuse_within(condition.pattern);
  refuse_within(parts.rest);
  if (parts.conditions.empty()) return parts;
  walk_pattern(parts.rest, [&](std::size_t place, int depth) {
    if (parts.rest[place] == '|' && depth == 0) throw not_supported("look-behind before alternatives in a regular expression");
    return true;
  });
  if (!parts.rest.empty() && std::string_view("*+?{").find(parts.rest[0]) != std::string_view::npos) {
    throw SqlError(sqlstate::kInvalidRegularExpression, "invalid regular expression: quantifier operand invalid");
  }
  return parts;
}

/// The most characters that the pattern can match; 0: unknown, or what it matches depends on where the text begins.
std::size_t longest_match(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (std::string_view("*+{^(").find(pattern[i]) != std::string_view::npos) return 0;
    if (pattern[i] != '\\') continue;
    ++i;
    const bool is_class = i < pattern.size() && std::string_view("dDsSwW").find(pattern[i]) != std::string_view::npos;
    if (!is_class && i < pattern.size() && is_alphanumeric(pattern[i])) return 0;
  }
  return pattern.size();
}

/// Tcl's engine may search for ever where a back-reference is repeated, or its group left out (PostgreSQL has mended its own): such
/// patterns are refused. Returns true if the pattern has back-references.
bool refuse_endless_search(std::string_view pattern, RegexFlags::Syntax syntax, bool expanded) {
  bool has_reference = false;
  for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '\\') continue;
    ++i;
    if (pattern[i] < '1' || pattern[i] > '9') continue;
    has_reference = true;
    if (i + 1 == pattern.size()) continue;
    if (std::string_view("*+?{").find(pattern[i + 1]) != std::string_view::npos) {
      throw not_supported("a repeated back-reference in a regular expression");
    }
  }
  const bool basic = syntax == RegexFlags::Syntax::kBasic && (pattern.find("\\)*") != std::string_view::npos || pattern.find("\\)\\{") != std::string_view::npos);
  if (!has_reference) return false;
  const BackReferenceRisk risk = basic ? BackReferenceRisk::kEndless : back_reference_risk(pattern, expanded);
  switch (risk) {
    case BackReferenceRisk::kNone: return true;
    case BackReferenceRisk::kEndless: throw not_supported("a back-reference to a group that may be empty and left out, or a counted one");
    case BackReferenceRisk::kOtherBranch: throw not_supported("a back-reference to a group of another alternative");
    case BackReferenceRisk::kLookaround:
      throw SqlError(sqlstate::kInvalidRegularExpression, "invalid regular expression: invalid backreference number");
  }
  return true;
}

/// Tcl sets up its allocator once per process; its change of the locale is undone.
void start_engine() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* current = std::setlocale(LC_CTYPE, nullptr);
    const std::string locale = current == nullptr ? "C" : current;
    Tcl_FindExecutable(nullptr);
    std::setlocale(LC_CTYPE, locale.c_str());
  });
}

[[noreturn]] void throw_invalid(Tcl_Obj* pattern, int flags) {
  Tcl_Interp* interpreter = Tcl_CreateInterp();
  std::string reason = "invalid regular expression";
  if (Tcl_GetRegExpFromObj(interpreter, pattern, flags) == nullptr) {
    reason = Tcl_GetStringResult(interpreter);
    const std::string_view lead = "couldn't compile regular expression pattern: ";
    if (reason.starts_with(lead)) reason.erase(0, lead.size());
    if (reason == "nfa has too many states") reason = "regular expression is too complex";
  }
  Tcl_DeleteInterp(interpreter);
  throw SqlError(sqlstate::kInvalidRegularExpression, "invalid regular expression: " + reason);
}

}  // namespace

RegexFlags parse_regex_flags(std::string_view letters) {
  RegexFlags flags;
  for (std::size_t i = 0; i < letters.size(); i += character_size(letters[i])) {
    switch (letters[i]) {
      case 'g':
        flags.global = true;
        break;
      case 'b':
        flags.syntax = RegexFlags::Syntax::kBasic;
        break;
      case 'e':
        flags.syntax = RegexFlags::Syntax::kExtended;
        break;
      case 'q':
        flags.syntax = RegexFlags::Syntax::kQuoted;
        break;
      case 'c':
        flags.ignore_case = false;
        break;
      case 'i':
        flags.ignore_case = true;
        break;
      case 'm':
      case 'n':
        flags.newline_stops = flags.newline_anchors = true;
        break;
      case 'p':
        flags.newline_stops = true;
        flags.newline_anchors = false;
        break;
      case 's':
        flags.newline_stops = flags.newline_anchors = false;
        break;
      case 't':
        flags.expanded = false;
        break;
      case 'w':
        flags.newline_stops = false;
        flags.newline_anchors = true;
        break;
      case 'x':
        flags.expanded = true;
        break;
      default:
        throw SqlError(
            sqlstate::kInvalidParameterValue, "invalid regular expression option: \"" + std::string(first_character(letters.substr(i))) + "\"");
    }
  }
  return flags;
}

namespace {

/// A pattern as the engine compiled it; the object owns the expression.
struct EnginePattern {
  Tcl_Obj* object = nullptr;
  Tcl_RegExp expression = nullptr;

  EnginePattern() = default;
  EnginePattern(const EnginePattern&) = delete;
  EnginePattern& operator=(const EnginePattern&) = delete;
  ~EnginePattern() {
    if (object != nullptr) Tcl_DecrRefCount(object);
  }

  void compile(const std::string& pattern, int flags) {
    object = Tcl_NewStringObj(pattern.data(), static_cast<int>(pattern.size()));
    Tcl_IncrRefCount(object);
    expression = Tcl_GetRegExpFromObj(nullptr, object, flags);
    if (expression == nullptr) throw_invalid(object, flags);
  }
};

}  // namespace

struct RegularExpression::Compiled {
  EnginePattern pattern;
  /// The engine begins to see at the place where a search begins, but \m, \y and (in lines) ^ look at the character
  /// before it: for searches from the middle of a text this one matches that character too. Empty where nothing looks
  /// back.
  EnginePattern behind;
  CharacterCodes codes;
  struct LookBehind {
    std::unique_ptr<RegularExpression> expression;  // at the end of what stands before the match
    bool negative = false;
    std::size_t longest = 0;  // match, in characters; 0: look at all of it
  };
  std::vector<LookBehind> look_behinds;
  /// Set if it has back-references: another thread compiles it anew.
  struct Source {
    std::string pattern;
    RegexFlags flags;
  };
  std::optional<Source> source;
};

/// A subject in a thread of its own, which alone uses the engine's objects.
struct RegularExpression::Subject::Aside {
  std::shared_ptr<AsideThread> thread;
  Compiled::Source source;
  std::string text;
  std::shared_ptr<const RegularExpression> expression;
  std::optional<Subject> subject;
};

RegularExpression::RegularExpression(std::string_view pattern, RegexFlags flags)
    : compiled_(std::make_unique<Compiled>()) {
  start_engine();
  const std::string_view source = pattern;
  std::string without_look_behinds;
  if (flags.syntax == RegexFlags::Syntax::kAdvanced && !pattern.starts_with("***")) {
    const LookBehinds parts = split_look_behinds(pattern);
    for (const LookBehinds::Condition& condition : parts.conditions) {
      const std::string at_end = std::string(parts.options) + "(?:" + std::string(condition.pattern) + ")\\Z";
      compiled_->look_behinds.push_back({std::unique_ptr<RegularExpression>(new RegularExpression(at_end, flags)), condition.negative,
                                         longest_match(condition.pattern)});
    }
    if (!parts.conditions.empty()) pattern = without_look_behinds = std::string(parts.options) + std::string(parts.rest);
  }
  check_compile_time(pattern, flags.syntax);
  const bool literal = flags.syntax == RegexFlags::Syntax::kQuoted;
  const std::string written = literal ? std::string(pattern) : expand_escapes(pattern);
  std::string translated;
  if (is_ascii(written)) {
    translated = written;
  } else {
    std::vector<std::uint32_t> characters;
    for (std::string_view rest = written; !rest.empty(); rest.remove_prefix(character_size(rest[0]))) {
      if (character_size(rest[0]) > 1) characters.push_back(code_point(rest));
    }
    compiled_->codes = CharacterCodes(std::move(characters));
    std::vector<std::uint32_t> others;
    for (std::string_view rest = written; !rest.empty(); rest.remove_prefix(character_size(rest[0]))) {
      if (character_size(rest[0]) == 1) {
        translated += rest[0];
      } else {
        append_code_point(compiled_->codes.code(code_point(rest), others), translated);
      }
    }
  }
  const int bits = engine_flags(flags);
  compiled_->pattern.compile(translated, bits);
  if (!literal && refuse_endless_search(pattern, flags.syntax, flags.expanded)) compiled_->source = {std::string(source), flags};
  if (const std::optional<std::string> behind = behind_character(translated, flags)) {
    compiled_->behind.compile(*behind, bits);
  }
  Tcl_RegExpInfo info;
  Tcl_RegExpGetInfo(compiled_->pattern.expression, &info);
  group_count_ = static_cast<std::size_t>(info.nsubs);
}

RegularExpression::~RegularExpression() = default;

std::shared_ptr<const RegularExpression> RegularExpression::compiled(std::string_view pattern, RegexFlags flags) {
  struct Entry {
    std::string pattern;
    RegexFlags flags;
    std::shared_ptr<const RegularExpression> expression;
  };
  constexpr std::size_t kRemembered = 32;
  // The engine's objects belong to the thread that made them. Most recently used first.
  thread_local std::list<Entry> cache;
  flags.global = false;
  const auto found =
      std::ranges::find_if(cache, [&](const Entry& entry) { return entry.flags == flags && entry.pattern == pattern; });
  if (found != cache.end()) {
    cache.splice(cache.begin(), cache, found);
    return cache.front().expression;
  }
  std::shared_ptr<const RegularExpression> expression(new RegularExpression(pattern, flags));
  cache.push_front({std::string(pattern), flags, expression});
  if (cache.size() > kRemembered) cache.pop_back();
  return expression;
}

namespace {

/// Checks the interrupts now and then: the engine itself cannot be interrupted.
void note_search(std::string_view text) {
  constexpr std::size_t kSearchBytes = 1000, kSlowness = 16;  // of a search, and of each byte beside one that is copied
  thread_local WorkMeter meter;
  meter.add(kSearchBytes + kSlowness * text.size());
}

}  // namespace

bool RegularExpression::matches(std::string_view text) const {
  note_search(text);
  const Subject subject(*this, text);
  if (!compiled_->look_behinds.empty() || may_take_long(text)) {
    std::vector<RegexSpan> groups;
    return search(subject, 0, groups);
  }
  const int found =
      Tcl_RegExpExecObj(nullptr, compiled_->pattern.expression, static_cast<Tcl_Obj*>(subject.object_), 0, 0, 0);
  if (found < 0) throw SqlError(sqlstate::kInvalidRegularExpression, "regular expression failed: regular expression is too complex");
  return found > 0;
}

bool RegularExpression::may_begin_at(std::string_view text, std::size_t start) const {
  return std::ranges::all_of(compiled_->look_behinds, [&](const Compiled::LookBehind& condition) {
    std::size_t first = condition.longest == 0 ? 0 : start;
    for (std::size_t count = 0; count < condition.longest && first > 0; ++count) {
      do --first;
      while (first > 0 && (static_cast<unsigned char>(text[first]) & 0xC0) == 0x80);
    }
    return condition.expression->matches(text.substr(first, start - first)) != condition.negative;
  });
}

bool RegularExpression::may_take_long(std::string_view rest) const {
  if (!compiled_->source || AsideThread::is_current()) return false;
  // Measured with ^(a+)\1b$: the time grows with the third power of the length, and one power more with each further group.
  constexpr double kSeconds = 5e-9, kLong = 1e-3;
  return kSeconds * std::pow(static_cast<double>(rest.size()), 2 + static_cast<double>(group_count_)) > kLong;
}

bool RegularExpression::search(const Subject& subject, std::size_t from, std::vector<RegexSpan>& groups) const {
  if (may_take_long(subject.text().substr(from))) return search_aside(subject, from, groups);
  return search_here(subject, from, groups);
}

bool RegularExpression::search_aside(const Subject& subject, std::size_t from, std::vector<RegexSpan>& groups) const {
  if (!subject.aside_) {
    check_allocation(subject.text().size() * (1 + sizeof(Tcl_UniChar)));
    subject.aside_ = std::make_shared<Subject::Aside>();
    subject.aside_->thread = AsideThread::least_busy();
    subject.aside_->source = *compiled_->source;
    subject.aside_->text = subject.text();
  }
  struct Found {
    bool is_match = false;
    std::vector<RegexSpan> groups;
  };
  const auto found = std::make_shared<Found>();
  subject.aside_->thread->run([aside = subject.aside_, found, from] {
    if (!aside->subject) {
      aside->expression = compiled(aside->source.pattern, aside->source.flags);
      aside->subject.emplace(*aside->expression, aside->text);
    }
    found->is_match = aside->expression->search_here(*aside->subject, from, found->groups);
  });
  groups = std::move(found->groups);
  return found->is_match;
}

bool RegularExpression::search_here(const Subject& subject, std::size_t from, std::vector<RegexSpan>& groups) const {
  const std::string_view text = subject.text();
  while (search_once(subject, from, groups)) {
    const std::size_t start = groups[0].start;
    if (compiled_->look_behinds.empty() || may_begin_at(text, start)) return true;
    if (start == text.size()) return false;
    from = start + character_size(text[start]);
  }
  return false;
}

bool RegularExpression::search_once(const Subject& subject, std::size_t from, std::vector<RegexSpan>& groups) const {
  const std::size_t first = subject.character_of(from);
  const bool look_back = first > 0 && compiled_->behind.expression != nullptr;
  const Tcl_RegExp expression = look_back ? compiled_->behind.expression : compiled_->pattern.expression;
  const std::size_t begin = look_back ? first - 1 : first;
  const int found = Tcl_RegExpExecObj(nullptr, expression, static_cast<Tcl_Obj*>(subject.object_),
                                      static_cast<int>(begin), -1, begin == 0 ? 0 : TCL_REG_NOTBOL);
  if (found < 0) throw SqlError(sqlstate::kInvalidRegularExpression, "regular expression failed: regular expression is too complex");
  if (found == 0) return false;
  Tcl_RegExpInfo info;
  Tcl_RegExpGetInfo(expression, &info);
  groups.assign(group_count_ + 1, RegexSpan{});
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (info.matches[i].start < 0) continue;
    const std::size_t skipped = look_back && i == 0 ? 1 : 0;
    groups[i] = {subject.byte_of(begin + static_cast<std::size_t>(info.matches[i].start) + skipped),
                 subject.byte_of(begin + static_cast<std::size_t>(info.matches[i].end))};
  }
  return true;
}

RegularExpression::Subject::Subject(const RegularExpression& expression, std::string_view text) : text_(text) {
  check_text_size(4 * text.size());  // as characters of PostgreSQL
  check_interrupts();
  std::vector<Tcl_UniChar> characters;
  characters.reserve(text.size());
  if (is_ascii(text)) {
    characters.assign(text.begin(), text.end());
  } else {
    std::vector<std::uint32_t> others;
    for (std::size_t at = 0; at < text.size(); at += character_size(text[at])) {
      offsets_.push_back(at);
      if (character_size(text[at]) == 1) {
        characters.push_back(static_cast<Tcl_UniChar>(text[at]));
      } else {
        characters.push_back(expression.compiled_->codes.code(code_point(text.substr(at)), others));
      }
    }
    offsets_.push_back(text.size());
  }
  const BlockCharge copy(characters.size() * sizeof(Tcl_UniChar));
  Tcl_Obj* object = Tcl_NewUnicodeObj(characters.data(), static_cast<int>(characters.size()));
  Tcl_IncrRefCount(object);
  object_ = object;
}

RegularExpression::Subject::~Subject() {
  Tcl_Obj* object = static_cast<Tcl_Obj*>(object_);
  Tcl_DecrRefCount(object);
  if (!aside_) return;
  const std::shared_ptr<AsideThread> thread = aside_->thread;
  thread->post([aside = std::move(aside_)]() mutable { aside.reset(); });
}

std::size_t RegularExpression::Subject::character_of(std::size_t byte) const {
  if (offsets_.empty()) return byte;
  return static_cast<std::size_t>(std::ranges::lower_bound(offsets_, byte) - offsets_.begin());
}

std::size_t RegularExpression::Subject::byte_of(std::size_t character) const {
  return offsets_.empty() ? character : offsets_[character];
}

}  // namespace redquel::sql
