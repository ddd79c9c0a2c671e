#include "server/rebalance.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <vector>

#include "executor/redis/slot_mover.h"
#include "executor/storage/version_copies.h"
#include "server/configuration.h"
#include "server/reload.h"
#include "server/tls_options.h"
#include "sql/error.h"

namespace redquel::server {

namespace {

namespace asio = boost::asio;
using executor::ClusterSurvey;
using executor::SlotMove;

/// Moves that the plan lists, the largest ones first.
constexpr std::size_t kShownMoves = 20;

std::sig_atomic_t volatile is_interrupted = 0;

/// The slot that moves is completed. A second signal ends the program.
void interrupt(int signal) {
  is_interrupted = 1;
  std::signal(signal, SIG_DFL);
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6); }

const executor::SlotLoad* load_of(const ClusterSurvey& survey, executor::Slot slot) {
  const auto found = std::ranges::find(survey.loads, slot, &executor::SlotLoad::slot);
  return found == survey.loads.end() ? nullptr : &*found;
}

std::uint64_t bytes_of(const ClusterSurvey& survey, executor::Slot slot) {
  const executor::SlotLoad* load = load_of(survey, slot);
  return load == nullptr ? 0 : load->bytes;
}

std::string described(const ClusterSurvey& survey, const SlotMove& move) {
  const executor::SlotLoad* load = load_of(survey, move.slot);
  return fmt::format("slot {}: {} keys, {} MB, {} -> {}", move.slot, load == nullptr ? 0 : load->keys, megabytes(bytes_of(survey, move.slot)),
                     survey.masters[move.from].node.place.address(), survey.masters[move.to].node.place.address());
}

void print_masters(const ClusterSurvey& survey, const std::vector<SlotMove>& moves) {
  std::vector<std::uint64_t> after;
  for (const ClusterSurvey::Master& master : survey.masters) after.push_back(master.bytes);
  for (const SlotMove& move : moves) {
    after[move.from] -= bytes_of(survey, move.slot);
    after[move.to] += bytes_of(survey, move.slot);
  }
  std::printf("%-24s %9s %7s %11s %11s %11s\n", "master", "replicas", "slots", "keys", "MB", "MB after");
  for (std::size_t number = 0; number < survey.masters.size(); ++number) {
    const ClusterSurvey::Master& master = survey.masters[number];
    std::printf("%-24s %9zu %7zu %11llu %11s %11s\n", master.node.place.address().c_str(), master.replicas, master.slots,
                static_cast<unsigned long long>(master.keys), megabytes(master.bytes).c_str(), megabytes(after[number]).c_str());
  }
}

void print_plan(const ClusterSurvey& survey, std::vector<SlotMove> moves) {
  std::ranges::stable_sort(moves, std::greater<>(), [&](const SlotMove& move) { return bytes_of(survey, move.slot); });
  for (std::size_t number = 0; number < std::min(moves.size(), kShownMoves); ++number) std::printf("%s\n", described(survey, moves[number]).c_str());
  if (moves.size() > kShownMoves) std::printf("and %zu smaller ones\n", moves.size() - kShownMoves);
}

/// The moves and their progress. Slots of moves that were broken off come first.
class Rebalance {
 public:
  Rebalance(executor::SlotMover& mover, bool applies) : mover_(mover), applies_(applies) {}

  asio::awaitable<void> run() {
    ClusterSurvey survey = co_await mover_.survey();
    if (survey.slots_without_node > 0) {
      throw sql::SqlError(sqlstate::kObjectNotInPrerequisiteState, fmt::format("{} slots of the cluster have no node", survey.slots_without_node))
          .hint("Run \"redis-cli --cluster fix\".");
    }
    if (!survey.unfinished.empty()) {
      std::printf("%zu %s not complete:\n", survey.unfinished.size(), survey.unfinished.size() == 1 ? "move is" : "moves are");
      print_plan(survey, survey.unfinished);
      if (applies_ && !co_await carry_out(survey, survey.unfinished)) co_return;
      if (applies_) survey = co_await mover_.survey();
    }
    const std::vector<SlotMove> moves = executor::balance_slots(survey.loads, survey.masters.size());
    print_masters(survey, moves);
    print_plan(survey, moves);
    if (moves.empty()) std::printf("no slot has to move\n");
    else if (!applies_) std::printf("redquel rebalance --apply moves %zu slots\n", moves.size());
    else co_await carry_out(survey, moves);
  }

