#include "executor/memory/packed_column.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "executor/memory/made_values.h"
#include "executor/storage/stored_text.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/text_io.h"

namespace redquel::executor {

namespace {

/// A chunk with more different texts has no dictionary.
constexpr std::size_t kMostCodes = 8192;
/// A column with more exceptions than one of so many rows is kept as texts.
constexpr std::size_t kRowsPerException = 16;

/// The value that is printed for a row of a column in `Integers` form.
sql::Datum integer_datum(sql::Type type, std::int64_t value, int scale) {
  switch (sql::storage_of(type)) {
    case sql::Storage::kBool: return value != 0;
    case sql::Storage::kInt2: return static_cast<std::int16_t>(value);
    case sql::Storage::kInt4: return static_cast<std::int32_t>(value);
    case sql::Storage::kNumeric: return sql::Numeric(value, scale);
    default: return value;
  }
}

std::uint64_t load(const std::uint8_t* bytes, std::uint8_t width, std::size_t row) {
  switch (width) {
    case 1: return bytes[row];
    case 2: {
      std::uint16_t value;
      std::memcpy(&value, bytes + row * 2, 2);
      return value;
    }
    case 4: {
      std::uint32_t value;
      std::memcpy(&value, bytes + row * 4, 4);
      return value;
    }
    default: {
      std::uint64_t value;
      std::memcpy(&value, bytes + row * 8, 8);
      return value;
    }
  }
}

/// The rows of a chunk at most.
constexpr std::uint32_t kMostRows = 65'536;

/// Returns true if each row is the next one of the row before it.
bool are_neighbours(std::span<const std::uint32_t> rows) {
  static const std::vector<std::uint32_t> all = [] {
    std::vector<std::uint32_t> numbers(kMostRows);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }();
  if (rows.empty() || rows.back() >= kMostRows || rows.back() - rows.front() + 1 != rows.size()) return false;
  return std::memcmp(rows.data(), all.data() + rows.front(), rows.size_bytes()) == 0;
}

template <class Stored, class Value, class Make>
void unpack(const std::uint8_t* bytes, std::span<const std::uint32_t> rows, std::vector<Value>& out, Make make) {
  const auto value = [&](std::size_t row) {
    Stored stored;
    std::memcpy(&stored, bytes + row * sizeof stored, sizeof stored);
    return make(static_cast<std::uint64_t>(stored));
  };
  const std::size_t count = rows.size();
  Value* const values = out.data();
  if (are_neighbours(rows)) {  // which processors do several at a time
    const std::size_t first = rows.front();
    for (std::size_t i = 0; i < count; ++i) values[i] = value(first + i);
  } else {
    for (std::size_t i = 0; i < count; ++i) values[i] = value(rows[i]);
  }
}

template <class Value, class Make>
std::vector<Value> unpack(const std::uint8_t* bytes, std::uint8_t width, std::span<const std::uint32_t> rows, Make make) {
  std::vector<Value> out(rows.size());
  switch (width) {
    case 1: unpack<std::uint8_t>(bytes, rows, out, make); break;
    case 2: unpack<std::uint16_t>(bytes, rows, out, make); break;
    case 4: unpack<std::uint32_t>(bytes, rows, out, make); break;
    default: unpack<std::uint64_t>(bytes, rows, out, make); break;
  }
  return out;
}

/// Numerics are made in their places: they are not trivial, so that an assignment to each would cost as much again.
template <class Stored>
std::vector<sql::Numeric> numerics_of(const PackedColumn::Integers& integers, std::span<const std::uint32_t> rows) {
  const std::uint8_t* const bytes = integers.bytes.data();
  const auto smallest = static_cast<std::uint64_t>(integers.smallest);
  const int scale = integers.scale;
  const auto make = [=](std::size_t i) {
    Stored stored;
    std::memcpy(&stored, bytes + rows[i] * sizeof stored, sizeof stored);
    return sql::Numeric(static_cast<std::int64_t>(smallest + stored), scale);
  };
  return {MadeValues(0, make), MadeValues(rows.size(), make)};
}

std::vector<sql::Numeric> numerics_of(const PackedColumn::Integers& integers, std::span<const std::uint32_t> rows) {
  switch (integers.width) {
    case 1: return numerics_of<std::uint8_t>(integers, rows);
    case 2: return numerics_of<std::uint16_t>(integers, rows);
    case 4: return numerics_of<std::uint32_t>(integers, rows);
    default: return numerics_of<std::uint64_t>(integers, rows);
  }
}

template <class Value>
std::vector<Value> integers_of(const PackedColumn::Integers& values, std::span<const std::uint32_t> rows) {
  const auto smallest = static_cast<std::uint64_t>(values.smallest);
  return unpack<Value>(values.bytes.data(), values.width, rows, [&](std::uint64_t offset) { return static_cast<Value>(smallest + offset); });
}

void append_bytes(std::vector<std::uint8_t>& out, std::uint64_t value, std::uint8_t width) {
  const std::size_t end = out.size();
  out.resize(end + width);
  std::memcpy(out.data() + end, &value, width);  // little endian
}

std::string_view between(const std::vector<std::uint32_t>& ends, const std::string& texts, std::size_t index) {
  const std::uint32_t begin = index == 0 ? 0 : ends[index - 1];
  return std::string_view(texts).substr(begin, ends[index] - begin);
}

/// Texts of these types are their values; a column of them needs no decoding.
bool is_plain_text(sql::Oid type) { return type == sql::oid::kText || type == sql::oid::kVarchar || type == sql::oid::kBpchar || type == sql::oid::kName; }

/// Returns the integer that is printed as this text; nullopt: none is.
template <class Integer>
std::optional<std::int64_t> canonical_integer(std::string_view text) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const bool is_canonical = text[0] == '-' ? text[1] != '0' : text[0] != '0' || text.size() == 1;
  return is_canonical ? std::optional<std::int64_t>(value) : std::nullopt;
}

/// Returns the number of so many digits; nullopt: there are other characters.
std::optional<int> digits_of(std::string_view text) {
  int value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

/// Returns the days since 2000 of a date as 2026-11-28; nullopt: it is written otherwise.
std::optional<std::int64_t> canonical_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits_of(text.substr(0, 4)), month = digits_of(text.substr(5, 2)), day = digits_of(text.substr(8, 2));
  if (!year || !month || !day || *year == 0) return std::nullopt;
  using namespace std::chrono;
  const year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)), std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return (sys_days(date) - sys_days(std::chrono::year(2000) / 1 / 1)).count();
}

