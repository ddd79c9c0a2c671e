#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "sql/catalog/catalog.h"

namespace redquel::executor {

// Locks of rows and unique values, held by open transactions, seen by every write:
//   redquel:locks:<table oid>  HASH    field → "<mode><token>", several of them with blanks between
//   redquel:process:<id>       STRING  lease of the process whose tokens begin with the id; without it its locks mean nothing
//   redquel:waits              HASH    token → token that it waits for
// A field is "r" and the row's member, "u" and a unique value (key of its hash, zero byte, field), or "t", the table.

/// Row lock strengths of PostgreSQL's manual, section 13.3.2. Two of them conflict when their sum is 5 or more.
enum class LockMode : std::uint8_t { kKeyShare = 1, kShare = 2, kNoKeyUpdate = 3, kUpdate = 4 };

inline std::string lock_key(sql::Oid table) { return "redquel:locks:" + std::to_string(table); }
inline std::string process_key(std::string_view process) { return "redquel:process:" + std::string(process); }
inline std::string row_lock_field(std::string_view member) { return "r" + std::string(member); }
inline std::string value_lock_field(std::string_view uniques_key, std::string_view field) {
  std::string text = "u" + std::string(uniques_key);
  text += '\0';
  text += field;
  return text;
}

/// What one transaction holds.
struct LockSet {
  std::string token;  // 16 hex digits of the process, '.', the transaction's number, '.', the session's pid
  std::map<sql::Oid, std::set<std::string>> fields;

  std::string process() const { return token.substr(0, token.find('.')); }
  bool empty() const { return fields.empty(); }
};

/// What a token says of whoever has it.
struct LockOwner {
  std::int64_t number = 0, pid = 0;
};
LockOwner owner_of(std::string_view token);

/// Somebody else's lock is in the way.
struct LockConflict {
  std::string holder, key, field;
};

/// A statement met one: nothing was written and nothing locked; to be run again when the lock is gone. Never reaches a client.
struct LockedByOther {
  LockConflict conflict;
};

}  // namespace redquel::executor
