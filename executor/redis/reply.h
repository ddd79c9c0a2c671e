#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/command_batch.h"

namespace redquel::executor {

/// One reply of Redis: a small value whose text and children live in the arena of its `Replies`.
struct Reply {
  enum class Kind : std::uint8_t { nil, integer, string, status, error, array };

  Kind kind = Kind::nil;
  std::uint32_t child_count = 0;
  union {
    std::int64_t integer = 0;  // of kind integer; read it through as_integer() where the server is not trusted
    const Reply* first_child;  // of kind array
  };
  std::string_view text;  // of kinds string, status and error ("WRONGTYPE Operation against…")

  bool is_nil() const { return kind == Kind::nil; }
  bool is_error() const { return kind == Kind::error; }
  bool is_array() const { return kind == Kind::array; }
  /// A bulk string or a status.
  bool is_text() const { return kind == Kind::string || kind == Kind::status; }

  /// The elements of an array; empty for every other kind.
  std::span<const Reply> children() const {
    return is_array() ? std::span<const Reply>(first_child, child_count) : std::span<const Reply>();
  }
};

/// The replies of one batch, one per command and in their order. Held by shared_ptr: columns of text keep it alive
/// and view into its arena. Immutable once handed out. An error reply is a value: only the caller knows its SQLSTATE
/// (executor/redis/redis_error.h).
class Replies {
 public:
  Replies() = default;
  Replies(const Replies&) = delete;
  Replies& operator=(const Replies&) = delete;

  std::size_t size() const { return top_.size(); }
  bool empty() const { return top_.empty(); }
  const Reply& operator[](std::size_t index) const { return top_[index]; }
  std::span<const Reply> all() const { return top_; }

  /// Name of the command that `(*this)[index]` answers.
  std::string_view command(std::size_t index) const { return names_[index]; }

  /// Throws the SqlError of the first error reply, if there is one.
  const Replies& or_throw() const;
  /// The reply with this index, or the SqlError of its error.
  const Reply& checked(std::size_t index) const;
  /// Like checked(); XX000 if it is not an integer (text, status, array): the server broke its protocol.
  std::int64_t integer(std::size_t index) const;
  /// Like checked(); nullopt for nil, XX000 if it is neither text nor nil.
  std::optional<std::string_view> text(std::size_t index) const;
  /// Like checked(); XX000 if it is not an array (nil counts as an empty one).
  std::span<const Reply> array(std::size_t index) const;

  /// Value of the catalog's version key, read by Redis after every command of the batch; nullopt when it is absent
  /// (no catalog yet) or the connection was told not to read it. Compare it with the version of the plan: equal means
  /// that no DDL moved it before or while the batch ran.
  const std::optional<std::string>& catalog_version() const { return catalog_version_; }
  /// The generation of the Redis that answered: moves when a connection finds another run_id or master_replid (restart, failover). Data
  /// that was read under another generation may be gone.
  std::uint64_t generation() const { return generation_; }
  /// Bytes of the replies on the wire.
  std::size_t bytes() const { return bytes_; }

  // Below: for those who make replies (the codec, clients, the fake client of the tests).

  std::pmr::memory_resource& arena() { return arena_; }
  std::string_view store(std::string_view text);
  std::span<const Reply> store(std::span<const Reply> children);
  void append(const Reply& reply) { top_.push_back(reply); }
  void reserve(std::size_t count) { top_.reserve(count); }
  void add_bytes(std::size_t count) { bytes_ += count; }
  void set_names(CommandNames names) { names_ = std::move(names); }
  void set_catalog_version(std::optional<std::string> version) { catalog_version_ = std::move(version); }
  void set_generation(std::uint64_t generation) { generation_ = generation; }

  /// MULTI … EXEC: the elements of EXEC's array, the last of `replies`, as replies of their own. `names`: of the
  /// commands between.
  static std::shared_ptr<const Replies> unwrap_transaction(std::shared_ptr<const Replies> replies, CommandNames names);
  /// `first`, whose replies at `positions` (ascending) are replaced by those of `second` from `offset` on.
  static std::shared_ptr<const Replies> merge(std::shared_ptr<const Replies> first,
                                              std::span<const std::size_t> positions,
                                              std::shared_ptr<const Replies> second, std::size_t offset);

 private:
  std::pmr::monotonic_buffer_resource arena_{512};
  std::vector<Reply> top_;
  CommandNames names_;
  std::optional<std::string> catalog_version_;
  std::uint64_t generation_ = 0;
  std::size_t bytes_ = 0;
  std::vector<std::shared_ptr<const Replies>> kept_alive_;  // whose arenas replies here point into
};

using RepliesPtr = std::shared_ptr<const Replies>;

}  // namespace redquel::executor
