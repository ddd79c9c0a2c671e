#include <algorithm>
#include <cstddef>
#include <utility>

#include "parser/deparse.h"
#include "parser/sql_writer.h"
#include "sql/error.h"
#include "sql/stack_depth.h"

namespace redquel::parser {

void SqlWriter::relation(const ast::RelationName& written) {
  const bool is_known = names_ != nullptr && names_->relations.contains(&written);
  const ast::RelationName& relation = is_known ? names_->relations.at(&written) : written;
  if (is_known && lays_out()) {
    *this << "\1";
    name(relation.schema);
    *this << ".\2";
    name(relation.name);
    *this << "\3";
    return;
  }
  if (!relation.catalog.empty()) {
    name(relation.catalog);
    *this << ".";
  }
  if (!relation.schema.empty()) {
    name(relation.schema);
    *this << ".";
  }
  name(relation.name);
}

void SqlWriter::alias(const ast::Alias& alias) {
  *this << (lays_out() ? " " : " AS ");
  name(alias.name);
  if (alias.columns.empty()) return;
  *this << "(";
  names(alias.columns);
  *this << ")";
}

void SqlWriter::record_columns(const std::vector<ast::RecordColumn>& columns, std::span<const std::string> shown) {
  *this << "(";
  list(columns, [&](const ast::RecordColumn& column) {
    const auto place = static_cast<std::size_t>(&column - columns.data());
    name(place < shown.size() ? shown[place] : column.name);
    *this << " ";
    type(column.type);
    if (column.collation.empty()) return;
    *this << " COLLATE ";
    qualified(column.collation);
  });
  *this << ")";
}

// --- FROM ----------------------------------------------------------------------------------------------------------

void SqlWriter::function_ref(const ast::FunctionRef& range, const ast::FromItem& item) {
  const auto source = names_ == nullptr ? decltype(names_->sources.end()){} : names_->sources.find(&item);
  const bool is_known = lays_out() && source != names_->sources.end();
  if (range.lateral || (is_known && source->second.is_lateral)) *this << "LATERAL ";
  if (lays_out()) {
    laid_out_functions(range.functions);
  } else {
    if (range.rows_from) *this << "ROWS FROM (";
    list(range.functions, [this](const ast::FunctionItem& function) { function_item(function); });
    if (range.rows_from) *this << ")";
  }
  if (range.with_ordinality) *this << " WITH ORDINALITY";
  const std::optional<ast::Alias> shown = is_known ? shown_alias(item, range.alias) : range.alias;
  const bool is_lone = lays_out() && range.functions.size() == 1;
  const std::vector<ast::RecordColumn>& columns = is_lone && range.columns.empty() ? range.functions[0].columns : range.columns;
  const bool renames = is_lone && shown && range.columns.empty();
  if (columns.empty()) {
    if (shown) alias(*shown);
    return;
  }
  *this << (lays_out() ? " " : " AS ");
  if (shown) name(shown->name);
  record_columns(columns, renames ? std::span(shown->columns) : std::span<const std::string>());
}

void SqlWriter::function_item(const ast::FunctionItem& function) {
  expression(*function.call);
  if (function.columns.empty()) return;
  *this << " AS ";
  record_columns(function.columns);
}

/// PostgreSQL takes unnest() of several arrays apart, and shows several calls of unnest() as one.
void SqlWriter::laid_out_functions(const std::vector<ast::FunctionItem>& functions) {
  const auto unnested = [](const ast::FunctionItem& item) -> const std::vector<ast::Argument>* {
    const auto* call = std::get_if<ast::FunctionCall>(&item.call->node);
    return call != nullptr && call->name.back() == "unnest" && item.columns.empty() ? &call->arguments : nullptr;
  };
  std::size_t calls = 0;
  for (const ast::FunctionItem& item : functions) calls += unnested(item) ? unnested(item)->size() : 1;
  if (calls == 1) return expression(*functions[0].call);
  const bool is_unnest = std::ranges::all_of(functions, unnested);
  *this << (is_unnest ? "UNNEST(" : "ROWS FROM(");
  list(functions, [&](const ast::FunctionItem& item) {
    const auto* arrays = unnested(item);
    if (arrays == nullptr) return function_item(item);
    list(*arrays, [&](const ast::Argument& array) {
      if (!is_unnest) *this << "unnest(";
      expression(*array.value);
      if (!is_unnest) *this << ")";
    });
  });
  *this << ")";
}

void SqlWriter::join(const ast::Join& join) {
  const bool parentheses = lays_out() ? is_plain() || join.alias.has_value() : join.alias.has_value();
  if (parentheses) *this << "(";
  const auto side = [this, &join](const ast::FromItem& item) {
    const auto* inner = std::get_if<ast::Join>(&item.node);
    const bool is_right = &item == join.right.get();
    const bool parentheses = inner != nullptr && !inner->alias && (!lays_out() || (is_right && !is_plain()));
    if (parentheses) *this << "(";
    from_item(item);
    if (parentheses) *this << ")";
  };
  side(*join.left);
  if (lays_out()) line(-8, 8, 4);
  const auto natural = names_ == nullptr ? decltype(names_->natural_columns.end()){} : names_->natural_columns.find(&join);
  const bool is_told = lays_out() && join.natural && natural != names_->natural_columns.end();
  const std::vector<std::string>& merged = is_told ? natural->second : join.using_columns;
  const bool has_nothing_common = is_told && merged.empty();
  if (join.natural && !is_told) *this << " NATURAL";
  switch (has_nothing_common && join.kind == ast::JoinKind::kInner ? ast::JoinKind::kCross : join.kind) {
    case ast::JoinKind::kInner:
      *this << " JOIN ";
      break;
    case ast::JoinKind::kLeft:
      *this << " LEFT JOIN ";
      break;
    case ast::JoinKind::kRight:
      *this << " RIGHT JOIN ";
      break;
    case ast::JoinKind::kFull:
      *this << " FULL JOIN ";
      break;
    case ast::JoinKind::kCross:
      *this << " CROSS JOIN ";
      break;
  }
  side(*join.right);
  if (has_nothing_common && join.kind != ast::JoinKind::kInner) *this << " ON TRUE";
  if (!merged.empty()) {
    *this << " USING (";
    names(merged);
    *this << ")";
    if (!join.using_alias.empty()) {
      *this << " AS ";
      name(join.using_alias);
    }
  }
  if (join.on) {
    *this << " ON ";
    if (is_plain()) *this << "(";
    expression(*join.on);
    if (is_plain()) *this << ")";
  }
  if (parentheses) *this << ")";
  if (join.alias) alias(*join.alias);
}

void SqlWriter::from_item(const ast::FromItem& item) {
  sql::check_stack_depth();
  struct WriteFromItem {
    SqlWriter& sql;
    const ast::FromItem& item;
    void operator()(const ast::TableRef& table) const {
      if (table.only) sql << "ONLY ";
      sql.relation(table.name);
      if (const auto alias = sql.shown_alias(item, table.alias)) sql.alias(*alias);
    }
    void operator()(const ast::SubqueryRef& subquery) const {
      if (subquery.lateral) sql << "LATERAL ";
      sql << "(";
      sql.select(*subquery.query);
      sql << ")";
      if (const auto alias = sql.shown_alias(item, subquery.alias)) sql.alias(*alias);
    }
    void operator()(const ast::FunctionRef& range) const { sql.function_ref(range, item); }
    void operator()(const ast::Join& join) const { sql.join(join); }
    void operator()(const ast::TableSample& sample) const {
      sql.from_item(*sample.relation);
      sql << " TABLESAMPLE ";
      sql.qualified(sample.method);
      sql << " (";
      sql.expressions(sample.arguments);
      sql << ")";
      if (!sample.repeatable) return;
      sql << " REPEATABLE (";
      sql.expression(*sample.repeatable);
      sql << ")";
    }
  };
  std::visit(WriteFromItem{*this, item}, item.node);
}

// --- SELECT --------------------------------------------------------------------------------------------------------

void SqlWriter::targets(const std::vector<ast::Target>& targets, bool names_nothing) {
  bool first = true;
  std::size_t separated = 0;  // where the last comma ends
  const auto separate = [&] {
    if (!first) *this << (lays_out() ? "," : ", ");
    separated = out_.size();
    if (!first && lays_out()) line(-8, 8, 4);
    first = false;
  };
  for (const ast::Target& target : targets) {
    const auto* column = std::get_if<ast::ColumnRef>(&target.value->node);
    if (column != nullptr && names_ != nullptr && names_->stars.contains(column)) {
      for (const QueryNames::StarColumn& star : names_->stars.at(column)) {
        separate();
        owned_name(star.names, star.owner);
        if (star.names.back() == star.column) continue;
        *this << " AS ";
        name(star.column);
      }
      continue;
    }
    separate();
    expression(*target.value);
    if (out_.compare(separated, 2, "\n\n") == 0) out_.erase(separated, 1);  // CASE has begun a line of its own
    const bool is_known = names_ != nullptr && names_->targets.contains(&target);
    const std::string& as = is_known ? names_->targets.at(&target) : target.name;
    const bool is_plain = is_known && column != nullptr && names_->columns.contains(column) && names_->columns.at(column).back() == as &&
                          !names_->parameter_columns.contains(column);
    if (as.empty() || is_plain || (names_nothing && as == "?column?")) continue;
    *this << " AS ";
    name(as);
  }
}

void SqlWriter::group_elements(const std::vector<ast::GroupElement>& elements, bool in_sets) {
  list(elements, [this, in_sets](const ast::GroupElement& element) {
    if (const auto* value = std::get_if<ast::ExpressionPtr>(&element)) {
      const auto* row = std::get_if<ast::Row>(&(*value)->node);
      if (!lays_out() || ((row == nullptr || row->explicit_row) && !in_sets)) return sort_value(**value);
      *this << "(";
      if (row != nullptr && !row->explicit_row) {
        list(row->items, [this](const ast::ExpressionPtr& item) { sort_value(*item); });
      } else {
        sort_value(**value);
      }
      *this << ")";
      return;
    }
    const ast::GroupingSet& set = *std::get<std::unique_ptr<const ast::GroupingSet>>(element);
    switch (set.kind) {
      case ast::GroupingSetKind::kEmpty:
        *this << "()";
        return;
      case ast::GroupingSetKind::kRollup:
        *this << (lays_out() ? "ROLLUP(" : "ROLLUP (");
        break;
      case ast::GroupingSetKind::kCube:
        *this << (lays_out() ? "CUBE(" : "CUBE (");
        break;
      case ast::GroupingSetKind::kSets:
        *this << "GROUPING SETS (";
        break;
    }
    group_elements(set.elements, set.kind == ast::GroupingSetKind::kSets);
    *this << ")";
  });
}

void SqlWriter::lock_strength(ast::LockStrength strength) {
  switch (strength) {
    case ast::LockStrength::kForKeyShare:
      *this << " FOR KEY SHARE";
      break;
    case ast::LockStrength::kForShare:
      *this << " FOR SHARE";
      break;
    case ast::LockStrength::kForNoKeyUpdate:
      *this << " FOR NO KEY UPDATE";
      break;
    case ast::LockStrength::kForUpdate:
      *this << " FOR UPDATE";
      break;
  }
}

void SqlWriter::lock_wait(ast::LockWait wait) {
  if (wait == ast::LockWait::kNoWait) *this << " NOWAIT";
  if (wait == ast::LockWait::kSkipLocked) *this << " SKIP LOCKED";
}

void SqlWriter::locking(const ast::LockingClause& locking) {
  lock_strength(locking.strength);
  if (!locking.relations.empty()) {
    *this << " OF ";
    list(locking.relations, [this](const ast::RelationName& name) { relation(name); });
  }
  lock_wait(locking.wait);
}

void SqlWriter::common_table_expression(const ast::CommonTableExpression& expression) {
  name(expression.name);
  if (!expression.columns.empty()) {
    *this << "(";
    names(expression.columns);
    *this << ")";
  }
  *this << " AS ";
  if (expression.materialization == ast::Materialization::kAlways) *this << "MATERIALIZED ";
  if (expression.materialization == ast::Materialization::kNever) *this << "NOT MATERIALIZED ";
  *this << "(";
  if (lays_out()) line(0, 0, 0);
  statement(*expression.statement);
  if (lays_out()) line(0, 0, 0);
  *this << ")";
  if (expression.search) {
    *this << (expression.search->breadth_first ? " SEARCH BREADTH FIRST BY " : " SEARCH DEPTH FIRST BY ");
    names(expression.search->columns);
    *this << " SET ";
    name(expression.search->sequence_column);
  }
  if (expression.cycle) {
    *this << " CYCLE ";
    names(expression.cycle->columns);
    *this << " SET ";
    name(expression.cycle->mark_column);
    const auto is_literal = [](const ast::Expression& written, bool value) {
      const auto* literal = std::get_if<ast::BooleanLiteral>(&written.node);
      return literal != nullptr && literal->value == value;
    };
    if (!is_literal(*expression.cycle->mark_value, true) || !is_literal(*expression.cycle->mark_default, false)) {
      *this << " TO ";
      this->expression(*expression.cycle->mark_value);
      *this << " DEFAULT ";
      this->expression(*expression.cycle->mark_default);
    }
    *this << " USING ";
    name(expression.cycle->path_column);
  }
}

void SqlWriter::with(const ast::WithClause& with) {
  if (lays_out()) {
    indentation_ += 8;
    *this << " ";
  }
  *this << (with.recursive ? "WITH RECURSIVE " : "WITH ");
  list(with.expressions, [this](const ast::CommonTableExpression& item) { common_table_expression(item); });
  if (!lays_out()) {
    *this << " ";
    return;
  }
  indentation_ -= 8;
  line(0, 0, 0);
}

void SqlWriter::set_operand(const ast::Select& select) {
  const bool is_plain = lays_out() && select.order_by.empty() && !select.limit_count && !select.limit_offset && !select.with &&
                        select.set_operator == ast::SetOperator::kNone;
  if (!is_plain) *this << "(";
  this->select(select);
  if (!is_plain) *this << ")";
}

std::string_view set_operator_name(ast::SetOperator set_operator) {
  switch (set_operator) {
    case ast::SetOperator::kIntersect:
      return "INTERSECT";
    case ast::SetOperator::kExcept:
      return "EXCEPT";
    default:
      return "UNION";
  }
}

namespace {

/// A set operation without clauses of its own: its operands may stand beside those of the one around it.
bool is_bare_set_operation(const ast::Select& select) {
  return select.set_operator != ast::SetOperator::kNone && select.order_by.empty() && !select.limit_count && !select.limit_offset &&
         !select.with && select.locking.empty();
}

}  // namespace

void SqlWriter::set_operands(const ast::Select& select, bool names_nothing) {
  const auto side = [&](const ast::Select& operand, bool is_enclosed, bool has_no_names) {
    if (is_enclosed) {
      *this << "(";
      indentation_ += 8;
      line(0, 0, 0);
    }
    names_nothing_ = has_no_names;
    if (is_bare_set_operation(operand)) {
      set_operands(operand, std::exchange(names_nothing_, false));
    } else {
      set_operand(operand);
    }
    if (is_enclosed) indentation_ -= 8;
  };
  const ast::Select& left = *select.left;
  const bool is_same = left.set_operator == select.set_operator && left.set_all == select.set_all;
  const bool encloses_left = is_bare_set_operation(left) && !is_same;
  side(left, encloses_left, names_nothing);
  line(0, 0, 0);
  if (encloses_left) *this << ") ";
  *this << set_operator_name(select.set_operator) << (select.set_all ? " ALL" : "");
  const bool encloses_right = is_bare_set_operation(*select.right);
  if (encloses_right) {
    *this << " ";
  } else {
    line(0, 0, 0);
  }
  side(*select.right, encloses_right, true);
  if (!encloses_right) return;
  line(0, 0, 0);
  *this << ")";
}

void SqlWriter::clause(std::string_view keyword, int plus) {
  if (lays_out()) line(-8, 8, plus);
  *this << " " << keyword << " ";
}

void SqlWriter::from_items(std::string_view keyword, const std::vector<ast::FromItem>& items) {
  clause(keyword, 2);
  bool first = true;
  for (const ast::FromItem& item : items) {
    if (!first) *this << (lays_out() ? "," : ", ");
    if (!first && lays_out()) line(-8, 8, 4);
    first = false;
    from_item(item);
  }
}

void SqlWriter::select_core(const ast::Select& select, bool names_nothing) {
  if (!select.values.empty()) {
    *this << (layout_ == QueryLayout::kPlain || layout_ == QueryLayout::kPretty ? is_only_row_ ? "VALUES " : " VALUES " : "VALUES ");
    list(select.values, [this](const ast::Expressions& row) {
      *this << "(";
      bool first = true;
      for (const ast::ExpressionPtr& value : row) {
        if (!first) *this << (lays_out() && !is_only_row_ ? "," : ", ");
        first = false;
        expression(*value);
      }
      *this << ")";
    });
    return;
  }
  *this << (lays_out() && layout_ != QueryLayout::kLine ? " SELECT" : "SELECT");
  if (select.distinct) *this << " DISTINCT";
  if (!select.distinct_on.empty()) {
    *this << " ON (";
    sorted_ = &select;
    list(select.distinct_on, [this](const ast::ExpressionPtr& value) { lays_out() ? sort_value(*value) : expression(*value); });
    sorted_ = nullptr;
    *this << ")";
  }
  if (!select.targets.empty()) *this << " ";
  targets(select.targets, names_nothing);
  if (!select.from.empty()) from_items("FROM", select.from);
  if (select.where) {
    clause("WHERE", 1);
    expression(*select.where);
  }
  if (!select.group_by.empty()) {
    clause(select.group_distinct ? "GROUP BY DISTINCT" : "GROUP BY", 1);
    sorted_ = &select;
    group_elements(select.group_by);
    sorted_ = nullptr;
  }
  if (select.having) {
    clause("HAVING", 0);
    expression(*select.having);
  }
  if (!select.windows.empty()) {
    clause("WINDOW", 1);
    list(select.windows, [this](const ast::WindowDefinition& definition) {
      name(definition.name);
      *this << " AS ";
      window(definition);
    });
  }
}

void SqlWriter::select(const ast::Select& select) {
  sql::check_stack_depth();
  const bool names_nothing = std::exchange(names_nothing_, false);
  const std::size_t used_before = used_names_.size();
  if (lays_out()) name_sources(select.from);
  if (select.with) with(*select.with);
  indentation_ += 8;
  if (select.set_operator == ast::SetOperator::kNone) {
    select_core(select, names_nothing);
  } else if (lays_out()) {
    indentation_ -= 8;
    set_operands(select, names_nothing);
    indentation_ += 8;
  } else {
    set_operand(*select.left);
    *this << " " << set_operator_name(select.set_operator) << (select.set_all ? " ALL " : " ");
    set_operand(*select.right);
  }
  if (!select.order_by.empty()) {
    clause("ORDER BY", 1);
    sorted_ = &select;
    sort_keys(select.order_by);
    sorted_ = nullptr;
  }
  if (select.limit_offset) {
    clause("OFFSET", 0);
    expression(*select.limit_offset);
  }
  if (select.limit_count) {
    const bool all = std::holds_alternative<ast::NullLiteral>(select.limit_count->node);
    if (select.with_ties) {
      clause("FETCH FIRST", 0);
      *this << "(";
      expression(*select.limit_count);
      *this << ") ROWS WITH TIES";
    } else {
      clause("LIMIT", 0);
      if (all) {
        *this << "ALL";
      } else {
        expression(*select.limit_count);
      }
    }
  }
  for (const ast::LockingClause& clause : select.locking) {
    if (!lays_out()) {
      locking(clause);
      continue;
    }
    for (const ast::FromItem& item : select.from) locked_source(clause, item);
  }
  indentation_ -= 8;
  used_names_.resize(used_before);
}

void SqlWriter::statement(const ast::Statement& statement) {
  if (const auto* query = std::get_if<ast::Select>(&statement.node)) return select(*query);
  if (const auto* rows = std::get_if<ast::Insert>(&statement.node)) return insert(*rows);
  if (const auto* rows = std::get_if<ast::Update>(&statement.node)) return update(*rows);
  if (const auto* rows = std::get_if<ast::Delete>(&statement.node)) return delete_rows(*rows);
  throw sql::not_supported("this statement as stored text");
}

}  // namespace redquel::parser
