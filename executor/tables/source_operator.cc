#include "executor/tables/source_operator.h"

#include "executor/storage/read_checks.h"

namespace redquel::executor {

asio::awaitable<sql::Batch> SourceOperator::fetch(std::vector<std::string> members) {
  context_.note_read(reader_.table());
  auto owned = std::make_shared<const std::vector<std::string>>(std::move(members));
  CommandBatch batch;
  for (const std::string& member : *owned) reader_.append_fetch(batch, member);
  RepliesPtr replies;
  if (owned->size() > 1) {
    replies = co_await context_.ask_atomic(std::move(batch), counters());
  } else {
    replies = co_await context_.ask(std::move(batch), counters());
  }
  if (ReadChecks* reads = context_.reads()) {
    for (std::size_t i = 0; i < owned->size(); ++i) {
      reads->add_row(reader_.table().oid, reader_.keys().row_of_member((*owned)[i]), reader_.fields(), (*replies)[i]);
    }
  }
  for (std::size_t i = 0; i < owned->size(); ++i) reader_.add((*owned)[i], (*replies)[i].children());
  reader_.keep_alive(owned);
  reader_.keep_alive(replies);
  co_return take();
}

}  // namespace redquel::executor
