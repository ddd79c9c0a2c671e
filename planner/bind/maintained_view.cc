#include "planner/bind/maintained_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/ast_walk.h"
#include "planner/bind/bind_expression.h"
#include "planner/bind/computed_columns.h"
#include "planner/bind/view_query.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/row_value.h"
#include "sql/types/type_oids.h"

namespace redquel::planner {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

constexpr std::string_view kViewAlias = R"("redquel view")", kRowAlias = R"("redquel row")", kChangeAlias = "redquel_change";

/// Groups that are looked up one by one. For more of them the whole view is read.
constexpr int kGroupsOneByOne = 50;

SqlError cannot_keep(std::string_view part) { return sql::not_supported(fmt::format("a materialized view WITH (maintained) with {}", part)); }

std::string quoted(std::string_view name) { return parser::quote_identifier(name); }

/// Returns true if equal values of the type have one text, so that any of them can stand for the others.
bool has_one_text(sql::Type type) {
  switch (type.oid) {
    case sql::oid::kBool:
    case sql::oid::kInt2:
    case sql::oid::kInt4:
    case sql::oid::kInt8:
    case sql::oid::kText:
    case sql::oid::kVarchar:
    case sql::oid::kBpchar:
    case sql::oid::kName:
    case sql::oid::kChar:
    case sql::oid::kOid:
    case sql::oid::kDate:
    case sql::oid::kTime:
    case sql::oid::kTimestamp:
    case sql::oid::kTimestamptz:
    case sql::oid::kUuid:
    case sql::oid::kBytea:
      return true;
    case sql::oid::kNumeric:
      return type.modifier >= 0;
    default:
      return sql::is_enum_type(type.oid);
  }
}

std::string type_name(sql::Type type) {
  const bool is_free = type.oid == sql::oid::kNumeric && type.modifier < 0;
  return is_free ? "numeric without a scale" : sql::format_type(sql::Type{type.oid});
}

/// Throws 0A000 for a clause that a view by groups over one table does not have.
void check_clauses(const ast::Select& query) {
  if (query.set_operator != ast::SetOperator::kNone) throw cannot_keep(parser::set_operator_name(query.set_operator));
  if (!query.values.empty()) throw cannot_keep("VALUES");
  if (query.with) throw cannot_keep("WITH");
  if (query.distinct || !query.distinct_on.empty()) throw cannot_keep("DISTINCT");
  if (query.having) throw cannot_keep("HAVING");
  if (!query.windows.empty()) throw cannot_keep("window functions");
  if (query.limit_count || query.limit_offset) throw cannot_keep("LIMIT");
  if (!query.order_by.empty()) throw cannot_keep("ORDER BY");
  if (!query.locking.empty()) throw cannot_keep("row locks");
  if (query.from.empty()) throw cannot_keep("no table");
  if (query.from.size() > 1) throw cannot_keep("joins");
  if (const auto* join = std::get_if<ast::Join>(&query.from[0].node)) {
    const bool is_outer = join->kind != ast::JoinKind::kInner && join->kind != ast::JoinKind::kCross;
    throw cannot_keep(is_outer ? "outer joins" : "joins");
  }
  if (std::holds_alternative<ast::SubqueryRef>(query.from[0].node)) throw cannot_keep("subqueries");
  if (std::holds_alternative<ast::FunctionRef>(query.from[0].node)) throw cannot_keep("functions in FROM");
  if (std::holds_alternative<ast::TableSample>(query.from[0].node)) throw cannot_keep("TABLESAMPLE");
}

/// Throws 0A000 unless the relation is a table whose writes fire its own triggers.
void check_base(const sql::TableDef* base) {
  if (base == nullptr) throw cannot_keep("views or system tables in FROM");
  if (base->materialized) throw cannot_keep("materialized views in FROM");
  if (base->is_mapped()) throw cannot_keep("foreign tables");
  if (base->partition_key || base->partition) throw cannot_keep("partitioned tables or partitions");
  if (base->is_divided()) throw cannot_keep("tables in several buckets");
  if (base->rows_expire()) throw cannot_keep("tables whose rows expire (ttl)");
  if (base->security.enabled) throw cannot_keep("tables with row level security");
}

/// Throws 0A000 for parts of an expression that the rows of a statement cannot answer.
void check_parts(const ast::Expression& expression, const sql::TableDef& base) {
  if (std::holds_alternative<ast::SubLink>(expression.node)) throw cannot_keep("subqueries");
  if (const auto* call = std::get_if<ast::FunctionCall>(&expression.node); call != nullptr && call->over) throw cannot_keep("window functions");
  if (std::holds_alternative<ast::GroupingCall>(expression.node)) throw cannot_keep("GROUPING()");
  if (const auto* column = std::get_if<ast::ColumnRef>(&expression.node)) {
    const bool is_column = !column->star && column->names.size() == 2 && base.find_column(column->names.back()) != nullptr;
    if (!is_column) throw cannot_keep("whole rows or system columns");
  }
  for_each_child(expression, [&](const ast::Expression& child) { check_parts(child, base); });
}

/// The expressions of one query, bound over the rows of its table.
class RowExpressions {
 public:
  RowExpressions(const sql::TableDef& base, const std::string& alias, const sql::CatalogSnapshot& catalog, const BindSettings& settings)
      : base_(base), named_(base), catalog_(catalog), settings_(for_stored_text(settings, base.schema, catalog)) {
    named_.name = alias;
  }

