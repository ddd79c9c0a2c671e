#include "sql/text_search/dictionary.h"

#include <libstemmer.h>

#include <algorithm>
#include <new>
#include <unordered_set>

#include "sql/ascii.h"
#include "sql/text_search/stop_words.h"

namespace redquel::sql::text_search {
namespace {

constexpr DictionaryRow kDictionaries[] = {
    {3765, "simple", kSimpleTemplateOid, "", "simple dictionary: just lower case and check for stopword"},
    {13151, "arabic_stem", kSnowballTemplateOid, "language = 'arabic'", "snowball stemmer for arabic language"},
    {13153, "armenian_stem", kSnowballTemplateOid, "language = 'armenian'", "snowball stemmer for armenian language"},
    {13155, "basque_stem", kSnowballTemplateOid, "language = 'basque'", "snowball stemmer for basque language"},
    {13157, "catalan_stem", kSnowballTemplateOid, "language = 'catalan'", "snowball stemmer for catalan language"},
    {13159, "danish_stem", kSnowballTemplateOid, "language = 'danish', stopwords = 'danish'",
     "snowball stemmer for danish language"},
    {13161, "dutch_stem", kSnowballTemplateOid, "language = 'dutch', stopwords = 'dutch'",
     "snowball stemmer for dutch language"},
    {13163, "english_stem", kSnowballTemplateOid, "language = 'english', stopwords = 'english'",
     "snowball stemmer for english language"},
    {13165, "finnish_stem", kSnowballTemplateOid, "language = 'finnish', stopwords = 'finnish'",
     "snowball stemmer for finnish language"},
    {13167, "french_stem", kSnowballTemplateOid, "language = 'french', stopwords = 'french'",
     "snowball stemmer for french language"},
    {13169, "german_stem", kSnowballTemplateOid, "language = 'german', stopwords = 'german'",
     "snowball stemmer for german language"},
    {13171, "greek_stem", kSnowballTemplateOid, "language = 'greek'", "snowball stemmer for greek language"},
    {13173, "hindi_stem", kSnowballTemplateOid, "language = 'hindi'", "snowball stemmer for hindi language"},
    {13175, "hungarian_stem", kSnowballTemplateOid, "language = 'hungarian', stopwords = 'hungarian'",
     "snowball stemmer for hungarian language"},
    {13177, "indonesian_stem", kSnowballTemplateOid, "language = 'indonesian'",
     "snowball stemmer for indonesian language"},
    {13179, "irish_stem", kSnowballTemplateOid, "language = 'irish'", "snowball stemmer for irish language"},
    {13181, "italian_stem", kSnowballTemplateOid, "language = 'italian', stopwords = 'italian'",
     "snowball stemmer for italian language"},
    {13183, "lithuanian_stem", kSnowballTemplateOid, "language = 'lithuanian'",
     "snowball stemmer for lithuanian language"},
    {13185, "nepali_stem", kSnowballTemplateOid, "language = 'nepali', stopwords = 'nepali'",
     "snowball stemmer for nepali language"},
    {13187, "norwegian_stem", kSnowballTemplateOid, "language = 'norwegian', stopwords = 'norwegian'",
     "snowball stemmer for norwegian language"},
    {13189, "portuguese_stem", kSnowballTemplateOid, "language = 'portuguese', stopwords = 'portuguese'",
     "snowball stemmer for portuguese language"},
    {13191, "romanian_stem", kSnowballTemplateOid, "language = 'romanian'", "snowball stemmer for romanian language"},
    {13193, "russian_stem", kSnowballTemplateOid, "language = 'russian', stopwords = 'russian'",
     "snowball stemmer for russian language"},
    {13195, "serbian_stem", kSnowballTemplateOid, "language = 'serbian'", "snowball stemmer for serbian language"},
    {13197, "spanish_stem", kSnowballTemplateOid, "language = 'spanish', stopwords = 'spanish'",
     "snowball stemmer for spanish language"},
    {13199, "swedish_stem", kSnowballTemplateOid, "language = 'swedish', stopwords = 'swedish'",
     "snowball stemmer for swedish language"},
    {13201, "tamil_stem", kSnowballTemplateOid, "language = 'tamil'", "snowball stemmer for tamil language"},
    {13203, "turkish_stem", kSnowballTemplateOid, "language = 'turkish', stopwords = 'turkish'",
     "snowball stemmer for turkish language"},
    {13205, "yiddish_stem", kSnowballTemplateOid, "language = 'yiddish'", "snowball stemmer for yiddish language"},
};

constexpr ConfigurationRow kConfigurations[] = {
    {3748, "simple", "simple", "simple", "simple configuration"},
    {13152, "arabic", "arabic_stem", "arabic_stem", "configuration for arabic language"},
    {13154, "armenian", "armenian_stem", "armenian_stem", "configuration for armenian language"},
    {13156, "basque", "basque_stem", "basque_stem", "configuration for basque language"},
    {13158, "catalan", "catalan_stem", "catalan_stem", "configuration for catalan language"},
    {13160, "danish", "danish_stem", "danish_stem", "configuration for danish language"},
    {13162, "dutch", "dutch_stem", "dutch_stem", "configuration for dutch language"},
    {13164, "english", "english_stem", "english_stem", "configuration for english language"},
    {13166, "finnish", "finnish_stem", "finnish_stem", "configuration for finnish language"},
    {13168, "french", "french_stem", "french_stem", "configuration for french language"},
    {13170, "german", "german_stem", "german_stem", "configuration for german language"},
    {13172, "greek", "greek_stem", "greek_stem", "configuration for greek language"},
    {13174, "hindi", "hindi_stem", "english_stem", "configuration for hindi language"},
    {13176, "hungarian", "hungarian_stem", "hungarian_stem", "configuration for hungarian language"},
    {13178, "indonesian", "indonesian_stem", "indonesian_stem", "configuration for indonesian language"},
    {13180, "irish", "irish_stem", "irish_stem", "configuration for irish language"},
    {13182, "italian", "italian_stem", "italian_stem", "configuration for italian language"},
    {13184, "lithuanian", "lithuanian_stem", "lithuanian_stem", "configuration for lithuanian language"},
    {13186, "nepali", "nepali_stem", "nepali_stem", "configuration for nepali language"},
    {13188, "norwegian", "norwegian_stem", "norwegian_stem", "configuration for norwegian language"},
    {13190, "portuguese", "portuguese_stem", "portuguese_stem", "configuration for portuguese language"},
    {13192, "romanian", "romanian_stem", "romanian_stem", "configuration for romanian language"},
    {13194, "russian", "russian_stem", "english_stem", "configuration for russian language"},
    {13196, "serbian", "serbian_stem", "serbian_stem", "configuration for serbian language"},
    {13198, "spanish", "spanish_stem", "spanish_stem", "configuration for spanish language"},
    {13200, "swedish", "swedish_stem", "swedish_stem", "configuration for swedish language"},
    {13202, "tamil", "tamil_stem", "tamil_stem", "configuration for tamil language"},
    {13204, "turkish", "turkish_stem", "turkish_stem", "configuration for turkish language"},
    {13206, "yiddish", "yiddish_stem", "yiddish_stem", "configuration for yiddish language"},
};

constexpr std::string_view kStemSuffix = "_stem";

/// Longer words reach no stemmer, as in PostgreSQL.
constexpr std::size_t kLongestStemmedWord = 1000;

/// The dictionary "simple": words in lower case. In locale C, only ASCII letters have a lower case.
class SimpleDictionary final : public Dictionary {
 public:
  std::optional<std::vector<std::string>> lexemes(std::string_view word) const override {
    if (word.empty()) return std::vector<std::string>();
    return std::vector{lower_case(word)};
  }
};

struct StemmerDeleter {
  void operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }
};
using Stemmer = std::unique_ptr<sb_stemmer, StemmerDeleter>;

/// A dictionary of the template "snowball": words in lower case without stop words, reduced to their stems by
/// libstemmer.
class SnowballDictionary final : public Dictionary {
 public:
  /// `place` is the dictionary's place in kDictionaries.
  SnowballDictionary(std::size_t place, std::string_view language) : place_(place), language_(language) {
    for (const StopWordList& list : stop_word_lists()) {
      if (list.language == language) add_stop_words(list.lines);
    }
  }

