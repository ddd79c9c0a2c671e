// Text search: tsvector and tsquery made of texts, matched, ranked, changed (manual 9.13).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/extensions/accents.h"
#include "sql/extensions/extension.h"
#include "sql/functions/array_kernels.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/text_search_functions.h"
#include "sql/session_hooks.h"
#include "sql/sqlstate.h"
#include "sql/text_search/analysis.h"
#include "sql/text_search/headline.h"
#include "sql/text_search/match.h"
#include "sql/text_search/rank.h"
#include "sql/text_search/token_parser.h"
#include "sql/types/json_text.h"
#include "sql/types/text_io.h"

namespace redquel::sql {
namespace {

namespace ts = text_search;

// ---- configurations ---------------------------------------------------------------------------------------------------------

const ts::ConfigurationRow& configuration(std::int32_t oid) {
  const auto found = std::ranges::find(ts::built_in_configurations(), static_cast<Oid>(oid), &ts::ConfigurationRow::oid);
  if (found != ts::built_in_configurations().end()) return *found;
  throw SqlError(sqlstate::kInternalError, fmt::format("cache lookup failed for text search configuration {}", static_cast<Oid>(oid)));
}

std::int32_t current_configuration(Context context) {
  const std::string* name = context.show == nullptr ? nullptr : context.show(context.session, "default_text_search_config");
  return static_cast<std::int32_t>(parse_object_name(kRegconfig, name == nullptr ? "english" : std::string_view(*name), context));
}

const ts::ConfigurationRow& usual(Context context) { return configuration(current_configuration(context)); }

// ---- texts become vectors and queries -----------------------------------------------------------------------------------------

void vector_of(std::int32_t config, Text text, std::string& out) { out = ts::vector_text(ts::to_vector(configuration(config), text)); }
void usual_vector_of(Context context, Text text, std::string& out) { out = ts::vector_text(ts::to_vector(usual(context), text)); }

using MakeQuery = ts::Query (*)(const ts::ConfigurationRow&, std::string_view);

void note(Context context, std::string message) {
  if (session_hooks().notice != nullptr && context.session != nullptr) session_hooks().notice(context.session, SqlError(sqlstate::kSuccessfulCompletion, std::move(message)));
}

/// The query without its stop words. A notice says where nothing is left.
ts::Query made_query(Context context, MakeQuery make, const ts::ConfigurationRow& config, Text text) {
  const ts::Query written = make(config, text);
  if (!written) {
    note(context, fmt::format("text-search query doesn't contain lexemes: \"{}\"", text));
    return written;
  }
  ts::Query query = ts::without_stop_words(written);
  if (!query) note(context, "text-search query contains only stop words or doesn't contain lexemes, ignored");
  return query;
}

template <MakeQuery make>
void query_of(Context context, std::int32_t config, Text text, std::string& out) {
  out = ts::query_text(made_query(context, make, configuration(config), text));
}
template <MakeQuery make>
void usual_query_of(Context context, Text text, std::string& out) {
  out = ts::query_text(made_query(context, make, usual(context), text));
}

/// Which parts of JSON count.
struct JsonParts {
  bool strings = true, numbers = false, booleans = false, keys = false;
};

void add_json(std::string_view value, const JsonParts& parts, ts::Document& document) {
  switch (json_kind(value)) {
    case JsonKind::kString:
      if (parts.strings) document.add(json_string(value));
      return;
    case JsonKind::kNumber:
      if (parts.numbers) document.add(value);
      return;
    case JsonKind::kBoolean:
      if (parts.booleans) document.add(value);
      return;
    case JsonKind::kNull: return;
    case JsonKind::kArray:
    case JsonKind::kObject: break;
  }
  const bool is_object = value[0] == '{';
  for (JsonReader reader(value); reader.next();) {
    if (is_object && parts.keys) document.add(json_string(reader.key()));
    add_json(reader.value(), parts, document);
  }
}

std::string json_vector(const ts::ConfigurationRow& config, Text json, const JsonParts& parts) {
  ts::Document document(config);
  add_json(json_value(json), parts, document);
  return ts::vector_text(std::move(document).vector());
}

void vector_of_json(std::int32_t config, Text json, std::string& out) { out = json_vector(configuration(config), json, {}); }
void usual_vector_of_json(Context context, Text json, std::string& out) { out = json_vector(usual(context), json, {}); }

JsonParts read_parts(Text filter) {
  const std::string_view value = json_value(filter);
  JsonParts parts{.strings = false};
  const auto take = [&](std::string_view flag) {
    if (json_kind(flag) != JsonKind::kString) {
      throw SqlError(sqlstate::kInvalidParameterValue, "flag array element is not a string")
          .hint("Possible values are: \"string\", \"numeric\", \"boolean\", \"key\", and \"all\".");
    }
    const std::string written = json_string(flag), name = lower_case(written);
    if (name == "all") parts = {true, true, true, true};
    else if (name == "key") parts.keys = true;
    else if (name == "string") parts.strings = true;
    else if (name == "numeric") parts.numbers = true;
    else if (name == "boolean") parts.booleans = true;
    else throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("wrong flag in flag array: \"{}\"", written))
        .hint("Possible values are: \"string\", \"numeric\", \"boolean\", \"key\", and \"all\".");
  };
  if (json_kind(value) == JsonKind::kArray) {
    for (JsonReader reader(value); reader.next();) take(reader.value());
  } else if (json_kind(value) == JsonKind::kObject) {
    throw SqlError(sqlstate::kInvalidParameterValue, "wrong flag type, only arrays and scalars are allowed");
  } else {
    take(value);
  }
  return parts;
}

void filtered_vector(std::int32_t config, Text json, Text filter, std::string& out) { out = json_vector(configuration(config), json, read_parts(filter)); }
void usual_filtered_vector(Context context, Text json, Text filter, std::string& out) { out = json_vector(usual(context), json, read_parts(filter)); }

// ---- matching and ranking -----------------------------------------------------------------------------------------------------

bool vector_matches(Text vector, Text query) { return ts::matches(ts::parse_vector(vector), ts::parse_query(query)); }
bool query_matches(Text query, Text vector) { return vector_matches(vector, query); }
bool text_matches_query(Context context, Text text, Text query) { return ts::matches(ts::to_vector(usual(context), text), ts::parse_query(query)); }
bool text_matches_text(Context context, Text text, Text words) {
  return ts::matches(ts::to_vector(usual(context), text), made_query(context, ts::plain_to_query, usual(context), words));
}

/// 22023, 2202E, 22004
ts::Weights read_weights(Text written) {
  const ArrayValue array = read_array(oid::kFloat4Array, written);
  if (array.dimensions.size() != 1) throw SqlError(sqlstate::kArraySubscriptError, "array of weight must be one-dimensional");
  if (array.elements.size() < 4) throw SqlError(sqlstate::kArraySubscriptError, "array of weight is too short");
  ts::Weights weights = ts::kUsualWeights;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!array.elements[i]) throw SqlError(sqlstate::kNullValueNotAllowed, "array of weight must not contain nulls");
    const float weight = std::get<float>(parse_value(kFloat4, *array.elements[i], {}));
    if (weight > 1) throw SqlError(sqlstate::kInvalidParameterValue, "weight out of range");
    if (weight >= 0) weights[i] = weight;
  }
  return weights;
}

