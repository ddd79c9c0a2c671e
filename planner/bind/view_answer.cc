#include "planner/bind/view_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "parser/deparse.h"
#include "parser/parse.h"
#include "planner/bind/ast_walk.h"
#include "planner/bind/name_uses.h"
#include "planner/bind/view_query.h"
#include "sql/system_tables/trigger_words.h"

namespace redquel::planner {

namespace ast = parser::ast;

namespace {

using TablePtr = sql::CatalogSnapshot::TablePtr;

/// Returns true for a query whose clauses a query over the view can have, too.
bool has_plain_clauses(const ast::Select& query) {
  if (query.set_operator != ast::SetOperator::kNone || !query.values.empty() || query.with || query.distinct || !query.distinct_on.empty()) return false;
  if (query.having || !query.windows.empty() || !query.locking.empty() || query.into || query.with_ties || query.from.size() != 1) return false;
  const auto* table = std::get_if<ast::TableRef>(&query.from[0].node);
  return table != nullptr && (!table->alias || table->alias->columns.empty());
}

TablePtr table_of(const ast::Select& query, const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  const ast::RelationName& name = std::get<ast::TableRef>(query.from[0].node).name;
  return catalog.find_table(name.schema, name.name, settings.search_path);
}

/// The text of an expression over one table with the columns named as `rename` says; nullopt: a column has no name there, or it has a subquery.
template <class Rename>
std::optional<std::string> text_of(const ast::Expression& expression, const Rename& rename) {
  parser::QueryNames names;
  bool is_known = true;
  const auto note = [&](const auto& self, const ast::Expression& part) -> void {
    if (std::holds_alternative<ast::SubLink>(part.node)) is_known = false;
    if (const auto* column = std::get_if<ast::ColumnRef>(&part.node)) {
      const std::optional<std::string> name = column->star ? std::nullopt : rename(column->names.back());
      if (name) names.columns[column] = {*name};
      else is_known = false;
    }
    for_each_child(part, [&](const ast::Expression& child) { self(self, child); });
  };
  note(note, expression);
  if (!is_known) return std::nullopt;
  return parser::to_sql(expression, names, parser::QueryLayout::kCompact);
}

/// The text with which expressions of two queries over the table are compared, whatever they call it.
std::string compared(const ast::Expression& expression) {
  const auto as_it_is = [](const std::string& name) { return std::optional(name); };
  return text_of(expression, as_it_is).value_or(std::string());
}

/// Returns what an element of GROUP BY means; null: grouping sets.
const ast::Expression* grouped(const ast::Select& query, const ast::GroupElement& element) {
  const auto* written = std::get_if<ast::ExpressionPtr>(&element);
  if (written == nullptr) return nullptr;
  if (const auto* number = std::get_if<ast::IntegerLiteral>(&(*written)->node)) return query.targets.at(static_cast<std::size_t>(number->value) - 1).value.get();
  const auto* name = std::get_if<ast::ColumnRef>(&(*written)->node);
  if (name == nullptr || name->names.size() != 1) return written->get();
  const auto found = std::ranges::find(query.targets, name->names[0], &ast::Target::name);
  return found == query.targets.end() ? written->get() : found->value.get();
}

/// The groups as texts; nullopt: the query has grouping sets, or a group that has no text.
std::optional<std::set<std::string>> groups_of(const ast::Select& query) {
  std::set<std::string> groups;
  for (const ast::GroupElement& element : query.group_by) {
    const ast::Expression* const expression = grouped(query, element);
    if (expression == nullptr || compared(*expression).empty()) return std::nullopt;
    groups.insert(compared(*expression));
  }
  return groups;
}

/// The conditions of WHERE that all must hold.
std::vector<const ast::Expression*> conditions_of(const ast::Select& query) {
  std::vector<const ast::Expression*> conditions;
  if (!query.where) return conditions;
  const auto* all = std::get_if<ast::And>(&query.where->node);
  if (all == nullptr) return {query.where.get()};
  for (const ast::ExpressionPtr& condition : all->arguments) conditions.push_back(condition.get());
  return conditions;
}

/// Returns true if the condition calls no function, whose value might be another one for each row.
bool is_simple(const ast::Expression& condition) {
  if (std::holds_alternative<ast::FunctionCall>(condition.node) || std::holds_alternative<ast::SqlValueFunction>(condition.node)) return false;
  bool result = true;
  for_each_child(condition, [&](const ast::Expression& child) { result = result && is_simple(child); });
  return result;
}

/// A query over one table, beside the query of a view over the same table.
class ViewAnswer {
 public:
  ViewAnswer(const ast::Select& query, const sql::TableDef& view) : query_(query), view_(view), of_view_(parse_view_query(*view.materialized)) {
    for (std::size_t i = 0; i < of_view_->targets.size(); ++i) {
      const ast::Expression& value = *of_view_->targets[i].value;
      columns_.emplace(compared(value), view.columns[i].name);
      const auto* column = std::get_if<ast::ColumnRef>(&value.node);
      if (column != nullptr) plain_groups_.emplace(column->names.back(), view.columns[i].name);
    }
  }

