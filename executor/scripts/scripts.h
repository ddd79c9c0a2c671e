#pragma once

#include "executor/redis/script.h"

namespace redquel::executor {

// Every Lua script of the executor. lock_rows.lua beside this header is kLockRowsScript, and begins with its contract: KEYS, ARGV,
// replies, what it changes, how long it holds Redis. shared/ has the pieces that several scripts include.

// Rows: storage/write_unit, storage/mapped_unit, writes/
extern const Script kWriteScript;
extern const Script kWriteManyScript;
extern const Script kGuardWriteScript;
extern const Script kVerifyForeignKeysScript;
extern const Script kSweepExpiredRowsScript;

// Units of many rows, and commits whose answer was lost
extern const Script kExclusiveTablesScript;
extern const Script kFenceCommitScript;

// Commits over several buckets of a cluster (tests/model/README.md)
extern const Script kPrepareCommitScript;
extern const Script kApplyCommitScript;
extern const Script kFencePreparedScript;
extern const Script kAbortCommitScript;
extern const Script kForgetCommitsScript;
extern const Script kCommitStateScript;
extern const Script kLookAtCommitsScript;

// Reads: tables/
extern const Script kFirstRowsOfSetsScript;
extern const Script kGroupCountsScript;
extern const Script kRangeRowsScript;
extern const Script kRankedRowsScript;
extern const Script kRowsOfSetsScript;
extern const Script kSmallSetsScript;
extern const Script kUniqueRowsScript;

// Locks
extern const Script kAdvisoryLockScript;
extern const Script kForgetLocksScript;
extern const Script kLockFreeRowScript;
extern const Script kLockRowsScript;
extern const Script kLockTableScript;
extern const Script kLookAtLocksScript;
extern const Script kLookForCircleScript;
extern const Script kReleaseLocksScript;
extern const Script kRenewLeaseScript;
extern const Script kWaitForLockScript;

// Definitions and databases
extern const Script kAllocateValuesScript;
extern const Script kChangedDefinitionsScript;
extern const Script kCommitCatalogScript;
extern const Script kCompareRowKeysScript;
extern const Script kCountDatabasesScript;
extern const Script kCreateDatabaseScript;
extern const Script kFinishRemovalScript;
extern const Script kForeignTablesScript;
extern const Script kForgetCounterScript;
extern const Script kPrefixesOfDatabaseScript;
extern const Script kRenameDatabaseScript;
extern const Script kReplaceVersionScript;
extern const Script kReserveOidsScript;
extern const Script kUnlinkRemovedScript;
extern const Script kUnlinkRowsScript;

// Roles: storage/role_store.h
extern const Script kCommitRolesScript;
extern const Script kCreateFirstRoleScript;

}  // namespace redquel::executor