using Rank = float (*)(const ts::Weights&, const ts::Vector&, const ts::Query&, std::int32_t);

template <Rank rank>
float ranked(Text vector, Text query, std::int32_t normalization) {
  return rank(ts::kUsualWeights, ts::parse_vector(vector), ts::parse_query(query), normalization);
}
template <Rank rank>
float ranked_by(Text weights, Text vector, Text query, std::int32_t normalization) {
  return rank(read_weights(weights), ts::parse_vector(vector), ts::parse_query(query), normalization);
}

template <Rank rank>
void add_rank(std::vector<ScalarFunction>& table, std::string_view name) {
  constexpr Type kWeights{oid::kFloat4Array};
  table.push_back(scalar<[](Text vector, Text query) { return ranked<rank>(vector, query, 0); }>(name, {kTsvector, kTsquery}, kFloat4));
  table.push_back(scalar<ranked<rank>>(name, {kTsvector, kTsquery, kInt4}, kFloat4));
  table.push_back(scalar<[](Text weights, Text vector, Text query) { return ranked_by<rank>(weights, vector, query, 0); }>(name, {kWeights, kTsvector, kTsquery}, kFloat4));
  table.push_back(scalar<ranked_by<rank>>(name, {kWeights, kTsvector, kTsquery, kInt4}, kFloat4));
}

// ---- headlines ---------------------------------------------------------------------------------------------------------------

