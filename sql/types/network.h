#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "sql/types/type.h"

namespace redquel::sql {

// inet, cidr, macaddr and macaddr8 (manual 8.9). In memory they are bytes whose memcmp order is the type's order: an
// address is its family, the network, the length of the mask and the whole address; a hardware address its bytes.

struct NetworkAddress {
  bool is_v6 = false;
  int bits = 32;
  std::array<std::uint8_t, 16> bytes{};

  std::size_t size() const { return is_v6 ? 16 : 4; }
  int max_bits() const { return is_v6 ? 128 : 32; }
  /// The address with the bits behind the mask cleared.
  NetworkAddress network() const;

  static NetworkAddress decode(std::string_view bytes);
  std::string encode() const;
};

/// 22P02 `invalid input syntax for type inet: "x"`, `invalid cidr value: "x"`.
std::string parse_network(Oid type, std::string_view text);
void append_network(Oid type, std::string_view bytes, std::string& out);
/// The address alone.
void append_address(const NetworkAddress& address, std::string& out);
/// The binary format: family, bits, is it cidr, size, address. 22P03 where it is none.
std::string read_network(Oid type, std::string_view binary);
std::string write_network(Oid type, std::string_view bytes);

/// Six or eight bytes. 22P02 `invalid input syntax for type macaddr: "x"`.
std::string parse_hardware_address(Oid type, std::string_view text);
void append_hardware_address(std::string_view bytes, std::string& out);

}  // namespace redquel::sql
