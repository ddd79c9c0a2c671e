#include "executor/ddl/table_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <numeric>
#include <optional>

#include "executor/ddl/table_alteration.h"
#include "executor/storage/constraint_errors.h"
#include "executor/storage/sequences.h"
#include "executor/storage/table_walk.h"
#include "executor/storage/unseen_rows.h"
#include "executor/storage/write_unit.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/domain.h"
#include "sql/error.h"
#include "sql/expressions/coerce.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/datetime.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

using Row = std::vector<sql::Datum>;

sql::EvaluationContext evaluation_context(const SessionState& session, const sql::CatalogSnapshot& catalog) {
  sql::EvaluationContext context;
  context.settings = &session.settings;
  context.transaction_timestamp = context.statement_timestamp = sql::current_timestamp();
  context.user = session.user;
  context.database = session.database;
  context.search_path = session.search_path;
  context.catalog = &catalog;
  return context;
}

std::vector<planner::ColumnId> positions(const sql::TableDef& table) {
  std::vector<planner::ColumnId> ids(table.columns.size());
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

SqlError cannot_convert(const ColumnRewrite& rewrite, const sql::ColumnDef& column) {
  const std::string type = sql::format_type(sql::Type{column.type.oid});
  if (rewrite.using_value != nullptr) {
    return SqlError("42804", fmt::format("result of USING clause for column \"{}\" cannot be cast automatically to type {}",
                                         column.name, type))
        .hint("You might need to add an explicit cast.");
  }
  return SqlError("42804", fmt::format("column \"{}\" cannot be cast automatically to type {}", column.name, type))
      .hint(fmt::format("You might need to specify \"USING {}::{}\".", column.name, sql::format_type(column.type)));
}

}  // namespace

sql::ExpressionPtr converted_column(const sql::TableDef& before, const sql::ColumnDef& column, const ColumnRewrite& rewrite,
                                    const sql::CatalogSnapshot& catalog, const planner::BindSettings& settings) {
  const auto ids = positions(before);
  const sql::ColumnDef* old = before.find_column(column.number);
  sql::ExpressionPtr value = rewrite.using_value != nullptr
                                 ? planner::bind_column_expression(*rewrite.using_value, before, ids, catalog, settings)
                                 : sql::make_column(old->type, ids[before.position(old->number)], old->name);
  sql::ExpressionPtr converted = sql::try_coerce(value, column.type, sql::CastContext::kAssignment, settings.session);
  if (!converted) throw cannot_convert(rewrite, column);
  return column.domain != 0 ? planner::into_domain(catalog, settings, converted, column.domain) : converted;
}

namespace {

/// Where the value of one column of a rewritten row comes from.
struct Source {
  std::optional<std::size_t> copied;  // position in the old row
  sql::ExpressionPtr over_old;        // over the old row; also defaults, which read no column
  sql::ExpressionPtr over_new;        // generated columns
  const sql::SequenceDef* sequence = nullptr;
};

/// Makes the new rows of the old ones, and checks them.
class RowConverter {
 public:
  RowConverter(const SessionState& session, const sql::CatalogSnapshot& catalog, TablePtr before, TablePtr after,
               const std::vector<ColumnRewrite>& rewrites)
      : before_(std::move(before)), after_(std::move(after)), evaluation_(evaluation_context(session, catalog)) {
    const planner::BindSettings settings = bind_settings(session);
    for (const sql::ColumnDef& column : after_->columns) sources_.push_back(source_of(column, rewrites, catalog, settings));
    for (const sql::CheckDef& check : after_->checks) {
      const ast::ExpressionPtr written = parser::parse_expression(check.expression_sql);
      checks_.push_back({check.name, planner::bind_check(*written, *after_, positions(*after_), catalog, settings, true)});
    }
  }

