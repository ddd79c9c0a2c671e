#include <algorithm>
#include <string_view>
#include <variant>

#include "parser/parse.h"
#include "parser/role_option.h"

namespace redquel::parser {
namespace {

struct ObjectTags {
  ast::ObjectType object;
  std::string_view drop;
  std::string_view alter;
};

constexpr ObjectTags kObjectTags[] = {
    {ast::ObjectType::kAccessMethod, "DROP ACCESS METHOD", "ALTER ACCESS METHOD"},
    {ast::ObjectType::kAggregate, "DROP AGGREGATE", "ALTER AGGREGATE"},
    {ast::ObjectType::kAttribute, "DROP TYPE", "ALTER TYPE"},
    {ast::ObjectType::kCast, "DROP CAST", "ALTER CAST"},
    {ast::ObjectType::kCollation, "DROP COLLATION", "ALTER COLLATION"},
    {ast::ObjectType::kColumn, "ALTER TABLE", "ALTER TABLE"},
    {ast::ObjectType::kConversion, "DROP CONVERSION", "ALTER CONVERSION"},
    {ast::ObjectType::kDatabase, "DROP DATABASE", "ALTER DATABASE"},
    {ast::ObjectType::kDomain, "DROP DOMAIN", "ALTER DOMAIN"},
    {ast::ObjectType::kDomainConstraint, "ALTER DOMAIN", "ALTER DOMAIN"},
    {ast::ObjectType::kEventTrigger, "DROP EVENT TRIGGER", "ALTER EVENT TRIGGER"},
    {ast::ObjectType::kExtension, "DROP EXTENSION", "ALTER EXTENSION"},
    {ast::ObjectType::kForeignDataWrapper, "DROP FOREIGN DATA WRAPPER", "ALTER FOREIGN DATA WRAPPER"},
    {ast::ObjectType::kForeignServer, "DROP SERVER", "ALTER SERVER"},
    {ast::ObjectType::kForeignTable, "DROP FOREIGN TABLE", "ALTER FOREIGN TABLE"},
    {ast::ObjectType::kFunction, "DROP FUNCTION", "ALTER FUNCTION"},
    {ast::ObjectType::kIndex, "DROP INDEX", "ALTER INDEX"},
    {ast::ObjectType::kLanguage, "DROP LANGUAGE", "ALTER LANGUAGE"},
    {ast::ObjectType::kLargeObject, "DROP LARGE OBJECT", "ALTER LARGE OBJECT"},
    {ast::ObjectType::kMaterializedView, "DROP MATERIALIZED VIEW", "ALTER MATERIALIZED VIEW"},
    {ast::ObjectType::kOperator, "DROP OPERATOR", "ALTER OPERATOR"},
    {ast::ObjectType::kOperatorClass, "DROP OPERATOR CLASS", "ALTER OPERATOR CLASS"},
    {ast::ObjectType::kOperatorFamily, "DROP OPERATOR FAMILY", "ALTER OPERATOR FAMILY"},
    {ast::ObjectType::kPolicy, "DROP POLICY", "ALTER POLICY"},
    {ast::ObjectType::kProcedure, "DROP PROCEDURE", "ALTER PROCEDURE"},
    {ast::ObjectType::kPublication, "DROP PUBLICATION", "ALTER PUBLICATION"},
    {ast::ObjectType::kRole, "DROP ROLE", "ALTER ROLE"},
    {ast::ObjectType::kRoutine, "DROP ROUTINE", "ALTER ROUTINE"},
    {ast::ObjectType::kRule, "DROP RULE", "ALTER RULE"},
    {ast::ObjectType::kSchema, "DROP SCHEMA", "ALTER SCHEMA"},
    {ast::ObjectType::kSequence, "DROP SEQUENCE", "ALTER SEQUENCE"},
    {ast::ObjectType::kStatistics, "DROP STATISTICS", "ALTER STATISTICS"},
    {ast::ObjectType::kSubscription, "DROP SUBSCRIPTION", "ALTER SUBSCRIPTION"},
    {ast::ObjectType::kTable, "DROP TABLE", "ALTER TABLE"},
    {ast::ObjectType::kTableConstraint, "ALTER TABLE", "ALTER TABLE"},
    {ast::ObjectType::kTablespace, "DROP TABLESPACE", "ALTER TABLESPACE"},
    {ast::ObjectType::kTextSearchConfiguration, "DROP TEXT SEARCH CONFIGURATION", "ALTER TEXT SEARCH CONFIGURATION"},
    {ast::ObjectType::kTextSearchDictionary, "DROP TEXT SEARCH DICTIONARY", "ALTER TEXT SEARCH DICTIONARY"},
    {ast::ObjectType::kTextSearchParser, "DROP TEXT SEARCH PARSER", "ALTER TEXT SEARCH PARSER"},
    {ast::ObjectType::kTextSearchTemplate, "DROP TEXT SEARCH TEMPLATE", "ALTER TEXT SEARCH TEMPLATE"},
    {ast::ObjectType::kTransform, "DROP TRANSFORM", "ALTER TRANSFORM"},
    {ast::ObjectType::kTrigger, "DROP TRIGGER", "ALTER TRIGGER"},
    {ast::ObjectType::kType, "DROP TYPE", "ALTER TYPE"},
    {ast::ObjectType::kUserMapping, "DROP USER MAPPING", "ALTER USER MAPPING"},
    {ast::ObjectType::kView, "DROP VIEW", "ALTER VIEW"},
};

std::string_view drop_tag(ast::ObjectType object) {
  for (const ObjectTags& tags : kObjectTags) {
    if (tags.object == object) return tags.drop;
  }
  return "DROP";
}

std::string_view alter_tag(ast::ObjectType object) {
  for (const ObjectTags& tags : kObjectTags) {
    if (tags.object == object) return tags.alter;
  }
  return "ALTER";
}

struct CommandTag {
  std::string_view operator()(const ast::Select&) const { return "SELECT"; }
  std::string_view operator()(const ast::Insert&) const { return "INSERT"; }
  std::string_view operator()(const ast::Update&) const { return "UPDATE"; }
  std::string_view operator()(const ast::Delete&) const { return "DELETE"; }
  std::string_view operator()(const ast::Merge&) const { return "MERGE"; }
  std::string_view operator()(const ast::CreateTable&) const { return "CREATE TABLE"; }
  std::string_view operator()(const ast::CreateForeignTable&) const { return "CREATE FOREIGN TABLE"; }
  std::string_view operator()(const ast::CreateTableAs& create) const {
    return create.materialized_view ? "CREATE MATERIALIZED VIEW" : "CREATE TABLE AS";
  }
  std::string_view operator()(const ast::CreateIndex&) const { return "CREATE INDEX"; }
  std::string_view operator()(const ast::AlterTable& alter) const { return alter_tag(alter.object); }
  std::string_view operator()(const ast::Drop& drop) const { return drop_tag(drop.object); }
  std::string_view operator()(const ast::Truncate&) const { return "TRUNCATE TABLE"; }
  std::string_view operator()(const ast::Rename& rename) const {
    // The tag for a part of an object is the whole object's.
    const bool part = rename.object == ast::ObjectType::kColumn || rename.object == ast::ObjectType::kAttribute;
    return alter_tag(part ? rename.relation_object : rename.object);
  }
  std::string_view operator()(const ast::SetSchema& alter) const { return alter_tag(alter.object); }
  std::string_view operator()(const ast::AlterOwner& alter) const { return alter_tag(alter.object); }
  std::string_view operator()(const ast::CreateDatabase&) const { return "CREATE DATABASE"; }
  std::string_view operator()(const ast::CreateSchema&) const { return "CREATE SCHEMA"; }
  std::string_view operator()(const ast::CreateView&) const { return "CREATE VIEW"; }
  std::string_view operator()(const ast::RefreshMaterializedView&) const { return "REFRESH MATERIALIZED VIEW"; }
  std::string_view operator()(const ast::CreateSequence&) const { return "CREATE SEQUENCE"; }
  std::string_view operator()(const ast::AlterSequence&) const { return "ALTER SEQUENCE"; }
  std::string_view operator()(const ast::CreateEnum&) const { return "CREATE TYPE"; }
  std::string_view operator()(const ast::AlterEnum&) const { return "ALTER TYPE"; }
  std::string_view operator()(const ast::CreateDomain&) const { return "CREATE DOMAIN"; }
  std::string_view operator()(const ast::AlterDomain&) const { return "ALTER DOMAIN"; }
  std::string_view operator()(const ast::CreateComposite&) const { return "CREATE TYPE"; }
  std::string_view operator()(const ast::CreateRange&) const { return "CREATE TYPE"; }
  std::string_view operator()(const ast::CreateFunction& create) const {
    return create.procedure ? "CREATE PROCEDURE" : "CREATE FUNCTION";
  }
  std::string_view operator()(const ast::AlterFunction& alter) const {
    return alter.object == ast::ObjectType::kProcedure ? "ALTER PROCEDURE" : alter.object == ast::ObjectType::kRoutine ? "ALTER ROUTINE" : "ALTER FUNCTION";
  }
  std::string_view operator()(const ast::Comment&) const { return "COMMENT"; }
  std::string_view operator()(const ast::CreateForeignServer&) const { return "CREATE SERVER"; }
  std::string_view operator()(const ast::UserMapping& mapping) const {
    using Action = ast::UserMapping::Action;
    return mapping.action == Action::kCreate ? "CREATE USER MAPPING" : mapping.action == Action::kAlter ? "ALTER USER MAPPING" : "DROP USER MAPPING";
  }
  std::string_view operator()(const ast::AlterForeignServer&) const { return "ALTER SERVER"; }
  std::string_view operator()(const ast::ImportForeignSchema&) const { return "IMPORT FOREIGN SCHEMA"; }
  std::string_view operator()(const ast::CreateExtension&) const { return "CREATE EXTENSION"; }
  std::string_view operator()(const ast::AlterExtension&) const { return "ALTER EXTENSION"; }
  std::string_view operator()(const ast::CreatePublication&) const { return "CREATE PUBLICATION"; }
  std::string_view operator()(const ast::AlterPublication&) const { return "ALTER PUBLICATION"; }
  std::string_view operator()(const ast::Grant& grant) const {
    if (grant.defaults) return "ALTER DEFAULT PRIVILEGES";
    return grant.grant ? "GRANT" : "REVOKE";
  }
  std::string_view operator()(const ast::GrantRole& grant) const { return grant.grant ? "GRANT ROLE" : "REVOKE ROLE"; }
  std::string_view operator()(const ast::CreateRole&) const { return "CREATE ROLE"; }
  std::string_view operator()(const ast::AlterRole& alter) const {
    const auto has = [&](std::string_view name) { return std::ranges::find(alter.options, name, &ast::Option::name) != alter.options.end(); };
    if (has(kDropOwned)) return "DROP OWNED";
    if (has(kReassignOwned)) return "REASSIGN OWNED";
    return has(kAlterDatabase) ? "ALTER DATABASE" : "ALTER ROLE";
  }
  std::string_view operator()(const ast::DropRole&) const { return "DROP ROLE"; }
  std::string_view operator()(const ast::CreatePolicy&) const { return "CREATE POLICY"; }
  std::string_view operator()(const ast::AlterPolicy&) const { return "ALTER POLICY"; }
  std::string_view operator()(const ast::CreateTrigger&) const { return "CREATE TRIGGER"; }
  std::string_view operator()(const ast::Explain&) const { return "EXPLAIN"; }
  std::string_view operator()(const ast::SetVariable& set) const {
    using Kind = ast::SetVariable::Kind;
    return set.kind == Kind::kReset || set.kind == Kind::kResetAll ? "RESET" : "SET";
  }
  std::string_view operator()(const ast::ShowVariable&) const { return "SHOW"; }
  std::string_view operator()(const ast::Transaction& transaction) const {
    switch (transaction.kind) {
      case ast::TransactionKind::kBegin:
        return "BEGIN";
      case ast::TransactionKind::kStart:
        return "START TRANSACTION";
      case ast::TransactionKind::kCommit:
        return "COMMIT";
      case ast::TransactionKind::kRollback:
      case ast::TransactionKind::kRollbackTo:
        return "ROLLBACK";
      case ast::TransactionKind::kSavepoint:
        return "SAVEPOINT";
      case ast::TransactionKind::kRelease:
        return "RELEASE";
      case ast::TransactionKind::kPrepare:
        return "PREPARE TRANSACTION";
      case ast::TransactionKind::kCommitPrepared:
        return "COMMIT PREPARED";
      case ast::TransactionKind::kRollbackPrepared:
        return "ROLLBACK PREPARED";
    }
    return "BEGIN";
  }
  std::string_view operator()(const ast::SetConstraints&) const { return "SET CONSTRAINTS"; }
  std::string_view operator()(const ast::Prepare&) const { return "PREPARE"; }
  std::string_view operator()(const ast::Execute&) const { return "EXECUTE"; }
  std::string_view operator()(const ast::Deallocate& deallocate) const {
    return deallocate.name.empty() ? "DEALLOCATE ALL" : "DEALLOCATE";
  }
  std::string_view operator()(const ast::DeclareCursor&) const { return "DECLARE CURSOR"; }
  std::string_view operator()(const ast::Fetch& fetch) const { return fetch.move ? "MOVE" : "FETCH"; }
  std::string_view operator()(const ast::ClosePortal& close) const {
    return close.name.empty() ? "CLOSE CURSOR ALL" : "CLOSE CURSOR";
  }
  std::string_view operator()(const ast::Copy&) const { return "COPY"; }
  std::string_view operator()(const ast::Vacuum& vacuum) const { return vacuum.analyze_only ? "ANALYZE" : "VACUUM"; }
  std::string_view operator()(const ast::Reindex&) const { return "REINDEX"; }
  std::string_view operator()(const ast::Cluster&) const { return "CLUSTER"; }
  std::string_view operator()(const ast::LockTable&) const { return "LOCK TABLE"; }
  std::string_view operator()(const ast::Discard& discard) const {
    switch (discard.target) {
      case ast::DiscardTarget::kAll:
        return "DISCARD ALL";
      case ast::DiscardTarget::kPlans:
        return "DISCARD PLANS";
      case ast::DiscardTarget::kSequences:
        return "DISCARD SEQUENCES";
      case ast::DiscardTarget::kTemporary:
        return "DISCARD TEMP";
    }
    return "DISCARD";
  }
  std::string_view operator()(const ast::Listen&) const { return "LISTEN"; }
  std::string_view operator()(const ast::Notify&) const { return "NOTIFY"; }
  std::string_view operator()(const ast::Unlisten&) const { return "UNLISTEN"; }
  std::string_view operator()(const ast::Do&) const { return "DO"; }
  std::string_view operator()(const ast::Call&) const { return "CALL"; }
  std::string_view operator()(const ast::Checkpoint&) const { return "CHECKPOINT"; }
  std::string_view operator()(const ast::Unsupported& unsupported) const { return unsupported.name; }
};

}  // namespace

std::string_view command_tag(const ast::Statement& statement) { return std::visit(CommandTag{}, statement.node); }

}  // namespace redquel::parser
