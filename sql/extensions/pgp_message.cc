#include "sql/extensions/pgp_message.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/random_generator.h"
#include "sql/interrupts.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::sql {
namespace {

SqlError refuse(std::string_view message) { return SqlError(sqlstate::kExternalRoutineInvocation, std::string(message)); }
SqlError corrupt() { return refuse("Wrong key or corrupt data"); }
SqlError bad_argument() { return refuse("Illegal argument to function"); }

// The numbers of RFC 4880: packets (4.3), ciphers (9.2), digests (9.4).
enum Packet : int { kPublicKeySession = 1, kPasswordSession = 3, kCompressed = 8, kEncrypted = 9, kMarker = 10, kLiteral = 11, kProtected = 18, kChecksum = 19 };

struct Cipher {
  std::string_view name;
  std::uint8_t number;
  const EVP_CIPHER* (*mode)();  // CFB
  std::size_t key_bytes, block_bytes;
};
constexpr Cipher kCiphers[] = {
    {"3des", 2, EVP_des_ede3_cfb64, 24, 8}, {"cast5", 3, EVP_cast5_cfb64, 16, 8},      {"bf", 4, EVP_bf_cfb64, 16, 8},
    {"blowfish", 4, EVP_bf_cfb64, 16, 8},   {"aes", 7, EVP_aes_128_cfb128, 16, 16},    {"aes128", 7, EVP_aes_128_cfb128, 16, 16},
    {"aes192", 8, EVP_aes_192_cfb128, 24, 16}, {"aes256", 9, EVP_aes_256_cfb128, 32, 16},
};

struct Digest {
  std::string_view name;
  std::uint8_t number;
  const EVP_MD* (*algorithm)();
};
constexpr Digest kDigests[] = {
    {"md5", 1, EVP_md5},     {"sha1", 2, EVP_sha1},     {"sha-1", 2, EVP_sha1},   {"ripemd160", 3, EVP_ripemd160},
    {"sha256", 8, EVP_sha256}, {"sha384", 9, EVP_sha384}, {"sha512", 10, EVP_sha512},
};

template <class Row, std::size_t size>
const Row* named(const Row (&rows)[size], std::string_view name) {
  const auto* found = std::ranges::find(rows, name, &Row::name);
  return found == std::end(rows) ? nullptr : found;
}
template <class Row, std::size_t size>
const Row* numbered(const Row (&rows)[size], std::uint8_t number) {
  const auto* found = std::ranges::find(rows, number, &Row::number);
  return found == std::end(rows) ? nullptr : found;
}

// ---- options ----------------------------------------------------------------------------------------------------------------

enum class KeyMode : std::uint8_t { kPlain = 0, kSalted = 1, kIterated = 3 };

struct Options {
  const Cipher* cipher = named(kCiphers, "aes128");
  const Cipher* password_cipher = nullptr;  // of the session key; null: `cipher`
  const Digest* digest = named(kDigests, "sha1");
  KeyMode mode = KeyMode::kIterated;
  std::optional<std::int32_t> rounds;
  bool has_session_key = false, is_protected = true, is_unicode = false, converts_lines = false;
};

void set_option(Options& options, std::string_view name, const std::string& value) {
  std::int32_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);  // as atoi(): 0 for words
  const auto find_cipher = [&] {
    const Cipher* cipher = named(kCiphers, lower_case(value));
    if (cipher == nullptr) throw refuse("Unsupported cipher algorithm");
    return cipher;
  };
  constexpr std::int32_t kLeastRounds = 1024, kMostRounds = 65011712;
  if (name == "cipher-algo") options.cipher = find_cipher();
  else if (name == "s2k-cipher-algo") options.password_cipher = find_cipher();
  else if (name == "disable-mdc") options.is_protected = number == 0;
  else if (name == "sess-key") options.has_session_key = number != 0;
  else if (name == "unicode-mode") options.is_unicode = number != 0;
  else if (name == "convert-crlf") options.converts_lines = number != 0;
  else if (name == "s2k-mode") {
    if (number != 0 && number != 1 && number != 3) throw bad_argument();
    options.mode = static_cast<KeyMode>(number);
  } else if (name == "s2k-count") {
    if (options.mode != KeyMode::kIterated || number < kLeastRounds || number > kMostRounds) throw bad_argument();
    options.rounds = number;
  } else if (name == "s2k-digest-algo") {
    options.digest = named(kDigests, lower_case(value));
    if (options.digest == nullptr) throw refuse("Unsupported digest algorithm");
  } else if (name == "compress-algo") {
    if (number < 0 || number > 3) throw bad_argument();
    if (number != 0) throw not_supported("compression of OpenPGP messages");
  } else if (name == "compress-level") {
    if (number < 0 || number > 9) throw bad_argument();
  } else {
    throw bad_argument();
  }
}

