#include <set>
#include <utility>

#include "parser/convert.h"
#include "parser/option_value.h"
#include "parser/role_option.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::parser {
namespace {

bool is_cascade(PgQuery__DropBehavior behavior) { return behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE; }

std::optional<ast::RelationName> convert_optional_relation(const PgQuery__RangeVar* relation) {
  if (relation == nullptr) return std::nullopt;
  return convert_relation(*relation);
}

ast::CreateForeignTable convert(const PgQuery__CreateForeignTableStmt& create) {
  return {convert_create_table(*create.base_stmt), create.servername,
          convert_options(nodes(create.options, create.n_options))};
}

ast::CreateTableAs convert(const PgQuery__CreateTableAsStmt& create) {
  return {convert_into(*create.into), convert_nested_statement(create.query),
          create.objtype == PG_QUERY__OBJECT_TYPE__OBJECT_MATVIEW, create.if_not_exists != 0};
}

ast::Drop convert(const PgQuery__DropStmt& drop) {
  ast::Drop result;
  result.object = convert_object_type(drop.remove_type);
  for (const Node* item : nodes(drop.objects, drop.n_objects)) result.names.push_back(convert_object_name(item));
  result.if_exists = drop.missing_ok;
  result.cascade = is_cascade(drop.behavior);
  result.concurrently = drop.concurrent;
  return result;
}

ast::CreateDatabase convert(const PgQuery__CreatedbStmt& create) {
  return {create.dbname, convert_options(nodes(create.options, create.n_options))};
}

ast::Drop convert(const PgQuery__DropdbStmt& drop) {
  ast::Drop result;
  result.object = ast::ObjectType::kDatabase;
  result.names.push_back({.names = {drop.dbname}, .argument_types = {}});
  result.if_exists = drop.missing_ok;
  return result;
}

ast::Truncate convert(const PgQuery__TruncateStmt& truncate) {
  ast::Truncate result;
  for (const Node* item : nodes(truncate.relations, truncate.n_relations)) {
    result.relations.push_back(convert_table_ref(*item->range_var));
  }
  result.restart_identity = truncate.restart_seqs;
  result.cascade = is_cascade(truncate.behavior);
  return result;
}

ast::Rename convert(const PgQuery__RenameStmt& rename) {
  return {.object = convert_object_type(rename.rename_type),
          .relation_object = convert_object_type(rename.relation_type),
          .relation = convert_optional_relation(rename.relation),
          .name = convert_object_name(rename.object),
          .old_name = rename.subname,
          .new_name = rename.newname,
          .if_exists = rename.missing_ok != 0,
          .cascade = is_cascade(rename.behavior)};
}

ast::SetSchema convert(const PgQuery__AlterObjectSchemaStmt& alter) {
  return {convert_object_type(alter.object_type), convert_optional_relation(alter.relation),
          convert_object_name(alter.object), alter.newschema, alter.missing_ok != 0};
}

ast::AlterOwner convert(const PgQuery__AlterOwnerStmt& alter) {
  return {convert_object_type(alter.object_type), convert_object_name(alter.object), convert_role(alter.newowner)};
}

ast::CreateExtension convert(const PgQuery__CreateExtensionStmt& create) {
  ast::CreateExtension result{create.extname, create.if_not_exists != 0, {}, {}};
  std::set<std::string> seen;
  for (const ast::Option& option : convert_options(nodes(create.options, create.n_options))) {
    if (!seen.insert(option.name).second) throw sql::SqlError(sqlstate::kSyntaxError, "conflicting or redundant options").at(option.offset);
    if (option.name == "schema") result.schema = option_text(option).value_or("");
    if (option.name == "new_version") result.version = option_text(option).value_or("");
    if (option.name == "cascade") result.cascade = true;
  }
  return result;
}

ast::AlterExtension convert(const PgQuery__AlterExtensionStmt& alter) {
  ast::AlterExtension result{alter.extname, {}};
  bool is_said = false;
  for (const ast::Option& option : convert_options(nodes(alter.options, alter.n_options))) {
    if (std::exchange(is_said, true)) throw sql::SqlError(sqlstate::kSyntaxError, "conflicting or redundant options").at(option.offset);
    result.version = option_text(option).value_or("");
  }
  return result;
}

ast::CreateSchema convert(const PgQuery__CreateSchemaStmt& create) {
  ast::CreateSchema result;
  result.name = create.schemaname;
  result.role = convert_role(create.authrole);
  result.if_not_exists = create.if_not_exists;
  for (const Node* item : nodes(create.schema_elts, create.n_schema_elts)) {
    result.elements.push_back(convert_nested_statement(item));
  }
  return result;
}

ast::CreateView convert(const PgQuery__ViewStmt& view) {
  ast::CreateView result;
  result.relation = convert_relation(*view.view);
  result.persistence = convert_persistence(*view.view);
  result.columns = convert_names(nodes(view.aliases, view.n_aliases));
  result.query = convert_query(view.query);
  result.replace = view.replace;
  result.options = convert_storage_options(nodes(view.options, view.n_options));
  result.check_option =
      view.with_check_option == PG_QUERY__VIEW_CHECK_OPTION__LOCAL_CHECK_OPTION      ? ast::CheckOption::kLocal
      : view.with_check_option == PG_QUERY__VIEW_CHECK_OPTION__CASCADED_CHECK_OPTION ? ast::CheckOption::kCascaded
                                                                                     : ast::CheckOption::kNone;
  return result;
}

ast::CreateSequence convert(const PgQuery__CreateSeqStmt& create) {
  return {convert_relation(*create.sequence), convert_persistence(*create.sequence),
          convert_options(nodes(create.options, create.n_options)), create.if_not_exists != 0};
}

ast::AlterSequence convert(const PgQuery__AlterSeqStmt& alter) {
  return {convert_relation(*alter.sequence), convert_options(nodes(alter.options, alter.n_options)),
          alter.missing_ok != 0};
}

ast::CreateEnum convert(const PgQuery__CreateEnumStmt& create) {
  return {convert_names(nodes(create.type_name, create.n_type_name)), convert_names(nodes(create.vals, create.n_vals))};
}

ast::AlterEnum convert(const PgQuery__AlterEnumStmt& alter) {
  return {.name = convert_names(nodes(alter.type_name, alter.n_type_name)),
          .old_label = alter.old_val,
          .new_label = alter.new_val,
          .neighbor = alter.new_val_neighbor,
          .after = alter.new_val_is_after != 0,
          .if_not_exists = alter.skip_if_new_val_exists != 0};
}

ast::CreateDomain convert(const PgQuery__CreateDomainStmt& create) {
  ast::CreateDomain result;
  result.name = convert_names(nodes(create.domainname, create.n_domainname));
  result.type = convert_type(*create.type_name);
  if (create.coll_clause != nullptr) {
    result.collation = convert_names(nodes(create.coll_clause->collname, create.coll_clause->n_collname));
  }
  for (const Node* item : nodes(create.constraints, create.n_constraints)) {
    switch (item->constraint->contype) {
      case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRABLE:
      case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_NOT_DEFERRABLE:
      case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_DEFERRED:
      case PG_QUERY__CONSTR_TYPE__CONSTR_ATTR_IMMEDIATE:
        throw sql::SqlError(sqlstate::kFeatureNotSupported, "specifying constraint deferrability not supported for domains");
      default:
        result.constraints.push_back(convert_constraint(*item->constraint));
    }
  }
  return result;
}

ast::AlterDomain convert(const PgQuery__AlterDomainStmt& alter) {
  ast::AlterDomain result;
  result.name = convert_names(nodes(alter.type_name, alter.n_type_name));
  result.cascade = is_cascade(alter.behavior);
  result.if_exists = alter.missing_ok;
  switch (alter.subtype[0]) {
    case 'N':
      result.alteration = ast::DomainAlteration::kDropNotNull;
      break;
    case 'O':
      result.alteration = ast::DomainAlteration::kSetNotNull;
      break;
    case 'C':
      result.alteration = ast::DomainAlteration::kAddConstraint;
      result.constraint = convert_constraint(*alter.def->constraint);
      break;
    case 'X':
      result.alteration = ast::DomainAlteration::kDropConstraint;
      result.constraint_name = alter.name;
      break;
    case 'V':
      result.alteration = ast::DomainAlteration::kValidate;
      result.constraint_name = alter.name;
      break;
    default:
      result.alteration = ast::DomainAlteration::kSetDefault;
      result.default_value = convert_expression(alter.def);
      break;
  }
  return result;
}

ast::CreateComposite convert(const PgQuery__CompositeTypeStmt& create) {
  return {convert_relation(*create.typevar), convert_record_columns(nodes(create.coldeflist, create.n_coldeflist))};
}

ast::CreateRange convert(const PgQuery__CreateRangeStmt& create) {
  return {convert_names(nodes(create.type_name, create.n_type_name)), convert_options(nodes(create.params, create.n_params))};
}

ast::ParameterMode convert_parameter_mode(PgQuery__FunctionParameterMode mode) {
  switch (mode) {
    case PG_QUERY__FUNCTION_PARAMETER_MODE__FUNC_PARAM_OUT:
      return ast::ParameterMode::kOut;
    case PG_QUERY__FUNCTION_PARAMETER_MODE__FUNC_PARAM_INOUT:
      return ast::ParameterMode::kInOut;
    case PG_QUERY__FUNCTION_PARAMETER_MODE__FUNC_PARAM_VARIADIC:
      return ast::ParameterMode::kVariadic;
    case PG_QUERY__FUNCTION_PARAMETER_MODE__FUNC_PARAM_TABLE:
      return ast::ParameterMode::kTable;
    default:
      return ast::ParameterMode::kIn;
  }
}

ast::CreateFunction convert(const PgQuery__CreateFunctionStmt& create) {
  ast::CreateFunction result;
  result.name = convert_names(nodes(create.funcname, create.n_funcname));
  result.procedure = create.is_procedure;
  result.replace = create.replace;
  for (const Node* item : nodes(create.parameters, create.n_parameters)) {
    const PgQuery__FunctionParameter& parameter = *item->function_parameter;
    result.parameters.push_back({parameter.name, convert_type(*parameter.arg_type),
                                 convert_parameter_mode(parameter.mode), convert_expression(parameter.defexpr)});
  }
  if (create.return_type != nullptr) result.return_type = convert_type(*create.return_type);
  result.options = convert_options(nodes(create.options, create.n_options));
  if (create.sql_body != nullptr) {
    result.sql_body = true;
    if (create.sql_body->node_case == PG_QUERY__NODE__NODE_RETURN_STMT) {
      result.return_expression = convert_expression(create.sql_body->return_stmt->returnval);
    } else {
      // BEGIN ATOMIC: a list that holds the list of the statements.
      for (const Node* inner : list_items(create.sql_body)) {
        for (const Node* item : list_items(inner)) result.body.push_back(convert_nested_statement(item));
      }
    }
  }
  return result;
}

ast::Comment convert(const PgQuery__CommentStmt& comment) {
  ast::Comment result;
  result.object = convert_object_type(comment.objtype);
  result.name = convert_object_name(comment.object);
  if (comment.comment[0] != '\0') result.comment = comment.comment;  // '' removes it, as NULL does
  return result;
}

ast::CreateForeignServer convert(const PgQuery__CreateForeignServerStmt& create) {
  return {.name = create.servername,
          .type = create.servertype,
          .version = create.version,
          .wrapper = create.fdwname,
          .options = convert_options(nodes(create.options, create.n_options)),
          .if_not_exists = create.if_not_exists != 0};
}

ast::AlterForeignServer convert(const PgQuery__AlterForeignServerStmt& alter) {
  ast::AlterForeignServer result;
  result.name = alter.servername;
  if (alter.has_version) result.version = alter.version;
  result.options = convert_options(nodes(alter.options, alter.n_options));
  return result;
}

ast::UserMapping convert(const PgQuery__CreateUserMappingStmt& create) {
  return {ast::UserMapping::Action::kCreate, convert_role(create.user), create.servername,
          convert_options(nodes(create.options, create.n_options)), create.if_not_exists != 0};
}

ast::UserMapping convert(const PgQuery__AlterUserMappingStmt& alter) {
  return {ast::UserMapping::Action::kAlter, convert_role(alter.user), alter.servername,
          convert_options(nodes(alter.options, alter.n_options)), false};
}

ast::UserMapping convert(const PgQuery__DropUserMappingStmt& drop) {
  return {ast::UserMapping::Action::kDrop, convert_role(drop.user), drop.servername, {}, drop.missing_ok != 0};
}

ast::ImportForeignSchema convert(const PgQuery__ImportForeignSchemaStmt& import) {
  ast::ImportForeignSchema result;
  result.server = import.server_name;
  result.remote_schema = import.remote_schema;
  result.local_schema = import.local_schema;
  result.list =
      import.list_type == PG_QUERY__IMPORT_FOREIGN_SCHEMA_TYPE__FDW_IMPORT_SCHEMA_LIMIT_TO ? ast::ImportList::kLimitTo
      : import.list_type == PG_QUERY__IMPORT_FOREIGN_SCHEMA_TYPE__FDW_IMPORT_SCHEMA_EXCEPT ? ast::ImportList::kExcept
                                                                                           : ast::ImportList::kAll;
  for (const Node* item : nodes(import.table_list, import.n_table_list)) {
    result.tables.push_back(convert_relation(*item->range_var));
  }
  result.options = convert_options(nodes(import.options, import.n_options));
  return result;
}

ast::AlterFunction convert(const PgQuery__AlterFunctionStmt& alter) {
  Node function = PG_QUERY__NODE__INIT;
  function.node_case = PG_QUERY__NODE__NODE_OBJECT_WITH_ARGS;
  function.object_with_args = alter.func;
  return {convert_object_type(alter.objtype), convert_object_name(&function), convert_options(nodes(alter.actions, alter.n_actions))};
}

ast::RefreshMaterializedView convert(const PgQuery__RefreshMatViewStmt& refresh) {
  return {convert_relation(*refresh.relation), refresh.concurrent != 0, refresh.skip_data != 0};
}

// --- roles and rights ----------------------------------------------------------------------------------------------

ast::Grant convert(const PgQuery__GrantStmt& grant) {
  ast::Grant result;
  result.grant = grant.is_grant;
  result.all_in_schema = grant.targtype == PG_QUERY__GRANT_TARGET_TYPE__ACL_TARGET_ALL_IN_SCHEMA;
  result.object = convert_object_type(grant.objtype);
  for (const Node* item : nodes(grant.objects, grant.n_objects)) result.objects.push_back(convert_object_name(item));
  for (const Node* item : nodes(grant.privileges, grant.n_privileges)) {
    const PgQuery__AccessPriv& privilege = *item->access_priv;
    result.privileges.push_back({privilege.priv_name, convert_names(nodes(privilege.cols, privilege.n_cols))});
  }
  result.grantees = convert_roles(nodes(grant.grantees, grant.n_grantees));
  if (grant.grantor != nullptr) result.makers.push_back(convert_role(grant.grantor));
  result.grant_option = grant.grant_option;
  result.cascade = is_cascade(grant.behavior);
  return result;
}

ast::Grant convert(const PgQuery__AlterDefaultPrivilegesStmt& alter) {
  ast::Grant result = convert(*alter.action);
  result.defaults = true;
  for (ast::Option& option : convert_options(nodes(alter.options, alter.n_options))) {
    auto* words = std::get_if<std::vector<std::string>>(&option.value);
    if (words == nullptr) continue;
    std::vector<std::string>& list = option.name == "schemas" ? result.schemas : result.makers;
    if (!list.empty()) throw sql::SqlError(sqlstate::kSyntaxError, "conflicting or redundant options").at(option.offset);
    list = std::move(*words);
  }
  return result;
}

ast::GrantRole convert(const PgQuery__GrantRoleStmt& grant) {
  return {.grant = grant.is_grant != 0,
          .roles = convert_roles(nodes(grant.granted_roles, grant.n_granted_roles)),
          .grantees = convert_roles(nodes(grant.grantee_roles, grant.n_grantee_roles)),
          .admin_option = grant.admin_opt != 0,
          .cascade = is_cascade(grant.behavior)};
}

ast::CreateRole convert(const PgQuery__CreateRoleStmt& create) {
  using Kind = ast::CreateRole::Kind;
  const Kind kind = create.stmt_type == PG_QUERY__ROLE_STMT_TYPE__ROLESTMT_USER    ? Kind::kUser
                    : create.stmt_type == PG_QUERY__ROLE_STMT_TYPE__ROLESTMT_GROUP ? Kind::kGroup
                                                                                   : Kind::kRole;
  return {kind, create.role, convert_options(nodes(create.options, create.n_options))};
}

ast::Option named_option(std::string_view name) {
  ast::Option option;
  option.name = name;
  return option;
}

ast::Option named_option(std::string_view name, std::string value) {
  ast::Option option = named_option(name);
  option.value = std::move(value);
  return option;
}

ast::AlterRole convert(const PgQuery__DropOwnedStmt& drop) {
  ast::Option roles = named_option(kDropOwned);
  roles.value = convert_roles(nodes(drop.roles, drop.n_roles));
  ast::AlterRole result;
  result.options.push_back(std::move(roles));
  if (is_cascade(drop.behavior)) result.options.push_back(named_option(kCascade));
  return result;
}

ast::AlterRole convert(const PgQuery__ReassignOwnedStmt& reassign) {
  ast::Option roles = named_option(kReassignOwned);
  roles.value = convert_roles(nodes(reassign.roles, reassign.n_roles));
  ast::AlterRole result{convert_role(reassign.newrole), {}};
  result.options.push_back(std::move(roles));
  return result;
}

ast::AlterRole convert(const PgQuery__AlterRoleStmt& alter) {
  ast::AlterRole result{convert_role(alter.role), convert_options(nodes(alter.options, alter.n_options))};
  if (alter.action < 0) result.options.push_back(named_option(kDropMembers));
  return result;
}

ast::Option setting_option(const PgQuery__VariableSetStmt& statement) {
  using Kind = ast::SetVariable::Kind;
  const ast::SetVariable set = convert_set_variable(statement);
  ast::Option option = named_option(set.name);
  option.name_space = kSettingSpace;
  option.action = ast::OptionAction::kSet;
  if (set.kind == Kind::kDefault || set.kind == Kind::kReset || set.kind == Kind::kResetAll) option.action = ast::OptionAction::kDrop;
  if (set.kind == Kind::kFromCurrent) option.action = ast::OptionAction::kAdd;
  if (set.kind == Kind::kTransaction) throw sql::not_supported("SET TRANSACTION in this place");
  std::vector<std::string> values;
  for (const ast::SettingValue& value : set.values) values.push_back(value.interval ? "INTERVAL '" + value.text + "'" : value.text);
  option.value = std::move(values);
  return option;
}

ast::AlterRole convert(const PgQuery__AlterRoleSetStmt& alter) {
  ast::AlterRole result{convert_role(alter.role), {}};
  if (alter.database[0] != '\0') result.options.push_back(named_option(kInDatabase, alter.database));
  result.options.push_back(setting_option(*alter.setstmt));
  return result;
}

ast::AlterRole convert(const PgQuery__AlterDatabaseSetStmt& alter) {
  ast::AlterRole result;
  result.options.push_back(named_option(kAlterDatabase, alter.dbname));
  result.options.push_back(setting_option(*alter.setstmt));
  return result;
}

ast::AlterRole convert(const PgQuery__AlterDatabaseStmt& alter) {
  ast::AlterRole result{"", convert_options(nodes(alter.options, alter.n_options))};
  result.options.push_back(named_option(kAlterDatabase, alter.dbname));
  return result;
}

ast::DropRole convert(const PgQuery__DropRoleStmt& drop) {
  return {convert_roles(nodes(drop.roles, drop.n_roles)), drop.missing_ok != 0};
}

}  // namespace

