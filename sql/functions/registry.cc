#include <map>
#include <string_view>
#include <unordered_map>

#include "sql/extensions/families.h"
#include "sql/functions/families.h"
#include "sql/functions/function.h"
#include "sql/functions/index_properties.h"
#include "sql/functions/json_families.h"
#include "sql/functions/text_search_functions.h"
#include "sql/functions/lift.h"
#include "sql/functions/range_distance.h"
#include "sql/functions/range_functions.h"
#include "sql/functions/row_functions.h"
#include "sql/functions/deferred_calls.h"
#include "sql/functions/server_number_functions.h"

namespace redquel::sql {
namespace {

template <class Row>
std::vector<Row> joined(std::initializer_list<std::vector<Row>> families) {
  std::vector<Row> rows;
  for (const std::vector<Row>& family : families) rows.insert(rows.end(), family.begin(), family.end());
  return rows;
}

std::vector<ScalarFunction> with_operator_functions(std::initializer_list<std::vector<ScalarFunction>> families) {
  std::vector<ScalarFunction> rows = joined(families);
  const std::vector<ScalarFunction> named = operator_functions(rows);
  rows.insert(rows.end(), named.begin(), named.end());
  return rows;
}

/// A table and its rows by name.
template <class Row>
class NamedTable {
 public:
  explicit NamedTable(std::initializer_list<std::vector<Row>> families) : NamedTable(joined(families)) {}
  explicit NamedTable(std::vector<Row> rows) : rows_(std::move(rows)) {
    for (const Row& row : rows_) by_name_[row.name].push_back(&row);
  }

  std::span<const Row> rows() const { return rows_; }
  std::span<const Row* const> find(std::string_view name) const {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return {};
    return found->second;
  }

 private:
  std::vector<Row> rows_;
  std::unordered_map<std::string_view, std::vector<const Row*>> by_name_;
};

const NamedTable<ScalarFunction>& functions() {
  static const NamedTable<ScalarFunction> table(with_operator_functions({
      comparison_functions(),
      arithmetic_functions(),
      math_functions(),
      string_functions(),
      bytea_functions(),
      pattern_functions(),
      format_functions(),
      regexp_functions(),
      datetime_functions(),
      datetime_arithmetic_functions(),
      to_char_functions(),
      system_functions(),
      catalog_functions(),
      sequence_functions(),
      time_to_live_functions(),
      advisory_lock_functions(),
      redis_functions(),
      array_functions(),
      range_functions(),
      json_access_functions(),
      jsonb_change_functions(),
      json_build_functions(),
      jsonpath_functions(), text_search_functions(), citext_operators(),
      bit_string_functions(),
      network_functions(),
      hardware_address_functions(),
      zoned_time_functions(),
      text_piece_functions(),
      row_functions(),
      enum_functions(),
      privilege_functions(),
      information_functions(),
      geometric_functions(),
      geometric_operators(),
      privilege_checks(),
      size_functions(),
      hash_functions(),
      transition_functions(),
      recovery_functions(),
      setting_flag_functions(),
      three_way_functions(),
      record_image_functions(),
      binary_form_functions(),
      unicode_functions(),
      notification_functions(),
      type_io_functions(),
      in_range_functions(),
      tid_functions(),
      server_number_functions(),
      column_size_functions(),
      money_functions(),
      statistics_functions(),
      object_information_functions(),
      connection_functions(),
      signal_functions(),
      index_properties(),
  }));
  return table;
}

const NamedTable<AggregateFunction>& aggregates() {
  static const NamedTable<AggregateFunction> table({
      number_aggregates(),
      ordered_aggregates(),
      ordered_set_aggregates(),
      text_and_boolean_aggregates(),
      variance_aggregates(),
      array_aggregates(),
      range_aggregates(),
      json_aggregates(),
      bit_string_aggregates(),
      network_aggregates(),
      zoned_time_aggregates(),
      money_aggregates(),
      tid_aggregates(),
      server_number_aggregates(),
  });
  return table;
}

const NamedTable<TableFunction>& table_functions() {
  static const NamedTable<TableFunction> table({series_functions(), array_table_functions(), range_table_functions(),
                                                json_table_functions(), jsonpath_table_functions(), text_search_rows(), text_piece_rows(), json_record_functions(),
                                                catalog_rows(), privilege_rows(), keyword_rows(), zone_rows(), notification_rows(), server_number_rows(),
                                                object_information_rows(),
                                                engine_functions()});
  return table;
}

struct CastTable {
  std::vector<CastFunction> rows;
  std::map<std::pair<Oid, Oid>, const CastFunction*> by_types;
};

const CastTable& casts() {
  static const CastTable table = [] {
    CastTable built;
    for (const std::vector<CastFunction>& family :
         {number_casts(), datetime_casts(), text_casts(), name_casts(), array_casts(), range_casts(), json_casts(),
          bit_string_casts(), network_casts(), zoned_time_casts(), geometric_casts(), money_casts(), server_number_casts()}) {
      built.rows.insert(built.rows.end(), family.begin(), family.end());
    }
    for (const CastFunction& row : built.rows) built.by_types[{row.source, row.target}] = &row;
    return built;
  }();
  return table;
}

}  // namespace

ScalarFunction column_function(std::string_view name, std::initializer_list<Type> arguments, Type result, Kernel kernel,
                               Volatility volatility, bool strict, bool variadic) {
  ScalarFunction function;
  function.name = name;
  for (Type argument : arguments) function.arguments.push_back(argument.oid);
  function.result = result.oid;
  function.kernel = kernel;
  function.volatility = volatility;
  function.strict = strict;
  function.variadic = variadic;
  return function;
}

std::span<const ScalarFunction* const> find_functions(std::string_view name) { return functions().find(name); }
std::span<const AggregateFunction* const> find_aggregates(std::string_view name) { return aggregates().find(name); }
std::span<const TableFunction* const> find_table_functions(std::string_view name) {
  return table_functions().find(name);
}

const CastFunction* find_cast(Oid source, Oid target) {
  const auto found = casts().by_types.find({source, target});
  return found == casts().by_types.end() ? nullptr : found->second;
}

std::span<const AggregateFunction> all_aggregates() { return aggregates().rows(); }
std::span<const TableFunction> all_table_functions() { return table_functions().rows(); }
std::span<const ScalarFunction> all_functions() { return functions().rows(); }
std::span<const CastFunction> all_casts() { return casts().rows; }

}  // namespace redquel::sql
