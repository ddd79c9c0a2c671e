#pragma once

#include "parser/ast_query.h"

namespace redquel::parser::ast {

/// Options have lower-case names; no value means on. EXPLAIN ANALYZE and VERBOSE without parentheses are options too.
struct Explain {
  std::vector<Option> options;  // "analyze", "verbose", "format", "costs", …
  std::unique_ptr<const Statement> statement;
};

/// A value of SET, as text: a word, a string or a number.
struct SettingValue {
  std::string text;
  bool is_string = true;  // false: a number
  bool interval = false;  // SET TIME ZONE INTERVAL 'text'
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
  std::vector<Option> modes;             // kTransaction: as in Transaction::modes
  bool session_characteristics = false;  // kTransaction: AS TRANSACTION, of the session
  std::optional<std::string> snapshot;   // kTransaction: SNAPSHOT 'id'
};

/// SHOW name; SHOW ALL has the name "all".
struct ShowVariable {
  std::string name;
};

enum class TransactionKind {
  kBegin,
  kStart,
  kCommit,
  kRollback,
  kSavepoint,
  kRelease,
  kRollbackTo,
  kPrepare,
  kCommitPrepared,
  kRollbackPrepared
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
  std::optional<bool> scroll;       // SCROLL, NO SCROLL
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

/// CALL as what it answers: SELECT * FROM the procedure, the only item of FROM.
struct Call {
  std::shared_ptr<const Statement> query;
};

struct Checkpoint {};

}  // namespace redquel::parser::ast
