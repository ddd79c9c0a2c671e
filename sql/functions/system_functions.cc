// System information functions (manual 9.26) that need no more than the session and the catalog, and gen_random_uuid.

#include <algorithm>

#include "sql/ascii.h"
#include "sql/catalog/catalog.h"
#include "sql/error.h"
#include "sql/functions/characters.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/object_names.h"
#include "sql/functions/quote.h"
#include "sql/functions/random_generator.h"
#include "sql/name_errors.h"
#include "sql/session_hooks.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"
#include "sql/types/datetime.h"
#include "sql/types/server_numbers.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

// ---- session --------------------------------------------------------------------------------------------------------

const std::string* shown(Context context, std::string_view name) {
  if (context.show == nullptr) return nullptr;
  return context.show(context.session, lower_case(name));
}

void version(Context context, std::string& out) {
  const std::string* number = shown(context, "server_version");
  out = "PostgreSQL " + (number == nullptr ? "15.0" : *number) + " (redquel) on x86_64-pc-linux-gnu, compiled by g++ " +
        __VERSION__ + ", 64-bit";
}
void database(Context context, std::string& out) { out = context.database; }
void user(Context context, std::string& out) { out = context.user; }
void session_user(Context context, std::string& out) {
  const std::string* name = context.show == nullptr ? nullptr : context.show(context.session, "session_authorization");
  out = name == nullptr ? context.user : *name;
}
bool schema(Context context, std::string& out) {
  for (const std::string& name : context.search_path) {
    if (context.catalog != nullptr && !context.catalog->schemas.contains(name) && name != "pg_catalog") continue;
    if (is_temporary_schema(name)) continue;
    out = name;
    return true;
  }
  return false;
}
/// 0: the session has none.
Int my_temporary_schema(Context context) {
  for (const std::string& name : context.search_path) {
    if (context.catalog == nullptr || !is_temporary_schema(name)) continue;
    const auto found = context.catalog->schemas.find(name);
    if (found != context.catalog->schemas.end()) return static_cast<Int>(found->second.oid);
  }
  return 0;
}

bool is_other_temporary_schema(Context context, Int schema) {
  if (context.catalog == nullptr || schema == my_temporary_schema(context)) return false;
  return std::ranges::any_of(context.catalog->schemas, [&](const auto& entry) {
    return static_cast<Int>(entry.second.oid) == schema && is_temporary_schema(entry.first);
  });
}

Int backend_pid(Context context) { return context.backend_pid; }

bool setting_or_null(Context context, Text name, bool missing_ok, std::string& out) {
  const std::string* value = shown(context, name);
  if (value == nullptr && missing_ok) return false;
  if (value == nullptr) {
    throw SqlError(sqlstate::kUndefinedObject, "unrecognized configuration parameter \"" + std::string(name) + "\"");
  }
  out = *value;
  return true;
}
void setting(Context context, Text name, std::string& out) { setting_or_null(context, name, false, out); }

void set_setting(Context context, std::optional<Text> name, std::optional<Text> value, std::optional<bool> local, std::string& out) {
  if (!name) throw SqlError(sqlstate::kNullValueNotAllowed, "SET requires parameter name");
  if (session_hooks().set == nullptr || context.session == nullptr) throw not_supported("set_config() outside of a session");
  const std::optional<std::string> text = value ? std::optional<std::string>(*value) : std::nullopt;
  out = session_hooks().set(context.session, std::string(*name), text ? &*text : nullptr, local.value_or(false));
}

/// Never decreases and differs between transactions; it counts nothing.
std::int64_t transaction_id(Context context) { return context.transaction_timestamp; }

/// The name, cut so that the oid behind it finds its place within the length of names.
void name_with_oid(Text name, std::int32_t oid, std::string& out) {
  constexpr std::size_t kMaxNameLength = 63;
  const std::string suffix = "_" + std::to_string(static_cast<Oid>(oid));
  out = std::string(utf8_clip(name, kMaxNameLength - suffix.size())) + suffix;
}

