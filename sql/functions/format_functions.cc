// Functions over values of any type that make text of them: concat, concat_ws, format, quote_*, and || with a non-text
// operand.

#include <charconv>
#include <limits>

#include "sql/error.h"
#include "sql/functions/candidates.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/quote.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/compare.h"
#include "sql/types/network.h"
#include "sql/types/number_text.h"
#include "sql/types/text_io.h"
#include "sql/types/type_oids.h"
#include "sql/types/type_operations.h"

namespace redquel::sql {
namespace {

using Arguments = std::span<const ColumnPtr>;

/// Appends the result of the type's output function.
void append_output(const Column& column, std::size_t row, const EvaluationContext& context, std::string& out) {
  format_value(column, row, *context.settings, out);
}

/// Appends the result of a cast to text.
void append_as_text(const Column& column, std::size_t row, const EvaluationContext& context, std::string& out) {
  const auto append = operations_of(column.type().oid).append_as_text;
  if (append != nullptr) {
    append(column, row, out);
  } else {
    append_output(column, row, context, out);
  }
}

/// Computes text row by row; `row_text` returns false for NULL. Constant arguments give a constant.
template <class RowText>
ColumnPtr text_rows(Arguments arguments, std::size_t rows, Type result, const RowText& row_text) {
  bool constant = rows > 0;
  for (const ColumnPtr& argument : arguments) constant = constant && argument->is_constant();
  Column column(result);
  column.reserve(constant ? 1 : rows);
  std::string text;
  for (std::size_t row = 0; row < (constant ? 1 : rows); ++row) {
    text.clear();
    if (row_text(row, text)) {
      check_text_size(text.size());
      column.append(text);
    } else {
      column.append_null();
    }
  }
  if (constant) column = Column::constant(result, column.datum(0), rows);
  return std::make_shared<const Column>(std::move(column));
}

ColumnPtr concat(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return text_rows(arguments, rows, result, [&](std::size_t row, std::string& out) {
    for (const ColumnPtr& argument : arguments) {
      if (!argument->is_null(row)) append_output(*argument, row, context, out);
    }
    return true;
  });
}

ColumnPtr concat_ws(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return text_rows(arguments, rows, result, [&](std::size_t row, std::string& out) {
    if (arguments[0]->is_null(row)) return false;
    const Text separator = arguments[0]->get<Text>(row);
    bool first = true;
    for (const ColumnPtr& argument : arguments.subspan(1)) {
      if (argument->is_null(row)) continue;
      if (!first) out += separator;
      first = false;
      append_output(*argument, row, context, out);
    }
    return true;
  });
}

ColumnPtr concatenate_any(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return text_rows(arguments, rows, result, [&](std::size_t row, std::string& out) {
    if (arguments[0]->is_null(row) || arguments[1]->is_null(row)) return false;
    append_as_text(*arguments[0], row, context, out);
    append_as_text(*arguments[1], row, context, out);
    return true;
  });
}

template <bool nullable>
ColumnPtr quote_any(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  std::string value;
  return text_rows(arguments, rows, result, [&](std::size_t row, std::string& out) {
    if (arguments[0]->is_null(row)) {
      out += "NULL";
      return nullable;
    }
    value.clear();
    append_as_text(*arguments[0], row, context, value);
    append_quoted_literal(value, out);
    return true;
  });
}

// ---- format() -------------------------------------------------------------------------------------------------------

[[noreturn]] void throw_unterminated() {
  throw SqlError(sqlstate::kInvalidParameterValue, "unterminated format() type specifier").hint("For a single \"%\" use \"%%\".");
}

/// One %[position$][flags][width]type.
struct Specifier {
  std::optional<std::int32_t> position;
  bool left_justified = false;
  std::int32_t width = 0;
  bool indirect_width = false;
  std::optional<std::int32_t> width_position;
};

class FormatReader {
 public:
  explicit FormatReader(Text rest) : rest_(rest) {}

  bool at_end() const { return rest_.empty(); }
  char peek() const {
    if (rest_.empty()) throw_unterminated();
    return rest_[0];
  }
  char take() {
    const char c = peek();
    rest_.remove_prefix(1);
    return c;
  }
  Text rest() const { return rest_; }
  void skip(std::size_t bytes) { rest_.remove_prefix(bytes); }

  Specifier specifier() {
    Specifier specifier;
    std::optional<std::int32_t> number = digits();
    if (number && peek() == '$') {
      take();
      specifier.position = position(*number);
      number = std::nullopt;
      if (at_end()) throw_unterminated();
    } else if (number) {
      specifier.width = *number;
      peek();
      return specifier;
    }
    while (peek() == '-') {
      specifier.left_justified = true;
      take();
    }
    if (peek() == '*') {
      take();
      specifier.indirect_width = true;
      number = digits();
      if (number) {
        if (peek() != '$') {
          throw SqlError(sqlstate::kInvalidParameterValue, "width argument position must be ended by \"$\"");
        }
        take();
        specifier.width_position = position(*number);
      }
      peek();
    } else if ((number = digits())) {
      specifier.width = *number;
      peek();
    }
    return specifier;
  }

 private:
  static std::int32_t position(std::int32_t number) {
    if (number == 0) {
      throw SqlError(sqlstate::kInvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1");
    }
    return number;
  }

  std::optional<std::int32_t> digits() {
    std::optional<std::int32_t> value;
    while (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') {
      const std::int64_t next = std::int64_t{value.value_or(0)} * 10 + (rest_[0] - '0');
      if (next > std::numeric_limits<std::int32_t>::max()) throw SqlError(sqlstate::kNumericValueOutOfRange, "number is out of range");
      value = static_cast<std::int32_t>(next);
      rest_.remove_prefix(1);
    }
    return value;
  }

  Text rest_;
};

class Formatter {
 public:
  Formatter(Arguments arguments, std::size_t row, const EvaluationContext& context, std::string& out)
      : arguments_(arguments), row_(row), context_(context), out_(out) {}

