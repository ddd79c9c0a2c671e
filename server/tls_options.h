#pragma once

#include <CLI/CLI.hpp>

#include "executor/tls/tls_context.h"

namespace redquel::server {

/// Adds the options of a command for TLS to its Redis: --tls-ca, --tls-certificate, --tls-key, --tls-server-name, --tls-no-verify. Parsing
/// writes them into `tls`, which outlives the command line.
void add_tls_options(CLI::App& app, executor::TlsClientSettings& tls);

}  // namespace redquel::server
