#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sql/column.h"
#include "sql/datum.h"
#include "sql/session_settings.h"
#include "sql/types/datetime.h"
#include "sql/types/type.h"

namespace redquel::sql {

/// PostgreSQL's input function of the type. The modifier is not applied (see `apply_modifier`), except that an
/// interval's fields give bare numbers their unit. `now` is what 'now' and 'today' mean. Throws 22P02, 22003, 22007,
/// 22008, 22021…; 0A000 for pseudo-types.
Datum parse_value(Type type, std::string_view text, const SessionSettings& settings, Now now = {});
/// Like parse_value(), appended to a column of that type without a Datum in between.
void append_parsed(Column& column, std::string_view text, const SessionSettings& settings, Now now = {});
/// Like append_parsed() for texts in storage form; NULL for the rows whose byte in `nulls` is not 0 (empty: no NULLs).
void append_stored(Column& column, std::span<const std::string_view> texts, std::span<const std::uint8_t> nulls);

/// The length coercion of the type's modifier: varchar(n), char(n), numeric(p,s), time(p)… An explicit cast cuts text
/// silently, an assignment throws 22001 "value too long for type character varying(3)". NULL stays NULL.
Datum apply_modifier(Type type, Datum value, bool explicit_cast);
/// Returns true if `apply_modifier` can change or refuse a value of the type.
bool has_modifier_effect(Type type);

/// PostgreSQL's output function; the value is not NULL. Text is appended to `out`.
void format_value(Type type, const Datum& value, const SessionSettings& settings, std::string& out);
/// Like the overload for a Datum, for a row of a column. A row of an encoded column is copied if no setting affects the type or the
/// settings are the storage form; otherwise it is parsed and printed.
void format_value(const Column& column, std::size_t row, const SessionSettings& settings, std::string& out);
std::string format_value(Type type, const Datum& value, const SessionSettings& settings = {});

/// The blanks that a char(n) value without its padding lacks.
void append_padding(Type type, std::string_view value, std::string& out);

/// Returns true if values in a column have their storage form of Redis and of arrays: text and types that are printed as they are, but not
/// bytes (bytea, inet, timetz). char(n) is stored without its blanks.
bool is_kept_as_text(Oid type);

/// A value from its storage form, as it stands in an array, a row or a hash field.
Datum stored_value(Type type, std::string_view text);

/// Returns true if DateStyle, TimeZone, IntervalStyle, bytea_output or extra_float_digits changes the type's output.
bool output_depends_on_settings(Type type);
/// Returns true if stored text of the type may be copied to a client with these settings.
bool output_is_storage_form(Type type, const SessionSettings& settings);

}  // namespace redquel::sql