  /// Returns the type of the expression. `use`: for the error.
  sql::Type type_of(const ast::Expression& expression, std::string_view use) const {
    check_parts(expression, base_);
    try {
      return bind_new_index_expression(expression, named_, catalog_, settings_, false)->type;
    } catch (const SqlError& error) {
      if (error.sqlstate() == sqlstate::kInvalidObjectDefinition) throw cannot_keep(fmt::format("an expression in {} that is not immutable", use));
      throw;
    }
  }
  void check_condition(const ast::Expression& condition) const { type_of(condition, "WHERE"); }
  /// Returns true unless the expression is a column that is never NULL.
  bool may_be_null(const ast::Expression& expression) const {
    const auto* column = std::get_if<ast::ColumnRef>(&expression.node);
    return column == nullptr || base_.is_nullable(*base_.find_column(column->names.back()));
  }

 private:
  const sql::TableDef& base_;
  sql::TableDef named_;  // as the query calls it
  const sql::CatalogSnapshot& catalog_;
  const BindSettings settings_;
};

/// Returns the expression that an element of GROUP BY means: itself, or that of the select list which it names or numbers.
const ast::Expression& grouped(const ast::Select& query, const ast::GroupElement& element) {
  if (!std::holds_alternative<ast::ExpressionPtr>(element)) throw cannot_keep("grouping sets");
  const ast::Expression& written = *std::get<ast::ExpressionPtr>(element);
  if (const auto* number = std::get_if<ast::IntegerLiteral>(&written.node)) return *query.targets.at(static_cast<std::size_t>(number->value) - 1).value;
  const auto* name = std::get_if<ast::ColumnRef>(&written.node);
  if (name == nullptr || name->names.size() != 1) return written;
  const auto found = std::ranges::find(query.targets, name->names[0], &ast::Target::name);
  return found == query.targets.end() ? written : *found->value;
}

/// Returns the name of an aggregate that can be kept; empty: the expression is none.
std::string_view aggregate_name(const ast::Expression& expression) {
  const auto* call = std::get_if<ast::FunctionCall>(&expression.node);
  if (call == nullptr) throw cannot_keep("expressions over aggregates, or columns that are not in GROUP BY,");
  const std::string& name = call->name.back();
  const bool is_known = name == "count" || name == "sum" || name == "avg" || name == "min" || name == "max";
  const bool is_built_in = call->name.size() == 1 || call->name[0] == "pg_catalog";
  if (call->over) throw cannot_keep("window functions");
  if (!is_known || !is_built_in) throw cannot_keep(name + "()");
  if (call->distinct) throw cannot_keep(name + "(DISTINCT)");
  if (!call->order_by.empty()) throw cannot_keep("ORDER BY in an aggregate");
  return name;
}

/// Returns what the aggregate is computed from: its argument, NULL in rows that FILTER leaves out.
std::string argument_text(const ast::FunctionCall& call) {
  const std::string value = call.star ? "true" : parser::to_sql(*call.arguments.at(0).value);
  return call.filter ? fmt::format("CASE WHEN {} THEN {} END", parser::to_sql(*call.filter), value) : value;
}

}  // namespace

