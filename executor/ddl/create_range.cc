// CREATE TYPE … AS RANGE (manual: CREATE TYPE).

#include <fmt/format.h>

#include <algorithm>

#include "executor/ddl/catalog_change.h"
#include "executor/ddl/column_definition.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/definition_rights.h"
#include "executor/ddl/object_lookup.h"
#include "executor/ddl/type_lookup.h"
#include "sql/error.h"
#include "sql/functions/resolve.h"
#include "sql/name_errors.h"
#include "sql/sqlstate.h"
#include "sql/types/type_oids.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;
using sql::UserType;

namespace {

/// A name, as it is written or quoted. 42601 for anything else.
ast::QualifiedName name_of(const ast::Option& option) {
  if (const auto* type = std::get_if<ast::TypeName>(&option.value)) return type->names;
  if (const auto* words = std::get_if<std::vector<std::string>>(&option.value)) return *words;
  if (const auto* word = std::get_if<std::string>(&option.value)) return {*word};
  throw SqlError(sqlstate::kSyntaxError, fmt::format("argument of {} must be a name", option.name));
}

/// Returns PostgreSQL's default name: "range" becomes "multirange"; otherwise "_multirange" is appended.
std::string multirange_name_for(const std::string& range) {
  constexpr std::string_view kRange = "range";
  constexpr std::size_t kNameBytes = 63;
  const std::size_t at = range.find(kRange);
  const std::string ending = at == std::string::npos ? "_multirange" : "multirange" + range.substr(at + kRange.size());
  const std::string begin = range.substr(0, at);
  return begin.substr(0, kNameBytes - std::min(kNameBytes, ending.size())) + ending;
}

/// The options of one statement, each at most once.
class RangeReader {
 public:
  RangeReader(const CatalogDraft& draft, const ast::CreateRange& statement) {
    for (const ast::Option& option : statement.options) read(draft, option);
    if (!has_subtype_) throw SqlError(sqlstate::kSyntaxError, "type attribute \"subtype\" is required");
  }

  /// Sets the parts of the type that the options say.
  void apply(UserType& type) const {
    type.base = sql::Type{subtype_.type.oid};
    type.range.collation = collation_;
    type.range.subtype_diff = subtype_diff_.empty() ? "" : subtype_diff_.back();
  }

  const ast::QualifiedName& multirange_name() const { return multirange_name_; }

  /// Everything that does not depend on the order of the options.
  void check(const CatalogDraft& draft) const {
    const sql::TypeInfo& info = sql::type_info(subtype_.type.oid);
    if (info.category == sql::TypeCategory::kPseudo) {
      throw SqlError(sqlstate::kDatatypeMismatch, fmt::format("range subtype cannot be {}", sql::format_type(subtype_.type)));
    }
    require_type_usage(draft, subtype_);
    if (subtype_.domain != 0) throw sql::not_supported("a range over a domain");
    check_order();
    if (!collation_.empty() && info.category != sql::TypeCategory::kString) {
      throw SqlError(sqlstate::kWrongObjectType, "range collation specified but subtype does not support collation");
    }
    if (has_canonical_) {
      throw SqlError(sqlstate::kInvalidObjectDefinition, "cannot specify a canonical function without a pre-created shell type")
          .hint("Create the type as a shell type, then create its canonicalization function, then do a full CREATE TYPE.");
    }
    if (!subtype_diff_.empty()) check_difference(draft);
  }

