#include "executor/tables/engine_functions.h"

#include <algorithm>
#include <iterator>

#include "executor/memory/table_memory.h"
#include "executor/storage/index_checker.h"
#include "executor/tables/memory_by_prefix.h"
#include "executor/tables/ordinality.h"
#include "executor/tables/structure_check.h"
#include "parser/parse.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/spread_table.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

/// `emp`, `sys.emp` or `"My table"` as a table of the search path. 42P01.
std::shared_ptr<const sql::TableDef> find_table(const std::string& written, const ExecutionContext& context) {
  parser::ast::TypeName name = parser::parse_type_name(written);  // qualified names are spelled alike
  const auto& path = context.evaluation().search_path;
  std::string schema = name.names.size() > 1 ? name.names[name.names.size() - 2] : "";
  auto table = context.catalog()->find_table(schema, name.names.back(), path);
  if (!table) throw sql::undefined_relation(written);
  return table;
}

/// Every index entry of a table that does not fit its row.
class CheckIndexes final : public Operator {
 public:
  CheckIndexes(const planner::PhysicalFunctionScan& plan, ExecutionContext& context) : plan_(plan), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (done_) co_return std::nullopt;
    done_ = true;
    sql::Datum argument = sql::evaluate_scalar(*plan_.calls[0].arguments[0], context_.evaluation());
    if (sql::is_null(argument)) co_return std::nullopt;
    auto table = find_table(std::get<std::string>(argument), context_);
    const sql::Overloaded check{
        [&](const sql::ManagedRows&) { return differences_of(table); },
        [&](const sql::MappedRows&) { return check_structures(table); },
    };
    const std::vector<IndexDifference> differences = co_await std::visit(check, table->storage);
    if (differences.empty()) co_return std::nullopt;
    std::vector<std::shared_ptr<sql::Column>> columns;
    for (int i = 0; i < 5; ++i) columns.push_back(std::make_shared<sql::Column>(sql::kText));
    auto append = [](sql::Column& column, const std::optional<std::string>& text) {
      if (text) column.append<std::string_view>(*text);
      else column.append_null();
    };
    for (const IndexDifference& difference : differences) {
      append(*columns[0], difference.structure);
      append(*columns[1], difference.key);
      append(*columns[2], difference.id);
      append(*columns[3], difference.stored);
      append(*columns[4], difference.expected);
    }
    sql::Batch batch;
    batch.rows = differences.size();
    batch.columns.assign(columns.begin(), columns.end());
    if (plan_.with_ordinality) append_ordinality(batch);
    co_return batch;
  }

 private:
  asio::awaitable<std::vector<IndexDifference>> differences_of(std::shared_ptr<const sql::TableDef> table) {
    std::vector<IndexDifference> all;
    for (const auto& stored : sql::stored_tables(table)) {
      std::vector<IndexDifference> found = co_await check_indexes(context_.redis(), context_.catalog(), stored);
      std::ranges::move(found, std::back_inserter(all));
    }
    co_return all;
  }

  asio::awaitable<std::vector<IndexDifference>> check_structures(std::shared_ptr<const sql::TableDef> table) {
    std::set<sql::Oid> indexes;
    for (const sql::IndexDef& index : table->indexes) indexes.insert(index.oid);
    StructureCheck check{context_.redis(), *context_.access, context_.database, context_.catalog(), std::move(table), std::move(indexes), true};
    StructureReport report = co_await compare_structures(std::move(check));
    co_return std::move(report.differences);
  }

  const planner::PhysicalFunctionScan& plan_;
  ExecutionContext& context_;
  bool done_ = false;
};

/// The tables that redquel keeps in memory, or would like to.
class CachedTables final : public Operator {
 public:
  CachedTables(const planner::PhysicalFunctionScan& plan, ExecutionContext& context) : plan_(plan), context_(context) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    if (std::exchange(done_, true)) co_return std::nullopt;
    if (context_.table_memory == nullptr && sql::uses_cluster() && context_.notice) {
      context_.notice(sql::SqlError(sqlstate::kSuccessfulCompletion, "tables are not kept in memory: a cluster does not report the changes of its keys"));
    }
    if (context_.table_memory == nullptr) co_return std::nullopt;
    std::vector<std::shared_ptr<sql::Column>> columns;
    for (const bool is_text : {true, true, true, false, false, false, false, false, false, false, true}) {
      columns.push_back(std::make_shared<sql::Column>(is_text ? sql::kText : sql::kInt8));
    }
    sql::Batch batch;
    context_.table_memory->forget_dropped(context_.database, *context_.catalog());
    for (const TableCopyPtr& copy : context_.table_memory->copies(context_.database)) {
      const TableCopy::Statistics statistics = copy->statistics();
      std::string names;
      for (const std::int16_t number : statistics.columns) {
        const sql::ColumnDef* column = number == 0 ? nullptr : copy->table().find_column(number);
        if (column != nullptr) names += (names.empty() ? "" : ", ") + column->name;
      }
      columns[0]->append<std::string_view>(copy->table().schema);
      columns[1]->append<std::string_view>(copy->table().name);
      columns[2]->append<std::string_view>(names);
      std::size_t place = 3;
      for (const std::size_t number : {statistics.rows, statistics.bytes, statistics.changes, static_cast<std::size_t>(statistics.hits),
                                       static_cast<std::size_t>(statistics.misses), static_cast<std::size_t>(statistics.rounds),
                                       static_cast<std::size_t>(statistics.rows_read_again)}) {
        columns[place++]->append(static_cast<std::int64_t>(number));
      }
      columns[place]->append<std::string_view>(statistics.state);
      ++batch.rows;
    }
    if (batch.rows == 0) co_return std::nullopt;
    batch.columns.assign(columns.begin(), columns.end());
    if (plan_.with_ordinality) append_ordinality(batch);
    co_return batch;
  }

 private:
  const planner::PhysicalFunctionScan& plan_;
  ExecutionContext& context_;
  bool done_ = false;
};

}  // namespace

OperatorPtr make_engine_function(const planner::PhysicalFunctionScan& plan, ExecutionContext& context) {
  const std::string_view name = plan.calls[0].function->name;
  if (name == "redquel.check_indexes") return std::make_unique<CheckIndexes>(plan, context);
  if (name == "redquel.cached_tables") return std::make_unique<CachedTables>(plan, context);
  if (name == "redis.memory_by_prefix") return make_memory_by_prefix(plan, context);
  throw sql::not_supported("function " + std::string(name));
}

}  // namespace redquel::executor
