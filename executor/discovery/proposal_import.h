#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/engine/redis_engine.h"
#include "sql/discovery/proposal.h"

namespace redquel::executor {

/// Makes the tables of proposals by definition statements. A later proposal replaces what an earlier one has made: what is the same stays,
/// what other objects depend on stays, too.
class ProposalImport {
 public:
  /// The part of a proposal that is made. Empty functions: all of it.
  struct Wanted {
    std::function<bool(const std::string& table)> table = {};
    std::function<bool(const sql::ProposedFramework& framework)> framework = {};
    bool notes_left_out = true;
  };

  /// `schema`: of the tables; empty: public, and schemas of their own for frameworks.
  ProposalImport(RedisEngine& engine, SessionState& session, std::string schema) : engine_(engine), session_(session), schema_(std::move(schema)) {}

  /// Makes all of it or nothing, in the session's transaction or in one of its own. A proposal that does not fit is left out with a NOTICE.
  asio::awaitable<void> run(const sql::Proposal& proposal, Wanted wanted);
  /// Returns the number of tables and frameworks that are there now.
  std::size_t made() const { return made_.size(); }
  /// Returns the keys of the last proposal that have become no table.
  const std::vector<sql::LeftOut>& left_out() const { return left_out_; }

 private:
  /// Objects that are made and dropped together.
  struct Objects {
    std::vector<std::string> definitions, drops;
    std::vector<std::string> without_parents = {};  // definitions if a parent could not be made; empty: there is none
    std::vector<std::string> notes = {};
    sql::LeftOut keys = {};
    bool operator==(const Objects& other) const { return definitions == other.definitions; }
  };
  using ByTitle = std::vector<std::pair<std::string, Objects>>;

  ByTitle objects_of(const sql::Proposal& proposal, const Wanted& wanted) const;
  asio::awaitable<void> replace(ByTitle objects);
  asio::awaitable<std::optional<std::string>> run_all(std::vector<std::string> statements);
  void note(const std::string& text);

  RedisEngine& engine_;
  SessionState& session_;
  std::string schema_;
  std::map<std::string, Objects> made_;
  std::vector<sql::LeftOut> left_out_;
  std::size_t notices_ = 0;
};

}  // namespace redquel::executor