MaintainedView MaintainedView::read(const sql::ViewDef& definition, const sql::TableDef& table, const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  const std::shared_ptr<const ast::Select> query = parse_view_query(definition);
  check_clauses(*query);
  const auto& from = std::get<ast::TableRef>(query->from[0].node);
  const auto base = catalog.find_table(from.name.schema, from.name.name, settings.search_path);
  check_base(base.get());
  for (const sql::ViewDef::Reference& reference : definition.references) {
    if (catalog.functions.contains(reference.relation)) throw cannot_keep("functions that are not built in");
  }
  if (from.alias && !from.alias->columns.empty()) throw cannot_keep("other names for the columns of its table");
  MaintainedView view;
  const std::string alias = from.alias ? from.alias->name : from.name.name;
  view.base_oid_ = base->oid;
  view.view_ = quoted(table.schema) + "." + quoted(table.name);
  view.base_ = quoted(base->schema) + "." + quoted(base->name);
  view.alias_ = quoted(alias);
  const RowExpressions rows(*base, alias, catalog, settings);
  if (query->where) {
    rows.check_condition(*query->where);
    view.condition_ = parser::to_sql(*query->where);
  }
  for (const ast::GroupElement& element : query->group_by) {
    const ast::Expression& expression = grouped(*query, element);
    const sql::Type type = rows.type_of(expression, "GROUP BY");
    if (!has_one_text(type)) throw cannot_keep("GROUP BY " + type_name(type));
    std::string text = parser::to_sql(expression);
    const auto is_same = [&](const Group& group) { return group.expression == text; };
    if (std::ranges::none_of(view.groups_, is_same)) view.groups_.push_back({std::move(text), {}, rows.may_be_null(expression)});
  }
  for (std::size_t i = 0; i < query->targets.size(); ++i) {
    const ast::Expression& expression = *query->targets[i].value;
    const sql::ColumnDef& column = table.columns.at(i);
    Output output{quoted(column.name), Kind::kGroup};
    const std::string text = parser::to_sql(expression);
    const auto group = std::ranges::find(view.groups_, text, &Group::expression);
    if (group != view.groups_.end()) {
      output.number = static_cast<std::size_t>(group - view.groups_.begin());
      if (group->column.empty()) {
        group->column = output.column;
        view.key_.push_back(column.number);
      }
      view.outputs_.push_back(std::move(output));
      continue;
    }
    const std::string_view name = aggregate_name(expression);
    const auto& call = std::get<ast::FunctionCall>(expression.node);
    if (call.filter) rows.type_of(*call.filter, "FILTER");
    if (call.star && !call.filter) {
      output.kind = Kind::kRows;
      view.outputs_.push_back(std::move(output));
      continue;
    }
    sql::Type type = sql::kBool;
    if (!call.star) type = rows.type_of(*call.arguments.at(0).value, name);
    std::string argument = argument_text(call);
    auto known = std::ranges::find(view.arguments_, argument, &Argument::expression);
    if (known == view.arguments_.end()) known = view.arguments_.insert(known, Argument{.expression = std::move(argument)});
    output.number = static_cast<std::size_t>(known - view.arguments_.begin());
    if (name == "min" || name == "max") {
      if (!has_one_text(type)) throw cannot_keep(fmt::format("{}({})", name, type_name(type)));
      output.kind = name == "min" ? Kind::kLeast : Kind::kGreatest;
    } else if (name == "count") {
      output.kind = Kind::kCount;
      known->counts = true;
    } else {
      const bool is_integer = type.oid == sql::oid::kInt2 || type.oid == sql::oid::kInt4 || type.oid == sql::oid::kInt8;
      if (!is_integer && (type.oid != sql::oid::kNumeric || !has_one_text(type))) throw cannot_keep(fmt::format("{}({})", name, type_name(type)));
      output.kind = name == "sum" ? Kind::kSum : Kind::kAverage;
      output.is_integer = is_integer && type.oid != sql::oid::kInt8;
      known->counts = known->totals = true;
      known->is_numeric = !is_integer;
    }
    view.outputs_.push_back(std::move(output));
  }
  if (std::ranges::any_of(view.groups_, [](const Group& group) { return group.column.empty(); })) {
    throw cannot_keep("an expression in GROUP BY that is not in the select list");
  }
  view.place_arguments();
  return view;
}

