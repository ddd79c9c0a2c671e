// Rule files of any bytes: each line is a rule or an error. A file that names files reads itself.

#include <cstdint>
#include <cstdlib>

#include "server/authentication/host_rule.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace redquel;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const server::RuleFileReader read = [&](const std::filesystem::path&) { return std::string(text.substr(0, text.find('\n'))); };
  const std::vector<server::RuleLine> lines = server::split_rule_lines(text, "pg_hba.conf", read);
  const std::vector<server::ParsedHostRule> rules = server::parse_host_rules(lines, true);
  for (const server::ParsedHostRule& parsed : rules) {
    if (!parsed.rule && parsed.error.empty()) std::abort();
    if (parsed.rule) server::options_of(*parsed.rule);
  }
  return rules.size() == lines.size() ? 0 : (std::abort(), 0);
}
