#include "server/status/page_token.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace redquel::server {

namespace {

constexpr std::size_t kTokenBytes = 32, kMostFileBytes = 1024;

std::string random_token() {
  std::array<unsigned char, kTokenBytes> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) throw std::runtime_error("no random numbers");
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::runtime_error failure(const std::filesystem::path& file, std::string_view reason) {
  return std::runtime_error(fmt::format("status.token_file: \"{}\": {}", file.string(), reason));
}

/// Returns the word behind `name` at the beginning of a line; empty: there is none of a token's form.
std::string token_in(std::string_view text, std::string_view name) {
  const std::string begin = fmt::format("{} ", name);
  std::size_t at = text.starts_with(begin) ? 0 : text.find("\n" + begin);
  if (at == std::string_view::npos) return {};
  at = text.find(begin, at) + begin.size();
  const std::string token(text.substr(at, std::min(text.find_first_of(" \t\r\n", at), text.size()) - at));
  const bool is_hex = std::ranges::all_of(token, [](unsigned char c) { return std::isxdigit(c) != 0; });
  return token.size() == 2 * kTokenBytes && is_hex ? token : "";
}

bool is_same(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

PageTokens make_file(const std::filesystem::path& file) {
  PageTokens tokens = new_page_tokens();
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) throw failure(file, std::strerror(errno));
  const std::string text = fmt::format("read {}\nwrite {}\n", tokens.read, tokens.write);
  const bool is_written = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(descriptor);
  if (!is_written) throw failure(file, "cannot be written");
  return tokens;
}

}  // namespace

PageTokens new_page_tokens() { return {random_token(), random_token()}; }

std::optional<PageTokens::Right> PageTokens::right_of(std::string_view token) const {
  const bool may_read = is_same(token, read), may_write = is_same(token, write);
  if (may_write) return Right::kWrite;
  return may_read ? std::optional(Right::kRead) : std::nullopt;
}

PageTokens page_tokens(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0 && errno == ENOENT) return make_file(file);
  if (descriptor < 0) throw failure(file, std::strerror(errno));
  struct stat facts {};
  std::string text(kMostFileBytes, '\0');
  const bool is_private = ::fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_mode & 077U) == 0;
  const ssize_t size = ::read(descriptor, text.data(), text.size());
  ::close(descriptor);
  if (!is_private) throw failure(file, "others may read or write it; `chmod 600` makes it private");
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  PageTokens tokens{token_in(text, "read"), token_in(text, "write")};
  if (tokens.read.empty() || tokens.write.empty()) throw failure(file, "has no lines `read TOKEN` and `write TOKEN`; without the file redquel makes it anew");
  return tokens;
}

}  // namespace redquel::server
