#pragma once

#include <array>
#include <string_view>

namespace redquel::sql {

// Words by which stored definitions call the enumerators of catalog.h and mapping.h, in the order of these. Stored data has them: a word
// never changes, a new one comes last.

inline constexpr std::array<std::string_view, 3> kIdentityNames{"none", "always", "by default"};
inline constexpr std::array<std::string_view, 10> kMethodNames{"btree", "hash", "zset", "set",    "lookup",
                                                              "list",  "gin",  "gist", "spgist", "brin"};
inline constexpr std::array<std::string_view, 8> kLayoutNames{"hash", "strings", "string", "set", "zset", "list", "hash_fields", "stream"};
inline constexpr std::array<std::string_view, 11> kRoleNames{"slot", "field", "value", "member", "score", "position",
                                                        "name", "id",    "ttl",   "time",   "sequence"};
inline constexpr std::array<std::string_view, 7> kFormatNames{"text", "bool01", "unix", "unix_ms", "list", "json", "raw"};
inline constexpr std::array<std::string_view, 3> kAbsentNames{"null", "default", "empty"};
inline constexpr std::array<std::string_view, 3> kMappingMakerNames{"unknown", "superuser", "role"};
inline constexpr std::array<std::string_view, 3> kPartsNames{"whole", "delimited", "json"};
inline constexpr std::array<std::string_view, 4> kTypeKindNames{"enum", "domain", "composite", "range"};
inline constexpr std::array<std::string_view, 3> kStateNames{"ready", "building", "dropping"};

inline constexpr std::array<std::string_view, 5> kActionNames{"no action", "restrict", "cascade", "set null", "set default"};
inline constexpr std::array<std::string_view, 2> kReplicaIdentityNames{"default", "nothing"};
inline constexpr std::array<std::string_view, 3> kOnCommitNames{"preserve rows", "delete rows", "drop"};
inline constexpr std::array<std::string_view, 3> kVolatilityNames{"volatile", "stable", "immutable"};
inline constexpr std::array<std::string_view, 3> kCheckOptionNames{"none", "local", "cascaded"};

inline constexpr std::array<std::string_view, 4> kParameterModeNames{"in", "inout", "out", "variadic"};

inline constexpr std::array<std::string_view, 5> kPolicyCommandNames{"all", "select", "insert", "update", "delete"};

inline constexpr std::array<std::string_view, 3> kPartitionStrategyNames{"list", "range", "hash"};
inline constexpr std::array<std::string_view, 4> kPartitionValueNames{"value", "null", "minimum", "maximum"};

inline constexpr std::array<std::string_view, 3> kTriggerTimingNames{"after", "before", "instead of"};
inline constexpr std::array<std::string_view, 4> kTriggerFiringNames{"origin", "disabled", "replica", "always"};

}  // namespace redquel::sql