/// Returns the microseconds since 2000 of a time as 2026-11-28 15:04:05.25; nullopt: it is written otherwise.
std::optional<std::int64_t> canonical_timestamp(std::string_view text) {
  constexpr std::size_t kWithoutFraction = 19, kWholeFraction = 26;
  if (text.size() < kWithoutFraction || text.size() > kWholeFraction || text[10] != ' ' || text[13] != ':' || text[16] != ':') return std::nullopt;
  const auto days = canonical_date(text.substr(0, 10));
  const auto hour = digits_of(text.substr(11, 2)), minute = digits_of(text.substr(14, 2)), second = digits_of(text.substr(17, 2));
  if (!days || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  std::int64_t fraction = 0;
  if (text.size() > kWithoutFraction) {
    const std::string_view digits = text.substr(kWithoutFraction + 1);
    const auto given = digits_of(digits);
    if (text[kWithoutFraction] != '.' || digits.empty() || digits.back() == '0' || !given) return std::nullopt;
    fraction = *given;
    for (std::size_t i = digits.size(); i < 6; ++i) fraction *= 10;
  }
  return ((*days * 24 + *hour) * 60 + *minute) * 60'000'000 + *second * std::int64_t{1'000'000} + fraction;
}

struct CanonicalNumeric {
  std::int64_t unscaled;
  int scale;
};
/// Returns the number of a text as -12.50; nullopt: it is written otherwise, or has more digits than an integer holds.
std::optional<CanonicalNumeric> canonical_numeric(std::string_view text) {
  constexpr std::size_t kMostDigits = 18;
  const bool is_negative = text.starts_with('-');
  const std::string_view number = text.substr(is_negative ? 1 : 0);
  const std::size_t point = std::min(number.find('.'), number.size());
  if (point == 0 || point + 1 == number.size() || number.size() > kMostDigits || (number[0] == '0' && point > 1)) return std::nullopt;
  CanonicalNumeric numeric{0, static_cast<int>(point == number.size() ? 0 : number.size() - point - 1)};
  for (std::size_t i = 0; i < number.size(); ++i) {
    if (i == point) continue;
    if (number[i] < '0' || number[i] > '9') return std::nullopt;
    numeric.unscaled = numeric.unscaled * 10 + (number[i] - '0');
  }
  if (is_negative && numeric.unscaled == 0) return std::nullopt;
  if (is_negative) numeric.unscaled = -numeric.unscaled;
  return numeric;
}

/// The bytes that values take.
struct PackedSize {
  std::size_t operator()(const PackedColumn::Integers& n) const { return n.bytes.capacity(); }
  std::size_t operator()(const PackedColumn::Dictionary& n) const { return n.codes.capacity() + n.ends.capacity() * 4 + n.texts.capacity(); }
  std::size_t operator()(const PackedColumn::Texts& n) const { return n.ends.capacity() * 4 + n.texts.capacity(); }
  template <class Value>
  std::size_t operator()(const std::vector<Value>& n) const {
    return n.capacity() * sizeof(Value);
  }
};

}  // namespace

