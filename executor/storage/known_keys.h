#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/runtime/temporary_file.h"
#include "executor/storage/position_index.h"

namespace redquel::executor {

/// Keys that a statement has met, each with a mark. The newest few megabytes are in memory, those before in a temporary file; what stays in
/// memory of each is its place (PositionIndex). A copy goes its own way.
class KnownKeys {
 public:
  /// The key's mark; nothing: it is not known.
  std::optional<bool> find(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key).has_value(); }
  /// Marks the key; false: it was known. Throws 53100 and 58030 where the temporary file takes no more, 54000 beyond four thousand million keys.
  bool set(std::string_view key, bool mark = true);
  std::size_t size() const { return marks_.size(); }

 private:
  using Bytes = std::shared_ptr<const std::string>;

  std::optional<PositionIndex::Position> place_of(std::string_view key) const;
  bool is_at(PositionIndex::Position position, std::string_view key) const;
  Bytes read(std::size_t block) const;
  void spill();

  PositionIndex places_;
  std::vector<bool> marks_;
  // Blocks of keys, each with its length in front.
  std::vector<SpillFile::Block> filed_;  // the first ones
  std::deque<Bytes> recent_;             // those behind them, all full
  std::string open_;                     // the last one
  std::size_t recent_bytes_ = 0;
  std::shared_ptr<SpillFile> file_;
  mutable std::array<std::pair<std::size_t, Bytes>, 8> cache_;
  mutable std::size_t next_cached_ = 0;
};

}  // namespace redquel::executor
