#include "sql/privileges/acl.h"

#include <fmt/format.h>

#include <charconv>

#include "sql/privileges/right_names.h"

namespace redquel::sql {

namespace {

/// Reads a number and removes it from the text.
bool take_oid(std::string_view& text, Oid& oid) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), oid);
  if (error != std::errc{} || end == text.data()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

Rights all_rights(AclKind kind) {
  using namespace right;
  switch (kind) {
    case AclKind::kTable: return kInsert | kSelect | kUpdate | kDelete | kTruncate | kReferences | kTrigger;
    case AclKind::kColumn: return kInsert | kSelect | kUpdate | kReferences;
    case AclKind::kSequence: return kUsage | kSelect | kUpdate;
    case AclKind::kDatabase: return kCreate | kTemporary | kConnect;
    case AclKind::kFunction: return kExecute;
    case AclKind::kLargeObject: return kSelect | kUpdate;
    case AclKind::kSchema: return kUsage | kCreate;
    case AclKind::kTablespace: return kCreate;
    case AclKind::kLanguage:
    case AclKind::kForeignDataWrapper:
    case AclKind::kForeignServer:
    case AclKind::kType: return kUsage;
    case AclKind::kParameter: return kSet | kAlterSystem;
  }
  return 0;
}

Acl default_acl(AclKind kind, Oid owner) {
  Rights for_public = 0;
  if (kind == AclKind::kDatabase) for_public = right::kTemporary | right::kConnect;
  if (kind == AclKind::kFunction) for_public = right::kExecute;
  if (kind == AclKind::kLanguage || kind == AclKind::kType) for_public = right::kUsage;
  Acl acl;
  if (for_public != 0) acl.push_back({kPublic, owner, for_public, 0});
  // The owner's grant options stand nowhere: they cannot be revoked.
  if (kind != AclKind::kColumn) acl.push_back({owner, owner, all_rights(kind), 0});
  return acl;
}

std::string encode(const AclItem& item) {
  std::string text = fmt::format("{}=", item.grantee);
  for (std::size_t bit = 0; bit < kRightLetters.size(); ++bit) {
    const Rights right = 1U << bit;
    if ((item.rights & right) == 0) continue;
    text += kRightLetters[bit];
    if ((item.grantable & right) != 0) text += '*';
  }
  return text + fmt::format("/{}", item.grantor);
}

std::optional<AclItem> decode_acl_item(std::string_view text) {
  AclItem item;
  if (!take_oid(text, item.grantee) || !text.starts_with('=')) return std::nullopt;
  text.remove_prefix(1);
  Rights last = 0;
  while (!text.empty() && text.front() != '/') {
    const char letter = text.front();
    text.remove_prefix(1);
    if (letter == '*') {
      if (last == 0) return std::nullopt;
      item.grantable |= last;
      continue;
    }
    const std::size_t bit = kRightLetters.find(letter);
    if (bit == std::string_view::npos) return std::nullopt;
    last = 1U << bit;
    item.rights |= last;
  }
  if (text.empty()) return std::nullopt;
  text.remove_prefix(1);
  if (!take_oid(text, item.grantor) || !text.empty()) return std::nullopt;
  return item;
}

}  // namespace redquel::sql
