// Network addresses (manual 9.12): inet and cidr with their operators, functions, casts and aggregates.

#include <fmt/format.h>

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/byte_comparison.h"
#include "sql/functions/families.h"
#include "sql/functions/group_states.h"
#include "sql/functions/lift.h"
#include "sql/sqlstate.h"
#include "sql/types/network.h"
#include "sql/types/type_oids.h"

namespace redquel::sql {
namespace {

using Bytes = std::string_view;
using Address = NetworkAddress;

Address read(Bytes bytes) { return Address::decode(bytes); }
std::uint32_t byte_at(const Address& address, std::size_t i) { return address.bytes[i]; }

// ---- containment ----------------------------------------------------------------------------------------------------

/// Returns true if the first `bits` bits are equal.
bool share_network(const Address& a, const Address& b, int bits) {
  Address x = a, y = b;
  x.bits = y.bits = bits;
  return a.is_v6 == b.is_v6 && x.network().bytes == y.network().bytes;
}
bool contains(Bytes outer, Bytes inner, bool strictly) {
  const Address a = read(outer), b = read(inner);
  return a.is_v6 == b.is_v6 && (strictly ? a.bits < b.bits : a.bits <= b.bits) && share_network(a, b, a.bits);
}
bool overlaps(Bytes left, Bytes right) {
  const Address a = read(left), b = read(right);
  return share_network(a, b, std::min(a.bits, b.bits));
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------

void invert(Bytes bytes, std::string& out) {
  Address result = read(bytes);
  for (std::size_t i = 0; i < result.size(); ++i) result.bytes[i] = static_cast<std::uint8_t>(~byte_at(result, i));
  out = result.encode();
}

template <bool conjunction>
void combine(Bytes left, Bytes right, std::string& out) {
  const Address a = read(left), b = read(right);
  if (a.is_v6 != b.is_v6) {
    throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("cannot {} inet values of different sizes", conjunction ? "AND" : "OR"));
  }
  Address result = a;
  result.bits = std::max(a.bits, b.bits);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint32_t byte = conjunction ? byte_at(a, i) & byte_at(b, i) : byte_at(a, i) | byte_at(b, i);
    result.bytes[i] = static_cast<std::uint8_t>(byte);
  }
  out = result.encode();
}

void add(Bytes bytes, std::int64_t amount, std::string& out) {
  Address result = read(bytes);
  std::int64_t carry = 0;
  for (std::size_t i = result.size(); i-- > 0;) {
    carry += result.bytes[i] + (amount & 0xFF);
    result.bytes[i] = static_cast<std::uint8_t>(carry & 0xFF);
    carry >>= 8;
    amount >>= 8;  // keeps the sign
  }
  // The rest must be zero; for a negative amount, its sign with the carry.
  const bool fits = (amount == 0 && carry == 0) || (amount == -1 && carry == 1);
  if (!fits) throw SqlError(sqlstate::kNumericValueOutOfRange, "result is out of range");
  out = result.encode();
}
void subtract_number(Bytes bytes, std::int64_t amount, std::string& out) {
  add(bytes, amount == INT64_MIN ? amount : -amount, out);  // PostgreSQL negates in 64 bits
}

std::int64_t subtract(Bytes left, Bytes right) {
  const Address a = read(left), b = read(right);
  if (a.is_v6 != b.is_v6) throw SqlError(sqlstate::kInvalidParameterValue, "cannot subtract inet values of different sizes");
  Int128 difference = 0;
  int carry = 1;  // a + ~b + 1, byte by byte; the upper bytes must only repeat the sign
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = a.size(); i-- > 0;) {
    carry += a.bytes[i] + static_cast<std::uint8_t>(~byte_at(b, i));
    bytes[i] = static_cast<std::uint8_t>(carry & 0xFF);
    carry >>= 8;
  }
  difference = carry == 0 ? -1 : 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference = difference * 256 + bytes[i];
    if (difference < INT64_MIN || difference > INT64_MAX) throw SqlError(sqlstate::kNumericValueOutOfRange, "result is out of range");
  }
  return static_cast<std::int64_t>(difference);
}

// ---- functions ------------------------------------------------------------------------------------------------------

void host(Bytes bytes, std::string& out) { append_address(read(bytes), out); }
void with_mask(Bytes bytes, std::string& out) { append_network(oid::kCidr, bytes, out); }
void abbreviated(Bytes bytes, std::string& out) { append_network(oid::kInet, bytes, out); }

/// Zero words of an IPv6 address that are printed as "::".
struct ZeroWords {
  int first = 0, count = 0;
};

/// Returns the longest run among the first words as PostgreSQL counts it: the words of a run that is not longer than the
/// longest one so far count for the next run, too.
ZeroWords zero_words(const Address& network, int words) {
  ZeroWords longest, run;
  for (int i = 0; i <= words; ++i) {
    const auto at = static_cast<std::size_t>(2 * i);
    if (i < words && (byte_at(network, at) | byte_at(network, at + 1)) == 0) {
      if (run.count++ == 0) run.first = i;
    } else if (run.count > longest.count) {
      longest = run;
      run = {};
    }
  }
  return longest;
}

