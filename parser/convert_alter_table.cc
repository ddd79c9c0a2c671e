#include <optional>
#include <string_view>
#include <utility>

#include "parser/convert.h"

namespace redquel::parser {
namespace {

ast::Alteration convert_column_type(const PgQuery__AlterTableCmd& command) {
  const PgQuery__ColumnDef& column = *command.def->column_def;
  ast::AlterColumnType result;
  result.column = command.name;
  result.type = convert_type(*column.type_name);
  if (column.coll_clause != nullptr) {
    result.collation = convert_names(nodes(column.coll_clause->collname, column.coll_clause->n_collname));
  }
  result.using_value = convert_expression(column.raw_default);
  result.offset = convert_location(column.location);
  return result;
}

/// Returns the name of the construct for the error that refuses it.
std::string_view refused_name(PgQuery__AlterTableType type) {
  switch (type) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddIndexConstraint:
      return "ADD CONSTRAINT USING INDEX";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ClusterOn:
      return "CLUSTER ON";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetAccessMethod:
      return "SET ACCESS METHOD";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetTableSpace:
      return "SET TABLESPACE";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableRule:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableAlwaysRule:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableReplicaRule:
      return "ENABLE RULE";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DisableRule:
      return "DISABLE RULE";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddInherit:
      return "INHERIT";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropInherit:
      return "NO INHERIT";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddOf:
      return "OF";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropOf:
      return "NOT OF";
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DetachPartitionFinalize:
      return "DETACH PARTITION FINALIZE";
    default:
      return "this form";
  }
}

std::optional<ast::SetTriggerFiring> trigger_firing(PgQuery__AlterTableType type, const std::string& name) {
  using Set = ast::SetTriggerFiring;
  switch (type) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableTrig: return Set{Set::Scope::kOne, Set::Firing::kOrigin, name};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableAlwaysTrig: return Set{Set::Scope::kOne, Set::Firing::kAlways, name};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableReplicaTrig: return Set{Set::Scope::kOne, Set::Firing::kReplica, name};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DisableTrig: return Set{Set::Scope::kOne, Set::Firing::kDisabled, name};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableTrigAll: return Set{Set::Scope::kAll, Set::Firing::kOrigin, {}};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DisableTrigAll: return Set{Set::Scope::kAll, Set::Firing::kDisabled, {}};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableTrigUser: return Set{Set::Scope::kUser, Set::Firing::kOrigin, {}};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DisableTrigUser: return Set{Set::Scope::kUser, Set::Firing::kDisabled, {}};
    default: return std::nullopt;
  }
}

ast::Alteration convert_command(const PgQuery__AlterTableCmd& command) {
  const std::string name = command.name;
  const bool if_exists = command.missing_ok;
  const bool cascade = command.behavior == PG_QUERY__DROP_BEHAVIOR__DROP_CASCADE;
  if (auto firing = trigger_firing(command.subtype, name)) return *std::move(firing);
  switch (command.subtype) {
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddColumn:
      return ast::AddColumn{convert_column(*command.def->column_def), if_exists};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropColumn:
      return ast::DropColumn{name, if_exists, cascade};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ColumnDefault:
      return ast::AlterColumnDefault{name, convert_expression(command.def)};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropNotNull:
      return ast::AlterColumnNotNull{name, false};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetNotNull:
      return ast::AlterColumnNotNull{name, true};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnType:
      return convert_column_type(command);
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddIdentity:
      return ast::AddIdentity{name, convert_constraint(*command.def->constraint)};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetIdentity:
      return ast::SetIdentity{name, convert_options(list_items(command.def))};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropIdentity:
      return ast::DropIdentity{name, if_exists};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropExpression:
      return ast::DropExpression{name, if_exists};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetOptions:
      return ast::SetColumnOptions{name, convert_storage_options(list_items(command.def)), false};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ResetOptions:
      return ast::SetColumnOptions{name, convert_storage_options(list_items(command.def)), true};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterColumnGenericOptions:
      return ast::AlterForeignOptions{name, convert_options(list_items(command.def))};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_GenericOptions:
      return ast::AlterForeignOptions{{}, convert_options(list_items(command.def))};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AddConstraint:
      return ast::AddConstraint{convert_constraint(*command.def->constraint)};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AlterConstraint:
      return ast::AlterConstraint{convert_constraint(*command.def->constraint)};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropConstraint:
      return ast::DropConstraint{name, if_exists, cascade};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ValidateConstraint:
      return ast::ValidateConstraint{name};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetRelOptions:
      return ast::SetTableOptions{convert_storage_options(list_items(command.def)), false};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ResetRelOptions:
      return ast::SetTableOptions{convert_storage_options(list_items(command.def)), true};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ChangeOwner:
      return ast::ChangeOwner{convert_role(command.newowner)};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_EnableRowSecurity:
      return ast::SetRowSecurity{false, true};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DisableRowSecurity:
      return ast::SetRowSecurity{false, false};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ForceRowSecurity:
      return ast::SetRowSecurity{true, true};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_NoForceRowSecurity:
      return ast::SetRowSecurity{true, false};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_ReplicaIdentity: {
      using Identity = ast::SetReplicaIdentity::Identity;
      const char letter = command.def->replica_identity_stmt->identity_type[0];  // as pg_class.relreplident has it
      return ast::SetReplicaIdentity{letter == 'n' ? Identity::kNothing : letter == 'f' ? Identity::kFull : letter == 'i' ? Identity::kIndex : Identity::kDefault};
    }
    case PG_QUERY__ALTER_TABLE_TYPE__AT_AttachPartition: {
      const PgQuery__PartitionCmd& partition = *command.def->partition_cmd;
      if (partition.bound == nullptr) return ast::AttachIndex{convert_relation(*partition.name)};
      return ast::AttachPartition{convert_relation(*partition.name), convert_partition_bound(*partition.bound)};
    }
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DetachPartition:
      return ast::DetachPartition{convert_relation(*command.def->partition_cmd->name), command.def->partition_cmd->concurrent != 0};
    // PostgreSQL's settings for the layout and sampling of stored data have no counterpart: redquel only checks that the column exists.
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetStatistics:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetStorage:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetCompression:
      if (name.empty()) return ast::SetIndexStatistics{command.num};
      return ast::SetColumnOptions{name, {}, false};
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetLogged:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_SetUnLogged:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropCluster:
    case PG_QUERY__ALTER_TABLE_TYPE__AT_DropOids:
      return ast::SetTableOptions{{}, false};
    default:
      return ast::OtherAlteration{"ALTER TABLE ... " + std::string(refused_name(command.subtype))};
  }
}

}  // namespace

ast::AlterTable convert_alter_table(const PgQuery__AlterTableStmt& alter) {
  ast::AlterTable result;
  result.relation = convert_relation(*alter.relation);
  result.only = !alter.relation->inh;
  result.object = convert_object_type(alter.objtype);
  result.if_exists = alter.missing_ok;
  for (const Node* item : nodes(alter.cmds, alter.n_cmds)) {
    result.commands.push_back(convert_command(*item->alter_table_cmd));
  }
  return result;
}

}  // namespace redquel::parser
