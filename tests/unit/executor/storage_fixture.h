#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/redis/shared_connection.h"
#include "executor/storage/write_unit.h"
#include "sql/catalog/table_keys.h"
#include "tests/unit/executor/redis_test_server.h"
#include "tests/unit/executor/run_coroutine.h"
#include "tests/unit/sql/table_builder.h"

namespace redquel::executor {

/// A database of a real Redis, empty at the start of each test.
class StorageTest : public ::testing::Test {
 protected:
  StorageTest() { call({"FLUSHALL"}); }
  ~StorageTest() override { connection_.stop(); }

  static ConnectionOptions options() {
    ConnectionOptions options;
    options.url = RedisTestServer::shared().url();
    return options;
  }

  template <typename T>
  T await(boost::asio::awaitable<T> coroutine) {
    return run_coroutine(loop_, std::move(coroutine));
  }
  void await(boost::asio::awaitable<void> coroutine) { run_coroutine(loop_, std::move(coroutine)); }

  RepliesPtr call(const std::vector<std::string>& words) {
    CommandBatch batch;
    batch.begin(words.size());
    for (const std::string& word : words) batch.arg(word);
    RepliesPtr replies = await(connection_.execute(std::move(batch)));
    replies->or_throw();
    return replies;
  }
  /// A reply as text: arrays in brackets, sorted when their order means nothing.
  std::string ask(const std::vector<std::string>& words, bool sorted = false) { return show((*call(words))[0], sorted); }

  static std::string show(const Reply& reply, bool sorted) {
    if (reply.is_nil()) return "nil";
    if (reply.kind == Reply::Kind::integer) return std::to_string(reply.integer);
    if (!reply.is_array()) return printable(reply.text);
    std::vector<std::string> parts;
    for (const Reply& child : reply.children()) parts.push_back(show(child, sorted));
    if (sorted) std::sort(parts.begin(), parts.end());
    return join(parts);
  }
  static std::string printable(std::string_view text) {
    std::string out;
    for (char character : text) out += character == '\0' ? "\\0" : std::string(1, character);
    return out;
  }
  static std::string join(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& part : parts) out += (out.empty() ? "" : " ") + part;
    return out;
  }

  /// Everything that is in Redis under a prefix, key by key: `HASH a=1 b=2`, `SET 1 2`, `ZSET 1@5 2@7`, `STRING x`.
  std::map<std::string, std::string> dump(const std::string& pattern) {
    std::map<std::string, std::string> contents;
    const RepliesPtr keys = call({"KEYS", pattern});
    for (const Reply& reply : keys->array(0)) {
      const std::string key(reply.text);
      const std::string type = ask({"TYPE", key});
      std::string& text = contents[printable(key)];
      if (type == "hash") {
        const RepliesPtr fields = call({"HGETALL", key});
        std::vector<std::string> parts;
        for (std::size_t index = 0; index + 1 < fields->array(0).size(); index += 2) {
          parts.push_back(printable(fields->array(0)[index].text) + "=" + printable(fields->array(0)[index + 1].text));
        }
        std::sort(parts.begin(), parts.end());
        text = "HASH " + join(parts);
      } else if (type == "set") {
        text = "SET " + ask({"SMEMBERS", key}, true);
      } else if (type == "zset") {
        const RepliesPtr members = call({"ZRANGE", key, "0", "-1", "WITHSCORES"});
        std::vector<std::string> parts;
        for (std::size_t index = 0; index + 1 < members->array(0).size(); index += 2) {
          parts.push_back(printable(members->array(0)[index].text) + "@" + std::string(members->array(0)[index + 1].text));
        }
        text = "ZSET " + join(parts);
      } else {
        text = "STRING " + ask({"GET", key});
      }
    }
    return contents;
  }

  /// Makes the table's version the current one.
  std::shared_ptr<const sql::TableDef> publish(sql::TableDef table) {
    call({"HSET", "redquel:versions", std::to_string(table.oid), table.version});
    return std::make_shared<const sql::TableDef>(std::move(table));
  }

  boost::asio::io_context loop_;
  SharedConnection connection_{loop_.get_executor(), options()};
};

}  // namespace redquel::executor
