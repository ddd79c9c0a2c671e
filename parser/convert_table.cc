#include <utility>

#include "parser/convert.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::parser {
namespace {

ast::ForeignKeyAction convert_foreign_key_action(const char* code) {
  switch (code[0]) {
    case 'r':
      return ast::ForeignKeyAction::kRestrict;
    case 'c':
      return ast::ForeignKeyAction::kCascade;
    case 'n':
      return ast::ForeignKeyAction::kSetNull;
    case 'd':
      return ast::ForeignKeyAction::kSetDefault;
    default:
      return ast::ForeignKeyAction::kNoAction;
  }
}

ast::ForeignKeyConstraint convert_foreign_key(const PgQuery__Constraint& constraint) {
  ast::ForeignKeyConstraint key;
  key.columns = convert_names(nodes(constraint.fk_attrs, constraint.n_fk_attrs));
  if (constraint.pktable != nullptr) key.referenced = convert_relation(*constraint.pktable);
  key.referenced_columns = convert_names(nodes(constraint.pk_attrs, constraint.n_pk_attrs));
  key.match = constraint.fk_matchtype[0] == 'f'   ? ast::ForeignKeyMatch::kFull
              : constraint.fk_matchtype[0] == 'p' ? ast::ForeignKeyMatch::kPartial
                                                  : ast::ForeignKeyMatch::kSimple;
  key.on_update = convert_foreign_key_action(constraint.fk_upd_action);
  key.on_delete = convert_foreign_key_action(constraint.fk_del_action);
  key.on_delete_columns = convert_names(nodes(constraint.fk_del_set_cols, constraint.n_fk_del_set_cols));
  return key;
}

ast::KeyConstraint convert_key(const PgQuery__Constraint& constraint) {
  ast::KeyConstraint key;
  key.primary = constraint.contype == PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY;
  key.nulls_not_distinct = constraint.nulls_not_distinct;
  key.columns = convert_names(nodes(constraint.keys, constraint.n_keys));
  key.including = convert_names(nodes(constraint.including, constraint.n_including));
  key.options = convert_storage_options(nodes(constraint.options, constraint.n_options));
  key.using_index = constraint.indexname;
  key.tablespace = constraint.indexspace;
  return key;
}

/// Each item is a list of an element and its operator's name.
ast::ExclusionConstraint convert_exclusion(const PgQuery__Constraint& constraint) {
  ast::ExclusionConstraint exclusion;
  exclusion.access_method = constraint.access_method;
  for (const Node* item : nodes(constraint.exclusions, constraint.n_exclusions)) {
    const Nodes parts = list_items(item);
    exclusion.elements.push_back(convert_index_element(*parts[0]->index_elem));
    exclusion.operators.push_back(convert_names(list_items(parts[1])));
  }
  exclusion.including = convert_names(nodes(constraint.including, constraint.n_including));
  exclusion.options = convert_storage_options(nodes(constraint.options, constraint.n_options));
  if (constraint.where_clause != nullptr) exclusion.where = convert_expression(constraint.where_clause);
  exclusion.tablespace = constraint.indexspace;
  return exclusion;
}

/// Returns true for constraints that can be DEFERRABLE.
bool takes_attributes(const ast::Constraint* constraint) {
  return constraint != nullptr && (std::holds_alternative<ast::KeyConstraint>(constraint->node) ||
                                   std::holds_alternative<ast::ExclusionConstraint>(constraint->node) ||
                                   std::holds_alternative<ast::ForeignKeyConstraint>(constraint->node));
}

/// Reads a column's constraint list: folds DEFERRABLE, INITIALLY DEFERRED and their opposites, which are separate elements there, into the
/// constraint before them (PostgreSQL's transformConstraintAttrs()).
class ConstraintAttributes {
 public:
  void start_constraint() { saw_deferrability_ = saw_initially_ = false; }

  /// False if `constraint` is no such attribute.
  bool apply(const PgQuery__Constraint& constraint, ast::Constraint* target) {
    switch (constraint.contype) {
      case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRABLE:
        set_deferrable(constraint, target, true);
        return true;
      case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_NOT_DEFERRABLE:
        set_deferrable(constraint, target, false);
        return true;
      case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRED:
        set_initially(constraint, target, true);
        return true;
      case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_IMMEDIATE:
        set_initially(constraint, target, false);
        return true;
      default:
        return false;
    }
  }

 private:
  [[noreturn]] static void fail(const PgQuery__Constraint& constraint, const std::string& message) {
    throw sql::SqlError(sqlstate::kSyntaxError, message).at(convert_location(constraint.location));
  }

