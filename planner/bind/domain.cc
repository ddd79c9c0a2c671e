#include "planner/bind/domain.h"

#include <algorithm>

#include "parser/parse.h"
#include "planner/bind/expression_binder.h"

namespace redquel::planner {

using sql::ExpressionPtr;

namespace {

const sql::UserType* find_domain(const sql::CatalogSnapshot& catalog, sql::Oid domain) {
  const auto found = catalog.types.find(domain);
  return found == catalog.types.end() ? nullptr : found->second.get();
}

/// Conditions of the domain under it come first, those of one domain by name.
void append_checks(const sql::CatalogSnapshot& catalog, const BindSettings& settings, sql::Oid oid, sql::DomainTest& test) {
  const sql::UserType* domain = find_domain(catalog, oid);
  if (domain == nullptr) return;
  append_checks(catalog, settings, domain->base_domain, test);
  test.not_null = test.not_null || domain->not_null;
  std::vector<sql::CheckDef> checks = domain->checks;
  std::ranges::sort(checks, {}, &sql::CheckDef::name);
  for (const sql::CheckDef& check : checks) {
    const parser::ast::ExpressionPtr written = parser::parse_expression(check.expression_sql);
    test.checks.push_back({check.name, bind_domain_check(*written, domain->base, catalog, settings, /*stored=*/true)});
  }
}

}  // namespace

ExpressionPtr into_domain(const sql::CatalogSnapshot& catalog, const BindSettings& settings, ExpressionPtr value, sql::Oid oid) {
  const sql::UserType* domain = find_domain(catalog, oid);
  if (domain == nullptr) return value;
  sql::DomainTest test{.schema = domain->schema, .domain = sql::format_type(sql::Type{oid})};
  append_checks(catalog, settings, oid, test);
  if (!test.not_null && test.checks.empty()) return value;
  const sql::Type type = value->type;
  const auto offset = value->offset;
  test.operand = std::move(value);
  return sql::make_expression(type, std::move(test), offset);
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

}  // namespace redquel::planner
