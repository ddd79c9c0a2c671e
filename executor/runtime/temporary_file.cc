#include "executor/runtime/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "executor/redis/executor_counts.h"
#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace {

[[noreturn]] void fail(const char* what, int error) {
  throw sql::SqlError(error == ENOSPC || error == EDQUOT ? sqlstate::kDiskFull : sqlstate::kIoError,
                      fmt::format("could not {} temporary file: {}", what, std::strerror(error)));
}

}  // namespace

SpillFile::SpillFile(TemporarySpacePtr space) : space_(std::move(space)) {
  const char* directory = std::getenv("TMPDIR");
  descriptor_ = ::open(directory != nullptr ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0) fail("create", errno);
}

SpillFile::~SpillFile() {
  if (space_) space_->used -= size_;
  ::close(descriptor_);
}

SpillFile::Block SpillFile::write(std::string_view bytes) {
  const Block block{size_, bytes.size()};
  if (space_ && space_->limit && space_->used + bytes.size() > *space_->limit) {
    throw sql::SqlError(sqlstate::kConfigurationLimitExceeded,
                        fmt::format("temporary file size exceeds temp_file_limit ({}kB)", *space_->limit >> 10));
  }
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write to", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
    counts_of_thread().temporary_bytes.add(static_cast<std::uint64_t>(written));
    if (space_) space_->used += static_cast<std::uint64_t>(written);
  }
  return block;
}

std::shared_ptr<const std::string> SpillFile::read(Block block) const {
  auto bytes = std::make_shared<std::string>(block.size, '\0');
  for (std::size_t done = 0; done < block.size;) {
    const ssize_t got =
        ::pread(descriptor_, bytes->data() + done, block.size - done, static_cast<off_t>(block.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("read from", got < 0 ? errno : EIO);
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace redquel::executor