/// Prints only the words that the network needs: 2001:db8/32. What looks like an IPv4 address ends with octets.
void append_needed_words(const Address& address, std::string& out) {
  if (address.bits == 0) {
    out += "::/0";
    return;
  }
  const Address network = address.network();
  const auto byte = [&](int i) { return byte_at(network, static_cast<std::size_t>(i)); };
  const int words = std::max(2, (address.bits + 15) / 16);
  const ZeroWords zeros = zero_words(network, words);
  const bool is_mapped = zeros.count == 5 && byte(10) == 0xFF && byte(11) == 0xFF;
  const bool is_short = zeros.count == 7 && byte(14) != 0 && byte(15) != 1;
  const bool is_v4 = zeros.count != words && zeros.first == 0 && (zeros.count == 6 || is_mapped || is_short);
  const std::size_t begin = out.size();
  for (int word = 0; word < words; ++word) {
    if (word >= zeros.first && word < zeros.first + zeros.count) {
      if (word == zeros.first) out += ':';
      if (word == words - 1) out += ':';
    } else if (is_v4 && word > 5) {
      out += fmt::format("{}{}", word == 6 ? ':' : '.', byte(2 * word));
      if (word != 7 || address.bits > 120) out += fmt::format(".{}", byte(2 * word + 1));
    } else {
      out += fmt::format("{}{:x}", out.size() > begin ? ":" : "", byte(2 * word) * 256 + byte(2 * word + 1));
    }
  }
  out += fmt::format("/{}", address.bits);
}

/// Prints only the octets that the network needs: 10.1/16.
void abbreviated_network(Bytes bytes, std::string& out) {
  const Address address = read(bytes);
  if (address.is_v6) return append_needed_words(address, out);
  const int octets = std::max(1, (address.bits + 7) / 8);
  for (int i = 0; i < octets; ++i) out += fmt::format("{}{}", i > 0 ? "." : "", address.bytes[static_cast<std::size_t>(i)]);
  out += fmt::format("/{}", address.bits);
}

void network(Bytes bytes, std::string& out) { out = read(bytes).network().encode(); }

/// All ones up to the mask, or behind it.
template <bool behind>
Address mask_of(const Address& address) {
  Address mask = address;
  mask.bytes.fill(0xFF);
  if (!behind) return mask.network();
  const Address front = mask.network();
  for (std::size_t i = 0; i < mask.size(); ++i) mask.bytes[i] = static_cast<std::uint8_t>(~byte_at(front, i));
  return mask;
}
template <bool behind>
void mask(Bytes bytes, std::string& out) {
  Address result = mask_of<behind>(read(bytes));
  result.bits = result.max_bits();
  for (std::size_t i = result.size(); i < 16; ++i) result.bytes[i] = 0;
  out = result.encode();
}
void broadcast(Bytes bytes, std::string& out) {
  Address result = read(bytes);
  const Address ones = mask_of<true>(result);
  for (std::size_t i = 0; i < result.size(); ++i) result.bytes[i] = static_cast<std::uint8_t>(byte_at(result, i) | byte_at(ones, i));
  out = result.encode();
}

template <bool clears>
void set_mask_length(Bytes bytes, Int bits, std::string& out) {
  Address result = read(bytes);
  if (bits == -1) bits = result.max_bits();
  if (bits < 0 || bits > result.max_bits()) throw SqlError(sqlstate::kInvalidParameterValue, fmt::format("invalid mask length: {}", bits));
  result.bits = bits;
  out = (clears ? result.network() : result).encode();
}

void merge(Bytes left, Bytes right, std::string& out) {
  Address a = read(left);
  const Address b = read(right);
  if (a.is_v6 != b.is_v6) throw SqlError(sqlstate::kInvalidParameterValue, "cannot merge addresses from different families");
  int bits = std::min(a.bits, b.bits);
  while (!share_network(a, b, bits)) --bits;
  a.bits = bits;
  out = a.network().encode();
}

}  // namespace

