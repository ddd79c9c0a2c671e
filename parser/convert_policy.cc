#include "parser/convert.h"

namespace redquel::parser {

ast::CreatePolicy convert_create_policy(const PgQuery__CreatePolicyStmt& create) {
  ast::CreatePolicy result;
  result.name = create.policy_name;
  result.relation = convert_relation(*create.table);
  result.restrictive = !create.permissive;
  result.command = create.cmd_name;
  result.roles = convert_roles(nodes(create.roles, create.n_roles));
  result.using_condition = convert_expression(create.qual);
  result.check_condition = convert_expression(create.with_check);
  return result;
}

ast::AlterPolicy convert_alter_policy(const PgQuery__AlterPolicyStmt& alter) {
  ast::AlterPolicy result;
  result.name = alter.policy_name;
  result.relation = convert_relation(*alter.table);
  result.roles = convert_roles(nodes(alter.roles, alter.n_roles));
  result.using_condition = convert_expression(alter.qual);
  result.check_condition = convert_expression(alter.with_check);
  return result;
}

}  // namespace redquel::parser
