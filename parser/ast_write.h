#pragma once

#include "parser/ast_query.h"

namespace redquel::parser::ast {

/// A column that INSERT or SET names, possibly a part of it: `a`, `a[1]`, `a.b`.
struct AssignmentTarget {
  std::string column;
  std::vector<IndirectionStep> steps;
  std::uint32_t offset = 0;
};

/// `a = value`, or `(a, b) = row`: then `row` is set, `value` is a Row or a SubLink (or anything else of record type).
struct Assignment {
  std::vector<AssignmentTarget> targets;
  bool row = false;
  ExpressionPtr value;  // DefaultValue: DEFAULT
};

struct IndexElement {
  std::string column;        // empty: an expression
  ExpressionPtr expression;  // null: a column
  QualifiedName collation;
  QualifiedName operator_class;
  std::vector<Option> operator_class_options;
  SortDirection direction = SortDirection::kDefault;
  SortNulls nulls = SortNulls::kDefault;
};

/// ON CONFLICT (elements) WHERE … or ON CONFLICT ON CONSTRAINT name.
struct ConflictTarget {
  std::vector<IndexElement> elements;
  ExpressionPtr where;     // may be null
  std::string constraint;  // empty: by elements
  std::uint32_t offset = 0;
};

struct OnConflict {
  bool update = false;  // else DO NOTHING
  std::optional<ConflictTarget> target;
  std::vector<Assignment> assignments;
  ExpressionPtr where;  // may be null
  std::uint32_t offset = 0;
};

enum class Overriding { kNone, kUserValue, kSystemValue };

struct Insert {
  std::optional<WithClause> with;
  RelationName relation;
  std::string alias;
  std::vector<AssignmentTarget> columns;  // empty: all
  QueryPtr source;                        // null: DEFAULT VALUES
  Overriding overriding = Overriding::kNone;
  std::optional<OnConflict> on_conflict;
  std::vector<Target> returning;
};

struct Update {
  std::optional<WithClause> with;
  TableRef relation;
  std::vector<Assignment> assignments;
  std::vector<FromItem> from;
  ExpressionPtr where;  // may be null
  std::vector<Target> returning;
};

struct Delete {
  std::optional<WithClause> with;
  TableRef relation;
  std::vector<FromItem> using_items;
  ExpressionPtr where;  // may be null
  std::vector<Target> returning;
};

enum class MergeAction { kInsert, kUpdate, kDelete, kDoNothing };

struct MergeWhen {
  bool matched = false;
  MergeAction action = MergeAction::kDoNothing;
  ExpressionPtr condition;                // may be null
  std::vector<Assignment> assignments;    // kUpdate
  std::vector<AssignmentTarget> columns;  // kInsert
  Expressions values;                     // kInsert; empty: DEFAULT VALUES
  Overriding overriding = Overriding::kNone;
};

struct Merge {
  std::optional<WithClause> with;
  TableRef relation;
  FromItemPtr source;
  ExpressionPtr on;
  std::vector<MergeWhen> whens;
};

}  // namespace redquel::parser::ast
