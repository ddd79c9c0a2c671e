#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace redquel::sql {

/// One of PostgreSQL's encodings (manual, 24.3) and what iconv calls it.
struct EncodingInfo {
  std::string_view name;        // "LATIN1"
  std::string_view iconv_name;  // empty: bytes are UTF-8 as they are
  enum class Width : unsigned char { kSingle, kDouble, kEuc, kGb18030 } width = Width::kSingle;
  bool for_clients = true;  // may be client_encoding; convert() and its like know more
};

/// By any of PostgreSQL's spellings ("utf-8", "iso-8859-1", "windows1252"); nullptr if redquel does not convert it.
const EncodingInfo* find_encoding(std::string_view name);
/// Finds an encoding that clients may use.
const EncodingInfo* find_client_encoding(std::string_view name);

/// Converts texts both ways between UTF-8 and another encoding: those of a session, of a file, of convert(). Not made for UTF8 and
/// SQL_ASCII: there the bytes are the text.
class EncodingConverter {
 public:
  /// nullptr where nothing is to be converted. Throws 22023 if this system's iconv lacks the encoding.
  static std::unique_ptr<EncodingConverter> make(const EncodingInfo& encoding);
  ~EncodingConverter();
  EncodingConverter(const EncodingConverter&) = delete;
  EncodingConverter& operator=(const EncodingConverter&) = delete;

  /// 22021 where the bytes are not of the client's encoding, 22P05 where UTF-8 has no such character.
  std::string from_client(std::string_view bytes);
  /// Appends valid UTF-8 as the client's bytes. 22P05 where its encoding has no such character, unless `lossy`: then
  /// '?'.
  void append_for_client(std::string_view utf8, std::string& out, bool lossy = false);

 private:
  EncodingConverter(const EncodingInfo& encoding, void* to_utf8, void* from_utf8);

  const EncodingInfo& encoding_;
  void* to_utf8_;  // iconv_t
  void* from_utf8_;
};

}  // namespace redquel::sql
