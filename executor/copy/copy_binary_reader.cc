#include "executor/copy/copy_binary_reader.h"

#include <fmt/format.h>

#include "executor/copy/bad_copy_data.h"
#include "sql/error.h"

namespace redquel::executor {

using sql::SqlError;

namespace {

constexpr std::string_view kSignature("PGCOPY\n\377\r\n\0", 11);
/// A field that is announced longer is not believed.
constexpr std::int32_t kFieldBytes = 256 << 20;


std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

}  // namespace

void CopyBinaryReader::append(std::string_view bytes) {
  data_.erase(0, position_);
  position_ = 0;
  data_.append(bytes);
}

bool CopyBinaryReader::read_header() {
  const std::string_view data = data_;
  if (data.substr(0, kSignature.size()) != kSignature.substr(0, data.size()) || (ended_ && data.size() < kSignature.size())) {
    throw bad_copy_data("COPY file signature not recognized");
  }
  if (data.size() < kSignature.size() + 4) {
    if (ended_) throw bad_copy_data("invalid COPY file header (missing flags)");
    return false;
  }
  const std::uint32_t flags = big_endian(data.substr(kSignature.size(), 4));
  if (flags & 1u << 16) throw bad_copy_data("invalid COPY file header (WITH OIDS)");
  if (flags >> 16 != 0) throw bad_copy_data("unrecognized critical flags in COPY file header");
  if (data.size() < kSignature.size() + 8) {
    if (ended_) throw bad_copy_data("invalid COPY file header (missing length)");
    return false;
  }
  const std::uint32_t extension = big_endian(data.substr(kSignature.size() + 4, 4));
  if (extension > static_cast<std::uint32_t>(kFieldBytes)) throw bad_copy_data("invalid COPY file header (missing length)");
  if (data.size() < kSignature.size() + 8 + extension) {
    if (ended_) throw bad_copy_data("invalid COPY file header (wrong length)");
    return false;
  }
  position_ = kSignature.size() + 8 + extension;
  header_read_ = true;
  return true;
}

bool CopyBinaryReader::next(std::vector<std::optional<std::string_view>>& values) {
  failed_column_.reset();
  if (at_end_) {
    if (position_ < data_.size()) throw bad_copy_data("received copy data after EOF marker");
    return false;
  }
  if (!header_read_ && !read_header()) return false;
  if (!row_begun_) {
    row_begun_ = true;
    ++line_number_;
  }
  const std::string_view data = data_;
  std::size_t at = position_;
  if (data.size() - at < 2) {
    at_end_ = ended_;
    return false;
  }
  const auto count = static_cast<std::int16_t>(big_endian(data.substr(at, 2)));
  at += 2;
  if (count == -1) {
    position_ = at;
    at_end_ = true;
    return next(values);
  }
  if (static_cast<std::size_t>(count) != columns_ || count < 0) {
    throw bad_copy_data(fmt::format("row field count is {}, expected {}", count, columns_));
  }
  values.clear();
  for (std::size_t column = 0; column < columns_; ++column) {
    failed_column_ = column;
    const auto missing = [&](std::size_t bytes) {
      if (data.size() - at >= bytes) return false;
      if (ended_) throw bad_copy_data("unexpected EOF in COPY data");
      return true;
    };
    if (missing(4)) return false;
    const auto length = static_cast<std::int32_t>(big_endian(data.substr(at, 4)));
    at += 4;
    if (length == -1) {
      values.emplace_back();
      continue;
    }
    if (length < 0 || length > kFieldBytes) throw bad_copy_data("invalid field size");
    if (missing(static_cast<std::size_t>(length))) return false;
    values.emplace_back(data.substr(at, static_cast<std::size_t>(length)));
    at += static_cast<std::size_t>(length);
  }
  failed_column_.reset();
  position_ = at;
  row_begun_ = false;
  return true;
}

}  // namespace redquel::executor
