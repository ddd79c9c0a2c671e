#include <string_view>
#include <utility>

#include "parser/convert.h"
#include "sql/stack_depth.h"

namespace redquel::parser {
namespace {

std::string_view define_tag(PgQuery__ObjectType kind) {
  switch (kind) {
    case PG_QUERY__OBJECT_TYPE__OBJECT_AGGREGATE:
      return "CREATE AGGREGATE";
    case PG_QUERY__OBJECT_TYPE__OBJECT_OPERATOR:
      return "CREATE OPERATOR";
    case PG_QUERY__OBJECT_TYPE__OBJECT_COLLATION:
      return "CREATE COLLATION";
    case PG_QUERY__OBJECT_TYPE__OBJECT_ACCESS_METHOD:
      return "CREATE ACCESS METHOD";
    case PG_QUERY__OBJECT_TYPE__OBJECT_TSCONFIGURATION:
      return "CREATE TEXT SEARCH CONFIGURATION";
    case PG_QUERY__OBJECT_TYPE__OBJECT_TSDICTIONARY:
      return "CREATE TEXT SEARCH DICTIONARY";
    case PG_QUERY__OBJECT_TYPE__OBJECT_TSPARSER:
      return "CREATE TEXT SEARCH PARSER";
    case PG_QUERY__OBJECT_TYPE__OBJECT_TSTEMPLATE:
      return "CREATE TEXT SEARCH TEMPLATE";
    default:
      return "CREATE TYPE";
  }
}

/// PostgreSQL's command tag of what has no struct of its own.
std::string_view unsupported_tag(const Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_DEFINE_STMT:
      return define_tag(node.define_stmt->kind);
    case PG_QUERY__NODE__NODE_CREATE_RANGE_STMT:
      return "CREATE TYPE";
    case PG_QUERY__NODE__NODE_ALTER_TYPE_STMT:
      return "ALTER TYPE";
    case PG_QUERY__NODE__NODE_CREATE_EVENT_TRIG_STMT:
      return "CREATE EVENT TRIGGER";
    case PG_QUERY__NODE__NODE_ALTER_EVENT_TRIG_STMT:
      return "ALTER EVENT TRIGGER";
    case PG_QUERY__NODE__NODE_RULE_STMT:
      return "CREATE RULE";
    case PG_QUERY__NODE__NODE_CREATE_PLANG_STMT:
      return "CREATE LANGUAGE";
    case PG_QUERY__NODE__NODE_ALTER_DATABASE_REFRESH_COLL_STMT:
      return "ALTER DATABASE";
    case PG_QUERY__NODE__NODE_ALTER_SYSTEM_STMT:
      return "ALTER SYSTEM";
    case PG_QUERY__NODE__NODE_LOAD_STMT:
      return "LOAD";
    case PG_QUERY__NODE__NODE_CREATE_CONVERSION_STMT:
      return "CREATE CONVERSION";
    case PG_QUERY__NODE__NODE_CREATE_CAST_STMT:
      return "CREATE CAST";
    case PG_QUERY__NODE__NODE_CREATE_OP_CLASS_STMT:
      return "CREATE OPERATOR CLASS";
    case PG_QUERY__NODE__NODE_CREATE_OP_FAMILY_STMT:
      return "CREATE OPERATOR FAMILY";
    case PG_QUERY__NODE__NODE_ALTER_OP_FAMILY_STMT:
      return "ALTER OPERATOR FAMILY";
    case PG_QUERY__NODE__NODE_ALTER_OPERATOR_STMT:
      return "ALTER OPERATOR";
    case PG_QUERY__NODE__NODE_CREATE_TABLE_SPACE_STMT:
      return "CREATE TABLESPACE";
    case PG_QUERY__NODE__NODE_DROP_TABLE_SPACE_STMT:
      return "DROP TABLESPACE";
    case PG_QUERY__NODE__NODE_ALTER_TABLE_SPACE_OPTIONS_STMT:
      return "ALTER TABLESPACE";
    case PG_QUERY__NODE__NODE_ALTER_TABLE_MOVE_ALL_STMT:
      return "ALTER TABLE";
    case PG_QUERY__NODE__NODE_ALTER_OBJECT_DEPENDS_STMT:
      return "ALTER ... DEPENDS ON EXTENSION";
    case PG_QUERY__NODE__NODE_ALTER_TSDICTIONARY_STMT:
      return "ALTER TEXT SEARCH DICTIONARY";
    case PG_QUERY__NODE__NODE_ALTER_TSCONFIGURATION_STMT:
      return "ALTER TEXT SEARCH CONFIGURATION";
    case PG_QUERY__NODE__NODE_CREATE_FDW_STMT:
      return "CREATE FOREIGN DATA WRAPPER";
    case PG_QUERY__NODE__NODE_ALTER_FDW_STMT:
      return "ALTER FOREIGN DATA WRAPPER";
    case PG_QUERY__NODE__NODE_SEC_LABEL_STMT:
      return "SECURITY LABEL";
    case PG_QUERY__NODE__NODE_ALTER_EXTENSION_CONTENTS_STMT:
      return "ALTER EXTENSION";
    case PG_QUERY__NODE__NODE_CREATE_TRANSFORM_STMT:
      return "CREATE TRANSFORM";
    case PG_QUERY__NODE__NODE_CREATE_AM_STMT:
      return "CREATE ACCESS METHOD";
    case PG_QUERY__NODE__NODE_CREATE_SUBSCRIPTION_STMT:
      return "CREATE SUBSCRIPTION";
    case PG_QUERY__NODE__NODE_ALTER_SUBSCRIPTION_STMT:
      return "ALTER SUBSCRIPTION";
    case PG_QUERY__NODE__NODE_DROP_SUBSCRIPTION_STMT:
      return "DROP SUBSCRIPTION";
    case PG_QUERY__NODE__NODE_CREATE_STATS_STMT:
      return "CREATE STATISTICS";
    case PG_QUERY__NODE__NODE_ALTER_STATS_STMT:
      return "ALTER STATISTICS";
    case PG_QUERY__NODE__NODE_ALTER_COLLATION_STMT:
      return "ALTER COLLATION";
    default:
      return "this statement";
  }
}

ast::Statement convert(const Node& node) {
  switch (node.node_case) {
    case PG_QUERY__NODE__NODE_SELECT_STMT:
      return {convert_select(*node.select_stmt)};
    case PG_QUERY__NODE__NODE_INSERT_STMT:
      return {convert_insert(*node.insert_stmt)};
    case PG_QUERY__NODE__NODE_UPDATE_STMT:
      return {convert_update(*node.update_stmt)};
    case PG_QUERY__NODE__NODE_DELETE_STMT:
      return {convert_delete(*node.delete_stmt)};
    case PG_QUERY__NODE__NODE_MERGE_STMT:
      return {convert_merge(*node.merge_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_POLICY_STMT:
      return {convert_create_policy(*node.create_policy_stmt)};
    case PG_QUERY__NODE__NODE_CREATE_TRIG_STMT:
      return {convert_create_trigger(*node.create_trig_stmt)};
    case PG_QUERY__NODE__NODE_ALTER_POLICY_STMT:
      return {convert_alter_policy(*node.alter_policy_stmt)};
    default:
      break;
  }
  if (std::optional<ast::Statement> definition = convert_definition(node)) return std::move(*definition);
  if (std::optional<ast::Statement> statement = convert_session_statement(node)) return std::move(*statement);
  return {ast::Unsupported{std::string(unsupported_tag(node))}};
}

}  // namespace

ast::Statement convert_statement(const Node* node, std::uint32_t offset) {
  sql::check_stack_depth();
  ast::Statement statement = convert(*node);
  statement.offset = offset;
  return statement;
}

std::unique_ptr<const ast::Statement> convert_nested_statement(const Node* node) {
  if (node == nullptr) return nullptr;
  return std::make_unique<const ast::Statement>(convert_statement(node, 0));
}

}  // namespace redquel::parser
