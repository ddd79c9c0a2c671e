#pragma once

#include <string_view>

// The SQLSTATEs that only routines raise. sqlstate.h has the others.
namespace redquel::sqlstate {

inline constexpr std::string_view kStackedDiagnosticsWithoutHandler = "0Z002";
inline constexpr std::string_view kCaseNotFound = "20000";
inline constexpr std::string_view kErrorInAssignment = "22005";
inline constexpr std::string_view kInvalidTransactionTermination = "2D000";
inline constexpr std::string_view kFunctionExecutedNoReturn = "2F005";
inline constexpr std::string_view kTriggerProtocolViolated = "39P01";
inline constexpr std::string_view kRaiseException = "P0001";
inline constexpr std::string_view kNoDataFound = "P0002";
inline constexpr std::string_view kTooManyRows = "P0003";
inline constexpr std::string_view kAssertFailure = "P0004";

}  // namespace redquel::sqlstate
