#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "planner/explain/explain.h"

namespace redquel::planner {

/// Returns the result of EXPLAIN (FORMAT JSON, YAML or XML) as one text, laid out as PostgreSQL does it. `top`: "Plan" and the closing times.
std::string formatted(const boost::json::object& top, ExplainOptions::Format format);

}  // namespace redquel::planner
