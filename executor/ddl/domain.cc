#include "executor/ddl/definition_rights.h"
#include "planner/bind/domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "executor/catalog/dependencies.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/column_definition.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/generated_names.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/row_validation.h"
#include "executor/ddl/stored_expression.h"
#include "executor/ddl/table_parts.h"
#include "executor/ddl/type_lookup.h"
#include "executor/runtime/failure.h"
#include "executor/runtime/session_context.h"
#include "executor/transaction/transaction.h"
#include "executor/transaction/transaction_catalog.h"
#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/bind_expression.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;
using sql::UserType;

namespace {

/// DEFAULT in the domain's type; checked now, bound again where it is used.
void set_default(const CatalogDraft& draft, UserType& domain, const ast::Expression& value) {
  sql::ColumnDef column;
  column.name = domain.name;
  column.type = domain.base;
  without_positions([&] { planner::bind_default(value, {}, column, draft.catalog(), bind_settings(draft.session())); });
  domain.default_sql = parser::to_sql(value);
}

bool has_check(const UserType& domain, const std::string& name) {
  return std::ranges::find(domain.checks, name, &sql::CheckDef::name) != domain.checks.end();
}

/// The value is written VALUE, as catalogs show it.
std::string with_value_word(const std::string& condition) {
  constexpr std::string_view kMark = "\"\1\"";  // no name of the user's
  std::string text = with_renamed_column(condition, "value", "\1");
  for (std::size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark)) text.replace(at, kMark.size(), "VALUE");
  return text;
}

void add_check(const CatalogDraft& draft, UserType& domain, const ast::Constraint& written) {
  const CheckDraft check = read_check(written);
  without_positions([&] {
    planner::bind_domain_check(*check.condition, domain.base, draft.catalog(), bind_settings(draft.session()), /*stored=*/true);
  });
  sql::CheckDef made;
  made.name = check.name;
  if (made.name.empty()) {
    made.name = choose_name(domain.name, {}, "check", [&](std::string_view name) { return has_check(domain, std::string(name)); });
  } else if (has_check(domain, made.name)) {
    throw SqlError(sqlstate::kDuplicateObject, fmt::format("constraint \"{}\" for domain \"{}\" already exists", made.name, domain.name));
  }
  made.expression_sql = with_value_word(stored_check(*check.condition));
  domain.checks.push_back(std::move(made));
}

/// The constraints of CREATE DOMAIN.
class DomainReader {
 public:
  DomainReader(const CatalogDraft& draft, UserType& domain) : draft_(draft), domain_(domain) {}

  void read(const ast::Constraint& constraint) {
    std::visit([&](const auto& node) { take(node, constraint); }, constraint.node);
  }

 private:
  void take(const ast::NullConstraint&, const ast::Constraint&) { set_not_null(false); }
  void take(const ast::NotNullConstraint&, const ast::Constraint&) { set_not_null(true); }
  void take(const ast::DefaultConstraint& value, const ast::Constraint&) {
    if (has_default_) throw SqlError(sqlstate::kSyntaxError, "multiple default expressions");
    has_default_ = true;
    set_default(draft_, domain_, *value.value);
  }
  void take(const ast::CheckConstraint&, const ast::Constraint& constraint) { add_check(draft_, domain_, constraint); }
  void take(const ast::KeyConstraint& key, const ast::Constraint&) {
    throw SqlError(sqlstate::kSyntaxError, fmt::format("{} constraints not possible for domains", key.primary ? "primary key" : "unique"));
  }
  void take(const ast::ExclusionConstraint&, const ast::Constraint&) {
    throw SqlError(sqlstate::kSyntaxError, "exclusion constraints not possible for domains");
  }
  void take(const ast::ForeignKeyConstraint&, const ast::Constraint&) {
    throw SqlError(sqlstate::kSyntaxError, "foreign key constraints not possible for domains");
  }
  template <class Other>
  void take(const Other&, const ast::Constraint&) {
    throw SqlError(sqlstate::kFeatureNotSupported, "specifying GENERATED not supported for domains");
  }

  void set_not_null(bool not_null) {
    if (not_null_ && *not_null_ != not_null) throw SqlError(sqlstate::kSyntaxError, "conflicting NULL/NOT NULL constraints");
    not_null_ = not_null;
    domain_.not_null = not_null;
  }