/// Before any transaction of this process.
const std::int64_t kStartTime = current_timestamp();

// ---- types and encodings --------------------------------------------------------------------------------------------

ColumnPtr type_of(std::span<const ColumnPtr> arguments, std::size_t rows, Type result, Context) {
  const auto oid = static_cast<std::int32_t>(arguments[0]->type().oid);
  return std::make_shared<const Column>(Column::constant(result, oid, rows));
}

bool type_text(Context context, std::optional<Int> type, std::optional<Int> modifier, std::string& out) {
  if (!type) return false;
  const auto number = static_cast<Oid>(*type);
  if (number == 0) {
    out = "-";
  } else if (find_type(number) == nullptr) {
    out = object_name(kRegtype, number, context);  // the type of a table's rows
    if (out == std::to_string(number)) out = "???";
  } else if (modifier == -1 && number == oid::kBpchar) {
    out = "bpchar";  // character is character(1), as bit is bit(1)
  } else if (modifier == -1 && number == oid::kBit) {
    out = "\"bit\"";
  } else if (modifier.value_or(-1) < 0) {
    out = object_name(kRegtype, number, context);
  } else {
    out = format_type(Type{number, *modifier});
  }
  return true;
}

/// PostgreSQL's encodings in the order of their numbers (pg_wchar.h), and the bytes that one character may take.
struct Encoding {
  Text name;
  Int bytes;
};
constexpr Encoding kEncodings[] = {
    {"SQL_ASCII", 1}, {"EUC_JP", 3}, {"EUC_CN", 3}, {"EUC_KR", 3}, {"EUC_TW", 4}, {"EUC_JIS_2004", 3}, {"UTF8", 4},
    {"MULE_INTERNAL", 4}, {"LATIN1", 1}, {"LATIN2", 1}, {"LATIN3", 1}, {"LATIN4", 1}, {"LATIN5", 1}, {"LATIN6", 1},
    {"LATIN7", 1}, {"LATIN8", 1}, {"LATIN9", 1}, {"LATIN10", 1}, {"WIN1256", 1}, {"WIN1258", 1}, {"WIN866", 1},
    {"WIN874", 1}, {"KOI8R", 1}, {"WIN1251", 1}, {"WIN1252", 1}, {"ISO_8859_5", 1}, {"ISO_8859_6", 1},
    {"ISO_8859_7", 1}, {"ISO_8859_8", 1}, {"WIN1250", 1}, {"WIN1253", 1}, {"WIN1254", 1}, {"WIN1255", 1},
    {"WIN1257", 1}, {"KOI8U", 1}, {"SJIS", 2}, {"BIG5", 2}, {"GBK", 2}, {"UHC", 2}, {"GB18030", 4}, {"JOHAB", 3},
    {"SHIFT_JIS_2004", 2}};

Text encoding_name(Int number) {
  if (number < 0 || number >= static_cast<Int>(std::size(kEncodings))) return "";
  return kEncodings[number].name;
}
std::optional<Int> encoding_bytes(Int number) {
  if (number < 0 || number >= static_cast<Int>(std::size(kEncodings))) return std::nullopt;
  return kEncodings[number].bytes;
}
Int encoding_number(Text name) {
  const auto clean = [](Text text) {
    std::string letters;
    for (char c : text) {
      if (is_alphanumeric(c)) letters += to_lower(c);
    }
    return letters;
  };
  for (Int i = 0; i < static_cast<Int>(std::size(kEncodings)); ++i) {
    if (clean(kEncodings[i].name) == clean(name)) return i;
  }
  return clean(name) == "unicode" ? 6 : -1;
}
/// The replacements of to_ascii() for the bytes from 128 on of UTF-8 text; it takes each byte for a character of the encoding.
struct AsciiTable {
  Int encoding;
  Text characters;
};
constexpr AsciiTable kAsciiTables[] = {
    {8, "                                  cL Y  \"Ca  -R     'u .,      ?  AAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooo           "},
    {9, "                                 A L LS \"SSTZ-ZZ a,l'ls ,sstz\"zz  AAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoo           "},
    {16, "                                  cL YS sCa  -R     Zu .z   EeY?  AAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooo           "},
    {29, "  ' \"    %S<STZZ `'\"\".--  s>stzz   L A  \"CS  -RZ  ,l'u .,as L\"lz  AAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoo           "},
};
constexpr Int kUtf8 = 6;

