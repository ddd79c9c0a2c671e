#include "executor/tables/member_columns.h"

#include <algorithm>

#include "planner/access/ordered_source.h"
#include "sql/catalog/key_segments.h"

namespace redquel::executor {

namespace {

void append_part(std::string_view segment, sql::Column& column) {
  if (segment.find('%') == std::string_view::npos) column.append_view(segment);
  else column.append<std::string_view>(sql::unescape_segment(segment));
}

void split(std::string_view member, std::vector<std::string_view>& parts) {
  parts.clear();
  for (std::size_t end; (end = member.find(':')) != std::string_view::npos; member.remove_prefix(end + 1)) {
    parts.push_back(member.substr(0, end));
  }
  parts.push_back(member);
}

}  // namespace

MemberColumns::MemberColumns(const planner::IndexKeys& keys) : keys_(keys), names_(*keys.table) {
  if (keys.by_parts) {
    const planner::SetExpression* set = &keys.sets;
    while (!set->operands.empty()) set = &set->operands.front();
    omitted_ = sql::omitted_parts(*keys.table, set->columns);
  }
  const auto& key = keys.table->primary_key;
  for (const std::int16_t number : keys.numbers) {
    parts_.push_back(static_cast<std::size_t>(std::ranges::find(key, number) - key.begin()));
    if (parts_.back() < key.size()) continue;
    parts_.back() += zsets_.size();
    zsets_.push_back(planner::ordered_source(*keys.table, number)->key);
  }
}

sql::Batch MemberColumns::decode(std::span<const Reply> members, std::size_t step, std::span<const Reply> scores, const RepliesPtr& owner,
                                 const sql::MemberEnds& ends) const {
  std::vector<std::shared_ptr<sql::Column>> columns;
  for (const std::int16_t number : keys_.numbers) {
    columns.push_back(std::make_shared<sql::Column>(sql::Column::encoded(keys_.table->find_column(number)->type)));
  }
  const std::size_t key_size = keys_.table->primary_key.size();
  std::vector<std::string_view> views;
  std::vector<std::string> fixed;
  // Parts of the key that short members leave out stand in the set's name.
  std::size_t first = omitted_.first, last = omitted_.last;
  if (ends.any() && !members.empty()) {
    fixed = names_.split_member(ends.whole(members[0].text));
    first = static_cast<std::size_t>(std::ranges::count(ends.head, ':'));
    last = static_cast<std::size_t>(std::ranges::count(ends.tail, ':'));
  }
  const std::size_t rows = members.size() / step;
  const bool are_one_part = first + last + 1 == key_size;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    sql::Column& column = *columns[i];
    const bool is_fixed = parts_[i] < first || parts_[i] + last >= key_size;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::string_view member = members[row * step].text;
      if (parts_[i] >= key_size) {
        column.append_view(scores[parts_[i] - key_size].children()[row].text);
      } else if (key_size == 1) {
        column.append_view(member);
      } else if (is_fixed) {
        column.append<std::string_view>(fixed[parts_[i]]);
      } else if (are_one_part) {
        append_part(member, column);
      } else {
        split(member, views);
        append_part(views.at(parts_[i] - first), column);
      }
    }
  }
  for (const auto& column : columns) column->keep_alive(owner);
  sql::Batch batch;
  batch.rows = rows;
  batch.columns.assign(columns.begin(), columns.end());
  return batch;
}

}  // namespace redquel::executor
