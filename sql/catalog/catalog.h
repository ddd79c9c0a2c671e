#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sql/catalog/buckets.h"
#include "sql/catalog/definition_map.h"
#include "sql/catalog/publication_def.h"
#include "sql/overloaded.h"
#include "sql/privileges/acl.h"
#include "sql/types/type.h"
#include "sql/types/user_types.h"

namespace redquel::sql {

/// A column of a table. `number` and `field` are its identity: a rename changes only `name`.
struct ColumnDef {
  std::int16_t number = 0;  // pg_attribute.attnum, from 1, never reused
  std::string name;
  std::string field;  // of the row's hash, and the column's segment in index keys; `a~2` when an older `a` was dropped
  Type type;       // of a domain: the type under it
  Oid domain = 0;  // the domain that the column is declared with
  bool not_null = false;
  std::string default_sql;  // deparsed expression; empty: none
  std::string generated_sql;  // GENERATED ALWAYS AS … STORED; empty: an ordinary column
  enum class Identity : std::uint8_t { kNone, kAlways, kByDefault } identity = Identity::kNone;
  Oid sequence = 0;  // serial and identity columns: where values come from
  /// Rows that were there when the column was added with a constant default lack the field: it means this text. NULL is then
  /// stored as the field `<field>%N`.
  std::optional<std::string> missing;
  std::string comment;
  std::string collation = {};  // as written: C, POSIX, ucs_basic, which all mean the order of bytes; empty: the database's
  /// Only for foreign tables: `*` leaves the column out, like PostgreSQL's system columns. Hidden columns come last. See kTtlColumn.
  bool hidden = false;
  OptionalAcl acl;
};

/// Number of the hidden column `ttl` of a foreign table: how long its key will live.
inline constexpr std::int16_t kTtlColumn = 32767;

/// Number of the column of scans of partitioned tables that says which partition has the row. No table has it.
inline constexpr std::int16_t kTableOidColumn = 32766;

enum class IndexMethod : std::uint8_t { kBtree, kHash, kZset, kSet, kLookup, kList, kGin, kGist, kSpgist, kBrin };
/// Methods that Redis has nothing like: their indexes are remembered, and nothing is kept or asked for them.
constexpr bool is_remembered(IndexMethod method) { return method > IndexMethod::kGin; }
/// building: written, not read; dropping: neither.
enum class IndexState : std::uint8_t { kReady, kBuilding, kDropping };

/// The storage of an index of redquel's own: structures that follow from its parts (structures_of).
struct ManagedIndex {};
/// The storage of an index of a mapped table: a structure of an application.
struct MappedIndex {
  std::string key;          // template of its keys, stored form
  std::string member;       // template of a row's member, stored form; empty: natural_member()
  std::string field;        // of a lookup that is a hash: template of its fields, stored form
  bool maintained = false;  // by redquel, too
  std::int64_t length = 0;  // a list is cut to so many elements; 0: never
};
/// An index without storage: Redis has nothing like its method.
struct RememberedIndex {};

/// The constraint of the same name that an index belongs to.
struct IndexConstraint {
  enum class Kind : std::uint8_t {
    kUnique,
    kPrimaryKey,  // TableDef::primary_key_as_index; any other is the table's own key, and no index
    kExclusion,   // EXCLUDE (… WITH =): kept as a unique index, shown as it was written
  };
  Kind kind = Kind::kUnique;
  bool deferrable = false, initially_deferred = false;  // checked at the end of the statement or at COMMIT
  std::string comment = {};
};

struct IndexDef {
  Oid oid = 0;
  std::string name;  // empty for an unnamed foreign key, which no view shows
  IndexMethod method = IndexMethod::kBtree;
  IndexState state = IndexState::kReady;
  bool rebuilding = false;  // is being built by REINDEX: if that is killed, the next REINDEX goes on with it
  bool unique = false;
  bool nulls_not_distinct = false;
  std::optional<IndexConstraint> constraint;  // absent: CREATE INDEX has made it
  struct Part {
    std::int16_t column = 0;  // below 0: a computed one of the table
    bool descending = false, nulls_first = false;
    std::int16_t shown_column = 0;  // of a partial index: the column that was written; 0: `column`, or an expression
    std::string expression_sql;     // deparsed; empty: a column
    std::string operator_class;     // of a remembered index, where it is not the type's own; empty: it is
  };
  std::vector<Part> parts;
  std::string predicate_sql;      // of a partial index: only rows for which it is true have entries
  std::vector<std::int16_t> included;  // INCLUDE (…): remembered, nothing is kept for them
  bool short_members = false;  // of its sets: they leave out parts of the primary key (member_form.h). False: as before stored format 2
  std::string definition_suffix;       // WITH (…): accepted and remembered
  std::variant<ManagedIndex, MappedIndex, RememberedIndex> storage;
  std::string comment;