  void run(Text format) {
    FormatReader reader(format);
    while (!reader.at_end()) {
      const std::size_t plain = std::min(reader.rest().find('%'), reader.rest().size());
      out_ += reader.rest().substr(0, plain);
      reader.skip(plain);
      if (reader.at_end()) break;
      reader.skip(1);
      if (reader.peek() == '%') {
        reader.take();
        out_ += '%';
        continue;
      }
      apply(reader);
    }
  }

 private:
  void apply(FormatReader& reader) {
    Specifier specifier = reader.specifier();
    const char type = reader.peek();
    if (type != 's' && type != 'I' && type != 'L') {
      throw SqlError(sqlstate::kInvalidParameterValue,
                     "unrecognized format() type specifier \"" + std::string(first_character(reader.rest())) + "\"")
          .hint("For a single \"%\" use \"%%\".");
    }
    reader.take();
    if (specifier.indirect_width) {
      set_width(specifier, next_argument(specifier.width_position));
    }
    const Column& value = next_argument(specifier.position);
    std::string text;
    convert(value, type, text);
    pad(text, specifier);
  }

  const Column& next_argument(std::optional<std::int32_t> position) {
    next_ = position ? static_cast<std::size_t>(*position) : next_ + 1;
    if (next_ >= arguments_.size()) throw SqlError(sqlstate::kInvalidParameterValue, "too few arguments for format()");
    return *arguments_[next_];
  }

  void set_width(Specifier& specifier, const Column& column) {
    specifier.width = 0;
    if (column.is_null(row_)) return;
    if (column.type().oid == oid::kInt4) {
      specifier.width = column.get<std::int32_t>(row_);
    } else {
      std::string text;
      append_output(column, row_, context_, text);
      specifier.width = parse_int4(text);
    }
    if (specifier.width < 0) {
      if (specifier.width == std::numeric_limits<std::int32_t>::min())
        throw SqlError(sqlstate::kNumericValueOutOfRange, "number is out of range");
      specifier.left_justified = true;
      specifier.width = -specifier.width;
    }
  }

  void convert(const Column& value, char type, std::string& text) {
    if (value.is_null(row_)) {
      if (type == 'I') throw SqlError(sqlstate::kNullValueNotAllowed, "null values cannot be formatted as an SQL identifier");
      if (type == 'L') text = "NULL";
      return;
    }
    std::string raw;
    append_output(value, row_, context_, raw);
    if (type == 's') {
      text = std::move(raw);
    } else if (type == 'I') {
      append_quoted_identifier(raw, text);
    } else {
      append_quoted_literal(raw, text);
    }
  }

  void pad(const std::string& text, const Specifier& specifier) {
    const std::size_t length = utf8_length(text);
    const auto width = static_cast<std::size_t>(specifier.width);
    const std::size_t blanks = width > length ? width - length : 0;
    check_text_size(out_.size() + text.size() + blanks);
    if (!specifier.left_justified) out_.append(blanks, ' ');
    out_ += text;
    if (specifier.left_justified) out_.append(blanks, ' ');
  }

  Arguments arguments_;
  std::size_t row_;
  const EvaluationContext& context_;
  std::string& out_;
  std::size_t next_ = 0;
};

ColumnPtr format(Arguments arguments, std::size_t rows, Type result, const EvaluationContext& context) {
  return text_rows(arguments, rows, result, [&](std::size_t row, std::string& out) {
    if (arguments[0]->is_null(row)) return false;
    Formatter(arguments, row, context, out).run(arguments[0]->get<Text>(row));
    return true;
  });
}

template <bool counted_if_null>
ColumnPtr count_nulls(Arguments arguments, std::size_t rows, Type result, const EvaluationContext&) {
  std::vector<std::int32_t> counts(rows);
  for (const ColumnPtr& argument : arguments) {
    for (std::size_t row = 0; row < rows; ++row) counts[row] += argument->is_null(row) == counted_if_null ? 1 : 0;
  }
  return std::make_shared<const Column>(Column::from_values(result, std::move(counts)));
}

}  // namespace

std::vector<ScalarFunction> format_functions() {
  constexpr auto stable = Volatility::kStable;
  constexpr Type any_non_array{oid::kAnyNonArray};
  return {
      column_function("concat", {kAny}, kText, concat, stable, false, true),
      column_function("concat_ws", {kText, kAny}, kText, concat_ws, stable, false, true),
      column_function("||", {kText, any_non_array}, kText, concatenate_any, stable, true),
      column_function("||", {any_non_array, kText}, kText, concatenate_any, stable, true),
      column_function("format", {kText}, kText, format, stable, false),
      column_function("format", {kText, kAny}, kText, format, stable, false, true),
      scalar<append_quoted_identifier>("quote_ident", {kText}, kText),
      scalar<append_quoted_literal>("quote_literal", {kText}, kText),
      column_function("quote_literal", {kAnyElement}, kText, quote_any<false>, stable, true),
      column_function("quote_nullable", {kText}, kText, quote_any<true>, Volatility::kImmutable, false),
      column_function("quote_nullable", {kAnyElement}, kText, quote_any<true>, stable, false),
      column_function("num_nulls", {kAny}, kInt4, count_nulls<true>, Volatility::kImmutable, false, true),
      column_function("num_nonnulls", {kAny}, kInt4, count_nulls<false>, Volatility::kImmutable, false, true),
  };
}

}  // namespace redquel::sql
