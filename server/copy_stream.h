#pragma once

#include <memory>

#include "executor/copy/copy_channel.h"
#include "server/session.h"

namespace redquel::server {

/// COPY's data, from and to the client of one session: CopyData, CopyDone, CopyFail (manual, 55.2.6).
class Session::CopyStream final : public executor::CopyChannel {
 public:
  explicit CopyStream(Session& session) : session_(session), held_(*session.memory_, 0) {}

  bool set_encoding(std::string_view name) override;
  sql::EncodingConverter* converter() override { return converter_.get(); }

  void begin_in(bool binary, std::size_t columns) override;
  asio::awaitable<std::optional<std::string_view>> read() override;
  void hold(std::size_t bytes) override { held_.resize(bytes); }

  void begin_out(bool binary, std::size_t columns) override { begin('H', binary, columns); }
  void write(std::string_view bytes) override;
  bool is_full() const override;
  asio::awaitable<void> flush() override { return session_.flush(); }
  void end_out() override;

  void set_error_context(std::string context) override { session_.message_.error_context = std::move(context); }

 private:
  void begin(char type, bool binary, std::size_t columns);
  asio::awaitable<void> read_more();
  [[noreturn]] void refuse(char type);

  Session& session_;
  sql::HeldBytes held_;  // of a row that is not complete
  std::unique_ptr<sql::EncodingConverter> converter_;
};

}  // namespace redquel::server