  bool is_primary_key() const { return constraint && constraint->kind == IndexConstraint::Kind::kPrimaryKey; }
  bool is_exclusion() const { return constraint && constraint->kind == IndexConstraint::Kind::kExclusion; }
  bool is_deferrable() const { return constraint && constraint->deferrable; }
  bool is_initially_deferred() const { return constraint && constraint->initially_deferred; }
  bool is_hidden() const { return name.empty(); }
  bool is_remembered() const { return std::holds_alternative<RememberedIndex>(storage); }
  /// The index must be that of a mapped table.
  const MappedIndex& mapped() const { return std::get<MappedIndex>(storage); }
  MappedIndex& mapped() { return std::get<MappedIndex>(storage); }
};

/// A foreign key of the table whose columns it names.
struct ForeignKeyDef {
  enum class Action : std::uint8_t { kNoAction, kRestrict, kCascade, kSetNull, kSetDefault };

  Oid oid = 0;
  std::string name;
  std::vector<std::int16_t> columns;
  Oid referenced = 0;                            // table
  std::vector<std::int16_t> referenced_columns;  // parallel to `columns`
  Oid referenced_index = 0;                      // the unique index or primary key over them
  Oid index = 0;                                 // hidden, of this table: which rows refer to a value
  bool match_full = false;                       // else MATCH SIMPLE
  Action on_delete = Action::kNoAction, on_update = Action::kNoAction;
  Action action_on(bool is_update) const { return is_update ? on_update : on_delete; }
  std::vector<std::int16_t> set_columns;  // ON DELETE SET NULL (…), SET DEFAULT (…); empty: all
  bool deferrable = false, initially_deferred = false;
  bool not_valid = false;
  std::string comment;
};

/// A policy of row level security.
struct PolicyDef {
  enum class Command : std::uint8_t { kAll, kSelect, kInsert, kUpdate, kDelete };
  /// A relation or function that the expressions use besides the table: as ViewDef::Reference has them.
  struct Reference {
    Oid relation = 0;
    std::vector<std::int16_t> columns;
  };

  Oid oid = 0;
  std::string name;
  bool restrictive = false;  // all of them must hold; of the others one
  Command command = Command::kAll;
  std::vector<Oid> roles;  // kPublic: all
  std::string using_sql, check_sql;  // deparsed, over the table's columns; empty: none
  std::vector<Reference> references;
  std::string comment;
};

/// A trigger of a table or a view.
struct TriggerDef {
  enum class Timing : std::uint8_t { kAfter, kBefore, kInsteadOf };
  enum class Event : std::uint8_t { kInsert = 1, kDelete = 2, kUpdate = 4, kTruncate = 8 };
  /// The session_replication_role in which it fires. ENABLE TRIGGER: kOrigin.
  enum class Firing : std::uint8_t { kOrigin, kDisabled, kReplica, kAlways };

  Oid oid = 0;
  std::string name;
  Oid function = 0;
  Timing timing = Timing::kAfter;
  bool for_each_row = false;
  std::int16_t events = 0;            // the sum of Event
  std::vector<std::int16_t> columns;  // UPDATE OF; empty: any
  std::string when_sql;               // deparsed, over the rows `old` and `new`; empty: none
  std::vector<std::string> arguments;
  std::string old_table, new_table;  // REFERENCING; empty: none
  bool constraint = false;
  bool deferrable = false, initially_deferred = false;
  Firing firing = Firing::kOrigin;
  std::vector<PolicyDef::Reference> references;  // what WHEN uses: the table with columns, and functions
  std::string comment;