void to_ascii(Text text, Int encoding, std::string& out) {
  if (encoding_name(encoding).empty()) throw SqlError(sqlstate::kUndefinedObject, std::to_string(encoding) + " is not a valid encoding code");
  const auto* const table = std::ranges::find(kAsciiTables, encoding, &AsciiTable::encoding);
  if (table == std::end(kAsciiTables)) {
    throw SqlError(sqlstate::kFeatureNotSupported, "encoding conversion from " + std::string(encoding_name(encoding)) + " to ASCII not supported");
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 128 ? c : table->characters[byte - 128];
  }
}
void named_to_ascii(Text text, Text name, std::string& out) {
  const Int encoding = encoding_number(name);
  if (encoding < 0) throw SqlError(sqlstate::kUndefinedObject, std::string(name) + " is not a valid encoding name");
  to_ascii(text, encoding, out);
}

void client_encoding(Context context, std::string& out) {
  const std::string* value = shown(context, "client_encoding");
  out = value == nullptr ? "UTF8" : *value;
}

// ---- catalog --------------------------------------------------------------------------------------------------------

bool is_visible(Int) { return true; }

std::optional<std::string> serial_sequence(Context context, Text table_name, Text column_name) {
  const Oid oid = relation_named(table_name, context);
  const auto table = context.catalog == nullptr ? nullptr : context.catalog->find_table(oid);
  if (table == nullptr) return std::nullopt;
  const ColumnDef* column = table->find_column(column_name);
  if (column == nullptr) {
    throw undefined_column(column_name, table->name);
  }
  const auto sequence = context.catalog->sequences.find(column->sequence);
  if (sequence == context.catalog->sequences.end()) return std::nullopt;
  return quote_identifier(sequence->second.schema) + "." + quote_identifier(sequence->second.name);
}

/// A text names a relation even where it is a number; only a literal of type regclass may be an oid.
Int regclass_of(Context context, Text name) {
  const bool is_number = !name.empty() && name.find_first_not_of("0123456789") == Text::npos;
  if (name == "-" || is_number) return static_cast<Int>(relation_named('"' + std::string(name) + '"', context));
  return static_cast<Int>(relation_named(name, context));
}
std::optional<Int> regclass_or_null(Context context, Text name) {
  const std::optional<Oid> found = find_relation(name, context);
  return found ? std::optional(static_cast<Int>(*found)) : std::nullopt;
}

// ---- uuid -----------------------------------------------------------------------------------------------------------

Uuid random_uuid() {
  Uuid uuid;
  fill_random(uuid.bytes.data(), uuid.bytes.size());
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0F) | 0x40);  // version 4
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3F) | 0x80);
  return uuid;
}