 private:
  /// False: a signal has come.
  asio::awaitable<bool> carry_out(const ClusterSurvey& survey, const std::vector<SlotMove>& moves) {
    std::size_t done = 0;
    for (const SlotMove& move : moves) {
      if (is_interrupted != 0) {
        std::printf("stopped after %zu of %zu slots; run it again for the others\n", done, moves.size());
        co_return false;
      }
      const auto began = std::chrono::steady_clock::now();
      const bool is_terminal = isatty(fileno(stderr)) == 1;
      const auto report = [&](std::uint64_t keys) {
        if (is_terminal) std::fprintf(stderr, "\rslot %d: %llu keys moved ", move.slot, static_cast<unsigned long long>(keys));
      };
      const std::uint64_t keys = co_await mover_.move(survey, move, report);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
      if (is_terminal) std::fprintf(stderr, "\r%40s\r", "");
      std::printf("%zu of %zu: slot %d, %llu keys in %.2f s\n", ++done, moves.size(), move.slot, static_cast<unsigned long long>(keys), taken.count());
      std::fflush(stdout);
    }
    co_return true;
  }

  executor::SlotMover& mover_;
  bool applies_;
};

void rebalance(const Configuration& configuration, bool applies) {
  const executor::ConnectionOptions redis = redis_connection(configuration);
  if (redis.url.cluster.empty()) throw sql::SqlError(sqlstate::kInvalidParameterValue, "redquel rebalance needs a Redis Cluster").hint("Use cluster://host:port.");
  std::set<executor::Slot> table_slots;
  for (const std::string& tag : executor::placement_tags()) table_slots.insert(executor::slot_of(tag));
  asio::io_context context(1);
  executor::SlotMover mover(context.get_executor(), redis.url, executor::current_login(redis), std::move(table_slots));
  Rebalance work(mover, applies);
  std::exception_ptr failure;
  asio::co_spawn(context, work.run(), [&](std::exception_ptr error) { failure = std::move(error); });
  context.run();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

int run_rebalance(int argc, const char* const* argv) {
  constexpr int kFailed = 1, kBadUsage = 2, kStopped = 3;
  CLI::App app("redquel rebalance: shows how the keys of a Redis Cluster lie at its masters, and moves slots until all have about as many bytes", "redquel rebalance");
  Configuration configuration;
  bool applies = false;
  app.add_option("--redis", configuration.redis_url, "the cluster: cluster://[user:password@]host:port,… or rediss+cluster://… (TLS)")->type_name("URL")->required();
  app.add_flag("--apply", applies, "move the slots; without it nothing changes. Ctrl-C completes the slot that moves. A run that was broken off is completed by the next one");
  add_tls_options(app, configuration.redis_tls);
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    std::fprintf(stderr, "redquel rebalance: %s\n", error.what());
    return kBadUsage;
  }
  try {
    configuration.redis_password = environment_password();
    spdlog::set_level(spdlog::level::off);
    use_buckets(configuration);
    std::signal(SIGINT, interrupt);
    std::signal(SIGTERM, interrupt);
    rebalance(configuration, applies);
    return is_interrupted != 0 ? kStopped : 0;
  } catch (const sql::SqlError& error) {
    std::fprintf(stderr, "redquel: %s\n", error.message().c_str());
    if (!error.detail().empty()) std::fprintf(stderr, "DETAIL: %s\n", error.detail().c_str());
    if (!error.hint().empty()) std::fprintf(stderr, "HINT: %s\n", error.hint().c_str());
    return kFailed;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace redquel::server
