#include "executor/tables/small_sets.h"

#include <memory>
#include <vector>

#include "executor/tables/read_scripts.h"

namespace redquel::executor {

bool may_sort_sets(const RowReader& reader) {
  return reader.keys().sort_get_is_safe() && reader.table().tag().empty() && reader.table().parts.empty();
}

void append_sorted_set(CommandBatch& batch, const RowReader& reader, const std::string& set, const sql::MemberEnds& ends) {
  batch.begin(4 + reader.sort_get_words()).arg("SORT_RO").arg(set).arg("BY").arg("nosort");
  reader.append_sort_get(batch, ends);
}

bool add_sorted_set(RowReader& reader, const RepliesPtr& replies, std::size_t index, const sql::MemberEnds& ends,
                    const std::function<void()>& added) {
  const Reply& reply = (*replies)[index];
  if (!reply.is_array()) return false;
  const FlatRows rows(reply.children(), reader.fields().size());
  std::shared_ptr<std::vector<std::string>> whole;  // members
  if (ends.any()) {
    whole = std::make_shared<std::vector<std::string>>();
    whole->reserve(rows.size());
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string_view member = whole ? whole->emplace_back(ends.whole(rows.member(row))) : rows.member(row);
    if (reader.add(member, rows.fields(row)) && added) added();
  }
  if (whole) reader.keep_alive(whole);
  return true;
}

}  // namespace redquel::executor
