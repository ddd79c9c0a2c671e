#include "executor/statements/create_table_as.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/default_privileges.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/column_definition.h"
#include "executor/ddl/maintained_parts.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/placement.h"
#include "executor/ddl/spread_options.h"
#include "executor/ddl/storage_parameters.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/temporary.h"
#include "executor/ddl/ttl_options.h"
#include "executor/engine/inner_statements.h"
#include "executor/engine/statement_kind.h"
#include "executor/runtime/failure.h"
#include "executor/runtime/session_context.h"
#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/view_query.h"
#include "sql/catalog/buckets.h"
#include "sql/catalog/prefixes.h"
#include "sql/catalog/row_types.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/value_errors.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

struct Parts {
  const ast::IntoClause* into = nullptr;
  const ast::Select* query = nullptr;
  bool if_not_exists = false;
  bool materialized = false;  // CREATE MATERIALIZED VIEW
  bool maintained = false;    // WITH (maintained)
};

/// 0A000 for what is no query.
Parts parts_of(const Prepared& prepared) {
  const ast::Statement& statement = *prepared.statement;
  if (const auto* select = std::get_if<ast::Select>(&statement.node)) return {&*select->into, select};
  const auto& create = std::get<ast::CreateTableAs>(statement.node);
  const auto* query = std::get_if<ast::Select>(prepared.executed ? &prepared.executed->node : &create.query->node);
  if (query == nullptr) throw sql::not_supported(fmt::format("CREATE TABLE AS {}", parser::command_tag(*create.query)));
  return {&create.into, query, create.if_not_exists, create.materialized_view};
}

