#include "sql/jsonpath/object_number.h"

#include <optional>
#include <string>

#include "sql/stack_depth.h"
#include "sql/types/json_text.h"
#include "sql/types/numeric.h"
#include "sql/types/numeric_binary.h"

namespace redquel::sql {
namespace {

// The form (PostgreSQL's jsonb.h): a container is a word with its count, a word for each name and value, then the bytes of
// all names, then those of all values. Numbers and containers begin at multiples of four.

std::int64_t aligned(std::int64_t at) { return (at + 3) / 4 * 4; }

/// A numeric with its length, in the short form where scale and weight allow it.
std::int64_t number_size(std::string_view digits) {
  const NumericGroups groups = to_groups(Numeric::parse(digits));
  const bool is_short = groups.scale <= 63 && groups.weight >= -64 && groups.weight <= 63;
  return 4 + (is_short ? 2 : 4) + 2 * static_cast<std::int64_t>(groups.digits.size());
}

std::int64_t string_size(std::string_view quoted) {
  std::string buffer;
  return static_cast<std::int64_t>(json_string(quoted, buffer).size());
}

class Layout {
 public:
  explicit Layout(std::string_view wanted) : wanted_(wanted) {}

  /// Behind the container that begins at `start`; sets `found` where the wanted one lies in it.
  std::int64_t end_of(std::string_view container, std::int64_t start) {
    check_stack_depth();
    if (container.data() == wanted_.data()) found = start;
    const bool is_object = container[0] == '{';
    std::int64_t at = start + 4 + 4 * static_cast<std::int64_t>(json_count(container)) * (is_object ? 2 : 1);
    if (is_object) {
      for (JsonReader reader(container); reader.next();) at += string_size(reader.key());
    }
    for (JsonReader reader(container); !found && reader.next();) {
      switch (json_kind(reader.value())) {
        case JsonKind::kString:
          at += string_size(reader.value());
          break;
        case JsonKind::kNumber:
          at = aligned(at) + number_size(reader.value());
          break;
        case JsonKind::kArray:
        case JsonKind::kObject:
          at = end_of(reader.value(), aligned(at));
          break;
        default:
          break;
      }
    }
    return at;
  }

  std::optional<std::int64_t> found;

 private:
  std::string_view wanted_;
};

}  // namespace

std::int64_t object_number(std::string_view document, std::string_view object) {
  if (!is_json_container(document)) return 0;
  Layout layout(object);
  layout.end_of(document, 0);
  return layout.found.value_or(0);
}

}  // namespace redquel::sql
