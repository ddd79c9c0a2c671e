#include "executor/storage/table_walk.h"

#include <charconv>

#include "executor/tables/row_reader.h"
#include "sql/catalog/table_keys.h"

namespace redquel::executor {

namespace {

double parse_score(std::string_view text) {
  if (text == "inf" || text == "+inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

planner::TableRead read_all(const std::shared_ptr<const sql::TableDef>& table) {
  planner::TableRead read;
  read.table = table;
  for (const sql::ColumnDef& column : table->columns) read.numbers.push_back(column.number);
  if (table->has_hidden_key()) read.numbers.push_back(0);
  return read;
}

}  // namespace

TableWalk::TableWalk(TablePtr table, std::size_t page_rows) : table_(std::move(table)), page_rows_(page_rows) {}

bool TableWalk::is_scored() const {
  if (table_->has_hidden_key()) return true;
  if (table_->primary_key.size() != 1) return false;
  const sql::Oid oid = table_->find_column(table_->primary_key[0])->type.oid;
  return oid == sql::oid::kInt2 || oid == sql::oid::kInt4 || oid == sql::oid::kInt8;
}

void TableWalk::repeat() {
  last_ = before_;
  at_end_ = false;
}

asio::awaitable<std::vector<TableWalk::Element>> TableWalk::next_elements(RedisClient& client) {
  const std::string key = sql::TableKeys(*table_).all_rows();
  std::vector<Element> elements;
  if (!is_scored()) {
    CommandBatch batch;
    batch.add("ZRANGE", key, last_ ? "(" + last_->member : std::string("-"), "+", "BYLEX", "LIMIT", "0", page_rows_);
    RepliesPtr replies = co_await client.execute(std::move(batch));
    for (const Reply& member : replies->array(0)) elements.push_back({"0", std::string(member.text)});
    co_return elements;
  }
  // Keys beyond 2^53 may share a score: then the page begins with members that were seen, and must be long enough to leave them.
  for (std::size_t count = page_rows_;; count *= 4) {
    CommandBatch batch;
    batch.add("ZRANGE", key, last_ ? last_->score : std::string("-inf"), "+inf", "BYSCORE", "LIMIT", "0", count, "WITHSCORES");
    RepliesPtr replies = co_await client.execute(std::move(batch));
    const std::span<const Reply> found = replies->array(0);
    const double from = last_ ? parse_score(last_->score) : 0;
    for (std::size_t index = 0; index + 1 < found.size(); index += 2) {
      Element element{std::string(found[index + 1].text), std::string(found[index].text)};
      const bool was_seen = last_ && parse_score(element.score) == from && element.member <= last_->member;
      if (!was_seen) elements.push_back(std::move(element));
    }
    if (!elements.empty() || found.size() < 2 * count) co_return elements;
  }
}

asio::awaitable<std::optional<sql::Batch>> TableWalk::next(RedisClient& client) {
  if (at_end_) co_return std::nullopt;
  std::vector<Element> elements = co_await next_elements(client);
  before_ = last_;
  if (elements.empty()) {
    at_end_ = true;
    co_return std::nullopt;
  }
  const planner::TableRead read = read_all(table_);
  RowReader reader(read);
  CommandBatch batch;
  for (const Element& element : elements) reader.append_fetch(batch, element.member);
  RepliesPtr replies = co_await client.execute(std::move(batch));
  last_ = elements.back();
  const auto members = std::make_shared<const std::vector<Element>>(std::move(elements));  // columns view into them
  for (std::size_t index = 0; index < members->size(); ++index) reader.add((*members)[index].member, replies->array(index));
  reader.keep_alive(replies);
  reader.keep_alive(members);
  co_return reader.take_all();
}

std::vector<std::vector<sql::Datum>> decode_rows(const sql::Batch& batch) {
  std::vector<std::vector<sql::Datum>> rows(batch.rows);
  for (auto& row : rows) row.reserve(batch.columns.size());
  for (const sql::ColumnPtr& column : batch.columns) {
    const sql::Column decoded = column->decode();
    for (std::size_t index = 0; index < batch.rows; ++index) rows[index].push_back(decoded.datum(index));
  }
  return rows;
}

asio::awaitable<TableState> table_state(RedisClient& client, const sql::TableDef& table) {
  const sql::TableKeys keys(table);
  CommandBatch batch;
  batch.add("ZCARD", keys.all_rows());
  batch.add("GET", keys.changes());
  RepliesPtr replies = co_await client.execute_atomic(std::move(batch));
  co_return TableState{replies->integer(0) == 0, std::string(replies->text(1).value_or(""))};
}

}  // namespace redquel::executor