void headline_with(std::int32_t config, Text text, Text query, Text options, std::string& out) {
  out = ts::headline(configuration(config), text, ts::parse_query(query), ts::read_headline_options(options));
}
void usual_headline_with(Context context, Text text, Text query, Text options, std::string& out) {
  out = ts::headline(usual(context), text, ts::parse_query(query), ts::read_headline_options(options));
}
void headline(std::int32_t config, Text text, Text query, std::string& out) { headline_with(config, text, query, {}, out); }
void usual_headline(Context context, Text text, Text query, std::string& out) { usual_headline_with(context, text, query, {}, out); }

// ---- vectors --------------------------------------------------------------------------------------------------------------

ts::Weight read_weight(std::string_view letter) {
  const char c = letter.empty() ? '\0' : to_lower(letter.front());
  if (c < 'a' || c > 'd') throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("unrecognized weight: \"{}\"", letter.substr(0, 1)));
  return static_cast<ts::Weight>('d' - c);
}

/// Calls `take` with each lexeme that an array names.
template <class Take>
void for_each_word(Text array, const Take& take) {
  const ArrayValue words = read_array(oid::kTextArray, array);
  for (const std::optional<std::string_view>& word : words.elements) {
    if (!word) throw SqlError(sqlstate::kNullValueNotAllowed, "lexeme array may not contain nulls");
    take(*word);
  }
}

void set_weight(Text written, Text letter, std::string& out) {
  ts::Vector vector = ts::parse_vector(written);
  const ts::Weight weight = read_weight(letter);
  for (ts::Lexeme& lexeme : vector) {
    for (ts::Position& position : lexeme.positions) position.weight = weight;
  }
  out = ts::vector_text(vector);
}

void set_weight_of(Text written, Text letter, Text array, std::string& out) {
  ts::Vector vector = ts::parse_vector(written);
  const ts::Weight weight = read_weight(letter);
  for_each_word(array, [&](std::string_view word) {
    const ts::Lexeme* found = ts::find_lexeme(vector, word);
    if (found == nullptr) return;
    for (ts::Position& position : vector[static_cast<std::size_t>(found - vector.data())].positions) position.weight = weight;
  });
  out = ts::vector_text(vector);
}

void strip(Text written, std::string& out) {
  ts::Vector vector = ts::parse_vector(written);
  for (ts::Lexeme& lexeme : vector) lexeme.positions.clear();
  out = ts::vector_text(vector);
}

void delete_word(Text written, Text word, std::string& out) {
  ts::Vector vector = ts::parse_vector(written);
  std::erase_if(vector, [&](const ts::Lexeme& lexeme) { return lexeme.text == word; });
  out = ts::vector_text(vector);
}

void delete_words(Text written, Text array, std::string& out) {
  ts::Vector vector = ts::parse_vector(written);
  for_each_word(array, [&](std::string_view word) { std::erase_if(vector, [&](const ts::Lexeme& lexeme) { return lexeme.text == word; }); });
  out = ts::vector_text(vector);
}

void filter(Text written, Text letters, std::string& out) {
  const ArrayValue array = read_array(oid::kCharArray, letters);
  std::array<bool, 4> kept{};
  for (const std::optional<std::string_view>& letter : array.elements) {
    if (!letter) throw SqlError(sqlstate::kNullValueNotAllowed, "weight array may not contain nulls");
    kept[read_weight(*letter)] = true;
  }
  ts::Vector vector = ts::parse_vector(written);
  for (ts::Lexeme& lexeme : vector) std::erase_if(lexeme.positions, [&](const ts::Position& position) { return !kept[position.weight]; });
  std::erase_if(vector, [](const ts::Lexeme& lexeme) { return lexeme.positions.empty(); });
  out = ts::vector_text(vector);
}

/// Positions of the second vector follow the last one of the first.
void concatenate(Text a, Text b, std::string& out) {
  ts::Vector vector = ts::parse_vector(a);
  std::uint32_t last = 0;
  for (const ts::Lexeme& lexeme : vector) {
    if (!lexeme.positions.empty()) last = std::max<std::uint32_t>(last, lexeme.positions.back().at);
  }
  for (ts::Lexeme& lexeme : ts::parse_vector(b)) {
    for (ts::Position& position : lexeme.positions) position.at = static_cast<std::uint16_t>(std::min<std::uint32_t>(position.at + last, ts::kLastPosition));
    vector.push_back(std::move(lexeme));
  }
  out = ts::vector_text(ts::settled(std::move(vector)));
}

