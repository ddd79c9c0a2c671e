// Entries of arrays: the canonical texts of their elements. NULL has none.

#include "sql/entries/entry_kind.h"
#include "sql/entries/families.h"
#include "sql/types/array_value.h"
#include "sql/types/index_value.h"

namespace redquel::sql {
namespace {

/// Returns true if equal values of both types have one canonical text.
bool are_alike(Oid a, Oid b) { return a == b || (is_integer_type(a) && is_integer_type(b)) || (is_text(a) && is_text(b)); }

struct Elements {
  std::vector<std::string> texts;
  bool has_null = false;
};

Elements elements_of(Type array, const Datum& value) {
  const Type type = element_type_of(array);
  const ArrayValue read = read_array(array.oid, std::get<std::string>(value));
  Elements elements;
  Column column(type);
  for (const std::optional<std::string_view>& element : read.elements) {
    elements.has_null = elements.has_null || !element;
    if (element) append_element(column, element);
  }
  for (std::size_t row = 0; row < column.size(); ++row) elements.texts.push_back(canonical_text(type, column.datum(row)));
  elements.texts = in_order(std::move(elements.texts));
  return elements;
}

class ElementEntries final : public EntryKind {
 public:
  Structure::Kind structure() const override { return Structure::Kind::kElements; }
  std::string_view segment() const override { return "%elements"; }
  std::string_view name() const override { return "element"; }
  bool takes(Type column, std::string_view operator_class) const override {
    return operator_class.empty() && is_array_type(column.oid) && !is_vector_type(column.oid);
  }

  std::vector<std::string> entries(Type column, const Datum& value) const override { return elements_of(column, value).texts; }
  bool answers(EntryOperation operation, Type column, Type value) const override {
    const Oid element = element_type_of(column).oid;
    if (operation == EntryOperation::kHasElement) return are_alike(element, value.oid);
    const bool is_known = operation == EntryOperation::kContains || operation == EntryOperation::kOverlaps;
    return is_known && is_array_type(value.oid) && !is_vector_type(value.oid) && are_alike(element, element_type_of(value).oid);
  }
  bool is_always_exact(EntryOperation operation) const override { return operation != EntryOperation::kContains; }
  EntryQuery query(EntryOperation operation, Type type, const Datum& value) const override {
    if (operation == EntryOperation::kHasElement) return one_entry(canonical_text(type, value));
    Elements elements = elements_of(type, value);
    const bool needs_all = operation == EntryOperation::kContains;
    if (needs_all && elements.has_null) return no_row();  // NULL equals nothing
    std::vector<EntryQuery> queries;
    for (std::string& text : elements.texts) queries.push_back(one_entry(std::move(text)));
    if (!needs_all) return any_of(std::move(queries));
    return queries.empty() ? every_row() : all_of(std::move(queries));
  }
};

}  // namespace

const EntryKind& element_entries() {
  static const ElementEntries kind;
  return kind;
}

}  // namespace redquel::sql
