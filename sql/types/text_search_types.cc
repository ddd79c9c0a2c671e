// tsvector and tsquery. Their values are PostgreSQL's texts of them.

#include <fmt/format.h>

#include "sql/sqlstate.h"
#include "sql/text_search/query.h"
#include "sql/text_search/vector.h"
#include "sql/types/byte_text.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"

namespace redquel::sql {
namespace {

namespace ts = text_search;

/// Their texts are in one form, but are in another order.
template <class T>
struct TextSearchType : StoredAs<std::string_view> {
  static constexpr bool kComparesAsBytes = false, kHasHashClass = false;
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  static int compare(Type, Value a, Value b) { return a == b ? 0 : ts::compare(T::read(a), T::read(b)); }
  static bool has_ordered_form(Type) { return false; }
};

/// A text that ends with a zero byte.
std::string read_word(BinaryReader& reader) {
  std::string word;
  while (const std::uint8_t byte = reader.byte()) word.push_back(static_cast<char>(byte));
  if (reader.client() != nullptr) return reader.client()->from_client(word);
  check_utf8(word);
  return word;
}

void put_word(std::string_view word, std::string& out, EncodingConverter* client) {
  put_text(word, out, client);
  out.push_back('\0');
}

struct TsvectorType : TextSearchType<TsvectorType> {
  static ts::Vector read(Value value) { return ts::parse_vector(value); }
  static std::string parse(const TextInput& input) { return ts::vector_text(read(input.text)); }
  static std::string decode(Type, BinaryReader& reader) {
    std::vector<ts::Lexeme> lexemes;
    for (auto left = reader.integer<std::uint32_t>(); left > 0; --left) {
      ts::Lexeme lexeme{read_word(reader)};
      if (lexeme.text.size() >= ts::kMostLexemeBytes) throw SqlError(sqlstate::kInternalError, "invalid tsvector: lexeme too long");
      const auto positions = reader.integer<std::uint16_t>();
      if (positions > ts::kMostPositions) throw SqlError(sqlstate::kInternalError, "unexpected number of tsvector positions");
      for (std::uint16_t i = 0; i < positions; ++i) {
        const auto packed = reader.integer<std::uint16_t>();
        lexeme.positions.push_back({static_cast<std::uint16_t>(packed & ts::kLastPosition), static_cast<ts::Weight>(packed >> 14)});
      }
      lexemes.push_back(std::move(lexeme));
    }
    return ts::vector_text(ts::settled(std::move(lexemes)));
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter* client) {
    const ts::Vector vector = read(value);
    put_binary(static_cast<std::uint32_t>(vector.size()), out);
    for (const ts::Lexeme& lexeme : vector) {
      put_word(lexeme.text, out, client);
      put_binary(static_cast<std::uint16_t>(lexeme.positions.size()), out);
      for (const ts::Position& position : lexeme.positions) put_binary(static_cast<std::uint16_t>(position.at | position.weight << 14), out);
    }
  }
};

struct TsqueryType : TextSearchType<TsqueryType> {
  static ts::Query read(Value value) { return ts::parse_query(value); }
  static std::string parse(const TextInput& input) { return ts::query_text(read(input.text)); }
  static std::string decode(Type, BinaryReader& reader) {
    std::uint32_t left = reader.integer<std::uint32_t>();
    if (left == 0) return {};
    const ts::Query query = decode_node(reader, left, 0);
    if (left != 0) throw SqlError(sqlstate::kInternalError, "invalid tsquery: malformed tree");
    return ts::query_text(query);
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter* client) {
    const ts::Query query = read(value);
    put_binary(static_cast<std::uint32_t>(ts::node_count(query)), out);
    if (query) encode_node(*query, out, client);
  }

 private:
  static constexpr std::uint8_t kOperand = 1, kOperator = 2;

  /// An operator comes before its right side, that one before the left side.
  static ts::Query decode_node(BinaryReader& reader, std::uint32_t& left, int depth) {
    constexpr int kMostDepth = 4000;
    if (left == 0 || depth > kMostDepth) throw SqlError(sqlstate::kInternalError, "invalid tsquery: malformed tree");
    --left;
    const std::uint8_t kind = reader.byte();
    if (kind == kOperand) {
      const std::uint8_t weights = reader.byte();
      const bool is_prefix = reader.byte() != 0;
      if (weights > 15) throw SqlError(sqlstate::kInternalError, "invalid tsquery: invalid weight bitmap");
      return ts::make_lexeme(read_word(reader), weights, is_prefix);
    }
    const std::uint8_t operation = reader.byte();
    if (kind != kOperator || operation < 1 || operation > 4) throw SqlError(sqlstate::kInternalError, fmt::format("unrecognized tsquery node type: {}", kind));
    const auto op = static_cast<ts::Operator>(operation);
    const std::uint32_t distance = op == ts::Operator::kPhrase ? reader.integer<std::uint16_t>() : 0;
    if (distance > ts::kMostDistance) throw SqlError(sqlstate::kInternalError, "invalid tsquery: invalid distance");
    ts::Query right = decode_node(reader, left, depth + 1);
    if (op == ts::Operator::kNot) return ts::make_not(std::move(right));
    ts::Query first = decode_node(reader, left, depth + 1);
    return ts::make_operator(op, std::move(first), std::move(right), distance);
  }

  static void encode_node(const ts::QueryNode& node, std::string& out, EncodingConverter* client) {
    if (node.kind == ts::QueryNode::Kind::kLexeme) {
      for (const std::uint8_t byte : {kOperand, node.weights, static_cast<std::uint8_t>(node.is_prefix)}) out.push_back(static_cast<char>(byte));
      put_word(node.text, out, client);
      return;
    }
    out.push_back(static_cast<char>(kOperator));
    out.push_back(static_cast<char>(node.operation));
    if (node.operation == ts::Operator::kPhrase) put_binary(node.distance, out);
    encode_node(*node.right, out, client);
    if (node.left) encode_node(*node.left, out, client);
  }
};

}  // namespace

std::span<const TypeRow> text_search_types() {
  static constexpr TypeRow kRows[] = {
      type_row<TsvectorType>({.oid = oid::kTsvector, .name = "tsvector", .array = oid::kTsvectorArray},
                             {.input = "tsvectorin", .output = "tsvectorout", .send = "tsvectorsend"}, {"tsvector_cmp"}),
      type_row<TsqueryType>({.oid = oid::kTsquery, .name = "tsquery", .array = oid::kTsqueryArray},
                            {.input = "tsqueryin", .output = "tsqueryout", .send = "tsquerysend"}, {"tsquery_cmp"}),
  };
  return kRows;
}

}  // namespace redquel::sql
