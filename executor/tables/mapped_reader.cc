#include "executor/tables/mapped_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "executor/redis/redis_error.h"
#include "executor/storage/mapped_unit.h"
#include "executor/storage/row_buffer.h"
#include "executor/tables/mapped_access.h"
#include "executor/tables/memory_pieces.h"
#include "executor/tables/redis_rows.h"
#include "executor/tables/scan_budget.h"
#include "sql/catalog/mapped_value.h"
#include "sql/error.h"
#include "sql/expressions/evaluate.h"
#include "sql/sqlstate.h"
#include "sql/types/byte_text.h"

namespace redquel::executor {

using sql::Mapping;
using Layout = Mapping::Layout;
using Role = Mapping::Role;

namespace {

std::string_view kind_name(Layout layout) { return sql::redis_type(layout); }

/// The least of the replies of PTTL in seconds, rounded up; nullopt: the keys stay.
std::optional<std::string> ttl_text(std::span<const Reply> replies) {
  std::optional<std::int64_t> least;
  for (const Reply& reply : replies) {
    if (reply.integer >= 0) least = std::min(least.value_or(reply.integer), reply.integer);
  }
  return least ? std::optional(std::to_string((*least + 999) / 1000)) : std::nullopt;
}

}  // namespace

MappedReader::MappedReader(const planner::TableRead& read, ExecutionContext& context, const FenceMark* fence)
    : read_(read), mapping_(read.table->mapping()), context_(context), fence_(fence), page_(context.limits.chunk_rows) {
  for (const std::int16_t number : read.numbers) {
    const Mapping::Column* column = number > 0 ? &mapping_.column(number) : nullptr;
    columns_.push_back(column);
    types_.push_back(column ? read.table->find_column(number)->type : sql::kInt8);
    field_of_.emplace_back();
    if (column == nullptr) continue;
    wants_ttl_ = wants_ttl_ || column->role == Role::kTtl;
    if (column->role != Role::kField) continue;
    const auto known = std::find(fields_.begin(), fields_.end(), column->field);
    field_of_.back() = static_cast<std::size_t>(known - fields_.begin());
    if (known == fields_.end()) fields_.push_back(column->field);
  }
  const bool may_repeat = mapping_.layout == Layout::kList || mapping_.layout == Layout::kStream;
  if (fence_ == nullptr) changes_ = context.changes(read.table->oid);
  if (changes_ && may_repeat) throw sql::not_supported(fmt::format("reading a foreign table with layout {} that the transaction has written", sql::layout_name(mapping_.layout)));
  if (changes_ && wants_ttl_ && !sql::has_one_row(mapping_.layout)) {
    throw sql::not_supported(fmt::format("reading the time to live of a foreign table with layout {} that the transaction has written", sql::layout_name(mapping_.layout)));
  }
  const sql::EvaluationContext& evaluation = context.evaluation();
  const std::string* policy = evaluation.show ? evaluation.show(evaluation.session, "redquel.on_bad_value") : nullptr;
  for (const Role role : {Role::kMember, Role::kName}) {
    const Mapping::Column* column = mapping_.with_role(role);
    if (column == nullptr) continue;
    const sql::Type type = read.table->find_column(column->number)->type;
    const bool is_any_text = column->format == Mapping::Format::kText && sql::type_info(type.oid).category == sql::TypeCategory::kString;
    if (!is_any_text) checked_part_ = column;
  }
  if (policy != nullptr && fence_ == nullptr) bad_value_ = *policy == "null" ? BadValue::kNull : *policy == "skip" ? BadValue::kSkip : BadValue::kError;
  start();
}

void MappedReader::start() {
  made_.clear();
  tags_.clear();
  for (const sql::Type& type : types_) made_.push_back(std::make_shared<sql::Column>(type));
}

std::optional<std::string> MappedReader::text_of(const MappedKey& values, std::int16_t column) const {
  const auto found = values.find(column);
  if (found == values.end() || sql::is_null(found->second)) return std::nullopt;
  return sql::encode_mapped(mapping_.column(column), table().find_column(column)->type, found->second);
}

std::optional<std::string> MappedReader::key_of(const MappedKey& values, std::string_view field) const {
  std::size_t part = 0;
  for (const sql::KeyTemplate::Part& piece : mapping_.key.parts()) {
    if (piece.column > 0) {
      const std::optional<std::string> text = text_of(values, piece.column);
      if (!text || !mapping_.key.may_hold(part, *text)) return std::nullopt;
    }
    ++part;
  }
  return mapping_.render_key([&](std::int16_t column) { return text_of(values, column); }, field);
}

std::string MappedReader::first_key_of(const MappedKey& values) const {
  std::string field;
  if (mapping_.layout == Layout::kStrings) {
    const auto first = std::ranges::find_if(mapping_.columns, [](const Mapping::Column& column) { return column.role == Role::kField; });
    if (first != mapping_.columns.end()) field = first->field;
  }
  return key_of(values, field).value_or("");
}

std::optional<MappedKey> MappedReader::slots_of(std::string_view key) const {
  const auto texts = mapping_.key.match(key);
  if (!texts) return std::nullopt;
  MappedKey values;
  std::size_t slot = 0;
  for (const sql::KeyTemplate::Part& part : mapping_.key.parts()) {
    if (part.column == 0) continue;
    const std::string_view text = (*texts)[slot++];
    if (part.column == sql::KeyTemplate::kFieldSlot) {
      const bool is_field = std::any_of(mapping_.columns.begin(), mapping_.columns.end(), [&](const Mapping::Column& column) {
        return column.role == Role::kField && column.field == text;
      });
      if (!is_field) return std::nullopt;
      continue;
    }
    auto value = sql::decode_slot(part, mapping_.column(part.column), table().find_column(part.column)->type, text);
    if (!value) return std::nullopt;
    values[part.column] = std::move(*value);
  }
  return values;
}

std::optional<MappedKey> MappedReader::key_of_member(const sql::KeyTemplate& member, std::string_view text) const {
  std::vector<std::string_view> texts{text};
  const std::vector<sql::KeyTemplate::Part>& parts = member.parts();
  if (parts.size() > 1) {
    auto found = member.match(text);
    if (!found) return std::nullopt;
    texts = *std::move(found);
  }
  MappedKey values;
  std::size_t position = 0;
  for (const sql::KeyTemplate::Part& content : parts) {
    if (content.column == 0) continue;
    const std::int16_t number = content.column;
    const std::string_view own = texts[position++];
    sql::KeyTemplate::Part slot = content;
    for (const sql::KeyTemplate::Part& part : mapping_.key.parts()) {
      if (part.column == number && content.width == 0) slot = part;
    }
    const sql::Type type = table().find_column(number)->type;
    auto value = sql::decode_slot(slot, mapping_.column(number), type, own);
    if (!value && slot.width > 0 && content.width == 0) {
      slot.width = 0;
      value = sql::decode_slot(slot, mapping_.column(number), type, own);
    }
    if (!value) return std::nullopt;
    values[number] = *std::move(value);
  }
  return values;
}

sql::SqlError MappedReader::wrong_kind(std::string_view key, std::string_view wanted, const Reply& error) const {
  if (error.text.starts_with("NOPERM")) return redis_error(error.text, fmt::format("a read of foreign table \"{}\"", table().name));
  if (!error.text.starts_with("WRONGTYPE")) return sql::SqlError(sqlstate::kInternalError, fmt::format("Redis, key \"{}\": {}", key, error.text));
  return sql::SqlError(sqlstate::kDataCorrupted,
                       fmt::format("key \"{}\" is not a Redis {}, which foreign table \"{}\" needs", key, wanted, table().name))
      .hint("The mapping may not fit, or an application uses the key for something else.");
}

void MappedReader::expect_rows(std::uint64_t rows) {
  constexpr std::uint64_t kLeast = 10;
  page_ = std::min<std::size_t>(context_.limits.chunk_rows, std::max(rows, kLeast));
}

void MappedReader::add(MappedTarget target) {
  std::optional<std::string> key = key_of(target.values, "");
  if (!key) return;
  Waiting waiting;
  waiting.target = std::move(target);
  waiting.key = *std::move(key);
  waiting.cursor = std::to_string(waiting.target.range.first);
  if (mapping_.layout == Layout::kStrings) {
    waiting.key = first_key_of(waiting.target.values);
    waiting.asks_existence = fields_.empty();
  } else if (mapping_.layout == Layout::kHash) {
    waiting.asks_existence = fields_.empty();
  } else if (mapping_.layout == Layout::kStream) {
    for (const EntryRange& range : entries_) {
      waiting.entries = range;
      waiting_.push_back(waiting);
    }
    return;
  }
  waiting_.push_back(std::move(waiting));
}

void MappedReader::add_member_row(MappedKey slots, std::string_view member) {
  Waiting waiting;
  waiting.target.values = std::move(slots);
  waiting.key = key_of(waiting.target.values).value_or(mapping_.key.stored_text());
  std::vector<std::optional<std::string_view>> texts = no_texts();
  if (const auto position = position_of(Role::kMember)) texts[*position] = member;
  add_row(waiting, texts, member);
}

void MappedReader::add_scored_row(MappedKey slots, std::string_view member, std::string_view score) {
  Waiting waiting;
  waiting.target.values = std::move(slots);
  waiting.key = key_of(waiting.target.values).value_or(mapping_.key.stored_text());
  std::vector<std::optional<std::string_view>> texts = no_texts();
  if (const auto position = position_of(Role::kMember)) texts[*position] = member;
  if (const auto position = position_of(Role::kScore)) texts[*position] = score;
  add_row(waiting, texts, member);
}

std::vector<std::optional<std::string_view>> MappedReader::no_texts() const {
  std::vector<std::optional<std::string_view>> texts(read_.numbers.size());
  if (ttl_) texts[*position_of(Role::kTtl)] = *ttl_;
  return texts;
}

std::vector<std::string> MappedReader::expiring_keys(const Waiting& waiting) const {
  if (!wants_ttl_ && fence_ == nullptr) return {};
  if (mapping_.layout != Layout::kStrings) return {waiting.key};
  std::vector<std::string> keys;
  for (const Mapping::Column& column : mapping_.columns) {
    if (column.role == Role::kField) keys.push_back(key_of(waiting.target.values, column.field).value_or(""));
  }
  return keys;
}

std::optional<std::size_t> MappedReader::position_of(Role role) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i] != nullptr && columns_[i]->role == role) return i;
  }
  return std::nullopt;
}