  void set_deferrable(const PgQuery__Constraint& constraint, ast::Constraint* target, bool deferrable) {
    const std::string name = deferrable ? "DEFERRABLE" : "NOT DEFERRABLE";
    if (!takes_attributes(target)) fail(constraint, "misplaced " + name + " clause");
    if (saw_deferrability_) fail(constraint, "multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed");
    saw_deferrability_ = true;
    target->deferrable = deferrable;
    if (!deferrable && saw_initially_ && target->initially_deferred) {
      fail(constraint, "constraint declared INITIALLY DEFERRED must be DEFERRABLE");
    }
  }

  void set_initially(const PgQuery__Constraint& constraint, ast::Constraint* target, bool deferred) {
    const std::string name = deferred ? "INITIALLY DEFERRED" : "INITIALLY IMMEDIATE";
    if (!takes_attributes(target)) fail(constraint, "misplaced " + name + " clause");
    if (saw_initially_) fail(constraint, "multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed");
    saw_initially_ = true;
    target->initially_deferred = deferred;
    if (!deferred) return;
    if (!saw_deferrability_) {
      target->deferrable = true;
    } else if (!target->deferrable) {
      fail(constraint, "constraint declared INITIALLY DEFERRED must be DEFERRABLE");
    }
  }

  bool saw_deferrability_ = false;
  bool saw_initially_ = false;
};

std::vector<ast::Constraint> convert_column_constraints(Nodes items) {
  std::vector<ast::Constraint> constraints;
  ConstraintAttributes attributes;
  for (const Node* item : items) {
    const PgQuery__Constraint& constraint = *item->constraint;
    if (attributes.apply(constraint, constraints.empty() ? nullptr : &constraints.back())) continue;
    attributes.start_constraint();
    constraints.push_back(convert_constraint(constraint));
  }
  return constraints;
}

ast::LikeClause convert_like(const PgQuery__TableLikeClause& like) {
  // CREATE_TABLE_LIKE_… of PostgreSQL's nodes/parsenodes.h.
  const auto has = [&like](int bit) { return ((like.options >> bit) & 1U) != 0; };
  return {.source = convert_relation(*like.relation),
          .comments = has(0),
          .compression = has(1),
          .constraints = has(2),
          .defaults = has(3),
          .generated = has(4),
          .identity = has(5),
          .indexes = has(6),
          .statistics = has(7),
          .storage = has(8)};
}

ast::OnCommit convert_on_commit(PgQuery__OnCommitAction action) {
  switch (action) {
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_PRESERVE_ROWS:
      return ast::OnCommit::kPreserveRows;
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DELETE_ROWS:
      return ast::OnCommit::kDeleteRows;
    case PG_QUERY__ON_COMMIT_ACTION__ONCOMMIT_DROP:
      return ast::OnCommit::kDrop;
    default:
      return ast::OnCommit::kNone;
  }
}

}  // namespace

ast::Constraint convert_constraint(const PgQuery__Constraint& constraint) {
  ast::Constraint result;
  result.name = constraint.conname;
  result.deferrable = constraint.deferrable;
  result.initially_deferred = constraint.initdeferred;
  result.not_valid = constraint.skip_validation;
  result.offset = convert_location(constraint.location);
  switch (constraint.contype) {
    case PG_QUERY__CONSTR_TYPE__CONSTR_NOTNULL:
      result.node = ast::NotNullConstraint{};
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_DEFAULT:
      result.node = ast::DefaultConstraint{convert_expression(constraint.raw_expr)};
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_IDENTITY:
      result.node = ast::IdentityConstraint{constraint.generated_when[0] == 'a',
                                            convert_options(nodes(constraint.options, constraint.n_options))};
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_GENERATED:
      result.node = ast::GeneratedConstraint{convert_expression(constraint.raw_expr)};
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_CHECK:
      result.node = ast::CheckConstraint{convert_expression(constraint.raw_expr), constraint.is_no_inherit != 0};
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_PRIMARY:
    case PG_QUERY__CONSTR_TYPE__CONSTR_UNIQUE:
      result.node = convert_key(constraint);
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_EXCLUSION:
      result.node = convert_exclusion(constraint);
      break;
    case PG_QUERY__CONSTR_TYPE__CONSTR_FOREIGN:
      result.node = convert_foreign_key(constraint);
      break;
    default:
      result.node = ast::NullConstraint{};
      break;
  }
  return result;
}

