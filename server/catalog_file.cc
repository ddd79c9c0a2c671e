#include "server/catalog_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "sql/error.h"
#include "sql/sqlstate.h"

namespace redquel::server {

namespace {

constexpr std::string_view kHead = "-- Definitions of `redquel look`. They may be edited while it does not run.\n";

sql::SqlError failure(std::string_view what, const std::filesystem::path& path) {
  return {sqlstate::kIoError, fmt::format("could not {} file \"{}\": {}", what, path.string(), std::generic_category().message(errno))};
}

/// A file that is closed, and deleted unless it was kept.
class NewFile {
 public:
  NewFile(std::filesystem::path path, mode_t mode) : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)) {
    if (file_ < 0) throw failure("create", path_);
  }
  ~NewFile() {
    ::close(file_);
    if (!is_kept_) ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(file_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) throw failure("write to", path_);
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(file_) != 0) throw failure("write to", path_);
  }
  void keep_as(const std::filesystem::path& name) {
    if (::rename(path_.c_str(), name.c_str()) != 0) throw failure("replace", name);
    is_kept_ = true;
  }

 private:
  std::filesystem::path path_;
  int file_;
  bool is_kept_ = false;
};

}  // namespace

std::optional<std::string> CatalogFile::read() const {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return std::nullopt;
  std::ifstream input(path_, std::ios::binary);
  std::ostringstream text;
  if (!input || std::filesystem::is_directory(path_, ignored)) throw failure("read", path_);
  text << input.rdbuf();
  return std::move(text).str();
}

void CatalogFile::append(const std::vector<std::string>& statements) const {
  std::string text = read().value_or(std::string(kHead));
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const std::string& statement : statements) text += "\n" + statement + "\n";
  struct stat known {};
  const mode_t mode = ::stat(path_.c_str(), &known) == 0 ? known.st_mode & 0777U : 0644U;
  NewFile file(path_.string() + fmt::format(".{}.new", ::getpid()), mode);
  file.write(text);
  file.keep_as(path_);
}

}  // namespace redquel::server
