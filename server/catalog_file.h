#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace redquel::server {

/// A file of SQL statements that define tables, for `redquel look`. A person may edit it between two starts.
class CatalogFile {
 public:
  explicit CatalogFile(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  /// Returns the text; nullopt: there is no such file. Throws SqlError 58030.
  std::optional<std::string> read() const;
  /// Adds statements to what the file holds by now. The file is replaced as a whole: a reader, or a crash, finds the text of before or the new
  /// one. Throws SqlError 58030.
  void append(const std::vector<std::string>& statements) const;

 private:
  std::filesystem::path path_;
};

}  // namespace redquel::server
