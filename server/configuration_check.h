#pragma once

#include <vector>

#include "server/configuration.h"
#include "server/doctor.h"

namespace redquel::server {

/// Examines a configuration on this machine: the files that it names, the days left of its certificate, memory, descriptors and room for
/// temporary files.
std::vector<Finding> examine_configuration(const Configuration& configuration);

}  // namespace redquel::server
