#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/index_checker.h"
#include "sql/catalog/key_classification.h"
#include "sql/catalog/member_form.h"

namespace redquel::executor {

/// The check of the lists of values that structures keep (sql::StructureKind::lists_values).
class ValueListCheck {
 public:
  ValueListCheck(RedisClient& client, std::shared_ptr<const sql::TableDef> table)
      : client_(client), table_(std::move(table)) {}

  /// Returns the parts of the primary key that the members of a value's set leave out, from the set's key. Values that
  /// their hash hides are looked for in the list; empty if they are not there, so that no member is a row's.
  asio::awaitable<sql::MemberEnds> ends_of_set(std::string key, sql::KeyRole role);

  /// Returns the values of one page of the list that have no key of their own, and moves the cursor ("0": the last page). A list of
  /// another type is a difference of the whole key.
  asio::awaitable<std::vector<IndexDifference>> values_without_set(std::string key, const sql::StructureKind* kind, std::vector<std::int16_t> columns,
                                                                   std::string& cursor);

 private:
  RedisClient& client_;
  std::shared_ptr<const sql::TableDef> table_;
};

}  // namespace redquel::executor