  std::optional<std::vector<std::string>> lexemes(std::string_view word) const override {
    std::string lower = lower_case(word);
    if (lower.size() > kLongestStemmedWord) return std::vector{std::move(lower)};
    if (lower.empty() || stop_words_.contains(lower)) return std::vector<std::string>();
    sb_stemmer* const stemmer = thread_stemmer();
    const sb_symbol* const stem =
        sb_stemmer_stem(stemmer, reinterpret_cast<const sb_symbol*>(lower.data()), static_cast<int>(lower.size()));
    if (stem == nullptr) throw std::bad_alloc();
    // A word of which nothing is left keeps its form.
    if (const int size = sb_stemmer_length(stemmer); size > 0) {
      lower.assign(reinterpret_cast<const char*>(stem), static_cast<std::size_t>(size));
    }
    return std::vector{std::move(lower)};
  }

 private:
  void add_stop_words(std::string_view lines) {
    while (!lines.empty()) {
      const std::string_view line = lines.substr(0, lines.find('\n'));
      if (!line.empty()) stop_words_.insert(line);
      lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    }
  }

  /// Returns the stemmer of this thread: a stemmer changes while it works.
  sb_stemmer* thread_stemmer() const {
    thread_local Stemmer stemmers[std::size(kDictionaries)];
    Stemmer& stemmer = stemmers[place_];
    if (!stemmer) stemmer.reset(sb_stemmer_new(language_.c_str(), nullptr));
    if (!stemmer) throw std::bad_alloc();
    return stemmer.get();
  }