namespace {

/// Text of the member or field that alone is wanted.
std::optional<std::string> wanted_part(const MappedReader& reader, const MappedKey& values) {
  for (const Role role : {Role::kMember, Role::kName}) {
    const Mapping::Column* column = reader.mapping().with_role(role);
    if (column != nullptr && values.contains(column->number)) return reader.text_of(values, column->number);
  }
  return std::nullopt;
}

}  // namespace

bool MappedReader::wants_value() const {
  return fence_ != nullptr || std::ranges::any_of(columns_, [](const Mapping::Column* column) {
           return column != nullptr && (column->role == Role::kValue || column->role == Role::kField);
         });
}

asio::awaitable<void> MappedReader::count_elements(const std::vector<Waiting>& asked) {
  // The first page of a key costs no more than a key of a scan.
  const auto later = std::ranges::count_if(asked, [](const Waiting& one) { return one.cursor != std::to_string(one.target.range.first); });
  if (later == 0 || fence_ != nullptr || sql::has_one_row(mapping_.layout)) co_return;
  const bool has_name = mapping_.with_role(Role::kMember) != nullptr || mapping_.with_role(Role::kName) != nullptr;
  co_await count_scanned_keys(context_, static_cast<std::size_t>(later) * page_,
                              has_name ? kElementHint : "Use LIMIT: an element of a large structure counts as a key.");
}

