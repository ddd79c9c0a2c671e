#include "sql/discovery/field_names.h"

#include "sql/types/byte_text.h"
#include "sql/types/shown_text.h"

namespace redquel::sql {

namespace {

constexpr std::size_t kMaxField = 1024;  // bytes

}  // namespace

std::string shown_key(const KeyspaceEntry& entry) { return shown_text(entry.samples[0].key, kShownKeyBytes); }

bool is_field_name(const std::string& field) { return !field.empty() && field.size() <= kMaxField && is_valid_utf8(field); }

void leave_out_fields(std::vector<std::string>& fields, ProposedTable& table) {
  const auto number = std::erase_if(fields, [](const std::string& field) { return !is_field_name(field); });
  if (number > 0) table.doubts.push_back(std::to_string(number) + " fields whose names are empty, too long or no UTF-8 text are left out");
}

}  // namespace redquel::sql
