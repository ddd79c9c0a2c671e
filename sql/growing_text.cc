#include "sql/growing_text.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "sql/interrupts.h"

namespace redquel::sql {

void make_room(std::string& text, std::size_t bytes) {
  constexpr std::size_t kPiece = std::size_t{256} << 10, kLong = std::size_t{1} << 20;
  if (text.size() < kLong || text.capacity() - text.size() >= bytes) return;
  std::string larger;
  larger.reserve(std::max(2 * text.size(), text.size() + bytes));
  for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(std::min(kPiece, rest.size()))) {
    check_interrupts();
    larger.append(rest.substr(0, kPiece));
  }
  std::swap(text, larger);
}

}  // namespace redquel::sql
