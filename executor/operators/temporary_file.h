#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace redquel::executor {

/// A temporary file without a name, in TMPDIR: gone with its last user, however that ends.
class SpillFile {
 public:
  struct Block {
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };

  /// Throws 58030 where the directory takes no file.
  SpillFile();
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Throws 53100 where the disk is full, 58030 for other failures.
  Block write(std::string_view bytes);
  std::shared_ptr<const std::string> read(Block block) const;

 private:
  int descriptor_;
  std::uint64_t size_ = 0;
};

}  // namespace redquel::executor
