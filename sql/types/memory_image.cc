#include <algorithm>

#include "sql/types/type_definition.h"

namespace redquel::sql {

std::string turned_image(std::string bytes, std::initializer_list<std::size_t> widths) {
  auto at = bytes.begin();
  while (at != bytes.end()) {
    for (const std::size_t width : widths) {
      std::reverse(at, at + static_cast<std::ptrdiff_t>(width));
      at += static_cast<std::ptrdiff_t>(width);
    }
  }
  return bytes;
}

}  // namespace redquel::sql
