#include "parser/convert.h"
#include "parser/role_name.h"

namespace redquel::parser {

std::uint32_t convert_location(std::int32_t location, std::uint32_t otherwise) {
  return location >= 0 ? static_cast<std::uint32_t>(location) : otherwise;
}

std::vector<std::string> convert_names(Nodes items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const Node* item : items) {
    if (is_string(item)) names.emplace_back(item->string->sval);
  }
  return names;
}

ast::RelationName convert_relation(const PgQuery__RangeVar& relation) {
  return {relation.catalogname, relation.schemaname, relation.relname, convert_location(relation.location)};
}

ast::TableRef convert_table_ref(const PgQuery__RangeVar& relation) {
  return {convert_relation(relation), !relation.inh, convert_alias(relation.alias)};
}

std::optional<ast::Alias> convert_alias(const PgQuery__Alias* alias) {
  if (alias == nullptr) return std::nullopt;
  return ast::Alias{alias->aliasname, convert_names(nodes(alias->colnames, alias->n_colnames))};
}

ast::Persistence convert_persistence(const PgQuery__RangeVar& relation) {
  switch (relation.relpersistence[0]) {
    case 't':
      return ast::Persistence::kTemporary;
    case 'u':
      return ast::Persistence::kUnlogged;
    default:
      return ast::Persistence::kPermanent;
  }
}

std::string convert_role(const PgQuery__RoleSpec* role) {
  if (role == nullptr) return {};
  switch (role->roletype) {
    case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CURRENT_ROLE:
    case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_CURRENT_USER:
      return std::string(kCurrentUser);
    case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_SESSION_USER:
      return std::string(kSessionUser);
    case PG_QUERY__ROLE_SPEC_TYPE__ROLESPEC_PUBLIC:
      return "public";
    default:
      return role->rolename;
  }
}

std::vector<std::string> convert_roles(Nodes items) {
  std::vector<std::string> roles;
  for (const Node* item : items) {
    if (item->node_case == PG_QUERY__NODE__NODE_ROLE_SPEC) roles.push_back(convert_role(item->role_spec));
    if (item->node_case == PG_QUERY__NODE__NODE_ACCESS_PRIV) roles.emplace_back(item->access_priv->priv_name);
  }
  return roles;
}

ast::TypeName convert_type(const PgQuery__TypeName& type) {
  ast::TypeName result;
  result.names = convert_names(nodes(type.names, type.n_names));
  result.modifiers = convert_expressions(nodes(type.typmods, type.n_typmods));
  for (const Node* bound : nodes(type.array_bounds, type.n_array_bounds)) {
    result.array_bounds.push_back(bound->node_case == PG_QUERY__NODE__NODE_INTEGER ? bound->integer->ival : -1);
  }
  result.set_of = type.setof;
  result.percent_type = type.pct_type;
  result.offset = convert_location(type.location);
  return result;
}

