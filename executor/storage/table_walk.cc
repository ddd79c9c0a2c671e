#include "executor/storage/table_walk.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "executor/storage/row_reader.h"
#include "sql/catalog/spread_table.h"
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

bool TableWalk::is_scored() const {
  if (table_->has_hidden_key()) return true;
  if (table_->primary_key.size() != 1) return false;
  const sql::Oid oid = table_->find_column(table_->primary_key[0])->type.oid;
  return oid == sql::oid::kInt2 || oid == sql::oid::kInt4 || oid == sql::oid::kInt8;
}

void TableWalk::repeat() {
  page_.reset();
  last_ = before_;
  at_end_ = false;
}

/// Adds the range of the rows behind the last one; for keys that may share a score with it, that one again.
void TableWalk::append_range(CommandBatch& batch, std::size_t count) const {
  const std::string key = sql::TableKeys(*table_).all_rows();
  if (is_scored()) {
    batch.add("ZRANGE", key, last_ ? last_->score : std::string("-inf"), "+inf", "BYSCORE", "LIMIT", "0", count, "WITHSCORES");
  } else {
    batch.add("ZRANGE", key, last_ ? "(" + last_->member : std::string("-"), "+", "BYLEX", "LIMIT", "0", count);
  }
}

std::vector<TableWalk::Element> TableWalk::elements_of(std::span<const Reply> found) const {
  std::vector<Element> elements;
  if (!is_scored()) {
    for (const Reply& member : found) elements.push_back({"0", std::string(member.text)});
    return elements;
  }
  const double from = last_ ? parse_score(last_->score) : 0;
  for (std::size_t index = 0; index + 1 < found.size(); index += 2) {
    Element element{std::string(found[index + 1].text), std::string(found[index].text)};
    const bool was_seen = last_ && parse_score(element.score) == from && element.member <= last_->member;
    if (!was_seen) elements.push_back(std::move(element));
  }
  return elements;
}

bool TableWalk::may_have_more(std::span<const Reply> found, std::size_t count) const {
  return found.size() >= (is_scored() ? 2 * count : count);
}

asio::awaitable<std::vector<TableWalk::Element>> TableWalk::next_elements(RedisClient& client) {
  // Keys beyond 2^53 may share a score: then the page begins with members that were seen, and must be long enough to leave them.
  for (std::size_t count = page_rows_;; count *= 4) {
    CommandBatch batch;
    append_range(batch, count);
    RepliesPtr replies = co_await client.execute(std::move(batch));
    std::vector<Element> elements = elements_of(replies->array(0));
    if (!elements.empty() || !may_have_more(replies->array(0), count)) co_return elements;
  }
}

/// A page that Redis was asked for, and behind its rows the names of those of the next one.
struct TableWalk::Page {
  explicit Page(TablePtr table, std::vector<Element> found) : read(read_all(table)), reader(read), elements(std::move(found)) {}

  sql::Batch take(const RepliesPtr& replies) {
    const auto members = std::make_shared<const std::vector<Element>>(std::move(elements));  // columns view into them
    for (std::size_t index = 0; index < members->size(); ++index) reader.add((*members)[index].member, replies->array(index));
    reader.keep_alive(replies);
    reader.keep_alive(members);
    return reader.take_all();
  }

  planner::TableRead read;
  RowReader reader;
  std::vector<Element> elements;
  std::optional<Element> begin;
  std::unique_ptr<RedisRequest> request;
};

TableWalk::TableWalk(TablePtr table, std::size_t page_rows) : page_rows_(page_rows) {
  later_parts_ = sql::stored_tables(table);
  std::ranges::reverse(later_parts_);
  start_next_part();
}

bool TableWalk::start_next_part() {
  if (later_parts_.empty()) return false;
  table_ = std::move(later_parts_.back());
  later_parts_.pop_back();
  last_.reset();
  before_.reset();
  page_.reset();
  at_end_ = false;
  return true;
}

TableWalk::~TableWalk() = default;

std::unique_ptr<TableWalk::Page> TableWalk::start_page(RedisClient& client, std::vector<Element> elements) {
  auto page = std::make_unique<Page>(table_, std::move(elements));
  page->begin = std::exchange(last_, page->elements.back());
  CommandBatch batch;
  for (const Element& element : page->elements) page->reader.append_fetch(batch, element.member);
  append_range(batch, page_rows_);
  page->request = client.start(std::move(batch));
  return page;
}

asio::awaitable<std::optional<sql::Batch>> TableWalk::next_of_many(RedisClient& client) {
  if (at_end_ && !start_next_part()) co_return std::nullopt;
  while (!page_) {
    std::vector<Element> first = co_await next_elements(client);
    at_end_ = first.empty();
    if (!at_end_) page_ = start_page(client, std::move(first));
    else if (!start_next_part()) co_return std::nullopt;
  }
  const std::unique_ptr<Page> page = std::move(page_);
  const RepliesPtr replies = co_await page->request->replies();
  const std::span<const Reply> found = replies->array(page->elements.size());
  std::vector<Element> following = elements_of(found);
  if (following.empty() && may_have_more(found, page_rows_)) following = co_await next_elements(client);
  at_end_ = following.empty();
  if (!at_end_) page_ = start_page(client, std::move(following));
  before_ = std::move(page->begin);
  co_return page->take(replies);
}

asio::awaitable<std::vector<std::string>> TableWalk::next_members(RedisClient& client) {
  std::vector<Element> elements = co_await next_elements(client);
  while (elements.empty() && start_next_part()) elements = co_await next_elements(client);
  std::vector<std::string> members;
  if (elements.empty()) co_return members;
  before_ = last_;
  last_ = elements.back();
  for (Element& element : elements) members.push_back(std::move(element.member));
  co_return members;
}

asio::awaitable<std::optional<sql::Batch>> TableWalk::next(RedisClient& client) {
  if (at_end_) co_return std::nullopt;
  std::vector<Element> elements = co_await next_elements(client);
  while (elements.empty() && start_next_part()) elements = co_await next_elements(client);
  before_ = last_;
  if (elements.empty()) {
    at_end_ = true;
    co_return std::nullopt;
  }
  last_ = elements.back();
  Page page(table_, std::move(elements));
  CommandBatch batch;
  for (const Element& element : page.elements) page.reader.append_fetch(batch, element.member);
  RepliesPtr replies = co_await client.execute(std::move(batch));
  co_return page.take(replies);
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
  TableState state{true, {}};
  if (!table.parts.empty()) {
    for (const auto& part : table.parts) {
      TableState of_part = co_await table_state(client, *part);
      state.is_empty = state.is_empty && of_part.is_empty;
      state.change_counters.push_back(std::move(of_part.change_counters.front()));
    }
    co_return state;
  }
  const sql::TableKeys keys(table);
  CommandBatch batch;
  batch.add("ZCARD", keys.all_rows());
  batch.add("GET", keys.changes());
  RepliesPtr replies = co_await client.execute_atomic(std::move(batch));
  state.is_empty = replies->integer(0) == 0;
  state.change_counters.emplace_back(table.oid, replies->text(1).value_or(""));
  co_return state;
}

}  // namespace redquel::executor
