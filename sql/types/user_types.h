#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sql/catalog/shared_map.h"
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

/// The user-made types of one snapshot of the catalog, with the row types of its tables. Built once, immutable from then on. The snapshot owns
/// them, and snapshots of several versions or databases live beside each other.
class UserTypes {
 public:
  struct Entry;

  UserTypes();
  /// Types that hide those of the same oid in `base`.
  explicit UserTypes(std::shared_ptr<const UserTypes> base);
  /// The types of another snapshot, which share their entries: a copy costs nothing.
  UserTypes(const UserTypes& other);
  ~UserTypes();
  UserTypes& operator=(const UserTypes&) = delete;

  /// Adds types in any order. A type over one that does not exist is left out. Values may still have the labels that an enum of the base has
  /// for the same places.
  void add(std::vector<UserTypePtr> types);
  /// Adds a type as another set has it. Returns false if that set does not have this definition.
  bool share(const UserTypes& other, const UserType& definition);
  /// Removes a type. Types over it stay as they are.
  void remove(Oid oid);
  /// Returns the entry of a type, an array type, a multirange type or an array of one; nullptr if there is none.
  const Entry* find(Oid oid) const;
  /// Returns the type with this oid; nullptr if there is none.
  const UserType* find_type(Oid oid) const;

 private:
  void put(std::shared_ptr<const Entry> entry);

  std::shared_ptr<const UserTypes> base_;
  SharedMap<Oid, std::shared_ptr<const Entry>> by_oid_;
};
using UserTypesPtr = std::shared_ptr<const UserTypes>;

/// The user-made types that the computations of a session know: those of the snapshot that its statement took last.
struct KnownTypes {
  UserTypesPtr types;
};

/// Makes types known to `find_type(Oid)` and the functions below, in this thread, while it lives. Never lives across a co_await: coroutines
/// get their scope from their executor (executor/runtime/known_types_executor.h).
///
/// Types are found by their oids through a scope of the running computation. The alternative, a snapshot as an argument of each function
/// that compares, prints or reads a value, would add a parameter to every function over values for the few types that are user-made.
class KnownTypesScope {
 public:
  /// `known` outlives the scope, and may change meanwhile. Null: no user-made types.
  explicit KnownTypesScope(const KnownTypes* known);
  explicit KnownTypesScope(UserTypesPtr types);
  ~KnownTypesScope();
  KnownTypesScope(const KnownTypesScope&) = delete;
  KnownTypesScope& operator=(const KnownTypesScope&) = delete;

 private:
  KnownTypes own_;
  const KnownTypes* outer_;
};

/// Returns the innermost scope's types; null: there is no scope.
const KnownTypes* known_types();
/// Changes the types that this thread knows, and returns those of before. For computations that stand still within scopes.
const KnownTypes* exchange_known_types(const KnownTypes* known);

/// Returns an oid for a new type, chosen at random: other databases and open transactions do not have it.
Oid new_type_oid();

/// nullptr for an oid that is not a user-made type (its array type is not, either).
const UserType* find_user_type(Oid oid);
/// Like find_user_type(), for an oid that a value has. Throws SqlError XX000 if the type is not known.
const UserType& user_type(Oid oid);
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
