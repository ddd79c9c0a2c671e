#pragma once

#include "parser/ast_table.h"

namespace redquel::parser::ast {

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
  ObjectType object = ObjectType::kTable;           // what gets a new name: kTable, kColumn, kTableConstraint …
  ObjectType relation_object = ObjectType::kTable;  // for kColumn: ALTER TABLE, VIEW … was written
  std::optional<RelationName> relation;             // tables and parts of tables
  ObjectName name;                                  // anything else
  std::string old_name;                             // of the column or constraint
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

struct CreateDatabase {
  std::string name;
  std::vector<Option> options;  // "owner", "encoding", "template", "lc_collate", …
};

struct CreateSchema {
  std::string name;  // empty: that of the role
  std::string role;  // AUTHORIZATION
  bool if_not_exists = false;
  std::vector<std::unique_ptr<const Statement>> elements;
};

enum class CheckOption { kNone, kLocal, kCascaded };

/// CREATE RECURSIVE VIEW arrives as a query with WITH RECURSIVE, as in PostgreSQL.
struct CreateView {
  RelationName relation;
  Persistence persistence = Persistence::kPermanent;
  std::vector<std::string> columns;
  QueryPtr query;
  bool replace = false;
  std::vector<Option> options;
  CheckOption check_option = CheckOption::kNone;
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

/// CREATE TYPE … AS RANGE (…)
struct CreateRange {
  QualifiedName name;
  std::vector<Option> options;
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
  ExpressionPtr return_expression;                     // RETURN expression; else null
  std::vector<std::unique_ptr<const Statement>> body;  // BEGIN ATOMIC … END
  bool sql_body = false;                               // one of the two above
};

/// ALTER FUNCTION, PROCEDURE, ROUTINE with options of CREATE FUNCTION. RESET parameter is "set" with OptionAction::kDrop, RESET ALL
/// one without a name.
struct AlterFunction {
  ObjectType object = ObjectType::kFunction;
  ObjectName function;
  std::vector<Option> options;
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
  std::string schema, version;  // empty: not said
  bool cascade = false;
};

/// ALTER EXTENSION … UPDATE.
struct AlterExtension {
  std::string name;
  std::string version;  // empty: the newest
};

// --- roles and rights ----------------------------------------------------------------------------------------------

struct Privilege {
  std::string name;  // lower case: "select"; empty: ALL PRIVILEGES (possibly of columns)
  std::vector<std::string> columns;
};

struct Grant {
  bool grant = true;           // else REVOKE
  bool all_in_schema = false;  // ON ALL … IN SCHEMA names
  bool defaults = false;       // ALTER DEFAULT PRIVILEGES: of objects that are not there yet
  ObjectType object = ObjectType::kTable;
  std::vector<ObjectName> objects;
  std::vector<Privilege> privileges;  // empty: ALL
  std::vector<std::string> grantees;  // "public" for PUBLIC
  std::vector<std::string> makers, schemas;  // defaults: FOR ROLE, IN SCHEMA
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

}  // namespace redquel::parser::ast