std::size_t MappedReader::command_count(const Waiting& waiting) const {
  const bool is_hash = mapping_.layout == Layout::kHash;
  std::size_t count = 1;
  if (is_hash || mapping_.layout == Layout::kStrings) {
    count = is_hash ? (fields_.empty() ? 0 : 1) : fields_.size();
    if (waiting.asks_existence || mapping_.ohm) ++count;
  }
  if (waiting.target.range.from_end > 0) ++count;
  return count + expiring_keys(waiting).size();
}

void MappedReader::append_commands(CommandBatch& batch, const Waiting& waiting) const {
  const std::size_t page = page_;
  const std::optional<std::string> part = wanted_part(*this, waiting.target.values);
  switch (mapping_.layout) {
    case Layout::kHash:
      if (!fields_.empty()) batch.add("HMGET", waiting.key, fields_);
      if (mapping_.ohm) {  // a row is what is in the set of all ids; its hash may be empty
        batch.add("SISMEMBER", sql::ohm_key(mapping_, "all"), text_of(waiting.target.values, table().primary_key.front()).value_or(""));
      } else if (waiting.asks_existence) {
        batch.add("HLEN", waiting.key);
      }
      break;
    case Layout::kStrings:
      for (const std::string& field : fields_) batch.add("GET", *key_of(waiting.target.values, field));
      if (waiting.asks_existence) {
        std::vector<std::string> keys;
        for (const Mapping::Column& column : mapping_.columns) {
          if (column.role == Role::kField) keys.push_back(*key_of(waiting.target.values, column.field));
        }
        batch.add("EXISTS", keys);
      }
      break;
    case Layout::kString: batch.add(wants_value() ? "GET" : "TYPE", waiting.key); break;
    case Layout::kSet:
      if (part) batch.add("SISMEMBER", waiting.key, *part);
      else batch.add("SSCAN", waiting.key, waiting.cursor, "COUNT", page);
      break;
    case Layout::kZset:
      if (part) batch.add("ZSCORE", waiting.key, *part);
      else batch.add("ZSCAN", waiting.key, waiting.cursor, "COUNT", page);
      break;
    case Layout::kHashFields:
      if (part) batch.add(wants_value() ? "HGET" : "HEXISTS", waiting.key, *part);
      else if (wants_value() || waiting.names == Waiting::Names::kMany) batch.add("HSCAN", waiting.key, waiting.cursor, "COUNT", page);
      else batch.add(waiting.names == Waiting::Names::kFew ? "HKEYS" : "HLEN", waiting.key);
      break;
    case Layout::kList: {
      const ListRange& range = waiting.target.range;
      const std::uint64_t first = std::stoull(waiting.cursor);
      if (range.from_end > 0) {
        batch.add("LLEN", waiting.key);
        batch.add("LRANGE", waiting.key, "-" + std::to_string(range.from_end), "-1");
      } else {
        batch.add("LRANGE", waiting.key, first, std::min(first + page - 1, range.last));
      }
      break;
    }
    case Layout::kStream:
      batch.add("XRANGE", waiting.key, waiting.cursor == "0" ? waiting.entries.first : "(" + waiting.cursor, waiting.entries.last, "COUNT", page);
      break;
  }
  for (const std::string& key : expiring_keys(waiting)) batch.add(fence_ == nullptr ? "PTTL" : "PEXPIRETIME", key);
}

