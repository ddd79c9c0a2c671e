#pragma once

#include "parser/ast_query.h"

namespace redquel::parser::ast {

// --- writing rows --------------------------------------------------------------------------------------------------

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

// --- tables --------------------------------------------------------------------------------------------------------

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
struct ExclusionConstraint {};

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

struct CreateTable {
  RelationName relation;
  Persistence persistence = Persistence::kPermanent;
  bool if_not_exists = false;
  std::vector<TableElement> elements;  // in the order written
  std::vector<RelationName> inherits;
  bool partitioned = false;   // PARTITION BY
  bool partition_of = false;  // PARTITION OF inherits[0]
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
/// Any other form, named for the error: "ALTER TABLE … ENABLE TRIGGER".
struct OtherAlteration {
  std::string name;
};

using Alteration =
    std::variant<AddColumn, DropColumn, AlterColumnDefault, AlterColumnNotNull, AlterColumnType, AddIdentity,
                 SetIdentity, DropIdentity, DropExpression, SetColumnOptions, AlterForeignOptions, AddConstraint,
                 AlterConstraint, DropConstraint, ValidateConstraint, SetTableOptions, ChangeOwner, OtherAlteration>;

enum class ObjectType {
  kAccessMethod, kAggregate, kAttribute, kCast, kCollation, kColumn, kConversion, kDatabase, kDomain,
  kDomainConstraint, kEventTrigger, kExtension, kForeignDataWrapper, kForeignServer, kForeignTable, kFunction, kIndex,
  kLanguage, kLargeObject, kMaterializedView, kOperator, kOperatorClass, kOperatorFamily, kParameter, kPolicy,
  kProcedure, kPublication, kRole, kRoutine, kRule, kSchema, kSequence, kStatistics, kSubscription, kTable,
  kTableConstraint, kTablespace, kTextSearchConfiguration, kTextSearchDictionary, kTextSearchParser,
  kTextSearchTemplate, kTransform, kTrigger, kType, kUserMapping, kView, kOther
};

/// ALTER TABLE, and ALTER INDEX, SEQUENCE, VIEW, FOREIGN TABLE, TYPE … with the same commands.
struct AlterTable {
  RelationName relation;
  bool only = false;
  ObjectType object = ObjectType::kTable;
  bool if_exists = false;
  std::vector<Alteration> commands;
};

// --- other objects -------------------------------------------------------------------------------------------------

/// An object that is named: by relation-like parts, or with argument types (functions, operators).
struct ObjectName {
  QualifiedName names;  // schema, table, column …: one part for each
  std::vector<TypeName> argument_types;
  bool arguments_given = false;  // f() has none, f has not been given any
};

struct Drop {
  ObjectType object = ObjectType::kTable;
  std::vector<ObjectName> names;
  bool if_exists = false;
  bool cascade = false;
  bool concurrently = false;
};

struct Truncate {
  std::vector<TableRef> relations;
  bool restart_identity = false;
  bool cascade = false;
};

/// ALTER … RENAME [COLUMN x | CONSTRAINT x] TO new_name.
struct Rename {
  ObjectType object = ObjectType::kTable;    // what gets a new name: kTable, kColumn, kTableConstraint …
  ObjectType relation_object = ObjectType::kTable;  // for kColumn: ALTER TABLE, VIEW … was written
  std::optional<RelationName> relation;      // tables and parts of tables
  ObjectName name;                           // anything else
  std::string old_name;                      // of the column or constraint
  std::string new_name;
  bool if_exists = false;
  bool cascade = false;
};

/// ALTER … SET SCHEMA.
struct SetSchema {
  ObjectType object = ObjectType::kTable;
  std::optional<RelationName> relation;
  ObjectName name;
  std::string new_schema;
  bool if_exists = false;
};

/// ALTER … OWNER TO, of what is not a relation (relations: ChangeOwner in AlterTable).
struct AlterOwner {
  ObjectType object = ObjectType::kSchema;
  ObjectName name;
  std::string role;
};

struct CreateSchema {
  std::string name;  // empty: that of the role
  std::string role;  // AUTHORIZATION
  bool if_not_exists = false;
  std::vector<std::unique_ptr<const Statement>> elements;
};

enum class CheckOption { kNone, kLocal, kCascaded };

struct CreateView {
  RelationName relation;
  Persistence persistence = Persistence::kPermanent;
  std::vector<std::string> columns;
  QueryPtr query;
  bool replace = false;
  std::vector<Option> options;
  CheckOption check_option = CheckOption::kNone;
  bool recursive = false;  // never set: PostgreSQL's grammar turns it into WITH RECURSIVE
};

struct RefreshMaterializedView {
  RelationName relation;
  bool concurrently = false;
  bool with_no_data = false;
};

struct CreateSequence {
  RelationName relation;
  Persistence persistence = Persistence::kPermanent;
  std::vector<Option> options;
  bool if_not_exists = false;
};

struct AlterSequence {
  RelationName relation;
  std::vector<Option> options;
  bool if_exists = false;
};

struct CreateEnum {
  QualifiedName name;
  std::vector<std::string> labels;
};

/// ALTER TYPE … ADD VALUE, or RENAME VALUE when old_label is set.
struct AlterEnum {
  QualifiedName name;
  std::string old_label;
  std::string new_label;
  std::string neighbor;  // BEFORE or AFTER this one; empty: at the end
  bool after = false;
  bool if_not_exists = false;
};

struct CreateDomain {
  QualifiedName name;
  TypeName type;
  QualifiedName collation;
  std::vector<Constraint> constraints;
};

enum class DomainAlteration { kSetDefault, kDropNotNull, kSetNotNull, kAddConstraint, kDropConstraint, kValidate };

struct AlterDomain {
  DomainAlteration alteration = DomainAlteration::kSetDefault;
  QualifiedName name;
  ExpressionPtr default_value;           // null: DROP DEFAULT
  std::optional<Constraint> constraint;  // kAddConstraint
  std::string constraint_name;           // kDropConstraint, kValidate
  bool cascade = false;
  bool if_exists = false;
};

struct CreateComposite {
  RelationName name;
  std::vector<RecordColumn> columns;
};

enum class ParameterMode { kIn, kOut, kInOut, kVariadic, kTable };

struct FunctionParameter {
  std::string name;
  TypeName type;
  ParameterMode mode = ParameterMode::kIn;
  ExpressionPtr default_value;  // may be null
};

struct CreateFunction {
  QualifiedName name;
  bool procedure = false;
  bool replace = false;
  std::vector<FunctionParameter> parameters;
  std::optional<TypeName> return_type;
  /// "language", "as" (list of strings), "volatility", "strict", "security", "leakproof", "window", "cost", "rows",
  /// "parallel", "support", "set", "transform".
  std::vector<Option> options;
  ExpressionPtr return_expression;                          // RETURN expression; else null
  std::vector<std::unique_ptr<const Statement>> body;       // BEGIN ATOMIC … END
  bool sql_body = false;                                    // one of the two above
};

struct Comment {
  ObjectType object = ObjectType::kTable;
  ObjectName name;                     // constraint: table parts, then the constraint's name
  std::optional<std::string> comment;  // absent: IS NULL
};

struct CreateForeignServer {
  std::string name;
  std::string type;
  std::string version;
  std::string wrapper;
  std::vector<Option> options;
  bool if_not_exists = false;
};

struct AlterForeignServer {
  std::string name;
  std::optional<std::string> version;
  std::vector<Option> options;
};

enum class ImportList { kAll, kLimitTo, kExcept };

struct ImportForeignSchema {
  std::string server;
  std::string remote_schema;
  std::string local_schema;
  ImportList list = ImportList::kAll;
  std::vector<RelationName> tables;
  std::vector<Option> options;
};

struct CreateExtension {
  std::string name;
  bool if_not_exists = false;
};

// --- roles and rights ----------------------------------------------------------------------------------------------

struct Privilege {
  std::string name;  // lower case: "select"; empty: ALL PRIVILEGES (possibly of columns)
  std::vector<std::string> columns;
};

struct Grant {
  bool grant = true;  // else REVOKE
  bool all_in_schema = false;  // ON ALL … IN SCHEMA names
  ObjectType object = ObjectType::kTable;
  std::vector<ObjectName> objects;
  std::vector<Privilege> privileges;   // empty: ALL
  std::vector<std::string> grantees;   // "public" for PUBLIC
  bool grant_option = false;
  bool cascade = false;
};

struct GrantRole {
  bool grant = true;
  std::vector<std::string> roles;
  std::vector<std::string> grantees;
  bool admin_option = false;
  bool cascade = false;
};

struct CreateRole {
  enum class Kind { kRole, kUser, kGroup } kind = Kind::kRole;
  std::string name;
  std::vector<Option> options;
};

struct AlterRole {
  std::string name;
  std::vector<Option> options;
};

struct DropRole {
  std::vector<std::string> names;
  bool if_exists = false;
};

// --- session and transaction ---------------------------------------------------------------------------------------

/// Output of these is by option: name lower case, value absent (on), bool, string or integer.
struct Explain {
  std::vector<Option> options;  // "analyze", "verbose", "format", "costs", …
  std::unique_ptr<const Statement> statement;
};

/// A value of SET: a word or a string, an integer, a number; or an interval literal for TIME ZONE INTERVAL '…'.
struct SettingValue {
  std::string text;
  bool is_string = true;              // false: a number
  bool interval = false;              // SET TIME ZONE INTERVAL 'text'
  std::uint32_t offset = 0;
};

/// SET name = values, SET name TO DEFAULT, RESET name, RESET ALL, SET TRANSACTION, SET SESSION CHARACTERISTICS.
/// Special forms arrive under PostgreSQL's names: TIME ZONE as timezone, SCHEMA as search_path, NAMES as
/// client_encoding, ROLE as role, SESSION AUTHORIZATION as session_authorization, XML OPTION as xmloption.
struct SetVariable {
  enum class Kind { kValue, kDefault, kFromCurrent, kTransaction, kReset, kResetAll } kind = Kind::kValue;
  std::string name;
  bool local = false;
  std::vector<SettingValue> values;
  std::vector<Option> modes;            // kTransaction: as in Transaction::modes
  bool session_characteristics = false;  // kTransaction: AS TRANSACTION, of the session
  std::optional<std::string> snapshot;  // kTransaction: SNAPSHOT 'id'
};

/// SHOW name; SHOW ALL has the name "all".
struct ShowVariable {
  std::string name;
};

enum class TransactionKind {
  kBegin, kStart, kCommit, kRollback, kSavepoint, kRelease, kRollbackTo, kPrepare, kCommitPrepared, kRollbackPrepared
};

struct Transaction {
  TransactionKind kind = TransactionKind::kBegin;
  /// "transaction_isolation" (string: "read committed" …), "transaction_read_only" and "transaction_deferrable"
  /// (integer 0 or 1).
  std::vector<Option> modes;
  std::string savepoint;
  std::string global_id;
  bool chain = false;
};

/// SET CONSTRAINTS.
struct SetConstraints {
  std::vector<RelationName> constraints;  // empty: ALL
  bool deferred = false;
};

struct Prepare {
  std::string name;
  std::vector<TypeName> parameter_types;
  std::unique_ptr<const Statement> statement;
};
struct Execute {
  std::string name;
  Expressions arguments;
};
struct Deallocate {
  std::string name;  // empty: ALL
};

struct DeclareCursor {
  std::string name;
  bool binary = false;
  std::optional<bool> scroll;  // SCROLL, NO SCROLL
  std::optional<bool> insensitive;  // INSENSITIVE, ASENSITIVE
  bool hold = false;
  QueryPtr query;
};

enum class FetchDirection { kForward, kBackward, kAbsolute, kRelative };

struct Fetch {
  FetchDirection direction = FetchDirection::kForward;
  std::int64_t count = 1;  // kAll: ALL
  std::string cursor;
  bool move = false;
  static constexpr std::int64_t kAll = INT64_MAX;
};

struct ClosePortal {
  std::string name;  // empty: ALL
};

struct Copy {
  std::optional<RelationName> relation;
  std::unique_ptr<const Statement> query;  // COPY (query) TO; else null
  std::vector<std::string> columns;
  bool from = false;
  bool program = false;
  std::optional<std::string> file;  // absent: STDIN or STDOUT
  std::vector<Option> options;      // old syntax too: "format", "delimiter", "null", "header", …
  ExpressionPtr where;              // may be null
};

struct VacuumRelation {
  TableRef relation;
  std::vector<std::string> columns;
};

struct Vacuum {
  bool analyze_only = false;  // ANALYZE
  std::vector<Option> options;
  std::vector<VacuumRelation> relations;
};

enum class ReindexKind { kIndex, kTable, kSchema, kSystem, kDatabase };

struct Reindex {
  ReindexKind kind = ReindexKind::kTable;
  std::optional<RelationName> relation;
  std::string name;  // schema, system, database
  std::vector<Option> options;
};

struct Cluster {
  std::optional<RelationName> relation;
  std::string index;
};

struct LockTable {
  std::vector<TableRef> relations;
  std::int32_t mode = 8;  // PostgreSQL's lock modes: 1 ACCESS SHARE … 8 ACCESS EXCLUSIVE
  bool no_wait = false;
};

enum class DiscardTarget { kAll, kPlans, kSequences, kTemporary };

struct Discard {
  DiscardTarget target = DiscardTarget::kAll;
};

struct Listen {
  std::string channel;
};
struct Notify {
  std::string channel;
  std::string payload;
};
struct Unlisten {
  std::string channel;  // empty: *
};

struct Do {
  std::string language;  // empty: the default, plpgsql
  std::string code;
};

struct Call {
  ExpressionPtr function;  // a FunctionCall
};

struct Checkpoint {};

/// What parses but has no struct: `name` is the construct as PostgreSQL's command tag says it, "CREATE TRIGGER".
struct Unsupported {
  std::string name;
};

struct Statement {
  std::variant<Select, Insert, Update, Delete, Merge, CreateTable, CreateForeignTable, CreateTableAs, CreateIndex,
               AlterTable, Drop, Truncate, Rename, SetSchema, AlterOwner, CreateSchema, CreateView,
               RefreshMaterializedView, CreateSequence, AlterSequence, CreateEnum, AlterEnum, CreateDomain, AlterDomain,
               CreateComposite, CreateFunction, Comment, CreateForeignServer, AlterForeignServer, ImportForeignSchema,
               CreateExtension, Grant, GrantRole, CreateRole, AlterRole, DropRole, Explain, SetVariable, ShowVariable,
               Transaction, SetConstraints, Prepare, Execute, Deallocate, DeclareCursor, Fetch, ClosePortal, Copy,
               Vacuum, Reindex, Cluster, LockTable, Discard, Listen, Notify, Unlisten, Do, Call, Checkpoint,
               Unsupported>
      node;
  std::uint32_t offset = 0;  // of its first token
};

}  // namespace redquel::parser::ast
