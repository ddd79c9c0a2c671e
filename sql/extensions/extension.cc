#include "sql/extensions/extension.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "sql/catalog/role_set.h"
#include "sql/extensions/families.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

std::vector<Extension> make_extensions() {
  std::vector<Extension> extensions = {
      citext_extension(),
      fuzzystrmatch_extension(),
      pg_trgm_extension(),
      pgcrypto_extension(),
      unaccent_extension(),
      uuid_ossp_extension(),
      {.name = "plpgsql", .version = "1.0", .comment = "PL/pgSQL procedural language", .built_in = Extension::BuiltIn{kPlpgsqlExtension, "pg_catalog"}},
      {.name = "redquel", .version = "1.0", .comment = "Redis as tables", .built_in = Extension::BuiltIn{kRedquelExtension, "redis"}},
      // Their views and functions are built in.
      {.name = "pg_stat_statements",
       .version = "1.10",
       .comment = "track planning and execution statistics of all SQL statements executed",
       .trusted = false},
      {.name = "sslinfo", .version = "1.2", .comment = "information about SSL certificates", .trusted = false},
  };
  std::ranges::sort(extensions, {}, &Extension::name);
  return extensions;
}

using Signature = std::pair<std::string_view, std::vector<Oid>>;

struct Member {
  const Extension* extension = nullptr;
  const ScalarFunction* function = nullptr;
};

std::map<Signature, Member> make_members() {
  std::map<Signature, Member> members;
  for (const Extension& extension : all_extensions()) {
    for (const ExtensionFunction& row : extension.functions) {
      if (row.function.kernel != nullptr) members[{row.source, row.function.arguments}] = {&extension, &row.function};
    }
  }
  return members;
}

Member find_member(const FunctionDef& function) {
  static const std::map<Signature, Member> members = make_members();
  std::vector<Oid> types;
  for (const FunctionDef::Parameter& parameter : function.parameters) types.push_back(parameter.type.oid);
  const auto found = members.find(Signature(function.body, std::move(types)));
  return found == members.end() ? Member() : found->second;
}

}  // namespace

std::span<const Extension> all_extensions() {
  static const std::vector<Extension> extensions = make_extensions();
  return extensions;
}

const Extension* find_extension(std::string_view name) {
  const auto found = std::ranges::find(all_extensions(), name, &Extension::name);
  return found == all_extensions().end() ? nullptr : &*found;
}

std::vector<ExtensionDef> built_in_extensions() {
  std::vector<ExtensionDef> definitions;
  for (const Extension& extension : all_extensions()) {
    if (!extension.built_in) continue;
    definitions.push_back({.oid = extension.built_in->oid,
                           .name = std::string(extension.name),
                           .schema = std::string(extension.built_in->schema),
                           .version = std::string(extension.version),
                           .owner = owner_reference(kPostgresRole),
                           .comment = std::string(extension.comment)});
  }
  return definitions;
}

FunctionDef definition_of(const ExtensionFunction& row, const ExtensionDef& extension) {
  FunctionDef definition;
  definition.schema = extension.schema;
  definition.name = row.function.name;
  for (std::size_t i = 0; i < row.function.arguments.size(); ++i) {
    const std::string_view name = i < row.parameters.size() ? row.parameters[i] : std::string_view();
    definition.parameters.push_back({.name = std::string(name), .type = Type{row.function.arguments[i]}, .default_sql = {}});
  }
  definition.result = Type{row.function.result};
  definition.returns_set = row.returns_set;
  definition.language = row.function.kernel != nullptr ? "c" : "sql";
  definition.body = row.source;
  definition.strict = row.function.strict;
  switch (row.function.volatility) {
    case Volatility::kImmutable: definition.volatility = FunctionDef::Volatility::kImmutable; break;
    case Volatility::kStable: definition.volatility = FunctionDef::Volatility::kStable; break;
    case Volatility::kVolatile: definition.volatility = FunctionDef::Volatility::kVolatile; break;
  }
  definition.options = " PARALLEL SAFE";
  definition.extension = extension.oid;
  return definition;
}

const ScalarFunction* find_extension_function(const FunctionDef& function) { return find_member(function).function; }

Oid find_extension_type(const CatalogSnapshot& catalog, std::string_view schema, std::string_view name) {
  for (const auto& [oid, definition] : catalog.extensions) {
    const Extension* extension = definition.schema == schema ? find_extension(definition.name) : nullptr;
    if (extension == nullptr) continue;
    for (const Oid type : extension->types) {
      const TypeInfo& info = type_info(type);
      if (info.name == name) return type;
      if (type_info(info.array).name == name) return info.array;
    }
  }
  return 0;
}

const ExtensionDef* extension_of_type(const CatalogSnapshot& catalog, Oid type) {
  if (!is_extension_type(type)) return nullptr;
  for (const auto& [oid, definition] : catalog.extensions) {
    const Extension* extension = find_extension(definition.name);
    if (extension == nullptr) continue;
    for (const Oid own : extension->types) {
      if (own == type || type_info(own).array == type) return &definition;
    }
  }
  return nullptr;
}

std::string extension_library(const FunctionDef& function) {
  const Extension* extension = find_member(function).extension;
  return "$libdir/" + std::string(extension == nullptr ? "" : extension->name);
}

}  // namespace redquel::sql