/// Reads `name=value, name = value`.
Options read_options(std::string_view text) {
  constexpr std::string_view kBetween = ", \t\n\r";
  Options options;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) return options;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) throw bad_argument();
    std::string_view name = text.substr(0, equals);
    name = name.substr(0, name.find_first_of(kBetween));
    text.remove_prefix(equals + 1);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n\r"), text.size()));
    const std::string value(text.substr(0, text.find_first_of(kBetween)));
    text.remove_prefix(value.size());
    set_option(options, lower_case(name), value);
  }
}

// ---- keys and ciphers -------------------------------------------------------------------------------------------------------

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string random_text(std::size_t count) {
  std::string text(count, '\0');
  fill_random(reinterpret_cast<unsigned char*>(text.data()), count);
  return text;
}

/// A way from a password to a key (3.7 of the RFC).
struct PasswordKey {
  KeyMode mode = KeyMode::kIterated;
  const Digest* digest = nullptr;
  std::string salt;
  std::uint8_t count = 0;  // coded

  std::size_t hashed_bytes() const { return static_cast<std::size_t>(16 + (count & 15)) << ((count >> 4) + 6); }
};

std::string key_of(const PasswordKey& way, std::string_view password, std::size_t key_bytes) {
  const std::string text = way.salt + std::string(password);
  const std::size_t total = way.mode == KeyMode::kIterated ? std::max(way.hashed_bytes(), text.size()) : text.size();
  std::string key;
  for (std::size_t zeros = 0; key.size() < key_bytes; ++zeros) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> state(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
    bool is_done = state != nullptr && EVP_DigestInit_ex(state.get(), way.digest->algorithm(), nullptr) == 1;
    const std::string prefix(zeros, '\0');
    is_done = is_done && EVP_DigestUpdate(state.get(), prefix.data(), prefix.size()) == 1;
    for (std::size_t hashed = 0; is_done && hashed < total;) {
      const std::size_t piece = std::min(text.size(), total - hashed);
      is_done = EVP_DigestUpdate(state.get(), text.data(), piece) == 1;
      hashed += piece;
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    if (!is_done || EVP_DigestFinal_ex(state.get(), digest.data(), &size) != 1) throw refuse("Unsupported digest algorithm");
    key.append(reinterpret_cast<const char*>(digest.data()), size);
  }
  key.resize(key_bytes);
  return key;
}

/// Runs the cipher in CFB mode from a vector of zeros, or from another one.
std::string run_cfb(const Cipher& cipher, std::string_view key, std::string_view data, bool encrypts, std::string_view vector = {}) {
  const std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)> state(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  std::string start(vector);
  start.resize(EVP_MAX_IV_LENGTH);
  check_allocation(data.size());
  std::string out(data.size(), '\0');
  const bool is_ready = state != nullptr && EVP_CipherInit_ex(state.get(), cipher.mode(), nullptr, bytes_of(key), bytes_of(start), encrypts ? 1 : 0) == 1;
  if (!is_ready) throw refuse("Unsupported cipher algorithm");
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  for (std::size_t at = 0; at < data.size(); at += kPiece) {
    check_interrupts();
    const std::string_view piece = data.substr(at, kPiece);
    int written = 0;
    if (EVP_CipherUpdate(state.get(), reinterpret_cast<unsigned char*>(out.data() + at), &written, bytes_of(piece), static_cast<int>(piece.size())) != 1) {
      throw corrupt();
    }
  }
  return out;
}

/// The checksum of protected data: SHA-1.
std::string checksum(std::string_view data) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  if (EVP_Digest(data.data(), data.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1) throw refuse("Unsupported digest algorithm");
  return {reinterpret_cast<const char*>(digest.data()), size};
}

constexpr std::string_view kChecksumHeader = "\xD3\x14";
constexpr std::size_t kChecksumBytes = 20;

// ---- writing ----------------------------------------------------------------------------------------------------------------

void append_packet(Packet packet, std::string_view body, std::string& out) {
  constexpr std::size_t kShort = 192, kMiddle = 8384;
  out += static_cast<char>(0xC0 | packet);
  const std::size_t size = body.size();
  if (size < kShort) {
    out += static_cast<char>(size);
  } else if (size < kMiddle) {
    out += static_cast<char>(((size - kShort) >> 8) + kShort);
    out += static_cast<char>((size - kShort) & 0xFF);
  } else {
    out += '\xFF';
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((size >> shift) & 0xFF);
  }
  out += body;
}

/// Returns the coded number of hashed bytes.
std::uint8_t coded_rounds(const Options& options) {
  constexpr std::uint8_t kLeast = 0x60;
  if (!options.rounds) return static_cast<std::uint8_t>(kLeast + (static_cast<unsigned char>(random_text(1)[0]) & 0x1F));
  PasswordKey way;
  while (way.count < 0xFF && way.hashed_bytes() < static_cast<std::size_t>(*options.rounds)) ++way.count;
  return way.count;
}

std::string with_crlf(std::string_view text) {
  std::string converted;
  for (const char c : text) {
    if (c == '\n') converted += '\r';
    converted += c;
  }
  return converted;
}

std::string without_crlf(std::string_view text) {
  std::string converted;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    converted += text[i];
  }
  return converted;
}