std::optional<ast::Statement> convert_definition(const Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_CREATE_STMT:
      return ast::Statement{convert_create_table(*node.create_stmt)};
    case PG_QUERY__NODE__NODE_INDEX_STMT:
      return ast::Statement{convert_create_index(*node.index_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_TABLE_STMT:
      return ast::Statement{convert_alter_table(*node.alter_table_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_FOREIGN_TABLE_STMT:
      return ast::Statement{convert(*node.create_foreign_table_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_TABLE_AS_STMT:
      return ast::Statement{convert(*node.create_table_as_stmt)};
    case PG_QUERY__NODE__NODE_DROP_STMT:
      return ast::Statement{convert(*node.drop_stmt)};
    case PG_QUERY__NODE__NODE_TRUNCATE_STMT:
      return ast::Statement{convert(*node.truncate_stmt)};
    case PG_QUERY__NODE__NODE_RENAME_STMT:
      return ast::Statement{convert(*node.rename_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_OBJECT_SCHEMA_STMT:
      return ast::Statement{convert(*node.alter_object_schema_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_OWNER_STMT:
      return ast::Statement{convert(*node.alter_owner_stmt)};
    case PG_QUERY__NODE__NODE_CREATEDB_STMT:
      return ast::Statement{convert(*node.createdb_stmt)};
    case PG_QUERY__NODE__NODE_DROPDB_STMT:
      return ast::Statement{convert(*node.dropdb_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_SCHEMA_STMT:
      return ast::Statement{convert(*node.create_schema_stmt)};
    case PG_QUERY__NODE__NODE_VIEW_STMT:
      return ast::Statement{convert(*node.view_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_SEQ_STMT:
      return ast::Statement{convert(*node.create_seq_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_SEQ_STMT:
      return ast::Statement{convert(*node.alter_seq_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_ENUM_STMT:
      return ast::Statement{convert(*node.create_enum_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_ENUM_STMT:
      return ast::Statement{convert(*node.alter_enum_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_DOMAIN_STMT:
      return ast::Statement{convert(*node.create_domain_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_DOMAIN_STMT:
      return ast::Statement{convert(*node.alter_domain_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_RANGE_STMT:
      return ast::Statement{convert(*node.create_range_stmt)};
    case PG_QUERY__NODE__NODE_COMPOSITE_TYPE_STMT:
      return ast::Statement{convert(*node.composite_type_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_FUNCTION_STMT:
      return ast::Statement{convert(*node.create_function_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_FUNCTION_STMT:
      return ast::Statement{convert(*node.alter_function_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_DEFAULT_PRIVILEGES_STMT:
      return ast::Statement{convert(*node.alter_default_privileges_stmt)};
    case PG_QUERY__NODE__NODE_COMMENT_STMT:
      return ast::Statement{convert(*node.comment_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_FOREIGN_SERVER_STMT:
      return ast::Statement{convert(*node.create_foreign_server_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_FOREIGN_SERVER_STMT:
      return ast::Statement{convert(*node.alter_foreign_server_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_USER_MAPPING_STMT:
      return ast::Statement{convert(*node.create_user_mapping_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_USER_MAPPING_STMT:
      return ast::Statement{convert(*node.alter_user_mapping_stmt)};
    case PG_QUERY__NODE__NODE_DROP_USER_MAPPING_STMT:
      return ast::Statement{convert(*node.drop_user_mapping_stmt)};
    case PG_QUERY__NODE__NODE_IMPORT_FOREIGN_SCHEMA_STMT:
      return ast::Statement{convert(*node.import_foreign_schema_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_EXTENSION_STMT:
      return ast::Statement{convert(*node.create_extension_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_EXTENSION_STMT:
      return ast::Statement{convert(*node.alter_extension_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_PUBLICATION_STMT:
      return ast::Statement{convert_create_publication(*node.create_publication_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_PUBLICATION_STMT:
      return ast::Statement{convert_alter_publication(*node.alter_publication_stmt)};
    case PG_QUERY__NODE__NODE_REFRESH_MAT_VIEW_STMT:
      return ast::Statement{convert(*node.refresh_mat_view_stmt)};
    case PG_QUERY__NODE__NODE_GRANT_STMT:
      return ast::Statement{convert(*node.grant_stmt)};
    case PG_QUERY__NODE__NODE_GRANT_ROLE_STMT:
      return ast::Statement{convert(*node.grant_role_stmt)};
    case PG_QUERY__NODE__NODE_DROP_OWNED_STMT:
      return ast::Statement{convert(*node.drop_owned_stmt)};
    case PG_QUERY__NODE__NODE_REASSIGN_OWNED_STMT:
      return ast::Statement{convert(*node.reassign_owned_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_ROLE_STMT:
      return ast::Statement{convert(*node.create_role_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_ROLE_STMT:
      return ast::Statement{convert(*node.alter_role_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_ROLE_SET_STMT:
      return ast::Statement{convert(*node.alter_role_set_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_DATABASE_SET_STMT:
      return ast::Statement{convert(*node.alter_database_set_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_DATABASE_STMT:
      return ast::Statement{convert(*node.alter_database_stmt)};
    case PG_QUERY__NODE__NODE_DROP_ROLE_STMT:
      return ast::Statement{convert(*node.drop_role_stmt)};
    default:
      return std::nullopt;
  }
}

}  // namespace redquel::parser
