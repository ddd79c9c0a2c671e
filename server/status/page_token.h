#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace redquel::server {

/// The secrets that open the status page: one lets its console read, the other lets it write, too.
struct PageTokens {
  enum class Right : std::uint8_t { kRead, kWrite };

  std::string read, write;  // 64 hex digits each

  /// Returns what the bearer of a token may; nullopt: it is none. Takes as long for each token.
  std::optional<Right> right_of(std::string_view token) const;
};

/// Returns new tokens.
PageTokens new_page_tokens();

/// Reads the file with the lines `read TOKEN` and `write TOKEN`, or makes it with new tokens, for its owner alone (0600). Throws
/// std::runtime_error for a file that others may read, that is damaged, or that cannot be made.
PageTokens page_tokens(const std::filesystem::path& file);

}  // namespace redquel::server
