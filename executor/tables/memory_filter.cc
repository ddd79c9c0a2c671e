#include "executor/tables/memory_filter.h"

#include <algorithm>
#include <cstring>

#include "executor/tables/key_values.h"
#include "planner/access/index_condition.h"
#include "planner/physical/memory_scans.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"

namespace redquel::executor {

namespace {

using ConditionKind = planner::ColumnCondition::Kind;
using RowNumbers = std::vector<std::uint32_t>;

/// None: NULL.
std::optional<std::int64_t> integer_of(const sql::Datum& value) {
  if (const auto* small = std::get_if<std::int16_t>(&value)) return *small;
  if (const auto* integer = std::get_if<std::int32_t>(&value)) return *integer;
  if (const auto* large = std::get_if<std::int64_t>(&value)) return *large;
  return std::nullopt;
}

/// Leaves the rows whose values, as offsets from the smallest one, lie in [lower, lower + span].
template <class Stored>
void keep_between(const std::vector<std::uint8_t>& bytes, std::uint64_t lower, std::uint64_t span, RowNumbers& rows) {
  const std::uint8_t* const values = bytes.data();
  const auto low = static_cast<Stored>(lower), width = static_cast<Stored>(span);
  std::size_t kept = 0;
  for (const std::uint32_t row : rows) {
    Stored value;
    std::memcpy(&value, values + std::size_t{row} * sizeof value, sizeof value);
    rows[kept] = row;
    kept += static_cast<Stored>(value - low) <= width ? 1 : 0;
  }
  rows.resize(kept);
}

/// Returns the codes that rows have: a function never sees a value that no row has.
std::vector<std::uint32_t> used_codes(const PackedColumn& column, const PackedDictionary& dictionary,
                                      const RowNumbers& rows) {
  std::vector<std::uint8_t> is_used(dictionary.ends.size());
  if (rows.size() == column.size()) {
    std::ranges::fill(is_used, 1);
    is_used.back() = column.has_nulls() ? 1 : 0;
  } else {
    for (const std::uint32_t row : rows) is_used[dictionary.code(row)] = 1;
  }
  std::vector<std::uint32_t> codes;
  for (std::uint32_t code = 0; code < is_used.size(); ++code) {
    if (is_used[code] != 0) codes.push_back(code);
  }
  return codes;
}

/// Returns for each row whether its text contains the literal.
std::vector<std::uint8_t> rows_containing(const PackedTexts& texts, std::string_view literal) {
  std::vector<std::uint8_t> found(texts.ends.size());
  const char* const begin = texts.texts.data();
  const char* const end = begin + texts.texts.size();
  std::size_t row = 0;
  for (const char* at = begin; at < end;) {
    const auto* const match = static_cast<const char*>(memmem(at, static_cast<std::size_t>(end - at), literal.data(), literal.size()));
    if (match == nullptr) break;
    const auto offset = static_cast<std::size_t>(match - begin);
    while (texts.ends[row] <= offset) ++row;
    const bool is_within = offset + literal.size() <= texts.ends[row];  // else it goes over the end of a text
    found[row] = is_within ? 1 : 0;
    at = is_within ? begin + texts.ends[row] : match + 1;
  }
  return found;
}

/// Returns the longest piece of a pattern of LIKE without % and _; empty: there is none, or the pattern has escaped characters.
std::string longest_literal(std::string_view pattern) {
  std::string_view longest;
  if (pattern.find('\\') != std::string_view::npos) return "";
  for (std::size_t begin = 0; begin < pattern.size();) {
    const std::size_t end = std::min(pattern.find_first_of("%_", begin), pattern.size());
    if (end - begin > longest.size()) longest = pattern.substr(begin, end - begin);
    begin = end + 1;
  }
  return std::string(longest);
}

}  // namespace

MemoryFilter::MemoryFilter(const planner::TableRead& read, const sql::EvaluationContext& evaluation) : read_(read), evaluation_(evaluation) {
  if (!read.condition) return;
  sql::collect_columns(*read.condition, columns_);
  std::ranges::sort(columns_);
  const auto repeated = std::ranges::unique(columns_);
  columns_.erase(repeated.begin(), repeated.end());
  for (const sql::ExpressionPtr& conjunct : sql::split_conjunction(read.condition)) {
    const bool is_taken = take_bounds(conjunct) || take_text(conjunct);
    is_complete_ = is_complete_ && is_taken;
  }
}

bool MemoryFilter::take_bounds(const sql::ExpressionPtr& conjunct) {
  const auto number = [&](planner::ColumnId id) { return std::optional(read_.numbers.at(id)); };
  const planner::Condition condition = planner::analyse_condition(*conjunct, *read_.table, number);
  if (condition.kind != planner::Condition::Kind::kColumn || !condition.column.exact || condition.column.column <= 0) return false;
  const sql::ColumnDef* column = read_.table->find_column(condition.column.column);
  if (column == nullptr || !planner::is_packed_integer(column->type.oid) || condition.column.values.size() != 1) return false;
  const sql::Expression& value = *condition.column.values[0];
  const bool is_integer = column->type.oid == sql::oid::kInt2 || column->type.oid == sql::oid::kInt4 || column->type.oid == sql::oid::kInt8;
  const bool is_value_integer = value.type.oid == sql::oid::kInt2 || value.type.oid == sql::oid::kInt4 || value.type.oid == sql::oid::kInt8;
  if (is_integer ? !is_value_integer : value.type.oid != column->type.oid) return false;
  std::optional<std::int64_t> bound;
  try {
    bound = integer_of(sql::evaluate_scalar(value, evaluation_));
  } catch (const sql::SqlError&) {  // reported where there is a row to compare
    return false;
  }
  Range range;
  const bool is_below = condition.column.kind == ConditionKind::kLess, is_above = condition.column.kind == ConditionKind::kGreater;
  switch (condition.column.kind) {
    case ConditionKind::kEqual:
      if (bound) range.lower = range.upper = *bound;
      break;
    case ConditionKind::kLess:
    case ConditionKind::kLessEqual:
      if (bound) range.upper = *bound;
      break;
    case ConditionKind::kGreater:
    case ConditionKind::kGreaterEqual:
      if (bound) range.lower = *bound;
      break;
    default:
      return false;
  }
  const bool is_empty = !bound || (is_below && *bound == std::numeric_limits<std::int64_t>::min()) ||
                        (is_above && *bound == std::numeric_limits<std::int64_t>::max());
  if (is_empty) {
    range = {1, 0};
  } else {
    range.upper -= is_below ? 1 : 0;
    range.lower += is_above ? 1 : 0;
  }
  Range& all = ranges_[condition.column.column];
  all.lower = std::max(all.lower, range.lower);
  all.upper = std::min(all.upper, range.upper);
  return true;
}

bool MemoryFilter::take_text(const sql::ExpressionPtr& conjunct) {
  std::vector<std::uint32_t> used;
  sql::collect_columns(*conjunct, used);
  if (used.empty() || std::ranges::any_of(used, [&](std::uint32_t position) { return position != used[0]; })) return false;
  const std::int16_t number = read_.numbers[used[0]];
  if (number <= 0 || sql::storage_of(read_.table->find_column(number)->type) != sql::Storage::kText || sql::is_volatile(*conjunct)) return false;
  TextCondition text{number, used[0], conjunct};
  take_pattern(text);
  texts_.push_back(std::move(text));
  return true;
}

void MemoryFilter::take_pattern(TextCondition& text) const {
  const auto* call = std::get_if<sql::FunctionCall>(&text.condition->node);
  const sql::Oid type = read_.table->find_column(text.number)->type.oid;
  if (call == nullptr || (type != sql::oid::kText && type != sql::oid::kVarchar)) return;
  const bool is_negated = call->function->name == "!~~";
  if (!is_negated && call->function->name != "~~") return;
  const sql::Expression* value = call->arguments[0].get();
  if (const auto* cast = std::get_if<sql::CastCall>(&value->node); cast != nullptr && cast->method == sql::CastCall::Method::kRelabel) value = cast->operand.get();
  std::vector<std::uint32_t> used;
  sql::collect_columns(*call->arguments[1], used);
  if (!std::holds_alternative<sql::ColumnRef>(value->node) || !used.empty()) return;
  try {
    const sql::Datum pattern = sql::evaluate_scalar(*call->arguments[1], evaluation_);
    const auto* const characters = std::get_if<std::string>(&pattern);
    if (characters == nullptr) return;
    text.literal = longest_literal(*characters);
    text.is_negated = is_negated;
    text.is_contained = *characters == "%" + text.literal + "%";
  } catch (const sql::SqlError&) {  // reported where there is a row to compare
  }
}

bool MemoryFilter::may_match(const Chunk& chunk) const {
  return std::ranges::all_of(ranges_, [&](const auto& entry) {
    const auto& [number, range] = entry;
    if (range.lower > range.upper) return false;
    const auto values = chunk.columns.at(number)->range();
    return !values || (range.lower <= values->second && values->first <= range.upper);
  });
}

double MemoryFilter::share(const Chunk& chunk) const {
  double share = 1;
  for (const auto& [number, range] : ranges_) {
    const auto values = chunk.columns.at(number)->range();
    if (!values) continue;
    const auto lower = static_cast<double>(std::max(range.lower, values->first)), upper = static_cast<double>(std::min(range.upper, values->second));
    const double all = static_cast<double>(values->second) - static_cast<double>(values->first) + 1;
    share *= std::clamp((upper - lower + 1) / all, 0.0, 1.0);
  }
  return share;
}

bool MemoryFilter::filter(const ChunkPtr& chunk, RowNumbers& rows) {
  bool is_complete = is_complete_;
  for (const auto& [number, range] : ranges_) {
    const PackedColumn& column = *chunk->columns.at(number);
    const auto values = column.range();
    if (!values) {
      is_complete = false;
      continue;
    }
    const auto& packed = std::get<PackedColumn::Integers>(column.values());
    const std::int64_t lower = std::max(range.lower, values->first), upper = std::min(range.upper, values->second);
    if (lower > upper) {
      rows.clear();
      return true;
    }
    const std::uint64_t offset = static_cast<std::uint64_t>(lower) - static_cast<std::uint64_t>(values->first);
    const std::uint64_t span = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
    if (lower > values->first || upper < values->second) {
      switch (packed.width) {
        case 1: keep_between<std::uint8_t>(packed.bytes, offset, span, rows); break;
        case 2: keep_between<std::uint16_t>(packed.bytes, offset, span, rows); break;
        case 4: keep_between<std::uint32_t>(packed.bytes, offset, span, rows); break;
        default: keep_between<std::uint64_t>(packed.bytes, offset, span, rows); break;
      }
    }
    if (column.has_nulls()) std::erase_if(rows, [&](std::uint32_t row) { return column.is_null(row); });
  }
  for (const TextCondition& text : texts_) {
    if (rows.empty()) return true;
    const bool is_checked = filter_texts(text, chunk, rows);
    is_complete = is_complete && is_checked;
  }
  return is_complete;
}

bool MemoryFilter::filter_texts(const TextCondition& text, const ChunkPtr& chunk, RowNumbers& rows) const {
  const PackedColumn& column = *chunk->columns.at(text.number);
  if (!text.literal.empty() && std::holds_alternative<PackedColumn::Texts>(column.values())) return filter_pattern(text, chunk, rows);
  const auto* dictionary = std::get_if<PackedColumn::Dictionary>(&column.values());
  if (dictionary == nullptr || dictionary->ends.size() > rows.size()) return false;
  const std::vector<std::uint32_t> codes = used_codes(column, *dictionary, rows);
  sql::Batch batch;
  batch.rows = codes.size();
  batch.columns.resize(read_.numbers.size());
  batch.columns[text.position] = std::make_shared<const sql::Column>(column.dictionary_values(codes));
  std::vector<std::uint8_t> holds(dictionary->ends.size());
  try {
    for (const std::uint32_t place : sql::select_rows(*text.condition, batch, evaluation_)) holds[codes[place]] = 1;
  } catch (const sql::SqlError&) {  // reported where a row that satisfies the rest of the condition has the value
    return false;
  }
  std::erase_if(rows, [&](std::uint32_t row) { return holds[dictionary->code(row)] == 0; });
  return true;
}

bool MemoryFilter::filter_pattern(const TextCondition& text, const ChunkPtr& chunk, RowNumbers& rows) const {
  constexpr std::size_t kMostCandidates = 8192;  // half a millisecond
  const PackedColumn& column = *chunk->columns.at(text.number);
  const auto& texts = std::get<PackedColumn::Texts>(column.values());
  // Where few rows are left, the others' texts are not worth the search.
  const bool is_searched = rows.size() * 8 > column.size();
  const std::vector<std::uint8_t> found = is_searched ? rows_containing(texts, text.literal) : std::vector<std::uint8_t>();
  RowNumbers kept, candidates;
  for (const std::uint32_t row : rows) {
    if (column.is_null(row)) continue;
    const bool contains = is_searched ? found[row] != 0 : texts.text(row).find(text.literal) != std::string_view::npos;
    if (contains && !text.is_contained) candidates.push_back(row);
    else if (contains != text.is_negated) kept.push_back(row);
  }
  if (candidates.size() > kMostCandidates) {
    if (!text.is_negated) rows = std::move(candidates);
    return false;
  }
  const std::size_t decided = kept.size();
  const RowNumbers matching = select(*text.condition, {&text.position, 1}, chunk, candidates);
  kept.insert(kept.end(), matching.begin(), matching.end());
  std::ranges::inplace_merge(kept, kept.begin() + static_cast<std::ptrdiff_t>(decided));
  rows = std::move(kept);
  return true;
}

RowNumbers MemoryFilter::evaluate(const ChunkPtr& chunk, std::span<const std::uint32_t> rows) const {
  return select(*read_.condition, columns_, chunk, rows);
}

RowNumbers MemoryFilter::select(const sql::Expression& condition, std::span<const std::uint32_t> positions, const ChunkPtr& chunk,
                                std::span<const std::uint32_t> rows) const {
  RowNumbers selected;
  for (std::size_t first = 0; first < rows.size(); first += sql::kBatchRows) {
    const std::span<const std::uint32_t> piece = rows.subspan(first, std::min(sql::kBatchRows, rows.size() - first));
    const auto some = std::make_shared<const std::vector<std::uint32_t>>(piece.begin(), piece.end());
    sql::Batch batch;
    batch.rows = some->size();
    batch.columns.resize(read_.numbers.size());
    for (const std::uint32_t position : positions) {
      batch.columns[position] = std::make_shared<const sql::Column>(sql::Column::selected(chunk->columns.at(read_.numbers[position]), some));
    }
    for (const std::uint32_t row : sql::select_rows(condition, batch, evaluation_)) selected.push_back((*some)[row]);
  }
  return selected;
}

}  // namespace redquel::executor