  bool has_transition_tables() const { return !old_table.empty() || !new_table.empty(); }
  bool is_for(Event event) const { return (events & static_cast<std::int16_t>(event)) != 0; }
};

/// WITH (buckets = n, bucket_by = 'column'): the table's rows lie in several buckets of a cluster, by the hash of one column (spread_table.h).
/// On one Redis the parameters are remembered and mean nothing.
struct SpreadDef {
  /// The part of the table that lies in one bucket. Its oid names its locks, versions and counters in that bucket.
  struct Place {
    Oid oid = 0;
    int bucket = 0;
  };

  std::int16_t column = 0;  // bucket_by; 0: the hidden key
  int buckets = 0;          // as declared
  bool by_default = false;  // not declared: by SET redquel.buckets
  bool names_column = false;  // bucket_by is declared
  std::vector<Place> places;  // by the number of the part; empty: one Redis
};

/// PARTITION BY: the table has no rows of its own, they lie in its partitions.
struct PartitionKeyDef {
  enum class Strategy : std::uint8_t { kList, kRange, kHash };
  struct Part {
    std::int16_t column = 0;
    std::string operator_class;  // as written; empty: the type's own
  };

  Strategy strategy = Strategy::kList;
  std::vector<Part> parts;
};

/// FOR VALUES … or DEFAULT.
struct PartitionBoundDef {
  /// A value for a column of the partition key, as its type's stored text.
  struct Value {
    enum class Kind : std::uint8_t { kValue, kNull, kMinimum, kMaximum } kind = Kind::kValue;
    std::string text;
  };

  bool is_default = false;
  std::vector<Value> values;    // of a list
  std::vector<Value> from, to;  // of a range: a value for each part of the key
  int modulus = 0, remainder = 0;  // of a hash
};

/// A partition of a table.
struct PartitionDef {
  Oid parent = 0;
  PartitionBoundDef bound;
};

class PartitionRouter;
struct Mapping;
struct ViewDef;

/// WITH (ttl = …, ttl_column = …): rows expire so long after they were inserted, or at the time that a column has (NULL: never).
struct RowExpiry {
  std::int64_t milliseconds = 0;  // 0: no ttl
  std::int16_t column = 0;        // 0: no ttl_column
  std::string written;            // ttl as it was written

  bool any() const { return milliseconds != 0 || column != 0; }
};

/// The storage of a table that redquel manages: keys are made by TableKeys alone.
struct ManagedRows {
  /// The column whose hash field marks a row as existing; 0: the key is stored as field(s). It is chosen once, so that SET or DROP NOT
  /// NULL never hides existing rows. If it is absent, the choice of a new table holds (TableKeys::presence_column).
  std::optional<std::int16_t> presence;
  bool stores_key = false;  // writes store the key's columns as fields, whatever their types (so that `presence` may become 0)
  RowExpiry expiry;
};
/// The storage of a foreign table: keys of an application.
struct MappedRows {
  std::shared_ptr<const Mapping> mapping;  // never null
};

/// The index of a primary key that is the table's own key. Its columns are TableDef::primary_key.
struct PrimaryKeyDef {
  Oid oid = 0;
  std::string name;
  std::vector<std::int16_t> included;        // INCLUDE (…)
  std::string comment, constraint_comment;  // on the index, and on the constraint
};

/// ENABLE and FORCE ROW LEVEL SECURITY, and the policies.
struct RowSecurityDef {
  bool enabled = false, forced = false;
  std::vector<PolicyDef> policies;  // by name
};

struct TableDef {
  Oid oid = 0;
  Oid row_type = 0;
  Oid row_array = 0;  // the type of arrays over it; 0: the row type is none that values can have (row_types.h)
  std::string schema = "public";
  std::string name;
  std::string prefix;   // first part of all its keys, in a cluster behind the tag of its bucket; stays on rename
  std::string version;  // changes with every definition of this table; checked by write scripts
  std::vector<ColumnDef> columns;  // live ones, by number
  std::int16_t next_column = 1;
  std::vector<std::string> used_fields;  // of dropped columns: taken while a row may hold them
  std::vector<std::int16_t> primary_key;  // column numbers; empty: a hidden generated key, also behind a DEFERRABLE primary key
  PrimaryKeyDef primary_key_index;
  std::variant<ManagedRows, MappedRows> storage;
  std::vector<IndexDef> indexes;  // without the primary key
  std::vector<CheckDef> checks;
  std::vector<ForeignKeyDef> foreign_keys;
  std::vector<Oid> referencing;  // tables with foreign keys to this one, itself included
  std::string comment;
  std::string owner = "postgres";
  /// The action on a temporary table or its rows when a transaction commits.
  enum class OnCommit : std::uint8_t { kPreserveRows, kDeleteRows, kDrop } on_commit = OnCommit::kPreserveRows;

