#include "executor/tls/certificate_dates.h"

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>

namespace redquel::executor {

std::chrono::system_clock::time_point certificate_end(const TlsContext& server) {
  std::tm end{};
  ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(server.native())), &end);
  return std::chrono::system_clock::from_time_t(::timegm(&end));
}

}  // namespace redquel::executor
