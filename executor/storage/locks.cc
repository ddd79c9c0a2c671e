#include "executor/storage/locks.h"

#include <cstring>
#include <utility>

#include "sql/error.h"

namespace redquel::executor {

namespace {

void append_size(std::string& out, std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  out.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

std::size_t cut_number(std::string_view& bytes) {
  std::uint32_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes.remove_prefix(sizeof(number));
  return number;
}

}  // namespace

std::size_t LockSet::count_kept(const PlacedTable& table) const {
  const auto found = kept_.find(table);
  return found == kept_.end() ? 0 : found->second.size();
}

void LockSet::add(const PlacedTable& table, std::string field) {
  if (const auto written = recent_.find(table); written != recent_.end()) recent_size_ -= written->second.erase(field);
  if (kept_[table].insert(std::move(field)).second) ++kept_size_;
}

bool LockSet::contains(const PlacedTable& table, const std::string& field) const {
  const auto found = kept_.find(table);
  return found != kept_.end() && found->second.contains(field);
}

void LockSet::remove(const PlacedTable& table, const std::string& field) {
  if (const auto found = kept_.find(table); found != kept_.end()) kept_size_ -= found->second.erase(field);
}

void LockSet::add_written(const PlacedTable& table, std::string field) {
  if (recent_size_ >= most_recent_) spill();
  if (const auto kept = kept_.find(table); kept != kept_.end() && kept->second.contains(field)) return;
  if (recent_[table].insert(std::move(field)).second) ++recent_size_;
}

void LockSet::clear() {
  std::string own = std::move(token);
  *this = LockSet();
  token = std::move(own);
}

LockSet LockSet::take() {
  LockSet all = std::move(*this);
  *this = LockSet();
  token = all.token;
  return all;
}

LockSet::Fields LockSet::part(std::size_t number) const {
  if (number == 0) return kept_;
  if (number == 1) return recent_;
  const std::shared_ptr<const std::string> block = file_->read(blocks_[number - 2]);
  std::string_view rest = *block;
  Fields fields;
  while (!rest.empty()) {
    const auto oid = static_cast<sql::Oid>(cut_number(rest));
    const int bucket = static_cast<int>(cut_number(rest)) - 1;
    std::set<std::string>& of_table = fields[PlacedTable(oid, bucket)];
    for (std::size_t count = cut_number(rest); count > 0; --count) {
      const std::size_t size = cut_number(rest);
      of_table.emplace_hint(of_table.end(), rest.substr(0, size));
      rest.remove_prefix(size);
    }
  }
  return fields;
}

void LockSet::spill() {
  std::string block;
  for (const auto& [table, fields] : recent_) {
    append_size(block, table.oid());
    append_size(block, static_cast<std::size_t>(table.bucket() + 1));
    append_size(block, fields.size());
    for (const std::string& field : fields) {
      append_size(block, field.size());
      block += field;
    }
  }
  try {
    if (!file_) file_ = std::make_shared<SpillFile>();
    blocks_.push_back(file_->write(block));
  } catch (const sql::SqlError&) {  // Redis has the locks already: they must not be forgotten
    most_recent_ *= 2;
    return;
  }
  filed_ += std::exchange(recent_size_, 0);
  recent_.clear();
}

}  // namespace redquel::executor