std::int64_t PackedIntegers::value(std::size_t row) const {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(smallest) + load(bytes.data(), width, row));
}

PackedColumn::PackedColumn(sql::Type type, std::size_t size, Values values, std::vector<std::uint64_t> nulls, std::vector<Exception> exceptions)
    : ColumnSource(type), size_(size), values_(std::move(values)), nulls_(std::move(nulls)), exceptions_(std::move(exceptions)) {
  bytes_ = sizeof *this + std::visit(PackedSize{}, values_) + nulls_.capacity() * 8;
  for (const Exception& exception : exceptions_) bytes_ += sizeof exception + exception.second.capacity();
}

std::optional<std::pair<std::int64_t, std::int64_t>> PackedColumn::range() const {
  const auto* integers = std::get_if<Integers>(&values_);
  if (integers == nullptr || !exceptions_.empty() || integers->smallest > integers->largest) return std::nullopt;
  return std::pair(integers->smallest, integers->largest);
}

const std::string* PackedColumn::exception(std::size_t row) const {
  const auto found = std::ranges::lower_bound(exceptions_, row, {}, &Exception::first);
  return found != exceptions_.end() && found->first == row ? &found->second : nullptr;
}

std::string_view PackedColumn::view(std::size_t row) const {
  if (const auto* dictionary = std::get_if<Dictionary>(&values_)) {
    return between(dictionary->ends, dictionary->texts, load(dictionary->codes.data(), dictionary->width, row));
  }
  const auto& texts = std::get<Texts>(values_);
  return between(texts.ends, texts.texts, row);
}

void PackedColumn::append_text(std::size_t row, std::string& out) const {
  if (const std::string* text = exception(row)) {
    out += *text;
  } else if (const auto* integers = std::get_if<Integers>(&values_); integers != nullptr && sql::is_integer_type(type_.oid)) {
    char digits[20];
    out.append(digits, std::to_chars(std::begin(digits), std::end(digits), integers->value(row)).ptr);
  } else if (integers != nullptr) {
    append_stored_text(type_, integer_datum(type_, integers->value(row), integers->scale), out);
  } else if (const auto* floats = std::get_if<std::vector<float>>(&values_)) {
    append_stored_text(type_, (*floats)[row], out);
  } else if (const auto* doubles = std::get_if<std::vector<double>>(&values_)) {
    append_stored_text(type_, (*doubles)[row], out);
  } else if (const auto* intervals = std::get_if<std::vector<sql::Interval>>(&values_)) {
    append_stored_text(type_, (*intervals)[row], out);
  } else if (const auto* uuids = std::get_if<std::vector<sql::Uuid>>(&values_)) {
    append_stored_text(type_, (*uuids)[row], out);
  } else {
    out += view(row);
  }
}

std::optional<std::string> PackedColumn::text(std::size_t row) const {
  if (is_null(row)) return std::nullopt;
  std::string text;
  append_text(row, text);
  return text;
}

sql::Column PackedColumn::gather_encoded(std::span<const std::uint32_t> rows) const {
  sql::Column column = sql::Column::encoded(type_);
  column.reserve(rows.size());
  const bool has_views = std::holds_alternative<Dictionary>(values_) || std::holds_alternative<Texts>(values_);
  std::string text;
  for (const std::uint32_t row : rows) {
    if (is_null(row)) {
      column.append_null();
    } else if (has_views) {
      column.append_view(view(row));
    } else {
      text.clear();
      append_text(row, text);
      column.append<std::string_view>(text);
    }
  }
  return column;
}

