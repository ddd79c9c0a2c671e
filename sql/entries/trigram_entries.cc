// Entries of texts in an index of gin_trgm_ops: their trigrams.

#include "sql/ascii.h"
#include "sql/entries/entry_kind.h"
#include "sql/entries/families.h"
#include "sql/extensions/trigrams.h"

namespace redquel::sql {
namespace {

/// A part of a pattern without wildcards.
struct Literal {
  std::string text;
  bool begins_text = false, ends_text = false;
};

std::vector<Literal> literals_of(std::string_view pattern) {
  std::vector<Literal> literals{{.text = {}, .begins_text = true}};
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '%' || pattern[at] == '_') {
      literals.push_back({});
      continue;
    }
    if (pattern[at] == '\\' && at + 1 < pattern.size()) ++at;
    literals.back().text += pattern[at];
  }
  literals.back().ends_text = true;
  return literals;
}

/// Adds the trigrams that each text with this part has. The ends of a word are known where the part, or the text, goes on behind them.
void add_trigrams(const Literal& literal, std::vector<std::string>& found) {
  const std::string_view text = literal.text;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_alphanumeric(text[at])) continue;
    const std::size_t begin = at;
    while (at < text.size() && is_alphanumeric(text[at])) ++at;
    std::string word = begin > 0 || literal.begins_text ? "  " : "";
    word += lower_case(text.substr(begin, at - begin));
    if (at < text.size() || literal.ends_text) word += ' ';
    for (std::size_t i = 0; i + 3 <= word.size(); ++i) found.push_back(word.substr(i, 3));
  }
}

class TrigramEntries final : public EntryKind {
 public:
  Structure::Kind structure() const override { return Structure::Kind::kTrigrams; }
  std::string_view segment() const override { return "%trigrams"; }
  std::string_view name() const override { return "trigram"; }
  bool takes(Type column, std::string_view operator_class) const override { return operator_class == "gin_trgm_ops" && is_text(column.oid); }

  std::vector<std::string> entries(Type, const Datum& value) const override { return trigrams_of(std::get<std::string>(value)); }
  bool answers(EntryOperation operation, Type, Type value) const override {
    return (operation == EntryOperation::kLike || operation == EntryOperation::kILike) && is_text(value.oid);
  }
  EntryQuery query(EntryOperation, Type, const Datum& value) const override {
    std::vector<std::string> trigrams;
    for (const Literal& literal : literals_of(std::get<std::string>(value))) add_trigrams(literal, trigrams);
    std::vector<EntryQuery> queries;
    for (std::string& trigram : in_order(std::move(trigrams))) queries.push_back(one_entry(std::move(trigram)));
    EntryQuery found = queries.empty() ? every_row() : all_of(std::move(queries));
    found.exact = false;
    return found;
  }
};

}  // namespace

const EntryKind& trigram_entries() {
  static const TrigramEntries kind;
  return kind;
}

}  // namespace redquel::sql
