#pragma once

#include <string_view>

namespace redquel::sql {

// Every key below "redquel:", and the form of its value. C++ and Lua share these names: cmake/embed_scripts.cmake puts the values into the
// scripts. Keys of tables are made by table_keys.h. A name that ends with Prefix is followed by what stands in <>.
//
// A change of a key or of a value's form is another format: raise kStoredFormat, and let storage/stored_format.cc upgrade older data. An
// upgrade changes kVersionKey and every field of kVersionsKey: older processes that run load the catalog then, and refuse.

/// STRING: the number of the format. Absent: 0, data of a redquel from before there was a number; its keys and values are those of format 1.
/// Format 2 has short members (member_form.h), and foreign tables of `format 'raw'` and with slots `{column:*}`.
inline constexpr std::string_view kFormatKey = "redquel:format";
inline constexpr int kStoredFormat = 3;

// Definitions (storage/catalog_store.h).
/// STRING: random, another one after every change of definitions. Each turn of a connection ends by reading it. In a cluster each bucket in
/// use has a copy (storage/version_copies.h).
inline constexpr std::string_view kVersionKey = "redquel:version";
/// HASH: table:<oid>, sequence:<oid>, view:<oid>, type:<oid>, function:<oid>, extension:<oid>, publication:<oid>, schema:<name>,
/// default_acl:<oid>, server:redis, acl:<class>:<oid> → JSON (catalog_json.h); next_oid → number.
inline constexpr std::string_view kCatalogKey = "redquel:catalog";
/// HASH: what the newest changes of definitions were. A version that the next one has replaced → MessagePack: the next version, the fields of
/// kCatalogKey that it has changed, the prefixes that may be taken or free since; "#" → how many were noted; "#<number modulo
/// kDefinitionLogLength>" → the version that stands in this place (scripts/shared/definition_log.lua).
inline constexpr std::string_view kDefinitionLogKey = "redquel:definition_log";
inline constexpr int kDefinitionLogLength = 64;
/// HASH: oid of a table → random, another one after every change of its definition. Scripts that write compare it.
inline constexpr std::string_view kVersionsKey = "redquel:versions";
/// HASH: prefix of keys → its owner ("table 16384").
inline constexpr std::string_view kPrefixesKey = "redquel:prefixes";
/// HASH: random id → JSON (storage/removal.h): keys of dropped tables and indexes that are still to be deleted.
inline constexpr std::string_view kRemovalsKey = "redquel:removals";
/// STRING behind a byte 255, which makes it the last key in byte order, <random id of a process>:<logical database>: random; expires. A write
/// to it marks a moment for the copies of tables in memory.
inline constexpr std::string_view kFencePrefix = "redquel:fence:";
/// STRING <oid of a user mapping>: the password of its Redis user. STRING 0:<random>: one that waits for the commit of its mapping; expires.
inline constexpr std::string_view kMappingPasswordPrefix = "redquel:mapping_password:";
/// STRING <oid of an index>: lease of the process that fills it.
inline constexpr std::string_view kBuildingPrefix = "redquel:building:";
/// HASH in the logical database of the URL: name of a database → number of its logical database.
inline constexpr std::string_view kDatabasesKey = "redquel:databases";

// Roles of all databases, in the logical database of the URL (storage/role_store.h).
/// HASH: role:<oid>, member:<role>:<member>, setting:<database>:<role>, database:<name> → JSON (role_json.h); next_oid → number; version →
/// random, another one after every change.
inline constexpr std::string_view kRolesKey = "redquel:roles";
/// HASH: role oid → SCRAM-SHA-256$… or md5…; read at login and by superusers alone.
inline constexpr std::string_view kVerifiersKey = "redquel:verifiers";
/// STRING: random; makes the salts that names without a role show.
inline constexpr std::string_view kMockNonceKey = "redquel:mock_nonce";

// Rows.
/// STRING <oid>: how many scripts have changed the table.
inline constexpr std::string_view kChangesPrefix = "redquel:changes:";
/// SET: prefixes of tables whose rows expire (storage/row_expiry.h).
inline constexpr std::string_view kExpiringKey = "redquel:expiring";
/// STRING: lease of the process that looks for expired rows.
inline constexpr std::string_view kSweepKey = "redquel:sweep";
/// SET <oid of a foreign table>: rows that SQL has written and that a structure kept by the application may lack.
inline constexpr std::string_view kUnkeptPrefix = "redquel:unkept:";

// Replication (executor/replication/README.md).
/// HASH: name of a replication slot → JSON; %top, %copied, %system, %base:<replication id of Redis> → numbers.
inline constexpr std::string_view kSlotsKey = "redquel:slots";
/// HASH <slot>: field of kCatalogKey → its value at the slot's place.
inline constexpr std::string_view kSlotDefinitionsPrefix = "redquel:slot_definitions:";
/// STRING <slot>: lease of the session that sends the slot's changes; expires.
inline constexpr std::string_view kSlotLeasePrefix = "redquel:slot_lease:";
/// STRING <slot>: random; a write to it marks a place in the stream; expires.
inline constexpr std::string_view kSlotFencePrefix = "redquel:slot_fence:";

// Locks (storage/locks.h, scripts/shared/locks.lua). A token is 16 hex digits of the process, '.', a number, '.', the session's pid. The
// value of a lock is "<mode's digit><token>", several of them with blanks between.
inline constexpr std::string_view kLockPattern = "(%d)(%S+)";
/// HASH <oid>: "r<member>", "u<key>\0<unique value>" or "t" (the table) → locks.
inline constexpr std::string_view kLocksPrefix = "redquel:locks:";
/// HASH: "<class>:<key>" → locks; mode 4 is exclusive, 1 shared.
inline constexpr std::string_view kAdvisoryKey = "redquel:advisory";
/// STRING <process>: lease of the process whose tokens begin so. Without it its locks mean nothing.
inline constexpr std::string_view kProcessPrefix = "redquel:process:";
/// HASH: key of a lease → the mark of the process that renews it (executor/runtime/process_mark.h).
inline constexpr std::string_view kHoldersKey = "redquel:holders";
/// HASH: session → "<its token> <token that it waits for>".
inline constexpr std::string_view kWaitsKey = "redquel:waits";

// Units of many rows (storage/exclusive_tables.h) and commits (transaction/commit_fence.h).
/// HASH: oid → "<unit> <owner> <version of the table before> <version of the catalog before>".
inline constexpr std::string_view kExclusiveKey = "redquel:exclusive";
/// STRING <unit>: its owner; expires.
inline constexpr std::string_view kUnitLeasePrefix = "redquel:lease:";
/// LIST <unit>: how to undo each chunk that is in Redis, the last one last (storage/journal.h).
inline constexpr std::string_view kJournalPrefix = "redquel:journal:";
/// HASH <engine>: slot → "<number of the commit> committed", written by the commit itself, or "<number> fenced": it never takes place.
inline constexpr std::string_view kCommitsPrefix = "redquel:commits:";

// Commits over several buckets of a Redis Cluster (scripts/shared/commit_record.lua, tests/model/README.md). Each bucket has its own of
// these keys, with the bucket's tag in front. The name of a commit is 16 hex digits, '.', its buckets with commas between, '.', its tables.
/// HASH: name of a prepared commit → its record (MessagePack).
inline constexpr std::string_view kPreparedKey = "redquel:prepared";
/// ZSET: name of an applied commit → the number of its application in this bucket.
inline constexpr std::string_view kAppliedKey = "redquel:applied";
/// ZSET: name of an applied commit → milliseconds since 1970.
inline constexpr std::string_view kAppliedTimesKey = "redquel:applied_times";
/// ZSET: name of a commit that never takes place → milliseconds since 1970; removed a day later.
inline constexpr std::string_view kTombstonesKey = "redquel:tombstones";
/// HASH: number (the last one given), trimmed (the highest one that has left kAppliedKey), touched.
inline constexpr std::string_view kCommitNumbersKey = "redquel:commit_numbers";
/// STRING: the mover's mark. No script runs in the bucket while it is there.
inline constexpr std::string_view kMovingKey = "redquel:moving";

// Keys and values that exist only for a moment.
/// An element of an application's list that is to be removed; it is there within one script only.
inline constexpr std::string_view kRemovedElement = "redquel:removed:2f9c4c1e";
/// Never exists.
inline constexpr std::string_view kNoKey = "redquel:none";
/// Read-only commands are tried on it.
inline constexpr std::string_view kTrialKey = "redquel:trial";
/// Commands that write are tried below it.
inline constexpr std::string_view kTrialPrefix = "redquel:trial:";
/// Channel <number of the logical database> of NOTIFY.
inline constexpr std::string_view kNotifyPrefix = "redquel:notify:";
/// STRING in the logical database of the URL: 32 random bytes, the key of what the processes tell each other (runtime/process_exchange.h).
inline constexpr std::string_view kExchangeKey = "redquel:exchange_key";
/// STRING <number>: identity of the process that has taken the number for its sessions' process ids; expires soon.
inline constexpr std::string_view kProcessNumberPrefix = "redquel:process_number:";
/// Channel of questions to all processes, and channel <asker> of their answers.
inline constexpr std::string_view kQuestionsChannel = "redquel:questions";
inline constexpr std::string_view kAnswersPrefix = "redquel:answers:";
/// The prefix of all of these.
inline constexpr std::string_view kOwnPrefix = "redquel:";

}  // namespace redquel::sql
