#include <set>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

namespace {

constexpr std::string_view kUsrlocEntry = ":entry::";

ProposedColumn number_field(std::string name) { return proposed_column(std::move(name), "bigint", {{"absent", "empty"}}); }

/// `table`: the name of usrloc's table, "location" by default.
FoundFramework usrloc_framework(const std::string& table) {
  FoundFramework found = found_framework("Kamailio", "kamailio", "Kamailio: registered contacts in the table " + table);
  ProposedFramework& proposal = found.proposal;
  const std::string start = template_literal(table);
  std::vector<ProposedColumn> columns;
  for (const char* text : {"ruid", "username", "domain", "contact", "received", "path"}) columns.push_back(proposed_column(text, "text"));
  columns.push_back(proposed_column("expires", "text"));
  columns.push_back(proposed_column("q", "double precision", {{"absent", "empty"}}));
  for (const char* text : {"callid", "last_modified", "user_agent", "socket", "instance"}) columns.push_back(proposed_column(text, "text"));
  for (const char* number : {"cseq", "flags", "cflags", "methods", "reg_id", "server_id", "connection_id", "keepalive", "partition"}) columns.push_back(number_field(number));
  proposal.tables.push_back(proposed_table("entry", "hash", start + ":entry::{ruid}", std::move(columns)));
  proposal.tables.push_back(proposed_table("usrdom", "set", start + ":usrdom::{username}:{domain}",
      {proposed_column("username", "text"), proposed_column("domain", "text"), proposed_column("entry", "text", {{"role", "member"}})}));
  proposal.views.push_back({"contacts",
      "SELECT u.username, u.domain, e.ruid, e.contact, e.received, e.path, e.expires, e.q, e.callid, e.cseq, e.user_agent, e.socket, e.last_modified\n"
      "FROM {usrdom} u JOIN {entry} e ON e.ruid = split_part(u.entry, '::', 2)",
      "Kamailio: contacts of registered users; a condition on username and domain reads one set"});
  found.owns = [table](const KeySample& key) {
    return key.key.starts_with("version:entry::") || (key.key.starts_with(table + ":") && contains(key.key, "::"));
  };
  return found;
}

}  // namespace

/// Kamailio (module db_redis) keeps a registration of usrloc as a hash `<table>:entry::<ruid>`, and the entries of a user in the set
/// `<table>:usrdom::<username>:<domain>`.
std::vector<FoundFramework> recognise_kamailio(std::span<const KeySample> keys) {
  std::set<std::string> tables;
  for (const KeySample& key : keys) {
    const std::size_t at = key.key.find(kUsrlocEntry);
    if (at != std::string::npos && at > 0 && has_fields(key, {"ruid", "username", "contact", "expires"})) tables.insert(key.key.substr(0, at));
  }
  std::vector<FoundFramework> found;
  for (const std::string& table : tables) found.push_back(usrloc_framework(table));
  return found;
}

}  // namespace redquel::sql
