#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "executor/redis/script.h"

namespace redquel::executor {

/// The one script of all writes to mapped tables: first it looks whether everything is as its caller has read it, only reading; then it
/// runs the commands. Reply: "applied", "stale", "conflict", or "type <key>" where a key is of another type than the caller needs.
const Script& mapped_write_script();

/// Arguments of the script.
class MappedWriteCall {
 public:
  explicit MappedWriteCall(std::string catalog_version) : version_(std::move(catalog_version)) {}

  using Words = std::vector<std::string>;
  /// The command must give this text, or nil.
  void expect(const Words& command, std::string text);
  void expect_nil(const Words& command);
  /// The key is absent or of that type.
  void expect_type(const std::string& key, std::string_view type);
  void command(const Words& words);
  /// After all commands.
  void last_command(const Words& words);

  std::vector<std::string> arguments() const;

 private:
  static void append(std::vector<std::string>& arguments, const Words& words);

  std::string version_;
  std::vector<std::string> checks_, commands_, last_commands_;
  std::size_t check_count_ = 0;
};

}  // namespace redquel::executor