// ---- reading ----------------------------------------------------------------------------------------------------------------

/// Takes a message apart.
class PacketReader {
 public:
  explicit PacketReader(std::string_view text) : text_(text) {}

  struct Read {
    int packet;
    std::string body;
  };
  /// nullopt: the end.
  std::optional<Read> next() {
    if (text_.empty()) return std::nullopt;
    const std::uint8_t tag = byte();
    if ((tag & 0x80) == 0) throw corrupt();
    Read read;
    if ((tag & 0x40) == 0) {  // the old form
      read.packet = (tag >> 2) & 0x0F;
      const int kind = tag & 3;
      read.body = take(kind == 3 ? text_.size() : number(std::size_t{1} << kind));
      return read;
    }
    read.packet = tag & 0x3F;
    while (true) {
      const std::uint8_t first = byte();
      if (first < 192) return read.body += take(first), read;
      if (first < 224) return read.body += take(((first - 192U) << 8) + byte() + 192U), read;
      if (first == 255) return read.body += take(number(4)), read;
      read.body += take(std::size_t{1} << (first & 0x1F));  // a part
    }
  }

  std::uint8_t byte() {
    if (text_.empty()) throw corrupt();
    const auto value = static_cast<unsigned char>(text_[0]);
    text_.remove_prefix(1);
    return value;
  }
  std::size_t number(std::size_t bytes) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | byte();
    return value;
  }
  std::string take(std::size_t size) {
    if (size > text_.size()) throw corrupt();
    std::string part(text_.substr(0, size));
    text_.remove_prefix(size);
    return part;
  }
  std::string rest() { return take(text_.size()); }

 private:
  std::string_view text_;
};

struct SessionKey {
  const Cipher* cipher = nullptr;
  std::string key;
};

SessionKey read_session_key(std::string_view body, std::string_view password) {
  constexpr std::size_t kSaltBytes = 8;
  PacketReader reader(body);
  if (reader.byte() != 4) throw corrupt();
  const Cipher* cipher = numbered(kCiphers, reader.byte());
  if (cipher == nullptr) throw corrupt();
  PasswordKey way;
  const std::uint8_t mode = reader.byte();
  if (mode != 0 && mode != 1 && mode != 3) throw corrupt();
  way.mode = static_cast<KeyMode>(mode);
  way.digest = numbered(kDigests, reader.byte());
  if (way.digest == nullptr) throw corrupt();
  if (way.mode != KeyMode::kPlain) way.salt = reader.take(kSaltBytes);
  if (way.mode == KeyMode::kIterated) way.count = reader.byte();
  SessionKey session{cipher, key_of(way, password, cipher->key_bytes)};
  const std::string encrypted = reader.rest();
  if (encrypted.empty()) return session;
  const std::string decrypted = run_cfb(*cipher, session.key, encrypted, false);
  session.cipher = numbered(kCiphers, static_cast<std::uint8_t>(decrypted[0]));
  session.key = decrypted.substr(1);
  if (session.cipher == nullptr || session.key.size() != session.cipher->key_bytes) throw corrupt();
  return session;
}

/// Checks the random bytes before the data, of which the last two are repeated.
void check_prefix(std::string_view decrypted, std::size_t block) {
  if (decrypted.size() < block + 2 || decrypted.substr(block - 2, 2) != decrypted.substr(block, 2)) throw corrupt();
}

/// Returns the packets in data with a checksum.
std::string decrypt_protected(const SessionKey& session, std::string_view body) {
  if (body.empty() || body[0] != 1) throw corrupt();
  const std::string decrypted = run_cfb(*session.cipher, session.key, body.substr(1), false);
  const std::size_t block = session.cipher->block_bytes, tail = kChecksumHeader.size() + kChecksumBytes;
  check_prefix(decrypted, block);
  if (decrypted.size() < block + 2 + tail) throw corrupt();
  const std::string_view hashed = std::string_view(decrypted).substr(0, decrypted.size() - kChecksumBytes);
  if (!hashed.ends_with(kChecksumHeader) || checksum(hashed) != decrypted.substr(hashed.size())) throw corrupt();
  return decrypted.substr(block + 2, decrypted.size() - block - 2 - tail);
}

