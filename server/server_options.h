#pragma once

#include "server/configuration.h"
#include "server/server.h"

namespace redquel::server {

/// Returns the options of the server that the configuration describes. It handles signals. Throws ConfigurationError.
ServerOptions server_options_of(const Configuration& configuration);

}  // namespace redquel::server