/// The first element of the state is the number of rows. Behind it each argument has the number of its values, their sum, and how many are NaN.
void MaintainedView::place_arguments() {
  std::size_t next = 2;
  for (Argument& argument : arguments_) {
    argument.state = next;
    next += static_cast<std::size_t>(argument.counts) + static_cast<std::size_t>(argument.totals) + static_cast<std::size_t>(argument.totals && argument.is_numeric);
  }
}

std::size_t MaintainedView::state_size() const {
  std::size_t size = 1;
  for (const Argument& argument : arguments_) {
    size += static_cast<std::size_t>(argument.counts) + static_cast<std::size_t>(argument.totals) + static_cast<std::size_t>(argument.totals && argument.is_numeric);
  }
  return size;
}

bool MaintainedView::has_nullable_groups() const { return std::ranges::any_of(groups_, &Group::is_nullable); }

bool MaintainedView::has_extremes() const {
  return std::ranges::any_of(outputs_, [](const Output& output) { return output.kind == Kind::kLeast || output.kind == Kind::kGreatest; });
}

namespace {

std::string group_name(std::size_t number) { return fmt::format("g{}", number + 1); }
std::string argument_name(std::size_t number) { return fmt::format("a{}", number + 1); }
std::string extreme_name(std::size_t output) { return fmt::format("m{}", output + 1); }

/// `<row>.g1, <row>.g2`
std::string group_list(std::string_view of, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(fmt::format("{}.{}", of, group_name(i)));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

/// The groups and arguments of the rows of a table that satisfy the condition. `sign`: the column that says whether they come or go; empty: none.
std::string MaintainedView::rows_of(std::string_view source, std::string_view sign) const {
  std::vector<std::string> columns;
  for (std::size_t i = 0; i < groups_.size(); ++i) columns.push_back(fmt::format("{} AS {}", groups_[i].expression, group_name(i)));
  for (std::size_t i = 0; i < arguments_.size(); ++i) columns.push_back(fmt::format("{} AS {}", arguments_[i].expression, argument_name(i)));
  if (!sign.empty()) columns.push_back(fmt::format("{} AS comes", sign));
  std::string text = fmt::format("SELECT {} FROM {} AS {}", fmt::join(columns, ", "), source, alias_);
  if (!condition_.empty()) text += " WHERE " + condition_;
  return text;
}

std::string MaintainedView::rows(Rows rows) const {
  const std::string come = quoted(kMaintainedNewRows), go = quoted(kMaintainedOldRows);
  switch (rows) {
    case Rows::kBase: return rows_of(base_, {});
    case Rows::kNew: return rows_of(come, {});
    case Rows::kOld: return rows_of(go, {});
    case Rows::kBoth: break;
  }
  return fmt::format("{} UNION ALL {}", rows_of(come, "true"), rows_of(go, "false"));
}

/// The differences of the state's elements.
std::string MaintainedView::elements(Rows rows) const {
  std::vector<std::string> found;
  // `call` counts or adds values; `condition` says of which rows.
  const auto add = [&](std::string_view call, std::string_view condition) {
    const auto filtered = [&](std::string_view also) {
      std::string wanted(condition);
      if (!also.empty()) wanted += (wanted.empty() ? "" : " AND ") + std::string(also);
      std::string text(call);
      if (!wanted.empty()) text += fmt::format(" FILTER (WHERE {})", wanted);
      return call.starts_with("sum") ? fmt::format("COALESCE({}, 0)", text) : text;
    };
    switch (rows) {
      case Rows::kBase:
      case Rows::kNew: found.push_back(filtered({})); return;
      case Rows::kOld: found.push_back("- " + filtered({})); return;
      case Rows::kBoth: found.push_back(filtered(fmt::format("{}.comes", kRowAlias)) + " - " + filtered(fmt::format("NOT {}.comes", kRowAlias)));
    }
  };
  add("count(*)", {});
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    const Argument& argument = arguments_[i];
    const std::string value = fmt::format("{}.{}", kRowAlias, argument_name(i));
    const bool has_nans = argument.totals && argument.is_numeric;
    if (argument.counts) add(fmt::format("count({})", value), {});
    if (argument.totals) add(fmt::format("sum({}::numeric)", value), has_nans ? value + " <> 'NaN'" : "");
    if (has_nans) add("count(*)", value + " = 'NaN'");
  }
  return fmt::format("ARRAY[{}]::numeric[]", fmt::join(found, ", "));
}

/// A row for each group: its values, the difference of its state, the extremes of the rows that come.
std::string MaintainedView::difference(Rows rows) const {
  std::string columns = group_list(kRowAlias, groups_.size());
  if (!columns.empty()) columns += ", ";
  columns += elements(rows) + " AS state";
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.kind != Kind::kLeast && output.kind != Kind::kGreatest) continue;
    columns += fmt::format(", {}({}.{})", output.kind == Kind::kLeast ? "min" : "max", kRowAlias, argument_name(output.number));
    if (rows == Rows::kBoth) columns += fmt::format(" FILTER (WHERE {}.comes)", kRowAlias);
    if (rows == Rows::kOld) columns += " FILTER (WHERE false)";
    columns += " AS " + extreme_name(i);
  }
  std::string text = fmt::format("SELECT {} FROM ({}) AS {}", columns, this->rows(rows), kRowAlias);
  if (!groups_.empty()) text += " GROUP BY " + group_list(kRowAlias, groups_.size());
  return text;
}

