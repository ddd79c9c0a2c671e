#pragma once

#include <optional>
#include <set>
#include <string>

#include "executor/redis/command_batch.h"
#include "executor/redis/reply.h"
#include "sql/error.h"

namespace redquel::executor {

/// Returns a call of each command that redquel cannot do without. The calls touch only the key `trial`, which is gone at their end.
CommandBatch required_commands(const std::string& trial);

/// Returns 42501 with the commands that the user may not run, or that Redis does not know (renamed), Redis's reason for the first, and the ACL
/// rules that are missing.
std::optional<sql::SqlError> refusal_of(const Replies& replies, const std::string& address);

/// Returns the least ACL rule of redquel's own login, as ACL SETUSER takes it: "~* &redquel:* -@all +bgrewriteaof …". `prefixes`: of the tables
/// and sequences that it reaches; nullopt: all keys.
std::string least_acl_rule(const std::optional<std::set<std::string>>& prefixes);
/// Returns commands that ask whether the user may access the channels of NOTIFY, and the keys below these prefixes.
CommandBatch access_trials(const std::set<std::string>& prefixes);
/// Returns 42501 with the ACL rules that are missing, by the replies to these trials.
std::optional<sql::SqlError> refused_access(const Replies& replies, const std::set<std::string>& prefixes, const std::string& address);

}  // namespace redquel::executor
