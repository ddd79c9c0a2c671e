#include "executor/memory/unwatched_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace redquel::executor {

using boost::system::error_code;

void UnwatchedSocket::unwatch() {
  if (handle_ >= 0 || !socket_.is_open()) return;
  error_code failure;
  const auto place = socket_.local_endpoint(failure);
  if (failure) return;
  protocol_ = place.protocol();
  handle_ = socket_.release(failure);
  if (failure) handle_ = -1;
}

void UnwatchedSocket::watch() {
  if (handle_ < 0) return;
  error_code failure;
  socket_.assign(protocol_, handle_, failure);
  if (failure) ::close(handle_);
  handle_ = -1;
}

bool UnwatchedSocket::has_bytes() const {
  if (handle_ < 0) return true;
  char byte;
  return ::recv(handle_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

}  // namespace redquel::executor
