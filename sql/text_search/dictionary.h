#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/text_search/token_parser.h"

namespace redquel::sql::text_search {

/// A dictionary of text search (manual 12.6): it turns a token into lexemes.
class Dictionary {
 public:
  virtual ~Dictionary() = default;
  /// Returns the word's lexemes, none for a stop word, or nullopt if the dictionary does not know the word. Safe for
  /// several threads.
  virtual std::optional<std::vector<std::string>> lexemes(std::string_view word) const = 0;
};

/// A row of pg_ts_dict in a new database.
struct DictionaryRow {
  std::uint32_t oid;
  std::string_view name;
  std::uint32_t template_oid;
  /// dictinitoption. Empty: NULL.
  std::string_view options;
  std::string_view description;
};

/// A row of pg_ts_config in a new database, with the dictionaries of its rows in pg_ts_config_map.
struct ConfigurationRow {
  std::uint32_t oid;
  std::string_view name;
  /// The dictionary of words with letters beyond ASCII, of their hyphenated forms and parts.
  std::string_view dictionary;
  /// The dictionary of words of ASCII letters. It differs where the language has another alphabet.
  std::string_view ascii_dictionary;
  std::string_view description;
};

inline constexpr std::uint32_t kDefaultParserOid = 3722;
inline constexpr std::uint32_t kSimpleTemplateOid = 3727;
inline constexpr std::uint32_t kSnowballTemplateOid = 13150;

/// Returns the dictionaries in the order of their OIDs. The OIDs are those of PostgreSQL 15.20.
std::span<const DictionaryRow> built_in_dictionaries();
std::span<const ConfigurationRow> built_in_configurations();

/// Returns the row of the dictionary that a configuration uses for a kind of token; null: tokens of this kind are left
/// out.
const DictionaryRow* dictionary_row_for(const ConfigurationRow& configuration, TokenKind kind);

/// Returns "simple", or a Snowball dictionary such as "english_stem"; null: there is no built-in dictionary of this
/// name.
std::shared_ptr<const Dictionary> built_in_dictionary(std::string_view name);

/// Returns the dictionary that a configuration uses for a kind of token; null: tokens of this kind are left out.
std::shared_ptr<const Dictionary> dictionary_for(const ConfigurationRow& configuration, TokenKind kind);

}  // namespace redquel::sql::text_search