  const CatalogDraft& draft_;
  UserType& domain_;
  std::optional<bool> not_null_;
  bool has_default_ = false;
};

void change_domain(CatalogDraft& draft, UserType& domain, const ast::AlterDomain& statement) {
  switch (statement.alteration) {
    case ast::DomainAlteration::kSetDefault:
      domain.default_sql.clear();
      if (statement.default_value) set_default(draft, domain, *statement.default_value);
      break;
    case ast::DomainAlteration::kDropNotNull:
      domain.not_null = false;
      break;
    case ast::DomainAlteration::kSetNotNull:
      domain.not_null = true;
      break;
    case ast::DomainAlteration::kAddConstraint:
      if (!std::holds_alternative<ast::CheckConstraint>(statement.constraint->node)) {
        DomainReader(draft, domain).read(*statement.constraint);
        throw sql::not_supported("ALTER DOMAIN … ADD of something else than a CHECK");
      }
      add_check(draft, domain, *statement.constraint);
      break;
    case ast::DomainAlteration::kDropConstraint:
      if (!has_check(domain, statement.constraint_name)) {
        const std::string message =
            fmt::format("constraint \"{}\" of domain \"{}\" does not exist", statement.constraint_name, domain.name);
        if (!statement.if_exists) throw SqlError(sqlstate::kUndefinedObject, message);
        draft.notice(sqlstate::kSuccessfulCompletion, message + ", skipping");
      }
      std::erase_if(domain.checks, [&](const sql::CheckDef& check) { return check.name == statement.constraint_name; });
      break;
    case ast::DomainAlteration::kValidate:
      if (!has_check(domain, statement.constraint_name)) {
        throw SqlError(sqlstate::kUndefinedObject,
                       fmt::format("constraint \"{}\" of domain \"{}\" does not exist", statement.constraint_name, domain.name));
      }
      break;
  }
}

/// Returns true if the domain is the other one, or over it.
bool is_over(const sql::CatalogSnapshot& catalog, sql::Oid domain, sql::Oid under) {
  while (domain != under) {
    const auto found = catalog.types.find(domain);
    if (found == catalog.types.end()) return false;
    domain = found->second->base_domain;
  }
  return true;
}

/// Columns of the domain, or of one over it.
std::vector<std::pair<TablePtr, sql::ColumnDef>> columns_of(const sql::CatalogSnapshot& catalog, sql::Oid domain) {
  std::vector<std::pair<TablePtr, sql::ColumnDef>> columns;
  for (const auto& [oid, table] : catalog.tables) {
    for (const sql::ColumnDef& column : table->columns) {
      if (column.domain != 0 && is_over(catalog, column.domain, domain)) columns.emplace_back(table, column);
    }
  }
  return columns;
}

/// Throws 0A000 if values of the domain lie within those of a column, where they would not be checked.
void check_not_within(const sql::CatalogSnapshot& catalog, sql::Oid domain) {
  for (const auto& [oid, table] : catalog.tables) {
    for (const sql::ColumnDef& column : table->columns) {
      if (!uses_type(catalog, column, domain) || is_over(catalog, column.domain, domain)) continue;
      throw SqlError(sqlstate::kFeatureNotSupported, fmt::format("cannot alter type \"{}\" because column \"{}.{}\" uses it",
                                                                 sql::format_type(sql::Type{domain}), table->name, column.name));
    }
  }
}

