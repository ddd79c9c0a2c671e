#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "executor/runtime/temporary_space.h"

namespace redquel::executor {

/// A temporary file without a name, in TMPDIR: gone with its last user, however that ends.
class SpillFile {
 public:
  struct Block {
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };

  /// `space`: where the file's bytes are counted; null for what transactions note. Throws 58030 where the directory takes no file.
  explicit SpillFile(TemporarySpacePtr space = nullptr);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Throws 53400 beyond temp_file_limit, 53100 where the disk is full, 58030 for other failures.
  Block write(std::string_view bytes);
  std::shared_ptr<const std::string> read(Block block) const;

 private:
  TemporarySpacePtr space_;
  int descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace redquel::executor
