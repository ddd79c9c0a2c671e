#include <algorithm>

#include "executor/tables/index_answer.h"
#include "executor/tables/index_answers.h"
#include "executor/tables/set_program.h"

namespace redquel::executor {

namespace {

/// Key columns of the members of sets.
class IndexKeysOperator final : public IndexAnswer {
 public:
  IndexKeysOperator(const planner::PhysicalNode& node, const planner::IndexKeys& keys, ExecutionContext& context)
      : IndexAnswer(node, keys.fallback, context), keys_(keys), names_(*keys.table) {
    const auto& key = keys.table->primary_key;
    for (const std::int16_t number : keys.numbers) {
      parts_.push_back(static_cast<std::size_t>(std::ranges::find(key, number) - key.begin()));
    }
  }

 private:
  asio::awaitable<std::optional<sql::Batch>> answer() override {
    context_.note_read(*keys_.table);
    const std::optional<EvaluatedSets> sets = evaluate_sets(keys_.sets, *keys_.table, context_.evaluation());
    if (!sets) co_return sql::Batch{};
    const std::vector<std::string> no_fields;
    const RowArguments no_rows{"", false, &no_fields};
    CommandBatch batch;
    append_rows_of_sets(batch, to_program(*sets), no_rows, context_.limits.set_members, 0);
    RepliesPtr replies = co_await context_.ask_script(SetScripts::rows_of_sets(), std::move(batch), counters());
    const auto reply = (*replies)[0].children();
    if (reply.size() != 3) co_return std::nullopt;
    co_return decode(reply[2].children(), replies);
  }

  sql::Batch decode(std::span<const Reply> members, const RepliesPtr& owner) const {
    std::vector<std::shared_ptr<sql::Column>> columns;
    for (const std::int16_t number : keys_.numbers) {
      columns.push_back(std::make_shared<sql::Column>(sql::Column::encoded(keys_.table->find_column(number)->type)));
    }
    const bool is_composite = keys_.table->primary_key.size() > 1;
    std::vector<std::string_view> views;
    for (const Reply& member : members) {
      if (!is_composite) {
        for (const auto& column : columns) column->append_view(member.text);
      } else if (member.text.find('%') == std::string_view::npos) {
        split(member.text, views);
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i]->append_view(views.at(parts_[i]));
      } else {
        const std::vector<std::string> texts = names_.split_member(member.text);
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i]->append<std::string_view>(texts.at(parts_[i]));
      }
    }
    for (const auto& column : columns) column->keep_alive(owner);
    sql::Batch batch;
    batch.rows = members.size();
    batch.columns.assign(columns.begin(), columns.end());
    return batch;
  }

  /// A member without escapes.
  static void split(std::string_view member, std::vector<std::string_view>& parts) {
    parts.clear();
    for (std::size_t end; (end = member.find(':')) != std::string_view::npos; member.remove_prefix(end + 1)) {
      parts.push_back(member.substr(0, end));
    }
    parts.push_back(member);
  }

  const planner::IndexKeys& keys_;
  sql::TableKeys names_;
  std::vector<std::size_t> parts_;  // of the key, for each column
};

}  // namespace

OperatorPtr make_index_keys(const planner::PhysicalNode& node, const planner::IndexKeys& keys, ExecutionContext& context) {
  return std::make_unique<IndexKeysOperator>(node, keys, context);
}

}  // namespace redquel::executor