std::vector<ScalarFunction> session_functions() {
  return {
      scalar<version>("version", {}, kText, kStable),
      scalar<database>("current_database", {}, kName, kStable),
      scalar<database>("current_catalog", {}, kName, kStable),
      scalar<schema>("current_schema", {}, kName, kStable),
      scalar<user>("current_user", {}, kName, kStable),
      scalar<session_user>("session_user", {}, kName, kStable),
      scalar<user>("current_role", {}, kName, kStable),
      scalar<user>("user", {}, kName, kStable),
      scalar<user>("getpgusername", {}, kName, kStable),
      scalar<backend_pid>("pg_backend_pid", {}, kInt4, kStable),
      scalar<setting>("current_setting", {kText}, kText, kStable),
      scalar<setting_or_null>("current_setting", {kText, kBool}, kText, kStable),
      scalar<set_setting>("set_config", {kText, kText, kBool}, kText, Volatility::kVolatile),
      scalar<transaction_id>("txid_current", {}, kInt8, kStable),
      scalar<[](Context context) { return from_unsigned_bits(static_cast<std::uint64_t>(transaction_id(context))); }>("pg_current_xact_id", {},
                                                                                                                  kXid8, kStable),
      scalar<transaction_id>("txid_current_if_assigned", {}, kInt8, kStable),
      scalar<[](Context context) { return from_unsigned_bits(static_cast<std::uint64_t>(transaction_id(context))); }>(
          "pg_current_xact_id_if_assigned", {}, kXid8, kStable),
      scalar<name_with_oid>("nameconcatoid", {kName, kOidType}, kName),
      scalar<[](Context) { return kStartTime; }>("pg_postmaster_start_time", {}, kTimestamptz, kStable),
      scalar<[](Context) { return kStartTime; }>("pg_conf_load_time", {}, kTimestamptz, kStable),
      scalar<[] { return false; }>("pg_is_in_recovery", {}, kBool, kStable),
      scalar<[] { return false; }>("pg_jit_available", {}, kBool, kStable),
      scalar<[](Context context) { return context.trigger_depth; }>("pg_trigger_depth", {}, kInt4, kStable),
      scalar<my_temporary_schema>("pg_my_temp_schema", {}, kOidType, kStable),
      scalar<is_other_temporary_schema>("pg_is_other_temp_schema", {kOidType}, kBool, kStable),
      scalar<random_uuid>("gen_random_uuid", {}, kUuid, Volatility::kVolatile),
  };
}

std::vector<ScalarFunction> name_functions() {
  return {
      column_function("pg_typeof", {kAny}, kRegtype, type_of, kStable, false),
      scalar<type_text>("format_type", {kOidType, kInt4}, kText, kStable),
      scalar<regclass_or_null>("to_regclass", {kText}, kRegclass, kStable),
      scalar<encoding_name>("pg_encoding_to_char", {kInt4}, kName, kStable),
      scalar<encoding_bytes>("pg_encoding_max_length", {kInt4}, kInt4),
      scalar<encoding_number>("pg_char_to_encoding", {kName}, kInt4, kStable),
      scalar<to_ascii>("to_ascii", {kText, kInt4}, kText),
      scalar<named_to_ascii>("to_ascii", {kText, kName}, kText),
      scalar<[](Text text, std::string& out) { to_ascii(text, kUtf8, out); }>("to_ascii", {kText}, kText),
      scalar<client_encoding>("pg_client_encoding", {}, kName, kStable),
      scalar<[] { return Text("UTF8"); }>("getdatabaseencoding", {}, kName, kStable),
      scalar<is_visible>("pg_operator_is_visible", {kOidType}, kBool, kStable),
      scalar<is_visible>("pg_opclass_is_visible", {kOidType}, kBool, kStable),
      scalar<is_visible>("pg_opfamily_is_visible", {kOidType}, kBool, kStable),
      scalar<is_visible>("pg_collation_is_visible", {kOidType}, kBool, kStable),
      scalar<is_visible>("pg_conversion_is_visible", {kOidType}, kBool, kStable),
      scalar<serial_sequence>("pg_get_serial_sequence", {kText, kText}, kText, kStable),
  };
}

}  // namespace

namespace {
SessionHooks hooks;
}

const SessionHooks& session_hooks() { return hooks; }
void set_session_hooks(const SessionHooks& given) { hooks = given; }

std::vector<ScalarFunction> system_functions() {
  std::vector<ScalarFunction> table = session_functions();
  const std::vector<ScalarFunction> catalog = name_functions();
  table.insert(table.end(), catalog.begin(), catalog.end());
  return table;
}

std::vector<CastFunction> name_casts() {
  return {
      cast<regclass_of>(kText, kRegclass, CastContext::kImplicit, kStable),
      cast<regclass_of>(kVarchar, kRegclass, CastContext::kImplicit, kStable),
  };
}

}  // namespace redquel::sql