std::string text_array(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) append_array_element(word, text);
  finish_array_text(text);
  return text;
}

void array_of_vector(Text written, std::string& out) {
  std::vector<std::string> words;
  for (const ts::Lexeme& lexeme : ts::parse_vector(written)) words.push_back(lexeme.text);
  out = text_array(words);
}

void vector_of_array(Text array, std::string& out) {
  std::vector<ts::Lexeme> lexemes;
  for_each_word(array, [&](std::string_view word) {
    if (word.empty()) throw SqlError(sqlstate::kZeroLengthCharacterString, "lexeme array may not contain empty strings");
    lexemes.push_back({std::string(word)});
  });
  out = ts::vector_text(ts::settled(std::move(lexemes)));
}

// ---- queries --------------------------------------------------------------------------------------------------------------

template <ts::Operator operation>
void combine(Text a, Text b, std::string& out) {
  out = ts::query_text(ts::make_operator(operation, ts::parse_query(a), ts::parse_query(b)));
}

void phrase_with_distance(Text a, Text b, std::int32_t distance, std::string& out) {
  if (distance < 0 || distance > static_cast<std::int32_t>(ts::kMostDistance)) {
    throw SqlError(sqlstate::kInvalidParameterValue,
                   fmt::format("distance in phrase operator must be an integer value between zero and {} inclusive", ts::kMostDistance));
  }
  out = ts::query_text(ts::make_operator(ts::Operator::kPhrase, ts::parse_query(a), ts::parse_query(b), static_cast<std::uint32_t>(distance)));
}

void negate(Text query, std::string& out) { out = ts::query_text(ts::make_not(ts::parse_query(query))); }

void indexable_text(Text query, std::string& out) {
  bool matches_all = false;
  out = ts::query_text(ts::indexable_part(ts::parse_query(query), matches_all));
  if (matches_all) out = "T";
}

bool contains(Text a, Text b) { return std::ranges::includes(ts::lexemes_of(ts::parse_query(a)), ts::lexemes_of(ts::parse_query(b))); }
bool is_contained(Text a, Text b) { return contains(b, a); }

// ---- dictionaries and the parser ------------------------------------------------------------------------------------------------

bool lexize(std::int32_t oid, Text word, std::string& out) {
  if (static_cast<Oid>(oid) == kUnaccentDictionary) {
    std::string plain;
    if (!append_without_accents(word, plain)) return false;
    out = text_array({plain});
    return true;
  }
  const auto row = std::ranges::find(ts::built_in_dictionaries(), static_cast<Oid>(oid), &ts::DictionaryRow::oid);
  if (row == ts::built_in_dictionaries().end()) {
    throw SqlError(sqlstate::kInternalError, fmt::format("cache lookup failed for text search dictionary {}", static_cast<Oid>(oid)));
  }
  const auto lexemes = ts::built_in_dictionary(row->name)->lexemes(word);
  if (lexemes) out = text_array(*lexemes);
  return lexemes.has_value();
}

void check_parser(const Datum& parser) {
  if (const auto* number = std::get_if<std::int32_t>(&parser); number != nullptr) {
    if (static_cast<Oid>(*number) == ts::kDefaultParserOid) return;
    throw SqlError(sqlstate::kInternalError, fmt::format("cache lookup failed for text search parser {}", static_cast<Oid>(*number)));
  }
  const auto& name = std::get<std::string>(parser);
  if (name != "default" && name != "pg_catalog.default") throw SqlError(sqlstate::kUndefinedObject, fmt::format("text search parser \"{}\" does not exist", name));
}

/// Rows that a function has made already.
class MadeRows final : public RowSource {
 public:
  explicit MadeRows(Batch batch) : batch_(std::move(batch)) {}
  Batch next(std::size_t) override { return std::exchange(batch_, {}); }

 private:
  Batch batch_;
};

std::unique_ptr<RowSource> made_rows(std::vector<Column> columns) {
  Batch batch;
  batch.rows = columns.front().size();
  for (Column& column : columns) batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
  return std::make_unique<MadeRows>(std::move(batch));
}

std::vector<Column> empty_columns(std::initializer_list<Type> types) {
  std::vector<Column> columns;
  for (const Type type : types) columns.emplace_back(type);
  return columns;
}

