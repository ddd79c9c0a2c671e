#include <cstddef>

#include "parser/deparse.h"
#include "parser/sql_writer.h"
#include "sql/error.h"
#include "sql/stack_depth.h"

namespace redquel::parser {

void SqlWriter::relation(const ast::RelationName& relation) {
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
  *this << " AS ";
  name(alias.name);
  if (alias.columns.empty()) return;
  *this << "(";
  names(alias.columns);
  *this << ")";
}

void SqlWriter::record_columns(const std::vector<ast::RecordColumn>& columns) {
  *this << "(";
  list(columns, [this](const ast::RecordColumn& column) {
    name(column.name);
    *this << " ";
    type(column.type);
    if (column.collation.empty()) return;
    *this << " COLLATE ";
    qualified(column.collation);
  });
  *this << ")";
}

// --- FROM ----------------------------------------------------------------------------------------------------------

void SqlWriter::function_ref(const ast::FunctionRef& range) {
  if (range.lateral) *this << "LATERAL ";
  if (range.rows_from) *this << "ROWS FROM (";
  list(range.functions, [this](const ast::FunctionItem& function) {
    expression(*function.call);
    if (function.columns.empty()) return;
    *this << " AS ";
    record_columns(function.columns);
  });
  if (range.rows_from) *this << ")";
  if (range.with_ordinality) *this << " WITH ORDINALITY";
  if (range.columns.empty()) {
    if (range.alias) alias(*range.alias);
    return;
  }
  *this << " AS ";
  if (range.alias) name(range.alias->name);
  record_columns(range.columns);
}

void SqlWriter::join(const ast::Join& join) {
  if (join.alias) *this << "(";
  const auto side = [this](const ast::FromItem& item) {
    const auto* inner = std::get_if<ast::Join>(&item.node);
    const bool parentheses = inner != nullptr && !inner->alias;
    if (parentheses) *this << "(";
    from_item(item);
    if (parentheses) *this << ")";
  };
  side(*join.left);
  if (join.natural) *this << " NATURAL";
  switch (join.kind) {
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
  if (!join.using_columns.empty()) {
    *this << " USING (";
    names(join.using_columns);
    *this << ")";
    if (!join.using_alias.empty()) {
      *this << " AS ";
      name(join.using_alias);
    }
  }
  if (join.on) {
    *this << " ON ";
    expression(*join.on);
  }
  if (join.alias) {
    *this << ")";
    alias(*join.alias);
  }
}

void SqlWriter::from_item(const ast::FromItem& item) {
  sql::check_stack_depth();
  struct WriteFromItem {
    SqlWriter& sql;
    void operator()(const ast::TableRef& table) const {
      if (table.only) sql << "ONLY ";
      sql.relation(table.name);
      if (table.alias) sql.alias(*table.alias);
    }
    void operator()(const ast::SubqueryRef& subquery) const {
      if (subquery.lateral) sql << "LATERAL ";
      sql << "(";
      sql.select(*subquery.query);
      sql << ")";
      if (subquery.alias) sql.alias(*subquery.alias);
    }
    void operator()(const ast::FunctionRef& range) const { sql.function_ref(range); }
    void operator()(const ast::Join& join) const { sql.join(join); }
    void operator()(const ast::TableSample& sample) const {
      sql.from_item(*sample.relation);
      sql << " TABLESAMPLE ";
      sql.qualified(sample.method);
      sql << "(";
      sql.expressions(sample.arguments);
      sql << ")";
      if (!sample.repeatable) return;
      sql << " REPEATABLE (";
      sql.expression(*sample.repeatable);
      sql << ")";
    }
  };
  std::visit(WriteFromItem{*this}, item.node);
}

// --- SELECT --------------------------------------------------------------------------------------------------------

void SqlWriter::targets(const std::vector<ast::Target>& targets) {
  list(targets, [this](const ast::Target& target) {
    expression(*target.value);
    if (target.name.empty()) return;
    *this << " AS ";
    name(target.name);
  });
}

void SqlWriter::group_elements(const std::vector<ast::GroupElement>& elements) {
  list(elements, [this](const ast::GroupElement& element) {
    if (const auto* value = std::get_if<ast::ExpressionPtr>(&element)) return operand(**value);
    const ast::GroupingSet& set = *std::get<std::unique_ptr<const ast::GroupingSet>>(element);
    switch (set.kind) {
      case ast::GroupingSetKind::kEmpty:
        *this << "()";
        return;
      case ast::GroupingSetKind::kRollup:
        *this << "ROLLUP (";
        break;
      case ast::GroupingSetKind::kCube:
        *this << "CUBE (";
        break;
      case ast::GroupingSetKind::kSets:
        *this << "GROUPING SETS (";
        break;
    }
    group_elements(set.elements);
    *this << ")";
  });
}

void SqlWriter::locking(const ast::LockingClause& locking) {
  switch (locking.strength) {
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
  if (!locking.relations.empty()) {
    *this << " OF ";
    list(locking.relations, [this](const ast::RelationName& name) { relation(name); });
  }
  if (locking.wait == ast::LockWait::kNoWait) *this << " NOWAIT";
  if (locking.wait == ast::LockWait::kSkipLocked) *this << " SKIP LOCKED";
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
  statement(*expression.statement);
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
    *this << " TO ";
    this->expression(*expression.cycle->mark_value);
    *this << " DEFAULT ";
    this->expression(*expression.cycle->mark_default);
    *this << " USING ";
    name(expression.cycle->path_column);
  }
}

void SqlWriter::with(const ast::WithClause& with) {
  *this << (with.recursive ? "WITH RECURSIVE " : "WITH ");
  list(with.expressions, [this](const ast::CommonTableExpression& item) { common_table_expression(item); });
  *this << " ";
}

void SqlWriter::set_operand(const ast::Select& select) {
  *this << "(";
  this->select(select);
  *this << ")";
}

void SqlWriter::select_core(const ast::Select& select) {
  if (!select.values.empty()) {
    *this << "VALUES ";
    list(select.values, [this](const ast::Expressions& row) {
      *this << "(";
      expressions(row);
      *this << ")";
    });
    return;
  }
  *this << "SELECT";
  if (select.distinct) *this << " DISTINCT";
  if (!select.distinct_on.empty()) {
    *this << " ON (";
    expressions(select.distinct_on);
    *this << ")";
  }
  if (!select.targets.empty()) *this << " ";
  targets(select.targets);
  if (!select.from.empty()) {
    *this << " FROM ";
    list(select.from, [this](const ast::FromItem& item) { from_item(item); });
  }
  if (select.where) {
    *this << " WHERE ";
    expression(*select.where);
  }
  if (!select.group_by.empty()) {
    *this << (select.group_distinct ? " GROUP BY DISTINCT " : " GROUP BY ");
    group_elements(select.group_by);
  }
  if (select.having) {
    *this << " HAVING ";
    expression(*select.having);
  }
  if (!select.windows.empty()) {
    *this << " WINDOW ";
    list(select.windows, [this](const ast::WindowDefinition& definition) {
      name(definition.name);
      *this << " AS ";
      window(definition);
    });
  }
}

void SqlWriter::select(const ast::Select& select) {
  sql::check_stack_depth();
  if (select.into) throw sql::not_supported("SELECT ... INTO as stored text");
  if (select.with) with(*select.with);
  if (select.set_operator == ast::SetOperator::kNone) {
    select_core(select);
  } else {
    set_operand(*select.left);
    switch (select.set_operator) {
      case ast::SetOperator::kIntersect:
        *this << " INTERSECT ";
        break;
      case ast::SetOperator::kExcept:
        *this << " EXCEPT ";
        break;
      default:
        *this << " UNION ";
        break;
    }
    if (select.set_all) *this << "ALL ";
    set_operand(*select.right);
  }
  if (!select.order_by.empty()) {
    *this << " ORDER BY ";
    sort_keys(select.order_by);
  }
  if (select.limit_offset) {
    *this << " OFFSET ";
    expression(*select.limit_offset);
  }
  if (select.limit_count) {
    const bool all = std::holds_alternative<ast::NullLiteral>(select.limit_count->node);
    if (select.with_ties) {
      *this << " FETCH FIRST (";
      expression(*select.limit_count);
      *this << ") ROWS WITH TIES";
    } else {
      *this << " LIMIT ";
      if (all) {
        *this << "ALL";
      } else {
        expression(*select.limit_count);
      }
    }
  }
  for (const ast::LockingClause& clause : select.locking) locking(clause);
}

void SqlWriter::statement(const ast::Statement& statement) {
  if (const auto* query = std::get_if<ast::Select>(&statement.node)) return select(*query);
  if (const auto* rows = std::get_if<ast::Insert>(&statement.node)) return insert(*rows);
  if (const auto* rows = std::get_if<ast::Update>(&statement.node)) return update(*rows);
  if (const auto* rows = std::get_if<ast::Delete>(&statement.node)) return delete_rows(*rows);
  throw sql::not_supported("this statement as stored text");
}

}  // namespace redquel::parser
