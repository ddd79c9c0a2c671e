#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/privileges/acl.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {

/// A CHECK constraint of a table or domain.
struct CheckDef {
  std::string name;
  std::string expression_sql;  // deparsed
  std::string comment;
  bool no_inherit = false;  // remembered: no table has children
  bool not_valid = false;   // rows that were there before have not been looked at
};

struct EnumLabel {
  Oid oid = 0;
  std::string name;
  double order = 0;  // pg_enum.enumsortorder: what is added between two labels gets a number between theirs
};

struct CompositeField {
  std::string name;
  Type type;
  Oid domain = 0;
  std::string comment = {};
};

/// The attributes of a range type besides its subtype (UserType::base).
struct RangeParts {
  Oid multirange = 0, multirange_array = 0;
  std::string multirange_name;
  std::string collation;     // as written; empty: the subtype's
  std::string subtype_diff;  // the name of a function; empty: none
};

/// A type of CREATE TYPE or CREATE DOMAIN. Immutable once it is in a catalog.
struct UserType {
  Oid oid = 0;
  Oid array = 0;  // the type of arrays over it
  std::string schema = "public";
  std::string name;
  std::string owner = "postgres";
  std::string comment;
  enum class Kind : std::uint8_t { kEnum, kDomain, kComposite, kRange } kind = Kind::kEnum;
  std::vector<EnumLabel> labels;        // kEnum, in order
  std::vector<CompositeField> fields;   // kComposite
  Oid relation = 0;                     // kComposite: pg_class.oid
  Type base;                            // kDomain: a type that is no domain; kRange: the subtype
  Oid base_domain = 0;                  // kDomain: the domain that it is declared over; kRange: that of the subtype
  RangeParts range;                     // kRange
  bool not_null = false;                // kDomain
  std::string default_sql;              // kDomain; empty: none
  std::vector<CheckDef> checks;         // kDomain
  OptionalAcl acl;
};
using UserTypePtr = std::shared_ptr<const UserType>;

/// Makes user-made types known to `find_type(Oid)` and the functions below, in this process, for good: values of a type are read and
/// compared where no catalog is at hand. Type oids are unique among all databases (new_type_oid). A later definition of the same oid
/// replaces the earlier one. Thread-safe.
void register_user_types(const std::map<Oid, UserTypePtr>& types);
/// An oid that no type of this process has.
Oid new_type_oid();

/// nullptr for an oid that is not a user-made type (its array type is not, either).
const UserType* find_user_type(Oid oid);
/// The range type that an oid is of, or that a multirange's oid is over; nullptr where there is none.
const UserType* find_user_range(Oid oid);
/// The element of an array type as it is declared: of an array of a domain the domain, where TypeInfo::element is the type under it.
/// 0: no array type.
Oid declared_element(Oid array);
/// For an array of a domain, returns the array of the type under it, with the domain's modifier, in which its values are made. Returns any
/// other type unchanged.
Type array_under(Type array);
/// Like find_type(), for oids of user-made types and their arrays; nullptr if there is none.
const TypeInfo* find_user_type_info(Oid oid);

/// nullptr: the enum has no such label.
const EnumLabel* find_label(Oid enumeration, std::string_view name);

}  // namespace redquel::sql