ast::ColumnDefinition convert_column(const PgQuery__ColumnDef& column) {
  ast::ColumnDefinition result;
  result.name = column.colname;
  if (column.type_name != nullptr) result.type = convert_type(*column.type_name);
  if (column.coll_clause != nullptr) {
    result.collation = convert_names(nodes(column.coll_clause->collname, column.coll_clause->n_collname));
    result.collation_offset = convert_location(column.coll_clause->location);
  }
  result.compression = column.compression;
  result.storage = column.storage;
  result.constraints = convert_column_constraints(nodes(column.constraints, column.n_constraints));
  result.foreign_options = convert_options(nodes(column.fdwoptions, column.n_fdwoptions));
  result.offset = convert_location(column.location);
  return result;
}

namespace {

ast::PartitionSpec convert_partition_spec(const PgQuery__PartitionSpec& spec) {
  ast::PartitionSpec result;
  result.strategy = spec.strategy;
  result.offset = convert_location(spec.location);
  for (const Node* item : nodes(spec.part_params, spec.n_part_params)) {
    const PgQuery__PartitionElem& element = *item->partition_elem;
    result.elements.push_back({element.name, convert_expression(element.expr), convert_names(nodes(element.collation, element.n_collation)),
                               convert_names(nodes(element.opclass, element.n_opclass)), convert_location(element.location)});
  }
  return result;
}

}  // namespace

ast::PartitionBound convert_partition_bound(const PgQuery__PartitionBoundSpec& bound) {
  using Strategy = ast::PartitionBound::Strategy;
  ast::PartitionBound result;
  const std::string_view strategy = bound.strategy;
  if (!bound.is_default) result.strategy = strategy == "l" ? Strategy::kList : strategy == "r" ? Strategy::kRange : Strategy::kHash;
  result.modulus = bound.modulus;
  result.remainder = bound.remainder;
  result.values = convert_expressions(nodes(bound.listdatums, bound.n_listdatums));
  result.lower = convert_expressions(nodes(bound.lowerdatums, bound.n_lowerdatums));
  result.upper = convert_expressions(nodes(bound.upperdatums, bound.n_upperdatums));
  result.offset = convert_location(bound.location);
  return result;
}

ast::CreateTable convert_create_table(const PgQuery__CreateStmt& create) {
  ast::CreateTable result;
  result.relation = convert_relation(*create.relation);
  result.persistence = convert_persistence(*create.relation);
  result.if_not_exists = create.if_not_exists;
  for (const Node* item : nodes(create.table_elts, create.n_table_elts)) {
    switch (item->node_case) {
      case PG_QUERY__NODE__NODE_COLUMN_DEF:
        result.elements.emplace_back(convert_column(*item->column_def));
        break;
      case PG_QUERY__NODE__NODE_CONSTRAINT:
        result.elements.emplace_back(convert_constraint(*item->constraint));
        break;
      case PG_QUERY__NODE__NODE_TABLE_LIKE_CLAUSE:
        result.elements.emplace_back(convert_like(*item->table_like_clause));
        break;
      default:
        throw sql::not_supported("this table element");
    }
  }
  for (const Node* item : nodes(create.inh_relations, create.n_inh_relations)) {
    result.inherits.push_back(convert_relation(*item->range_var));
  }
  if (create.partspec != nullptr) result.partition_by = convert_partition_spec(*create.partspec);
  if (create.partbound != nullptr) result.partition_of = convert_partition_bound(*create.partbound);
  if (create.of_typename != nullptr) result.of_type = convert_type(*create.of_typename);
  result.options = convert_storage_options(nodes(create.options, create.n_options));
  result.on_commit = convert_on_commit(create.oncommit);
  result.tablespace = create.tablespacename;
  result.access_method = create.access_method;
  return result;
}

ast::CreateIndex convert_create_index(const PgQuery__IndexStmt& create) {
  ast::CreateIndex result;
  result.name = create.idxname;
  result.relation = convert_relation(*create.relation);
  result.only = !create.relation->inh;
  result.unique = create.unique;
  result.nulls_not_distinct = create.nulls_not_distinct;
  result.concurrently = create.concurrent;
  result.if_not_exists = create.if_not_exists;
  result.access_method = create.access_method;
  result.elements = convert_index_elements(nodes(create.index_params, create.n_index_params));
  result.including = convert_index_elements(nodes(create.index_including_params, create.n_index_including_params));
  result.where = convert_expression(create.where_clause);
  result.options = convert_storage_options(nodes(create.options, create.n_options));
  result.tablespace = create.table_space;
  return result;
}

}  // namespace redquel::parser
