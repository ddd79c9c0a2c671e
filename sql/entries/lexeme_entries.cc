// Entries of tsvector: its lexemes, without positions and weights.

#include "sql/entries/entry_kind.h"
#include "sql/entries/families.h"
#include "sql/text_search/query.h"

namespace redquel::sql {
namespace {

namespace ts = text_search;

EntryQuery rows_of(const ts::Query& query) {
  if (!query) return no_row();
  if (query->kind == ts::QueryNode::Kind::kLexeme) {
    if (query->is_prefix) return every_row();
    EntryQuery found = one_entry(query->text);
    found.exact = query->weights == 0;
    return found;
  }
  switch (query->operation) {
    case ts::Operator::kAnd: return all_of({rows_of(query->left), rows_of(query->right)});
    case ts::Operator::kOr: return any_of({rows_of(query->left), rows_of(query->right)});
    case ts::Operator::kPhrase: {
      EntryQuery found = all_of({rows_of(query->left), rows_of(query->right)});
      found.exact = false;
      return found;
    }
    case ts::Operator::kNot: break;  // rows without an entry are in no set
  }
  return every_row();
}

class LexemeEntries final : public EntryKind {
 public:
  Structure::Kind structure() const override { return Structure::Kind::kLexemes; }
  std::string_view segment() const override { return "%lexemes"; }
  std::string_view name() const override { return "lexeme"; }
  bool takes(Type column, std::string_view operator_class) const override { return operator_class.empty() && column.oid == oid::kTsvector; }

  std::vector<std::string> entries(Type, const Datum& value) const override {
    std::vector<std::string> found;
    for (ts::Lexeme& lexeme : ts::parse_vector(std::get<std::string>(value))) found.push_back(std::move(lexeme.text));
    return in_order(std::move(found));
  }
  bool answers(EntryOperation operation, Type, Type value) const override {
    return operation == EntryOperation::kMatches && value.oid == oid::kTsquery;
  }
  EntryQuery query(EntryOperation, Type, const Datum& value) const override { return rows_of(ts::parse_query(std::get<std::string>(value))); }
};

}  // namespace

const EntryKind& lexeme_entries() {
  static const LexemeEntries kind;
  return kind;
}

}  // namespace redquel::sql