  asio::awaitable<std::vector<Row>> convert(RedisClient& client, const sql::Batch& page) {
    sql::Batch batch{.rows = page.rows, .columns = {}};
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Source& source = sources_[i];
      if (source.copied) {
        batch.columns.push_back(page.columns[*source.copied]);
      } else if (source.sequence != nullptr) {
        const std::vector<std::int64_t> values = co_await allocate(client, *source.sequence, page.rows);
        batch.columns.push_back(numbers(values, after_->columns[i].type));
      } else if (source.over_old) {
        batch.columns.push_back(sql::evaluate(*source.over_old, page, evaluation_));
      } else {
        batch.columns.push_back(std::make_shared<const sql::Column>(sql::Column::constant(after_->columns[i].type, {}, page.rows)));
      }
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i].over_new) batch.columns[i] = sql::evaluate(*sources_[i].over_new, batch, evaluation_);
    }
    check(batch);
    std::vector<Row> rows = decode_rows(batch);
    if (after_->has_hidden_key()) {
      const std::vector<std::int64_t> keys = co_await allocate_row_keys(client, *after_, rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i].emplace_back(keys[i]);
    }
    co_return rows;
  }

 private:
  struct Check {
    std::string name;
    sql::ExpressionPtr condition;
  };

  Source source_of(const sql::ColumnDef& column, const std::vector<ColumnRewrite>& rewrites, const sql::CatalogSnapshot& catalog,
                   const planner::BindSettings& settings) const {
    Source source;
    const auto rewrite = std::ranges::find(rewrites, column.number, &ColumnRewrite::column);
    const sql::ColumnDef* old = before_->find_column(column.number);
    if (!column.generated_sql.empty()) {
      const ast::ExpressionPtr written = parser::parse_expression(column.generated_sql);
      source.over_new = planner::bind_generation(*written, *after_, column, positions(*after_), catalog, settings, true);
    } else if (rewrite != rewrites.end() && old != nullptr) {
      source.over_old = converted_column(*before_, column, *rewrite, catalog, settings);
    } else if (old != nullptr) {
      source.copied = before_->position(column.number);
    } else if (column.sequence != 0) {
      source.sequence = &catalog.sequences.at(column.sequence);
    } else if (!column.default_sql.empty()) {
      const ast::ExpressionPtr written = parser::parse_expression(column.default_sql);
      source.over_old = planner::bind_default(*written, *after_, column, catalog, settings, true);
    }
    return source;
  }

  static sql::ColumnPtr numbers(const std::vector<std::int64_t>& values, sql::Type type) {
    auto column = std::make_shared<sql::Column>(type);
    for (std::int64_t value : values) {
      if (type.oid == sql::oid::kInt2) {
        column->append(static_cast<std::int16_t>(value));
      } else if (type.oid == sql::oid::kInt4) {
        column->append(static_cast<std::int32_t>(value));
      } else {
        column->append(value);
      }
    }
    return column;
  }

  void check(const sql::Batch& batch) const {
    for (std::size_t i = 0; i < after_->columns.size(); ++i) {
      const sql::ColumnDef& column = after_->columns[i];
      if (after_->is_nullable(column)) continue;
      for (std::size_t row = 0; row < batch.rows; ++row) {
        if (!batch.columns[i]->is_null(row)) continue;
        throw SqlError("23502", fmt::format("column \"{}\" of relation \"{}\" contains null values", column.name, after_->name))
            .schema(after_->schema)
            .table(after_->name)
            .column(column.name);
      }
    }
    for (const Check& check : checks_) {
      const sql::ColumnPtr result = sql::evaluate(*check.condition, batch, evaluation_);
      for (std::size_t row = 0; row < batch.rows; ++row) {
        if (result->is_null(row) || result->get<bool>(row)) continue;
        throw SqlError("23514", fmt::format("check constraint \"{}\" of relation \"{}\" is violated by some row", check.name, after_->name))
            .schema(after_->schema)
            .table(after_->name)
            .constraint(check.name);
      }
    }
  }

  TablePtr before_, after_;
  sql::EvaluationContext evaluation_;
  std::vector<Source> sources_;
  std::vector<Check> checks_;
};

/// A key that two rows share is told as of an index that cannot be built.
SqlError as_build_error(const SqlError& error, const sql::TableDef& table) {
  if (error.sqlstate() != "23505") return error;
  std::string detail = error.detail();
  if (const std::size_t end = detail.rfind(" already exists."); end != std::string::npos) detail.replace(end, std::string::npos, " is duplicated.");
  const std::string& message = error.message();
  const std::size_t quote = message.find('"');
  SqlError failure("23505", "could not create unique index " + (quote == std::string::npos ? "" : message.substr(quote)));
  return std::move(failure).detail(detail).schema(table.schema).table(table.name).constraint(error.constraint());
}

/// The altered definition, as if the table were empty, under the new prefix.
sql::TableDef alter(CatalogDraft& draft, const ast::AlterTable& statement, const TablePtr& table, const std::string& prefix,
                    std::vector<ColumnRewrite>& rewrites) {
  TableAlteration alteration(draft, table, /*is_empty=*/true);
  alteration.apply(statement.commands);
  rewrites = alteration.rewrites();
  sql::TableDef altered = alteration.result();
  altered.stores_key = false;
  altered.presence.reset();
  altered.used_fields.clear();
  for (sql::ColumnDef& column : altered.columns) column.missing.reset();
  choose_presence(altered);
  altered.prefix = prefix;
  return altered;
}