/// The value of a column, computed from the state; `element` gives the text of an element.
template <class Element>
std::string MaintainedView::shown(const Output& output, const Element& element) const {
  if (output.kind == Kind::kRows) return element(1) + "::bigint";
  const Argument& argument = arguments_[output.number];
  const std::string values = element(argument.state);
  if (output.kind == Kind::kCount) return values + "::bigint";
  const std::string total = element(argument.state + 1);
  std::string value = output.kind == Kind::kAverage ? fmt::format("{} / {}", total, values) : output.is_integer ? total + "::bigint" : total;
  const std::string nan = argument.is_numeric ? fmt::format("WHEN {} > 0 THEN 'NaN'::numeric ", element(argument.state + 2)) : "";
  return fmt::format("CASE {}WHEN {} > 0 THEN {} END", nan, values, value);
}

std::string MaintainedView::fill() const {
  std::vector<std::string> columns, values;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    columns.push_back(output.column);
    if (output.kind == Kind::kGroup) values.push_back(fmt::format("{}.{}", kChangeAlias, group_name(output.number)));
    else if (output.kind == Kind::kLeast || output.kind == Kind::kGreatest) values.push_back(fmt::format("{}.{}", kChangeAlias, extreme_name(i)));
    else values.push_back(shown(output, [](std::size_t place) { return fmt::format("{}.state[{}]", kChangeAlias, place); }));
  }
  columns.push_back(quoted(kMaintainedState));
  values.push_back(fmt::format("{}.state", kChangeAlias));
  return fmt::format("INSERT INTO {} ({}) SELECT {} FROM ({}) AS {}", view_, fmt::join(columns, ", "), fmt::join(values, ", "), difference(Rows::kBase), kChangeAlias);
}

