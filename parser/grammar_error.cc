#include "parser/grammar_error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "parser/scanner_characters.h"
#include "sql/sqlstate.h"

namespace redquel::parser {
namespace {

/// The byte offset of the `cursor`-th character of UTF-8 text.
std::optional<std::uint32_t> byte_offset(std::string_view text, int cursor) {
  if (cursor <= 0) return std::nullopt;
  std::size_t at = 0;
  for (int characters = 1; at < text.size(); ++at) {
    const bool continuation = (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
    if (!continuation && characters++ == cursor) break;
  }
  return static_cast<std::uint32_t>(at);
}

enum class Match { kWhole, kPrefix, kSuffix, kInside };

struct KnownError {
  Match match;
  std::string_view text;
  std::string_view sqlstate;
  std::string_view hint = {};
  std::string_view function = {};  // empty: any
};

/// All of gram.y, scan.l and parser.c of PostgreSQL 15 that is not plain 42601.
constexpr std::array kKnownErrors = {
    KnownError{Match::kWhole, "invalid Unicode escape", sqlstate::kInvalidEscapeSequence, "Unicode escapes must be \\uXXXX or \\UXXXXXXXX.",
               "core_yylex"},
    KnownError{Match::kWhole, "invalid Unicode escape", sqlstate::kSyntaxError, "Unicode escapes must be \\XXXX or \\+XXXXXX.", "str_udeescape"},
    KnownError{Match::kPrefix, "invalid byte sequence for encoding", sqlstate::kCharacterNotInRepertoire},
    KnownError{Match::kPrefix, "unsafe use of \\' in a string literal", sqlstate::kNonstandardUseOfEscapeCharacter,
               "Use '' to write quotes in strings. \\' is insecure in client-only encodings."},
    KnownError{Match::kPrefix, "precision for type float must be", sqlstate::kInvalidParameterValue},
    KnownError{Match::kPrefix, "column number must be in range from", sqlstate::kInvalidParameterValue},
    KnownError{Match::kPrefix, "frame start cannot be", sqlstate::kWindowingError},
    KnownError{Match::kPrefix, "frame end cannot be", sqlstate::kWindowingError},
    KnownError{Match::kPrefix, "frame starting from", sqlstate::kWindowingError},
    KnownError{Match::kWhole, "LIMIT #,# syntax is not supported", sqlstate::kSyntaxError, "Use separate LIMIT and OFFSET clauses."},
    KnownError{Match::kWhole, "subquery in FROM must have an alias", sqlstate::kSyntaxError, "For example, FROM (SELECT ...) [AS] foo."},
    KnownError{Match::kWhole, "VALUES in FROM must have an alias", sqlstate::kSyntaxError, "For example, FROM (VALUES ...) [AS] foo."},
    KnownError{Match::kWhole, "missing argument", sqlstate::kSyntaxError, "Use NONE to denote the missing argument of a unary operator."},
    KnownError{Match::kWhole, "UNENCRYPTED PASSWORD is no longer supported", sqlstate::kFeatureNotSupported,
               "Remove UNENCRYPTED to store the password in encrypted form instead."},
    KnownError{Match::kWhole, "dropping an enum value is not implemented", sqlstate::kFeatureNotSupported},
    KnownError{Match::kSuffix, "is not yet implemented", sqlstate::kFeatureNotSupported},
    KnownError{Match::kSuffix, "not yet implemented", sqlstate::kFeatureNotSupported},
    KnownError{Match::kSuffix, "is no longer supported", sqlstate::kFeatureNotSupported},
    KnownError{Match::kWhole, "CREATE OR REPLACE CONSTRAINT TRIGGER is not supported", sqlstate::kFeatureNotSupported},
    KnownError{Match::kWhole, "CREATE SCHEMA IF NOT EXISTS cannot include schema elements", sqlstate::kFeatureNotSupported},
    KnownError{Match::kWhole, "WITH CHECK OPTION not supported on recursive views", sqlstate::kFeatureNotSupported},
    KnownError{Match::kWhole, "aggregates cannot have output arguments", sqlstate::kFeatureNotSupported},
    KnownError{Match::kWhole, "current database cannot be changed", sqlstate::kFeatureNotSupported},
    KnownError{Match::kInside, "constraints cannot be marked", sqlstate::kFeatureNotSupported},
    KnownError{Match::kSuffix, "is only supported for ON DELETE actions", sqlstate::kFeatureNotSupported},
    KnownError{Match::kPrefix, "an ordered-set aggregate with a VARIADIC direct argument", sqlstate::kFeatureNotSupported},
    KnownError{Match::kInside, "cannot be used as a role name here", sqlstate::kReservedName},
    KnownError{Match::kPrefix, "role name \"", sqlstate::kReservedName},
    KnownError{Match::kWhole, "stack depth limit exceeded", sqlstate::kStatementTooComplex,
               "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the "
               "platform's stack depth limit is adequate."},
    KnownError{Match::kWhole, "out of memory", sqlstate::kOutOfMemory},
    KnownError{Match::kPrefix, "invalid memory alloc request size", sqlstate::kProgramLimitExceeded},
};

bool matches(const KnownError& known, std::string_view message, std::string_view function) {
  if (!known.function.empty() && known.function != function) return false;
  switch (known.match) {
    case Match::kWhole:
      return message == known.text;
    case Match::kPrefix:
      return message.starts_with(known.text);
    case Match::kSuffix:
      return message.ends_with(known.text);
    case Match::kInside:
      return message.find(known.text) != std::string_view::npos;
  }
  return false;
}

/// libpg_query is PostgreSQL 15.1, which names only the first byte of the junk behind a number, and so may cut a
/// character in two; later minor releases name all of it: "1é2".
std::string complete_junk(std::string_view text, std::string message, std::optional<std::uint32_t> offset) {
  constexpr std::string_view kBefore = " at or near \"";
  if (!message.starts_with("trailing junk after ") || !offset || !message.ends_with('"')) return message;
  const std::size_t token = message.find(kBefore) + kBefore.size();
  std::size_t end = *offset + (message.size() - 1 - token);
  if (end == 0 || end > text.size() || !is_identifier_part(text[end - 1])) return message;
  while (end < text.size() && is_identifier_part(text[end])) ++end;
  return message.substr(0, token) + std::string(text.substr(*offset, end - *offset)) + '"';
}

}  // namespace

sql::SqlError grammar_error(std::string_view text, const std::string& message, std::string_view function, int cursor) {
  const std::optional<std::uint32_t> offset = byte_offset(text, cursor);
  for (const KnownError& known : kKnownErrors) {
    if (!matches(known, message, function)) continue;
    return sql::SqlError(known.sqlstate, message).hint(std::string(known.hint)).at(offset);
  }
  return sql::SqlError(sqlstate::kSyntaxError, complete_junk(text, message, offset)).at(offset);
}

}  // namespace redquel::parser
