#pragma once

#include "sql/counts.h"

namespace redquel::server {

using sql::Count;
using sql::DurationHistogram;

}  // namespace redquel::server