  /// The columns of indexes on expressions and of partial indexes: numbers from -1 downwards, never reused. `generated_sql` refers to the
  /// table's columns. They are neither stored in rows nor visible to clients. (In a partial index: CASE WHEN predicate THEN part END.)
  std::vector<ColumnDef> computed;
  std::int16_t next_computed = -1;
  std::string cache;  // WITH (cache = on | off); empty: the table's use decides whether it is kept in memory
  /// A materialized view: what its rows are made of (oids, name and columns are the table's); null: a table.
  std::shared_ptr<const ViewDef> materialized;
  bool populated = true;  // of a materialized view: it has been filled, and can be read
  OptionalAcl acl;
  RowSecurityDef security;
  std::vector<TriggerDef> triggers;  // by name
  /// REPLICA IDENTITY: the columns of an old row that subscribers of a publication get.
  enum class ReplicaIdentity : std::uint8_t { kDefault, kNothing } replica_identity = ReplicaIdentity::kDefault;
  bool of_view = false;  // made by view_rows() (view_rows.h): the rows of a view, as its triggers see them

  std::optional<SpreadDef> spread;
  /// The table as each of its buckets has it: definitions of their own, with their own oids and prefixes. Empty: the table lies in one bucket.
  /// Made of `spread` by make_parts(), again after each change of the definition.
  std::vector<std::shared_ptr<const TableDef>> parts;
  Oid part_of = 0;  // of a part that lies in a bucket: the table

  std::optional<PartitionKeyDef> partition_key;
  std::optional<PartitionDef> partition;
  /// Knows which of `parts` has a row; null: the table has no partition key. The parts are then the tables at the leaves of its tree of partitions,
  /// with names and definitions of their own. link_partitions() (partitions.h) makes both from the definitions of the partitions.
  std::shared_ptr<const PartitionRouter> router;