/// 23502, 23514 where rows that are there do not fit.
asio::awaitable<void> validate(DdlContext& context, const ast::AlterDomain& statement, sql::Oid oid) {
  LoadedCatalog loaded = co_await load_definitions(context);
  const auto found = loaded.snapshot->types.find(oid);
  if (found == loaded.snapshot->types.end()) co_return;
  const std::vector<sql::CheckDef>& checks = found->second->checks;
  const bool validates_old = statement.alteration == ast::DomainAlteration::kValidate;
  const auto columns = columns_of(*loaded.snapshot, oid);
  for (const auto& [table, column] : columns) {
    const std::string place = fmt::format("column \"{}\" of table \"{}\" contains ", column.name, table->name);
    sql::TableDef tested = *table;
    std::vector<std::int16_t> not_null;
    std::vector<std::string> names;
    if (statement.alteration == ast::DomainAlteration::kSetNotNull) {
      not_null.push_back(column.number);
    } else {
      const auto named = std::ranges::find(checks, statement.constraint_name, &sql::CheckDef::name);
      if (checks.empty() || (validates_old && named == checks.end())) co_return;
      sql::CheckDef check = validates_old ? *named : checks.back();
      check.name = "\1";  // no other constraint has that name
      const ast::ExpressionPtr condition = parser::parse_expression(check.expression_sql);
      check.expression_sql = with_renamed_column(stored_check(*condition), "value", column.name);
      tested.checks.push_back(std::move(check));
      names.push_back("\1");
    }
    try {
      co_await validate_rows(context, loaded.snapshot, tested, not_null, names);
    } catch (const SqlError& error) {
      if (error.sqlstate() == sqlstate::kNotNullViolation) {
        throw SqlError(sqlstate::kNotNullViolation, place + "null values").schema(table->schema).table(table->name).column(column.name);
      }
      if (error.sqlstate() != sqlstate::kCheckViolation) throw;
      throw SqlError(sqlstate::kCheckViolation, place + "values that violate the new constraint")
          .schema(table->schema)
          .table(table->name)
          .column(column.name);
    }
  }
}

/// Blocks writers of rows that the new constraint forbids until the transaction has ended.
asio::awaitable<void> lock_tables_of(DdlContext& context, const ast::QualifiedName& name) {
  if (!context.lock_table) co_return;
  LoadedCatalog loaded = co_await load_definitions(context);
  const CatalogDraft draft(loaded, context.session);
  const sql::Oid domain = require_domain(draft, name)->oid;
  for (const auto& [table, column] : columns_of(*loaded.snapshot, domain)) co_await context.lock_table(*table, TableLock::kShare);
}

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateDomain& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    UserType domain = new_type(draft, relation_name(statement.name));
    domain.kind = UserType::Kind::kDomain;
    const auto [base, base_domain] = declared_type(draft, statement.type);
    const sql::TypeInfo& info = sql::type_info(base.oid);
    if (info.category == sql::TypeCategory::kPseudo || info.category == sql::TypeCategory::kUnknown) {
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("\"{}\" is not a valid base type for a domain", info.name));
    }
    require_type_usage(draft, {base, base_domain});
    check_collation(statement.collation, base, std::nullopt);
    domain.base = base;
    domain.base_domain = base_domain;
    domain.range.collation = statement.collation.empty() ? domain_collation(draft, base_domain) : remembered_collation(statement.collation);
    DomainReader reader(draft, domain);
    for (const ast::Constraint& constraint : statement.constraints) reader.read(constraint);
    draft.put(std::move(domain));
  };
  co_await change_catalog(context, make);
}

asio::awaitable<void> run(DdlContext& context, const ast::AlterDomain& statement) {
  const bool restricts = statement.alteration == ast::DomainAlteration::kSetNotNull ||
                         statement.alteration == ast::DomainAlteration::kAddConstraint;
  UserType before;
  const MakeDraft make = [&](CatalogDraft& draft) {
    UserType domain = *require_domain(draft, statement.name);
    before = domain;
    change_domain(draft, domain, statement);
    const auto columns = columns_of(draft.catalog(), domain.oid);
    const bool is_unchecked = statement.constraint && statement.constraint->not_valid;
    if ((restricts && !is_unchecked) || statement.alteration == ast::DomainAlteration::kValidate) check_not_within(draft.catalog(), domain.oid);
    draft.put(std::move(domain));
    // Writes that know the old constraints only are refused: another version of their tables.
    for (const auto& [table, column] : columns) draft.put(sql::TableDef(*table));
  };
  if (restricts && context.session.transaction) co_await lock_tables_of(context, statement.name);
  co_await change_catalog(context, make);
  // The old constraint is in force already: rows that do not fit it change nothing.
  if (statement.alteration == ast::DomainAlteration::kValidate) co_return co_await validate(context, statement, before.oid);
  const bool validates = restricts && !(statement.constraint && statement.constraint->not_valid);
  if (!validates) co_return;
  if (context.session.transaction) co_return co_await validate(context, statement, before.oid);  // its definitions come to nothing
  const MakeDraft restore = [&](CatalogDraft& draft) {
    if (draft.catalog().types.contains(before.oid)) draft.put(UserType(before));
  };
  co_await run_or_undo(validate(context, statement, before.oid), [&] { return change_catalog(context, restore); });
}

}  // namespace redquel::executor