void MappedReader::note_expiries(const Waiting& waiting, std::span<const Reply> replies) {
  std::optional<std::int64_t> expiry;  // -1: never
  for (const Reply& reply : replies) {
    if (reply.is_error() || reply.integer == -2) continue;  // there is no such key
    if (expiry && *expiry != reply.integer) throw sql::SqlError(sqlstate::kDataCorrupted, "the strings of a row expire at different times");
    expiry = reply.integer;
  }
  if (expiry && *expiry > 0) expiries_[waiting.target.tag] = *expiry;
  else expiries_.erase(waiting.target.tag);
}

asio::awaitable<void> MappedReader::step(ExecutionCounters* counters) {
  if (fence_ == nullptr) context_.note_read(table());
  std::vector<Waiting> asked;
  CommandBatch batch;
  if (fence_ != nullptr) batch.add("GET", fence_->key);
  bool is_torn = false;  // a row's texts come by several commands
  while (!waiting_.empty() && batch.size() < page_) {
    asked.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    append_commands(batch, asked.back());
    const bool has_fields = mapping_.layout == Layout::kStrings || mapping_.ohm || asked.back().asks_existence || asked.back().target.range.from_end > 0;
    is_torn = is_torn || ((has_fields || wants_ttl_) && command_count(asked.back()) > 1);
  }
  co_await count_elements(asked);
  RepliesPtr replies = co_await ask_mapped(table(), std::move(batch), is_torn || fence_ != nullptr, context_, counters);
  if (fence_ != nullptr && replies->text(0) != fence_->value) throw sql::SqlError(sqlstate::kDataCorrupted, kSwappedDatabase);
  std::size_t first = fence_ != nullptr ? 1 : 0;
  for (Waiting& waiting : asked) {
    const std::size_t count = command_count(waiting);
    const bool is_done = take_replies(waiting, replies->all().subspan(first, count));
    first += count;
    if (!is_done) waiting_.push_back(std::move(waiting));
  }
  page_ = std::min<std::size_t>(2 * page_, context_.limits.chunk_rows);
}

