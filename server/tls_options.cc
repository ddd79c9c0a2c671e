#include "server/tls_options.h"

#include <filesystem>
#include <string>

namespace redquel::server {

void add_tls_options(CLI::App& app, executor::TlsClientSettings& tls) {
  const auto add_file = [&](const std::string& name, std::filesystem::path& file, const std::string& text) {
    app.add_option_function<std::string>(name, [&file](const std::string& path) { file = path; }, text)->type_name("FILE");
  };
  add_file("--tls-ca", tls.ca, "certificates that vouch for the Redis (the system's)");
  add_file("--tls-certificate", tls.certificate, "certificate of this client");
  add_file("--tls-key", tls.key, "key of this client's certificate");
  app.add_option("--tls-server-name", tls.server_name, "name in the certificate of the Redis (the host of the URL)")->type_name("NAME");
  app.add_flag("!--tls-no-verify", tls.verify, "trust any certificate");
}

}  // namespace redquel::server