  /// By name never a computed or hidden one.
  const ColumnDef* find_column(std::string_view name) const;
  const ColumnDef* find_column(std::int16_t number) const;
  /// The tag of the table's bucket; empty on one Redis. Foreign tables have that of kHomeBucket, where their locks and counters are.
  std::string_view tag() const { return tag_of(prefix); }
  /// Returns true for a foreign table. A table is managed or mapped: std::visit over `storage` says what either does.
  bool is_mapped() const { return std::holds_alternative<MappedRows>(storage); }
  /// The table must be mapped.
  const Mapping& mapping() const { return *std::get<MappedRows>(storage).mapping; }
  /// The table must be managed.
  const ManagedRows& managed() const { return std::get<ManagedRows>(storage); }
  ManagedRows& managed() { return std::get<ManagedRows>(storage); }
  bool rows_expire() const { return !is_mapped() && managed().expiry.any(); }
  /// Never a hidden one.
  const IndexDef* find_index(std::string_view name) const;
  bool has_foreign_keys() const { return !foreign_keys.empty() || !referencing.empty(); }
  /// Position in `columns`; of a computed column behind these and the hidden key.
  std::size_t position(std::int16_t number) const;
  bool in_primary_key(std::int16_t number) const;
  /// Neither NOT NULL nor part of the primary key.
  bool is_nullable(const ColumnDef&) const;
  bool has_hidden_key() const { return primary_key.empty(); }
  /// Returns true if the rows lie in `parts`, even if there is none yet.
  bool is_divided() const { return !parts.empty() || partition_key.has_value(); }
  /// Columns that are not hidden: the first so many.
  std::size_t shown_columns() const { return columns.size() - (!columns.empty() && columns.back().hidden ? 1 : 0); }
  /// The index of a primary key that is not the key of the rows, which lie under hidden ones: a DEFERRABLE one, which two rows may share for a while,
  /// and one that a single table of a tree of partitions has. nullptr: none.
  const IndexDef* primary_key_as_index() const;
  bool has_primary_key() const { return !primary_key.empty() || primary_key_as_index() != nullptr; }
};

/// Returns "table", "foreign table" or "materialized view".
std::string_view kind_name(const TableDef& table);

struct SequenceDef {
  Oid oid = 0;
  std::string schema = "public";
  std::string name;
  std::string key;  // Redis STRING, in a cluster in the bucket of its table: the last value given; absent: none yet
  Type type = kInt8;
  std::int64_t start = 1, increment = 1, minimum = 1, maximum = INT64_MAX, cache = 1;
  bool cycle = false;
  Oid owner_table = 0;  // dropped with it
  std::int16_t owner_column = 0;
  bool foreign = false;  // the counter of a mapped table: its key belongs to the application
  std::int64_t changes = 0;  // counted where sessions have to forget what they have taken ahead (CACHE)
  std::string comment;
  std::string owner;  // empty: that of its table, or, of a sequence from before sequences had owners, postgres (owner_of)
  OptionalAcl acl;
};

/// A view: a query that is bound anew wherever the view is used.
struct ViewDef {
  struct Column {
    std::string name;
    Type type;
    std::string comment;
    std::string default_sql;  // ALTER VIEW … SET DEFAULT: what an INSERT into the view gives that leaves the column out; empty: none
    bool updatable = false;   // where the view has a base: a column of it, and no computed one
    OptionalAcl acl = {};
  };
  /// A table or view that the query reads, and which of its columns by number; or a function that it calls.
  struct Reference {
    Oid relation = 0;
    std::vector<std::int16_t> columns;
  };
  enum class CheckOption : std::uint8_t { kNone, kLocal, kCascaded };

  Oid oid = 0;
  Oid row_type = 0;
  Oid rule = 0;  // pg_rewrite's _RETURN
  std::string schema = "public";
  std::string name;
  std::vector<Column> columns;
  std::string query;  // canonical SQL: every relation with its schema, every column with its relation, no stars
  /// The query as pg_get_viewdef() lays it out, plain and pretty. The text between \1 and \2 is the schema of a relation, shown only if
  /// the search path does not find the relation; the relation's name ends with \3.
  std::string definition, pretty_definition;
  std::vector<Reference> references;
  CheckOption check_option = CheckOption::kNone;
  Oid base = 0;  // the table or view under it, whose rows can be deleted through it; 0: none
  std::string options;  // WITH (…), as pg_class.reloptions shows them, with commas between: security_barrier=true
  std::string comment;
  std::string owner = "postgres";
  OptionalAcl acl;
  std::vector<TriggerDef> triggers;  // by name

  /// WITH (security_invoker): its relations are read with the rights of the role that asks.
  bool is_security_invoker() const;
  /// WITH (security_barrier): no function of the query around it sees rows that the view leaves out, unless it is leakproof.
  bool is_security_barrier() const;
  /// By name; nullptr: none.
  const Column* find_column(std::string_view column_name) const;
  /// Returns true if rows can be inserted and updated through the view without triggers.
  bool is_updatable() const;
  /// Returns true if a trigger INSTEAD OF stands for the event, whether it is enabled or not.
  bool has_instead_of(TriggerDef::Event event) const;
};

/// A function or procedure in LANGUAGE sql. A body of one query stands wherever it is called, if that means the same; others are run
/// for each call.
struct FunctionDef {
  struct Parameter {
    std::string name;  // empty: known by its number only
    Type type;
    std::string default_sql;  // deparsed expression; empty: none
    /// kOut: of a procedure, whose calls have an argument for it that counts for nothing.
    enum class Mode : std::uint8_t { kIn, kInOut, kOut, kVariadic } mode = Mode::kIn;
  };
  struct Column {
    std::string name;
    Type type;
  };
  enum class Volatility : std::uint8_t { kVolatile, kStable, kImmutable };