bool MappedReader::take_replies(Waiting& waiting, std::span<const Reply> replies) {
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (!replies[i].is_error()) continue;
    if (fence_ != nullptr && mapping_.layout != Layout::kStrings && replies[i].text.starts_with("WRONGTYPE")) return true;
    const bool is_field = mapping_.layout == Layout::kStrings && i < fields_.size();
    const std::string key = is_field ? *key_of(waiting.target.values, fields_[i]) : waiting.key;
    throw wrong_kind(key, kind_name(mapping_.layout), replies[i]);
  }
  const std::size_t ttls = expiring_keys(waiting).size();
  if (fence_ != nullptr) note_expiries(waiting, replies.last(ttls));
  else ttl_ = ttl_text(replies.last(ttls));
  replies = replies.first(replies.size() - ttls);
  std::vector<std::optional<std::string_view>> texts = no_texts();
  const std::optional<std::string> part = wanted_part(*this, waiting.target.values);
  switch (mapping_.layout) {
    case Layout::kHash:
    case Layout::kStrings: return take_fields(waiting, replies);
    case Layout::kString: return take_string(waiting, replies);
    case Layout::kSet:
      if (!part) return take_members(waiting, replies[0]);
      if (replies[0].integer == 1) {
        if (const auto position = position_of(Role::kMember)) texts[*position] = *part;
        add_row(waiting, texts, *part);
      }
      return true;
    case Layout::kZset:
    case Layout::kHashFields:
      if (!part && mapping_.layout == Layout::kHashFields && !wants_value() && waiting.names != Waiting::Names::kMany) return take_names(waiting, replies[0]);
      if (!part) return take_members(waiting, replies[0]);
      if (replies[0].is_text() || replies[0].integer == 1) {
        const bool is_zset = mapping_.layout == Layout::kZset;
        if (const auto position = position_of(is_zset ? Role::kMember : Role::kName)) texts[*position] = *part;
        if (const auto position = position_of(is_zset ? Role::kScore : Role::kValue)) texts[*position] = replies[0].text;
        add_row(waiting, texts, *part);
      }
      return true;
    case Layout::kList: return take_list(waiting, replies);
    case Layout::kStream: return take_stream(waiting, replies[0]);
  }
  return true;
}

bool MappedReader::take_fields(Waiting& waiting, std::span<const Reply> replies) {
  std::vector<std::optional<std::string_view>> texts = no_texts();
  const bool is_hash = mapping_.layout == Layout::kHash, is_asked = waiting.asks_existence || mapping_.ohm;
  const std::size_t existence = is_hash ? (fields_.empty() ? 0 : 1) : fields_.size();
  std::span<const Reply> values = replies.first(existence);
  if (is_hash && !fields_.empty()) values = replies[0].children();
  bool exists = is_asked && replies[existence].integer > 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!field_of_[i] || *field_of_[i] >= values.size() || !values[*field_of_[i]].is_text()) continue;
    texts[i] = values[*field_of_[i]].text;
    exists = exists || !mapping_.ohm;
  }
  if (!exists && !is_asked) {  // a row of NULLs, or none: asked again, together with its fields, which may come meanwhile
    waiting.asks_existence = true;
    return false;
  }
  if (!exists) return true;
  add_row(waiting, texts);
  return true;
}

bool MappedReader::take_string(Waiting& waiting, std::span<const Reply> replies) {
  if (!replies[0].is_text()) return true;
  std::vector<std::optional<std::string_view>> texts = no_texts();
  if (!wants_value()) {
    if (replies[0].text == "none") return true;
    if (replies[0].text != "string") {
      Reply error;
      error.kind = Reply::Kind::error;
      error.text = "WRONGTYPE";
      throw wrong_kind(waiting.key, "string", error);
    }
    add_row(waiting, texts);
    return true;
  }
  std::vector<std::string> parts;
  const std::string_view whole = replies[0].text;
  if (const auto position = position_of(Role::kValue)) texts[*position] = whole;
  if (mapping_.parts != Mapping::Parts::kWhole) {
    const std::vector<std::optional<std::string>> split = sql::split_mapped(mapping_, whole);
    parts.reserve(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] == nullptr || columns_[i]->role != Role::kField) continue;
      const auto& text = split[static_cast<std::size_t>(columns_[i] - mapping_.columns.data())];
      if (!text) continue;
      parts.push_back(*text);
      texts[i] = parts.back();
    }
    add_row(waiting, texts);
    return true;
  }
  add_row(waiting, texts);
  return true;
}

