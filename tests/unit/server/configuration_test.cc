#include "server/configuration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace redquel::server {
namespace {

std::optional<Configuration> read(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "redquel");
  return read_configuration(static_cast<int>(arguments.size()), arguments.data());
}

class ConfigurationFile : public testing::Test {
 protected:
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("redquel_configuration_" + std::to_string(::getpid()) + ".toml");
  ~ConfigurationFile() override { std::filesystem::remove(path); }
  const char* write(std::string_view text) {
    std::ofstream(path) << text;
    name_ = path.string();
    return name_.c_str();
  }

 private:
  std::string name_;
};

TEST(Configuration, WithoutAnythingAnEmbeddedRedis) {
  const Configuration configuration = *read({});
  EXPECT_TRUE(configuration.embedded);
  EXPECT_EQ(configuration.listen, (std::vector<ListenAddress>{{"127.0.0.1", 5433}}));
}

TEST(Configuration, CommandLine) {
  const Configuration configuration = *read({"--listen", "[::1]:0", "--redis", "unix:///tmp/r.sock"});
  EXPECT_EQ(configuration.listen, (std::vector<ListenAddress>{{"::1", 0}}));
  EXPECT_EQ(configuration.redis_url, "unix:///tmp/r.sock");
  EXPECT_FALSE(configuration.embedded);
  EXPECT_THROW(read({"--listen", "127.0.0.1"}), ConfigurationError);
  EXPECT_THROW(read({"--listen", "127.0.0.1:99999"}), ConfigurationError);
  EXPECT_THROW(read({"--embedded", "--redis", "redis://h"}), ConfigurationError);
  EXPECT_THROW(read({"--nix"}), ConfigurationError);
  EXPECT_THROW(read({"--redis", "http://h"}), ConfigurationError);
  EXPECT_THROW(read({"--redis", ""}), ConfigurationError);
}

TEST_F(ConfigurationFile, CommandLineWinsOverFile) {
  const char* file = write(
      "[server]\nlisten = '127.0.0.1:1'\nthreads = 3\n[redis]\nurl = 'redis://h:1/2'\n[limits]\nwork_mem = 1048576\n");
  const Configuration configuration = *read({"--config", file, "--listen", "127.0.0.1:2"});
  EXPECT_EQ(configuration.listen, (std::vector<ListenAddress>{{"127.0.0.1", 2}}));
  EXPECT_EQ(configuration.threads, 3u);
  EXPECT_EQ(configuration.redis_url, "redis://h:1/2");
  EXPECT_EQ(configuration.work_mem, 1048576u);
  EXPECT_FALSE(configuration.embedded);
}

TEST_F(ConfigurationFile, SeveralAddresses) {
  const std::vector<ListenAddress> both = {{"127.0.0.1", 1}, {"::1", 2}};
  EXPECT_EQ(read({"--listen", "127.0.0.1:1", "--listen", "[::1]:2"})->listen, both);
  EXPECT_EQ(read({"--listen", "127.0.0.1:1, [::1]:2"})->listen, both);
  EXPECT_EQ(read({"--config", write("[server]\nlisten = ['127.0.0.1:1', '[::1]:2']")})->listen, both);
  EXPECT_EQ(read({"--config", write("[server]\nlisten = ''")})->listen, std::vector<ListenAddress>{});
}

TEST(ListenAddresses, LoopbackOfAll) {
  EXPECT_EQ(loopback_of(parse_listen_addresses("0.0.0.0:1,[::]:2,*:3,10.0.0.1:4,127.0.0.5:5,[::1]:6,localhost:7")),
            parse_listen_addresses("127.0.0.1:1,[::1]:2,127.0.0.1:3,127.0.0.5:5,[::1]:6,localhost:7"));
}

TEST_F(ConfigurationFile, MistakesAreNamedWithFileAndLine) {
  const std::string file = write("[server]\nthreads = 2\n\n[limits]\nwork_mem = 'much'\n");
  try {
    read({"--config", file.c_str()});
    FAIL();
  } catch (const ConfigurationError& error) {
    EXPECT_EQ(error.what(), file + ":5: limits.work_mem: expected bytes from 65536 to 1099511627776, or a text with a unit, as \"512MB\"");
  }
  const Configuration configuration = *read({"--config", write("\n[tls]\ncertificate = '/c'\n")});
  EXPECT_EQ(std::string(key_error(configuration, "tls.certificate", "is wrong").what()), file + ":3: tls.certificate: is wrong");
}

TEST_F(ConfigurationFile, MistakesAreNamed) {
  for (const char* text : {"nix = 1", "[server]\nthreads = 'a'", "[server]\nthreads = -1", "[server",
                           "[log]\nlevel = 'loud'", "[redis]\nurl = 'h'", "[embedded]\nenabled = true\n[redis]\nurl = 'redis://h'"}) {
    const char* file = write(text);
    EXPECT_THROW(read({"--config", file}), ConfigurationError) << text;
  }
  EXPECT_THROW(read({"--config", "/nonexistent.toml"}), ConfigurationError);
  EXPECT_THROW(read({"--config", "/tmp"}), ConfigurationError);
}

}  // namespace
}  // namespace redquel::server
