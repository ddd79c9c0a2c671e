#include "server/status/health.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>

#include "server/configuration.h"

namespace redquel::server {

namespace {

namespace http = boost::beast::http;
using asio::ip::tcp;

constexpr auto kWait = std::chrono::seconds(3);

/// Returns the status and the body of a page. Throws if there is no answer in time.
std::pair<unsigned, std::string> fetch(const ListenAddress& address, const std::string& target) {
  asio::io_context context;
  boost::beast::tcp_stream stream(context);
  boost::beast::flat_buffer buffer;
  http::response<http::string_body> response;
  http::request<http::empty_body> request{http::verb::get, target, 11};
  request.set(http::field::host, "localhost");
  request.keep_alive(false);
  boost::system::error_code failure;
  stream.expires_after(kWait);
  const std::string host = address.host == "*" || address.host == "0.0.0.0" ? "127.0.0.1" : address.host == "::" ? "::1" : address.host;
  stream.async_connect(tcp::resolver(context).resolve(host, std::to_string(address.port)), [&](auto connected, const auto&) {
    if ((failure = connected)) return;
    http::async_write(stream, request, [&](auto written, std::size_t) {
      if ((failure = written)) return;
      http::async_read(stream, buffer, response, [&](auto read, std::size_t) { failure = read; });
    });
  });
  context.run();
  if (failure) throw boost::system::system_error(failure);
  return {response.result_int(), response.body()};
}

}  // namespace

int run_health(int argc, const char* const* argv) {
  constexpr int kFailed = 1, kBadUsage = 2;
  CLI::App app("redquel health: asks a running redquel whether it is alive, or ready for clients", "redquel health");
  std::string address, file = "/etc/redquel/redquel.toml";
  bool ready = false;
  app.add_flag("--ready", ready, "whether clients should connect, instead of whether the process turns");
  app.add_option("--status", address, "the address of status.listen; otherwise the configuration file's")->type_name("HOST:PORT");
  app.add_option("--config", file, "the configuration file that has status.listen")->type_name("FILE");
  try {
    app.parse(argc - 1, argv + 1);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "redquel health: %s\n", error.what());
    return kBadUsage;
  }
  try {
    Configuration configuration;
    if (!address.empty()) configuration.status_listen = parse_listen_addresses(address);
    else if (std::filesystem::exists(file)) read_configuration_file(file, configuration);
    if (configuration.status_listen.empty()) throw ConfigurationError("no address: give --status or set status.listen");
    const auto [status, body] = fetch(configuration.status_listen.front(), ready ? "/health/ready" : "/health/live");
    std::fputs(body.c_str(), stdout);
    return status == 200 ? 0 : kFailed;
  } catch (const ConfigurationError& error) {
    std::fprintf(stderr, "redquel health: %s\n", error.what());
    return kBadUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "redquel health: no answer: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace redquel::server
