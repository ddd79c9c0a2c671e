// Functions in FROM that take catalog columns apart.

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

/// No table is partitioned.
class NoRows final : public RowSource {
 public:
  explicit NoRows(std::vector<Type> types) : types_(std::move(types)) {}
  Batch next(std::size_t) override {
    Batch batch;
    for (const Type type : types_) batch.columns.push_back(std::make_shared<const Column>(type));
    return batch;
  }

 private:
  std::vector<Type> types_;
};

std::unique_ptr<RowSource> open_partition_tree(std::span<const Datum>, const EvaluationContext&) {
  return std::make_unique<NoRows>(std::vector<Type>{Type{oid::kRegclass}, Type{oid::kRegclass}, kBool, kInt4});
}
std::unique_ptr<RowSource> open_partition_ancestors(std::span<const Datum>, const EvaluationContext&) {
  return std::make_unique<NoRows>(std::vector<Type>{Type{oid::kRegclass}});
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
