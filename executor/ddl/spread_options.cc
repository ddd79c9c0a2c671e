#include "executor/ddl/spread_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "executor/ddl/indexable.h"
#include "executor/ddl/maintained_parts.h"
#include "executor/storage/version_copies.h"
#include "parser/option_value.h"
#include "sql/catalog/spread_table.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;

namespace {

const ast::Option* find_option(const std::vector<ast::Option>& options, std::string_view name) {
  const auto found = std::ranges::find_if(options, [&](const ast::Option& option) { return option.name_space.empty() && option.name == name; });
  return found == options.end() ? nullptr : &*found;
}

int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// 0: not declared. check_storage_parameters() has checked the number.
int declared_buckets(const std::vector<ast::Option>& options) {
  const ast::Option* option = find_option(options, "buckets");
  return option == nullptr ? 0 : number_in(parser::option_text(*option).value_or(""));
}

/// Returns the first column of the primary key; 0: rows have hidden keys.
std::int16_t first_key_column(const sql::TableDef& table) {
  if (!table.primary_key.empty()) return table.primary_key.front();
  const sql::IndexDef* key = table.primary_key_as_index();
  return key != nullptr ? key->parts.front().column : std::int16_t{0};
}

std::int16_t column_of(const sql::TableDef& table, const ast::Option& option) {
  const std::string name = parser::option_text(option).value_or("");
  const sql::ColumnDef* column = table.find_column(name);
  if (column == nullptr) {
    throw sql::SqlError(sqlstate::kUndefinedColumn, fmt::format("column \"{}\" named in parameter \"bucket_by\" does not exist", name));
  }
  check_indexable(column->type, "btree");
  return column->number;
}

/// Returns the buckets of the parts: evenly spread over those that tables may lie in, from the one of the table's prefix on.
std::vector<int> buckets_of_parts(const sql::TableDef& table, int count) {
  const std::vector<int>& all = placement_buckets();
  const auto first = std::ranges::find(all, sql::bucket_of(table.prefix));
  const std::size_t start = first == all.end() ? 0 : static_cast<std::size_t>(first - all.begin());
  std::vector<int> buckets;
  for (std::size_t number = 0; number < static_cast<std::size_t>(count); ++number) {
    buckets.push_back(all[(start + number * all.size() / static_cast<std::size_t>(count)) % all.size()]);
  }
  return buckets;
}

int default_buckets(const CatalogDraft& draft) {
  const auto& show = draft.session().show;
  return show ? number_in(show("redquel.buckets").value_or("1")) : 1;
}

}  // namespace

bool declares_buckets(const std::vector<ast::Option>& options) { return declared_buckets(options) > 1; }

void set_spread(CatalogDraft& draft, sql::TableDef& table, const std::vector<ast::Option>& options) {
  const ast::Option* written_column = find_option(options, "bucket_by");
  sql::SpreadDef spread;
  spread.buckets = declared_buckets(options);
  spread.by_default = spread.buckets == 0;
  if (spread.by_default && written_column != nullptr) {
    throw sql::SqlError(sqlstate::kInvalidParameterValue, "parameter \"bucket_by\" needs the parameter \"buckets\"");
  }
  if (spread.by_default) spread.buckets = default_buckets(draft);
  spread.names_column = written_column != nullptr;
  spread.column = written_column != nullptr ? column_of(table, *written_column) : first_key_column(table);
  const bool has_parts = sql::uses_cluster() && spread.buckets > 1;
  if (spread.by_default && (!has_parts || sql::obstacle_to_spread(table, spread.column) || sql::is_temporary_schema(table.schema))) return;
  if (has_parts) {
    for (const int bucket : buckets_of_parts(table, spread.buckets)) spread.places.push_back({draft.new_oid(), bucket});
  }
  table.spread = std::move(spread);
  sql::make_parts(table);
  draft.reserve_parts(table);
}

bool change_spread(CatalogDraft& draft, sql::TableDef& table, const std::vector<ast::Option>& options, bool reset) {
  const ast::Option *count = find_option(options, "buckets"), *column = find_option(options, "bucket_by");
  if (count == nullptr && column == nullptr) return false;
  check_not_maintained(table, "another number of buckets");
  sql::SpreadDef spread = table.spread.value_or(sql::SpreadDef{.column = first_key_column(table), .buckets = 1});
  const bool had_places = !spread.places.empty();
  const std::pair before(spread.column, had_places ? spread.buckets : 1);
  spread.by_default = false;
  if (count != nullptr) spread.buckets = reset ? 1 : declared_buckets(options);
  if (column != nullptr) {
    spread.names_column = !reset;
    spread.column = reset ? first_key_column(table) : column_of(table, *column);
  }
  if (spread.buckets <= 1 && spread.names_column && !reset && column != nullptr) {
    throw sql::SqlError(sqlstate::kInvalidParameterValue, "parameter \"bucket_by\" needs the parameter \"buckets\"");
  }
  const bool has_places = sql::uses_cluster() && spread.buckets > 1;
  const bool moves = (had_places || has_places) && before != std::pair(spread.column, has_places ? spread.buckets : 1);
  if (moves) {
    spread.places.clear();
    if (has_places) {
      for (const int bucket : buckets_of_parts(table, spread.buckets)) spread.places.push_back({draft.new_oid(), bucket});
    }
  }
  table.spread = std::move(spread);
  if (reset && table.spread->buckets == 1 && !table.spread->names_column) table.spread.reset();
  sql::settle_spread(table);
  sql::make_parts(table);
  return moves;
}

}  // namespace redquel::executor