sql::Column PackedColumn::gather(std::span<const std::uint32_t> rows) const {
  if (!exceptions_.empty() && std::ranges::any_of(rows, [&](std::uint32_t row) { return exception(row) != nullptr; })) return gather_encoded(rows);
  std::vector<std::uint8_t> nulls;
  if (!nulls_.empty()) {
    nulls.resize(rows.size());
    bool any = false;
    for (std::size_t i = 0; i < rows.size(); ++i) any |= (nulls[i] = is_null(rows[i]) ? 1 : 0) != 0;
    if (!any) nulls.clear();
  }
  const auto column = [&](sql::Column::Values values) { return sql::Column::from_values(type_, std::move(values), std::move(nulls)); };
  const auto picked = [&](const auto& values) {
    std::decay_t<decltype(values)> out;
    out.reserve(rows.size());
    for (const std::uint32_t row : rows) out.push_back(values[row]);
    return column(std::move(out));
  };
  if (const auto* integers = std::get_if<Integers>(&values_)) {
    switch (sql::storage_of(type_)) {
      case sql::Storage::kBool: return column(integers_of<std::uint8_t>(*integers, rows));
      case sql::Storage::kInt2: return column(integers_of<std::int16_t>(*integers, rows));
      case sql::Storage::kInt4: return column(integers_of<std::int32_t>(*integers, rows));
      case sql::Storage::kInt8: return column(integers_of<std::int64_t>(*integers, rows));
      default: break;
    }
    return column(numerics_of(*integers, rows));
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&values_)) return picked(*floats);
  if (const auto* doubles = std::get_if<std::vector<double>>(&values_)) return picked(*doubles);
  if (const auto* intervals = std::get_if<std::vector<sql::Interval>>(&values_)) return picked(*intervals);
  if (const auto* uuids = std::get_if<std::vector<sql::Uuid>>(&values_)) return picked(*uuids);
  if (!is_plain_text(type_.oid)) return gather_encoded(rows);
  std::vector<std::string_view> views;
  views.reserve(rows.size());
  auto codes = std::make_shared<sql::Column::Codes>();
  if (const auto* dictionary = std::get_if<Dictionary>(&values_)) {
    codes->of_rows = unpack<std::uint16_t>(dictionary->codes.data(), dictionary->width, rows, [](std::uint64_t code) { return static_cast<std::uint16_t>(code); });
    codes->count = dictionary->null_code();
    codes->dictionary = dictionary;
    for (const std::uint16_t code : codes->of_rows) views.push_back(between(dictionary->ends, dictionary->texts, code));
  } else {
    const auto& texts = std::get<Texts>(values_);
    for (const std::uint32_t row : rows) views.push_back(between(texts.ends, texts.texts, row));
  }
  sql::Column made = sql::Column::from_values(type_, std::move(views), std::move(nulls));
  if (codes->dictionary != nullptr) made.set_codes(std::move(codes));
  return made;
}

sql::Column PackedColumn::dictionary_values(std::span<const std::uint32_t> codes) const {
  const auto& dictionary = std::get<Dictionary>(values_);
  sql::Column column = is_plain_text(type_.oid) ? sql::Column(type_) : sql::Column::encoded(type_);
  column.reserve(codes.size());
  for (const std::uint32_t code : codes) {
    if (code == dictionary.null_code()) column.append_null();
    else column.append_view(between(dictionary.ends, dictionary.texts, code));
  }
  return column;
}

// ---- ColumnPacker ---------------------------------------------------------------------------------------------------------------

ColumnPacker::ColumnPacker(sql::Type type, bool as_text)
    : type_(type), form_(Form::kTexts), is_numeric_(sql::storage_of(type) == sql::Storage::kNumeric), check_(stored_text_check(type)) {
  if (as_text) return;
  switch (sql::storage_of(type)) {
    case sql::Storage::kBool:
    case sql::Storage::kInt2:
    case sql::Storage::kInt4:
    case sql::Storage::kInt8:
    case sql::Storage::kNumeric:
      form_ = Form::kIntegers;
      break;
    case sql::Storage::kFloat4:
      form_ = Form::kFixed;
      fixed_ = std::vector<float>();
      break;
    case sql::Storage::kFloat8:
      form_ = Form::kFixed;
      fixed_ = std::vector<double>();
      break;
    case sql::Storage::kInterval:
      form_ = Form::kFixed;
      fixed_ = std::vector<sql::Interval>();
      break;
    case sql::Storage::kUuid:
      form_ = Form::kFixed;
      fixed_ = std::vector<sql::Uuid>();
      break;
    case sql::Storage::kText:
      break;
  }
}