std::unique_ptr<RowSource> parsed_tokens(std::span<const Datum> arguments, const EvaluationContext&) {
  std::vector<Column> columns = empty_columns({kInt4, kText});
  if (!is_null(arguments[0]) && !is_null(arguments[1])) {
    check_parser(arguments[0]);
    ts::TokenParser parser(std::get<std::string>(arguments[1]));
    while (const std::optional<ts::Token> token = parser.next()) {
      columns[0].append<std::int32_t>(static_cast<std::int32_t>(token->kind));
      columns[1].append(token->text);
    }
  }
  return made_rows(std::move(columns));
}

std::unique_ptr<RowSource> token_kinds(std::span<const Datum> arguments, const EvaluationContext&) {
  std::vector<Column> columns = empty_columns({kInt4, kText, kText});
  if (!is_null(arguments[0])) {
    check_parser(arguments[0]);
    for (std::int32_t kind = 1; kind <= static_cast<std::int32_t>(ts::TokenKind::kEntity); ++kind) {
      const ts::TokenKindRow& row = ts::token_kind_row(static_cast<ts::TokenKind>(kind));
      columns[0].append(kind);
      columns[1].append(row.alias);
      columns[2].append(row.description);
    }
  }
  return made_rows(std::move(columns));
}

std::unique_ptr<RowSource> rows_of_vector(std::span<const Datum> arguments, const EvaluationContext&) {
  std::vector<Column> columns = empty_columns({kText, Type{oid::kInt2Array}, kTextArray});
  if (!is_null(arguments[0])) {
    for (const ts::Lexeme& lexeme : ts::parse_vector(std::get<std::string>(arguments[0]))) {
      columns[0].append(std::string_view(lexeme.text));
      if (lexeme.positions.empty()) {
        columns[1].append_null();
        columns[2].append_null();
        continue;
      }
      std::vector<std::string> positions, weights;
      for (const ts::Position& position : lexeme.positions) {
        positions.push_back(std::to_string(position.at));
        weights.emplace_back(1, ts::weight_letter(position.weight));
      }
      columns[1].append(std::string_view(text_array(positions)));
      columns[2].append(std::string_view(text_array(weights)));
    }
  }
  return made_rows(std::move(columns));
}

template <auto read, class Operator>
bool compares(Text a, Text b) {
  return Operator{}(a == b ? 0 : ts::compare(read(a), read(b)), 0);
}

template <auto read>
void add_comparisons(std::vector<ScalarFunction>& table, Type type) {
  table.push_back(scalar<compares<read, std::equal_to<>>>("=", {type, type}, kBool));
  table.push_back(scalar<compares<read, std::not_equal_to<>>>("<>", {type, type}, kBool));
  table.push_back(scalar<compares<read, std::less<>>>("<", {type, type}, kBool));
  table.push_back(scalar<compares<read, std::less_equal<>>>("<=", {type, type}, kBool));
  table.push_back(scalar<compares<read, std::greater<>>>(">", {type, type}, kBool));
  table.push_back(scalar<compares<read, std::greater_equal<>>>(">=", {type, type}, kBool));
}

template <MakeQuery make>
void add_query(std::vector<ScalarFunction>& table, std::string_view name) {
  table.push_back(scalar<query_of<make>>(name, {kRegconfig, kText}, kTsquery));
  table.push_back(scalar<usual_query_of<make>>(name, {kText}, kTsquery, kStable));
}

}  // namespace

