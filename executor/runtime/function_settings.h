#pragma once

#include <spdlog/spdlog.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/runtime/session_state.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/function_text.h"
#include "sql/error.h"

namespace redquel::executor {

/// While it lives, the SET clauses of a function are in force in the session. Throws what SET throws (42704, 22023).
class FunctionSettings {
 public:
  FunctionSettings(const SessionState& session, const sql::FunctionDef& function) : session_(session) {
    try {
      for (const std::string& setting : sql::function_settings(function)) {
        const std::size_t equals = setting.find('=');
        set(setting.substr(0, equals), setting.substr(equals + 1));
      }
    } catch (...) {
      take_back();
      throw;
    }
  }
  ~FunctionSettings() { take_back(); }
  FunctionSettings(const FunctionSettings&) = delete;
  FunctionSettings& operator=(const FunctionSettings&) = delete;

 private:
  void set(const std::string& name, const std::string& value) {
    if (!session_.set || !session_.show) throw sql::not_supported("a function with SET outside of a session");
    std::optional<std::string> before = session_.show(name);
    session_.set(name, value, session_.transaction != nullptr);
    if (before) before_.emplace_back(name, *std::move(before));
  }
  void take_back() noexcept {
    for (auto setting = before_.rbegin(); setting != before_.rend(); ++setting) {
      try {
        session_.set(setting->first, setting->second, session_.transaction != nullptr);
      } catch (const std::exception& error) {
        spdlog::error("{} keeps the value that a function gave it: {}", setting->first, error.what());
      }
    }
    before_.clear();
  }

  const SessionState& session_;
  std::vector<std::pair<std::string, std::string>> before_;
};

}  // namespace redquel::executor
