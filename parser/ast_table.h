#pragma once

#include "parser/ast_write.h"

namespace redquel::parser::ast {

struct NullConstraint {};
struct NotNullConstraint {};
struct DefaultConstraint {
  ExpressionPtr value;
};
struct IdentityConstraint {
  bool always = false;  // else BY DEFAULT
  std::vector<Option> sequence_options;
};
struct GeneratedConstraint {
  ExpressionPtr value;
};
struct CheckConstraint {
  ExpressionPtr condition;
  bool no_inherit = false;
};
/// PRIMARY KEY and UNIQUE.
struct KeyConstraint {
  bool primary = false;
  bool nulls_not_distinct = false;
  std::vector<std::string> columns;  // empty for a column constraint: the column it stands at
  std::vector<std::string> including;
  std::vector<Option> options;
  std::string using_index;  // UNIQUE USING INDEX name
  std::string tablespace;
};
/// EXCLUDE USING method (element WITH operator, …) WHERE (condition).
struct ExclusionConstraint {
  std::string access_method;  // empty: btree
  std::vector<IndexElement> elements;
  std::vector<QualifiedName> operators;  // parallel to `elements`
  std::vector<std::string> including;
  std::vector<Option> options;
  ExpressionPtr where;  // may be null
  std::string tablespace;
};

enum class ForeignKeyAction { kNoAction, kRestrict, kCascade, kSetNull, kSetDefault };
enum class ForeignKeyMatch { kSimple, kFull, kPartial };

struct ForeignKeyConstraint {
  std::vector<std::string> columns;  // empty for a column constraint
  RelationName referenced;
  std::vector<std::string> referenced_columns;  // empty: its primary key
  ForeignKeyMatch match = ForeignKeyMatch::kSimple;
  ForeignKeyAction on_update = ForeignKeyAction::kNoAction;
  ForeignKeyAction on_delete = ForeignKeyAction::kNoAction;
  std::vector<std::string> on_delete_columns;  // SET NULL (columns)
};

struct Constraint {
  std::string name;  // empty: to be chosen
  bool deferrable = false;
  bool initially_deferred = false;
  bool not_valid = false;
  std::uint32_t offset = 0;
  std::variant<NullConstraint, NotNullConstraint, DefaultConstraint, IdentityConstraint, GeneratedConstraint,
               CheckConstraint, KeyConstraint, ExclusionConstraint, ForeignKeyConstraint>
      node;
};

struct ColumnDefinition {
  std::string name;
  std::optional<TypeName> type;  // absent only in PARTITION OF, OF type and CREATE TABLE AS lists
  QualifiedName collation;       // empty: none
  std::uint32_t collation_offset = 0;
  std::string compression;
  std::string storage;
  std::vector<Constraint> constraints;  // DEFERRABLE and the like are folded into the constraint they follow
  std::vector<Option> foreign_options;  // OPTIONS (key 'value')
  std::uint32_t offset = 0;
};

/// LIKE source INCLUDING …
struct LikeClause {
  RelationName source;
  bool comments = false;
  bool compression = false;
  bool constraints = false;
  bool defaults = false;
  bool generated = false;
  bool identity = false;
  bool indexes = false;
  bool statistics = false;
  bool storage = false;
};

using TableElement = std::variant<ColumnDefinition, Constraint, LikeClause>;

/// PARTITION BY strategy (column | expression, …).
struct PartitionSpec {
  struct Element {
    std::string column;        // empty: `expression`
    ExpressionPtr expression;  // may be null
    QualifiedName collation, operator_class;
    std::uint32_t offset = 0;
  };
  std::string strategy;  // as written, in lower case
  std::vector<Element> elements;
  std::uint32_t offset = 0;
};

/// FOR VALUES … or DEFAULT.
struct PartitionBound {
  enum class Strategy : std::uint8_t { kDefault, kList, kRange, kHash } strategy = Strategy::kDefault;
  int modulus = 0, remainder = 0;
  Expressions values;       // IN (…)
  Expressions lower, upper;  // FROM (…) TO (…); the columns minvalue and maxvalue stand for the ends
  std::uint32_t offset = 0;
};

struct CreateTable {
  RelationName relation;
  Persistence persistence = Persistence::kPermanent;
  bool if_not_exists = false;
  std::vector<TableElement> elements;  // in the order written
  std::vector<RelationName> inherits;
  std::optional<PartitionSpec> partition_by;
  std::optional<PartitionBound> partition_of;  // PARTITION OF inherits[0]
  std::optional<TypeName> of_type;
  std::vector<Option> options;  // WITH (…)
  OnCommit on_commit = OnCommit::kNone;
  std::string tablespace;
  std::string access_method;
};

struct CreateForeignTable {
  CreateTable table;
  std::string server;
  std::vector<Option> options;
};

/// CREATE TABLE AS, CREATE MATERIALIZED VIEW. The query is a Select, or an Execute.
struct CreateTableAs {
  IntoClause into;
  std::unique_ptr<const Statement> query;
  bool materialized_view = false;
  bool if_not_exists = false;
};

struct CreateIndex {
  std::string name;  // empty: to be chosen
  RelationName relation;
  bool only = false;
  bool unique = false;
  bool nulls_not_distinct = false;
  bool concurrently = false;
  bool if_not_exists = false;
  std::string access_method;  // "btree" when not written
  std::vector<IndexElement> elements;
  std::vector<IndexElement> including;
  ExpressionPtr where;  // may be null
  std::vector<Option> options;
  std::string tablespace;
};

struct AddColumn {
  ColumnDefinition column;
  bool if_not_exists = false;
};
struct DropColumn {
  std::string column;
  bool if_exists = false;
  bool cascade = false;
};
struct AlterColumnDefault {
  std::string column;
  ExpressionPtr value;  // null: DROP DEFAULT
};
struct AlterColumnNotNull {
  std::string column;
  bool not_null = false;
};
struct AlterColumnType {
  std::string column;
  TypeName type;
  QualifiedName collation;
  ExpressionPtr using_value;  // may be null
  std::uint32_t offset = 0;
};
struct AddIdentity {
  std::string column;
  Constraint identity;
};
struct SetIdentity {
  std::string column;
  std::vector<Option> options;  // "generated" has 'a' (ALWAYS) or 'd' as its integer value
};
struct DropIdentity {
  std::string column;
  bool if_exists = false;
};
struct DropExpression {
  std::string column;
  bool if_exists = false;
};
struct SetColumnOptions {
  std::string column;
  std::vector<Option> options;
  bool reset = false;
};
/// ALTER INDEX … ALTER COLUMN number SET STATISTICS.
struct SetIndexStatistics {
  int column = 0;
};
/// ALTER COLUMN … OPTIONS (…); without a column OPTIONS (…) of a foreign table.
struct AlterForeignOptions {
  std::string column;
  std::vector<Option> options;
};
struct AddConstraint {
  Constraint constraint;
};
struct AlterConstraint {
  Constraint constraint;  // only its name and deferrability mean anything
};
struct DropConstraint {
  std::string name;
  bool if_exists = false;
  bool cascade = false;
};
struct ValidateConstraint {
  std::string name;
};
struct SetTableOptions {
  std::vector<Option> options;
  bool reset = false;
};
struct ChangeOwner {
  std::string role;
};
/// ENABLE, DISABLE, FORCE, NO FORCE ROW LEVEL SECURITY.
struct SetRowSecurity {
  bool forces = false;  // FORCE or NO FORCE
  bool on = false;
};
struct SetReplicaIdentity {
  enum class Identity : std::uint8_t { kDefault, kNothing, kFull, kIndex } identity = Identity::kDefault;
};
/// ENABLE [REPLICA | ALWAYS], DISABLE TRIGGER.
struct SetTriggerFiring {
  enum class Scope : std::uint8_t { kOne, kUser, kAll } scope = Scope::kOne;
  enum class Firing : std::uint8_t { kOrigin, kDisabled, kReplica, kAlways } firing = Firing::kOrigin;
  std::string name;  // kOne
};
struct AttachPartition {
  RelationName partition;
  PartitionBound bound;
};
/// ALTER INDEX … ATTACH PARTITION.
struct AttachIndex {
  RelationName index;
};
struct DetachPartition {
  RelationName partition;
  bool concurrently = false;
};
/// Any other form, named for the error: "ALTER TABLE … ENABLE RULE".
struct OtherAlteration {
  std::string name;
};

using Alteration =
    std::variant<AddColumn, DropColumn, AlterColumnDefault, AlterColumnNotNull, AlterColumnType, AddIdentity,
                 SetIdentity, DropIdentity, DropExpression, SetColumnOptions, SetIndexStatistics, AlterForeignOptions,
                 AddConstraint, AlterConstraint, DropConstraint, ValidateConstraint, SetTableOptions, ChangeOwner, SetRowSecurity, SetReplicaIdentity, SetTriggerFiring,
                 AttachPartition, AttachIndex, DetachPartition, OtherAlteration>;

enum class ObjectType {
  kAccessMethod,
  kAggregate,
  kAttribute,
  kCast,
  kCollation,
  kColumn,
  kConversion,
  kDatabase,
  kDomain,
  kDomainConstraint,
  kEventTrigger,
  kExtension,
  kForeignDataWrapper,
  kForeignServer,
  kForeignTable,
  kFunction,
  kIndex,
  kLanguage,
  kLargeObject,
  kMaterializedView,
  kOperator,
  kOperatorClass,
  kOperatorFamily,
  kParameter,
  kPolicy,
  kProcedure,
  kPublication,
  kRole,
  kRoutine,
  kRule,
  kSchema,
  kSequence,
  kStatistics,
  kSubscription,
  kTable,
  kTableConstraint,
  kTablespace,
  kTextSearchConfiguration,
  kTextSearchDictionary,
  kTextSearchParser,
  kTextSearchTemplate,
  kTransform,
  kTrigger,
  kType,
  kUserMapping,
  kView,
  kOther
};

/// ALTER TABLE, and ALTER INDEX, SEQUENCE, VIEW, FOREIGN TABLE, TYPE … with the same commands.
struct AlterTable {
  RelationName relation;
  bool only = false;
  ObjectType object = ObjectType::kTable;
  bool if_exists = false;
  std::vector<Alteration> commands;
};

}  // namespace redquel::parser::ast