std::vector<ScalarFunction> text_search_functions() {
  constexpr Type kCharArray{oid::kCharArray};
  std::vector<ScalarFunction> table = {
      scalar<current_configuration>("get_current_ts_config", {}, kRegconfig, kStable),
      scalar<vector_of>("to_tsvector", {kRegconfig, kText}, kTsvector),
      scalar<usual_vector_of>("to_tsvector", {kText}, kTsvector, kStable),
      scalar<vector_matches>("@@", {kTsvector, kTsquery}, kBool),
      scalar<query_matches>("@@", {kTsquery, kTsvector}, kBool),
      scalar<text_matches_query>("@@", {kText, kTsquery}, kBool, kStable),
      scalar<text_matches_text>("@@", {kText, kText}, kBool, kStable),
      scalar<vector_matches>("@@@", {kTsvector, kTsquery}, kBool),
      scalar<query_matches>("@@@", {kTsquery, kTsvector}, kBool),
      scalar<headline>("ts_headline", {kRegconfig, kText, kTsquery}, kText),
      scalar<headline_with>("ts_headline", {kRegconfig, kText, kTsquery, kText}, kText),
      scalar<usual_headline>("ts_headline", {kText, kTsquery}, kText, kStable),
      scalar<usual_headline_with>("ts_headline", {kText, kTsquery, kText}, kText, kStable),
      scalar<set_weight>("setweight", {kTsvector, kChar}, kTsvector),
      scalar<set_weight_of>("setweight", {kTsvector, kChar, kTextArray}, kTsvector),
      scalar<strip>("strip", {kTsvector}, kTsvector),
      scalar<[](Text vector) { return static_cast<std::int32_t>(ts::parse_vector(vector).size()); }>("length", {kTsvector}, kInt4),
      scalar<delete_word>("ts_delete", {kTsvector, kText}, kTsvector),
      scalar<delete_words>("ts_delete", {kTsvector, kTextArray}, kTsvector),
      scalar<filter>("ts_filter", {kTsvector, kCharArray}, kTsvector),
      scalar<array_of_vector>("tsvector_to_array", {kTsvector}, kTextArray),
      scalar<vector_of_array>("array_to_tsvector", {kTextArray}, kTsvector),
      scalar<concatenate>("||", {kTsvector, kTsvector}, kTsvector),
      scalar<combine<ts::Operator::kAnd>>("&&", {kTsquery, kTsquery}, kTsquery),
      scalar<combine<ts::Operator::kOr>>("||", {kTsquery, kTsquery}, kTsquery),
      scalar<combine<ts::Operator::kPhrase>>("<->", {kTsquery, kTsquery}, kTsquery),
      scalar<combine<ts::Operator::kPhrase>>("tsquery_phrase", {kTsquery, kTsquery}, kTsquery),
      scalar<phrase_with_distance>("tsquery_phrase", {kTsquery, kTsquery, kInt4}, kTsquery),
      scalar<negate>("!!", {kTsquery}, kTsquery),
      scalar<contains>("@>", {kTsquery, kTsquery}, kBool),
      scalar<is_contained>("<@", {kTsquery, kTsquery}, kBool),
      scalar<[](Text query) { return static_cast<std::int32_t>(ts::node_count(ts::parse_query(query))); }>("numnode", {kTsquery}, kInt4),
      scalar<indexable_text>("querytree", {kTsquery}, kText),
      scalar<lexize>("ts_lexize", {kRegdictionary, kText}, kTextArray),
  };
  add_comparisons<ts::parse_vector>(table, kTsvector);
  add_comparisons<[](std::string_view text) { return ts::parse_query(text); }>(table, kTsquery);
  for (const Type json : {kJson, kJsonb}) {
    table.push_back(scalar<vector_of_json>("to_tsvector", {kRegconfig, json}, kTsvector));
    table.push_back(scalar<usual_vector_of_json>("to_tsvector", {json}, kTsvector, kStable));
    const std::string_view name = json == kJson ? "json_to_tsvector" : "jsonb_to_tsvector";
    table.push_back(scalar<filtered_vector>(name, {kRegconfig, json, kJsonb}, kTsvector));
    table.push_back(scalar<usual_filtered_vector>(name, {json, kJsonb}, kTsvector, kStable));
  }
  add_query<ts::to_query>(table, "to_tsquery");
  add_query<ts::plain_to_query>(table, "plainto_tsquery");
  add_query<ts::phrase_to_query>(table, "phraseto_tsquery");
  add_query<ts::web_to_query>(table, "websearch_to_tsquery");
  add_rank<ts::rank>(table, "ts_rank");
  add_rank<ts::cover_rank>(table, "ts_rank_cd");
  return table;
}

std::vector<TableFunction> text_search_rows() {
  return {
      {"ts_parse", {oid::kText, oid::kText}, {{"tokid", oid::kInt4}, {"token", oid::kText}}, parsed_tokens},
      {"ts_parse", {oid::kOid, oid::kText}, {{"tokid", oid::kInt4}, {"token", oid::kText}}, parsed_tokens},
      {"ts_token_type", {oid::kText}, {{"tokid", oid::kInt4}, {"alias", oid::kText}, {"description", oid::kText}}, token_kinds},
      {"ts_token_type", {oid::kOid}, {{"tokid", oid::kInt4}, {"alias", oid::kText}, {"description", oid::kText}}, token_kinds},
      {"unnest", {oid::kTsvector}, {{"lexeme", oid::kText}, {"positions", oid::kInt2Array}, {"weights", oid::kTextArray}}, rows_of_vector},
  };
}

}  // namespace redquel::sql