bool MappedReader::is_changed(const Waiting& waiting, std::string_view part) const {
  std::vector<sql::Datum> row(table().columns.size());
  for (const std::int16_t number : table().primary_key) {
    const std::size_t at = table().position(number);
    const Mapping::Column& column = mapping_.column(number);
    if (column.role == Role::kSlot) {
      row[at] = waiting.target.values.at(number);
      continue;
    }
    try {
      row[at] = sql::decode_mapped(column, table().columns[at].type, part);
    } catch (const sql::SqlError&) {  // told where the row is read
      return false;
    }
  }
  return changes_->contains(mapped_identity(table(), row));
}

bool MappedReader::reads_back(std::string_view part) const {
  const sql::Type type = table().find_column(checked_part_->number)->type;
  try {
    return sql::encode_mapped(*checked_part_, type, sql::decode_mapped(*checked_part_, type, part)) == part;
  } catch (const sql::SqlError&) {  // reported where the value is read
    return true;
  }
}

namespace {

/// Shows bytes that are no text of PostgreSQL's as \xHH. Only values that are never written back may be changed so.
void make_readable(sql::Type type, sql::Datum& value) {
  auto* const text = std::get_if<std::string>(&value);
  if (text == nullptr || sql::type_info(type.oid).category != sql::TypeCategory::kString) return;
  if (sql::is_valid_utf8(*text) && text->find('\0') == std::string::npos) return;
  *text = readable(*text);
}

}  // namespace

void MappedReader::add_row(const Waiting& waiting, const std::vector<std::optional<std::string_view>>& texts, std::string_view part) {
  if (checked_part_ != nullptr && !reads_back(part)) return;
  if (changes_ && is_changed(waiting, part)) return;
  const bool only_looks = context_.redis().own_keyspace() != nullptr;
  std::vector<sql::Datum> row(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Mapping::Column* column = columns_[i];
    if (column == nullptr) continue;
    if (column->role == Role::kSlot) {
      row[i] = waiting.target.values.at(column->number);
      if (only_looks) make_readable(types_[i], row[i]);
      continue;
    }
    if (!texts[i]) {
      row[i] = sql::absent_value(*column, types_[i]);
      continue;
    }
    try {
      row[i] = sql::decode_mapped(*column, types_[i], *texts[i]);
      if (only_looks) make_readable(types_[i], row[i]);
    } catch (const sql::SqlError& error) {
      if (bad_value_ == BadValue::kSkip) return;
      if (bad_value_ == BadValue::kNull) continue;
      const std::string& name = table().find_column(column->number)->name;
      const bool is_strings = mapping_.layout == Layout::kStrings;
      const std::string key = is_strings ? key_of(waiting.target.values, column->field).value_or("") : waiting.key;
      const std::string field = column->role == Role::kField && !is_strings ? fmt::format(", field \"{}\"", column->field) : "";
      throw sql::SqlError(error.sqlstate(), fmt::format("bad value in key \"{}\"{} for column \"{}\" of foreign table \"{}\": {}", key, field, name,
                                                        table().name, error.message()))
          .hint("redquel.on_bad_value = null or skip reads on.");
    }
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (sql::is_null(row[i])) made_[i]->append_null();
    else made_[i]->append_datum(row[i]);
  }
  tags_.push_back(waiting.target.tag);
}

sql::Batch MappedReader::take_all(std::vector<std::size_t>& tags) {
  sql::Batch batch;
  batch.rows = tags_.size();
  for (auto& column : made_) batch.columns.push_back(std::move(column));
  tags = std::move(tags_);
  start();
  return batch;
}

sql::Batch MappedReader::take() {
  std::vector<std::size_t> tags;
  sql::Batch batch = take_all(tags);
  if (!read_.condition || batch.rows == 0) return batch;
  std::vector<std::uint32_t> selected = sql::select_rows(*read_.condition, batch, context_.evaluation());
  return selected.size() == batch.rows ? batch : batch.gather(selected);
}

}  // namespace redquel::executor