  std::size_t place_;
  std::string language_;
  std::unordered_set<std::string_view> stop_words_;
};

std::shared_ptr<const Dictionary> make_dictionary(std::size_t place) {
  const DictionaryRow& row = kDictionaries[place];
  if (row.template_oid == kSimpleTemplateOid) return std::make_shared<SimpleDictionary>();
  return std::make_shared<SnowballDictionary>(place, row.name.substr(0, row.name.size() - kStemSuffix.size()));
}

const DictionaryRow* find_row(std::string_view name) {
  const auto* const row = std::ranges::find(kDictionaries, name, &DictionaryRow::name);
  return row == std::end(kDictionaries) ? nullptr : row;
}

}  // namespace

std::span<const DictionaryRow> built_in_dictionaries() { return kDictionaries; }

std::span<const ConfigurationRow> built_in_configurations() { return kConfigurations; }

const DictionaryRow* dictionary_row_for(const ConfigurationRow& configuration, TokenKind kind) {
  switch (kind) {
    case TokenKind::kAsciiWord:
    case TokenKind::kAsciiHword:
    case TokenKind::kHwordAsciiPart:
      return find_row(configuration.ascii_dictionary);
    case TokenKind::kWord:
    case TokenKind::kHword:
    case TokenKind::kHwordPart:
      return find_row(configuration.dictionary);
    case TokenKind::kBlank:
    case TokenKind::kTag:
    case TokenKind::kProtocol:
    case TokenKind::kEntity:
      return nullptr;
    default:
      return find_row("simple");
  }
}

std::shared_ptr<const Dictionary> built_in_dictionary(std::string_view name) {
  static const auto kMade = [] {
    std::vector<std::shared_ptr<const Dictionary>> made;
    for (std::size_t place = 0; place < std::size(kDictionaries); ++place) made.push_back(make_dictionary(place));
    return made;
  }();
  const DictionaryRow* const row = find_row(name);
  return row == nullptr ? nullptr : kMade[static_cast<std::size_t>(row - kDictionaries)];
}

std::shared_ptr<const Dictionary> dictionary_for(const ConfigurationRow& configuration, TokenKind kind) {
  const DictionaryRow* const row = dictionary_row_for(configuration, kind);
  return row == nullptr ? nullptr : built_in_dictionary(row->name);
}

}  // namespace redquel::sql::text_search
