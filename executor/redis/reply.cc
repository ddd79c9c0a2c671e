#include "executor/redis/reply.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "executor/redis/bad_key.h"
#include "executor/redis/redis_error.h"

namespace redquel::executor {

namespace {

[[noreturn]] void throw_error(const Reply& reply, std::string_view command) {
  if (has_bad_key(reply.text)) throw BadKeyError(redis_error(reply.text, command));
  throw redis_error(reply.text, command);
}

}  // namespace

const Replies& Replies::or_throw() const {
  for (std::size_t index = 0; index < top_.size(); ++index) {
    if (top_[index].is_error()) throw_error(top_[index], command(index));
  }
  return *this;
}

const Reply& Replies::checked(std::size_t index) const {
  if (index >= top_.size()) throw unexpected_reply(command(index), "a reply");
  const Reply& reply = top_[index];
  if (reply.is_error()) throw_error(reply, command(index));
  return reply;
}

std::int64_t Replies::integer(std::size_t index) const {
  const Reply& reply = checked(index);
  if (reply.kind != Reply::Kind::integer) throw unexpected_reply(command(index), "an integer");
  return reply.integer;
}

std::optional<std::string_view> Replies::text(std::size_t index) const {
  const Reply& reply = checked(index);
  if (reply.is_nil()) return std::nullopt;
  if (!reply.is_text()) throw unexpected_reply(command(index), "a string");
  return reply.text;
}

std::span<const Reply> Replies::array(std::size_t index) const {
  const Reply& reply = checked(index);
  if (!reply.is_array() && !reply.is_nil()) throw unexpected_reply(command(index), "an array");
  return reply.children();
}

std::string_view Replies::store(std::string_view text) {
  if (text.empty()) return {};
  char* copy = static_cast<char*>(arena_.allocate(text.size(), 1));
  std::memcpy(copy, text.data(), text.size());
  return {copy, text.size()};
}

std::span<const Reply> Replies::store(std::span<const Reply> children) {
  if (children.empty()) return {};
  auto* copy = static_cast<Reply*>(arena_.allocate(children.size() * sizeof(Reply), alignof(Reply)));
  std::uninitialized_copy(children.begin(), children.end(), copy);
  return {copy, children.size()};
}

std::shared_ptr<const Replies> Replies::unwrap_transaction(std::shared_ptr<const Replies> replies, CommandNames names) {
  auto inner = std::make_shared<Replies>();
  const std::span<const Reply> results = replies->top_.back().children();
  inner->top_.assign(results.begin(), results.end());
  inner->names_ = std::move(names);
  inner->catalog_version_ = replies->catalog_version_;
  inner->generation_ = replies->generation_;
  inner->bytes_ = replies->bytes_;
  inner->kept_alive_.push_back(std::move(replies));
  return inner;
}

std::shared_ptr<const Replies> Replies::merge(std::shared_ptr<const Replies> first,
                                              std::span<const std::size_t> positions,
                                              std::shared_ptr<const Replies> second, std::size_t offset) {
  auto merged = std::make_shared<Replies>();
  merged->top_ = first->top_;
  for (const std::size_t position : positions) merged->top_[position] = second->top_.at(offset++);
  merged->names_ = first->names_;
  merged->catalog_version_ = second->catalog_version_;
  merged->generation_ = second->generation_;
  merged->bytes_ = first->bytes_ + second->bytes_;
  merged->kept_alive_ = {std::move(first), std::move(second)};
  return merged;
}

}  // namespace redquel::executor