/// Adds the differences to the rows of the view, and makes rows of new groups.
std::string MaintainedView::change(Rows rows) const {
  const std::string state = quoted(kMaintainedState);
  const std::string zeros = fmt::format("'{{{}}}'::numeric[]", fmt::join(std::vector<int>(state_size(), 0), ","));
  const std::string_view source = groups_.empty() ? kChangeAlias : std::string_view("excluded");
  const std::string added = groups_.empty() ? "state" : state;
  const auto sum = [&](std::size_t place) { return fmt::format("({}.{}[{}] + {}.{}[{}])", kViewAlias, state, place, source, added, place); };
  std::vector<std::string> columns, values, changes, elements;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    columns.push_back(output.column);
    if (output.kind == Kind::kGroup) {
      values.push_back(fmt::format("{}.{}", kChangeAlias, group_name(output.number)));
      continue;
    }
    if (output.kind == Kind::kLeast || output.kind == Kind::kGreatest) {
      const std::string name = extreme_name(i);
      values.push_back(fmt::format("{}.{}", kChangeAlias, name));
      const std::string other = groups_.empty() ? name : output.column;
      if (rows != Rows::kOld) {
        changes.push_back(fmt::format("{} = {}({}.{}, {}.{})", output.column, output.kind == Kind::kLeast ? "LEAST" : "GREATEST", kViewAlias, output.column, source, other));
      }
      continue;
    }
    values.push_back(shown(output, [](std::size_t place) { return fmt::format("{}.state[{}]", kChangeAlias, place); }));
    changes.push_back(fmt::format("{} = {}", output.column, shown(output, sum)));
  }
  for (std::size_t place = 1; place <= state_size(); ++place) elements.push_back(sum(place));
  changes.push_back(fmt::format("{} = ARRAY[{}]", state, fmt::join(elements, ", ")));
  columns.push_back(state);
  values.push_back(fmt::format("{}.state", kChangeAlias));
  // An update that changes nothing of a group leaves its row alone.
  const std::string condition = rows == Rows::kBoth && !has_extremes() ? fmt::format(" WHERE {}.state <> {}", kChangeAlias, zeros) : "";
  if (groups_.empty()) {
    return fmt::format("UPDATE {} AS {} SET {} FROM ({}) AS {}{}", view_, kViewAlias, fmt::join(changes, ", "), difference(rows), kChangeAlias, condition);
  }
  std::vector<std::string> key;
  for (const Group& group : groups_) key.push_back(group.column);
  return fmt::format("INSERT INTO {} AS {} ({}) SELECT {} FROM ({}) AS {}{} ORDER BY {} ON CONFLICT ({}) DO UPDATE SET {}", view_, kViewAlias,
                     fmt::join(columns, ", "), fmt::join(values, ", "), difference(rows), kChangeAlias, condition, group_list(kChangeAlias, groups_.size()),
                     fmt::join(key, ", "), fmt::join(changes, ", "));
}

/// Like change(), for rows that may leave groups without rows: these groups go.
std::string MaintainedView::change_and_remove_empty(Rows rows) const {
  std::vector<std::string> names, nulls;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    names.push_back(fmt::format("{}.{} AS {}", kViewAlias, groups_[i].column, group_name(i)));
    if (groups_[i].is_nullable) nulls.push_back(fmt::format("{}.{} IS NULL", kChangeAlias, group_name(i)));
  }
  const std::string state = quoted(kMaintainedState);
  const std::string remove = fmt::format("DELETE FROM {} AS {} WHERE ", view_, kViewAlias);
  std::string remove_one = fmt::format("{}{};\n", remove, join_groups(false));
  if (!nulls.empty()) {
    remove_one = fmt::format("IF {} THEN\n{}{};\nELSE\n{}END IF;\n", fmt::join(nulls, " OR "), remove, join_groups(true), remove_one);
  }
  return fmt::format("redquel_empty := 0;\nFOR {} IN {} RETURNING {}, {}.{}[1] AS size LOOP\nIF {}.size = 0 THEN\nredquel_empty := redquel_empty + 1;\n"
                     "IF redquel_empty <= {} THEN\n{}END IF;\nEND IF;\nEND LOOP;\nIF redquel_empty > {} THEN\n{}{}.{}[1] = 0;\nEND IF;\n",
                     kChangeAlias, change(rows), fmt::join(names, ", "), kViewAlias, state, kChangeAlias, kGroupsOneByOne, remove_one, kGroupsOneByOne, remove,
                     kViewAlias, state);
}

/// The groups that rows have left, with the extremes of these rows.
std::string MaintainedView::old_groups() const {
  std::string columns = group_list(kRowAlias, groups_.size());
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    if (output.kind != Kind::kLeast && output.kind != Kind::kGreatest) continue;
    columns += fmt::format("{}{}({}.{}) AS {}", columns.empty() ? "" : ", ", output.kind == Kind::kLeast ? "min" : "max", kRowAlias, argument_name(output.number), extreme_name(i));
  }
  std::string text = fmt::format("SELECT {} FROM ({}) AS {}", columns, rows(Rows::kOld), kRowAlias);
  if (!groups_.empty()) text += " GROUP BY " + group_list(kRowAlias, groups_.size());
  return text;
}