class CreateTableAsExecution final : public Execution {
 public:
  CreateTableAsExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session, std::vector<sql::Datum> parameters)
      : engine_(engine), prepared_(std::move(prepared)), session_(session), parameters_(std::move(parameters)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    Parts parts = parts_of(*prepared_);
    if (session_.modes.read_only) {
      const bool is_select = std::holds_alternative<ast::Select>(prepared_->statement->node);
      throw sql::in_read_only_transaction(is_select ? "SELECT INTO" : parts.materialized ? "CREATE MATERIALIZED VIEW" : "CREATE TABLE AS");
    }
    check_options(parts);
    parts.maintained = parts.materialized && declares_maintained(parts.into->options);
    if (makes_temporary(*prepared_->statement)) co_await engine_.open_temporary(session_);
    co_await engine_.reload_catalog();
    const sql::CatalogPtr catalog = co_await engine_.catalog(session_);
    const bool writes = writes_in_with(*parts.query);
    if (writes && parts.materialized) {
      throw SqlError(sqlstate::kFeatureNotSupported, "materialized views must not use data-modifying statements in WITH");
    }
    if (writes) throw sql::not_supported("data-modifying WITH in CREATE TABLE AS");
    if (parts.materialized) tag_ = "CREATE MATERIALIZED VIEW";
    planner::NameUses uses;
    planner::BindSettings settings = bind_settings(session_);
    settings.names = &uses;
    settings.into = true;
    settings.parameters = !prepared_->parameter_types.empty();
    settings.variables = prepared_->variables;
    const planner::BoundStatement bound = planner::bind(*parts.query, *catalog, prepared_->parameter_types, settings);
    const std::string query = parser::to_sql(*parts.query, uses.names_in(*catalog), parser::QueryLayout::kCompact);
    std::optional<sql::ViewDef> view;
    if (parts.materialized) view = view_of(parts, bound.plan->columns.size(), *catalog);

    if (parts.maintained) {
      co_await in_transaction(engine_, session_, make_maintained(parts, bound.plan->columns, *view));
      co_await engine_.reload_catalog();
      co_return std::nullopt;
    }
    DdlContext context{engine_.shared(), engine_.bulk(), session_, engine_.home(), engine_.database()};
    sql::Oid made = 0;
    std::string target;
    const MakeDraft make = [&](CatalogDraft& draft) {
      made = make_table(draft, parts, bound.plan->columns);
      if (made == 0) return;
      if (view && parts.into->with_no_data) set_materialized(draft, made, *view, false);
      const auto table = draft.catalog().find_table(made);
      target = parser::quote_identifier(table->schema) + "." + parser::quote_identifier(table->name);
    };
    co_await change_catalog(context, make);
    co_await engine_.reload_catalog();
    if (made != 0 && parts.into->with_no_data && prepared_->executed) tag_ = "SELECT 0";
    if (made == 0 || parts.into->with_no_data) co_return std::nullopt;
    const auto fill = [&]() -> asio::awaitable<void> {
      std::string insert = "INSERT INTO " + target + " " + query;
      constexpr std::string_view kInserted = "INSERT 0 ";
      std::string inserted;
      if (prepared_->variables) {
        auto statement = parser::parse_statement(insert);
        const sql::CatalogPtr with_table = co_await engine_.catalog(session_);
        PreparedPtr in_routine = engine_.plan_in_routine(std::move(insert), std::move(statement), prepared_->parameter_types, *with_table, session_,
                                                         {nullptr, prepared_->variables});
        std::unique_ptr<Execution> run = engine_.execute(std::move(in_routine), std::move(parameters_), session_);
        inserted = co_await run_to_end(std::move(run));
      } else {
        inserted = co_await run_inner_statement(engine_, session_, std::move(insert), prepared_->parameter_types, std::move(parameters_));
      }
      tag_ = "SELECT " + inserted.substr(kInserted.size());
      if (view) {
        const MakeDraft close = [&](CatalogDraft& draft) { set_materialized(draft, made, *view, true); };
        co_await change_catalog(context, close);
        co_await engine_.reload_catalog();
      }
    };
    const auto undo = [&]() -> asio::awaitable<void> {
      const MakeDraft drop = [&](CatalogDraft& draft) {
        if (draft.catalog().find_table(made)) draft.drop_table(made);
      };
      co_await change_catalog(context, drop);
      co_await engine_.reload_catalog();
    };
    co_await run_or_undo(fill(), undo);
    if (parts.into->on_commit == ast::OnCommit::kDrop && !session_.transaction) {
      co_await end_temporary(context);
      co_await engine_.reload_catalog();
    }
    co_return std::nullopt;
  }

  std::string command_tag() const override { return tag_; }

 private:
  /// Makes and fills a view that each write of its table keeps current from then on. Writers of the table wait meanwhile.
  asio::awaitable<void> make_maintained(Parts parts, std::vector<planner::LogicalColumn> columns, sql::ViewDef query) {
    query.options = kMaintainedOption;
    DdlContext context{engine_.shared(), engine_.bulk(), session_, engine_.home(), engine_.database()};
    sql::Oid made = 0;
    std::optional<planner::MaintainedView> kept;
    std::shared_ptr<const sql::TableDef> base;
    const MakeDraft make = [&](CatalogDraft& draft) {
      made = make_table(draft, parts, columns);
      if (made == 0) return;
      kept = add_maintained_parts(draft, *draft.catalog().find_table(made), query);
      base = draft.catalog().find_table(kept->base());
      if (parts.into->with_no_data) set_materialized(draft, made, query, false);
    };
    co_await change_catalog(context, make);
    if (made == 0 || parts.into->with_no_data) co_return;
    co_await engine_.lock_table(session_, *session_.transaction, *base, static_cast<std::int32_t>(TableLock::kShareRowExclusive));
    constexpr std::string_view kInserted = "INSERT 0 ";
    const std::string inserted = co_await run_inner_statement(engine_, session_, kept->fill());
    tag_ = "SELECT " + inserted.substr(kInserted.size());
    const MakeDraft close = [&](CatalogDraft& draft) { set_materialized(draft, made, query, true); };
    co_await change_catalog(context, close);
  }

  static void check_options(const Parts& parts) {
    const ast::IntoClause& into = *parts.into;
    if (!into.access_method.empty() && into.access_method != "heap") {
      throw sql::undefined_access_method(into.access_method);
    }
    check_storage_parameters(parts.materialized ? "materialized view" : "heap", into.options);
    check_tablespace(into.tablespace);
  }

  /// Returns the table whose bucket a new table gets, if the query reads one: a maintained view changes with it.
  static std::vector<const ast::RelationName*> beside(const Parts& parts) {
    const auto* table = parts.maintained && !parts.query->from.empty() ? std::get_if<ast::TableRef>(&parts.query->from[0].node) : nullptr;
    if (table == nullptr) return {};
    return {&table->name};
  }

  /// 0: IF NOT EXISTS, and it does.
  static sql::Oid make_table(CatalogDraft& draft, const Parts& parts, const std::vector<planner::LogicalColumn>& columns) {
    const ast::RelationName& relation = parts.into->relation;
    const std::string schema = creation_schema(draft, relation, parts.into->persistence);
    if (is_there_already(draft, schema, relation.name, parts.if_not_exists)) return 0;
    if (parts.into->columns.size() > columns.size()) throw SqlError(sqlstate::kSyntaxError, "too many column names were specified");
    if (columns.size() > 1600) throw sql::too_many_table_columns();
    sql::TableDef table;
    table.oid = draft.new_oid();
    sql::choose_row_type(table);
    table.schema = schema;
    table.name = relation.name;
    take_ownership(draft, sql::AclKind::kTable, table);
    table.on_commit = on_commit(parts.into->on_commit, schema);
    table.prefix = draft.reserve_prefix(schema, relation.name, fmt::format("table {}", table.oid), declares_buckets(parts.into->options) ? sql::home_tag() : tag_of_new_table(draft, beside(parts)));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      sql::ColumnDef column;
      column.name = i < parts.into->columns.size() ? parts.into->columns[i] : columns[i].name;
      column.type = columns[i].type;
      if (table.find_column(column.name) != nullptr) {
        throw sql::column_listed_twice(column.name);
      }
      check_new_column_name(table, column.name);
      if (sql::type_info(column.type.oid).category == sql::TypeCategory::kPseudo) {
        throw sql::has_pseudo_type(column.name, sql::format_type(column.type));
      }
      column.number = table.next_column++;
      column.field = sql::choose_field(table, column.name);
      table.columns.push_back(std::move(column));
    }
    set_time_to_live(table, parts.into->options);
    set_cache_option(table, parts.into->options);
    choose_presence(table);
    if (!parts.maintained) set_spread(draft, table, parts.into->options);
    const sql::Oid oid = table.oid;
    draft.put(std::move(table));
    return oid;
  }

  /// Returns the definition that a materialized view stores of its query.
  sql::ViewDef view_of(const Parts& parts, std::size_t columns, const sql::CatalogSnapshot& catalog) const {
    if (parts.into->columns.size() > columns) throw SqlError(sqlstate::kSyntaxError, "too many column names were specified");
    sql::ViewDef view = planner::make_view_query(*parts.query, parts.into->columns, catalog, bind_settings(session_));
    const bool reads_temporary = std::ranges::any_of(view.references, [&](const sql::ViewDef::Reference& reference) {
      const auto table = catalog.find_table(reference.relation);
      const auto below = catalog.find_view(reference.relation);
      return sql::is_temporary_schema(table ? table->schema : below ? below->schema : "");
    });
    if (reads_temporary) throw SqlError(sqlstate::kFeatureNotSupported, "materialized views must not use temporary tables or views");
    return view;
  }

  static void set_materialized(CatalogDraft& draft, sql::Oid oid, const sql::ViewDef& query, bool populated) {
    sql::TableDef table = *draft.catalog().find_table(oid);
    auto view = std::make_shared<sql::ViewDef>(query);
    view->rule = draft.new_oid();
    table.materialized = std::move(view);
    table.populated = populated;
    draft.put(std::move(table));
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
  std::vector<sql::Datum> parameters_;
  std::string tag_ = "CREATE TABLE AS";
};

}  // namespace

std::unique_ptr<Execution> make_create_table_as(RedisEngine& engine, PreparedPtr prepared, SessionState& session,
                                                std::vector<sql::Datum> parameters) {
  return std::make_unique<CreateTableAsExecution>(engine, std::move(prepared), session, std::move(parameters));
}

}  // namespace redquel::executor
