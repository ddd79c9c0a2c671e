#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace redquel::executor::resp {

// Replies as a Redis would write them, for tests.

inline std::string nil() { return "$-1\r\n"; }
inline std::string integer(long long value) { return ":" + std::to_string(value) + "\r\n"; }
inline std::string text(std::string_view value) {
  return "$" + std::to_string(value.size()) + "\r\n" + std::string(value) + "\r\n";
}
inline std::string status(std::string_view value) { return "+" + std::string(value) + "\r\n"; }
inline std::string ok() { return status("OK"); }
inline std::string error(std::string_view value) { return "-" + std::string(value) + "\r\n"; }
inline std::string array(const std::vector<std::string>& elements) {
  std::string bytes = "*" + std::to_string(elements.size()) + "\r\n";
  for (const std::string& element : elements) bytes += element;
  return bytes;
}
/// An array of bulk strings.
inline std::string texts(const std::vector<std::string>& values) {
  std::vector<std::string> elements;
  for (const std::string& value : values) elements.push_back(text(value));
  return array(elements);
}

}  // namespace redquel::executor::resp
