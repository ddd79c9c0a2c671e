#include "executor/storage/bucket_look.h"

#include <optional>
#include <utility>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

[[noreturn]] void refuse_look() {
  throw sql::SqlError(sqlstate::kDataCorrupted, "the commits of a bucket of Redis cannot be read");
}

std::vector<CommitName> decode_names(const Reply& reply) {
  std::vector<CommitName> names;
  if (!reply.is_array()) refuse_look();
  for (const Reply& element : reply.children()) {
    std::optional<CommitName> name = element.is_text() ? parse_commit_name(element.text) : std::nullopt;
    if (!name) refuse_look();
    names.push_back(std::move(*name));
  }
  return names;
}

}  // namespace

BucketLook decode_bucket_look(const Reply& reply) {
  const std::span<const Reply> parts = reply.children();
  if (parts.size() != 4 || parts[0].kind != Reply::Kind::integer || parts[1].kind != Reply::Kind::integer) refuse_look();
  return {parts[0].integer, parts[1].integer, decode_names(parts[2]), decode_names(parts[3])};
}

}  // namespace redquel::executor