  Oid oid = 0;
  std::string schema = "public";
  std::string name;
  std::vector<Parameter> parameters;  // those that a call gives
  Type result;                        // of one row; record where there are several columns
  Oid result_relation = 0;            // RETURNS table: rows of it; `result` is record then
  std::vector<Column> columns;        // RETURNS TABLE, OUT parameters; empty: one value of `result`
  bool returns_set = false;
  bool table_syntax = false;  // columns come from RETURNS TABLE
  bool procedure = false;     // called by CALL
  std::string language = "sql";  // or "plpgsql"; "c" for a function of an extension
  std::string body;           // statements; in PL/pgSQL a block; of a function of an extension its symbol (extension.h)
  bool standard_body = false;  // written as RETURN or BEGIN ATOMIC; else as a string
  bool atomic_body = false;    // as BEGIN ATOMIC
  bool strict = false;
  bool window = false;  // WINDOW: called with OVER only
  Volatility volatility = Volatility::kVolatile;
  std::string options;  // SECURITY DEFINER, PARALLEL SAFE, …: remembered as pg_get_functiondef() shows them
  Oid extension = 0;  // that it is a member of
  std::string comment;
  std::string owner = "postgres";
  OptionalAcl acl;

  /// SECURITY DEFINER: the body runs with the rights of the owner.
  bool is_security_definer() const;
  bool is_leakproof() const;
  bool is_variadic() const { return !parameters.empty() && parameters.back().mode == Parameter::Mode::kVariadic; }
};

/// Temporary tables lie in schemas of this form, one for each session with temporary tables. Users cannot create such a schema.
inline constexpr std::string_view kTemporarySchemaPrefix = "pg_temp_";
inline bool is_temporary_schema(std::string_view schema) { return schema.starts_with(kTemporarySchemaPrefix); }
/// Returns true if a function name with this schema before it, or with none (empty), refers to `schema`. A temporary schema is found only
/// through pg_temp.
bool means_function_of(std::string_view written_schema, std::string_view schema, const std::vector<std::string>& search_path);

struct SchemaDef {
  Oid oid = 0;
  std::string name;
  std::string owner = "postgres";
  std::string comment;
  OptionalAcl acl;
};

/// CREATE EXTENSION: its functions are definitions of their own (FunctionDef::extension).
struct ExtensionDef {
  Oid oid = 0;
  std::string name;
  std::string schema = "public";
  std::string version;
  std::string owner = "postgres";
  std::string comment;
};

/// ALTER DEFAULT PRIVILEGES: what objects have that the role makes from now on.
struct DefaultAclDef {
  Oid oid = 0;
  Oid role = 0;
  Oid schema = 0;  // 0: in all schemas, and `acl` stands for default_acl(); else `acl` is added
  char kind = 'r';  // pg_default_acl.defaclobjtype: r, S, f, T, n
  Acl acl;
};

/// CREATE USER MAPPING: who connects to Redis as whom. Its password lies apart (stored_keys.h).
struct UserMappingDef {
  /// Who has made the mapping, or changed it last: superusers vouch for it. kUnknown: it is from before this was noted.
  enum class Maker : std::uint8_t { kUnknown, kSuperuser, kRole };