/// Returns the packets in data without a checksum: behind the prefix the cipher begins again (13.9 of the RFC).
std::string decrypt_unprotected(const SessionKey& session, std::string_view body) {
  const std::size_t block = session.cipher->block_bytes;
  if (body.size() < block + 2) throw corrupt();
  check_prefix(run_cfb(*session.cipher, session.key, body.substr(0, block + 2), false), block);
  return run_cfb(*session.cipher, session.key, body.substr(block + 2), false, body.substr(2, block));
}

void append_literal(std::string_view packets, bool wants_text, const Options& options, std::string& out) {
  PacketReader reader(packets);
  const std::optional<PacketReader::Read> read = reader.next();
  if (!read) throw corrupt();
  if (read->packet == kCompressed) throw not_supported("compressed OpenPGP message");
  if (read->packet != kLiteral) throw corrupt();
  PacketReader literal(read->body);
  const char form = static_cast<char>(literal.byte());
  if (form != 't' && form != 'u' && form != 'b') throw corrupt();
  literal.take(literal.byte());  // the name of a file
  literal.take(4);               // a time
  if (wants_text && form == 'b') throw refuse("Not text data");
  std::string data = literal.rest();
  if (options.converts_lines && form != 'b') data = without_crlf(data);
  out += data;
}

}  // namespace

void append_pgp_message(std::string_view data, bool is_text, std::string_view password, std::string_view written, std::string& out) {
  constexpr std::size_t kSaltBytes = 8;
  const Options options = read_options(written);
  if (password.empty()) throw bad_argument();
  PasswordKey way{options.mode, options.digest, {}, 0};
  if (way.mode != KeyMode::kPlain) way.salt = random_text(kSaltBytes);
  if (way.mode == KeyMode::kIterated) way.count = coded_rounds(options);
  const Cipher& password_cipher = options.has_session_key && options.password_cipher != nullptr ? *options.password_cipher : *options.cipher;
  std::string key = key_of(way, password, password_cipher.key_bytes);

  std::string session = {4, static_cast<char>(password_cipher.number), static_cast<char>(way.mode), static_cast<char>(way.digest->number)};
  session += way.salt;
  if (way.mode == KeyMode::kIterated) session += static_cast<char>(way.count);
  if (options.has_session_key) {
    const std::string own = random_text(options.cipher->key_bytes);
    session += run_cfb(password_cipher, key, static_cast<char>(options.cipher->number) + own, true);
    key = own;
  }
  append_packet(kPasswordSession, session, out);

  std::string literal(1, !is_text ? 'b' : options.is_unicode ? 'u' : 't');
  literal.append(5, '\0');  // no name, no time
  literal += is_text && options.converts_lines ? with_crlf(data) : std::string(data);
  std::string packets;
  append_packet(kLiteral, literal, packets);
  std::string plain = random_text(options.cipher->block_bytes);
  plain += plain.substr(plain.size() - 2);
  if (options.is_protected) {
    plain += packets;
    plain += kChecksumHeader;
    plain += checksum(plain);
    append_packet(kProtected, '\1' + run_cfb(*options.cipher, key, plain, true), out);
  } else {
    std::string body = run_cfb(*options.cipher, key, plain, true);
    body += run_cfb(*options.cipher, key, packets, true, std::string_view(body).substr(2));
    append_packet(kEncrypted, body, out);
  }
}

void append_pgp_data(std::string_view message, bool wants_text, std::string_view password, std::string_view written, std::string& out) {
  const Options options = read_options(written);
  if (password.empty()) throw bad_argument();
  PacketReader reader(message);
  std::optional<SessionKey> session;
  while (const std::optional<PacketReader::Read> read = reader.next()) {
    switch (read->packet) {
      case kPublicKeySession:
        throw not_supported("OpenPGP message for a public key");
      case kPasswordSession:
        if (!session) session = read_session_key(read->body, password);
        break;
      case kMarker:
        break;
      case kProtected:
        if (!session) throw corrupt();
        return append_literal(decrypt_protected(*session, read->body), wants_text, options, out);
      case kEncrypted:
        if (!session) throw corrupt();
        return append_literal(decrypt_unprotected(*session, read->body), wants_text, options, out);
      default:
        throw corrupt();
    }
  }
  throw corrupt();
}

}  // namespace redquel::sql