void ColumnPacker::append(std::optional<std::string_view> text) {
  if (size_ % 64 == 0) nulls_.push_back(0);
  if (!text) {
    append_null();
  } else if (form_ == Form::kTexts) {
    check(*text);
    append_text(*text);
  } else if (form_ == Form::kFixed || !append_canonical(*text)) {
    append_parsed(*text);
  }
  ++size_;
}

void ColumnPacker::append(const sql::Column& column, std::size_t row) {
  if (column.is_null(row)) return append(std::nullopt);
  if (is_plain_text(type_.oid)) return append(column.get<std::string_view>(row));
  std::string text;
  append_stored_text(type_, column.datum(row), text);
  append(text);
}

void ColumnPacker::append_null() {
  nulls_[size_ / 64] |= std::uint64_t{1} << (size_ % 64);
  has_nulls_ = true;
  switch (form_) {
    case Form::kIntegers:
      integers_.push_back(0);
      break;
    case Form::kTexts:
      append_text("");
      break;
    case Form::kFixed:
      std::visit(
          [](auto& values) {
            if constexpr (requires { values.emplace_back(); }) values.emplace_back();
          },
          fixed_);
      break;
  }
}

void ColumnPacker::append_text(std::string_view text) {
  if (texts_.texts.size() + text.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw sql::SqlError(sqlstate::kProgramLimitExceeded, "a chunk's texts are too long");
  }
  texts_.texts += text;
  texts_.ends.push_back(static_cast<std::uint32_t>(texts_.texts.size()));
}

/// Throws SqlError if a text that is kept as it is is not a value of the type.
void ColumnPacker::check(std::string_view text) const {
  if (check_ == nullptr || check_(type_, text)) return;
  throw sql::SqlError(sqlstate::kInvalidTextRepresentation, "a stored value cannot be read");
}

/// Takes values as redquel writes them. False: another type, or another form.
bool ColumnPacker::append_canonical(std::string_view text) {
  std::optional<std::int64_t> value;
  switch (type_.oid) {
    case sql::oid::kInt2: value = canonical_integer<std::int16_t>(text); break;
    case sql::oid::kInt4: value = canonical_integer<std::int32_t>(text); break;
    case sql::oid::kInt8: value = canonical_integer<std::int64_t>(text); break;
    case sql::oid::kDate: value = canonical_date(text); break;
    case sql::oid::kTimestamp: value = canonical_timestamp(text); break;
    case sql::oid::kTimestamptz: value = text.ends_with("+00") ? canonical_timestamp(text.substr(0, text.size() - 3)) : std::nullopt; break;
    case sql::oid::kNumeric: {
      const std::optional<CanonicalNumeric> numeric = canonical_numeric(text);
      if (!numeric || numeric->scale != scale_.value_or(numeric->scale)) return false;
      scale_ = numeric->scale;
      value = numeric->unscaled;
      break;
    }
    default: break;
  }
  if (value) integers_.push_back(*value);
  return value.has_value();
}

void ColumnPacker::append_parsed(std::string_view text) {
  const sql::Datum value = parse_stored_text(type_, text);
  std::string canonical;
  append_stored_text(type_, value, canonical);
  if (form_ == Form::kFixed) {
    std::visit(
        [&](auto& values) {
          if constexpr (requires { values.push_back(std::get<std::decay_t<decltype(values[0])>>(value)); }) {
            values.push_back(std::get<std::decay_t<decltype(values[0])>>(value));
          }
        },
        fixed_);
  } else if (is_numeric_) {
    const auto& numeric = std::get<sql::Numeric>(value);
    const std::optional<std::int64_t> unscaled = numeric.small_unscaled();
    if (unscaled && !scale_) scale_ = numeric.scale();
    if (unscaled && numeric.scale() == *scale_) {
      integers_.push_back(*unscaled);
    } else {
      integers_.push_back(0);
      canonical.clear();  // an exception, regardless of its text
    }
  } else {
    integers_.push_back(std::visit(
        [](const auto& number) -> std::int64_t {
          if constexpr (std::is_integral_v<std::decay_t<decltype(number)>>) return static_cast<std::int64_t>(number);
          else return 0;
        },
        value));
  }
  if (canonical == text) return;
  exceptions_.emplace_back(static_cast<std::uint32_t>(size_), std::string(text));
  if (exceptions_.size() > 64 && exceptions_.size() * kRowsPerException > size_) turn_into_texts();
}

