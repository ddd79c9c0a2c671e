#include "sql/types/network.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/sqlstate.h"
#include "sql/types/structured_index.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

constexpr char kV4 = 2, kV6 = 3;  // PostgreSQL's numbers of the families

SqlError invalid_syntax(Oid type, std::string_view text) {
  return invalid_text_of(type_info(type).name, text);
}

/// All of the text as a number of at most three digits.
std::optional<int> small_number(std::string_view text) {
  int number = 0;
  if (text.empty() || text.size() > 3 || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// One to four octets; the number of those written, or nullopt.
std::optional<int> read_octets(std::string_view text, NetworkAddress& address) {
  int count = 0;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::optional<int> octet = small_number(text.substr(0, dot));
    if (!octet || *octet > 255 || count == 4) return std::nullopt;
    address.bytes[static_cast<std::size_t>(count++)] = static_cast<std::uint8_t>(*octet);
    if (dot == std::string_view::npos) return count;
    text.remove_prefix(dot + 1);
  }
}

/// The mask of a cidr value that has none: that of the address's class, or wider where more octets are written.
int class_bits(const NetworkAddress& address, int octets) {
  const int first = address.bytes[0];
  if (first == 224 && octets == 1) return 4;
  const int bits = first >= 240 ? 32 : first >= 224 ? 8 : first >= 192 ? 24 : first >= 128 ? 16 : 8;
  return std::max(bits, octets * 8);
}

std::optional<NetworkAddress> read_address(Oid type, std::string_view text) {
  NetworkAddress address;
  const std::size_t slash = text.find('/');
  std::optional<int> written;
  if (slash != std::string_view::npos && !(written = small_number(text.substr(slash + 1)))) return std::nullopt;
  const std::string_view host = text.substr(0, slash);
  if (text.find(':') != std::string_view::npos) {
    address.is_v6 = true;
    if (inet_pton(AF_INET6, std::string(host).c_str(), address.bytes.data()) != 1) return std::nullopt;
    address.bits = written.value_or(128);
    return address.bits <= 128 ? std::optional(address) : std::nullopt;
  }
  const std::optional<int> octets = read_octets(host, address);
  if (!octets) return std::nullopt;
  if (type == oid::kCidr) {
    address.bits = written.value_or(class_bits(address, *octets));
  } else {
    // Fewer octets than four need a mask that does not go beyond them.
    if (!written && *octets < 4) return std::nullopt;
    address.bits = written.value_or(32);
    if (address.bits / 8 > *octets) return std::nullopt;
  }
  return address.bits <= 32 ? std::optional(address) : std::nullopt;
}

}  // namespace

NetworkAddress NetworkAddress::network() const {
  NetworkAddress result = *this;
  for (int bit = bits; bit < max_bits(); ++bit) {
    std::uint8_t& byte = result.bytes[static_cast<std::size_t>(bit / 8)];
    byte = static_cast<std::uint8_t>(byte & ~(0x80U >> bit % 8));
  }
  return result;
}

NetworkAddress NetworkAddress::decode(std::string_view bytes) {
  NetworkAddress address;
  address.is_v6 = bytes[0] == kV6;
  address.bits = static_cast<unsigned char>(bytes[1 + address.size()]);
  std::memcpy(address.bytes.data(), bytes.data() + 2 + address.size(), address.size());
  return address;
}

std::string NetworkAddress::encode() const {
  const NetworkAddress masked = network();
  std::string result(1, is_v6 ? kV6 : kV4);
  result.append(reinterpret_cast<const char*>(masked.bytes.data()), size());
  result.push_back(static_cast<char>(bits));
  result.append(reinterpret_cast<const char*>(bytes.data()), size());
  return result;
}

std::string parse_network(Oid type, std::string_view text) {
  const std::optional<NetworkAddress> address = read_address(type, text);
  if (!address) throw invalid_syntax(type, text);
  if (type == oid::kCidr && address->network().bytes != address->bytes) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, fmt::format("invalid cidr value: \"{}\"", text))
        .detail("Value has bits set to right of mask.");
  }
  return address->encode();
}

void append_address(const NetworkAddress& address, std::string& out) {
  char buffer[INET6_ADDRSTRLEN];
  inet_ntop(address.is_v6 ? AF_INET6 : AF_INET, address.bytes.data(), buffer, sizeof buffer);
  out += buffer;
}

void append_network(Oid type, std::string_view bytes, std::string& out) {
  const NetworkAddress address = NetworkAddress::decode(bytes);
  append_address(address, out);
  if (type == oid::kCidr || address.bits != address.max_bits()) out += fmt::format("/{}", address.bits);
}

std::string read_network(Oid type, std::string_view binary) {
  const auto invalid = [&](std::string_view what) {
    return SqlError(sqlstate::kInvalidBinaryRepresentation, fmt::format("invalid {} in external \"{}\" value", what, type_info(type).name));
  };
  if (binary.size() < 4) throw insufficient_message_data();
  NetworkAddress address;
  if (binary[0] != kV4 && binary[0] != kV6) throw invalid("address family");
  address.is_v6 = binary[0] == kV6;
  address.bits = static_cast<unsigned char>(binary[1]);
  if (address.bits > address.max_bits()) throw invalid("bits");
  if (static_cast<unsigned char>(binary[3]) != address.size()) throw invalid("length");
  if (binary.size() != 4 + address.size()) throw insufficient_message_data();
  std::memcpy(address.bytes.data(), binary.data() + 4, address.size());
  if (type == oid::kCidr && address.network().bytes != address.bytes) {
    throw SqlError(sqlstate::kInvalidBinaryRepresentation, "invalid external \"cidr\" value").detail("Value has bits set to right of mask.");
  }
  return address.encode();
}

