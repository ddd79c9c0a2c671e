#include "planner/copy_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "parser/option_value.h"
#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;
using Format = CopyOptions::Format;
using Header = CopyOptions::Header;

namespace {

std::string text_of(const ast::Option& option) {
  if (std::optional<std::string> text = parser::option_text(option)) return *std::move(text);
  throw SqlError(sqlstate::kSyntaxError, fmt::format("{} requires a parameter", option.name));
}

Header header_of(const ast::Option& option, bool from) {
  if (const std::optional<bool> flag = parser::option_flag(option)) return *flag ? Header::kSkip : Header::kNone;
  const std::string text = text_of(option);
  if (!sql::equals_ignoring_case(text, "match")) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("{} requires a Boolean value or \"match\"", option.name));
  }
  if (!from) throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot use \"{}\" with HEADER in COPY TO", text));
  return Header::kMatch;
}

CopyOptions::ColumnList columns_of(const ast::Option& option, bool star_allowed) {
  if (star_allowed && std::holds_alternative<ast::StarOption>(option.value)) return {.all = true};
  if (const auto* names = std::get_if<std::vector<std::string>>(&option.value)) return {.names = *names};
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("argument to option \"{}\" must be a list of column names", option.name))
      .at(option.offset);
}

Format format_of(const ast::Option& option) {
  const std::string name = text_of(option);
  if (name == "text") return Format::kText;
  if (name == "csv") return Format::kCsv;
  if (name == "binary") return Format::kBinary;
  throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("COPY format \"{}\" not recognized", name)).at(option.offset);
}

SqlError one_byte(std::string_view what) {
  return SqlError(sqlstate::kFeatureNotSupported, fmt::format("COPY {} must be a single one-byte character", what));
}

/// The given values of the options, before each is checked to be one character.
struct Written {
  std::optional<std::string> delimiter, null_text, quote, escape;
};

void check_characters(CopyOptions& options, const Written& written) {
  const bool csv = options.is_csv();
  const std::string delimiter = written.delimiter.value_or(csv ? "," : "\t");
  const std::string quote = written.quote.value_or("\"");
  const std::string escape = written.escape.value_or(quote);
  options.null_text = written.null_text.value_or(csv ? "" : "\\N");

  if (delimiter.size() != 1) throw one_byte("delimiter");
  if (delimiter == "\r" || delimiter == "\n") {
    throw SqlError(sqlstate::kInvalidParameterValue, "COPY delimiter cannot be newline or carriage return");
  }
  if (options.null_text.find_first_of("\r\n") != std::string::npos) {
    throw SqlError(sqlstate::kInvalidParameterValue, "COPY null representation cannot use newline or carriage return");
  }
  // In text format these could not be told from escapes.
  constexpr std::string_view kAmbiguous = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
  if (!csv && kAmbiguous.find(delimiter[0]) != std::string_view::npos) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("COPY delimiter cannot be \"{}\"", delimiter));
  }
  if (options.is_binary() && options.header != Header::kNone) {
    throw SqlError(sqlstate::kFeatureNotSupported, "cannot specify HEADER in BINARY mode");
  }
  if (!csv && written.quote) throw SqlError(sqlstate::kFeatureNotSupported, "COPY quote available only in CSV mode");
  if (csv && quote.size() != 1) throw one_byte("quote");
  if (csv && delimiter == quote) throw SqlError(sqlstate::kInvalidParameterValue, "COPY delimiter and quote must be different");
  if (!csv && written.escape) throw SqlError(sqlstate::kFeatureNotSupported, "COPY escape available only in CSV mode");
  if (csv && escape.size() != 1) throw one_byte("escape");
  options.delimiter = delimiter[0];
  if (csv) options.quote = quote[0], options.escape = escape[0];
}

void check_column_lists(const CopyOptions& options, bool from) {
  const bool csv = options.is_csv();
  if (!csv && options.force_quote) throw SqlError(sqlstate::kFeatureNotSupported, "COPY force quote available only in CSV mode");
  if (options.force_quote && from) throw SqlError(sqlstate::kFeatureNotSupported, "COPY force quote only available using COPY TO");
  if (!csv && options.force_not_null) throw SqlError(sqlstate::kFeatureNotSupported, "COPY force not null available only in CSV mode");
  if (options.force_not_null && !from) throw SqlError(sqlstate::kFeatureNotSupported, "COPY force not null only available using COPY FROM");
  if (!csv && options.force_null) throw SqlError(sqlstate::kFeatureNotSupported, "COPY force null available only in CSV mode");
  if (options.force_null && !from) throw SqlError(sqlstate::kFeatureNotSupported, "COPY force null only available using COPY FROM");
}

}  // namespace

CopyOptions check_copy_options(const std::vector<ast::Option>& list, bool from) {
  CopyOptions options;
  Written written;
  std::set<std::string> seen;
  for (const ast::Option& option : list) {
    const std::string& name = option.name;
    const auto once = [&] {
      if (!seen.insert(name).second) throw sql::conflicting_options().at(option.offset);
    };
    if (name == "format") {
      once();
      options.format = format_of(option);
    } else if (name == "freeze") {
      once();
      if (!parser::option_flag(option)) throw SqlError(sqlstate::kSyntaxError, "freeze requires a Boolean value");
    } else if (name == "delimiter") {
      once();
      written.delimiter = text_of(option);
    } else if (name == "null") {
      once();
      written.null_text = text_of(option);
    } else if (name == "header") {
      once();
      options.header = header_of(option, from);
    } else if (name == "quote") {
      once();
      written.quote = text_of(option);
    } else if (name == "escape") {
      once();
      written.escape = text_of(option);
    } else if (name == "force_quote") {
      once();
      options.force_quote = columns_of(option, true);
    } else if (name == "force_not_null") {
      once();
      options.force_not_null = columns_of(option, false);
    } else if (name == "force_null") {
      once();
      options.force_null = columns_of(option, false);
    } else if (name == "encoding") {
      once();
      options.encoding = text_of(option);
      options.encoding_offset = option.offset;
    } else {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("option \"{}\" not recognized", name)).at(option.offset);
    }
  }
  if (options.is_binary() && written.delimiter) throw SqlError(sqlstate::kSyntaxError, "cannot specify DELIMITER in BINARY mode");
  if (options.is_binary() && written.null_text) throw SqlError(sqlstate::kSyntaxError, "cannot specify NULL in BINARY mode");
  check_characters(options, written);
  check_column_lists(options, from);
  if (!options.is_binary()) {
    if (options.null_text.find(options.delimiter) != std::string::npos) {
      throw SqlError(sqlstate::kFeatureNotSupported, "COPY delimiter must not appear in the NULL specification");
    }
    if (options.is_csv() && options.null_text.find(options.quote) != std::string::npos) {
      throw SqlError(sqlstate::kFeatureNotSupported, "CSV quote character must not appear in the NULL specification");
    }
  }
  return options;
}

}  // namespace redquel::planner