ast::ObjectType convert_object_type(PgQuery__ObjectType type) {
  using ast::ObjectType;
  switch (type) {
    case PG_QUERY__OBJECT_TYPE__OBJECT_ACCESS_METHOD:
      return ObjectType::kAccessMethod;
    case PG_QUERY__OBJECT_TYPE__OBJECT_AGGREGATE:
      return ObjectType::kAggregate;
    case PG_QUERY__OBJECT_TYPE__OBJECT_ATTRIBUTE:
      return ObjectType::kAttribute;
    case PG_QUERY__OBJECT_TYPE__OBJECT_CAST:
      return ObjectType::kCast;
    case PG_QUERY__OBJECT_TYPE__OBJECT_COLUMN:
      return ObjectType::kColumn;
    case PG_QUERY__OBJECT_TYPE__OBJECT_COLLATION:
      return ObjectType::kCollation;
    case PG_QUERY__OBJECT_TYPE__OBJECT_CONVERSION:
      return ObjectType::kConversion;
    case PG_QUERY__OBJECT_TYPE__OBJECT_DATABASE:
      return ObjectType::kDatabase;
    case PG_QUERY__OBJECT_TYPE__OBJECT_DOMAIN:
      return ObjectType::kDomain;
    case PG_QUERY__OBJECT_TYPE__OBJECT_DOMCONSTRAINT:
      return ObjectType::kDomainConstraint;
    case PG_QUERY__OBJECT_TYPE__OBJECT_EVENT_TRIGGER:
      return ObjectType::kEventTrigger;
    case PG_QUERY__OBJECT_TYPE__OBJECT_EXTENSION:
      return ObjectType::kExtension;
    case PG_QUERY__OBJECT_TYPE__OBJECT_FDW:
      return ObjectType::kForeignDataWrapper;
    case PG_QUERY__OBJECT_TYPE__OBJECT_FOREIGN_SERVER:
      return ObjectType::kForeignServer;
    case PG_QUERY__OBJECT_TYPE__OBJECT_FOREIGN_TABLE:
      return ObjectType::kForeignTable;
    case PG_QUERY__OBJECT_TYPE__OBJECT_FUNCTION:
      return ObjectType::kFunction;
    case PG_QUERY__OBJECT_TYPE__OBJECT_INDEX:
      return ObjectType::kIndex;
    case PG_QUERY__OBJECT_TYPE__OBJECT_LANGUAGE:
      return ObjectType::kLanguage;
    case PG_QUERY__OBJECT_TYPE__OBJECT_LARGEOBJECT:
      return ObjectType::kLargeObject;
    case PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW:
      return ObjectType::kMaterializedView;
    case PG_QUERY__OBJECT_TYPE__OBJECT_OPCLASS:
      return ObjectType::kOperatorClass;
    case PG_QUERY__OBJECT_TYPE__OBJECT_OPERATOR:
      return ObjectType::kOperator;
    case PG_QUERY__OBJECT_TYPE__OBJECT_OPFAMILY:
      return ObjectType::kOperatorFamily;
    case PG_QUERY__OBJECT_TYPE__OBJECT_PARAMETER_ACL:
      return ObjectType::kParameter;
    case PG_QUERY__OBJECT_TYPE__OBJECT_POLICY:
      return ObjectType::kPolicy;
    case PG_QUERY__OBJECT_TYPE__OBJECT_PROCEDURE:
      return ObjectType::kProcedure;
    case PG_QUERY__OBJECT_TYPE__OBJECT_PUBLICATION:
      return ObjectType::kPublication;
    case PG_QUERY__OBJECT_TYPE__OBJECT_ROLE:
      return ObjectType::kRole;
    case PG_QUERY__OBJECT_TYPE__OBJECT_ROUTINE:
      return ObjectType::kRoutine;
    case PG_QUERY__OBJECT_TYPE__OBJECT_RULE:
      return ObjectType::kRule;
    case PG_QUERY__OBJECT_TYPE__OBJECT_SCHEMA:
      return ObjectType::kSchema;
    case PG_QUERY__OBJECT_TYPE__OBJECT_SEQUENCE:
      return ObjectType::kSequence;
    case PG_QUERY__OBJECT_TYPE__OBJECT_SUBSCRIPTION:
      return ObjectType::kSubscription;
    case PG_QUERY__OBJECT_TYPE__OBJECT_STATISTIC_EXT:
      return ObjectType::kStatistics;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABCONSTRAINT:
      return ObjectType::kTableConstraint;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABLE:
      return ObjectType::kTable;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TABLESPACE:
      return ObjectType::kTablespace;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TRANSFORM:
      return ObjectType::kTransform;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TRIGGER:
      return ObjectType::kTrigger;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TSCONFIGURATION:
      return ObjectType::kTextSearchConfiguration;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TSDICTIONARY:
      return ObjectType::kTextSearchDictionary;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TSPARSER:
      return ObjectType::kTextSearchParser;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TSTEMPLATE:
      return ObjectType::kTextSearchTemplate;
    case PG_QUERY__OBJECT_TYPE__OBJECT_TYPE:
      return ObjectType::kType;
    case PG_QUERY__OBJECT_TYPE__OBJECT_USER_MAPPING:
      return ObjectType::kUserMapping;
    case PG_QUERY__OBJECT_TYPE__OBJECT_VIEW:
      return ObjectType::kView;
    default:
      return ObjectType::kOther;
  }
}

ast::ObjectName convert_object_name(const Node* node) {
  ast::ObjectName name;
  if (node == nullptr) return name;
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_STRING:
      name.names.emplace_back(node->string->sval);
      break;
    case PG_QUERY__NODE__NODE_INTEGER:  // large objects are named by their oids
      name.names.push_back(std::to_string(node->integer->ival));
      break;
    case PG_QUERY__NODE__NODE_FLOAT:
      name.names.emplace_back(node->float_->fval);
      break;
    case PG_QUERY__NODE__NODE_TYPE_NAME:
      name.names = convert_names(nodes(node->type_name->names, node->type_name->n_names));
      name.argument_types.push_back(convert_type(*node->type_name));
      break;
    case PG_QUERY__NODE__NODE_OBJECT_WITH_ARGS: {
      const PgQuery__ObjectWithArgs& object = *node->object_with_args;
      name.names = convert_names(nodes(object.objname, object.n_objname));
      name.arguments_given = !object.args_unspecified;
      for (const Node* argument : nodes(object.objargs, object.n_objargs)) {
        // NONE, the missing side of a prefix operator, comes as an empty node.
        if (argument->node_case == PG_QUERY__NODE__NODE_TYPE_NAME) {
          name.argument_types.push_back(convert_type(*argument->type_name));
        } else {
          name.argument_types.emplace_back();
        }
      }
      break;
    }
    case PG_QUERY__NODE__NODE_RANGE_VAR: {
      const PgQuery__RangeVar& relation = *node->range_var;
      if (relation.catalogname[0] != '\0') name.names.emplace_back(relation.catalogname);
      if (relation.schemaname[0] != '\0') name.names.emplace_back(relation.schemaname);
      name.names.emplace_back(relation.relname);
      break;
    }
    case PG_QUERY__NODE__NODE_LIST:
      for (const Node* item : list_items(node)) {
        if (is_string(item)) {
          name.names.emplace_back(item->string->sval);
        } else if (item->node_case == PG_QUERY__NODE__NODE_TYPE_NAME) {
          name.argument_types.push_back(convert_type(*item->type_name));
        }
      }
      break;
    default:
      break;
  }
  return name;
}

}  // namespace redquel::parser