/// Writes the rows so far, the one that is being added included, as texts.
void ColumnPacker::turn_into_texts() {
  const std::size_t rows = size_ + 1;
  PackedColumn::Values values;
  if (form_ == Form::kIntegers) values = pack_integers();
  else values = std::move(fixed_);
  const PackedColumn packed(type_, rows, std::move(values), nulls_, std::move(exceptions_));
  form_ = Form::kTexts;
  exceptions_.clear();
  integers_.clear();
  for (std::size_t row = 0; row < rows; ++row) append_text(packed.text(row).value_or(""));
}

PackedColumn::Values ColumnPacker::pack_integers() {
  PackedColumn::Integers packed;
  packed.scale = scale_.value_or(0);
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max(), largest = std::numeric_limits<std::int64_t>::min();
  auto exception = exceptions_.begin();
  const auto has_value = [&](std::size_t row) {
    while (exception != exceptions_.end() && exception->first < row) ++exception;
    const bool is_exception = exception != exceptions_.end() && exception->first == row;
    return !is_exception && (nulls_[row / 64] >> (row % 64) & 1) == 0;
  };
  for (std::size_t row = 0; row < integers_.size(); ++row) {
    if (!has_value(row)) continue;
    smallest = std::min(smallest, integers_[row]);
    largest = std::max(largest, integers_[row]);
  }
  packed.smallest = smallest;
  packed.largest = largest;
  const std::uint64_t span = smallest > largest ? 0 : static_cast<std::uint64_t>(largest) - static_cast<std::uint64_t>(smallest);
  packed.width = span <= 0xff ? 1 : span <= 0xffff ? 2 : span <= 0xffffffff ? 4 : 8;
  packed.bytes.reserve(integers_.size() * packed.width);
  exception = exceptions_.begin();
  for (std::size_t row = 0; row < integers_.size(); ++row) {
    const std::uint64_t offset = has_value(row) ? static_cast<std::uint64_t>(integers_[row]) - static_cast<std::uint64_t>(smallest) : 0;
    append_bytes(packed.bytes, offset, packed.width);
  }
  return packed;
}

PackedColumn::Values ColumnPacker::pack_texts() {
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  std::vector<std::uint16_t> codes;
  codes.reserve(size_);
  PackedColumn::Dictionary dictionary;
  for (std::size_t row = 0; row < size_; ++row) {
    if ((nulls_[row / 64] >> (row % 64) & 1) != 0) {
      codes.push_back(kMostCodes);  // above those of all texts
      continue;
    }
    const auto [found, is_new] = numbers.emplace(between(texts_.ends, texts_.texts, row), static_cast<std::uint32_t>(numbers.size()));
    if (is_new) {
      // A dictionary of texts that hardly repeat takes more than they do.
      if (numbers.size() > kMostCodes || (row > 4096 && numbers.size() * 4 > row * 3)) break;
      dictionary.texts += found->first;
      dictionary.ends.push_back(static_cast<std::uint32_t>(dictionary.texts.size()));
    }
    codes.push_back(static_cast<std::uint16_t>(found->second));
  }
  if (codes.size() < size_) {
    texts_.texts.shrink_to_fit();
    texts_.ends.shrink_to_fit();
    return std::move(texts_);
  }
  dictionary.ends.push_back(static_cast<std::uint32_t>(dictionary.texts.size()));
  dictionary.width = dictionary.ends.size() <= 256 ? 1 : 2;
  dictionary.codes.reserve(size_ * dictionary.width);
  const std::uint32_t null = dictionary.null_code();
  for (const auto code : codes) append_bytes(dictionary.codes, std::min<std::uint32_t>(code, null), dictionary.width);
  dictionary.texts.shrink_to_fit();
  dictionary.ends.shrink_to_fit();
  return dictionary;
}

PackedColumnPtr ColumnPacker::finish() {
  PackedColumn::Values values;
  if (form_ == Form::kIntegers) values = pack_integers();
  else if (form_ == Form::kTexts) values = pack_texts();
  else values = std::move(fixed_);
  if (!has_nulls_) nulls_.clear();
  nulls_.shrink_to_fit();
  auto packed = std::make_shared<const PackedColumn>(type_, size_, std::move(values), std::move(nulls_), std::move(exceptions_));
  const StoredTextCheck check = check_;
  *this = ColumnPacker(type_, form_ == Form::kTexts && sql::storage_of(type_) != sql::Storage::kText);
  check_ = check;
  return packed;
}

}  // namespace redquel::executor
