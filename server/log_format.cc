#include "server/log_format.h"

#include <spdlog/pattern_formatter.h>

#include "sql/ascii.h"

namespace redquel::server {

namespace {

class EscapedMessage final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    for (const char c : message.payload) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte != 0x7f) {
        line.push_back(c);
        continue;
      }
      for (const char escaped : {'\\', 'x', sql::kHexDigits[byte >> 4], sql::kHexDigits[byte & 15]}) line.push_back(escaped);
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<EscapedMessage>(); }
};

}  // namespace

std::unique_ptr<spdlog::formatter> log_format() {
  auto format = std::make_unique<spdlog::pattern_formatter>();
  format->add_flag<EscapedMessage>('*').set_pattern("%Y-%m-%d %H:%M:%S.%e %^%l%$ %*");
  return format;
}

}  // namespace redquel::server
