#include "planner/bind/domain.h"

#include <algorithm>

#include "parser/parse.h"
#include "planner/bind/expression_binder.h"
#include "planner/bind/from_binder.h"
#include "planner/bind/plan_nodes.h"
#include "planner/bind/row_shape.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/types/array_value.h"
#include "sql/types/datetime.h"
#include "sql/types/user_types.h"

namespace redquel::planner {

using sql::ExpressionPtr;
using sql::SqlError;

namespace {

const sql::UserType* find_domain(const sql::CatalogSnapshot& catalog, sql::Oid domain) {
  const auto found = catalog.types.find(domain);
  return found == catalog.types.end() ? nullptr : found->second.get();
}

/// The tests of one value, made of those of the types that it has within it.
class TestMaker {
 public:
  TestMaker(const sql::CatalogSnapshot& catalog, const BindSettings& settings) : catalog_(catalog), settings_(settings) {}

  /// `value` itself where there is nothing to test.
  ExpressionPtr tested(ExpressionPtr value, sql::Oid oid) const {
    const sql::UserType* domain = find_domain(catalog_, oid);
    sql::DomainTest test{.schema = {}, .domain = sql::format_type(sql::Type{domain != nullptr ? oid : value->type.oid})};
    if (domain != nullptr) test.schema = domain->schema;
    append_parts(value->type, test);
    append_checks(oid, test);
    if (!test.not_null && test.checks.empty() && test.parts.empty()) return value;
    const sql::Type type = value->type;
    const auto offset = value->offset;
    test.operand = std::move(value);
    return sql::make_expression(type, std::move(test), offset);
  }

 private:
  /// Conditions of the domain under it come first, those of one domain by name.
  void append_checks(sql::Oid oid, sql::DomainTest& test) const {
    const sql::UserType* domain = find_domain(catalog_, oid);
    if (domain == nullptr) return;
    append_checks(domain->base_domain, test);
    test.not_null = test.not_null || domain->not_null;
    std::vector<sql::CheckDef> checks = domain->checks;
    std::ranges::sort(checks, {}, &sql::CheckDef::name);
    for (const sql::CheckDef& check : checks) {
      const parser::ast::ExpressionPtr written = parser::parse_expression(check.expression_sql);
      test.checks.push_back({check.name, bind_domain_check(*written, domain->base, catalog_, settings_, /*stored=*/true)});
    }
  }

  void append_parts(sql::Type type, sql::DomainTest& test) const {
    if (type.oid < sql::kFirstUserOid) return;
    if (sql::is_array_type(type.oid)) return append_part(0, sql::Type{sql::type_info(type.oid).element}, sql::declared_element(type.oid), test);
    const sql::UserType* row = sql::find_user_type(type.oid);
    if (row == nullptr || row->kind != sql::UserType::Kind::kComposite) return;
    for (std::size_t i = 0; i < row->fields.size(); ++i) append_part(i, row->fields[i].type, row->fields[i].domain, test);
  }

  void append_part(std::size_t place, sql::Type type, sql::Oid domain, sql::DomainTest& test) const {
    const ExpressionPtr part = sql::make_column(type, 0, "value");
    ExpressionPtr tested_part = tested(part, domain);
    if (tested_part != part) test.parts.push_back({place, std::move(tested_part)});
  }

  const sql::CatalogSnapshot& catalog_;
  const BindSettings& settings_;
};

}  // namespace

ExpressionPtr into_domain(const sql::CatalogSnapshot& catalog, const BindSettings& settings, ExpressionPtr value, sql::Oid oid) {
  if (oid == 0 && value->type.oid < sql::kFirstUserOid) return value;
  return TestMaker(catalog, settings).tested(std::move(value), oid);
}

ExpressionPtr into_domain(const sql::CatalogSnapshot& catalog, const BindSettings& settings, const sql::Expression& written, ExpressionPtr value,
                          sql::Oid oid) {
  const bool is_literal = is_unknown(written) && std::holds_alternative<sql::Constant>(value->node);
  if (is_literal && value->type.oid >= sql::kFirstUserOid) {
    const ExpressionPtr test = TestMaker(catalog, settings).tested(value, 0);
    sql::EvaluationContext context;
    context.settings = &settings.session;
    context.catalog = &catalog;
    context.transaction_timestamp = context.statement_timestamp = sql::current_timestamp();
    try {
      if (test != value) sql::evaluate(*test, sql::Batch{.rows = 1, .columns = {}}, context);
    } catch (SqlError& error) {
      error.set_position(written.offset);
      throw;
    }
    if (oid == 0) return value;
  }
  return into_domain(catalog, settings, std::move(value), oid);
}

ExpressionPtr bind_domain_check(const parser::ast::Expression& expression, sql::Type base, const sql::CatalogSnapshot& catalog,
                                const BindSettings& settings, bool stored) {
  BindSettings own = settings;
  own.parameters = false;
  BindState state(catalog, own, {}, 0);
  state.keeps_positions = !stored;
  state.names = nullptr;
  QueryLevel level{.clause = Clause::kCheck};
  auto relation = std::make_shared<Relation>();
  relation->columns.push_back({"value", sql::make_column(base, 0, "value")});
  level.names.push_back({.relation = relation, .by_name = false});
  level.range_table.push_back(relation);
  return ExpressionBinder(state, level).bind_boolean(expression, "CHECK");
}

std::string domain_default(const sql::CatalogSnapshot& catalog, sql::Oid oid) {
  for (const sql::UserType* domain = find_domain(catalog, oid); domain != nullptr; domain = find_domain(catalog, domain->base_domain)) {
    if (!domain->default_sql.empty()) return domain->default_sql;
  }
  return {};
}

LogicalPtr FromBinder::test_records(LogicalPtr rows, const BoundCall& call) {
  std::vector<ExpressionPtr> values;
  for (const LogicalColumn& column : rows->columns) values.push_back(reference(column));
  bool changed = false;
  for (std::size_t i = 0; i < call.domains.size(); ++i) {
    const ExpressionPtr value = into_domain(state_.catalog, state_.settings, values[i], call.domains[i]);
    changed = changed || value != values[i];
    values[i] = value;
  }
  if (call.row) {
    std::vector<std::string> names;
    for (const sql::ResultColumn& column : call.columns) names.push_back(column.name);
    const std::vector<ExpressionPtr> fields(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(names.size()));
    const ExpressionPtr row = named_row(call.row->type, names, fields, false, call.row->offset);
    ExpressionPtr tested = into_domain(state_.catalog, state_.settings, row, 0);
    if (const auto* domain = std::get_if<sql::DomainTest>(&call.row->node)) {
      sql::DomainTest test = *domain;
      test.operand = row;
      tested = sql::make_expression(row->type, std::move(test), row->offset);
    }
    const auto shape = tested == row ? std::nullopt : row_shape(*tested);
    for (std::size_t i = 0; shape && i < shape->size(); ++i) values[i] = (*shape)[i].value;
    changed = changed || shape;
  }
  if (!changed) return rows;
  std::vector<OutputValue> outputs;
  for (std::size_t i = 0; i < values.size(); ++i) outputs.push_back({values[i], rows->columns[i].name});
  return make_project(state_, rows, outputs);
}

}  // namespace redquel::planner
