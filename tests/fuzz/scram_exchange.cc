// The messages of a SCRAM client, of any bytes: they end in a SqlError or a wrong proof. No input is a right proof.

#include "server/authentication/scram_exchange.h"

#include <cstdint>
#include <cstdlib>

#include "sql/error.h"

namespace {

const redquel::sql::ScramVerifier& verifier() {
  static const auto kVerifier = redquel::sql::parse_scram_verifier(
      "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");
  return kVerifier.value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redquel;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.empty()) return 0;
  const bool binds_channel = (input[0] & 1) != 0;
  input.remove_prefix(1);
  const std::size_t end = std::min(input.find('\n'), input.size());
  try {
    server::ScramExchange exchange({.verifier = verifier(), .server_end_point = "server end point", .nonce = "3rfcNHYJY1ZVvWVs7j"});
    exchange.select(binds_channel ? "SCRAM-SHA-256-PLUS" : "SCRAM-SHA-256");
    exchange.answer_first(input.substr(0, end));
    if (end == input.size()) return 0;
    if (exchange.answer_final(input.substr(end + 1))) std::abort();
  } catch (const sql::SqlError& error) {
    if (error.sqlstate().size() != 5) std::abort();
  }
  return 0;
}
