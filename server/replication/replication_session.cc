// Replication: the slots and the stream of changes (PostgreSQL's manual, 55.4 and 55.9).

#include "server/replication/replication_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "server/ascii.h"
#include "server/body_reader.h"
#include "sql/identifier_list.h"
#include "sql/sqlstate.h"

namespace redquel::server {

using namespace std::chrono_literals;

namespace {

constexpr auto kKeepalivePause = 1s;
/// A client that is silent for so long is gone (wal_sender_timeout).
constexpr auto kLongestSilence = 60s;

std::int64_t microseconds_of_2000() {
  constexpr std::int64_t kSecondsTo2000 = 946'684'800;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count() - kSecondsTo2000 * 1'000'000;
}

sql::SqlError bad_option(std::string message) { return sql::SqlError(sqlstate::kInvalidParameterValue, std::move(message)); }

bool is_off(const std::string& value) { return value == "off" || value == "false" || value == "0" || value == "no"; }

/// Reads the options of pgoutput; returns the names of the publications.
std::vector<std::string> publications_of(const std::vector<std::pair<std::string, std::string>>& options) {
  constexpr int kLowest = 1, kHighest = 3;
  std::optional<int> version;
  std::optional<std::vector<std::string>> names;
  for (const auto& [name, value] : options) {
    if (name == "proto_version") {
      const bool is_number = !value.empty() && value.size() < 6 && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
      if (!is_number) throw bad_option("invalid proto_version");
      version = std::stoi(value);
    } else if (name == "publication_names") {
      names = sql::split_identifier_list(value);
      if (!names) throw sql::SqlError(sqlstate::kInvalidName, "invalid publication_names syntax");
    } else if (name == "binary" || name == "streaming" || name == "two_phase") {
      if (!is_off(value)) throw sql::not_supported(fmt::format("the option {} of pgoutput", name));
    } else if (name != "messages") {
      throw sql::SqlError(sqlstate::kInternalError, fmt::format("unrecognized pgoutput option: {}", name));
    }
  }
  if (!version) throw bad_option("proto_version option missing");
  if (*version > kHighest) throw bad_option(fmt::format("client sent proto_version={} but we only support protocol {} or lower", *version, kHighest));
  if (*version < kLowest) throw bad_option(fmt::format("client sent proto_version={} but we only support protocol {} or higher", *version, kLowest));
  if (!names || names->empty()) throw bad_option("publication_names parameter missing");
  return *std::move(names);
}

}  // namespace

asio::awaitable<std::unique_ptr<Session::Replication>> Session::Replication::open(Session& session) {
  executor::ReplicationWay way = co_await session.host_.engines().replication(session.state_.database);
  co_return std::make_unique<Replication>(session, std::move(way));
}

asio::awaitable<bool> Session::Replication::run(std::string text) {
  std::optional<ReplicationCommand> command = parse_replication_command(text);
  if (!command) co_return false;
  if (std::holds_alternative<IdentifySystem>(*command)) {
    auto work = identify();
    co_await session_.run_cancellable(std::move(work));
  } else if (auto* made = std::get_if<CreateReplicationSlot>(&*command)) {
    auto work = create(std::move(*made));
    co_await session_.run_cancellable(std::move(work));
  } else if (auto* dropped = std::get_if<DropReplicationSlot>(&*command)) {
    auto work = executor::drop_slot(way_, dropped->slot, dropped->waits);
    co_await session_.run_cancellable(std::move(work));
    session_.encoder_.command_complete("DROP_REPLICATION_SLOT");
  } else {
    co_await start(std::get<StartReplication>(std::move(*command)));
  }
  co_return true;
}

asio::awaitable<void> Session::Replication::note_statement(std::string_view text) {
  // A slot of this session is older than the copy: the copied rows may come again as changes.
  const bool copies = has_made_slot_ && lower_case(text.substr(0, text.find_first_of(" (\t\n"))) == "copy";
  if (copies) co_await executor::note_copy(way_);
}

void Session::Replication::answer(std::span<const executor::OutputColumn> columns, const std::vector<std::optional<std::string>>& row,
                                  std::string_view tag) {
  MessageEncoder& encoder = session_.encoder_;
  const std::vector<std::int16_t> formats(columns.size(), 0);
  encoder.row_description(columns, formats);
  encoder.begin_message('D');
  encoder.put_uint16(static_cast<std::uint16_t>(row.size()));
  for (const std::optional<std::string>& value : row) {
    encoder.put_uint32(value ? static_cast<std::uint32_t>(value->size()) : static_cast<std::uint32_t>(-1));
    if (value) encoder.buffer().append(*value);
  }
  encoder.end_message();
  encoder.command_complete(tag);
}

asio::awaitable<void> Session::Replication::identify() {
  const executor::StreamEnd end = co_await executor::find_stream_end(way_);
  const executor::OutputColumn columns[] = {{"systemid", sql::kText}, {"timeline", sql::kInt4}, {"xlogpos", sql::kText}, {"dbname", sql::kText}};
  const std::vector<std::optional<std::string>> row{end.system, "1", executor::lsn_text(end.lsn), session_.state_.database};
  answer(columns, row, "IDENTIFY_SYSTEM");
}

asio::awaitable<void> Session::Replication::create(CreateReplicationSlot command) {
  using Snapshot = CreateReplicationSlot::Snapshot;
  const bool is_in_block = session_.is_in_transaction();
  if (command.snapshot == Snapshot::kUse && !is_in_block) {
    throw sql::SqlError(sqlstate::kInternalError, "CREATE_REPLICATION_SLOT ... (SNAPSHOT 'use') must be called inside a transaction");
  }
  const executor::Lsn lsn = co_await executor::create_slot(way_, command.slot);
  has_made_slot_ = true;
  // There is no state of the past. A copy reads the present one, and the changes until its end are sent so that they may come twice.
  if (command.snapshot == Snapshot::kUse) session_.state_.modes.isolation = executor::IsolationLevel::kReadCommitted;
  const executor::OutputColumn columns[] = {
      {"slot_name", sql::kText}, {"consistent_point", sql::kText}, {"snapshot_name", sql::kText}, {"output_plugin", sql::kText}};
  const std::vector<std::optional<std::string>> row{command.slot, executor::lsn_text(lsn), std::nullopt, "pgoutput"};
  answer(columns, row, "CREATE_REPLICATION_SLOT");
}

void Session::Replication::send(const executor::ReplicationMessage& message) {
  MessageEncoder& encoder = session_.encoder_;
  encoder.begin_message('d');
  encoder.put_uint8('w');
  const auto put64 = [&](std::uint64_t number) {
    encoder.put_uint32(static_cast<std::uint32_t>(number >> 32));
    encoder.put_uint32(static_cast<std::uint32_t>(number));
  };
  put64(message.start);
  put64(message.end);
  put64(static_cast<std::uint64_t>(microseconds_of_2000()));
  encoder.buffer().append(message.body);
  encoder.end_message();
  sent_ = std::max(sent_, message.end);
}

void Session::Replication::send_keepalive(bool wants_answer) {
  MessageEncoder& encoder = session_.encoder_;
  encoder.begin_message('d');
  encoder.put_uint8('k');
  const auto put64 = [&](std::uint64_t number) {
    encoder.put_uint32(static_cast<std::uint32_t>(number >> 32));
    encoder.put_uint32(static_cast<std::uint32_t>(number));
  };
  sent_ = std::max(sent_, publisher_->position());
  put64(sent_);
  put64(static_cast<std::uint64_t>(microseconds_of_2000()));
  encoder.put_uint8(wants_answer ? 1 : 0);
  encoder.end_message();
  last_word_ = std::chrono::steady_clock::now();
}

void Session::Replication::take_status(std::string_view body) {
  if (body.empty()) return;
  BodyReader reader(body.substr(1));
  if (body[0] != 'r') return;  // hot standby feedback
  const auto take64 = [&] {
    const std::uint64_t high = reader.uint32();
    return high << 32 | reader.uint32();
  };
  take64();  // written
  const executor::Lsn flushed = take64();
  take64(), take64();  // applied; the client's time
  if (!reader.rest().empty() && reader.rest().front() != '\0') wants_keepalive_ = true;
  publisher_->confirm(flushed);
}

bool Session::Replication::take_messages() {
  while (const std::optional<RawMessage> message = session_.decoder_.next()) {
    last_answer_ = std::chrono::steady_clock::now();
    switch (message->type) {
      case 'd':
        take_status(message->body);
        break;
      case 'c':
        return false;
      case 'X':
        throw Disconnected{};
      case 'H':
      case 'S':
        break;
      default:
        throw ProtocolViolation(fmt::format("invalid standby message type \"{}\"", message->type));
    }
  }
  return true;
}

asio::awaitable<void> Session::Replication::start(StartReplication command) {
  if (session_.is_in_transaction()) {
    throw sql::SqlError(sqlstate::kActiveTransaction, "START_REPLICATION cannot be executed in a transaction block");
  }
  std::vector<std::string> publications = publications_of(command.options);
  publisher_ = std::make_shared<executor::Publisher>(way_, std::move(publications), std::to_string(session_.key_.process_id),
                                                     [this] { session_.connection_.interrupt(); });
  std::exception_ptr failure;
  try {
    auto begin = publisher_->start(command.slot, command.from);
    co_await session_.run_cancellable(std::move(begin));
    MessageEncoder& encoder = session_.encoder_;
    encoder.begin_message('W');
    encoder.put_uint8(0);
    encoder.put_uint16(0);
    encoder.end_message();
    co_await stream();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::shared_ptr<executor::Publisher> ended = std::exchange(publisher_, nullptr);
  try {
    co_await ended->stop();
  } catch (const sql::SqlError&) {
    // Redis is gone: the slot stays where it was.
  }
  if (failure) std::rethrow_exception(failure);
  session_.encoder_.begin_message('c');
  session_.encoder_.end_message();
  session_.encoder_.command_complete("COPY 0");
  session_.encoder_.command_complete("START_REPLICATION");
}

asio::awaitable<void> Session::Replication::stream() {
  last_answer_ = std::chrono::steady_clock::now();
  sent_ = 0;
  while (true) {
    if (session_.end_.is_terminating || session_.end_.is_draining) {
      throw sql::SqlError(sqlstate::kAdminShutdown, "terminating connection due to administrator command");
    }
    const std::vector<executor::ReplicationMessage> messages = publisher_->take();
    for (const executor::ReplicationMessage& message : messages) {
      send(message);
      if (session_.encoder_.size() >= kFlushBytes) co_await session_.flush();
    }
    const bool goes_on = take_messages();
    if (!goes_on) co_return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_answer_ > kLongestSilence) {
      throw sql::SqlError(sqlstate::kConnectionFailure, "terminating walsender process due to replication timeout");
    }
    if (std::exchange(wants_keepalive_, false) || now - last_word_ >= kKeepalivePause) send_keepalive(now - last_answer_ > kLongestSilence / 2);
    co_await session_.flush();
    if (!publisher_->has_output()) co_await session_.read_more();
  }
}

}  // namespace redquel::server
