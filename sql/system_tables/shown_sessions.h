#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/statistics.h"

namespace redquel::sql {

/// The sessions of other redquel processes, which pg_stat_activity and its kin show while this object lives. The executor asks the processes
/// where these tables are read.
class ShownSessions {
 public:
  explicit ShownSessions(const std::vector<SessionStatistics>& sessions);
  ~ShownSessions();
  ShownSessions(const ShownSessions&) = delete;
  ShownSessions& operator=(const ShownSessions&) = delete;

  static bool are_wanted_by(std::string_view system_table);
  /// Returns those of this thread; null: none are shown.
  static const std::vector<SessionStatistics>* current();
};

/// Returns sessions as JSON: the form in which processes exchange them.
std::string encode_sessions(const std::vector<SessionStatistics>& sessions);
/// Returns the sessions of such a text. Throws std::exception for another text.
std::vector<SessionStatistics> decode_sessions(std::string_view json);

}  // namespace redquel::sql