 private:
  void read(const CatalogDraft& draft, const ast::Option& option) {
    const auto once = [&](bool is_given) {
      if (is_given) throw sql::conflicting_options().at(option.offset);
    };
    if (option.name == "subtype") {
      once(has_subtype_);
      has_subtype_ = true;
      const auto* type = std::get_if<ast::TypeName>(&option.value);
      if (type == nullptr) throw SqlError(sqlstate::kSyntaxError, "argument of subtype must be a type name");
      subtype_ = declared_type(draft, *type);
    } else if (option.name == "subtype_opclass") {
      once(!opclass_.empty());
      opclass_ = name_of(option);
    } else if (option.name == "collation") {
      once(!collation_.empty());
      const ast::QualifiedName name = name_of(option);
      check_collation(name, sql::kText, std::nullopt);
      collation_ = name.back();
    } else if (option.name == "canonical") {
      once(has_canonical_);
      has_canonical_ = true;
    } else if (option.name == "subtype_diff") {
      once(!subtype_diff_.empty());
      subtype_diff_ = name_of(option);
    } else if (option.name == "multirange_type_name") {
      once(!multirange_name_.empty());
      multirange_name_ = name_of(option);
    } else {
      throw SqlError(sqlstate::kSyntaxError, fmt::format("type attribute \"{}\" not recognized", option.name));
    }
  }

  void check_order() const {
    try {
      sql::ordering_operator(subtype_.type, false);
    } catch (const SqlError&) {
      throw SqlError(sqlstate::kUndefinedObject,
                     fmt::format("data type {} has no default operator class for access method \"btree\"", sql::format_type(subtype_.type)))
          .hint("You must specify an operator class for the range type or define a default operator class for the subtype.");
    }
  }

  /// subtype_diff(subtype, subtype) gives float8. It would say how far values are from each other: nothing asks for that here.
  void check_difference(const CatalogDraft& draft) const {
    const std::string name = fmt::format("{}", fmt::join(subtype_diff_, "."));
    const std::string subtype = sql::format_type(subtype_.type);
    sql::Oid result = 0;
    const std::vector<sql::Oid> given(2, subtype_.type.oid);
    for (const sql::ScalarFunction* function : sql::find_functions(subtype_diff_.back())) {
      if (function->arguments == given) result = function->result;
    }
    for (const auto& [oid, function] : draft.catalog().functions) {
      const bool fits = function->name == subtype_diff_.back() && function->parameters.size() == 2 &&
                        function->parameters[0].type.oid == given[0] && function->parameters[1].type.oid == given[1];
      if (fits) result = function->result.oid;
    }
    if (result == 0) throw SqlError(sqlstate::kUndefinedFunction, fmt::format("function {}({}, {}) does not exist", name, subtype, subtype));
    if (result != sql::oid::kFloat8) {
      throw SqlError(sqlstate::kInvalidObjectDefinition,
                     fmt::format("range subtype diff function {}({}, {}) must return type double precision", name, subtype, subtype));
    }
  }

  planner::DeclaredType subtype_;
  ast::QualifiedName opclass_, subtype_diff_, multirange_name_;
  std::string collation_;
  bool has_subtype_ = false, has_canonical_ = false;
};

}  // namespace

asio::awaitable<void> run(DdlContext& context, const ast::CreateRange& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    UserType type = new_type(draft, relation_name(statement.name));
    type.kind = UserType::Kind::kRange;
    const RangeReader reader(draft, statement);
    reader.check(draft);
    reader.apply(type);
    type.range.multirange = sql::new_type_oid();
    type.range.multirange_array = sql::new_type_oid();
    if (reader.multirange_name().empty()) {
      type.range.multirange_name = multirange_name_for(type.name);
      try {
        check_new_type_name(draft, type.schema, type.range.multirange_name);
      } catch (const SqlError& error) {
        throw SqlError(error.sqlstate(), error.message())
            .detail(fmt::format("Failed while creating a multirange type for type \"{}\".", type.name))
            .hint("You can manually specify a multirange type name using the \"multirange_type_name\" attribute.");
      }
    } else {
      // It lies in the range type's schema: where the name says another one, that would be a second place for one definition.
      const ast::RelationName name = relation_name(reader.multirange_name());
      if (!name.schema.empty() && name.schema != type.schema) throw sql::not_supported("a multirange type in another schema than its range type");
      type.range.multirange_name = name.name;
      check_new_type_name(draft, type.schema, name.name);
    }
    draft.put(std::move(type));
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
