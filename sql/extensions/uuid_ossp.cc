// The extension uuid-ossp: UUIDs of the versions 1, 3, 4 and 5 (RFC 4122).

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>

#include "sql/error.h"
#include "sql/extensions/families.h"
#include "sql/functions/lift.h"
#include "sql/functions/random_generator.h"
#include "sql/sqlstate.h"
#include "sql/types/uuid.h"

namespace redquel::sql {
namespace {

/// The namespaces of RFC 4122, appendix C, differ in the last digit of their first field.
Uuid name_space(std::uint8_t last) {
  return {{0x6b, 0xa7, 0xb8, last, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8}};
}
Uuid nil() { return {}; }
Uuid dns_space() { return name_space(0x10); }
Uuid url_space() { return name_space(0x11); }
Uuid oid_space() { return name_space(0x12); }
Uuid x500_space() { return name_space(0x14); }

void set_version(Uuid& uuid, std::uint8_t version) {
  uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0F) | (version << 4));
  uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3F) | 0x80);
}

/// Returns the UUID of a name: the beginning of a digest over the namespace and the name.
Uuid named(const EVP_MD* algorithm, std::uint8_t version, const Uuid& space, std::string_view name) {
  std::string text(reinterpret_cast<const char*>(space.bytes.data()), space.bytes.size());
  text += name;
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  if (EVP_Digest(text.data(), text.size(), digest.data(), nullptr, algorithm, nullptr) != 1) {
    throw SqlError(sqlstate::kInternalError, "could not compute digest");
  }
  Uuid uuid;
  std::copy_n(digest.begin(), uuid.bytes.size(), uuid.bytes.begin());
  set_version(uuid, version);
  return uuid;
}
Uuid version_3(const Uuid& space, Text name) { return named(EVP_md5(), 3, space, name); }
Uuid version_5(const Uuid& space, Text name) { return named(EVP_sha1(), 5, space, name); }

Uuid version_4() {
  Uuid uuid;
  fill_random(uuid.bytes.data(), uuid.bytes.size());
  set_version(uuid, 4);
  return uuid;
}

/// Times of UUIDs of version 1: intervals of 100 ns since 15 October 1582. No two UUIDs of the process have the same time.
class UuidClock {
 public:
  UuidClock() { fill_random(sequence_.data(), sequence_.size()); }

  std::uint64_t next() {
    constexpr std::uint64_t kEpoch = 0x01B2'1DD2'1381'4000;  // 1 January 1970
    using Intervals = std::chrono::duration<std::uint64_t, std::ratio<1, 10'000'000>>;
    const auto now = kEpoch + std::chrono::duration_cast<Intervals>(std::chrono::system_clock::now().time_since_epoch()).count();
    const std::lock_guard lock(mutex_);
    last_ = std::max(now, last_ + 1);
    return last_;
  }
  const std::array<unsigned char, 2>& sequence() const { return sequence_; }

 private:
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::array<unsigned char, 2> sequence_{};
};

using Node = std::array<unsigned char, 6>;

/// Returns a random node with the bit of multicast addresses, which no network card has.
Node random_node() {
  Node node;
  fill_random(node.data(), node.size());
  node[0] |= 1;
  return node;
}

Uuid timed(const Node& node) {
  static UuidClock clock;
  const std::uint64_t time = clock.next();
  Uuid uuid;
  const auto put = [&](std::size_t place, std::size_t count, std::uint64_t value) {
    for (std::size_t i = 0; i < count; ++i) uuid.bytes[place + i] = static_cast<std::uint8_t>(value >> (8 * (count - 1 - i)));
  };
  put(0, 4, time);
  put(4, 2, time >> 32);
  put(6, 2, time >> 48);
  std::ranges::copy(clock.sequence(), uuid.bytes.begin() + 8);
  std::ranges::copy(node, uuid.bytes.begin() + 10);
  set_version(uuid, 1);
  return uuid;
}

/// The node of the process: redquel shows no address of the machine.
Uuid version_1() {
  static const Node node = random_node();
  return timed(node);
}
Uuid version_1_of_any_node() { return timed(random_node()); }

}  // namespace

Extension uuid_ossp_extension() {
  constexpr Volatility kVolatile = Volatility::kVolatile;
  return {.name = "uuid-ossp",
          .version = "1.1",
          .comment = "generate universally unique identifiers (UUIDs)",
          .functions = {
              {scalar<nil>("uuid_nil", {}, kUuid), "uuid_nil"},
              {scalar<dns_space>("uuid_ns_dns", {}, kUuid), "uuid_ns_dns"},
              {scalar<url_space>("uuid_ns_url", {}, kUuid), "uuid_ns_url"},
              {scalar<oid_space>("uuid_ns_oid", {}, kUuid), "uuid_ns_oid"},
              {scalar<x500_space>("uuid_ns_x500", {}, kUuid), "uuid_ns_x500"},
              {scalar<version_1>("uuid_generate_v1", {}, kUuid, kVolatile), "uuid_generate_v1"},
              {scalar<version_1_of_any_node>("uuid_generate_v1mc", {}, kUuid, kVolatile), "uuid_generate_v1mc"},
              {scalar<version_3>("uuid_generate_v3", {kUuid, kText}, kUuid), "uuid_generate_v3", {"namespace", "name"}},
              {scalar<version_4>("uuid_generate_v4", {}, kUuid, kVolatile), "uuid_generate_v4"},
              {scalar<version_5>("uuid_generate_v5", {kUuid, kText}, kUuid), "uuid_generate_v5", {"namespace", "name"}},
          }};
}

}  // namespace redquel::sql
