#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sql/datum.h"
#include "sql/session_settings.h"

namespace redquel::sql {

class CatalogSnapshot;
class RandomGenerator;
struct RelationSizes;

/// A row of pg_settings; empty texts are NULL where PostgreSQL has none.
struct RunTimeParameter {
  std::string name, setting, unit, category, description;
  std::string context, type, source;      // "user", "integer", "default"
  std::string minimum, maximum, choices;  // choices: {on,off}
  std::string boot_value, reset_value;
};

/// The environment of an expression. One per running statement; everything it points to outlives it.
struct EvaluationContext {
  const SessionSettings* settings = nullptr;
  /// Values of $1, $2, … (index 0 is $1), then of the slots that the planner added (correlated columns, scalar subqueries).
  std::vector<Datum> parameters;
  /// The number of leading parameters that the client has bound, if one of them is NULL; else 0. Beside such a NULL a strict call computes
  /// no other argument.
  std::size_t known_parameters = 0;
  std::int64_t transaction_timestamp = 0;  // now(): µs since 2000-01-01 UTC
  std::int64_t statement_timestamp = 0;
  std::string user = "postgres";
  std::int32_t trigger_depth = 0;  // of triggers that run
  std::string database = "postgres";
  std::vector<std::string> databases;  // of this Redis, for pg_database; asked for where that is read
  std::vector<std::string> search_path = {"public"};
  std::int32_t backend_pid = 0;
  const CatalogSnapshot* catalog = nullptr;
  const RelationSizes* sizes = nullptr;  // for pg_relation_size() and its like; null: they have not been loaded
  /// The session's random(), setseed(); null: one of the thread.
  RandomGenerator* random = nullptr;
  /// pg_sleep(): what the run has to wait for, in microseconds, before its next rows go out.
  mutable std::int64_t sleep = 0;
  /// Values of run-time parameters by lower-case name, for current_setting(); valid until the next call.
  const std::string* (*show)(const void* session, const std::string& name) = nullptr;
  /// All of them, for pg_settings; null: none are told.
  std::vector<RunTimeParameter> (*run_time_parameters)(const void* session) = nullptr;
  const void* session = nullptr;
};

}  // namespace redquel::sql
