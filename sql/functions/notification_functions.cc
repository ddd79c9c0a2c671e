// pg_notify(), pg_listening_channels(), pg_notification_queue_usage().

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/lift.h"
#include "sql/session_hooks.h"

namespace redquel::sql {
namespace {

/// Not strict: NULL is a channel without a name, or no payload.
void notify(const EvaluationContext& context, std::optional<std::string_view> channel, std::optional<std::string_view> payload, std::string&) {
  if (session_hooks().notify == nullptr || context.session == nullptr) throw not_supported("pg_notify() outside of a session");
  session_hooks().notify(context.session, std::string(channel.value_or("")), std::string(payload.value_or("")));
}

/// Redis keeps nothing for those who are slow.
double queue_usage() { return 0; }

class ChannelRows final : public RowSource {
 public:
  explicit ChannelRows(std::vector<std::string> channels) : channels_(std::move(channels)) {}

  Batch next(std::size_t limit) override {
    Column name(kText);
    Batch batch;
    for (; next_ < channels_.size() && batch.rows < limit; ++next_, ++batch.rows) name.append(std::string_view(channels_[next_]));
    batch.columns.push_back(std::make_shared<const Column>(std::move(name)));
    return batch;
  }

 private:
  std::vector<std::string> channels_;
  std::size_t next_ = 0;
};

std::unique_ptr<RowSource> open_channels(std::span<const Datum>, const EvaluationContext& context) {
  const bool is_session = session_hooks().names != nullptr && context.session != nullptr;
  return std::make_unique<ChannelRows>(is_session ? session_hooks().names(context.session).channels : std::vector<std::string>{});
}

}  // namespace

std::vector<ScalarFunction> notification_functions() {
  return {
      scalar<notify>("pg_notify", {kText, kText}, kVoid, Volatility::kVolatile),
      scalar<queue_usage>("pg_notification_queue_usage", {}, kFloat8, Volatility::kVolatile),
  };
}

std::vector<TableFunction> notification_rows() {
  return {{"pg_listening_channels", {}, {{"pg_listening_channels", oid::kText}}, open_channels}};
}

}  // namespace redquel::sql
