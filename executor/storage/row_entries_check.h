#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "executor/redis/client.h"
#include "executor/storage/row_image.h"
#include "executor/storage/stored_row.h"

namespace redquel::executor {

namespace asio = boost::asio;

/// Looks for the index entries of many rows at a time, with one command per key of Redis. Row and entries are read one after the other:
/// what is found is right, what is missing may have changed meanwhile, and is to be looked at again.
class RowEntriesCheck {
 public:
  explicit RowEntriesCheck(RedisClient& client, std::shared_ptr<const sql::TableDef> table);

  /// Members of those rows that do not seem to be there, or to have all of their entries.
  asio::awaitable<std::vector<std::string>> suspects(std::vector<std::string> members);

  /// Rows that were found so far, and entries that they should have, by structure of the encoder.
  std::size_t rows() const { return found_rows_; }
  const std::vector<std::size_t>& entries() const { return entries_; }

 private:
  class Questions;
  void ask_for(const RowImage& image, const Words& words, std::size_t row, Questions& questions);

  RedisClient& client_;
  StoredRows rows_;
  std::shared_ptr<const RowEncoder> encoder_;
  std::size_t found_rows_ = 0;
  std::vector<std::size_t> entries_;
};

/// Two texts of one number.
bool same_score(std::string_view a, std::string_view b);

}  // namespace redquel::executor