  Oid oid = 0;
  Oid role = kPublic;
  std::string user;  // of Redis
  Maker maker = Maker::kUnknown;
  bool has_password = false;  // unless the maker is unknown
};

/// The foreign server "redis".
struct ForeignServerDef {
  std::string owner = "postgres";
  OptionalAcl acl;
  std::string comment;
  std::vector<UserMappingDef> mappings;  // by role, each once
};

// The labels by which a snapshot finds definitions.

/// The names of the table, of its indexes and constraints; whether it is foreign; the oids of its parts in buckets; its parent.
std::vector<std::string> labels_of(const std::shared_ptr<const TableDef>& table);
/// The sequence's name and the table that owns it.
std::vector<std::string> labels_of(const SequenceDef& sequence);
std::vector<std::string> labels_of(const std::shared_ptr<const ViewDef>& view);
std::vector<std::string> labels_of(const UserTypePtr& type);
std::vector<std::string> labels_of(const std::shared_ptr<const FunctionDef>& function);

/// All definitions of one database at one version. Immutable; sessions and plans share it. A copy shares its definitions.
class CatalogSnapshot {
 public:
  using TablePtr = std::shared_ptr<const TableDef>;
  using ViewPtr = std::shared_ptr<const ViewDef>;

  std::string version;  // value of `redquel:version`: random, never a count
  std::map<std::string, SchemaDef, std::less<>> schemas;
  DefinitionMap<TablePtr> tables;
  DefinitionMap<SequenceDef> sequences;
  DefinitionMap<ViewPtr> views;
  DefinitionMap<UserTypePtr> types;  // enums, domains, composite and range types
  /// `types` and the row types of the tables, as values of them are read and compared. Null in a snapshot that has no values.
  UserTypesPtr user_types;
  DefinitionMap<std::shared_ptr<const FunctionDef>> functions;
  std::map<Oid, ExtensionDef> extensions;
  std::map<Oid, PublicationDef> publications;
  std::map<Oid, DefaultAclDef> default_acls;
  ForeignServerDef server;
  /// Lists of objects that every database has (pg_catalog's tables and functions, languages, the schemas of the system), by class and oid.
  std::map<std::pair<Oid, Oid>, Acl> system_acls;

  /// In the first schema of the path that has it; schema-qualified when `schema` is not empty. nullptr: none.
  TablePtr find_table(std::string_view schema, std::string_view name, const std::vector<std::string>& search_path) const;
  /// Also finds a part of a table (TableDef::parts).
  TablePtr find_table(Oid oid) const;
  /// Tables that redquel manages, by oid: all but foreign ones.
  std::vector<TablePtr> managed_tables() const;
  /// Foreign tables.
  std::vector<TablePtr> mapped_tables() const;
  /// The partitions of a table, by name; without those of its partitions.
  std::vector<TablePtr> partitions_of(Oid table) const;
  /// The oids of the sequences that a table owns.
  std::vector<Oid> sequences_of(Oid table) const;
  /// The table that has the index, and the index.
  std::pair<TablePtr, const IndexDef*> find_index(std::string_view schema, std::string_view name,
                                                  const std::vector<std::string>& search_path) const;
  /// The table whose primary key has that name.
  TablePtr find_primary_key(std::string_view schema, std::string_view name, const std::vector<std::string>& search_path) const;
  const SequenceDef* find_sequence(std::string_view schema, std::string_view name, const std::vector<std::string>& search_path) const;
  ViewPtr find_view(std::string_view schema, std::string_view name, const std::vector<std::string>& search_path) const;
  ViewPtr find_view(Oid oid) const;
  /// An enum, a domain, a composite or a range type; nullptr: none of that name. Array types are found by their element's.
  UserTypePtr find_user_type(std::string_view schema, std::string_view name, const std::vector<std::string>& search_path) const;
  /// Returns null if the extension has not been created.
  const ExtensionDef* find_extension(std::string_view name) const;
  /// Returns null if there is no such publication.
  const PublicationDef* find_publication(std::string_view name) const;
  /// Returns true if a table of the schema has a constraint of that name.
  bool constraint_exists(std::string_view schema, std::string_view name) const;
  /// A table, index, primary key, sequence or view of that name exists in the schema (they share one name space).
  bool relation_exists(std::string_view schema, std::string_view name) const;
};

using CatalogPtr = std::shared_ptr<const CatalogSnapshot>;

}  // namespace redquel::sql
