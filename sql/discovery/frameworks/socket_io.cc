#include <algorithm>

#include "sql/discovery/frameworks/framework_parts.h"

namespace redquel::sql {

/// The streams adapter of Socket.IO sends packets between servers through one stream, `socket.io` by default.
std::vector<FoundFramework> recognise_socket_io(std::span<const KeySample> keys) {
  std::vector<FoundFramework> all;
  for (const KeySample& key : keys) {
    const auto has = [&](std::string_view field) {
      return std::ranges::any_of(key.parts, [&](const auto& part) { return part.first == field; });
    };
    if (key.type != "stream" || !has("uid") || !has("nsp") || !has("type")) continue;
    FoundFramework found = found_framework("Socket.IO", "socket_io", "Socket.IO: packets between servers in the stream " + key.key);
    found.proposal.tables.push_back(proposed_table("packet", "stream", template_literal(key.key),
        {proposed_column("entry_id", "text", {{"role", "id"}}), proposed_column("sent_at", "timestamptz", {{"role", "time"}}), proposed_column("uid", "text"),
         proposed_column("nsp", "text"), proposed_column("type", "int"), proposed_column("data", "text")}));
    found.proposal.views.push_back({"packets", "SELECT entry_id, sent_at, uid AS server, nsp AS namespace, type, data FROM {packet}",
                                    "Socket.IO: packets between servers; data is JSON, or base64 of MessagePack"});
    found.owns = [stream = key.key](const KeySample& other) { return other.key == stream; };
    all.push_back(std::move(found));
  }
  return all;
}

}  // namespace redquel::sql
