#include "sql/system_tables/shown_sessions.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <limits>
#include <stdexcept>

namespace redquel::sql {

namespace {

namespace json = boost::json;

thread_local const std::vector<SessionStatistics>* shown_sessions = nullptr;

/// Texts of SessionStatistics that have static storage.
constexpr std::string_view kStates[] = {"", "active", "idle", "idle in transaction", "idle in transaction (aborted)"};
constexpr std::string_view kEvents[] = {"", "transactionid", "relation", "advisory", kReplicationWait};

template <std::size_t count>
std::string_view known(const std::string_view (&texts)[count], std::string_view text) {
  const auto found = std::ranges::find(texts, text);
  return found == std::end(texts) ? std::string_view() : *found;
}

json::string_view view(std::string_view text) { return {text.data(), text.size()}; }

json::value encode(const SessionStatistics& one) {
  const ProgressFigures& work = one.progress;
  json::array encryption;
  if (const auto& tls = one.encryption) encryption = {tls->version, tls->cipher, tls->bits, tls->client_subject, tls->client_issuer, tls->client_serial};
  json::array progress{static_cast<int>(work.work), work.table, work.index, work.bytes, work.rows, work.excluded_rows, work.all_rows};
  return json::array{one.process_id, one.role, one.role_name, one.database, one.application_name, one.client_address, one.client_port,
                     json::array{one.started, one.transaction_started, one.statement_started, one.state_changed}, view(one.state), one.waits_for_client,
                     view(one.awaited_event), std::move(progress), one.query_id, one.query, std::move(encryption)};
}

std::string text_of(const json::value& value) { return {value.as_string().data(), value.as_string().size()}; }

ProgressFigures decode_progress(const json::array& values) {
  const auto count = [&](std::size_t i) { return values.at(i).to_number<std::uint64_t>(); };
  const auto kind = values.at(0).to_number<std::uint8_t>();
  ProgressFigures work;
  if (kind <= static_cast<std::uint8_t>(LongWork::kRewrite)) work.work = static_cast<LongWork>(kind);
  work.table = values.at(1).to_number<Oid>();
  work.index = values.at(2).to_number<Oid>();
  work.bytes = count(3);
  work.rows = count(4);
  work.excluded_rows = count(5);
  work.all_rows = count(6);
  return work;
}

SessionStatistics decode(const json::array& values) {
  SessionStatistics one;
  one.process_id = values.at(0).to_number<std::int32_t>();
  one.role = values.at(1).to_number<Oid>();
  one.role_name = text_of(values.at(2));
  one.database = text_of(values.at(3));
  one.application_name = text_of(values.at(4));
  one.client_address = text_of(values.at(5));
  one.client_port = values.at(6).to_number<std::int32_t>();
  const json::array& times = values.at(7).as_array();
  std::int64_t* const moments[] = {&one.started, &one.transaction_started, &one.statement_started, &one.state_changed};
  for (std::size_t i = 0; i < std::size(moments); ++i) *moments[i] = times.at(i).to_number<std::int64_t>();
  one.state = known(kStates, text_of(values.at(8)));
  one.waits_for_client = values.at(9).as_bool();
  one.awaited_event = known(kEvents, text_of(values.at(10)));
  one.progress = decode_progress(values.at(11).as_array());
  one.query_id = values.at(12).to_number<std::int64_t>();
  one.query = text_of(values.at(13));
  const json::array& tls = values.at(14).as_array();
  if (!tls.empty()) {
    one.encryption = EncryptionFacts{text_of(tls.at(0)), text_of(tls.at(1)), tls.at(2).to_number<int>(), text_of(tls.at(3)), text_of(tls.at(4)),
                                     text_of(tls.at(5))};
  }
  return one;
}

}  // namespace

ShownSessions::ShownSessions(const std::vector<SessionStatistics>& sessions) { shown_sessions = &sessions; }
ShownSessions::~ShownSessions() { shown_sessions = nullptr; }

bool ShownSessions::are_wanted_by(std::string_view system_table) {
  return system_table == "pg_stat_activity" || system_table == "pg_stat_ssl" || system_table == "pg_stat_gssapi" ||
         system_table.starts_with("pg_stat_progress_");
}

const std::vector<SessionStatistics>* ShownSessions::current() { return shown_sessions; }

std::string encode_sessions(const std::vector<SessionStatistics>& sessions) {
  json::array all;
  for (const SessionStatistics& one : sessions) all.push_back(encode(one));
  return json::serialize(all);
}

std::vector<SessionStatistics> decode_sessions(std::string_view text) {
  std::vector<SessionStatistics> sessions;
  const json::value all = json::parse(view(text));
  for (const json::value& one : all.as_array()) sessions.push_back(decode(one.as_array()));
  return sessions;
}

}  // namespace redquel::sql