constexpr std::size_t kPageRows = 1000;

asio::awaitable<void> copy_pages(DdlContext& context, const TablePtr& before, const TablePtr& after, RowConverter& converter,
                                 UnseenRows& written) {
  TableWalk walk(before, kPageRows);
  while (auto page = co_await walk.next_of_many(context.bulk)) {
    if (page->rows == 0) continue;
    const std::vector<Row> rows = co_await converter.convert(context.redis, *page);
    WriteOptions options{.settings = context.session.settings};
    options.ahead_of_commit = true;
    auto unit = std::make_unique<WriteUnit>(std::move(options));
    for (const Row& row : rows) unit->insert_row(after, row);
    if (UnseenRows::may_take(*after)) {
      UnseenRows::Written nothing;
      co_await written.write(std::move(unit), std::move(nothing));
    } else if (co_await unit->execute(context.bulk) != WriteStatus::kApplied) {
      throw SqlError("40001", "could not alter table due to concurrent changes");
    }
  }
  co_await written.flush();
}

/// When this returns or throws, nothing is on its way any more.
asio::awaitable<void> copy_rows(DdlContext& context, const TablePtr& before, const TablePtr& after, RowConverter& converter) {
  UnseenRows written(context.bulk);
  std::exception_ptr failure;
  try {
    co_await copy_pages(context, before, after, converter, written);
  } catch (...) {
    failure = std::current_exception();
  }
  if (!failure) co_return;
  co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
  co_await written.settle();
  std::rethrow_exception(failure);
}

/// The sequences of the table's columns keep their counters under the new prefix.
void move_sequences(CatalogDraft& draft, const sql::TableDef& before, const std::string& prefix) {
  const std::map<sql::Oid, sql::SequenceDef> sequences = draft.catalog().sequences;
  for (auto [oid, sequence] : sequences) {
    if (sequence.owner_table != before.oid || !sequence.key.starts_with(before.prefix + ":")) continue;
    const std::string key = prefix + sequence.key.substr(before.prefix.size());
    draft.rename_key(sequence.key, key);
    sequence.key = key;
    draft.put(std::move(sequence));
  }
}

}  // namespace

asio::awaitable<bool> try_rewrite_table(DdlContext& context, const ast::AlterTable& statement, TablePtr before) {
  std::string prefix;
  const MakeDraft reserve = [&](CatalogDraft& draft) {
    prefix = draft.reserve_prefix(before->schema, before->name, fmt::format("table {}", before->oid));
  };
  co_await change_catalog(context, reserve);

  const LoadedCatalog loaded = co_await load_catalog(context.redis);
  const TablePtr now = loaded.snapshot->find_table(before->oid);
  bool is_committed = false;
  sql::TableDef shadow = *before;
  shadow.prefix = prefix;
  std::exception_ptr failure;
  if (now && now->version == before->version) {
    try {
      const TableState state = co_await table_state(context.redis, *before);
      CatalogDraft trial(loaded, context.session);
      std::vector<ColumnRewrite> rewrites;
      shadow = alter(trial, statement, now, prefix, rewrites);
      const auto after = std::make_shared<const sql::TableDef>(shadow);
      RowConverter converter(context.session, trial.catalog(), now, after, rewrites);
      co_await copy_rows(context, now, after, converter);
      const MakeDraft make = [&](CatalogDraft& draft) {
        const TablePtr table = draft.catalog().find_table(before->oid);
        is_committed = table && table->version == before->version;
        if (!is_committed) return;
        sql::TableDef altered = alter(draft, statement, table, prefix, rewrites);
        move_sequences(draft, *table, prefix);
        draft.require_unchanged(table->oid, state.change_counter);
        draft.count_change(table->oid);
        draft.remove(removal_of_table(*table));
        draft.put(std::move(altered));
      };
      const bool is_first = co_await try_change_catalog(context, make);
      is_committed = is_committed && is_first;
    } catch (const SqlError& error) {
      failure = std::make_exception_ptr(as_build_error(error, *before));
    } catch (...) {
      failure = std::current_exception();
    }
  }
  if (is_committed && !failure) co_return true;
  const MakeDraft clean = [&](CatalogDraft& draft) { draft.remove(removal_of_table(shadow)); };
  co_await change_catalog(context, clean);
  if (failure) std::rethrow_exception(failure);
  co_return false;
}

}  // namespace redquel::executor
