#include <array>

#include "parser/sql_writer.h"

namespace redquel::parser {
namespace {

struct StandardName {
  std::string_view internal;
  std::string_view spelled;
  bool takes_modifiers;
};

/// Types whose SQL spelling gives PostgreSQL's internal name back. `char` and `bit` are not among them: without a
/// length they mean a length of one.
constexpr std::array kStandardNames = {
    StandardName{"bool", "boolean", false},      StandardName{"int2", "smallint", false},
    StandardName{"int4", "integer", false},      StandardName{"int8", "bigint", false},
    StandardName{"float4", "real", false},       StandardName{"float8", "double precision", false},
    StandardName{"numeric", "numeric", true},    StandardName{"varchar", "character varying", true},
    StandardName{"varbit", "bit varying", true},
};

struct ZonedName {
  std::string_view internal;
  std::string_view spelled;
  std::string_view suffix;
};

constexpr std::array kZonedNames = {
    ZonedName{"time", "time", " without time zone"},
    ZonedName{"timetz", "time", " with time zone"},
    ZonedName{"timestamp", "timestamp", " without time zone"},
    ZonedName{"timestamptz", "timestamp", " with time zone"},
};

bool is_catalog_type(const ast::TypeName& type) { return type.names.size() == 2 && type.names[0] == "pg_catalog"; }

}  // namespace

void SqlWriter::type(const ast::TypeName& type) {
  if (type.set_of) *this << "SETOF ";
  const auto modifiers = [&] {
    if (type.modifiers.empty()) return;
    *this << "(";
    expressions(type.modifiers);
    *this << ")";
  };
  const auto base = [&] {
    if (is_catalog_type(type)) {
      for (const StandardName& standard : kStandardNames) {
        if (type.names[1] != standard.internal || (!standard.takes_modifiers && !type.modifiers.empty())) continue;
        *this << standard.spelled;
        return modifiers();
      }
      for (const ZonedName& zoned : kZonedNames) {
        if (type.names[1] != zoned.internal || type.modifiers.size() > 1) continue;
        *this << zoned.spelled;
        modifiers();
        *this << zoned.suffix;
        return;
      }
      if (type.names[1] == "interval" && type.modifiers.empty()) {
        *this << "interval";
        return;
      }
    }
    qualified(type.names);
    if (type.percent_type) *this << "%TYPE";
    modifiers();
  };
  base();
  for (const std::int32_t bound : type.array_bounds) {
    *this << "[";
    if (bound >= 0) *this << std::to_string(bound);
    *this << "]";
  }
}

}  // namespace redquel::parser
