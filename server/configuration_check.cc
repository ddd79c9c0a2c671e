#include "server/configuration_check.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "executor/tls/certificate_dates.h"
#include "server/machine_memory.h"
#include "server/reload.h"
#include "server/server.h"

namespace redquel::server {

namespace {

using Severity = Finding::Severity;

/// From so many days on a certificate is no longer mentioned.
constexpr long kEarlyDays = 30;
/// Less room for temporary files is mentioned.
constexpr std::uintmax_t kLittleRoom = std::uintmax_t{1} << 30;

void examine_certificate(const executor::TlsContext& tls, std::vector<Finding>& findings) {
  const auto left = executor::certificate_end(tls) - std::chrono::system_clock::now();
  const long days = std::chrono::duration_cast<std::chrono::hours>(left).count() / 24;
  const std::string hint = "Replace tls.certificate, then reload redquel (SIGHUP).";
  if (left.count() < 0) findings.push_back({Severity::kError, "the certificate of tls.certificate has expired", hint});
  else if (days < kEarlyDays) findings.push_back({Severity::kWarning, fmt::format("the certificate of tls.certificate expires in {} days", days), hint});
}

void examine_memory(const Configuration& configuration, std::vector<Finding>& findings) {
  const std::size_t all = machine_memory();
  if (!configuration.memory || *configuration.memory <= all) return;
  findings.push_back({Severity::kWarning, fmt::format("limits.memory is {} MB, and the machine has {} MB", *configuration.memory >> 20, all >> 20),
                      "Set limits.memory to less than the machine or its control group has; Redis needs memory, too."});
}

void examine_descriptors(const Configuration& configuration, std::vector<Finding>& findings) {
  const std::size_t descriptors = raise_descriptor_limit(), possible = possible_connections(descriptors, configuration.max_startups);
  if (possible >= configuration.max_connections) return;
  findings.push_back({Severity::kWarning, fmt::format("{} open files are enough for {} connections, and limits.max_connections is {}", descriptors, possible, configuration.max_connections),
                      "Raise the limit (ulimit -n, LimitNOFILE= of the service), or lower limits.max_connections."});
}

void examine_room(std::vector<Finding>& findings) {
  const char* folder = std::getenv("TMPDIR");
  if (folder == nullptr) folder = "/tmp";
  std::error_code failure;
  const std::filesystem::space_info room = std::filesystem::space(folder, failure);
  if (failure) {
    findings.push_back({Severity::kError, fmt::format("the folder of temporary files, {}, cannot be used: {}", folder, failure.message()), "Set TMPDIR."});
  } else if (room.available < kLittleRoom) {
    findings.push_back({Severity::kWarning, fmt::format("{} MB are left in {}, where sorts and joins put their temporary files", room.available >> 20, folder),
                        "Set TMPDIR to a folder with more room, or limits.temp_file_limit."});
  }
}

}  // namespace

std::vector<Finding> examine_configuration(const Configuration& configuration) {
  std::vector<Finding> findings;
  try {
    const Reloadable reloadable = make_reloadable(configuration);
    if (reloadable.tls) examine_certificate(*reloadable.tls, findings);
  } catch (const ConfigurationError& error) {
    findings.push_back({Severity::kError, error.what()});
  }
  examine_memory(configuration, findings);
  examine_descriptors(configuration, findings);
  examine_room(findings);
  return findings;
}

}  // namespace redquel::server
