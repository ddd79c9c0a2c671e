#include "executor/ddl/generated_names.h"

#include "sql/types/byte_text.h"

namespace redquel::executor {

namespace {

constexpr std::size_t kMaxName = 63;

}  // namespace

std::string make_object_name(std::string_view first, std::string_view second, std::string_view label) {
  std::size_t overhead = second.empty() ? 0 : 1;
  if (!label.empty()) overhead += label.size() + 1;
  const std::size_t room = kMaxName - overhead;
  std::size_t first_size = first.size(), second_size = second.size();
  while (first_size + second_size > room) {
    if (first_size > second_size) {
      --first_size;
    } else {
      --second_size;
    }
  }
  std::string name(sql::utf8_clip(first, first_size));
  if (!second.empty()) name.append("_").append(sql::utf8_clip(second, second_size));
  if (!label.empty()) name.append("_").append(label);
  return name;
}

std::string choose_name(std::string_view first, std::string_view second, std::string_view label,
                        const std::function<bool(std::string_view)>& is_taken) {
  std::string name = make_object_name(first, second, label);
  for (std::size_t number = 1; is_taken(name); ++number) {
    name = make_object_name(first, second, std::string(label) + std::to_string(number));
  }
  return name;
}

std::string joined_column_names(const std::vector<std::string>& columns) {
  std::string joined;
  for (const std::string& column : columns) {
    if (!joined.empty()) joined += '_';
    joined += sql::utf8_clip(column, kMaxName);
    if (joined.size() >= kMaxName) break;
  }
  return joined;
}

}  // namespace redquel::executor