  std::optional<std::string> text(const std::vector<std::string>& names) const {
    const auto groups = groups_of(query_);
    if (!groups || groups != groups_of(*of_view_)) return std::nullopt;
    std::string text = "SELECT ";
    for (std::size_t i = 0; i < query_.targets.size(); ++i) {
      const std::string* const column = column_of(*query_.targets[i].value);
      if (column == nullptr) return std::nullopt;
      text += fmt::format("{}{} AS {}", i == 0 ? "" : ", ", shown(*column), parser::quote_identifier(names[i]));
    }
    text += fmt::format(" FROM {}.{}", parser::quote_identifier(view_.schema), parser::quote_identifier(view_.name));
    const std::optional<std::string> condition = further_condition();
    if (!condition) return std::nullopt;
    text += *condition;
    const std::optional<std::string> order = this->order();
    if (!order) return std::nullopt;
    text += *order;
    for (const auto& [word, count] : {std::pair(" LIMIT ", &query_.limit_count), std::pair(" OFFSET ", &query_.limit_offset)}) {
      if (!*count) continue;
      const auto no_column = [](const std::string&) { return std::optional<std::string>(); };
      const std::optional<std::string> written = text_of(**count, no_column);
      if (!written) return std::nullopt;
      text += word + *written;
    }
    return text;
  }

 private:
  std::string shown(const std::string& column) const { return parser::quote_identifier(view_.name) + "." + parser::quote_identifier(column); }
  /// Returns the column of the view that has the value; null: there is none.
  const std::string* column_of(const ast::Expression& value) const {
    const auto found = columns_.find(compared(value));
    return found == columns_.end() || found->first.empty() ? nullptr : &found->second;
  }

  /// WHERE over the view: the conditions on groups that its own query does not have. Nullopt: the view has other rows.
  std::optional<std::string> further_condition() const {
    std::vector<const ast::Expression*> left = conditions_of(query_);
    for (const ast::Expression* condition : conditions_of(*of_view_)) {
      const auto found = std::ranges::find_if(left, [&](const ast::Expression* other) { return compared(*other) == compared(*condition); });
      if (found == left.end() || compared(*condition).empty()) return std::nullopt;
      left.erase(found);
    }
    std::string text;
    if (!left.empty() && query_.group_by.empty()) return std::nullopt;  // one row, whatever the condition says
    for (const ast::Expression* condition : left) {
      const auto of_group = [&](const std::string& name) {
        const auto found = plain_groups_.find(name);
        return found == plain_groups_.end() ? std::nullopt : std::optional(found->second);
      };
      const std::optional<std::string> written = is_simple(*condition) ? text_of(*condition, of_group) : std::nullopt;
      if (!written) return std::nullopt;
      text += (text.empty() ? " WHERE (" : " AND (") + *written + ")";
    }
    return text;
  }

  std::optional<std::string> order() const {
    std::string text;
    for (const ast::SortKey& key : query_.order_by) {
      if (key.direction == ast::SortDirection::kUsing) return std::nullopt;
      const std::optional<std::string> value = sorted_value(*key.value);
      if (!value) return std::nullopt;
      text += (text.empty() ? " ORDER BY " : ", ") + *value;
      if (key.direction == ast::SortDirection::kDescending) text += " DESC";
      if (key.nulls != ast::SortNulls::kDefault) text += key.nulls == ast::SortNulls::kFirst ? " NULLS FIRST" : " NULLS LAST";
    }
    return text;
  }

  std::optional<std::string> sorted_value(const ast::Expression& value) const {
    if (const auto* number = std::get_if<ast::IntegerLiteral>(&value.node)) return std::to_string(number->value);
    const auto* name = std::get_if<ast::ColumnRef>(&value.node);
    if (name != nullptr && name->names.size() == 1) {
      const auto found = std::ranges::find(query_.targets, name->names[0], &ast::Target::name);
      if (found != query_.targets.end()) return std::to_string(found - query_.targets.begin() + 1);
    }
    const std::string* const column = column_of(value);
    return column == nullptr ? std::nullopt : std::optional(shown(*column));
  }

  const ast::Select& query_;
  const sql::TableDef& view_;
  const std::shared_ptr<const ast::Select> of_view_;
  std::map<std::string, std::string> columns_;       // by the text of the value
  std::map<std::string, std::string> plain_groups_;  // by the column of the table
};

}  // namespace

bool may_have_view(const ast::Select& query, const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  if ((settings.left_out.rules & kViewsLeftOut) != 0 || settings.names != nullptr || settings.variables || settings.function || !has_plain_clauses(query)) return false;
  const TablePtr table = table_of(query, catalog, settings);
  return table && !table->security.enabled && std::ranges::any_of(table->triggers, sql::maintains_view);
}

std::optional<std::string> answer_from_view(const ast::Select& query, const std::vector<std::string>& columns, const NameUses& names,
                                            const sql::CatalogSnapshot& catalog, const BindSettings& settings) {
  const TablePtr table = table_of(query, catalog, settings);
  const auto meant = names.relations.find(&std::get<ast::TableRef>(query.from[0].node).name);
  if (meant == names.relations.end() || meant->second != table->oid) return std::nullopt;
  const std::string text = parser::to_sql(query, names.names_in(catalog), parser::QueryLayout::kCompact);
  const std::shared_ptr<const ast::Statement> canonical = parser::parse_statement(text);
  const auto& select = std::get<ast::Select>(canonical->node);
  if (select.targets.size() != columns.size()) return std::nullopt;
  for (const sql::TriggerDef& trigger : table->triggers) {
    if (!sql::maintains_view(trigger) || !trigger.is_for(sql::TriggerDef::Event::kInsert)) continue;
    const TablePtr view = catalog.find_table(sql::maintained_view(trigger));
    if (!view || !view->materialized || !view->populated || view->schema != table->schema) continue;
    if (std::optional<std::string> answer = ViewAnswer(select, *view).text(columns)) return answer;
  }
  return std::nullopt;
}

}  // namespace redquel::planner
