// Functions in FROM that take catalog columns apart.

#include "sql/catalog/catalog.h"
#include "sql/functions/families.h"
#include "sql/types/array_value.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

class TextRows final : public RowSource {
 public:
  TextRows(std::size_t columns, std::vector<std::vector<std::optional<std::string>>> rows) : columns_(columns), rows_(std::move(rows)) {}

  Batch next(std::size_t limit) override {
    std::vector<Column> columns(columns_, Column(kText));
    Batch batch;
    for (; next_ < rows_.size() && batch.rows < limit; ++next_, ++batch.rows) {
      for (std::size_t i = 0; i < columns_; ++i) {
        const std::optional<std::string>& value = rows_[next_][i];
        value ? columns[i].append(std::string_view(*value)) : columns[i].append_null();
      }
    }
    for (Column& column : columns) batch.columns.push_back(std::make_shared<const Column>(std::move(column)));
    return batch;
  }

 private:
  std::size_t columns_, next_ = 0;
  std::vector<std::vector<std::optional<std::string>>> rows_;
};

/// {name=value,flag}: what reloptions and the like hold.
std::unique_ptr<RowSource> open_options(std::span<const Datum> arguments, const EvaluationContext&) {
  std::vector<std::vector<std::optional<std::string>>> rows;
  if (const auto* text = std::get_if<std::string>(&arguments[0])) {
    const ArrayValue options = read_array(oid::kTextArray, *text);
    for (std::size_t i = 0; i < options.elements.size(); ++i) {
      if (!options.elements[i]) continue;
      const std::string option(*options.elements[i]);
      const std::size_t equals = option.find('=');
      if (equals == std::string::npos) {
        rows.push_back({option, std::nullopt});
      } else {
        rows.push_back({option.substr(0, equals), option.substr(equals + 1)});
      }
    }
  }
  return std::make_unique<TextRows>(2, std::move(rows));
}

/// Rows that are made at once.
class MadeRows final : public RowSource {
 public:
  explicit MadeRows(std::vector<std::shared_ptr<Column>> columns) : columns_(std::move(columns)) {}
  Batch next(std::size_t) override {
    Batch batch{.rows = columns_.front()->size(), .columns = {}};
    for (std::shared_ptr<Column>& column : columns_) batch.columns.push_back(std::exchange(column, std::make_shared<Column>(column->type())));
    return batch;
  }

 private:
  std::vector<std::shared_ptr<Column>> columns_;
};

const TableDef* partition_or_root(const EvaluationContext& context, const Datum& relation) {
  if (is_null(relation)) return nullptr;
  const CatalogSnapshot::TablePtr* table = context.catalog->tables.get(static_cast<Oid>(std::get<std::int32_t>(relation)));
  return table != nullptr && ((*table)->partition_key || (*table)->partition) ? table->get() : nullptr;
}

Datum oid_datum(Oid oid) { return static_cast<std::int32_t>(oid); }

void add_tree(const CatalogSnapshot& catalog, const TableDef& table, int level, const Datum& parent, std::vector<std::shared_ptr<Column>>& columns) {
  columns[0]->append_datum(oid_datum(table.oid));
  columns[1]->append_datum(parent);
  columns[2]->append_datum(!table.partition_key.has_value());
  columns[3]->append_datum(std::int32_t{level});
  for (const auto& below : catalog.partitions_of(table.oid)) add_tree(catalog, *below, level + 1, oid_datum(table.oid), columns);
}

std::unique_ptr<RowSource> open_partition_tree(std::span<const Datum> arguments, const EvaluationContext& context) {
  std::vector<std::shared_ptr<Column>> columns;
  for (const Type type : {Type{oid::kRegclass}, Type{oid::kRegclass}, kBool, kInt4}) columns.push_back(std::make_shared<Column>(type));
  if (const TableDef* table = partition_or_root(context, arguments[0])) {
    add_tree(*context.catalog, *table, 0, table->partition ? oid_datum(table->partition->parent) : Datum{}, columns);
  }
  return std::make_unique<MadeRows>(std::move(columns));
}

std::unique_ptr<RowSource> open_partition_ancestors(std::span<const Datum> arguments, const EvaluationContext& context) {
  std::vector<std::shared_ptr<Column>> columns{std::make_shared<Column>(Type{oid::kRegclass})};
  const TableDef* table = partition_or_root(context, arguments[0]);
  while (table != nullptr) {
    columns[0]->append_datum(oid_datum(table->oid));
    const CatalogSnapshot::TablePtr* above = table->partition ? context.catalog->tables.get(table->partition->parent) : nullptr;
    table = above != nullptr ? above->get() : nullptr;
  }
  return std::make_unique<MadeRows>(std::move(columns));
}

}  // namespace

std::vector<TableFunction> catalog_rows() {
  constexpr Oid text = oid::kText, relation = oid::kRegclass;
  return {
      {"pg_options_to_table", {oid::kTextArray}, {{"option_name", text}, {"option_value", text}}, open_options},
      {"pg_partition_tree",
       {relation},
       {{"relid", relation}, {"parentrelid", relation}, {"isleaf", oid::kBool}, {"level", oid::kInt4}},
       open_partition_tree},
      {"pg_partition_ancestors", {relation}, {{"relid", relation}}, open_partition_ancestors},
  };
}

}  // namespace redquel::sql