std::string write_network(Oid type, std::string_view bytes) {
  const NetworkAddress address = NetworkAddress::decode(bytes);
  std::string result = {bytes[0], static_cast<char>(address.bits), type == oid::kCidr ? '\1' : '\0',
                        static_cast<char>(address.size())};
  return result.append(reinterpret_cast<const char*>(address.bytes.data()), address.size());
}

std::string parse_hardware_address(Oid type, std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  std::string bytes;
  char separator = '\0';
  std::size_t group = 0, first_group = 0;  // bytes since the last separator, and of the first group
  for (std::size_t at = 0; at < rest.size();) {
    const char c = rest[at];
    if (c == ':' || c == '-' || c == '.') {
      if (separator != '\0' && separator != c) throw invalid_syntax(type, text);
      const bool even = first_group == 0 || group == first_group || type == oid::kMacaddr8;
      if (group == 0 || !even) throw invalid_syntax(type, text);
      separator = c;
      first_group = group;
      group = 0;
      ++at;
      continue;
    }
    unsigned int byte = 0;
    const std::size_t most = std::min<std::size_t>(2, rest.size() - at);
    const auto [end, error] = std::from_chars(rest.data() + at, rest.data() + at + most, byte, 16);
    const std::size_t digits = static_cast<std::size_t>(end - rest.data()) - at;
    // One digit is a byte where a separator stands behind each.
    if (error != std::errc() || (digits == 1 && type == oid::kMacaddr8)) throw invalid_syntax(type, text);
    bytes.push_back(static_cast<char>(byte));
    ++group;
    at += digits;
  }
  if (separator != '\0' && group != first_group && type == oid::kMacaddr) throw invalid_syntax(type, text);
  const bool fits = bytes.size() == 6 || (type == oid::kMacaddr8 && bytes.size() == 8);
  const bool grouped = type == oid::kMacaddr8 || separator == '\0' || first_group == 1 ||
                       (separator == '.' ? first_group == 2 : first_group == 3 || (separator == '-' && first_group == 2));
  if (!fits || !grouped) throw invalid_syntax(type, text);
  if (type == oid::kMacaddr8 && bytes.size() == 6) bytes.insert(3, "\xFF\xFE");
  return bytes;
}

void append_hardware_address(std::string_view bytes, std::string& out) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out.push_back(':');
    fmt::format_to(std::back_inserter(out), "{:02x}", static_cast<unsigned char>(bytes[i]));
  }
}

namespace {

template <Oid address>
struct AddressType : StoredAs<std::string_view> {
  static constexpr bool kIsKeptAsText = false;
  static std::string parse(const TextInput& input) { return parse_network(address, input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_network(address, value, out); }
  static void append_as_text(Value value, std::string& out) { append_network(oid::kCidr, value, out); }  // always with its mask
  static std::string decode(Type, BinaryReader& reader) { return read_network(address, reader.rest()); }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) { out += write_network(address, value); }
  static std::string ordered_bytes(Type, Value value) { return hexadecimal_bytes(value); }
  static std::uint64_t postgres_hash(Type type, Value value, HashSeed seed) {
    // Family, bits, address: the wire has two bytes more.
    std::string bytes = binary_of<AddressType>(type, value);
    return hash_bytes(bytes.erase(2, 2), seed.value);
  }
};

template <Oid address>
struct HardwareAddressType : StoredAs<std::string_view> {
  static constexpr bool kIsKeptAsText = false;
  static std::string parse(const TextInput& input) { return parse_hardware_address(address, input.text); }
  static void format(Type, Value value, const SessionSettings&, std::string& out) { append_hardware_address(value, out); }
  static std::string decode(Type, BinaryReader& reader) {
    if (address == oid::kMacaddr) return std::string(reader.take(6));
    std::string bytes(reader.rest());
    if (bytes.size() == 6) bytes.insert(3, "\xFF\xFE");
    if (bytes.size() != 8) throw insufficient_message_data();
    return bytes;
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) { out += value; }
  static std::uint64_t postgres_hash(Type, Value value, HashSeed seed) { return hash_bytes(value, seed.value); }
};

}  // namespace

std::span<const TypeRow> network_types() {
  static constexpr TypeRow kRows[] = {
      type_row<AddressType<oid::kCidr>>({.oid = oid::kCidr, .name = "cidr", .category = kNetworkCategory, .array = oid::kCidrArray,
                                         .operators = oid::kInet},
                                        {"cidr_in", "cidr_out", "cidr_send"}),
      type_row<HardwareAddressType<oid::kMacaddr8>>({.oid = oid::kMacaddr8, .name = "macaddr8", .length = 8, .array = oid::kMacaddr8Array},
                                                    {"macaddr8_in", "macaddr8_out", "macaddr8_send", "hashmacaddr8", "hashmacaddr8extended"},
                                                    {"macaddr8_cmp"}),
      type_row<HardwareAddressType<oid::kMacaddr>>({.oid = oid::kMacaddr, .name = "macaddr", .length = 6, .array = oid::kMacaddrArray},
                                                   {"macaddr_in", "macaddr_out", "macaddr_send", "hashmacaddr", "hashmacaddrextended"},
                                                   {"macaddr_cmp"}),
      type_row<AddressType<oid::kInet>>({.oid = oid::kInet, .name = "inet", .category = kNetworkCategory, .preferred = true,
                                         .array = oid::kInetArray},
                                        {"inet_in", "inet_out", "inet_send", "hashinet", "hashinetextended"},
                                        {"network_cmp", "network_larger", "network_smaller"}),
  };
  return kRows;
}

}  // namespace redquel::sql