std::string MaintainedView::join_groups(bool with_nulls) const {
  std::vector<std::string> conditions;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const std::string_view comparison = with_nulls && groups_[i].is_nullable ? "IS NOT DISTINCT FROM" : "=";
    conditions.push_back(fmt::format("{}.{} {} {}.{}", kViewAlias, groups_[i].column, comparison, kChangeAlias, group_name(i)));
  }
  return conditions.empty() ? "true" : fmt::format("{}", fmt::join(conditions, " AND "));
}

/// An UPDATE of the rows of the view whose groups rows have left: `before` and `after` its condition on the groups. Few groups are looked up one by
/// one. Groups with NULL, which no index finds by =, have a statement of their own.
std::string MaintainedView::update_groups(const std::string& before, const std::string& after) const {
  const std::string groups = fmt::format("({}) AS {}", old_groups(), kChangeAlias);
  std::string text = fmt::format("{} FROM {} WHERE {} AND {};\n", before, groups, join_groups(false), after);
  std::vector<std::string> nulls;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (groups_[i].is_nullable) nulls.push_back(fmt::format("{}.{} IS NULL", kChangeAlias, group_name(i)));
  }
  std::string one = fmt::format("{} WHERE {} AND {};\n", before, join_groups(false), after);
  const auto alternatives = [&] {
    return fmt::format("IF (SELECT count(*) FROM {}) <= {} THEN\nFOR {} IN {} LOOP\n{}END LOOP;\nELSE\n{}END IF;\n", groups, kGroupsOneByOne, kChangeAlias, old_groups(), one, text);
  };
  if (nulls.empty()) return alternatives();
  one = fmt::format("IF {} THEN\n{} WHERE {} AND {};\nELSE\n{}END IF;\n", fmt::join(nulls, " OR "), before, join_groups(true), after, one);
  const std::string is_null = fmt::format("({})", fmt::join(nulls, " OR "));
  text += fmt::format("IF EXISTS (SELECT 1 FROM {} WHERE {}) THEN\n{} FROM {} WHERE {} AND {} AND {};\nEND IF;\n", groups, is_null, before, groups, is_null, join_groups(true), after);
  return alternatives();
}

/// The extremes of groups that have lost a row with one of them are looked for among the rows that are left.
std::string MaintainedView::recompute_extremes() const {
  std::vector<std::string> assignments, reasons;
  std::string wanted = condition_.empty() ? "true" : "(" + condition_ + ")";
  for (const Group& group : groups_) {
    wanted += fmt::format(" AND ({}) {} {}.{}", group.expression, group.is_nullable ? "IS NOT DISTINCT FROM" : "=", kViewAlias, group.column);
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    const bool is_least = output.kind == Kind::kLeast;
    if (!is_least && output.kind != Kind::kGreatest) continue;
    assignments.push_back(fmt::format("{} = (SELECT {}({}) FROM {} AS {} WHERE {})", output.column, is_least ? "min" : "max", arguments_[output.number].expression, base_, alias_, wanted));
    reasons.push_back(fmt::format("{}.{} {} {}.{}", kChangeAlias, extreme_name(i), is_least ? "<=" : ">=", kViewAlias, output.column));
  }
  return update_groups(fmt::format("UPDATE {} AS {} SET {}", view_, kViewAlias, fmt::join(assignments, ", ")), fmt::format("({})", fmt::join(reasons, " OR ")));
}

std::string MaintainedView::after(sql::TriggerDef::Event event) const {
  using Event = sql::TriggerDef::Event;
  if (event == Event::kInsert) return change(Rows::kNew) + ";\n";
  if (event == Event::kTruncate) {
    // The view over no rows has no row, or, without groups, one row.
    std::string text = fmt::format("DELETE FROM {};\n", view_);
    return groups_.empty() ? text + fill() + ";\n" : text;
  }
  const Rows rows = event == Event::kDelete ? Rows::kOld : Rows::kBoth;
  std::string text = groups_.empty() ? change(rows) + ";\n" : change_and_remove_empty(rows);
  if (has_extremes()) text += recompute_extremes();
  return text;
}

}  // namespace redquel::planner
