// RESP3 of any bytes, in pieces of a size that the first byte gives: values or a ProtocolError, and the same values as in one piece.

#include "executor/memory/resp3_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

using redquel::executor::ProtocolError;
using redquel::executor::Resp3Decoder;
using redquel::executor::Resp3Value;

bool are_equal(const Resp3Value& a, const Resp3Value& b) {
  return a.kind == b.kind && a.text == b.text && a.integer == b.integer && std::ranges::equal(a.children, b.children, are_equal);
}

/// Decodes in pieces. `fails`: the bytes end with what is no RESP3.
std::vector<Resp3Value> decode(std::string_view bytes, std::size_t piece, bool& fails) {
  Resp3Decoder decoder({.bytes = 4096, .values = 100, .depth = 8});
  std::vector<Resp3Value> values;
  fails = false;
  try {
    while (!bytes.empty()) {
      decoder.feed(bytes.substr(0, piece));
      bytes.remove_prefix(std::min(piece, bytes.size()));
      while (std::optional<Resp3Value> value = decoder.next()) values.push_back(*std::move(value));
    }
  } catch (const ProtocolError&) {
    fails = true;
  }
  return values;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || data[0] == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  bool fails = false, fails_in_pieces = false;
  const std::vector<Resp3Value> whole = decode(bytes, bytes.size(), fails), pieces = decode(bytes, data[0], fails_in_pieces);
  if (fails != fails_in_pieces || !std::ranges::equal(whole, pieces, are_equal)) std::abort();
  return 0;
}
