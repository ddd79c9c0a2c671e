#include "executor/catalog/default_privileges.h"

#include <algorithm>
#include <utility>

#include "sql/catalog/role_set.h"
#include "sql/privileges/grants.h"

namespace redquel::executor {

namespace {

constexpr std::pair<char, sql::AclKind> kLetters[] = {
    {'r', sql::AclKind::kTable}, {'S', sql::AclKind::kSequence}, {'f', sql::AclKind::kFunction}, {'T', sql::AclKind::kType}, {'n', sql::AclKind::kSchema},
};

}  // namespace

char default_acl_letter(sql::AclKind kind) {
  const auto* found = std::ranges::find(kLetters, kind, &std::pair<char, sql::AclKind>::second);
  return found == std::end(kLetters) ? '\0' : found->first;
}

sql::AclKind kind_of_default_acl(char letter) {
  const auto* found = std::ranges::find(kLetters, letter, &std::pair<char, sql::AclKind>::first);
  return found == std::end(kLetters) ? sql::AclKind::kTable : found->second;
}

sql::OptionalAcl default_privileges(const CatalogDraft& draft, sql::AclKind kind, sql::Oid role, std::string_view schema) {
  const sql::CatalogSnapshot& catalog = draft.catalog();
  if (catalog.default_acls.empty()) return std::nullopt;
  const auto of_schema = catalog.schemas.find(schema);
  const sql::Acl *global = nullptr, *in_schema = nullptr;
  for (const auto& [oid, entry] : catalog.default_acls) {
    if (entry.role != role || entry.kind != default_acl_letter(kind)) continue;
    if (entry.schema == 0) global = &entry.acl;
    else if (of_schema != catalog.schemas.end() && entry.schema == of_schema->second.oid) in_schema = &entry.acl;
  }
  if (global == nullptr && in_schema == nullptr) return std::nullopt;
  return sql::merge_defaults(kind, global, in_schema, {role, *sql::known_roles(), draft.session().database});
}

}  // namespace redquel::executor