std::vector<ScalarFunction> network_functions() {
  std::vector<ScalarFunction> table = {
      scalar<[](Bytes a, Bytes b) { return contains(b, a, true); }>("<<", {kInet, kInet}, kBool),
      scalar<[](Bytes a, Bytes b) { return contains(b, a, false); }>("<<=", {kInet, kInet}, kBool),
      scalar<[](Bytes a, Bytes b) { return contains(a, b, true); }>(">>", {kInet, kInet}, kBool),
      scalar<[](Bytes a, Bytes b) { return contains(a, b, false); }>(">>=", {kInet, kInet}, kBool),
      scalar<overlaps>("&&", {kInet, kInet}, kBool),
      scalar<invert>("~", {kInet}, kInet),
      scalar<combine<true>>("&", {kInet, kInet}, kInet),
      scalar<combine<false>>("|", {kInet, kInet}, kInet),
      scalar<add>("+", {kInet, kInt8}, kInet),
      scalar<[](std::int64_t amount, Bytes bytes, std::string& out) { add(bytes, amount, out); }>("+", {kInt8, kInet}, kInet),
      scalar<subtract_number>("-", {kInet, kInt8}, kInet),
      scalar<subtract>("-", {kInet, kInet}, kInt8),
      scalar<abbreviated>("abbrev", {kInet}, kText),
      scalar<abbreviated_network>("abbrev", {kCidr}, kText),
      scalar<broadcast>("broadcast", {kInet}, kInet),
      scalar<[](Bytes bytes) { return read(bytes).is_v6 ? Int{6} : Int{4}; }>("family", {kInet}, kInt4),
      scalar<host>("host", {kInet}, kText),
      scalar<mask<true>>("hostmask", {kInet}, kInet),
      scalar<[](Bytes bytes) { return Int{read(bytes).bits}; }>("masklen", {kInet}, kInt4),
      scalar<mask<false>>("netmask", {kInet}, kInet),
      scalar<network>("network", {kInet}, kCidr),
      scalar<set_mask_length<false>>("set_masklen", {kInet, kInt4}, kInet),
      scalar<set_mask_length<true>>("set_masklen", {kCidr, kInt4}, kCidr),
      scalar<with_mask>("text", {kInet}, kText),
      scalar<[](Bytes a, Bytes b) { return read(a).is_v6 == read(b).is_v6; }>("inet_same_family", {kInet, kInet}, kBool),
      scalar<merge>("inet_merge", {kInet, kInet}, kCidr),
  };
  for (const Type type : {kInet, kMacaddr, kMacaddr8}) {
    append_byte_comparisons(table, type);
  }
  return table;
}

std::vector<CastFunction> network_casts() {
  constexpr auto kImplicit = CastContext::kImplicit, kAssignment = CastContext::kAssignment;
  constexpr auto widen = [](Bytes bytes, std::string& out) {
    out.append(bytes.substr(0, 3)).append("\xFF\xFE").append(bytes.substr(3));
  };
  constexpr auto narrow = [](Bytes bytes, std::string& out) {
    if (bytes.substr(3, 2) != "\xFF\xFE") {
      throw SqlError(sqlstate::kNumericValueOutOfRange, "macaddr8 data out of range to convert to macaddr")
          .hint("Only addresses that have FF and FE as values in the 4th and 5th bytes from the left, for example "
                "xx:xx:xx:ff:fe:xx:xx:xx, are eligible to be converted from macaddr8 to macaddr.");
    }
    out.append(bytes.substr(0, 3)).append(bytes.substr(5));
  };
  std::vector<CastFunction> table = {
      {oid::kCidr, oid::kInet, kImplicit, nullptr},
      cast<network>(kInet, kCidr, kAssignment),
      cast<widen>(kMacaddr, kMacaddr8, kImplicit),
      cast<narrow>(kMacaddr8, kMacaddr, kImplicit),
  };
  for (const Type text : {kText, kVarchar, kBpchar, kCitext}) {
    table.push_back(cast<with_mask>(kInet, text, kAssignment));
    table.push_back(cast<with_mask>(kCidr, text, kAssignment));
  }
  return table;
}

std::vector<AggregateFunction> network_aggregates() {
  return {aggregate<Bytes, ExtremeBytes<false>>("min", kInet, kInet), aggregate<Bytes, ExtremeBytes<true>>("max", kInet, kInet)};
}

std::vector<ScalarFunction> hardware_address_functions() {
  std::vector<ScalarFunction> table;
  for (const Type type : {kMacaddr, kMacaddr8}) {
    table.push_back(scalar<[](Bytes bytes, std::string& out) {
      for (const char c : bytes) out.push_back(static_cast<char>(~c));
    }>("~", {type}, type));
    table.push_back(scalar<[](Bytes a, Bytes b, std::string& out) {
      for (std::size_t i = 0; i < a.size(); ++i) out.push_back(static_cast<char>(a[i] & b[i]));
    }>("&", {type, type}, type));
    table.push_back(scalar<[](Bytes a, Bytes b, std::string& out) {
      for (std::size_t i = 0; i < a.size(); ++i) out.push_back(static_cast<char>(a[i] | b[i]));
    }>("|", {type, type}, type));
    table.push_back(scalar<[](Bytes bytes, std::string& out) {
      out.append(bytes.substr(0, 3)).append(bytes.size() - 3, '\0');  // the manufacturer
    }>("trunc", {type}, type));
  }
  table.push_back(scalar<[](Bytes bytes, std::string& out) {
    out = bytes;
    out[0] = static_cast<char>(out[0] | 0x02);
  }>("macaddr8_set7bit", {kMacaddr8}, kMacaddr8));
  return table;
}

}  // namespace redquel::sql
