#include "executor/redis/resp_codec.h"

#include <hiredis/read.h>

#include <array>
#include <cstring>
#include <exception>
#include <vector>

namespace redquel::executor {

namespace {

constexpr std::size_t kMaxDepth = 9;                 // redisReader's own stack
constexpr std::size_t kMaxLineBytes = 64 * 1024;     // headers, statuses, errors, integers
constexpr std::size_t kReaderBufferBytes = 1 << 20;  // kept between replies, so that big ones do not reallocate

}  // namespace

/// Puts the values that hiredis reports, in the order of the bytes, together to replies: the elements of an unfinished
/// array wait at their level and become one contiguous block of the arena when the last has come. So the length
/// that an array announces is never believed before its elements are there.
class ReplyDecoder::Assembly {
 public:
  explicit Assembly(std::size_t max_reply_bytes)
      : max_reply_bytes_(max_reply_bytes), reader_(redisReaderCreateWithFunctions(functions())) {
    if (reader_ == nullptr) throw std::bad_alloc();
    reader_->maxbuf = kReaderBufferBytes;
    reader_->privdata = this;
  }
  ~Assembly() { redisReaderFree(reader_); }
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  void feed(std::string_view bytes) {
    fed_ += bytes.size();
    if (redisReaderFeed(reader_, bytes.data(), bytes.size()) != REDIS_OK) fail();
  }

  bool next(Replies& into) {
    into_ = &into;
    void* object = nullptr;
    if (redisReaderGetReply(reader_, &object) != REDIS_OK) fail();
    const std::size_t pending = reader_->len - reader_->pos;
    const std::size_t used = fed_ - pending;
    if (object == nullptr) {
      if (fed_ - last_end_ > max_reply_bytes_)
        throw ProtocolError("a reply is larger than " + std::to_string(max_reply_bytes_) + " bytes");
      // In every state that needs more bytes the reader stands at the start of a line, which is short.
      if (pending > kMaxLineBytes && std::memchr(reader_->buf + reader_->pos, '\n', kMaxLineBytes) == nullptr)
        throw ProtocolError("a line of a reply does not end");
      return false;
    }
    into.append(root_);
    into.add_bytes(used - last_end_);
    last_end_ = used;
    return true;
  }

  bool has_pending() const { return fed_ > last_end_; }

 private:
  static redisReplyObjectFunctions* functions() {
    static redisReplyObjectFunctions table = {&create_string, &create_array, &create_integer, &create_nil,
                                              &free_object};
    return &table;
  }

  // hiredis calls these through C: nothing may be thrown, NULL ends the reading.
  template <typename Body>
  static void* guarded(const redisReadTask* task, Body body) noexcept {
    auto* self = static_cast<Assembly*>(task->privdata);
    try {
      body(*self);
      return self;
    } catch (...) {
      self->failure_ = std::current_exception();
      return nullptr;
    }
  }

  static void* create_string(const redisReadTask* task, char* text, std::size_t length) {
    return guarded(task, [&](Assembly& self) {
      Reply reply;
      reply.kind = Reply::Kind::string;
      if (task->type == REDIS_REPLY_STATUS) reply.kind = Reply::Kind::status;
      if (task->type == REDIS_REPLY_ERROR) reply.kind = Reply::Kind::error;
      // hiredis skips the two bytes behind a bulk string unseen.
      if (text[length] != '\r' || text[length + 1] != '\n')
        throw ProtocolError("a bulk string does not end where it should");
      reply.text = self.into_->store(std::string_view(text, length));
      self.add(task, reply);
    });
  }
  static void* create_array(const redisReadTask* task, int elements) {
    return guarded(task, [&](Assembly& self) {
      Reply reply;
      reply.kind = Reply::Kind::array;
      reply.first_child = nullptr;
      self.add(task, reply, elements > 0);
    });
  }
  static void* create_integer(const redisReadTask* task, long long value) {
    return guarded(task, [&](Assembly& self) {
      Reply reply;
      reply.kind = Reply::Kind::integer;
      reply.integer = value;
      self.add(task, reply);
    });
  }
  static void* create_nil(const redisReadTask* task) {
    return guarded(task, [&](Assembly& self) { self.add(task, Reply{}); });
  }
  static void free_object(void*) {}  // the arena owns everything

  /// `open`: an array whose elements follow.
  void add(const redisReadTask* task, const Reply& reply, bool open = false) {
    std::size_t depth = depth_of(task);
    (depth == 0 ? root_ : levels_[depth].emplace_back()) = reply;
    if (open) return;
    // Completes arrays whose last element this was, and their parents likewise.
    while (depth > 0 && task->idx == task->parent->elements - 1) {
      std::vector<Reply>& level = levels_[depth];
      Reply& array = depth == 1 ? root_ : levels_[depth - 1].back();
      const std::span<const Reply> children = into_->store(std::span<const Reply>(level));
      array.first_child = children.data();
      array.child_count = static_cast<std::uint32_t>(children.size());
      level.clear();
      task = task->parent;
      --depth;
    }
  }

  static std::size_t depth_of(const redisReadTask* task) {
    std::size_t depth = 0;
    for (; task->parent != nullptr; task = task->parent) ++depth;
    return depth;
  }

  [[noreturn]] void fail() {
    if (failure_) std::rethrow_exception(failure_);
    throw ProtocolError(reader_->errstr);
  }

  const std::size_t max_reply_bytes_;
  redisReader* reader_;
  Replies* into_ = nullptr;
  Reply root_;
  std::array<std::vector<Reply>, kMaxDepth> levels_;
  std::exception_ptr failure_;
  std::size_t fed_ = 0;
  std::size_t last_end_ = 0;  // where the last complete reply ended, in bytes fed
};

ReplyDecoder::ReplyDecoder(std::size_t max_reply_bytes) : assembly_(std::make_unique<Assembly>(max_reply_bytes)) {}
ReplyDecoder::~ReplyDecoder() = default;
void ReplyDecoder::feed(std::string_view bytes) { assembly_->feed(bytes); }
bool ReplyDecoder::next(Replies& into) { return assembly_->next(into); }
bool ReplyDecoder::has_pending() const { return assembly_->has_pending(); }

}  // namespace redquel::executor
