// oid and the names of objects (regclass and its relatives), numbers of PostgreSQL's server (tid, xid, pg_lsn), types of catalog columns.

#include <fmt/format.h>

#include <algorithm>

#include "sql/name_errors.h"
#include "sql/privileges/acl_text.h"
#include "sql/sqlstate.h"
#include "sql/types/number_text.h"
#include "sql/types/server_numbers.h"
#include "sql/types/tid.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

struct OidType : StoredAsUnsigned {
  static constexpr IndexOrder kIndexOrder = IndexOrder::kExactScore;
  static constexpr bool kIsNeverEscaped = true;
  static Value parse(const TextInput& input) { return parse_oid(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_integer(static_cast<std::uint32_t>(value), out); }
  static std::string memory_image(Type, Value value) { return word_image(static_cast<std::uint32_t>(value)); }
};

bool is_number_or_dash(std::string_view text) { return text == "-" || (!text.empty() && text.front() >= '0' && text.front() <= '9'); }

/// regclass and its relatives as numbers: names need the catalog, which is above this room's values (object_names.h).
template <IndexOrder order>
struct ObjectNameType : OidType {
  static constexpr IndexOrder kIndexOrder = order;
  static constexpr bool kIsNeverEscaped = false, kNamesObjects = true;
  static Value parse(const TextInput& input) {
    if (!is_number_or_dash(input.text)) throw not_supported(fmt::format("input of type {} by name", type_info(input.type.oid).name));
    return input.text == "-" ? 0 : parse_oid(input.text);
  }
};
using ScoredNameType = ObjectNameType<IndexOrder::kExactScore>;
using LexicalNameType = ObjectNameType<IndexOrder::kLexical>;

/// Built-in types have names that need no catalog.
struct RegtypeType : ScoredNameType {
  static Value parse(const TextInput& input) {
    const std::string_view text = input.text;
    if (is_number_or_dash(text)) return ScoredNameType::parse(input);
    if (const TypeInfo* info = find_type(text)) return static_cast<std::int32_t>(info->oid);
    const auto found = std::ranges::find(all_types(), text, &TypeInfo::display_name);
    if (found != all_types().end()) return static_cast<std::int32_t>(found->oid);
    throw undefined_type(text);
  }
};

struct TransactionType : StoredAsUnsigned {
  static Value parse(const TextInput& input) { return parse_xid(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_integer(static_cast<std::uint32_t>(value), out); }
  static std::string memory_image(Type, Value value) { return word_image(static_cast<std::uint32_t>(value)); }
};

struct TidType : StoredAs<std::int64_t> {
  static constexpr IndexOrder kIndexOrder = IndexOrder::kScore;
  static Value parse(const TextInput& input) { return parse_tid(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_tid(value, out); }
  static Value decode(Type, BinaryReader& reader) {
    const std::uint64_t block = reader.integer<std::uint32_t>();
    return static_cast<std::int64_t>((block << 16 | reader.integer<std::uint16_t>()) << 16) >> 16;
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) {
    put_binary(static_cast<std::uint32_t>(value >> 16), out);
    put_binary(static_cast<std::uint16_t>(value), out);
  }
  /// Over the number of the block, its upper half first, and of the row in it.
  static std::uint64_t postgres_hash(Type, Value number, HashSeed seed) {
    const std::uint16_t parts[] = {static_cast<std::uint16_t>(number >> 32), static_cast<std::uint16_t>(number >> 16),
                                   static_cast<std::uint16_t>(number)};
    return hash_bytes({reinterpret_cast<const char*>(parts), sizeof parts}, seed.value);
  }
};

/// 64 bits without a sign, which lie in memory with their upper bit turned round.
struct UnsignedBitsType : StoredAs<std::int64_t> {
  static constexpr IndexOrder kIndexOrder = IndexOrder::kScore;
  static Value decode(Type, BinaryReader& reader) { return from_unsigned_bits(reader.integer<std::uint64_t>()); }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) { put_binary(to_unsigned_bits(value), out); }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) {
    return hash_long(static_cast<std::int64_t>(to_unsigned_bits(value)), seed.value);
  }
};
struct Xid8Type : UnsignedBitsType {
  static Value parse(const TextInput& input) { return parse_xid8(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += std::to_string(to_unsigned_bits(value)); }
};
struct LogPositionType : UnsignedBitsType {
  static Value parse(const TextInput& input) { return parse_log_position(input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_log_position(value, out); }
};

struct SnapshotType : StoredAs<std::string_view> {
  static std::string parse(const TextInput& input) { return snapshot_text(parse_snapshot(input.text)); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  static std::string decode(Type, BinaryReader& reader) {
    const std::uint32_t count = reader.integer<std::uint32_t>();
    TransactionSnapshot snapshot{.begin = reader.integer<std::uint64_t>(), .end = reader.integer<std::uint64_t>(), .running = {}};
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    bool is_valid = snapshot.begin > 0 && snapshot.end >= snapshot.begin && snapshot.end <= kMost;
    std::uint64_t last = snapshot.begin;
    for (std::uint32_t i = 0; is_valid && i < count; ++i) {
      const std::uint64_t number = reader.integer<std::uint64_t>();
      is_valid = number >= last && number < snapshot.end;
      if (snapshot.running.empty() || number != last) snapshot.running.push_back(number);
      last = number;
    }
    if (!is_valid) throw SqlError(sqlstate::kInvalidBinaryRepresentation, "invalid external pg_snapshot data");
    return snapshot_text(snapshot);
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) {
    const TransactionSnapshot snapshot = parse_snapshot(value);
    put_binary(static_cast<std::uint32_t>(snapshot.running.size()), out);
    put_binary(snapshot.begin, out);
    put_binary(snapshot.end, out);
    for (const std::uint64_t number : snapshot.running) put_binary(number, out);
  }
};

struct AclitemType : StoredAs<std::string_view> {
  static constexpr bool kHasBinaryInput = false, kHasBinaryOutput = false;
  static std::string parse(const TextInput& input) { return acl_item_text(read_acl_item(input.text)); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
  /// A sum of bits and of the roles' oids, not mixed.
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) {
    const AclItem item = decode_acl_item_text(value);
    const std::uint32_t sum = (item.rights | item.grantable << 16) + item.grantee + item.grantor;
    return seed.value == 0 ? sum : hash_word(sum, seed.value);
  }
};

struct NodeTreeType : StoredAs<std::string_view> {
  static constexpr bool kHasBinaryInput = false;
  static Value parse(const TextInput&) { throw SqlError(sqlstate::kFeatureNotSupported, "cannot accept a value of type pg_node_tree"); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { out += value; }
};

}  // namespace

std::span<const TypeRow> system_types() {
  using enum TypeCategory;
  static constexpr TypeRow kRows[] = {
      type_row<ScoredNameType>({.oid = oid::kRegproc, .name = "regproc", .category = TypeCategory::kNumeric, .length = 4, .array = oid::kRegprocArray,
                                .operators = oid::kOid},
                               {.input = "regprocin", .output = "regprocout", .send = "regprocsend", .is_stable = true}),
      type_row<OidType>({.oid = oid::kOid, .name = "oid", .category = TypeCategory::kNumeric, .preferred = true, .length = 4,
                         .array = oid::kOidArray},
                        {"oidin", "oidout", "oidsend", "hashoid", "hashoidextended"},
                        {"btoidcmp", "oidlarger", "oidsmaller"}),
      type_row<TidType>({.oid = oid::kTid, .name = "tid", .length = 6, .alignment = 's', .array = oid::kTidArray},
                        {"tidin", "tidout", "tidsend", "hashtid", "hashtidextended"},
                        {"bttidcmp", "tidlarger", "tidsmaller"}),
      type_row<TransactionType>({.oid = oid::kXid, .name = "xid", .length = 4, .array = 1011}, {"xidin", "xidout", "xidsend"}),
      type_row<TransactionType>({.oid = oid::kCid, .name = "cid", .length = 4, .array = 1012}, {"cidin", "cidout", "cidsend"}),
      type_row<NodeTreeType>({.oid = oid::kNodeTree, .name = "pg_node_tree", .category = kInternal}),
      type_row<AclitemType>({.oid = oid::kAclitem, .name = "aclitem", .length = 12, .array = oid::kAclitemArray},
                            {"aclitemin", "aclitemout", "", "hash_aclitem", "hash_aclitem_extended", true}),
      type_row<LexicalNameType>({.oid = oid::kRegprocedure, .name = "regprocedure", .category = TypeCategory::kNumeric, .length = 4,
                                 .array = oid::kRegprocedureArray, .operators = oid::kOid},
                                {.input = "regprocedurein", .output = "regprocedureout", .send = "regproceduresend", .is_stable = true}),
      type_row<LexicalNameType>({.oid = oid::kRegoper, .name = "regoper", .category = TypeCategory::kNumeric, .length = 4, .array = 2208,
                                 .operators = oid::kOid},
                                {.input = "regoperin", .output = "regoperout", .send = "regopersend", .is_stable = true}),
      type_row<LexicalNameType>({.oid = oid::kRegoperator, .name = "regoperator", .category = TypeCategory::kNumeric, .length = 4,
                                 .array = 2209, .operators = oid::kOid},
                                {.input = "regoperatorin", .output = "regoperatorout", .send = "regoperatorsend", .is_stable = true}),
      type_row<ScoredNameType>({.oid = oid::kRegclass, .name = "regclass", .category = TypeCategory::kNumeric, .length = 4,
                                .array = oid::kRegclassArray, .operators = oid::kOid},
                               {.input = "regclassin", .output = "regclassout", .send = "regclasssend", .is_stable = true}),
      type_row<RegtypeType>({.oid = oid::kRegtype, .name = "regtype", .category = TypeCategory::kNumeric, .length = 4,
                             .array = oid::kRegtypeArray, .operators = oid::kOid},
                            {.input = "regtypein", .output = "regtypeout", .send = "regtypesend", .is_stable = true}),
      type_row<SnapshotType>({.oid = oid::kTxidSnapshot, .name = "txid_snapshot", .alignment = 'd', .array = 2949},
                             {.input = "txid_snapshot_in", .output = "txid_snapshot_out"}),
      type_row<LogPositionType>({.oid = oid::kPgLsn, .name = "pg_lsn", .length = 8, .alignment = 'd', .array = oid::kPgLsnArray},
                                {"pg_lsn_in", "pg_lsn_out", "", "pg_lsn_hash", "pg_lsn_hash_extended"},
                                {"", "pg_lsn_larger", "pg_lsn_smaller"}),
      type_row<LexicalNameType>({.oid = oid::kRegnamespace, .name = "regnamespace", .category = TypeCategory::kNumeric, .length = 4,
                                 .array = oid::kRegnamespaceArray, .operators = oid::kOid},
                                {.input = "regnamespacein", .output = "regnamespaceout", .send = "regnamespacesend", .is_stable = true}),
      type_row<LexicalNameType>({.oid = oid::kRegrole, .name = "regrole", .category = TypeCategory::kNumeric, .length = 4,
                                 .array = oid::kRegroleArray, .operators = oid::kOid},
                                {.input = "regrolein", .output = "regroleout", .send = "regrolesend", .is_stable = true}),
      type_row<LexicalNameType>({.oid = oid::kRegcollation, .name = "regcollation", .category = TypeCategory::kNumeric, .length = 4,
                                 .array = 4192, .operators = oid::kOid},
                                {.input = "regcollationin", .output = "regcollationout", .send = "regcollationsend", .is_stable = true}),
      type_row<LexicalNameType>({.oid = oid::kRegconfig, .name = "regconfig", .category = TypeCategory::kNumeric, .length = 4,
                                 .array = oid::kRegconfigArray, .operators = oid::kOid},
                                {.input = "regconfigin", .output = "regconfigout", .send = "regconfigsend", .is_stable = true}),
      type_row<LexicalNameType>({.oid = oid::kRegdictionary, .name = "regdictionary", .category = TypeCategory::kNumeric, .length = 4,
                                 .array = oid::kRegdictionaryArray, .operators = oid::kOid},
                                {.input = "regdictionaryin", .output = "regdictionaryout", .send = "regdictionarysend", .is_stable = true}),
      type_row<SnapshotType>({.oid = oid::kPgSnapshot, .name = "pg_snapshot", .alignment = 'd', .array = 5039},
                             {.input = "pg_snapshot_in", .output = "pg_snapshot_out"}),
      type_row<Xid8Type>({.oid = oid::kXid8, .name = "xid8", .length = 8, .alignment = 'd', .array = 271}, {"xid8in", "xid8out", "xid8send"},
                         {"", "xid8_larger", "xid8_smaller"}),
  };
  return kRows;
}

}  // namespace redquel::sql
